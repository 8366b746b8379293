r"""Text to the candidates that math-verify would try as its answer, best first, in linear time.

math-verify finds an answer with a dozen regular expressions in groups of falling priority, takes
the matches of a group from the right end of the text to the left, and parses them until one
parses. Those expressions backtrack: 100,000 characters of `\[` that is never closed cost seconds.

Here the same matches are found in one pass. For LaTeX it rests on a fact: the content of an
environment cannot hold its own closing, so an opening has one possible end, which is looked up
and never searched for again. For plain arithmetic: an expression ends as late in its run of
digits and operators as it can, wherever it starts.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from plaudit.judge._verdict import Rule

ANSWER, FINAL, IS = "answer", "final ", " is"
# What is no ASCII letter, and yet the same as one where case does not count.
LETTERS = {"\u0130": "i", "\u0131": "i", "\u017f": "s"}
SPACE = re.compile(r"\s*+")
SPACE_IS = re.compile(r"(?<!\s)\s++is:?")
FAR = 100  # characters at most between `final answer` and `is`
HOPE = re.compile(r"\.?\s?I hope")

Span = tuple[int, int]


class CandidateMatch(NamedTuple):
    """What was found, and from where to where."""

    start: int
    end: int
    found: Any


class Announcements:
    """Where a text announces an answer: each announcement has the word `answer`, in any case."""

    def __init__(self, text: str) -> None:
        self._lowered = _lowered(text)
        self.answer: list[Span] = []  # where `answer` stands
        if ANSWER in self._lowered:
            found = occurrences(self._lowered, ANSWER)
            self.answer = [(at, at + len(ANSWER)) for at in found]

    @property
    def answer_colon(self) -> list[Span]:
        """Where `answer:` stands."""
        return [(at, end + 1) for at, end in self.answer if self._lowered.startswith(":", end)]

    @property
    def final(self) -> list[Span]:
        """Where `final answer` stands."""
        starts = ((at - len(FINAL), end) for at, end in self.answer)
        return [(at, end) for at, end in starts if at >= 0 and self._lowered.startswith(FINAL, at)]

    @property
    def final_is(self) -> list[Span]:
        """Where `final answer is` or `final answer is:` stands."""
        ends = [(at, end + len(IS)) for at, end in self.final if self._lowered.startswith(IS, end)]
        return [(at, end + self._lowered.startswith(":", end)) for at, end in ends]


def _lowered(text: str) -> str:
    """The text in small letters, character by character; what is not ASCII is of no interest."""
    if text.isascii():
        return text.lower()
    for letter, plain in LETTERS.items():
        text = text.replace(letter, plain)
    return text.encode("ascii", "replace").decode("ascii").lower()


def not_overlapping(
    anchors: Iterable[Span], find: Callable[[int], CandidateMatch | None]
) -> list[CandidateMatch]:
    """Of the matches behind anchors, given by their starts and ends, those that do not overlap.

    They are looked for from the left; a match starts where its anchor does, and what starts in
    one is not even looked at.
    """
    matches: list[CandidateMatch] = []
    end = 0
    for start, anchor_end in anchors:
        match = find(anchor_end) if start >= end else None
        if match is not None:
            matches.append(CandidateMatch(start, match.end, match.found))
            end = match.end
    return matches


def is_after(text: str, end: int, last: int) -> Iterator[int]:
    """Where an `is` or `is:` ends, with space before it from `end` to `last`."""
    for found in SPACE_IS.finditer(text, end, space_end(text, last) + len("is:")):
        if found.start() <= last:
            yield found.end()


def space_end(text: str, at: int) -> int:
    """Where the space that starts at an index ends."""
    space = SPACE.match(text, at)
    assert space is not None
    return space.end()


def occurrences(text: str, needle: str) -> Iterator[int]:
    """Where `needle` stands, overlaps included."""
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + 1)


# -- LaTeX

BOX = "\\boxed{"
ESCAPABLE = (r"\[", r"\(")  # a backslash before one of these takes its meaning away
PERCENT_AFTER = re.compile(r"\s*+(\\?%|[Pp]ercent|[Pp]ct)?")
PERCENTAGE = re.compile(r"\s*+(\\?%|[Pp]ercent(?:age)?+|[Pp]ct)?")
JOIN = re.compile(r"\s*+(?:,?and|,?or|,)")
OPENING = {  # what closes an environment, and what opens it
    "$": r"\$",
    r"\]": r"(?<!\\)\\\[",
    r"\)": r"(?<!\\)\\\(",
    "]": r"\s\[",
    "}{": r"-?\\frac\{",
}
CLOSINGS = ("$", "$$", r"\]", r"\)", "]")  # of what may hold a box
CLOSING_WITH_BOX = re.compile(r"[$\]]|\\\)")
LAST_START = re.compile(r"[^\\]?\\[\[(]\s*+")
LAST_END = re.compile(r"(\}[^$\]\\]*+)\\([\])])(?!\s*+[%Pp])[^$\]\\]*+\Z")
ANY_OPENING = re.compile("|".join(OPENING.values()))
LONGEST_OPENING = len(r"-\frac{")
INLINE_DOLLAR = re.compile(r"(?:\\\$|[^\n$])*+")
INLINE_BRACKET = re.compile(r"[^\n\[\]]*+")
FRACTION = re.compile(r"-?\\frac\{-?\d++(?:[.,]\d++)?\}\{-?\d++(?:[.,]\d++)?\}")


class Piece(NamedTuple):
    """One environment's content.

    percent: whether a percent sign follows the environment
    bare: whether it is no environment, but a box in running text, up to the text's last brace
    """

    latex: str
    percent: bool = False
    bare: bool = False


class Latex(NamedTuple):
    """Environments that make one answer: `$1$, $2$ and $3$` has three pieces."""

    pieces: tuple[Piece, ...]


class LatexSpan(NamedTuple):
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
        self._known: dict[int, LatexSpan | None] = {}
        self._ahead: dict[str, tuple[int, int]] = {}
        self._behind: dict[str, int] = {}  # what stood last before `_box`
        self._box = 0  # the last box that was looked around

    def may_have_environments(self) -> bool:
        """Whether something in the text may close one."""
        return any(closing in self.text for closing in OPENING)

    def minerva(self, anchors: Iterable[Span]) -> list[CandidateMatch]:
        """After `final answer is` and before `I hope`: how Minerva's prompt has models end."""
        return not_overlapping(anchors, self._before_hope)

    def _before_hope(self, end: int) -> CandidateMatch | None:
        for at in self._after_space(end):
            match = self._chain(at, percent=PERCENTAGE)
            if match is not None:
                hope = HOPE.match(self.text, match.end)
                return match._replace(end=hope.end()) if hope else None
        return None

    def final(self, anchors: Iterable[Span]) -> list[CandidateMatch]:
        """After `final answer … is`, at most 100 characters apart."""
        return not_overlapping(anchors, self._after_is)

    def _after_is(self, end: int) -> CandidateMatch | None:
        indices = (
            index
            for after in is_after(self.text, end, end + FAR)
            for index in self._after_space(after)
        )
        return self._first_chain(indices)

    def answer(self, anchors: Iterable[Span]) -> list[CandidateMatch]:
        """After `answer` (or `answer:`), at most 50 characters apart."""
        return not_overlapping(anchors, self._near)

    def _near(self, end: int) -> CandidateMatch | None:
        stop = end + 50 + LONGEST_OPENING
        openings = ANY_OPENING.finditer(self.text, end, stop)
        return self._first_chain(at for at in (o.start() for o in openings) if at <= end + 50)

    def anywhere(self) -> list[CandidateMatch]:
        """Wherever an environment stands."""
        closed = tuple(closing for closing in OPENING if closing in self.text)
        openings = [found.start() for found in _opening(closed).finditer(self.text)]
        return not_overlapping(zip(openings, openings, strict=True), self._chain)

    def boxed(self) -> list[CandidateMatch]:
        r"""Environments that hold a `\boxed{`; the text from the first box to the last brace."""
        text, end = self.text, 0
        matches: list[CandidateMatch] = []
        box = first = text.find(BOX)
        if first < 0:
            return matches
        closings = {closing: text.rfind(closing, first) for closing in CLOSINGS}
        while box >= 0:
            match = self._around(box, end, closings) if box >= end else None
            if match is not None:
                matches.append(match)
                end = match.end
            box = text.find(BOX, box + 1)
        last = text.rfind("}")
        if last > first + len(BOX):
            piece = Piece(text[first : last + 1], bare=True)
            matches.append(CandidateMatch(first, last + 1, Latex((piece,))))
        return matches

    def _around(self, box: int, end: int, closings: dict[str, int]) -> CandidateMatch | None:
        """The environments that start with one around this box, and not before `end`.

        closings: where each closing stands last behind the first box, or -1
        """
        for at in self._openings_around(box, closings):
            match = self._chain(at, boxed=True) if at >= end else None
            if match is not None:
                return match
        return None

    def _openings_around(self, box: int, closings: dict[str, int]) -> list[int]:
        """Where an environment that holds this box may start, from the left.

        Of each kind only the leftmost opening after the kind's last closing can: those between
        it and the box have the same closing ahead. Where none is ahead, there is none behind.
        """
        text = self.text
        openings: list[int] = []
        if closings[r"\]"] > box:
            openings.append(self._next(r"\[", self._last(r"\]", box) + 1))
        if closings[r"\)"] > box:
            line = self._last("\n", box) + 1
            openings.append(self._next(r"\(", max(self._last(r"\)", box) + 1, line)))
        if closings["$"] > box:
            openings.append(self._last_dollar(box))
            if closings["$$"] > box:
                double = self._last("$$", box)
                openings += double - 1, double
        if closings["]"] > box:
            bracket = self._last("[", box)
            if text[bracket - 1 : bracket].isspace():
                openings.append(bracket - 1)
        self._box = box
        return sorted(at for at in openings if 0 <= at < box)

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

    def _first_chain(self, indices: Iterable[int]) -> CandidateMatch | None:
        return next(filter(None, map(self._chain, indices)), None)

    def _chain(
        self, at: int, boxed: bool = False, percent: re.Pattern[str] = PERCENT_AFTER
    ) -> CandidateMatch | None:
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
            indices = self._after_space(join.end()) if join else ()
            environment = next(
                filter(None, (self._environment(index, boxed) for index in indices)), None
            )
        return CandidateMatch(at, end, Latex(tuple(pieces))) if pieces else None

    def _environment(self, at: int, boxed: bool) -> LatexSpan | None:
        if at not in self._known:
            self._known[at] = self._read(at)
        environment = self._known[at]
        return environment if environment and (not boxed or self._holds_box(environment)) else None

    def _holds_box(self, environment: LatexSpan) -> bool:
        box = self._next(BOX, environment.start)
        return self._next("}", box + len(BOX) + 1) < environment.stop

    def _read(self, at: int) -> LatexSpan | None:
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
        return LatexSpan(at, fraction.end(), fraction.end()) if fraction else None

    def _display(self, at: int, closing: str, one_line: bool = False) -> LatexSpan | None:
        start, stop = at + 2, self._next(closing, at + 2)
        if stop in (start, len(self.text)) or self._escaped(at) or self._escaped(stop):
            return None
        if one_line and self._next("\n", start) < stop:
            return None
        return LatexSpan(start, stop, stop + 2)

    def _dollar(self, at: int) -> LatexSpan | None:
        if self._escaped(at) or self.text[at - 1 : at].isdecimal():
            return None
        content = INLINE_DOLLAR.match(self.text, at + 1)
        assert content is not None
        if not content[0] or not self.text.startswith("$", content.end()):
            return None
        return LatexSpan(at + 1, content.end(), content.end() + 1)

    def _bracket(self, at: int) -> LatexSpan | None:
        content = INLINE_BRACKET.match(self.text, at + 2)
        assert content is not None
        closing = self.text[content.end() : content.end() + 2]
        if not content[0] or closing[:1] != "]" or not closing[1:].isspace():
            return None
        return LatexSpan(at + 2, content.end(), content.end() + 2)


