"""A compressed file -> its bytes, up to the last one that can be had.

Of a file that is cut off or damaged, Arrow's reader raises and keeps what it has unpacked of that
piece to itself. Here the error comes after those bytes.
"""

from typing import Any, BinaryIO

import pyarrow as pa

from plaudit.scoring._inputs import InputFile

_SKIP = 1 << 20
_STEPS = (4096, 1)  # bytes at a time, near where it breaks off


class Unpacked:
    """The unpacked bytes of a file; `raw` is the file, opened, and moves along as it is read."""

    def __init__(self, file: InputFile, raw: BinaryIO) -> None:
        self._file = file
        self._stream = pa.CompressedInputStream(pa.PythonFile(raw, "r"), file.codec)
        self._given = 0
        self._error: OSError | None = None

    def read(self, size: int) -> bytes:
        """So many bytes, or fewer at the end; raises where the file cannot be read any further."""
        if self._error is not None:
            raise self._error
        try:
            found: bytes = self._stream.read(size)
        except OSError as error:
            self._error = error
            found = self._before_the_error(size)
            if not found:
                raise
        self._given += len(found)
        return found

    def _before_the_error(self, size: int) -> bytes:
        """What the read that failed would have given, had it asked for no more than there is."""
        found = b""
        for step in _STEPS:
            with pa.input_stream(str(self._file.path), compression=self._file.codec) as stream:
                _skip(stream, self._given + len(found))
                found += _until_error(stream, step, size - len(found))
        return found


def _skip(stream: Any, size: int) -> None:
    while size > 0 and (skipped := stream.read(min(size, _SKIP))):
        size -= len(skipped)


def _until_error(stream: Any, step: int, most: int) -> bytes:
    found = bytearray()
    try:
        while len(found) + step <= most:
            found += stream.read(step)
    except OSError:
        pass  # it is kept already, and raised by the next read
    return bytes(found)
