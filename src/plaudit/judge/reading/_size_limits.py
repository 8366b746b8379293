"""A candidate -> why it is too large to try: a worker that did could only be killed for it.

Only what is sure to explode is refused; the rest may have its deadline.
"""

import re
from math import log10

from plaudit.judge.reading._candidates import Candidate
from plaudit.judge.reading._latex import Latex
from plaudit.judge.reading._normalise import opened
from plaudit.judge.reading._plain_numbers import LONGEST_INTEGER, Arithmetic, Number

LENGTH = 20_000
NESTING = 150
POWER_DIGITS = 1_000_000.0

LONG_NUMBER = re.compile(rf"\d{{{LONGEST_INTEGER + 1}}}")
BASE = r"(?<![\d.])(\d{2,}+|[2-9])\s*+\^[{(\s]*+(\d++)"
POWER = re.compile(BASE)
TOWER = re.compile(BASE + r"\s*+\^[{(\s]*+(\d++)")
FACTORIAL = re.compile(r"(?<!\d)\d{6,}+[\s)}]*+!")
BINOMIAL = re.compile(
    r"\\binom\s*+\{\s*+(?:(\d++)\s*+(?:\\cdot|\\times|\*)\s*+)?+(\d++)(?:\s*+\^[{\s]*+(\d++))?"
)
BRACKETS = re.compile(r"[{}()\[\]]")


def too_large(candidate: Candidate) -> str | None:
    r"""Why a candidate is not tried; None where it may be.

    >>> too_large(Arithmetic("9^9^9"))
    'a power of more than a million digits'
    >>> too_large(Arithmetic("2^10"))
    """
    text = _text(candidate)
    if len(text) < 4:
        return None
    if len(text) > LENGTH:
        return f"longer than {LENGTH:,} characters"
    if len(text) > LONGEST_INTEGER and LONG_NUMBER.search(text):
        return f"a number of more than {LONGEST_INTEGER:,} digits"
    if len(text) > NESTING and _nesting(text) > NESTING:
        return f"nested more than {NESTING} deep"
    if "^" in text and _explodes(text):
        return "a power of more than a million digits"
    if "!" in text and FACTORIAL.search(text):
        return "a factorial of six digits or more"
    if "\\binom" in text and any(map(_is_large, BINOMIAL.finditer(text))):
        return "a binomial of six digits or more"
    return None


def _text(candidate: Candidate) -> str:
    match candidate:
        case Latex(pieces):
            return " ".join(opened(piece) for piece in pieces)
        case Number(text, _) | Arithmetic(text):
            return text
    raise TypeError(candidate)


def _is_large(binomial: re.Match[str]) -> bool:
    """Whether the upper number, such as `5 \\cdot 10^7`, has six digits or more."""
    factor, base, exponent = binomial.groups(default="1")
    return _digits(factor) + _digits(base) * int(exponent[:9]) >= 5


def _digits(number: str) -> float:
    """The number's logarithm: how many digits it has, less one."""
    return log10(max(int(number[:9]), 1)) + max(len(number) - 9, 0)


def _nesting(text: str) -> int:
    depth = deepest = 0
    for bracket in BRACKETS.findall(text):
        depth += 1 if bracket in "{([" else -1
        deepest = max(deepest, depth)
    return deepest


def _explodes(text: str) -> bool:
    return any(
        _digits(base) * int(exponent[:9]) > POWER_DIGITS or len(exponent) > 9
        for base, exponent in POWER.findall(text)
    ) or any(
        _digits(middle) * int(top[:9]) > log10(POWER_DIGITS)
        for _, middle, top in TOWER.findall(text)
    )