# -- Numbers and arithmetic

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


class WrittenNumber(NamedTuple):
    """A number as math-verify writes it: of `1,234.5 %` the digits are "1234.5"."""

    digits: str
    percent: bool

    @property
    def readable(self) -> bool:
        """Whether sympy reads it. If it does not, math-verify gives up on the whole text."""
        digits = self.digits.removeprefix("-")
        too_long = digits.isdigit() and len(digits) > LONGEST_INTEGER
        return self.digits.isascii() and not too_long and not ZEROS_FIRST.fullmatch(self.digits)


class Arithmetic(NamedTuple):
    """An expression of digits and operators, such as `3/4`."""

    text: str


class PlainReader:
    """Finds the numbers and the arithmetic of one text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def minerva(self, anchors: Iterable[Span]) -> list[CandidateMatch]:
        """After `final answer is` and before `I hope`, as in Minerva's prompt."""
        return not_overlapping(anchors, self._before_hope)

    def final(self, anchors: Iterable[Span]) -> list[CandidateMatch]:
        """After `final answer … is`, at most 100 characters of one line apart."""
        return not_overlapping(anchors, self._after_is)

    def answer(self, anchors: Iterable[Span]) -> list[CandidateMatch]:
        """After the last `=` behind `answer` (or `answer:`), or else near it, not before an `=`."""
        return not_overlapping(anchors, self._after_answer)

    def anywhere(self) -> Iterator[CandidateMatch]:
        """Wherever arithmetic stands; then wherever a number stands."""
        yield from self._arithmetic_anywhere()
        for number in NUMBER_ANYWHERE.finditer(self.text):
            yield CandidateMatch(number.start(), number.end(), _number(number))

    def _arithmetic_anywhere(self) -> Iterator[CandidateMatch]:
        at = 0
        while start := ARITHMETIC_ANYWHERE.search(self.text, at):
            match = self._arithmetic(start.start())
            if match:
                yield match
                at = match.end
            else:  # what starts later in the same run fails for the same reason
                at = self._run_end(start.end())

    def _before_hope(self, end: int) -> CandidateMatch | None:
        after = space_end(self.text, end)
        for at in (after, after - 1):
            for match in (self._arithmetic(at), self._number(at)) if at >= end else ():
                hope = match and HOPE.match(self.text, match.end)
                if match and hope:
                    return match._replace(end=hope.end())
        return None

    def _after_is(self, end: int) -> CandidateMatch | None:
        indices = is_after(self.text, end, self._line_end(end, FAR))
        return next(filter(None, map(self._expression, indices)), None)

    def _after_answer(self, end: int) -> CandidateMatch | None:
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

    def _expression(self, at: int, no_equals: bool = False) -> CandidateMatch | None:
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

    def _number(self, at: int, no_equals: bool = False) -> CandidateMatch | None:
        pattern = NUMBER_BEFORE_NO_EQUALS if no_equals else NUMBER_HERE
        for start in self._starts(at):
            if number := pattern.match(self.text, start):
                return CandidateMatch(at, number.end(), _number(number))
        return None

    def _arithmetic(self, at: int, no_equals: bool = False) -> CandidateMatch | None:
        for start in self._starts(at):
            first = ARITHMETIC_START.match(self.text, start)
            end = first and self._arithmetic_end(first.end(), no_equals)
            if end is not None:
                found = Arithmetic(self.text[start:end])
                return CandidateMatch(at, min(end + 1, len(self.text)), found)
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


