r"""Numbers that are decided without a CAS, exactly as math-verify decides them.

    \frac{1}{2} and 3/6     equal: the same ratio
    0.5 and 0.50001         different: apart by more than math-verify rounds
    0.5 and 0.5000001       undecided: that is for math-verify to say

Undecided is always an answer here; a guess never is.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from plaudit.judge._versions import math_verify_installed

INTEGER = re.compile(r"-?[0-9]{1,300}")
DECIMAL = re.compile(r"-?[0-9]{0,12}\.[0-9]{1,12}")
PERCENT = re.compile(r"((?:0|[1-9][0-9]*)(?:\.[0-9]+)?) ?\\?%")
THOUSANDS = re.compile(r"-?[1-9][0-9]{0,2}(?:,[0-9]{3}){1,4}")
WHOLE = r"(?:0|[1-9][0-9]{0,299})"
RATIO = re.compile(
    rf"(-?)(?:\\frac\{{(-?[0-9]{{1,300}})\}}\{{(-?[0-9]{{1,300}})\}}|({WHOLE})/({WHOLE}))"
)
MIXED = re.compile(r"(-?)([0-9]{1,300})\\frac\{([0-9]{1,300})\}\{([0-9]{1,300})\}")
DEGREES = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)\^(?:\\circ|\{\\circ\})")

# math-verify rounds decimals to six places; further apart than this, no rounding makes them meet.
CLEARLY_APART = Fraction(1, 250_000)


class ExactNumber(NamedTuple):
    """A number, and how it was written.

    math-verify compares decimals and percentages in other ways than integers and ratios, and works
    out a ratio in plain text only when it compares it (`evaluated` is False).

    >>> exact_number("50%") == ExactNumber(Fraction(50), percent=True)
    True
    """

    value: Fraction
    decimal: bool = False
    percent: bool = False
    evaluated: bool = True


def exact_number(text: str, percent: bool = False) -> ExactNumber | None:
    r"""The number that `text` is; None where it is not a plain number.

    >>> exact_number(r"-\frac{1}{2}")
    ExactNumber(value=Fraction(-1, 2), decimal=False, percent=False, evaluated=True)
    >>> exact_number("x + 1")
    """
    if text.endswith("%"):
        number = PERCENT.fullmatch(text)
        if percent or number is None:
            return None
        text, percent = number[1], True
    elif degrees := DEGREES.fullmatch(text):
        text = degrees[1]
    if percent and text.startswith("-"):
        return None
    if INTEGER.fullmatch(text):
        return ExactNumber(Fraction(int(text)), percent=percent)
    if DECIMAL.fullmatch(text):
        return ExactNumber(Fraction(text), decimal=True, percent=percent)
    if percent:
        return None
    if THOUSANDS.fullmatch(text):
        return ExactNumber(Fraction(int(text.replace(",", ""))))
    ratio = _ratio(text)
    return ExactNumber(ratio) if ratio is not None else None


def _ratio(text: str) -> Fraction | None:
    if found := RATIO.fullmatch(text):
        sign, whole = found[1], 0
        top, bottom = int(found[2] or found[4]), int(found[3] or found[5])
    elif found := MIXED.fullmatch(text):
        sign, whole = found[1], int(found[2])
        top, bottom = int(found[3]), int(found[4])
        if top == 0:
            return None
    else:
        return None
    if bottom == 0:
        return None
    value = whole + Fraction(top, bottom)
    return -value if sign else value


def same_number(gold: ExactNumber, answer: ExactNumber) -> bool | None:
    """Whether math-verify finds them equal; None where it is too close to call.

    >>> same_number(ExactNumber(Fraction(50), percent=True), ExactNumber(Fraction(1, 2)))
    True
    """
    if gold.decimal or answer.decimal:
        distance = abs(_plain(gold) - _plain(answer))
        return False if distance > CLEARLY_APART else _same_decimal(gold, answer, distance)
    if gold.percent != answer.percent and not (gold.evaluated and answer.evaluated):
        return None
    if gold.percent != answer.percent and gold.value == answer.value and _number_counts():
        return _whole(gold) and _whole(answer)  # of 9 % and 9, math-verify says that they are equal
    return _plain(gold) == _plain(answer)


def _same_decimal(gold: ExactNumber, answer: ExactNumber, distance: Fraction) -> bool | None:
    return None if distance or gold.percent or answer.percent else True


def _number_counts() -> bool:
    """Whether math-verify compares a percentage by its number, too."""
    return math_verify_installed().ways.percent_is_its_number


def _plain(number: ExactNumber) -> Fraction:
    return number.value / 100 if number.percent else number.value


def _whole(number: ExactNumber) -> bool:
    return number.value.denominator == 1
