"""Where a candidate stands in a text, and the words that announce one: `final answer is`."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

ANSWER, FINAL, IS = "answer", "final ", " is"
# What is no ASCII letter, and yet the same as one where case does not count.
LETTERS = {"\u0130": "i", "\u0131": "i", "\u017f": "s"}
SPACE = re.compile(r"\s*+")
SPACE_IS = re.compile(r"(?<!\s)\s++is:?")
FAR = 100  # characters at most between `final answer` and `is`
HOPE = re.compile(r"\.?\s?I hope")

Span = tuple[int, int]


class Match(NamedTuple):
    """What was found, and from where to where."""

    start: int
    end: int
    found: Any


class Announcements:
    """Where a text announces an answer: each announcement has the word `answer`, in any case.

    >>> announced = Announcements("My answer: 3. The final answer is 4.")
    >>> announced.answer, announced.final
    ([(3, 9), (24, 30)], [(18, 30)])
    >>> announced.answer_colon, announced.final_is
    ([(3, 10)], [(18, 33)])
    """

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


def not_overlapping(anchors: Iterable[Span], find: Callable[[int], Match | None]) -> list[Match]:
    """Of the matches behind anchors, given by their starts and ends, those that do not overlap.

    They are looked for from the left; a match starts where its anchor does, and what starts in
    one is not even looked at.
    """
    matches: list[Match] = []
    end = 0
    for start, anchor_end in anchors:
        match = find(anchor_end) if start >= end else None
        if match is not None:
            matches.append(Match(start, match.end, match.found))
            end = match.end
    return matches


def is_after(text: str, end: int, last: int) -> Iterator[int]:
    """Where an `is` or `is:` ends, with space before it that holds a place from `end` to `last`.

    >>> list(is_after("answer to it  is: 4, or is it?", 6, 30))
    [17, 26]
    """
    for found in SPACE_IS.finditer(text, end, space_end(text, last) + len("is:")):
        if found.start() <= last:
            yield found.end()


def space_end(text: str, at: int) -> int:
    """Where the space that starts at a place ends.

    >>> space_end("a  b", 1), space_end("a  b", 3)
    (3, 3)
    """
    space = SPACE.match(text, at)
    assert space is not None
    return space.end()


def occurrences(text: str, needle: str) -> Iterator[int]:
    """Where `needle` stands, overlaps included.

    >>> list(occurrences("$$$", "$$"))
    [0, 1]
    """
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + 1)
