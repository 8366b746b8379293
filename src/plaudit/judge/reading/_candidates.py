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

from plaudit.judge._verdict import Rule
from plaudit.judge.reading._latex import Latex, LatexReader
from plaudit.judge.reading._match import Announcements, Match
from plaudit.judge.reading._plain_numbers import Arithmetic, Number, PlainReader

Candidate = Latex | Number | Arithmetic


def candidates(text: str, rule: Rule) -> Iterator[Candidate]:
    r"""What math-verify would try to parse, best first, down to the first that parses for sure.

    >>> next(candidates(r"So $x = 2$, and \boxed{\frac{1}{3}}.", Rule.LATEX))
    Latex(pieces=(Piece(latex='\\boxed{\\frac{1}{3}}', percent=False, bare=True),))
    >>> list(candidates("The answer is 1,234 apples.", Rule.ANYWHERE))
    [Number(digits='1234', percent=False)]
    """
    if rule is Rule.LATEX:
        yield from filter(None, (best_latex(text),))
        return
    for matches in _groups(text):
        for match in sorted(matches, key=_rank):
            yield match.found
            if isinstance(match.found, Number):
                return


def best_latex(text: str) -> Latex | None:
    r"""The one candidate of TRL's rule, if there is one: boxed, or else announced.

    >>> best_latex("I get $3$, so the answer is $4$.").pieces
    (Piece(latex='4', percent=False, bare=False),)
    """
    latex = LatexReader(text)
    matches = latex.boxed()
    hopes = "I" in text and "I hope" in text  # one letter is found much faster
    if matches and not hopes:
        return _best(matches)
    announced = Announcements(text)
    if hopes:
        matches += latex.minerva(announced.final_is)
    if not matches and announced.answer and latex.may_have_environments():
        matches = (
            latex.final(announced.final)
            or latex.answer(announced.answer_colon)
            or latex.answer(announced.answer)
        )
    return _best(matches) if matches else None


def _best(matches: list[Match]) -> Latex:
    found: Latex = (matches[0] if len(matches) == 1 else min(matches, key=_rank)).found
    return found


def _rank(match: Match) -> tuple[int, int]:
    """The match that ends last comes first; of those, the one that starts first."""
    return -match.end, match.start


def _groups(text: str) -> Iterator[list[Match]]:
    """The matches of each priority by math-verify's defaults, the most telling patterns first."""
    latex, plain, announced = LatexReader(text), PlainReader(text), Announcements(text)
    if "I hope" in text:
        yield latex.minerva(announced.final_is) + plain.minerva(announced.final_is)
    if announced.answer:
        yield latex.final(announced.final) + latex.boxed() + plain.final(announced.final)
        for anchors in (announced.answer_colon, announced.answer):
            yield latex.answer(anchors) + plain.answer(anchors)
    else:
        yield latex.boxed()
    environments = latex.anywhere()
    if environments and environments[0][:2] == (0, len(text)):  # whatever else there is
        yield environments[:1]
        environments = environments[1:]
    yield [*environments, *plain.anywhere()]
