r"""Numbers: the same value in any notation, correct roundings, calculations.

`\frac{2}{4}` and `0.5` are equal; `600/7` and `85.71` are, if rounding is allowed; `99.7` is not a
rounding of 100. `2^3`, `5!/6^5` and `1+\sqrt2` are forms of a number; `2+2`, `12\cdot34`,
`\gcd(12,18)` and `\binom{10}{5}` are calculations without a result.
"""

from fractions import Fraction
from typing import Any

from plaudit.answers._rules import Rules
from plaudit.answers._tokens import significant_digits
from plaudit.answers._tree import Digits, Node, ops, walk
from plaudit.answers._values import exact, shared_context, value_at

# Values are computed to 100 digits and, if they seem equal, again to 250, see `vanishes`.
DIGITS, MORE_DIGITS = 100, 250
SHOWN = 3  # the fewest digits of a rounding that counts
_FLOAT_DIGITS = 15  # of the digits that Python prints of a float, so many are sure to be right


def same_number(gold: Node, answer: Node, rules: Rules) -> tuple[bool, str]:
    r"""Whether two trees without letters have the same value, and what decided."""
    gold_value, answer_value = exact(gold), exact(answer)
    if gold_value is not None and answer_value is not None:
        if gold_value == answer_value:
            return True, "exact values"
        decided_by = "exact values"
    else:
        if same_value(gold, answer):
            return True, f"{DIGITS // 2} digits of their values"
        decided_by = f"{DIGITS // 2} digits of their values"
    if rules.tolerance is not None and _near(gold, answer, rules.tolerance):
        return True, "the tolerance"
    if rules.rounding and _rounded(gold, answer, gold_value, answer_value):
        return True, "a correct rounding"
    return False, decided_by


def same_value(one: Node, other: Node) -> bool:
    """Whether two values are equal, to as many digits as are needed to tell."""
    low, high = shared_context(DIGITS), shared_context(MORE_DIGITS)
    ends = value_at(one, low, {}), value_at(other, low, {})
    if any(map(low.isinf, ends)):
        return bool(ends[0] == ends[1])
    difference = abs(value_at(one, low, {}) - value_at(other, low, {}))
    return vanishes(difference, lambda: abs(value_at(one, high, {}) - value_at(other, high, {})))


def vanishes(low: Any, high: Any) -> bool:
    """Whether a difference is zero: with more digits, what is left of zero shrinks with them."""
    if low * 10**40 > 1:
        return False
    more = high()
    return bool(more == 0 or (low == 0 and more < 1e-200) or more * 10**50 < low)


def _near(gold: Node, answer: Node, tolerance: float) -> bool:
    mp = shared_context(50)
    left, right = value_at(gold, mp, {}), value_at(answer, mp, {})
    return bool(abs(left - right) <= tolerance * abs(left))


def digits_shown(node: Node) -> Digits | None:
    """The digits that a decimal shows, also in scientific notation; None if it is no decimal."""
    if node.op == "dec":
        found: Digits = node.val
        return found
    if node.op in ("neg", "pct", "group"):
        inner = digits_shown(node.args[0])
        if inner is None or node.op == "group":
            return inner
        if node.op == "neg":
            return inner._replace(value=-inner.value)
        return Digits(inner.value / 100, inner.significant, inner.exponent - 2)
    if node.op == "mul" and len(node.args) == 2:
        power = _power_of_ten(node.args[1])
        inner = digits_shown(node.args[0])
        if inner is None and power is not None and node.args[0].op == "num" and power < 0:
            value = node.args[0].val
            if value.denominator != 1:
                return None
            inner = Digits(value, significant_digits(str(abs(value.numerator))), 0)
        if inner is not None and power is not None:
            scale = Fraction(10) ** power
            return Digits(inner.value * scale, inner.significant, inner.exponent + power)
    return None


