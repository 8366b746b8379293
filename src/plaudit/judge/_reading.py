r"""A text -> its `ReadText`: its best candidate, as far as it must be known to compare it.

LaTeX is read in a normal form, as math-verify parses it: no units, no boxes, unified commands.
latex2sympy2_extended's own module does that, so that it can never drift from what math-verify does.
The module needs nothing but `re`; it is loaded by its path because importing its package would load
sympy and antlr, which have no business in a trainer's process.
"""

import re
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from math import log10
from pathlib import Path
from typing import Any, NamedTuple

from plaudit.judge._algebra import MathObject, math_object, number_object, parses
from plaudit.judge._candidates import (
    LONGEST_INTEGER,
    Arithmetic,
    Candidate,
    Latex,
    Piece,
    WrittenNumber,
    best_latex,
    candidates,
)
from plaudit.judge._exact_numbers import ExactNumber, exact_number
from plaudit.judge._verdict import Rule
from plaudit.judge._versions import math_verify_installed

NUMBER_ALONE = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?")
# Characters that are read at most. LaTeX is found fast, and looked for in whole completions;
# plain numbers take ten times as long, and are looked for in what is known to be the final answer.
LONGEST = {Rule.LATEX: 2_000_000, Rule.ANYWHERE: 100_000, Rule.FORMULA: 100_000}
SHORT = 300  # longer LaTeX is normalised by a worker: it takes time quadratic in the length

PlainData = tuple[tuple[Any, ...], ...]


@dataclass(eq=False)  # not frozen: two are made for each row, and freezing doubles their cost
class ReadText:
    """The best candidate of a text, or None.

    compared: what math-verify would compare as text, if that is known without parsing
    limit: why it is not even tried
    source: the text and the rule, to read on if the best candidate is not enough
    """

    best: Candidate | None
    compared: str
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

    @property
    def readable(self) -> bool:
        r"""Whether math-verify reads something in it for sure, whichever of its candidates parse.

        If the text that comes first does not parse, a later number may make it give up.
        """
        text, rule = self.source
        if not self.compared or rule is not Rule.ANYWHERE or self.number is not None:
            return bool(self.compared)
        numbers = (found for found in candidates(text, rule) if isinstance(found, WrittenNumber))
        return all(number.readable for number in numbers)

    @cached_property
    def number(self) -> ExactNumber | None:
        """Its number, if it is one."""
        if isinstance(self.best, Latex):
            piece, *more = self.best.pieces
            return None if more else exact_number(self.compared, piece.percent)
        if isinstance(self.best, WrittenNumber):
            return exact_number(self.best.digits, self.best.percent)
        number = exact_number(self.compared)
        return number._replace(evaluated=False) if number else None

    @cached_property
    def math_object(self) -> MathObject | None:
        """What it is algebraically, if that is simple: one piece, no percent sign."""
        if self.number is not None:
            if self.number.percent:
                return None
            return number_object(Fraction(self.number.value), self.number.decimal)
        if not isinstance(self.best, Latex) or len(self.best.pieces) > 1:
            return None
        if self.best.pieces[0].percent:
            return None
        return math_object(self.compared)

    @cached_property
    def plain_data(self) -> PlainData:
        """All its candidates, for a worker."""
        text, rule = self.source
        if self.best is None or rule is not Rule.ANYWHERE or isinstance(self.best, WrittenNumber):
            return (to_plain_data(self.best, rule),) if self.best else ()
        return tuple(to_plain_data(candidate, rule) for candidate in candidates(text, rule))


def too_long(text: str, rule: Rule) -> str:
    """Why a text is not even read; "" where it is."""
    return f"it has more than {LONGEST[rule]:,} characters" if len(text) > LONGEST[rule] else ""


def best_candidate(text: str, rule: Rule) -> Candidate | None:
    r"""What math-verify would try to parse first."""
    if rule is Rule.LATEX:
        return best_latex(text)
    if rule is Rule.FORMULA:
        return Latex((Piece(text),)) if text.strip() else None
    if NUMBER_ALONE.fullmatch(text):  # as most golds are
        return WrittenNumber(text, percent=False)
    return next(candidates(text, rule), None)


def short_form(best: Candidate | None) -> tuple[str, bool] | None:
    r"""What is in the box, and whether a percent sign follows it; None if that is long.

    By TRL's rule, texts of the same short form are the same answer, whatever else they say.
    """
    if best is None:
        return "", False
    if not isinstance(best, Latex) or len(best.pieces) > 1:
        return None
    inside = opened(best.pieces[0])
    return (inside, best.pieces[0].percent) if 0 < len(inside) <= SHORT else None


