"""The exact value of a tree without letters, where it is a rational number.

Nothing large is computed: what would have more digits than anybody writes raises TooLargeError.
"""

from fractions import Fraction
from math import comb, factorial, gcd, isqrt, lcm, prod

from plaudit.answers._tree import Node, TooLargeError, number, renamed

MOST_BITS = 200_000
LARGEST_FACTORIAL = 5_000
MOST_TERMS = 2_000


def exact(node: Node) -> Fraction | None:
    r"""The rational number that a tree is; None where it is none, or not known to be one.

    >>> from plaudit.answers._grammar import read_tree
    >>> exact(read_tree(r"\\frac{2}{4}+2^{-1}")[0]), exact(read_tree("x")[0])
    (Fraction(1, 1), None)
    >>> exact(read_tree("9^{9^{9}}")[0])
    Traceback (most recent call last):
    ...
    plaudit.answers._tree.TooLargeError: a power of more than 60,000 digits
    """
    if node.op == "num":
        value: Fraction = node.val
        return value
    if node.op == "dec":
        return Fraction(node.val.value)
    if node.op == "big":
        return _series(node)
    if not node.args or node.op not in _RULES:
        return None
    values = [exact(below) for below in node.args]
    if any(value is None for value in values):
        return None
    known = [value for value in values if value is not None]
    if node.op == "call":
        return _call(node.val, known)
    result = _RULES[node.op](known)
    return None if result is None else _bounded(result)


def _bounded(value: Fraction) -> Fraction:
    if value.numerator.bit_length() + value.denominator.bit_length() > 4 * MOST_BITS:
        raise TooLargeError("a number of too many digits")
    return value


def _power(values: list[Fraction]) -> Fraction | None:
    base, exponent = values
    if base in (0, 1, -1) or exponent in (0, 1):
        return _trivial_power(base, exponent)
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if bits * abs(exponent) > MOST_BITS:
        raise TooLargeError("a power of more than 60,000 digits")
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
    low, high = 1, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle - 1)
    return low if low**degree == value else None


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
    if n > 20 * LARGEST_FACTORIAL:
        raise TooLargeError("a binomial of more than 100,000")
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


def _series(node: Node) -> Fraction | None:
    """A finite sum or product of numbers."""
    name, letter = node.val
    lower, upper, body = node.args
    if name not in ("sum", "prod") or not letter:
        return None
    first, last = exact(lower), exact(upper)
    if first is None or last is None or first.denominator != 1 or last.denominator != 1:
        return None
    if last - first > MOST_TERMS:
        return None
    total = Fraction(0 if name == "sum" else 1)
    for place in range(int(first), int(last) + 1):
        value = exact(renamed(body, {letter: number(place)}))
        if value is None:
            return None
        total = _bounded(total + value if name == "sum" else total * value)
    return total


_RULES = {
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
    "call": None,
}
