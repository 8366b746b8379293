r"""The value of a tree: exact, as a fraction, or to many digits, with mpmath.

All of it runs in the trainer's own process, so every operation is paid for in steps before it is
carried out, by the size of its numbers, and what is too large is refused.
"""

import threading
from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial, gcd, isqrt, lcm, prod
from typing import Any

from plaudit.answers._tree import Node, TooLargeError, number, renamed

# Two expressions are compared at hundreds of points, and lists element by element: what is
# harmless once may take minutes. A step is about a microsecond, two on a busy machine. Steps are
# counted, not timed, so that a verdict is the same on every machine. The slowest of 3,870 real
# answers takes 53,000 steps.
MOST_STEPS = 65_000


class _Budget(threading.local):
    """The steps that are left to this thread; None if they are not counted."""

    left: int | None = None


_budget = _Budget()


class limited_steps:  # noqa: N801 - a context manager, used as a function
    """Raise `TooLargeError` if what is computed inside takes more steps than `most`.

    A limit inside another one is a limit of its own: what it spends is not counted outside.
    """

    __slots__ = ("most", "outside")

    def __init__(self, most: int) -> None:
        self.most = most

    def __enter__(self) -> None:
        self.outside, _budget.left = _budget.left, self.most

    def __exit__(self, *_: object) -> None:
        _budget.left = self.outside


def spend(steps: int) -> None:
    """Pay for steps; outside of `limited_steps` they are not counted."""
    if _budget.left is not None:
        _budget.left -= steps
        if _budget.left < 0:
            raise TooLargeError("too many operations")


# -- Exact values

MOST_BITS = 100_000  # of a power; some 30,000 digits
MOST_FRACTION_BITS = 30_000
LARGEST_FACTORIAL = 5_000
LARGEST_BINOMIAL = 20_000
MOST_EXACT_TERMS = 2_000


def exact(node: Node) -> Fraction | None:
    r"""The rational number that a tree is; None if it is not one, or not known to be one."""
    spend(3)
    if node.op == "num":
        value: Fraction = node.val
        return value
    if node.op == "dec":
        return Fraction(node.val.value)
    if node.op == "big":
        return _series(node)
    if not node.args or (node.op not in _RULES and node.op != "call"):
        return None
    known: list[Fraction] = []
    for below in node.args:
        one = exact(below)
        if one is None:
            return None
        known.append(one)
    _check_size(known)
    spend(_cost(node.op, known))
    return _call(node.val, known) if node.op == "call" else _RULES[node.op](known)


def _series(node: Node) -> Fraction | None:
    """A finite sum or product of numbers."""
    name, letter = node.val
    lower, upper, body = node.args
    if name not in ("sum", "prod") or not letter:
        return None
    first, last = exact(lower), exact(upper)
    if first is None or last is None or first.denominator != 1 or last.denominator != 1:
        return None
    if last - first > MOST_EXACT_TERMS:
        return None
    total = Fraction(0 if name == "sum" else 1)
    for index in range(int(first), int(last) + 1):
        value = exact(renamed(body, {letter: number(index)}))
        if value is None:
            return None
        _check_size([total, value])
        spend(_cost(name, [total, value]))
        total = total + value if name == "sum" else total * value
    return total


def _check_size(values: list[Fraction]) -> None:
    """Refuse numbers that would take long to add or to multiply."""
    bits = sum(value.numerator.bit_length() for value in values)
    below = sum(value.denominator.bit_length() - 1 for value in values)
    if bits + below > 4 * MOST_BITS or (below and bits + below > 2 * MOST_FRACTION_BITS):
        raise TooLargeError("a number of too many digits")