def _power_of_ten(node: Node) -> int | None:
    if node.op == "num" and node.val == 10:
        return 1
    if node.op != "pow" or node.args[0].op != "num" or node.args[0].val != 10:
        return None
    power = exact(node.args[1])
    if power is None or power.denominator != 1 or abs(power) > 4000:
        return None
    return int(power)


def _rounded(
    gold: Node, answer: Node, gold_value: Fraction | None, answer_value: Fraction | None
) -> bool:
    shown = digits_shown(gold), digits_shown(answer)
    for value, digits in zip((gold_value, answer_value), shown, strict=True):
        if digits is None and value is not None and value.denominator == 1:
            return False  # an integer is exact
    if shown[0] is None and shown[1] is None:
        return False
    if shown[0] is None or shown[1] is None:
        shorter = shown[0] or shown[1]
        other = answer if shown[0] else gold
    else:
        if shown[0].exponent == shown[1].exponent:
            return False
        first = shown[0].exponent > shown[1].exponent
        shorter, other = (shown[0], answer) if first else (shown[1], gold)
        if _float_noise(shown[0], shown[1]):
            return True
    assert shorter is not None
    if shorter.significant >= _FLOAT_DIGITS:
        # The last digits that a computer prints of a float are not those of the number.
        shorter = shorter._replace(
            exponent=shorter.exponent + shorter.significant - _FLOAT_DIGITS + 1
        )
    return shorter.significant >= SHOWN and _is_rounding(shorter, other)


def _is_rounding(shorter: Digits, other: Node) -> bool:
    half = Fraction(1, 2) * Fraction(10) ** shorter.exponent
    value = exact(other)
    if value is not None:
        return abs(value - shorter.value) <= half
    mp = shared_context(DIGITS)
    shown = mp.mpf(shorter.value.numerator) / shorter.value.denominator
    return bool(abs(value_at(other, mp, {}) - shown) <= mp.mpf(half.numerator) / half.denominator)


def _float_noise(one: Digits, other: Digits) -> bool:
    """0.1 and 0.10000000000000001: what a computer prints of the same float."""
    longest = max(one.significant, other.significant)
    near = abs(one.value - other.value) <= abs(one.value) * Fraction(1, 10**14)
    return longest >= _FLOAT_DIGITS and near


# -- Calculations without a result

LARGEST_FORM = 20  # 20! is a form of a number, 21! a calculation
_RESTATED = frozenset(["gcd", "lcm", "max", "min"])
_IRRATIONAL = frozenset(["root", "const"])


def unsolved(node: Node) -> frozenset[str]:
    r"""The operations that were not carried out; empty for a solved number."""
    return frozenset(_operations_left(node))


def _operations_left(node: Node) -> set[str]:
    below: set[str] = set()
    for part in node.args:
        below |= _operations_left(part)
    match node.op:
        case "add" if not _has_irrational(node):
            below.add("sum")
        case "mul" if all(_is_plain(factor) for factor in node.args) and not digits_shown(node):
            below.add("product")
        case "fact" if (n := exact(node.args[0])) is not None and n > LARGEST_FORM:
            below.add("factorial")
        case "call" if node.val in _RESTATED:
            below.add(node.val)
        case "big":
            below.add(node.val[0])
        case "binom" | "mod" | "dots" | "floor" | "ceil" | "abs" | "fact2":
            below.add(node.op)
    return below


def _has_irrational(node: Node) -> bool:
    if ops(node) & _IRRATIONAL:
        return True
    return any(part.op == "call" or (part.op == "pow" and _is_root(part)) for part in walk(node))


def _is_root(power: Node) -> bool:
    exponent = exact(power.args[1])
    return exponent is None or exponent.denominator != 1


def _is_plain(factor: Node) -> bool:
    """Whether a factor is a plain number: a product of such is a calculation."""
    if factor.op in ("neg", "group"):
        return _is_plain(factor.args[0])
    return factor.op == "dec" or (factor.op == "num" and factor.val.denominator == 1)
