"""What goes over the wire between a trainer's process and its workers: frames of plain data."""

import marshal
import socket
import struct
from collections.abc import Iterator
from typing import Any

LENGTH = struct.Struct("!I")


def pack(value: Any) -> bytes:
    """One frame: its length, and plain data (text, numbers, tuples, lists).

    >>> list(Frames().feed(pack(("equal", 1.5)) + pack(None)))
    [('equal', 1.5), None]
    """
    body = marshal.dumps(value)
    return LENGTH.pack(len(body)) + body


def receive(connection: socket.socket) -> Any:
    """The next frame, waiting for it; EOFError where the other side is gone."""
    (length,) = LENGTH.unpack(_exactly(connection, LENGTH.size))
    return marshal.loads(_exactly(connection, length))


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


class Frames:
    """Cuts a stream into frames as its bytes come in."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[Any]:
        """The frames that are whole by now."""
        self._data += data
        while len(self._data) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._data)
            end = LENGTH.size + length
            if len(self._data) < end:
                return
            frame = marshal.loads(self._data[LENGTH.size : end])
            del self._data[:end]
            yield frame
