r"""LaTeX environments in running text: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, ` […] `, `\boxed{…}`."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from plaudit.judge.reading._match import (
    ANSWER,
    FAR,
    FINAL_ANSWER,
    FINAL_ANSWER_IS,
    HOPE,
    IsPositions,
    Match,
    not_overlapping,
    occurrences,
    space_end,
    spans,
)

BOX = "\\boxed{"
OPENINGS = ("$", r"\[", r"\(")  # a backslash before one of these takes its meaning away
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
NOTHING = re.compile(r"(?!)")
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


class LatexReader:
    """Finds the environments of one text, alone or joined by commas, `and` and `or`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._known: dict[int, Environment | None] = {}
        self._ahead: dict[str, tuple[int, int]] = {}
        self._behind: dict[str, tuple[int, int]] = {}

    def minerva(self) -> Iterator[Match]:
        """After `final answer is` and before `I hope`: how Minerva's prompt has models end."""
        if "I hope" not in self.text:
            return iter(())
        return not_overlapping(spans(FINAL_ANSWER_IS, self.text), self._before_hope)

    def _before_hope(self, end: int) -> Match | None:
        for at in self._after_space(end):
            match = self._chain(at, percent=PERCENTAGE)
            if match is not None:
                hope = HOPE.match(self.text, match.end)
                return match._replace(end=hope.end()) if hope else None
        return None

    def final(self) -> Iterator[Match]:
        """After `final answer … is`, at most 100 characters apart."""
        return not_overlapping(spans(FINAL_ANSWER, self.text), self._after_is)

    def _after_is(self, end: int) -> Match | None:
        places = (
            place
            for after in self._is_positions.after(end, end + FAR)
            for place in self._after_space(after)
        )
        return self._first_chain(places)

    def answer(self, colon: bool) -> Iterator[Match]:
        """After `answer` (or `answer:`), at most 50 characters apart."""
        anchors = spans(ANSWER, self.text)
        if colon:
            anchors = ((at, end + 1) for at, end in anchors if self.text.startswith(":", end))
        return not_overlapping(
            anchors, lambda end: self._first_chain(self._openings_within(end, 50))
        )

    def anywhere(self) -> Iterator[Match]:
        """Wherever an environment stands."""
        return not_overlapping(((at, at) for at in self._openings), self._chain)

    def boxed(self) -> Iterator[Match]:
        r"""Environments that hold a `\boxed{`; the text from the first box to the last brace."""
        first = self.text.find(BOX)
        if first < 0:
            return
        if any(closing in self.text for closing in ("$", r"\]", r"\)", "]")):
            boxes = occurrences(self.text, BOX)
            openings = ((at, at) for box in boxes for at in self._openings_around(box))
            yield from not_overlapping(openings, lambda at: self._chain(at, boxed=True))
        last = self.text.rfind("}")
        if last > first + len(BOX):
            piece = Piece(self.text[first : last + 1], bare=True)
            yield Match(first, last + 1, Latex((piece,)))

    @cached_property
    def _openings(self) -> list[int]:
        """Where an environment may start; of a kind that is never closed, none does."""
        kinds = [opening for closing, opening in OPENING.items() if closing in self.text]
        pattern = re.compile("|".join(kinds)) if kinds else NOTHING
        return [match.start() for match in pattern.finditer(self.text)]

    @cached_property
    def _is_positions(self) -> IsPositions:
        return IsPositions(self.text)

    def _openings_within(self, start: int, distance: int) -> Iterator[int]:
        for index in range(bisect_left(self._openings, start), len(self._openings)):
            if self._openings[index] > start + distance:
                return
            yield self._openings[index]

    def _openings_around(self, box: int) -> list[int]:
        """Where an environment that holds this box may start, from the left.

        Of each kind only the leftmost opening after the kind's last closing can: those between
        it and the box have the same closing ahead.
        """
        line = self._last("\n", box) + 1
        double, bracket = self._last("$$", box), self._last("[", box)
        openings = {
            self._next(r"\[", self._last(r"\]", box) + 1),
            self._next(r"\(", max(self._last(r"\)", box) + 1, line)),
            double - 1,
            double,
            self._last("$", box),
            bracket - 1 if bracket >= line else -1,
        }
        return sorted(at for at in openings if 0 <= at < box)

    def _next(self, needle: str, start: int) -> int:
        """The next `needle`, or the text's end; looked for once, then known."""
        low, high = self._ahead.get(needle, (0, -1))
        if not low <= start <= high:
            high = self.text.find(needle, start)
            while high > 0 and needle in OPENINGS and self._escaped(high):
                high = self.text.find(needle, high + 1)
            high = high if high >= 0 else len(self.text)
            self._ahead[needle] = start, high
        return high

    def _last(self, needle: str, before: int) -> int:
        """The last `needle` before a place, or -1. Asked from the left: nothing is read twice."""
        known, last = self._behind.get(needle, (0, -1))
        found = self.text.rfind(needle, max(known - 1, 0), before)
        while found > 0 and needle in OPENINGS and self._escaped(found):
            found = self.text.rfind(needle, max(known - 1, 0), found)
        last = max(found, last)
        self._behind[needle] = before, last
        return last

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
            pieces.append(Piece(content, percent=sign[1] is not None))
            end = space_end(self.text, sign.end()) if boxed else sign.end()
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
