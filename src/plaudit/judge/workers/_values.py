"""A sympy expression -> its value at two places, in floats, each with a bound on its error.

A value is for telling two expressions apart without simplifying either. So what is not certain has
none: a function that is not known here, a point where one jumps, a number too small or too large
for floats. Letters have values that depend on their names alone, and a function `f` of which
nothing is known is taken to be a linear one: whatever holds for all of them holds for these.
"""

import cmath
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple
from zlib import crc32

import sympy
from sympy.core.function import AppliedUndef

ROUNDING = 2.0**-50  # of one operation in floats, generously
TINY = 1e-12  # what is smaller may be zero: math-verify's `evalf(chop=True)` takes it for that
SMOOTH = 0.01  # an error above this is no error: the derivative at the place says little of it
MOST_TERMS = 64  # of a sum or a product that is written with its limits
LARGEST_FACTORIAL = 150.0


class UnclearError(Exception):
    """There is no value, or none that is certain."""


class Value(NamedTuple):
    """A number, and how far it may be from the true one."""

    number: complex  # a float where it is real: its imaginary part is not almost 0, but 0
    error: float

    @property
    def real(self) -> float:
        """The number, where it is real for certain."""
        if isinstance(self.number, complex):
            raise UnclearError
        return self.number


Place = Callable[[str], float]


def _between(name: str, salt: int) -> float:
    return 0.55 + crc32(name.encode(), salt) % 9973 / 11_000


# Two places, positive; and two of small whole numbers, for sums and products up to n.
ANY_NUMBERS: tuple[Place, Place] = (
    lambda name: _between(name, 1),
    lambda name: _between(name, 2),
)
WHOLE_NUMBERS: tuple[Place, Place] = (
    lambda name: 2.0 + crc32(name.encode()) % 5,
    lambda name: 4.0 + crc32(name.encode()) % 7,
)


@lru_cache(maxsize=2048)
def values_at(expression: Any, places: tuple[Place, Place]) -> tuple[Value, Value] | None:
    """The values at both places; None where either is not certain.

    >>> x = sympy.Symbol("x", real=True)
    >>> one = sympy.sin(x) ** 2 + sympy.cos(x) ** 2
    >>> [round(value.real, 9) for value in values_at(one, ANY_NUMBERS)]
    [1.0, 1.0]
    >>> values_at(sympy.Integral(x, x), ANY_NUMBERS) is None
    True
    """
    try:
        return (value_of(expression, places[0], {}), value_of(expression, places[1], {}))
    except (UnclearError, ArithmeticError, ValueError, RecursionError):
        return None


