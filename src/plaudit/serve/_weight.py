"""How much memory a text of JSON takes once it is read, told before it is.

A list in JSON is two bytes, and 56 in memory: 60 MB of brackets are more than a gigabyte.
"""

import re
from collections.abc import Iterator

import numpy as np

# What stands between strings is counted by its marks; each value has one before it.
MARKS = {ord(","): 48, ord("["): 120, ord("{"): 296}
TEXT = 56  # bytes of a text, beside its characters
SMALL = 2_048  # bytes of a text that need no closer look: nothing takes more than WORST times
WORST = 32
PIECE = 256 << 10  # bytes that are looked at in one go: meanwhile no other thread works
ESCAPE = 12  # bytes of two halves of a surrogate pair: a piece may end within

_FOUR_BYTES = re.compile(rb"[\xf0-\xff]|\\u[dD][89abAB]")
_TWO_BYTES = re.compile(rb"[\xc4-\xef]|\\u")


def weight_of(text: bytes | bytearray | memoryview) -> int:
    """Bytes that the values of a JSON text take in memory, rather too many than too few.

    >>> weight_of(b'["4", "5"]'), weight_of(b"[%s]" % b", ".join([b"[]"] * 1_000))
    (320, 168072)
    """
    view = memoryview(text)
    if len(view) < SMALL:
        return WORST * len(view)
    weight = 0
    begun, width = -1, 1  # characters so far of a text that a piece ends in; -1 where there is none
    for piece, wide in _pieces(view):
        marks = np.frombuffer(piece, np.uint8)
        quotes = np.flatnonzero(marks == ord('"'))
        weight += TEXT // 2 * len(quotes)
        if begun >= 0:
            begun, width = begun + int(quotes[0] if len(quotes) else len(marks)), max(width, wide)
            if len(quotes):
                weight += begun * width
        inside = np.cumsum(marks == ord('"'), dtype=np.int32) & 1 == (begun < 0)
        first, last = (int(quotes[0]), int(quotes[-1])) if len(quotes) else (0, 0)
        weight += wide * int(np.count_nonzero(inside[first:last]))
        weight += sum(
            each * int(np.count_nonzero((marks == mark) & ~inside)) for mark, each in MARKS.items()
        )
        if len(quotes):
            begun, width = (len(marks) - last, wide) if inside[-1] else (-1, 1)
    return weight + max(begun, 0) * width


def _pieces(view: memoryview) -> Iterator[tuple[bytes, int]]:
    """The pieces of a text without escaped quotes, and bytes of a character in each."""
    start = 0
    while start < len(view):
        end = start + PIECE
        while end < len(view) and view[end - 1] == ord("\\"):
            end += 1
        piece = bytes(view[start:end])
        yield (
            piece.replace(rb"\\", b"__").replace(rb"\"", b"__"),
            _width(view[start : end + ESCAPE]),
        )
        start = end


def _width(view: memoryview) -> int:
    """All characters of a text take as much as its widest one; to write them takes a copy."""
    piece = bytes(view)
    if piece.isascii() and rb"\u" not in piece:
        return 1
    return 5 if _FOUR_BYTES.search(piece) else 3 if _TWO_BYTES.search(piece) else 2
