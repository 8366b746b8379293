r"""Text to the candidates that math-verify would try as its answer, best first, in linear time.

math-verify finds an answer with a dozen regular expressions in groups of falling priority, takes
the matches of a group from the right end of the text to the left, and parses them until one
parses. Those expressions backtrack: 100,000 characters of `\[` that is never closed cost seconds.

Here the same matches are found in one pass. For LaTeX it rests on a fact: the content of an
environment cannot hold its own closing, so an opening has one possible end, which is looked up
and never searched for again. For plain arithmetic: an expression ends as late in its run of
digits and operators as it can, wherever it starts.
"""

from collections.abc import Iterator
from itertools import chain

from plaudit.judge._verdict import Rule
from plaudit.judge.reading._latex import Latex, LatexReader
from plaudit.judge.reading._match import Match
from plaudit.judge.reading._plain_numbers import Arithmetic, Number, PlainReader

Candidate = Latex | Number | Arithmetic


def candidates(text: str, rule: Rule) -> Iterator[Candidate]:
    r"""What math-verify would try to parse, best first, down to the first that parses for sure.

    >>> next(candidates(r"So $x = 2$, and \boxed{\frac{1}{3}}.", Rule.LATEX))
    Latex(pieces=(Piece(latex='\\boxed{\\frac{1}{3}}', percent=False, bare=True),))
    >>> list(candidates("The answer is 1,234 apples.", Rule.ANYWHERE))
    [Number(digits='1234', percent=False)]
    """
    for matches in _groups(text, rule):
        for match in sorted(matches, key=_rank):
            yield match.found
            if rule is Rule.LATEX or isinstance(match.found, Number):
                return


def _rank(match: Match) -> tuple[int, int]:
    """The match that ends last comes first; of those, the one that starts first."""
    return -match.end, match.start


def _groups(text: str, rule: Rule) -> Iterator[Iterator[Match]]:
    """The matches of each priority, from the most telling patterns to the least."""
    latex = LatexReader(text)
    if rule is Rule.LATEX:
        yield chain(latex.minerva(), latex.boxed())
        yield latex.final()
        yield latex.answer(colon=True)
        yield latex.answer(colon=False)
        return
    plain = PlainReader(text)
    yield chain(latex.minerva(), plain.minerva())
    yield chain(latex.final(), latex.boxed(), plain.final())
    yield chain(latex.answer(colon=True), plain.answer(colon=True))
    yield chain(latex.answer(colon=False), plain.answer(colon=False))
    yield chain(latex.anywhere(), plain.anywhere())
