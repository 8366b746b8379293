"""Two `MathObject`s -> whether math-verify finds them equal, or None where it alone can say."""

from fractions import Fraction

from plaudit.judge.exact._math_objects import INTERVALS, MathObject
from plaudit.judge.exact._polynomials import (
    ONE,
    Polynomial,
    add,
    approximate,
    is_letter,
    is_linear,
    is_negligible,
    is_number,
    letters_of,
    monic,
    scale,
)

FAR_APART = 1e-4  # as a share of the value: no rounding makes up for as much


def same_object(gold: MathObject, answer: MathObject) -> bool | None:
    r"""Whether math-verify finds them equal; None where that is for math-verify to say.

    >>> from plaudit.judge.exact import math_object
    >>> same_object(math_object("x^2+2x+1"), math_object("(x+1)^2"))
    True
    >>> same_object(math_object("(1, 2)"), math_object("(2, 1)"))
    False
    """
    if gold.complex_letters != answer.complex_letters:
        return None
    if gold.kind in INTERVALS and gold.name and answer.name:  # as equations, not as intervals
        return None
    kinds = {gold.kind, answer.kind}
    if kinds == {"equation"}:
        return _same_equation(gold, answer)
    if kinds == {"equation", "expression"}:  # the right side counts
        if gold.kind == "equation" and not gold.name:
            return None
        gold, answer = (MathObject("expression", side.parts[-1:]) for side in (gold, answer))
        kinds = {"expression"}
    if kinds == {"expression"}:
        return _same_expression(gold.parts[0], answer.parts[0])
    if kinds == {"name"}:
        return gold.name == answer.name
    if kinds == {"name", "expression"}:
        return False if _is_plain(gold) or _is_plain(answer) else None
    if kinds <= {"list", "set", "expression"}:
        return _same_members(gold, answer)
    if kinds <= {"tuple", "()"} or (kinds <= INTERVALS and len(kinds) == 1):
        return _same_parts(gold, answer)
    if kinds <= INTERVALS:
        return False
    if "expression" in kinds and kinds & {*INTERVALS, "tuple"}:
        return False if _is_plain(gold) or _is_plain(answer) else None
    return None


def _is_plain(one: MathObject) -> bool:
    """Whether it is a rational number."""
    return one.kind == "expression" and is_number(one.parts[0])


def _same_expression(gold: Polynomial, answer: Polynomial) -> bool | None:
    if gold == answer:
        return None if is_letter(gold) else True
    if _may_be_spelt_out(gold, answer) or _may_be_spelt_out(answer, gold):
        return None
    return None if is_negligible(add(gold, scale(answer, -1))) else False


def _may_be_spelt_out(one: Polynomial, other: Polynomial) -> bool:
    r"""Whether math-verify may find a letter equal to the letters of its name, as `\mu` to `mu`."""
    return is_letter(one) and len(next(iter(letters_of(one)))) > 1 and not is_number(other)


def _same_equation(gold: MathObject, answer: MathObject) -> bool | None:
    """Linear equations alone: math-verify solves what is not the same up to its sign."""
    one, other = (_all_on_one_side(side) for side in (gold, answer))
    if one is None or other is None:
        return None
    for sign in (1, -1):
        same = _same_expression(one, scale(other, sign))
        if same is not False:
            return same
    if not all(is_linear(side) for side in (one, other)):
        return None
    if min(len(letters_of(side)) for side in (one, other)) < 2:
        return False  # solutions that are numbers are never compared
    return _same_expression(monic(one), monic(other))


def _all_on_one_side(equation: MathObject) -> Polynomial | None:
    """Left minus right; None where a letter is gone, or little is left."""
    left, right = equation.parts
    difference = add(left, scale(right, -1))
    letters = letters_of(left) | letters_of(right)
    return difference if len(difference) > 1 and letters_of(difference) == letters else None


def _same_parts(gold: MathObject, answer: MathObject) -> bool | None:
    if len(gold.parts) != len(answer.parts):
        return False
    same = [_same_expression(g, a) for g, a in zip(gold.parts, answer.parts, strict=True)]
    return False if False in same else None if None in same else True


def _same_members(gold: MathObject, answer: MathObject) -> bool | None:
    if not all(is_number(part) for part in (*gold.parts, *answer.parts)):
        return None
    members = [{part.get(ONE, Fraction(0)) for part in side.parts} for side in (gold, answer)]
    return members[0] == members[1]


def clearly_apart(decimal: Fraction, other: MathObject) -> bool:
    r"""Whether a decimal is too far from an expression for any rounding to make them meet.

    >>> from plaudit.judge.exact import math_object
    >>> clearly_apart(Fraction("3.15"), math_object(r"\pi"))
    True
    """
    if other.kind != "expression":
        return False
    value = approximate(other.parts[0])
    return value is not None and abs(value - float(decimal)) > FAR_APART * max(1.0, abs(value))