def read(text: str, rule: Rule) -> ReadText:
    r"""The reading of a text."""
    return reading_of(best_candidate(text, rule), text, rule)


def reading_of(best: Candidate | None, text: str, rule: Rule) -> ReadText:
    """The reading of a text whose best candidate is known."""
    limit = too_large(best) if best else None
    if isinstance(best, WrittenNumber) and not best.readable and not limit:
        best = None
    return ReadText(best, _compared(best, rule) if best else "", limit, (text, rule))


def _compared(candidate: Candidate, rule: Rule) -> str:
    if not isinstance(candidate, Latex):
        return candidate[0]
    if len(candidate.pieces) == 1:
        return _normalised(candidate.pieces[0], rule)
    # math-verify joins several if all of them parse.
    texts = [_normalised(piece, rule) for piece in candidate.pieces]
    parse = all(map(parses, texts)) and not any(p.percent for p in candidate.pieces)
    return " and ".join(texts) if parse and all(texts) else ""


def _normalised(piece: Piece, rule: Rule) -> str:
    """The normal form of a piece; "" if it is too long."""
    return normalise(piece, rule) if len(opened(piece)) <= SHORT else ""


# -- Normal form

BOX = re.compile(r"\\boxed|\\fbox")
SIMPLE_BOX = re.compile(r"\s*+\\boxed\{([^{}\\]*+)\}\s*+")  # as most are
BRACE = re.compile(r"[{}]")
SPACE = re.compile(r"\s*+")
SEPARATOR = re.compile(r"\b(?:and|or)\b|[,;]")
SEPARATOR_IN_WORDS = re.compile(r"and|or|[,;]")
# LaTeX that is plain by now: no words, no units at the end, no command that has another spelling.
# The library changes nothing in it but the space around it, so it need not be asked.
TOKEN = (
    r"[-+*=<>()|:!,\[\]]| (?!\.)|[0-9]++(?:\.[0-9]*+)?+|[A-Za-z](?![A-Za-z])|\{(?![ .,])"
    r"|\\(?:frac|sqrt)(?=\{)|\\(?:pi|cdot|times|infty|%)(?![A-Za-z])"
)
NO_UNIT = r"(?!.*(?:[cdghlmost]|[a-hqs] .) *\Z)"  # "a ." is a unit, with any sign for the point
PLAIN = re.compile(rf"{NO_UNIT}(?:{TOKEN}|[/^}}])*+")
# Where LaTeX is read leniently, what looks like a malformed operator is mended.
PLAIN_LENIENTLY = re.compile(rf"(?! *0\.5 *\Z){NO_UNIT}(?:{TOKEN}|\^(?! ?\()|\}}(?! ?[0-9]))*+")
# The most frequent spellings that the library unifies.
SPELLINGS = ((r"\dfrac{", r"\frac{"), (r"\left(", "("), (r"\right)", ")"))
MODULE = "plaudit.judge._latex2sympy2_normalization"


def normalise(piece: Piece, rule: Rule) -> str:
    r"""The text that is compared and parsed."""
    return _normalise(opened(piece), rule is not Rule.LATEX)


@lru_cache(maxsize=16)
def opened(piece: Piece) -> str:
    r"""What stands in the piece's boxes; the piece as it is where it has none.

    Of a box in running text only the last counts, with those right before it; they are an answer
    in parts.
    """
    text = piece.latex
    if simple := SIMPLE_BOX.fullmatch(text):
        return simple[1].strip()
    contents: list[str] = []
    stop = len(text)  # boxes are gone through from the right: where the one before this starts
    for box in reversed(list(BOX.finditer(text))):
        at = SPACE.match(text, box.end(), stop).end()  # type: ignore[union-attr]
        if at >= stop:
            break
        end = _closing(text, at, stop) if text[at] == "{" else None
        if end is None:
            contents = contents or [text[at:]]
            break
        content = text[at + 1 : end].strip()
        if piece.bare and stop < len(text) and not _joined(text[end + 1 : stop], content, contents):
            break
        if (
            not contents
            or contents[-1] != content
            or not math_verify_installed().quirks.boxes_of_one_text_are_one
        ):
            contents.append(content)
        stop = box.start()
    return ",".join(reversed(contents)) if contents else text