def value_of(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
    """The value at a place.

    given: values of letters that are not those of the place
    """
    rule = RULES.get(type(expression))
    if rule is None:
        rule = _rule_of_family(expression)
    value = rule(expression, place, given)
    size = abs(value.number)
    if not size + value.error < math.inf:
        raise UnclearError
    if 0 < size < TINY:
        return Value(value.number, value.error + size)
    return value


def _rule_of_family(expression: Any) -> "Rule":
    for family, rule in FAMILIES:
        if isinstance(expression, family):
            if family is not AppliedUndef:  # each of those has a type of its own
                RULES[type(expression)] = rule
            return rule
    raise UnclearError


def _integer(expression: Any, *_: Any) -> Value:
    return Value(float(expression.p), 0.0 if abs(expression.p) < 2**53 else _ulp(expression.p))


def _ulp(number: Any) -> float:
    return abs(float(number)) * ROUNDING


def _rational(expression: Any, *_: Any) -> Value:
    number = expression.p / expression.q
    return Value(number, _ulp(number))


def _constant(expression: Any, *_: Any) -> Value:
    number = float(expression)
    return Value(number, _ulp(number))


def _imaginary_unit(*_: Any) -> Value:
    return Value(1j, 0.0)


def _symbol(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
    return given[expression] if expression in given else Value(place(expression.name), 0.0)


def _unknown_function(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
    number: complex = _between(f"{type(expression).__name__}()", len(expression.args))
    error = ROUNDING
    for position, argument in enumerate(expression.args, 1):
        part = value_of(argument, place, given)
        number += 0.31 * position * part.number
        error += position * part.error + _ulp(abs(part.number))
    return Value(number, error)


def _sum(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
    number: complex = 0.0
    error = size = 0.0
    for argument in expression.args:
        part = value_of(argument, place, given)
        number += part.number
        error += part.error
        size += abs(part.number)
    return Value(number, error + len(expression.args) * ROUNDING * size)


def _product(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
    total = Value(1.0, 0.0)
    for argument in expression.args:
        total = _times(total, value_of(argument, place, given))
    return total


def _times(one: Value, other: Value) -> Value:
    number = one.number * other.number
    left, right = abs(one.number), abs(other.number)
    error = left * other.error + right * one.error + one.error * other.error
    return Value(number, error + 2 * ROUNDING * left * right)


def _power(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
    below, above = expression.args
    base, exponent = value_of(below, place, given), value_of(above, place, given)
    if not isinstance(exponent.number, complex) and exponent.number == 0 == exponent.error:
        return Value(1.0, 0.0)
    size = abs(base.number)
    if size == 0:
        if base.error or exponent.error or exponent.real < 0:
            raise UnclearError
        return Value(0.0, 0.0)
    if base.error >= SMOOTH * size:
        raise UnclearError
    if exponent.error == 0 and exponent.real.is_integer():
        number = base.number ** int(exponent.real)
        relative = abs(exponent.real) * (base.error / size + 4 * ROUNDING)
    else:
        logarithm = _logarithm(base)
        raised = _times(exponent, logarithm)
        real = not isinstance(raised.number, complex)
        number = math.exp(raised.real) if real else cmath.exp(raised.number)
        relative = raised.error + 4 * ROUNDING * (1 + abs(raised.number))
    if relative >= SMOOTH:
        raise UnclearError
    return Value(number, 1.1 * relative * abs(number))


def _logarithm(value: Value) -> Value:
    """The principal one; none beside the negative numbers, where it jumps."""
    number, size = value.number, abs(value.number)
    if value.error >= SMOOTH * size:
        raise UnclearError
    error = 1.1 * value.error / size
    if isinstance(number, complex):
        if number.real < 0 and abs(number.imag) <= value.error + 1e-9 * size:
            raise UnclearError
        result: complex = cmath.log(number)
    else:
        result = math.log(number) if number > 0 else complex(math.log(-number), math.pi)
    return Value(result, error + ROUNDING * (1 + abs(result)))


def _inverse(value: Value) -> Value:
    relative = value.error / abs(value.number) + ROUNDING
    if relative >= SMOOTH:
        raise UnclearError
    number = 1 / value.number
    return Value(number, 1.1 * relative * abs(number))


def _log(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
    logarithm, *to_base = (_logarithm(value_of(each, place, given)) for each in expression.args)
    for base in to_base:
        logarithm = _times(logarithm, _inverse(base))
    return logarithm


def _exponential(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
    exponent = value_of(expression.args[0], place, given)
    if exponent.error >= SMOOTH:
        raise UnclearError
    real = not isinstance(exponent.number, complex)
    number = math.exp(exponent.real) if real else cmath.exp(exponent.number)
    relative = exponent.error + ROUNDING * (1 + abs(exponent.number))
    return Value(number, 1.1 * relative * abs(number))


def _wave(on_line: Callable[[float], float], in_plane: Callable[[complex], complex]) -> "Rule":
    """The rule of the sine and the cosine, whose slopes are at most that of `cosh`."""

    def rule(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
        argument = value_of(expression.args[0], place, given)
        error = argument.error + ROUNDING * (1 + abs(argument.number))
        if error >= SMOOTH:
            raise UnclearError
        if not isinstance(argument.number, complex):
            return Value(on_line(argument.real), 2 * error)
        return Value(in_plane(argument.number), 2 * error * math.cosh(argument.number.imag))

    return rule


def _smooth(function: Callable[[float], float], slope: Callable[[float, float], float]) -> "Rule":
    """The rule of a function of a real number; its slope there is given that and the value."""

    def rule(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
        if len(expression.args) != 1:
            raise UnclearError
        value = value_of(expression.args[0], place, given)
        argument = value.real
        number = function(argument)
        steep = slope(argument, number)
        error = value.error + ROUNDING * (1 + abs(argument))
        if error >= SMOOTH or steep * error >= SMOOTH:
            raise UnclearError
        return Value(number, 1.5 * steep * error + _ulp(number))

    return rule


def _one(*_: float) -> float:
    return 1.0


def _of_quotient(_: float, number: float) -> float:
    return 1 + number * number


def _of_arcsine(argument: float, _: float) -> float:
    if abs(argument) > 0.999:
        raise UnclearError
    return 1 / math.sqrt(1 - argument * argument)


def _of_hyperbolic(_: float, number: float) -> float:
    return 1 + abs(number)


def _absolute(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
    value = value_of(expression.args[0], place, given)
    return Value(abs(value.number), value.error + _ulp(abs(value.number)))


def _rounded(function: Callable[[float], int]) -> "Rule":
    def rule(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
        value = value_of(expression.args[0], place, given)
        exact = value.error == 0 and value.real.is_integer()
        if not exact and abs(value.real - round(value.real)) <= value.error + 1e-9:
            raise UnclearError
        return Value(float(function(value.real)), 0.0)

    return rule


def _factorial(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
    value = value_of(expression.args[0], place, given)
    if not 0 <= value.real < LARGEST_FACTORIAL or value.error >= SMOOTH:
        raise UnclearError
    return _gamma(value)


def _gamma(value: Value) -> Value:
    """The factorial of a positive number."""
    number = math.gamma(value.real + 1)
    relative = value.error * (1 + math.log(1 + value.real)) + 16 * ROUNDING
    return Value(number, 1.5 * relative * number)


def _binomial(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
    of, chosen = (value_of(argument, place, given) for argument in expression.args)
    if not 0 <= chosen.real <= of.real < LARGEST_FACTORIAL:
        raise UnclearError
    rest = Value(of.real - chosen.real, of.error + chosen.error)
    if of.error + chosen.error >= SMOOTH:
        raise UnclearError
    below = _times(_gamma(chosen), _gamma(rest))
    above = _gamma(of)
    number = above.real / below.real
    relative = above.error / above.real + below.error / below.real + 4 * ROUNDING
    return Value(number, 1.5 * relative * number)


def _written_out(combine: Callable[[Value, Value], Value], start: float) -> "Rule":
    """The rule of a sum or a product over one index, between two whole numbers."""

    def rule(expression: Any, place: Place, given: dict[Any, Value]) -> Value:
        term, (index, first, last) = expression.args[0], expression.args[1]
        if len(expression.args) != 2:
            raise UnclearError
        low, high = (value_of(limit, place, given) for limit in (first, last))
        if low.error or high.error or not (low.real.is_integer() and high.real.is_integer()):
            raise UnclearError
        if not 0 <= high.real - low.real < MOST_TERMS:
            raise UnclearError
        total = Value(start, 0.0)
        for number in range(int(low.real), int(high.real) + 1):
            at_index = {**given, index: Value(float(number), 0.0)}
            total = combine(total, value_of(term, place, at_index))
        return total

    return rule


def _plus(one: Value, other: Value) -> Value:
    number = one.number + other.number
    size = abs(one.number) + abs(other.number)
    return Value(number, one.error + other.error + ROUNDING * size)


def _reciprocal(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda argument: 1 / function(argument)


Rule = Callable[[Any, Place, dict[Any, Value]], Value]
RULES: dict[type, Rule] = {
    sympy.Symbol: _symbol,
    sympy.Add: _sum,
    sympy.Mul: _product,
    sympy.Pow: _power,
    sympy.exp: _exponential,
    sympy.log: _log,
    sympy.sin: _wave(math.sin, cmath.sin),
    sympy.cos: _wave(math.cos, cmath.cos),
    sympy.tan: _smooth(math.tan, _of_quotient),
    sympy.cot: _smooth(_reciprocal(math.tan), _of_quotient),
    sympy.sec: _smooth(_reciprocal(math.cos), _of_quotient),
    sympy.csc: _smooth(_reciprocal(math.sin), _of_quotient),
    sympy.asin: _smooth(math.asin, _of_arcsine),
    sympy.acos: _smooth(math.acos, _of_arcsine),
    sympy.atan: _smooth(math.atan, _one),
    sympy.sinh: _smooth(math.sinh, _of_hyperbolic),
    sympy.cosh: _smooth(math.cosh, _of_hyperbolic),
    sympy.tanh: _smooth(math.tanh, _one),
    sympy.Abs: _absolute,
    sympy.floor: _rounded(math.floor),
    sympy.ceiling: _rounded(math.ceil),
    sympy.factorial: _factorial,
    sympy.binomial: _binomial,
    sympy.Sum: _written_out(_plus, 0.0),
    sympy.Product: _written_out(_times, 1.0),
    type(sympy.I): _imaginary_unit,
}
FAMILIES: tuple[tuple[type, Rule], ...] = (
    (sympy.Integer, _integer),
    (sympy.Rational, _rational),
    (sympy.Float, _constant),
    (sympy.NumberSymbol, _constant),
    (AppliedUndef, _unknown_function),
)
