r"""Numbers: the same value in any notation, and correct roundings.

`\frac{2}{4}` and `0.5` are equal; `600/7` and `85.71` are, where rounding is allowed; `99.7` is
no rounding of 100.
"""

from fractions import Fraction
from typing import Any

from plaudit.answers._points import shared_context, value_at
from plaudit.answers._rules import Rules
from plaudit.answers._tokens import significant_digits
from plaudit.answers._tree import Digits, Node
from plaudit.answers._values import exact

DIGITS, MORE_DIGITS = 100, 250
SHOWN = 3  # from so many digits on, a rounding counts
_FLOAT_DIGITS = 15


def same_number(gold: Node, answer: Node, rules: Rules) -> tuple[bool, str]:
    r"""Whether two trees without letters have the same value, and what decided.

    >>> from plaudit.answers._grammar import read_tree
    >>> tree = lambda text: read_tree(text)[0]
    >>> same_number(tree(r"\frac{600}{7}"), tree("85.71"), Rules())
    (True, 'a correct rounding')
    >>> same_number(tree("100"), tree("99.7"), Rules())[0]
    False
    """
    gold_value, answer_value = exact(gold), exact(answer)
    if gold_value is not None and answer_value is not None:
        if gold_value == answer_value:
            return True, "exact values"
        how = "exact values"
    else:
        if same_value(gold, answer):
            return True, f"{DIGITS // 2} digits of their values"
        how = f"{DIGITS // 2} digits of their values"
    if rules.tolerance is not None and _near(gold, answer, rules.tolerance):
        return True, "the tolerance"
    if rules.rounding and _rounded(gold, answer, gold_value, answer_value):
        return True, "a correct rounding"
    return False, how


def same_value(one: Node, other: Node) -> bool:
    """Whether two values are equal, by as many digits as show that they are not."""
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
    r"""The digits that a decimal shows, also in scientific notation; None where it is none.

    >>> from plaudit.answers._grammar import read_tree
    >>> digits_shown(read_tree(r"4.18\times10^{-3}")[0])
    Digits(value=Fraction(209, 50000), significant=3, place=-5)
    """
    if node.op == "dec":
        found: Digits = node.val
        return found
    if node.op in ("neg", "pct", "group"):
        inner = digits_shown(node.args[0])
        if inner is None or node.op == "group":
            return inner
        if node.op == "neg":
            return inner._replace(value=-inner.value)
        return Digits(inner.value / 100, inner.significant, inner.place - 2)
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
            return Digits(inner.value * scale, inner.significant, inner.place + power)
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
        if shown[0].place == shown[1].place:
            return False
        first = shown[0].place > shown[1].place
        shorter, other = (shown[0], answer) if first else (shown[1], gold)
        if _float_noise(shown[0], shown[1]):
            return True
    assert shorter is not None
    if shorter.significant >= _FLOAT_DIGITS:
        # The last digits that a computer prints of a float are not those of the number.
        shorter = shorter._replace(place=shorter.place + shorter.significant - _FLOAT_DIGITS + 1)
    return shorter.significant >= SHOWN and _is_rounding(shorter, other)


def _is_rounding(shorter: Digits, other: Node) -> bool:
    half = Fraction(1, 2) * Fraction(10) ** shorter.place
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
