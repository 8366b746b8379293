"""Numbers and arithmetic in running text, outside LaTeX: `1,234.5`, `12 %`, `3/4`, `(2+3)*4`."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from plaudit.judge.reading._match import (
    FAR,
    HOPE,
    Match,
    Span,
    is_after,
    not_overlapping,
    space_end,
)

CURRENCY = "".join(map(chr, (0x24, 0x20AC, 0xA3, 0xA5, 0xE3F, *range(0x20A1, 0x20C0))))
NUMBER = (
    r"(?<!\d)(?:(?P<grouped>-?[1-9]\d{0,2}(?:[ ,]\d{3})+)(?P<grouped_decimals>\.\d+)?"
    r"|(?P<whole>-?\d+)(?P<decimals>[.,]\d+)|(?P<point>\.\d+)|(?P<integer>-?\d+))"
    r"(?P<percent>\s*+(?:%|[Pp]ercent|[Pp]ct))?"
)
NUMBER_ANYWHERE = re.compile(rf"(?:^|\s|=)(?:\*\*)?[{CURRENCY}]?{NUMBER}")
NUMBER_HERE = re.compile(rf"[{CURRENCY}]?{NUMBER}")
NUMBER_BEFORE_NO_EQUALS = re.compile(rf"[{CURRENCY}]?{NUMBER}(?!\s*+=)")
ARITHMETIC = r"\d.\s+\-*×/^()÷"
ARITHMETIC_START = re.compile(r"-?\(?-?\d")
ARITHMETIC_ANYWHERE = re.compile(r"(?:^|\s|=)(?:\*\*)?-?\(?-?\d")
ARITHMETIC_RUN = re.compile(rf"[{ARITHMETIC}]*+")
TO_LAST_END = re.compile(r"(?s:.*)[.\s)]")
OPERATOR = re.compile(r"[+\-*×/^()÷]")
LONGEST_INTEGER = 4_300  # digits: Python itself refuses to read longer integers
ZEROS_FIRST = re.compile(r"-0+[1-9]\d*")
EQUALS = re.compile(r"\s*+=")


class Number(NamedTuple):
    """A number as math-verify writes it: of `1,234.5 %` the digits are "1234.5"."""

    digits: str
    percent: bool

    @property
    def readable(self) -> bool:
        """Whether sympy reads it. Where it does not, math-verify gives up on the whole text.

        >>> Number("-7", percent=False).readable, Number("-007", percent=False).readable
        (True, False)
        """
        digits = self.digits.removeprefix("-")
        too_long = digits.isdigit() and len(digits) > LONGEST_INTEGER
        return self.digits.isascii() and not too_long and not ZEROS_FIRST.fullmatch(self.digits)


class Arithmetic(NamedTuple):
    """An expression of digits and operators, such as `3/4`.

    >>> PlainReader("It is 3/4, or so.")._arithmetic(5).found
    Arithmetic(text='3/4')
    """

    text: str


class PlainReader:
    """Finds the numbers and the arithmetic of one text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def minerva(self, anchors: Iterable[Span]) -> list[Match]:
        """After `final answer is` and before `I hope`, as in Minerva's prompt."""
        return not_overlapping(anchors, self._before_hope)

    def final(self, anchors: Iterable[Span]) -> list[Match]:
        """After `final answer … is`, at most 100 characters of one line apart."""
        return not_overlapping(anchors, self._after_is)

    def answer(self, anchors: Iterable[Span]) -> list[Match]:
        """After the last `=` behind `answer` (or `answer:`), or else near it, not before an `=`."""
        return not_overlapping(anchors, self._after_answer)

    def anywhere(self) -> Iterator[Match]:
        """Wherever arithmetic stands; then wherever a number stands."""
        yield from self._arithmetic_anywhere()
        for number in NUMBER_ANYWHERE.finditer(self.text):
            yield Match(number.start(), number.end(), _number(number))

    def _arithmetic_anywhere(self) -> Iterator[Match]:
        at = 0
        while start := ARITHMETIC_ANYWHERE.search(self.text, at):
            match = self._arithmetic(start.start())
            if match:
                yield match
                at = match.end
            else:  # what starts later in the same run fails for the same reason
                at = self._run_end(start.end())

    def _before_hope(self, end: int) -> Match | None:
        after = space_end(self.text, end)
        for at in (after, after - 1):
            for match in (self._arithmetic(at), self._number(at)) if at >= end else ():
                hope = match and HOPE.match(self.text, match.end)
                if match and hope:
                    return match._replace(end=hope.end())
        return None

    def _after_is(self, end: int) -> Match | None:
        places = is_after(self.text, end, self._line_end(end, FAR))
        return next(filter(None, map(self._expression, places)), None)

    def _after_answer(self, end: int) -> Match | None:
        """As near the last `=` of the next 100 characters, or as near `end`, as there is one."""
        line = self._line_end(end, 100)
        equals = self.text.rfind("=", end, line + 1)
        while equals >= end:
            after = space_end(self.text, equals + 1)
            for at in (after, after - 1):
                if at > equals and (match := self._expression(at, no_equals=True)):
                    return match
            equals = self.text.rfind("=", end, equals)
        for at in range(end, min(end + 50, line) + 1):
            if match := self._expression(at, no_equals=True):
                return match
        return None

    def _expression(self, at: int, no_equals: bool = False) -> Match | None:
        return self._arithmetic(at, no_equals) or self._number(at, no_equals)

    def _starts(self, at: int) -> Iterator[int]:
        """Where an expression may start behind a space, an `=` or the text's start, and `**`."""
        first = self.text[at : at + 1]
        for start in (
            *((0,) if at == 0 else ()),
            *((at + 1,) if first.isspace() or first == "=" else ()),
        ):
            if self.text.startswith("**", start):
                yield start + 2
            yield start

    def _number(self, at: int, no_equals: bool = False) -> Match | None:
        pattern = NUMBER_BEFORE_NO_EQUALS if no_equals else NUMBER_HERE
        for start in self._starts(at):
            if number := pattern.match(self.text, start):
                return Match(at, number.end(), _number(number))
        return None

    def _arithmetic(self, at: int, no_equals: bool = False) -> Match | None:
        for start in self._starts(at):
            first = ARITHMETIC_START.match(self.text, start)
            end = first and self._arithmetic_end(first.end(), no_equals)
            if end is not None:
                found = Arithmetic(self.text[start:end])
                return Match(at, min(end + 1, len(self.text)), found)
        return None

    def _arithmetic_end(self, start: int, no_equals: bool) -> int | None:
        """Where arithmetic whose first digit ends at `start` ends: as late as something may end it.

        That is punctuation, space, a closing parenthesis or the text's end, with an operator
        somewhere before, and something after that operator.
        """
        text, stop = self.text, self._run_end(start)
        end: int | None = stop
        if not self._may_end(stop, no_equals):
            if no_equals and text.startswith("=", stop):
                stop = start + len(text[start:stop].rstrip()) - 1
            last = TO_LAST_END.match(text, start, stop)
            end = last.end() - 1 if last else None
        return end if end is not None and OPERATOR.search(text, start, end - 1) else None

    def _may_end(self, stop: int, no_equals: bool) -> bool:
        ends = stop == len(self.text) or self.text[stop] in ",:$"
        return ends and not (no_equals and EQUALS.match(self.text, stop + 1))

    def _run_end(self, start: int) -> int:
        run = ARITHMETIC_RUN.match(self.text, start)
        assert run is not None
        return run.end()

    def _line_end(self, at: int, most: int) -> int:
        """Where the line ends, or `most` characters further on."""
        end = self.text.find("\n", at, at + most)
        return end if end >= 0 else min(at + most, len(self.text))


def _number(match: re.Match[str]) -> Number:
    whole = match["grouped"] or match["whole"] or match["integer"] or ""
    decimals = match["grouped_decimals"] or match["decimals"] or match["point"] or ""
    integer = whole.translate({ord(","): None, ord(" "): None}).lstrip("0") or "0"
    return Number(integer + decimals.replace(",", "."), match["percent"] is not None)
