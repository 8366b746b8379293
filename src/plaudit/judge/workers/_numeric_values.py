"""Two sympy objects -> whether they are different for certain, by their kinds and their values.

math-verify simplifies a difference to find that it is not zero. Mostly values at two points show as
much: floats, each with a bound on its error. What is said here is only ever "different", and only
if math-verify would say so in the end; of what is not certain it is False.

What has no certain value has none: a function that is not known here, a point at which one jumps, a
number too small or too large for floats. Letters have values that depend on their names alone, and
a function `f` of which nothing is known is taken to be a linear one: whatever holds for all of them
holds for these.
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
SMOOTH = 0.01  # a larger error is no error: the derivative at the point says little of it
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


Assignment = Callable[[Any], Value]  # the value of each letter at a point


def _between(name: str, salt: int) -> float:
    return 0.55 + crc32(name.encode(), salt) % 9973 / 11_000


def _point(value: Callable[[str], float]) -> Assignment:
    return lambda letter: Value(value(letter.name), 0.0)


# Two points, positive; and two of small whole numbers, for sums and products up to n.
ANY_NUMBERS = _point(lambda name: _between(name, 1)), _point(lambda name: _between(name, 2))
WHOLE_NUMBERS = (
    _point(lambda name: 2.0 + crc32(name.encode()) % 5),
    _point(lambda name: 4.0 + crc32(name.encode()) % 7),
)


def fixed(letter: Any, value: Value, at: Assignment) -> Assignment:
    """Return the point at which one letter has a value of its own."""
    return lambda other: value if other == letter else at(other)


@lru_cache(maxsize=2048)
def values_at(expression: Any, points: tuple[Assignment, Assignment]) -> tuple[Value, Value] | None:
    """Return the values at both points; None if either is not certain."""
    try:
        return value_of(expression, points[0]), value_of(expression, points[1])
    except (UnclearError, ArithmeticError, ValueError, RecursionError):
        return None


def value_of(expression: Any, at: Assignment) -> Value:
    """Return the value at a point."""
    rule = RULES.get(type(expression))
    if rule is None:
        rule = _rule_of_family(expression)
    value = rule(expression, at)
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


def _symbol(expression: Any, at: Assignment) -> Value:
    return at(expression)


def _unknown_function(expression: Any, at: Assignment) -> Value:
    number: complex = _between(f"{type(expression).__name__}()", len(expression.args))
    error = ROUNDING
    for position, argument in enumerate(expression.args, 1):
        part = value_of(argument, at)
        number += 0.31 * position * part.number
        error += position * part.error + _ulp(abs(part.number))
    return Value(number, error)


def _sum(expression: Any, at: Assignment) -> Value:
    number: complex = 0.0
    error = size = 0.0
    for argument in expression.args:
        part = value_of(argument, at)
        number += part.number
        error += part.error
        size += abs(part.number)
    return Value(number, error + len(expression.args) * ROUNDING * size)


def _product(expression: Any, at: Assignment) -> Value:
    total = Value(1.0, 0.0)
    for argument in expression.args:
        total = _times(total, value_of(argument, at))
    return total


def _times(one: Value, other: Value) -> Value:
    number = one.number * other.number
    left, right = abs(one.number), abs(other.number)
    error = left * other.error + right * one.error + one.error * other.error
    return Value(number, error + 2 * ROUNDING * left * right)


def _power(expression: Any, at: Assignment) -> Value:
    below, above = expression.args
    base, exponent = value_of(below, at), value_of(above, at)
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


def _log(expression: Any, at: Assignment) -> Value:
    logarithm, *to_base = (_logarithm(value_of(each, at)) for each in expression.args)
    for base in to_base:
        logarithm = _times(logarithm, _inverse(base))
    return logarithm


def _exponential(expression: Any, at: Assignment) -> Value:
    exponent = value_of(expression.args[0], at)
    if exponent.error >= SMOOTH:
        raise UnclearError
    real = not isinstance(exponent.number, complex)
    number = math.exp(exponent.real) if real else cmath.exp(exponent.number)
    relative = exponent.error + ROUNDING * (1 + abs(exponent.number))
    return Value(number, 1.1 * relative * abs(number))


def _wave(on_line: Callable[[float], float], in_plane: Callable[[complex], complex]) -> "Rule":
    """The rule of the sine and the cosine, whose slopes are at most that of `cosh`."""

    def rule(expression: Any, at: Assignment) -> Value:
        argument = value_of(expression.args[0], at)
        error = argument.error + ROUNDING * (1 + abs(argument.number))
        if error >= SMOOTH:
            raise UnclearError
        if not isinstance(argument.number, complex):
            return Value(on_line(argument.real), 2 * error)
        return Value(in_plane(argument.number), 2 * error * math.cosh(argument.number.imag))

    return rule


def _smooth(function: Callable[[float], float], slope: Callable[[float, float], float]) -> "Rule":
    """The rule of a function of a real number; `slope` gets that number and the value."""

    def rule(expression: Any, at: Assignment) -> Value:
        if len(expression.args) != 1:
            raise UnclearError
        value = value_of(expression.args[0], at)
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


def _absolute(expression: Any, at: Assignment) -> Value:
    value = value_of(expression.args[0], at)
    return Value(abs(value.number), value.error + _ulp(abs(value.number)))


def _rounded(function: Callable[[float], int]) -> "Rule":
    def rule(expression: Any, at: Assignment) -> Value:
        value = value_of(expression.args[0], at)
        exact = value.error == 0 and value.real.is_integer()
        if not exact and abs(value.real - round(value.real)) <= value.error + 1e-9:
            raise UnclearError
        return Value(float(function(value.real)), 0.0)

    return rule


def _factorial(expression: Any, at: Assignment) -> Value:
    value = value_of(expression.args[0], at)
    if not 0 <= value.real < LARGEST_FACTORIAL or value.error >= SMOOTH:
        raise UnclearError
    return _gamma(value)


def _gamma(value: Value) -> Value:
    """The factorial of a positive number."""
    number = math.gamma(value.real + 1)
    relative = value.error * (1 + math.log(1 + value.real)) + 16 * ROUNDING
    return Value(number, 1.5 * relative * number)


def _binomial(expression: Any, at: Assignment) -> Value:
    of, chosen = (value_of(argument, at) for argument in expression.args)
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

    def rule(expression: Any, at: Assignment) -> Value:
        term, (index, first, last) = expression.args[0], expression.args[1]
        if len(expression.args) != 2:
            raise UnclearError
        low, high = (value_of(limit, at) for limit in (first, last))
        if low.error or high.error or not (low.real.is_integer() and high.real.is_integer()):
            raise UnclearError
        if not 0 <= high.real - low.real < MOST_TERMS:
            raise UnclearError
        total = Value(start, 0.0)
        for number in range(int(low.real), int(high.real) + 1):
            at_index = fixed(index, Value(float(number), 0.0), at)
            total = combine(total, value_of(term, at_index))
        return total

    return rule


def _plus(one: Value, other: Value) -> Value:
    number = one.number + other.number
    size = abs(one.number) + abs(other.number)
    return Value(number, one.error + other.error + ROUNDING * size)


def _reciprocal(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda argument: 1 / function(argument)


Rule = Callable[[Any, Assignment], Value]
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


# -- Comparing values

UNCLEAR = 1e-6  # a difference below this, or below this share of the two, is no proof
UP_TO_N = (sympy.Sum, sympy.Product)
UNFINISHED = (
    sympy.Integral, sympy.Derivative, sympy.Sum, sympy.Product, sympy.Limit, AppliedUndef,
)  # fmt: skip


def clearly_different(one: Any, other: Any) -> bool:
    """Whether no identity makes two expressions, or two matrices, equal: values are apart."""
    if isinstance(one, sympy.MatrixBase) and isinstance(other, sympy.MatrixBase):
        return one.shape != other.shape or any(map(clearly_different, one.flat(), other.flat()))
    if not isinstance(one, sympy.Expr) or not isinstance(other, sympy.Expr):
        return False
    return _apart_at(one, other, ANY_NUMBERS) or (
        (one.has(*UP_TO_N) or other.has(*UP_TO_N)) and _apart_at(one, other, WHOLE_NUMBERS)
    )


def _apart_at(one: Any, other: Any, points: tuple[Assignment, Assignment]) -> bool:
    left, right = values_at(one, points), values_at(other, points)
    return left is not None and right is not None and all(map(apart, left, right))


def apart(one: Value, other: Value) -> bool:
    """Whether two values are further apart than any rounding of math-verify's."""
    between = abs(one.number - other.number) - one.error - other.error
    return between > UNCLEAR * max(1.0, abs(one.number), abs(other.number))


