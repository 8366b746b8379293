"""What math-verify itself does, for the tests to compare with.

It runs without its time limits, and as it was released: what the judge's workers change in it to
make it faster is undone for as long as it is asked.
"""

import logging
import warnings
from contextlib import contextmanager
from functools import cache
from itertools import groupby

from latex2sympy2_extended import NormalizationConfig
from latex2sympy2_extended.latex2sympy2 import _Latex2Sympy, convert_to_pct
from math_verify import ExprExtractionConfig, LatexExtractionConfig, grader, parser

from plaudit.judge._candidates import Arithmetic, Latex, Piece, WrittenNumber
from plaudit.judge._verdict import Rule, Status
from plaudit.judge.workers import _symbolic

logging.getLogger("math_verify").setLevel(logging.ERROR)

CONFIGURATIONS = {
    Rule.ANYWHERE: (LatexExtractionConfig(), ExprExtractionConfig()),
    Rule.LATEX: (
        LatexExtractionConfig(
            normalization_config=NormalizationConfig(units=True),
            boxed_match_priority=0,
            try_extract_without_anchor=False,
        ),
    ),
}
PREFIXES = ("first", "next1", "next2", "next3", "next4", "next5")


def matches(text, rule):
    """The matches of math-verify's own expressions in the order in which it tries to parse them."""
    for _, group in groupby(sorted(_patterns(rule), key=_priority), key=_priority):
        found = [match for pattern, _ in group for match in pattern.finditer(text)]
        found.sort(key=lambda match: (match.end(), -match.start()), reverse=True)
        for match in found:
            candidate = _candidate(match.groupdict())
            yield candidate
            if rule is Rule.LATEX or isinstance(candidate, WrittenNumber):
                return


@cache
def _patterns(rule):
    return [
        (pattern, priority)
        for patterns, _ in parser.get_extraction_regexes(CONFIGURATIONS[rule])
        for pattern, priority in patterns
    ]


def _priority(pattern):
    return pattern[1]


def _candidate(groups):
    if any("latex" in name for name in groups):
        return Latex(tuple(piece for prefix in PREFIXES for piece in _piece(groups, prefix)))
    integer, decimals = _first(groups, "integer"), _first(groups, "decimal")
    if not integer and not decimals:
        return Arithmetic(groups["expr"])
    integer = integer.replace(",", "").replace(" ", "").lstrip("0") or "0"
    return WrittenNumber(integer + decimals.replace(",", "."), bool(groups["percent"]))


def _piece(groups, prefix):
    for name, content in groups.items():
        if name.startswith(f"{prefix}_latex") and content:
            percent = bool(groups.get(f"{prefix}_percent"))
            return [Piece(content, percent, bare=name.endswith("latexBoxed"))]
    return []


def _first(groups, start):
    return next((text for name, text in groups.items() if name.startswith(start) and text), "")


@contextmanager
def as_released():
    """math-verify's own ways, whatever was put in their place."""
    patched = _Latex2Sympy.create_parser, _Latex2Sympy.parse_number
    _Latex2Sympy.create_parser = _symbolic._create_parser
    _Latex2Sympy.parse_number = _symbolic._parse_number
    _put(_symbolic.RELEASED)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # sympy's, of sets among the factors of a product
            yield
    finally:
        _Latex2Sympy.create_parser, _Latex2Sympy.parse_number = patched
        _put(_symbolic.FASTER)


def _put(functions):
    for name, function in functions.items():
        setattr(grader, name, function)


def parse(text, rule=Rule.ANYWHERE):
    """What math-verify reads in a text: by its defaults, or as TRL asks it to."""
    mode = "first_match" if rule is Rule.LATEX else "any_match"
    with as_released():
        return parser.parse(text, CONFIGURATIONS[rule], extraction_mode=mode, parsing_timeout=None)


def verify(gold, answer):
    """Whether math-verify finds two parsed texts equal."""
    with as_released():
        return grader.verify(gold, answer, timeout_seconds=None)


def verdict(answer, gold, rule):
    """Whether the whole of math-verify finds the answer in one text equal to the gold's."""
    return verify(parse(gold), parse(answer, rule))


@cache
def parse_latex(text):
    """A normalised LaTeX string as math-verify's parser reads it; nothing where it does not."""
    with as_released():
        try:
            return [parser.parse_latex_cached.__wrapped__(text)]
        except Exception:
            return []


def same(gold, answer):
    """Whether math-verify finds two normalised LaTeX strings equal, parsed as they stand."""
    return verify(parse_latex(gold), parse_latex(answer))


def same_percent(gold, answer):
    """The same where the answer has its percent sign outside of its LaTeX: `$50$ %`."""
    with as_released():
        return verify(parse_latex(gold), [convert_to_pct(found) for found in parse_latex(answer)])


def assert_as_math_verify(compared, answer, gold, rule):
    """What plaudit made of two texts, (status, answer, gold), is what math-verify makes of them."""
    status, *read = compared
    if status is Status.BAD_GOLD:
        assert parse(gold) == []
    elif status is Status.NO_ANSWER:
        assert parse(answer, rule) == []
    else:
        assert verdict(answer, gold, rule) is (status is Status.EQUAL)
        assert [parse(answer, rule)[-1], parse(gold)[-1]] == read
