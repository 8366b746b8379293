"""A file in the storage of a cluster, read as Python reads a file.

Storage that does not answer raises StorageError here, never OSError, so that nobody takes it for a
file that is damaged and whose rows are lost.
"""

import io
from typing import Any

from plaudit.scoring._storage._errors import raising_storage_errors

FIRST_BYTES, MOST_BYTES = 1 << 20, 8 << 20  # that the first request asks for, and later ones
REST_OF_LINE = 1 << 16  # bytes to ask for beyond `end`, to read the last line whole


class RemoteInput(io.RawIOBase):
    """The bytes of a remote file, from an Arrow file.

    url: names the file in errors
    file: a random-access file of Arrow
    ahead: whether to ask for more bytes than are wanted, and for more each time: for a file that is
        read from front to back, and not at scattered places
    end: where reading will probably stop

    >>> import pyarrow as pa
    >>> RemoteInput("memory://a", pa.BufferReader(b"abc"), ahead=True).read(2)
    b'ab'
    """

    def __init__(self, url: str, file: Any, ahead: bool, end: int | None = None) -> None:
        super().__init__()
        self._url, self._file = url, file
        self._ahead = FIRST_BYTES if ahead else 0
        self._end = end
        self._held = memoryview(b"")
        self._place = 0  # of the first byte that is held, or of the next to ask for

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place}.get(whence)
        if start is None:
            with raising_storage_errors(self._url):
                start = self._file.size()
        place = start + offset
        skipped = place - self._place
        self._held = self._held[skipped:] if 0 <= skipped <= len(self._held) else memoryview(b"")
        self._place = place
        return place

    def readinto(self, buffer: Any) -> int:
        if not self._held:
            with raising_storage_errors(self._url):
                self._file.seek(self._place)
                self._held = memoryview(self._file.read(self._size(len(buffer))))
        found = self._held[: len(buffer)]
        buffer[: len(found)] = found
        self._held = self._held[len(found) :]
        self._place += len(found)
        return len(found)

    def _size(self, wanted: int) -> int:
        """How many bytes to ask for."""
        if not self._ahead:
            return wanted
        size = max(wanted, self._ahead)
        self._ahead = min(2 * self._ahead, MOST_BYTES)
        if self._end is None:
            return size
        return min(size, self._end - self._place) if self._place < self._end else REST_OF_LINE

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
