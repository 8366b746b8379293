r"""LaTeX environments in running text: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, ` […] `, `\boxed{…}`."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from plaudit.judge.reading._match import (
    FAR,
    HOPE,
    Match,
    Span,
    is_after,
    not_overlapping,
    occurrences,
    space_end,
)

BOX = "\\boxed{"
ESCAPABLE = (r"\[", r"\(")  # a backslash before one of these takes its meaning away
PERCENT = re.compile(r"\s*+(\\?%|[Pp]ercent|[Pp]ct)?")
PERCENTAGE = re.compile(r"\s*+(\\?%|[Pp]ercent(?:age)?+|[Pp]ct)?")
JOIN = re.compile(r"\s*+(?:,?and|,?or|,)")
OPENING = {  # what closes an environment, and what opens it
    "$": r"\$",
    r"\]": r"(?<!\\)\\\[",
    r"\)": r"(?<!\\)\\\(",
    "]": r"\s\[",
    "}{": r"-?\\frac\{",
}
ANY_OPENING = re.compile("|".join(OPENING.values()))
LONGEST_OPENING = len(r"-\frac{")
INLINE_DOLLAR = re.compile(r"(?:\\\$|[^\n$])*+")
INLINE_BRACKET = re.compile(r"[^\n\[\]]*+")
FRACTION = re.compile(r"-?\\frac\{-?\d++(?:[.,]\d++)?\}\{-?\d++(?:[.,]\d++)?\}")


class Piece(NamedTuple):
    """One environment's content.

    percent: whether a percent sign follows the environment
    bare: whether it is no environment, but a box in running text, up to the text's last brace

    >>> LatexReader("It is $50$ %.")._chain(6).found.pieces
    (Piece(latex='50', percent=True, bare=False),)
    """

    latex: str
    percent: bool = False
    bare: bool = False


class Latex(NamedTuple):
    """Environments that make one answer: `$1$, $2$ and $3$` has three pieces.

    >>> len(Latex((Piece("1"), Piece("2"), Piece("3"))).pieces)
    3
    """

    pieces: tuple[Piece, ...]


class Environment(NamedTuple):
    """Where an environment's content starts and stops, and where the whole of it ends."""

    start: int
    stop: int
    end: int


@cache
def _opening(closings: tuple[str, ...]) -> re.Pattern[str]:
    """What opens environments that end so. Of a kind that is never closed, none starts."""
    return re.compile("|".join(OPENING[closing] for closing in closings) or r"(?!)")