def differ_in_digits(one: Any, other: Any) -> bool:
    """As `clearly_different`, without values in floats: by sympy's digits, which take long."""
    if not isinstance(one, sympy.Expr) or not isinstance(other, sympy.Expr):
        return False
    if values_at(one, ANY_NUMBERS) and values_at(other, ANY_NUMBERS):
        return False  # they are known already, and were not apart
    if one.has(*UNFINISHED) or other.has(*UNFINISHED):
        return False
    letters = one.free_symbols | other.free_symbols
    try:
        return all(_differ_at(one, other, letters, at) for at in ANY_NUMBERS)
    except MemoryError:
        raise
    except Exception:  # no value there: it is for sympy to say
        return False


def _differ_at(one: Any, other: Any, letters: set[Any], at: Assignment) -> bool:
    values = {letter: sympy.Float(at(letter).real) for letter in letters}
    left, right = (Value(complex(side.evalf(15, subs=values)), 0.0) for side in (one, other))
    return abs(left.number - right.number) < math.inf and apart(left, right)


def never_equal(gold: Any, answer: Any) -> bool:
    """Whether math-verify finds them different, by whichever of its rules for their kinds."""
    # A word may be equal to what only looks like it: `abc` to a product of three letters, e to E.
    if isinstance(gold, sympy.Symbol) or isinstance(answer, sympy.Symbol):
        return _word_and_number(gold, answer)
    if isinstance(gold, sympy.Tuple) and isinstance(answer, sympy.Tuple):
        return len(gold) != len(answer) or any(map(never_equal, gold.args, answer.args))
    if isinstance(gold, sympy.Interval) and isinstance(answer, sympy.Interval):
        return (
            gold.left_open != answer.left_open
            or gold.right_open != answer.right_open
            or never_equal(gold.start, answer.start)
            or never_equal(gold.end, answer.end)
        )
    return clearly_different(gold, answer)


def _word_and_number(one: Any, other: Any) -> bool:
    """A word is equal to a number only if it is written with the same digits."""
    word, number = (one, other) if isinstance(one, sympy.Symbol) else (other, one)
    return isinstance(number, sympy.Rational) and word.name != str(number)
