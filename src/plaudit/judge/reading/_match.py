"""Where a candidate stands in a text, and the words that announce one: `final answer is`."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

ANSWER = re.compile(r"(?i:answer)")
FINAL_ANSWER = re.compile(r"(?i:final answer)")
FINAL_ANSWER_IS = re.compile(r"(?i:final answer is):?")
IS = re.compile(r"(?<!\s)(\s++)is:?")
SPACE = re.compile(r"\s*+")
FAR = 100  # characters at most between `final answer` and `is`
HOPE = re.compile(r"\.?\s?I hope")


class Match(NamedTuple):
    """What was found, and from where to where."""

    start: int
    end: int
    found: Any


def not_overlapping(
    anchors: Iterable[tuple[int, int]], find: Callable[[int], Match | None]
) -> Iterator[Match]:
    """Of the matches behind anchors, given by their starts and ends, those that do not overlap.

    They are looked for from the left; a match starts where its anchor does, and what starts in
    one is not even looked at.
    """
    end = 0
    for start, anchor_end in anchors:
        match = find(anchor_end) if start >= end else None
        if match is not None:
            yield match._replace(start=start)
            end = match.end


def spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Where the pattern stands."""
    return (match.span() for match in pattern.finditer(text))


class IsPositions:
    """Where `is` stands in a text, with space before it."""

    def __init__(self, text: str) -> None:
        self._found = [(m.start(), m.end(1), m.end()) for m in IS.finditer(text)]

    def after(self, end: int, last: int) -> Iterator[int]:
        """Where an `is` ends whose space holds a place from `end` to `last`."""
        index = max(bisect_right(self._found, (end, end, end)) - 1, 0)
        for place in range(index, len(self._found)):
            start, space_end, after = self._found[place]
            if start > last:
                return
            if space_end > end:
                yield after


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
