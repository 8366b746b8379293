"""Candidates as plain data, which can be sent to a worker and compared, and back."""

from typing import Any, NamedTuple

from plaudit.judge._verdict import Rule
from plaudit.judge.reading._candidates import Candidate
from plaudit.judge.reading._latex import Latex, Piece
from plaudit.judge.reading._normalise import normalise, opened
from plaudit.judge.reading._plain_numbers import Arithmetic, Number

SHORT = 300  # longer LaTeX is normalised by a worker: it takes time quadratic in the length

PlainData = tuple[tuple[Any, ...], ...]


class Normalised(NamedTuple):
    """One environment's LaTeX, normalised.

    >>> from_plain_data(("normalised", "50", True))
    Normalised(text='50', percent=True)
    """

    text: str
    percent: bool


class Text(NamedTuple):
    """A whole text, for math-verify itself to find the answer in.

    >>> from_plain_data(("text", "It is 4."))
    Text(text='It is 4.')
    """

    text: str


def to_plain_data(candidate: Candidate, rule: Rule) -> tuple[Any, ...]:
    r"""A candidate as plain data.

    LaTeX is normalised where that is quick: it is the same then whatever stood around it.

    >>> to_plain_data(Latex((Piece(r"\dfrac{x}{2}"),)), Rule.LATEX)
    ('normalised', '\\frac{x}{2}', False)
    >>> to_plain_data(Latex((Piece("x"), Piece("y", percent=True))), Rule.LATEX)
    ('latex', (('x', False, False), ('y', True, False)))
    """
    if not isinstance(candidate, Latex):
        return type(candidate).__name__.lower(), *candidate
    piece, *more = candidate.pieces
    if more or len(opened(piece)) > SHORT:
        return "latex", tuple(tuple(piece) for piece in candidate.pieces)
    return "normalised", normalise(piece, rule), piece.percent


def from_plain_data(data: tuple[Any, ...]) -> Candidate | Normalised | Text:
    """The candidate that `to_plain_data` was given, or its LaTeX, normalised; or a whole text.

    >>> from_plain_data(("number", "42", False))
    Number(digits='42', percent=False)
    """
    match data:
        case "latex", pieces:
            return Latex(tuple(Piece(*piece) for piece in pieces))
        case "normalised", text, percent:
            return Normalised(text, percent)
        case "number", digits, percent:
            return Number(digits, percent)
        case "arithmetic", text:
            return Arithmetic(text)
        case "text", text:
            return Text(text)
    raise ValueError(f"not a candidate: {data!r}")