def _cost(op: str, values: list[Fraction]) -> int:
    """How many microseconds an operation takes, by the size of its numbers; measured on CPython.

    The time of all of these grows with the square of the digits, or of the argument.
    """
    if op in ("fact", "fact2"):
        return min(abs(int(values[0])), LARGEST_FACTORIAL) ** 2 >> 14
    if op == "binom":
        return min(abs(int(values[0])), LARGEST_BINOMIAL) ** 2 >> 15
    bits = sum(value.numerator.bit_length() + value.denominator.bit_length() for value in values)
    if op == "pow" and values[1].denominator == 1:
        bits = min(bits * abs(int(values[1])), 4 * MOST_BITS)
    elif op == "pow" or (op == "root" and values[1] != 2):
        return bits**2 >> 17  # Newton's method
    # Fractions are brought into lowest terms after each of them.
    times = len(values) if op == "call" or any(v.denominator != 1 for v in values) else 1
    return times * bits**2 >> 22


def _power(values: list[Fraction]) -> Fraction | None:
    base, exponent = values
    if base in (0, 1, -1) or exponent in (0, 1):
        return _trivial_power(base, exponent)
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if bits * abs(exponent) > MOST_BITS:
        raise TooLargeError("a power of more than 30,000 digits")
    if exponent.denominator == 1:
        return base ** int(exponent)
    root = _root([base, Fraction(exponent.denominator)])
    return None if root is None else _power([root, Fraction(exponent.numerator)])


def _trivial_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if exponent == 0:
        return Fraction(1)
    if exponent == 1 or base == 1:
        return base
    if base == 0:
        return Fraction(0) if exponent > 0 else None
    if exponent.denominator != 1:
        return None
    return Fraction(1 if exponent % 2 == 0 else -1)


def _root(values: list[Fraction]) -> Fraction | None:
    value, degree = values
    if degree.denominator != 1 or not 1 <= degree <= 64:
        return None
    if value < 0:
        root = _root([-value, degree]) if degree % 2 else None
        return None if root is None else -root
    top = _whole_root(value.numerator, int(degree))
    bottom = _whole_root(value.denominator, int(degree))
    return None if top is None or bottom is None else Fraction(top, bottom)