def _closing(text: str, opening: int, stop: int) -> int | None:
    """The brace that closes the one at `opening`."""
    first = text.find("}", opening, stop)
    if text.find("{", opening + 1, first) < 0 <= first:  # there is no brace in between
        return first
    depth = 0
    for brace in BRACE.finditer(text, opening, stop):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return None


def _joined(between: str, content: str, later: list[str]) -> bool:
    """Whether two boxes are parts of one answer, by what stands between them."""
    if len(between) < 10:
        return True
    words = math_verify_installed().quirks.separators_are_words
    separator = SEPARATOR if words else SEPARATOR_IN_WORDS
    return later[-1] != content and len(between) < 70 and bool(separator.search(between))


@lru_cache(maxsize=8192)
def _normalise(latex: str, lenient: bool) -> str:
    plain = latex
    for spelling, unified in SPELLINGS:
        plain = plain.replace(spelling, unified)
    if (PLAIN_LENIENTLY if lenient else PLAIN).fullmatch(plain):
        return plain.strip()
    normalised: str = _library().normalize_latex(latex, _configuration(lenient))
    return normalised


@cache
def _configuration(lenient: bool) -> Any:
    """The box is open by now. A gold is read leniently: malformed operators are mended."""
    return _library().NormalizationConfig(
        basic_latex=True,
        units=True,
        malformed_operators=lenient,
        nits=lenient,
        boxed="none",
        equations=False,
    )


@cache
def _library() -> Any:
    package = find_spec("latex2sympy2_extended")
    if package is None or not package.submodule_search_locations:
        raise ImportError("plaudit needs latex2sympy2_extended, which math-verify installs")
    path = Path(package.submodule_search_locations[0]) / "math_normalization.py"
    spec = spec_from_file_location(MODULE, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[MODULE] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- Limits

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
# The grammar tries every reading of each opening: one more brace takes half as long again, and 16
# take more than five seconds.
OPENINGS = re.compile(r"(?:\{[\s(\[+-]*+){16}|(?:\{[\s+-]*+[(\[][\s+-]*+){12}")


def too_large(candidate: Candidate) -> str | None:
    r"""Why a candidate is not tried; None if it may be."""
    text = _text(candidate)
    if len(text) < 4:
        return None
    if len(text) > LENGTH:
        return f"longer than {LENGTH:,} characters"
    if len(text) > LONGEST_INTEGER and LONG_NUMBER.search(text):
        return f"a number of more than {LONGEST_INTEGER:,} digits"
    if len(text) > NESTING and _nesting(text) > NESTING:
        return f"nested more than {NESTING} deep"
    if "{" in text and OPENINGS.search(text):
        return "braces in braces, with nothing else between them"
    if "^" in text and _explodes(text):
        return "a power of more than a million digits"
    if "!" in text and FACTORIAL.search(text):
        return "a factorial of six digits or more"
    if "\\binom" in text and any(map(_is_large, BINOMIAL.finditer(text))):
        return "a binomial of six digits or more"
    return None


def _text(candidate: Candidate) -> str:
    if not isinstance(candidate, Latex):
        return candidate[0]
    if len(candidate.pieces) == 1:
        return opened(candidate.pieces[0])
    return " ".join(map(opened, candidate.pieces))


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


# -- Plain data for workers


class Normalised(NamedTuple):
    """One environment's LaTeX, normalised."""

    text: str
    percent: bool


class Text(NamedTuple):
    """A whole text, for math-verify itself to find the answer in."""

    text: str


def to_plain_data(candidate: Candidate, rule: Rule) -> tuple[Any, ...]:
    r"""A candidate as plain data.

    LaTeX is normalised where that is quick: it is the same then whatever stood around it.
    """
    if not isinstance(candidate, Latex):
        return "number" if isinstance(candidate, WrittenNumber) else "arithmetic", *candidate
    piece, *more = candidate.pieces
    if more or len(opened(piece)) > SHORT:
        return "latex", tuple(tuple(piece) for piece in candidate.pieces)
    return "normalised", normalise(piece, rule), piece.percent


def from_plain_data(data: tuple[Any, ...]) -> Candidate | Normalised | Text:
    """The candidate that `to_plain_data` was given, or its LaTeX, normalised; or a whole text."""
    match data:
        case "latex", pieces:
            return Latex(tuple(Piece(*piece) for piece in pieces))
        case "normalised", text, percent:
            return Normalised(text, percent)
        case "number", digits, percent:
            return WrittenNumber(digits, percent)
        case "arithmetic", text:
            return Arithmetic(text)
        case "text", text:
            return Text(text)
    raise ValueError(f"not a candidate: {data!r}")