def _number(match: re.Match[str]) -> WrittenNumber:
    whole = match["grouped"] or match["whole"] or match["integer"] or ""
    decimals = match["grouped_decimals"] or match["decimals"] or match["point"] or ""
    integer = whole.translate({ord(","): None, ord(" "): None}).lstrip("0") or "0"
    return WrittenNumber(integer + decimals.replace(",", "."), match["percent"] is not None)


# -- All of them

Candidate = Latex | WrittenNumber | Arithmetic


def candidates(text: str, rule: Rule) -> Iterator[Candidate]:
    r"""What math-verify would try to parse, best first, down to the first that parses for sure."""
    if rule is Rule.LATEX:
        yield from filter(None, (best_latex(text),))
        return
    for matches in _groups(text):
        for match in sorted(matches, key=_rank):
            yield match.found
            if isinstance(match.found, WrittenNumber):
                return


def best_latex(text: str) -> Latex | None:
    r"""The one candidate of TRL's rule, if there is one: boxed, or else announced."""
    hopes = "I" in text and "I hope" in text  # one letter is found much faster
    if not hopes and (alone := _alone(text)) is not None:
        return alone
    latex = LatexReader(text)
    matches = latex.boxed()
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


def _alone(text: str) -> Latex | None:
    r"""The best candidate of most texts, found without reading every environment.

    If no environment can close behind the last brace, none ends as late as the text from the first
    box to that brace. If one `\]` or `\)` closes there, and only space stands between what opens
    it and the text's one box, what is between them is the candidate.
    """
    first, last = text.find(BOX), text.rfind("}")
    if not 0 <= first < last - len(BOX):
        return None
    if not CLOSING_WITH_BOX.search(text, last):
        return Latex((Piece(text[first : last + 1], bare=True),))
    end = LAST_END.match(text, last)
    if end is None or text.find(BOX, first + 1) >= 0 or CLOSING_WITH_BOX.search(text, first, last):
        return None
    display = end[2] == "]"
    opening, closing = (r"\[", r"\]") if display else (r"\(", r"\)")
    line = 0 if display else text.rfind("\n", 0, first) + 1  # `\(` and `\)` stand in one line
    start = text.find(opening, max(text.rfind(closing, 0, first) + 1, line), first)
    if start < 0 or not LAST_START.fullmatch(text, max(start - 1, 0), first):
        return None
    latex = text[start + 2 : end.end(1)]
    return Latex((Piece(latex),)) if display or "\n" not in latex else None


def _best(matches: list[CandidateMatch]) -> Latex:
    found: Latex = (matches[0] if len(matches) == 1 else min(matches, key=_rank)).found
    return found


def _rank(match: CandidateMatch) -> tuple[int, int]:
    """The match that ends last comes first; of those, the one that starts first."""
    return -match.end, match.start


def _groups(text: str) -> Iterator[list[CandidateMatch]]:
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