class LatexReader:
    """Finds the environments of one text, alone or joined by commas, `and` and `or`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._known: dict[int, Environment | None] = {}
        self._ahead: dict[str, tuple[int, int]] = {}
        self._behind: dict[str, int] = {}  # what stood last before `_box`
        self._box = 0  # the last box that was looked around

    def may_have_environments(self) -> bool:
        """Whether something in the text may close one."""
        return any(closing in self.text for closing in OPENING)

    def minerva(self, anchors: Iterable[Span]) -> list[Match]:
        """After `final answer is` and before `I hope`: how Minerva's prompt has models end."""
        return not_overlapping(anchors, self._before_hope)

    def _before_hope(self, end: int) -> Match | None:
        for at in self._after_space(end):
            match = self._chain(at, percent=PERCENTAGE)
            if match is not None:
                hope = HOPE.match(self.text, match.end)
                return match._replace(end=hope.end()) if hope else None
        return None

    def final(self, anchors: Iterable[Span]) -> list[Match]:
        """After `final answer … is`, at most 100 characters apart."""
        return not_overlapping(anchors, self._after_is)

    def _after_is(self, end: int) -> Match | None:
        places = (
            place
            for after in is_after(self.text, end, end + FAR)
            for place in self._after_space(after)
        )
        return self._first_chain(places)

    def answer(self, anchors: Iterable[Span]) -> list[Match]:
        """After `answer` (or `answer:`), at most 50 characters apart."""
        return not_overlapping(anchors, self._near)

    def _near(self, end: int) -> Match | None:
        stop = end + 50 + LONGEST_OPENING
        openings = ANY_OPENING.finditer(self.text, end, stop)
        return self._first_chain(at for at in (o.start() for o in openings) if at <= end + 50)

    def anywhere(self) -> list[Match]:
        """Wherever an environment stands."""
        closed = tuple(closing for closing in OPENING if closing in self.text)
        openings = [found.start() for found in _opening(closed).finditer(self.text)]
        return not_overlapping(zip(openings, openings, strict=True), self._chain)

    def boxed(self) -> list[Match]:
        r"""Environments that hold a `\boxed{`; the text from the first box to the last brace."""
        text, end = self.text, 0
        matches: list[Match] = []
        first = text.find(BOX)
        if first < 0:
            return matches
        if "$" in text or "]" in text or r"\)" in text:
            for box in occurrences(text, BOX):
                match = self._around(box, end) if box >= end else None
                if match is not None:
                    matches.append(match)
                    end = match.end
        last = text.rfind("}")
        if last > first + len(BOX):
            piece = Piece(text[first : last + 1], bare=True)
            matches.append(Match(first, last + 1, Latex((piece,))))
        return matches

    def _around(self, box: int, end: int) -> Match | None:
        """The environments that start with one around this box, and not before `end`."""
        for at in self._openings_around(box):
            match = self._chain(at, boxed=True) if at >= end else None
            if match is not None:
                return match
        return None

    def _openings_around(self, box: int) -> list[int]:
        """Where an environment that holds this box may start, from the left.

        Of each kind only the leftmost opening after the kind's last closing can: those between
        it and the box have the same closing ahead. Where none is ahead, there is none behind.
        """
        text = self.text
        openings: list[int] = []
        if self._is_ahead(r"\]", box):
            openings.append(self._next(r"\[", self._last(r"\]", box) + 1))
        if self._is_ahead(r"\)", box):
            line = self._last("\n", box) + 1
            openings.append(self._next(r"\(", max(self._last(r"\)", box) + 1, line)))
        if self._is_ahead("$", box):
            openings.append(self._last_dollar(box))
            if self._is_ahead("$$", box):
                double = self._last("$$", box)
                openings += double - 1, double
        if self._is_ahead("]", box):
            bracket = self._last("[", box)
            if text[bracket - 1 : bracket].isspace():
                openings.append(bracket - 1)
        self._box = box
        return sorted(at for at in openings if 0 <= at < box)

    def _is_ahead(self, closing: str, box: int) -> bool:
        return self._next(closing, box) < len(self.text)

    def _next(self, needle: str, start: int) -> int:
        """The next `needle`, or the text's end; looked for once, then known."""
        low, high = self._ahead.get(needle, (0, -1))
        if not low <= start <= high:
            high = self.text.find(needle, start)
            while high > 0 and needle in ESCAPABLE and self._escaped(high):
                high = self.text.find(needle, high + 1)
            high = high if high >= 0 else len(self.text)
            self._ahead[needle] = start, high
        return high

    def _last(self, needle: str, box: int) -> int:
        """The last `needle` before a box, or -1. Boxes come from the left: none is passed twice."""
        found = self.text.rfind(needle, self._box, box)
        if found < 0:
            return self._behind.get(needle, -1)
        self._behind[needle] = found
        return found

    def _last_dollar(self, box: int) -> int:
        """The last `$` before a box that has no backslash before it, or -1."""
        found = self.text.rfind("$", self._box, box)
        while found > 0 and self._escaped(found):
            found = self.text.rfind("$", self._box, found)
        if found < 0:
            return self._behind.get("$", -1)
        self._behind["$"] = found
        return found

    def _escaped(self, at: int) -> bool:
        return self.text[at - 1 : at] == "\\"

    def _after_space(self, at: int) -> Iterator[int]:
        """Where an environment may start after optional space; ` [` starts with a space itself."""
        after = space_end(self.text, at)
        yield after
        if after > at:
            yield after - 1

    def _first_chain(self, places: Iterable[int]) -> Match | None:
        return next(filter(None, map(self._chain, places)), None)

    def _chain(
        self, at: int, boxed: bool = False, percent: re.Pattern[str] = PERCENT
    ) -> Match | None:
        """Up to six environments from `at` on, each with its percent sign."""
        pieces: list[Piece] = []
        end, environment = at, self._environment(at, boxed)
        while environment is not None and len(pieces) < 6:
            sign = percent.match(self.text, environment.end)
            assert sign is not None
            content = self.text[environment.start : environment.stop]
            pieces.append(Piece(content, sign[1] is not None))
            end = sign.end()
            if boxed and sign[1]:
                end = space_end(self.text, end)
            join = JOIN.match(self.text, end)
            places = self._after_space(join.end()) if join else ()
            environment = next(
                filter(None, (self._environment(place, boxed) for place in places)), None
            )
        return Match(at, end, Latex(tuple(pieces))) if pieces else None

    def _environment(self, at: int, boxed: bool) -> Environment | None:
        if at not in self._known:
            self._known[at] = self._read(at)
        environment = self._known[at]
        return environment if environment and (not boxed or self._holds_box(environment)) else None

    def _holds_box(self, environment: Environment) -> bool:
        box = self._next(BOX, environment.start)
        return self._next("}", box + len(BOX) + 1) < environment.stop

    def _read(self, at: int) -> Environment | None:
        match self.text[at : at + 2]:
            case "$$":
                return self._display(at, "$$")
            case "\\[":
                return self._display(at, r"\]")
            case "\\(":
                return self._display(at, r"\)", one_line=True)
            case two if two.startswith("$"):
                return self._dollar(at)
            case two if two.endswith("[") and two[0].isspace():
                return self._bracket(at)
        fraction = FRACTION.match(self.text, at)
        return Environment(at, fraction.end(), fraction.end()) if fraction else None

    def _display(self, at: int, closing: str, one_line: bool = False) -> Environment | None:
        start, stop = at + 2, self._next(closing, at + 2)
        if stop in (start, len(self.text)) or self._escaped(at) or self._escaped(stop):
            return None
        if one_line and self._next("\n", start) < stop:
            return None
        return Environment(start, stop, stop + 2)

    def _dollar(self, at: int) -> Environment | None:
        if self._escaped(at) or self.text[at - 1 : at].isdecimal():
            return None
        content = INLINE_DOLLAR.match(self.text, at + 1)
        assert content is not None
        if not content[0] or not self.text.startswith("$", content.end()):
            return None
        return Environment(at + 1, content.end(), content.end() + 1)

    def _bracket(self, at: int) -> Environment | None:
        content = INLINE_BRACKET.match(self.text, at + 2)
        assert content is not None
        closing = self.text[content.end() : content.end() + 2]
        if not content[0] or closing[:1] != "]" or not closing[1:].isspace():
            return None
        return Environment(at + 2, content.end(), content.end() + 2)