def _whole_root(value: int, degree: int) -> int | None:
    if value < 2:
        return value
    if degree == 2:
        root = isqrt(value)
        return root if root * root == value else None
    root = 1 << -(-value.bit_length() // degree)  # Newton's method, from above
    while (lower := ((degree - 1) * root + value // root ** (degree - 1)) // degree) < root:
        root = lower
    return root if root**degree == value else None


def _factorial(values: list[Fraction]) -> Fraction | None:
    n = values[0]
    if n.denominator != 1 or n < 0:
        return None
    if n > LARGEST_FACTORIAL:
        raise TooLargeError("a factorial of more than 5,000")
    return Fraction(factorial(int(n)))


def _double_factorial(values: list[Fraction]) -> Fraction | None:
    n = values[0]
    if n.denominator != 1 or n < 0 or n > LARGEST_FACTORIAL:
        return None
    return Fraction(prod(range(int(n), 0, -2)))


def _binomial(values: list[Fraction]) -> Fraction | None:
    n, k = values
    if n.denominator != 1 or k.denominator != 1 or n < 0 or k < 0:
        return None
    if n > LARGEST_BINOMIAL:
        raise TooLargeError("a binomial of more than 20,000")
    return Fraction(comb(int(n), int(k)))


def _quotient(values: list[Fraction]) -> Fraction | None:
    return None if values[1] == 0 else values[0] / values[1]


def _modulo(values: list[Fraction]) -> Fraction | None:
    return None if values[1] == 0 else values[0] % values[1]


def _call(name: str, values: list[Fraction]) -> Fraction | None:
    if name in ("max", "min") and values:
        return max(values) if name == "max" else min(values)
    if name in ("gcd", "lcm") and all(value.denominator == 1 for value in values):
        whole = [int(value) for value in values]
        return Fraction(gcd(*whole) if name == "gcd" else lcm(*whole))
    if name in ("ln", "log", "lg") and len(values) == 1 and values[0] == 1:
        return Fraction(0)
    return None


_RULES: dict[str, Callable[[list[Fraction]], Fraction | None]] = {
    "neg": lambda values: -values[0],
    "group": lambda values: values[0],
    "add": lambda values: sum(values, Fraction(0)),
    "mul": lambda values: prod(values, start=Fraction(1)),
    "div": _quotient,
    "pow": _power,
    "root": _root,
    "fact": _factorial,
    "fact2": _double_factorial,
    "binom": _binomial,
    "pct": lambda values: values[0] / 100,
    "abs": lambda values: abs(values[0]),
    "floor": lambda values: Fraction(values[0].__floor__()),
    "ceil": lambda values: Fraction(values[0].__ceil__()),
    "mod": _modulo,
}


# -- Values to many digits, at a point

Value = Any  # an mpmath number, which has no types of its own
MOST_NUMERIC_TERMS = 300
LARGEST = 10_000_000  # the largest binary exponent of a value
_MOST_ANGLE, _MOST_GROWTH, _MOST_FACTORIAL = 10**12, 10**5, 10**5

# What an operation takes at 100 digits, beside 3 microseconds; 250 digits take 2.5 times as long.
_COSTS = {"pow": 20, "root": 20, "fact": 80, "fact2": 120, "binom": 240, "call": 25, "app": 25}
_COMPLEX = 4  # how many times as long the same takes for a complex number


class UndefinedError(Exception):
    """The tree has no value at this point."""


_contexts = threading.local()


def shared_context(digits: int) -> Any:
    """An mpmath context with so many digits, one per thread: mpmath changes its precision."""
    known: dict[int, Any] = _contexts.__dict__.setdefault("known", {})
    if digits not in known:
        import mpmath

        known[digits] = mpmath.MPContext()
        known[digits].dps = digits
    return known[digits]


def value_at(node: Node, mp: Any, point: dict[str, Value]) -> Value:
    r"""The value of a tree for the values of its letters."""
    try:
        value = _Evaluation(mp, point).value(node)
    except (ZeroDivisionError, ValueError, OverflowError, TypeError, AttributeError) as error:
        raise UndefinedError(str(error)) from error
    if mp.isnan(value):
        raise UndefinedError("no number")
    return value


class _Evaluation:
    def __init__(self, mp: Any, point: dict[str, Value]) -> None:
        self.mp, self.point = mp, point

    def value(self, node: Node) -> Value:
        cost = 3 + _COSTS.get(node.op, 0) * self.mp.dps // 100
        spend(cost)
        rule = getattr(self, f"_{node.op}", None)
        if rule is None:
            raise UndefinedError(node.op)
        value = rule(node)
        if isinstance(value, self.mp.mpc):
            spend(_COMPLEX * cost)
        if abs(_exponent(value)) > LARGEST:
            raise TooLargeError("a value that is too large")
        return value

    def _values(self, node: Node) -> list[Value]:
        return [self.value(below) for below in node.args]

    def _fraction(self, value: Fraction) -> Value:
        return self.mp.mpf(value.numerator) / value.denominator

    def _num(self, node: Node) -> Value:
        return self._fraction(node.val)

    def _dec(self, node: Node) -> Value:
        return self._fraction(node.val.value)

    def _const(self, node: Node) -> Value:
        mp = self.mp
        return {"pi": mp.pi, "e": mp.e, "i": mp.mpc(0, 1), "inf": mp.inf}[node.val] * 1

    def _sym(self, node: Node) -> Value:
        if node.val not in self.point:
            raise UndefinedError(node.val)
        return self.point[node.val]

    def _app(self, node: Node) -> Value:
        """An unknown function f(x): a pseudorandom number, the same for the same argument."""
        inside = sum((3 + index) * value for index, value in enumerate(self._values(node)))
        seed = sum(ord(letter) * 7 ** (index % 9) for index, letter in enumerate(str(node.val)))
        self._check(inside * seed, _MOST_ANGLE, _MOST_GROWTH)
        return self.mp.cos(inside * seed) + seed % 5

    def _neg(self, node: Node) -> Value:
        return -self.value(node.args[0])

    def _group(self, node: Node) -> Value:
        return self.value(node.args[0])

    def _add(self, node: Node) -> Value:
        return self.mp.fsum(self._values(node))

    def _mul(self, node: Node) -> Value:
        return self.mp.fprod(self._values(node))

    def _div(self, node: Node) -> Value:
        top, bottom = self._values(node)
        if bottom == 0:
            raise UndefinedError("a division by zero")
        return top / bottom

    def _ratio(self, node: Node) -> Value:
        if len(node.args) != 2:
            raise UndefinedError("a ratio of several terms")
        return self._div(node)

    def _pct(self, node: Node) -> Value:
        return self.value(node.args[0]) / 100

    def _deg(self, node: Node) -> Value:
        return self.value(node.args[0]) * self.mp.pi / 180

    def _unit(self, node: Node) -> Value:
        return self.value(node.args[0])

    def _pow(self, node: Node) -> Value:
        base, exponent = self._values(node)
        if base == 0 and self.mp.re(exponent) < 0:
            raise UndefinedError("a division by zero")
        odd = self._odd_root(node.args[1], base)
        return odd if odd is not None else self._power(base, exponent)

    def _power(self, base: Value, exponent: Value) -> Value:
        # The binary exponent of the power, and the angle that a complex one is turned by.
        self._check(exponent * (abs(_exponent(base)) + 4), LARGEST, LARGEST)
        return self.mp.power(base, exponent)

    def _odd_root(self, exponent: Node, base: Value) -> Value | None:
        """The real power of a negative number by a fraction with an odd denominator."""
        if isinstance(base, self.mp.mpc) or base >= 0:
            return None
        power = exact(exponent)
        if power is None or power.denominator == 1 or power.denominator % 2 == 0:
            return None
        root = self._power(-base, self._fraction(power))
        return root if power.numerator % 2 == 0 else -root

    def _root(self, node: Node) -> Value:
        value, degree = self._values(node)
        if degree == 2:
            return self.mp.sqrt(value)
        if degree == 0:
            raise UndefinedError("a root of degree 0")
        if not isinstance(value, self.mp.mpc) and value < 0 and degree % 2 == 1:
            return -self._power(-value, 1 / degree)
        return self._power(value, 1 / degree)

    def _fact(self, node: Node) -> Value:
        value = self.value(node.args[0])
        self._check(value, _MOST_FACTORIAL, 1000)
        if isinstance(value, self.mp.mpf) and value < 0 and value == int(value):
            raise UndefinedError("a factorial of a negative number")
        return self.mp.gamma(value + 1)

    def _fact2(self, node: Node) -> Value:
        value = self.value(node.args[0])
        self._check(value, _MOST_FACTORIAL, 10)
        return self.mp.fac2(value)

    def _binom(self, node: Node) -> Value:
        n, k = self._values(node)
        self._check(n, _MOST_FACTORIAL, 1000)
        self._check(k, _MOST_FACTORIAL, 1000)
        return self.mp.binomial(n, k)

    def _abs(self, node: Node) -> Value:
        return abs(self.value(node.args[0]))

    def _floor(self, node: Node) -> Value:
        return self.mp.floor(self.value(node.args[0]))

    def _ceil(self, node: Node) -> Value:
        return self.mp.ceil(self.value(node.args[0]))

    def _mod(self, node: Node) -> Value:
        left, right = self._values(node)
        return left - right * self.mp.floor(left / right)

    def _big(self, node: Node) -> Value:
        name, letter = node.val
        lower, upper, body = node.args
        if name not in ("sum", "prod") or not letter:
            raise UndefinedError(name)
        first, last = self.value(lower), self.value(upper)
        if self.mp.isinf(last):
            raise UndefinedError("an endless sum")
        if last - first > MOST_NUMERIC_TERMS:
            raise UndefinedError("too many terms")
        first, last = self._integer(first), self._integer(last)
        values, outside = [], self.point
        for index in range(first, last + 1):
            self.point = {**outside, letter: self.mp.mpf(index)}
            values.append(self.value(body))
        self.point = outside
        return self.mp.fsum(values) if name == "sum" else self.mp.fprod(values)

    def _call(self, node: Node) -> Value:
        mp = self.mp
        values = self._values(node)
        if node.val in ("max", "min"):
            return max(values) if node.val == "max" else min(values)
        if node.val in ("gcd", "lcm"):
            return self._whole(node.val, values)
        if node.val == "log" and len(values) == 2:
            return self._logarithm(values[0]) / self._logarithm(values[1])
        if len(values) != 1 or node.val not in _FUNCTIONS:
            raise UndefinedError(node.val)
        value = values[0]
        if node.val in ("ln", "log", "lg", "lb"):
            scale = {"lg": mp.log(10), "lb": mp.log(2)}.get(node.val, 1)
            return self._logarithm(value) / scale
        self._check(value, *_LIMITS.get(node.val, (LARGEST, LARGEST)))
        return _FUNCTIONS[node.val](mp, value)

    def _whole(self, name: str, values: list[Value]) -> Value:
        if any(value != self.mp.floor(value) for value in values):
            raise UndefinedError("a divisor of a fraction")
        whole = [self._integer(value) for value in values]
        return self.mp.mpf(gcd(*whole) if name == "gcd" else lcm(*whole))

    def _integer(self, value: Value) -> int:
        """The value as an integer; one with more digits than are computed is not known."""
        if _exponent(value) > self.mp.prec:
            raise TooLargeError("an integer of too many digits")
        return int(value)

    def _logarithm(self, value: Value) -> Value:
        if value == 0:
            raise UndefinedError("a logarithm of zero")
        return self.mp.log(value)

    def _check(self, value: Value, most: int, most_imaginary: int) -> None:
        """Refuse an argument that is too large for a function."""
        if abs(self.mp.re(value)) > most or abs(self.mp.im(value)) > most_imaginary:
            raise TooLargeError("an argument that is too large")


def _exponent(value: Value) -> int:
    """The binary exponent of the larger part of a number, 0 for zero and what is infinite."""
    parts = (value._mpf_,) if hasattr(value, "_mpf_") else value._mpc_
    return max((exp + bits for _, mantissa, exp, bits in parts if mantissa), default=0)


# The largest real and imaginary part of an argument. Angles are divided by pi, to as many digits
# more as the angle has; sines grow as exponentials along the imaginary axis.
_LIMITS = {
    **dict.fromkeys(["sin", "cos", "tan", "cot", "sec", "csc", "cis"], (_MOST_ANGLE, _MOST_GROWTH)),
    **dict.fromkeys(
        ["exp", "sinh", "cosh", "tanh", "coth", "sech", "csch"], (_MOST_GROWTH, _MOST_ANGLE)
    ),
    "erf": (_MOST_GROWTH, 10),
}
_SAME = "sin cos tan cot sec csc sinh cosh tanh coth sech csch exp erf".split()
_FUNCTIONS: dict[str, Any] = {
    **{name: (lambda mp, x, name=name: getattr(mp, name)(x)) for name in _SAME},
    "arcsin": lambda mp, x: mp.asin(x),
    "arccos": lambda mp, x: mp.acos(x),
    "arctan": lambda mp, x: mp.atan(x),
    "arccot": lambda mp, x: mp.pi / 2 - mp.atan(x),
    "arcsec": lambda mp, x: mp.asec(x),
    "arccsc": lambda mp, x: mp.acsc(x),
    "arcsinh": lambda mp, x: mp.asinh(x),
    "arccosh": lambda mp, x: mp.acosh(x),
    "arctanh": lambda mp, x: mp.atanh(x),
    "sgn": lambda mp, x: mp.sign(x),
    "cis": lambda mp, x: mp.cos(x) + mp.mpc(0, 1) * mp.sin(x),
    "Re": lambda mp, x: mp.re(x),
    "Im": lambda mp, x: mp.im(x),
    "ln": None,
    "log": None,
    "lg": None,
    "lb": None,
}
