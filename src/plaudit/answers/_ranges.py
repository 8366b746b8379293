r"""Ranges and bounds: "3-5", "from 1914 until 1918", "8 and up", "fewer than 50".

Both ends count. A point is no range, and one end is none.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from plaudit.answers._number_words import in_digits
from plaudit.answers._quantities import find_unit

_NUMBER = r"(?<![\w.])(?<!\d,)[$€£]?(\d{1,12}(?:,\d{3})*+(?:\.\d{1,12})?)(?![\d.]*\d)"
_UNIT = r"\s?(%|°[CF]?|[^\W\d_]++)?"
_AND = r"\s?(?:-|–|—|−|~|to|until|till|through|thru|up to|bis|à|до|से|から|至|到)\s?"
_BETWEEN = re.compile(
    rf"\b(?:between|zwischen|entre|tra|между)\s{_NUMBER}{_UNIT}\s(?:and|und|et|y|e|и)\s{_NUMBER}{_UNIT}",
    re.IGNORECASE,
)
_FROM_TO = re.compile(rf"{_NUMBER}{_UNIT}{_AND}{_NUMBER}{_UNIT}", re.IGNORECASE)
_CHAIN = re.compile(
    r"(?<![\d.])(\d{1,12}(?:\.\d{1,12})?)\s?(?:≤|<=|<|\\leq?)\s?[^\d<≤]{1,12}\s?(?:≤|<=|<|\\leq?)\s?"
    r"(\d{1,12}(?:\.\d{1,12})?)(?![\d.]*\d)"
)
# Each: the pattern, whether it is the lower end, and whether the end belongs to it.
_BOUNDS = (
    (re.compile(rf"{_NUMBER}\s?\+(?!\s?[\d\w])"), True, True),
    (
        re.compile(
            rf"{_NUMBER}(?:\s[^\W\d_]++)?\s(?:and|or)\s(?:up|older|more|over|above|higher|later|upwards?)\b"
            rf"|\b(?:at least|no (?:less|fewer) than|not (?:less"
            rf"|fewer) than|a minimum of|from)\s{_NUMBER}"
            rf"|(?:≥|>=|\\geq?)\s?{_NUMBER}",
            re.IGNORECASE,
        ),
        True,
        True,
    ),
    (
        re.compile(
            rf"\b(?:more|greater|larger|higher|older) than\s{_NUMBER}"
            rf"|\b(?:over|above|exceed\w*)\s{_NUMBER}"
            rf"|>\s?{_NUMBER}",
            re.IGNORECASE,
        ),
        True,
        False,
    ),
    (
        re.compile(
            rf"{_NUMBER}(?:\s[^\W\d_]++)?\s(?:and|or)\s(?:under|younger|less|fewer|below|lower|earlier)\b"
            rf"|\b(?:at most|no more than|not more than|up to|a maximum of)\s{_NUMBER}"
            rf"|(?:≤|<=|\\leq?)\s?{_NUMBER}",
            re.IGNORECASE,
        ),
        False,
        True,
    ),
    (
        re.compile(
            rf"\b(?:less|fewer|smaller|lower|younger) than\s{_NUMBER}|\b(?:under|below)\s{_NUMBER}"
            rf"|<\s?{_NUMBER}",
            re.IGNORECASE,
        ),
        False,
        False,
    ),
)
_GOLD_RANGE = re.compile(
    r"(?:(?:from|between|pages?|pp?\.|years?|ages?)\s)?[$€£]?\d{1,12}(?:,\d{3})*+(?:\.\d++)?\s?%?"
    r"(?:\s?[-–—]\s?|\s(?:to|until|and)\s)[$€£]?\d{1,12}(?:,\d{3})*+(?:\.\d++)?(?:\s?[^\W\d_°%]++|\s?%|\s?°[CF])?",
    re.IGNORECASE,
)
_GOLD_BOUND = re.compile(
    r"\d++(?:\.\d++)?\s?\+|[<>≤≥]\s?\d++(?:\.\d++)?"
    r"|(?:at least|at most|more than|less than|fewer than"
    r"|over|under|up to)\s\d++(?:\.\d++)?(?:\s\w++)?"
    r"|\d++(?:\s\w++)?\s(?:and|or)\s(?:up|older|more|over|under)",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d")
_DENIED = re.compile(
    r"\b(?:not|never|neither|no longer|isn't|aren't)\b(?! (?:more|less|fewer) than)", re.I
)


class Range(NamedTuple):
    """A range: its ends, None if it is open, whether a single end belongs to it, and its unit."""

    low: Fraction | None
    high: Fraction | None
    closed: bool = True
    unit: str = ""


@lru_cache(maxsize=4096)
def range_of_gold(gold: str) -> Range | None:
    """Return the range that a gold is; None if it is something else, such as a difference.

    >>> range_of_gold("3-5"), range_of_gold("5-3")
    (Range(low=Fraction(3, 1), high=Fraction(5, 1), closed=True, unit=''), None)
    """
    plain = gold.strip().strip("$.")
    if not _GOLD_RANGE.fullmatch(plain) and not _GOLD_BOUND.fullmatch(plain):
        return None
    found = list(ranges_in(plain))
    return found[0] if len(found) == 1 else None


def ranges_in(text: str) -> Iterator[Range]:
    """The ranges that a text names."""
    text = in_digits(text)
    for pattern in (_BETWEEN, _CHAIN, _FROM_TO):
        spans = []
        for found in pattern.finditer(text):
            one = _range(found)
            if one is not None:
                spans.append(found.span())
                yield one
        for start, end in reversed(spans):
            text = text[:start] + " " + text[end:]
    for pattern, is_low, closed in _BOUNDS:
        for found in pattern.finditer(text):
            value = Fraction(next(filter(None, found.groups())).replace(",", ""))
            yield Range(value, None, closed) if is_low else Range(None, value, closed)
        text = pattern.sub(" ", text)


def _range(found: re.Match[str]) -> Range | None:
    numbers = [group for group in found.groups() if group and _DIGITS.match(group)]
    units = [group for group in found.groups() if group and not _DIGITS.match(group)]
    first, second = (number.replace(",", "") for number in numbers)
    if len(first) == 4 and len(second) == 2 and "." not in first + second:
        second = first[:2] + second  # 1914-18
    low, high = Fraction(first), Fraction(second)
    if low >= high:
        return None
    known = [unit for unit in units if unit[0] in "%°" or find_unit(unit)]
    return Range(low, high, True, known[-1] if known else "")


def same_range(gold: Range, answer: str) -> bool | None:
    """Whether an answer names the range; None if it names none, or two."""
    found = list(dict.fromkeys(ranges_in(answer)))
    if len(found) != 1 or _DENIED.search(answer):
        return None
    [yours] = found
    rest = len(_numbers_of(answer)) > sum(end is not None for end in yours[:2])
    if rest or yours[:3] != gold[:3]:
        return False
    return not (gold.unit and yours.unit) or _same_unit(gold.unit, yours.unit)


def _numbers_of(text: str) -> list[str]:
    return re.findall(r"\d++(?:[.,]\d++)*+", in_digits(text))


def _same_unit(mine: str, yours: str) -> bool:
    return mine == yours or find_unit(mine) == find_unit(yours) is not None
