"""The exact value of a tree without letters, if it is a rational number.

Nothing large is computed: what would have more digits than anybody writes raises TooLargeError.
Each operation is paid for before it is carried out (`_cost`).
"""

from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial, gcd, isqrt, lcm, prod

from plaudit.answers._budget import spend
from plaudit.answers._tree import Node, TooLargeError, number, renamed

MOST_BITS = 100_000  # of a power; some 30,000 digits
MOST_FRACTION_BITS = 30_000
LARGEST_FACTORIAL = 5_000
LARGEST_BINOMIAL = 20_000
MOST_TERMS = 2_000


def exact(node: Node) -> Fraction | None:
    r"""The rational number that a tree is; None where it is none, or not known to be one.

    >>> from plaudit.answers._grammar import read_tree
    >>> exact(read_tree(r"\frac{2}{4}+2^{-1}")[0]), exact(read_tree("x")[0])
    (Fraction(1, 1), None)
    >>> exact(read_tree("9^{9^{9}}")[0])
    Traceback (most recent call last):
    ...
    plaudit.answers._tree.TooLargeError: a power of more than 30,000 digits
    """
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
    if last - first > MOST_TERMS:
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
