r"""Numbers that are decided without a CAS, exactly as math-verify decides them.

    \frac{1}{2} and 3/6       equal: the same ratio
    5/6 and 0.8333333333      equal: math-verify rounds decimals to six places
    0.5 and 0.5000005         undecided: the digit that is rounded is too close to call

Undecided is always an answer here; a guess never is.
"""

import re
from fractions import Fraction
from math import floor
from typing import NamedTuple

from plaudit.judge._versions import math_verify_installed

INTEGER = re.compile(r"-?[0-9]{1,300}")
DECIMAL = re.compile(r"-?[0-9]{0,12}\.[0-9]{1,30}")
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
MILLION = 10**6
# sympy's rounding works on about 15 digits, and half is rounded to even: near it, sympy has to say.
NEAR_HALF = Fraction(1, 1000)


class ExactNumber(NamedTuple):
    """A number, and how it was written.

    math-verify compares decimals and percentages in other ways than integers and ratios, and works
    out a ratio in plain text only when it compares it (`evaluated` is False).
    """

    value: Fraction | int  # whole numbers are most, and a Fraction costs a microsecond
    decimal: bool = False
    percent: bool = False
    evaluated: bool = True


def exact_number(text: str, percent: bool = False) -> ExactNumber | None:
    """Return the number that `text` is; None if it is not a plain number."""
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
        return ExactNumber(int(text), percent=percent)
    if DECIMAL.fullmatch(text):
        return ExactNumber(Fraction(text), decimal=True, percent=percent)
    if percent:
        return None
    if THOUSANDS.fullmatch(text):
        return ExactNumber(int(text.replace(",", "")))
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
    """Return whether math-verify finds them equal; None if it is too close to call."""
    if gold.decimal or answer.decimal:
        return _same_decimal(gold, answer)
    if gold.percent != answer.percent and not (gold.evaluated and answer.evaluated):
        return None
    percent_counts = not math_verify_installed().quirks.percent_is_its_number
    if gold.percent != answer.percent and gold.value == answer.value and not percent_counts:
        return gold.value.denominator == 1  # 9 % is equal to 9
    return _plain(gold) == _plain(answer)


def _same_decimal(gold: ExactNumber, answer: ExactNumber) -> bool | None:
    distance = abs(Fraction(_plain(gold)) - _plain(answer))
    if distance > CLEARLY_APART:
        return False
    if gold.percent or answer.percent:
        return None
    if not distance:
        return True
    rounded = _rounded(gold.value), _rounded(answer.value)
    return None if None in rounded else rounded[0] == rounded[1]


def _rounded(value: Fraction | int) -> int | None:
    """The value in millionths, as sympy rounds it; None if that is not certain.

    What sympy makes of it is a float with as many digits as are left, and floats of different
    precision are not equal for sympy: so whole numbers, and what a power of ten lies close to, are
    undecided.
    """
    millionths = Fraction(value) * MILLION
    whole = round(millionths)
    if abs(abs(millionths - floor(millionths)) - Fraction(1, 2)) < NEAR_HALF:
        return None
    if (
        not 10 < abs(whole) < 10**14
        or whole % MILLION == 0
        or len(str(abs(whole))) != len(str(abs(floor(millionths))))
    ):
        return None
    return whole


def _plain(number: ExactNumber) -> Fraction | int:
    return Fraction(number.value, 100) if number.percent else number.value
