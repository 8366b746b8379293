"""A file that is one JSON array -> the text of each of its elements, a piece of the file at a time.

    [{"completion": "a"},        (1, b'{"completion": "a"}')
     {"completion": "b"}]        (2, b'{"completion": "b"}')

Elements are told apart by their brackets and strings alone. Whether each is JSON is for its reader
to find out, so that one broken element costs no other.
"""

import re
from collections.abc import Callable, Iterator

from plaudit.scoring._blocks import UnreadableError

# A whole string, or a character that opens, closes or parts; a quote alone begins a string that
# the piece cuts off.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|["\[\]{},]', re.DOTALL)
_PIECE = 1 << 20


def elements(
    read: Callable[[int], bytes], held: bytes, line: int, longest: int
) -> Iterator[tuple[int, bytes]]:
    r"""Each element's line and text; `held` is what was read already, after the first `[`.

    >>> import io
    >>> list(elements(io.BytesIO(b'{"a": "]"},\n 2]').read, b"", 1, 100))
    [(1, b'{"a": "]"}'), (2, b'2')]
    """
    start, at, depth = 0, 0, 0
    while True:
        for token in _TOKEN.finditer(held, at):
            mark = token[0]
            if mark == b'"':
                at = token.start()
                break
            at = token.end()
            depth += (mark in b"[{") - (mark in b"]}")
            if depth < 0 or (depth == 0 and mark == b","):
                text = held[start : token.start()]
                if element := text.strip():
                    yield _line_of(text, line), element
                line += text.count(b"\n")
                start = at
            if depth < 0:
                _check_end(mark, held[at:] + read(_PIECE), line)
                return
        if len(held) - start > longest:
            reason = f"an element is longer than {longest >> 20} MiB"
            raise UnreadableError(_line_of(held[start:], line), reason)
        more = read(max(_PIECE, len(held) - start))  # as much again: linear in the end
        if not more:
            reason = "the file ends in the middle of the array"
            raise UnreadableError(_line_of(held[start:], line), reason)
        held, at, start = held[start:] + more, at - start, 0


def _line_of(text: bytes, line: int) -> int:
    """The line of the first character that is no space, in a text that begins at a line."""
    return line + text.count(b"\n", 0, len(text) - len(text.lstrip()))


def _check_end(mark: bytes, rest: bytes, line: int) -> None:
    if mark != b"]":
        raise UnreadableError(line, "a } closes what no { opened")
    if rest.strip():
        raise UnreadableError(line, "there is more after the end of the array")
