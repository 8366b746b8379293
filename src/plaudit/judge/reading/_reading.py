"""A text -> its `Reading`: what it says, as far as it must be known to compare it."""

import re
from dataclasses import dataclass
from functools import cached_property

from plaudit.judge._verdict import Rule
from plaudit.judge.exact import (
    ExactNumber,
    MathObject,
    exact_number,
    math_object,
    number_object,
)
from plaudit.judge.reading._candidates import Candidate, best_latex, candidates
from plaudit.judge.reading._latex import Latex
from plaudit.judge.reading._normalise import normalise, opened
from plaudit.judge.reading._plain_data import SHORT, PlainData, to_plain_data
from plaudit.judge.reading._plain_numbers import Number
from plaudit.judge.reading._size_limits import too_large

NUMBER_ALONE = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?")
# Characters that are read at most. LaTeX is found fast, and looked for in whole completions;
# plain numbers take ten times as long, and are looked for in what is known to be the final answer.
LONGEST = {Rule.LATEX: 2_000_000, Rule.ANYWHERE: 100_000}


@dataclass(frozen=True)
class Reading:
    """The best candidate of a text, or None.

    compared: what math-verify would compare as text, where that is known without parsing
    number: its number, where it is one
    limit: why it is not even tried
    source: the text and the rule, to read on where the best candidate is not enough

    >>> read("It is 3/4, or so.", Rule.ANYWHERE).number.value
    Fraction(3, 4)
    """

    best: Candidate | None
    compared: str
    number: ExactNumber | None
    limit: str | None
    source: tuple[str, Rule]

    @property
    def shown(self) -> str | None:
        """What a person is told was read: the text as compared, or else as it stands."""
        if self.best is None:
            return None
        if isinstance(self.best, Latex) and not self.compared:
            return " and ".join(piece.latex for piece in self.best.pieces)[:SHORT]
        return self.compared[:SHORT]

    @cached_property
    def readable(self) -> bool:
        r"""Whether math-verify reads something in it for sure, whichever of its candidates parse.

        If the text that comes first does not parse, a later number may make it give up.

        >>> read(r"$\text{}$", Rule.ANYWHERE).readable, read("(3 -007", Rule.ANYWHERE).readable
        (False, False)
        """
        text, rule = self.source
        if not self.compared or self.number is not None or rule is Rule.LATEX:
            return bool(self.compared)
        numbers = (found for found in candidates(text, rule) if isinstance(found, Number))
        return all(number.readable for number in numbers)

    @cached_property
    def math_object(self) -> MathObject | None:
        """What it is algebraically, where that is simple: no decimals, no percent sign."""
        if self.number is not None:
            plain = not (self.number.decimal or self.number.percent)
            return number_object(self.number.value) if plain else None
        if not isinstance(self.best, Latex) or self.best.pieces[0].percent:
            return None
        return math_object(self.compared)

    @cached_property
    def plain_data(self) -> PlainData:
        """All its candidates, for a worker."""
        text, rule = self.source
        if self.best is None or rule is Rule.LATEX or isinstance(self.best, Number):
            return (to_plain_data(self.best, rule),) if self.best else ()
        return tuple(to_plain_data(candidate, rule) for candidate in candidates(text, rule))


def too_long(text: str, rule: Rule) -> str:
    """Why a text is not even read; "" where it is.

    >>> too_long("4 " * 500_000, Rule.ANYWHERE), too_long("4", Rule.ANYWHERE)
    ('it has more than 100,000 characters', '')
    """
    return f"it has more than {LONGEST[rule]:,} characters" if len(text) > LONGEST[rule] else ""


def best_candidate(text: str, rule: Rule) -> Candidate | None:
    r"""What math-verify would try to parse first.

    >>> best_candidate("It is 3/4, or so.", Rule.ANYWHERE)
    Arithmetic(text='3/4')
    """
    if rule is Rule.LATEX:
        return best_latex(text)
    if NUMBER_ALONE.fullmatch(text):  # as most golds are
        return Number(text, percent=False)
    return next(candidates(text, rule), None)


def short_form(best: Candidate | None) -> tuple[str, bool] | None:
    r"""What is in the box, and whether a percent sign follows it; None where that is long.

    By TRL's rule, texts of the same short form are the same answer, whatever else they say.

    >>> short_form(best_candidate(r"So it is $\boxed{\frac12}$.", Rule.LATEX))
    ('\\frac12', False)
    >>> short_form(None)
    ('', False)
    """
    if best is None:
        return "", False
    if not isinstance(best, Latex) or len(best.pieces) > 1:
        return None
    inside = opened(best.pieces[0])
    return (inside, best.pieces[0].percent) if 0 < len(inside) <= SHORT else None


def read(text: str, rule: Rule) -> Reading:
    r"""The reading of a text.

    >>> read(r"So it is \boxed{42\text{ cm}}.", Rule.LATEX).compared
    '42'
    >>> read("I do not know.", Rule.LATEX).best is None
    True
    """
    return reading_of(best_candidate(text, rule), text, rule)


def reading_of(best: Candidate | None, text: str, rule: Rule) -> Reading:
    """The reading of a text whose best candidate is known.

    >>> reading_of(Number("42", percent=False), "It is 42.", Rule.ANYWHERE).compared
    '42'
    """
    limit = too_large(best) if best else None
    if isinstance(best, Number) and not best.readable and not limit:
        best = None
    compared, number = _compared(best, rule) if best else ("", None)
    return Reading(best, compared, number, limit, (text, rule))


def _compared(candidate: Candidate, rule: Rule) -> tuple[str, ExactNumber | None]:
    if isinstance(candidate, Number):
        return candidate.digits, exact_number(candidate.digits, candidate.percent)
    if not isinstance(candidate, Latex):
        number = exact_number(candidate.text)
        return candidate.text, number._replace(evaluated=False) if number else None
    piece = candidate.pieces[0]
    if len(candidate.pieces) > 1 or len(opened(piece)) > SHORT:
        return "", None
    text = normalise(piece, rule)
    return text, exact_number(text, piece.percent)
