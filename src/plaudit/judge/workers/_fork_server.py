"""The fork server as the trainer's process sees it: a process started by exec, a socket to it.

    in:  control messages: ("fork", number) with a socket attached; ("kill", number)
    out: the messages of the fork server, in `_worker`

One thread, the dispatcher, owns it. Nothing here raises once the process runs: if it cannot be
reached, `lost` says why, and the owner starts another. Messages between processes are frames: a
length, and plain data.
"""

import contextlib
import marshal
import os
import socket
import struct
import subprocess
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO, Any

from plaudit.judge._settings import Settings
from plaudit.processes import start_python

MAIN = "plaudit.judge.workers._worker"


class ForkServer:
    """Starts when it is made, or raises OSError and leaves nothing open."""

    def __init__(self, settings: Settings) -> None:
        self.lost: str | None = None  # why it cannot be reached any more
        self.started = False  # whether a worker of it has started
        self._frames = Frames()
        with contextlib.ExitStack() as opened:
            self.control, theirs = socket.socketpair()
            opened.callback(self.control.close)
            with theirs:
                self.control.setblocking(False)  # a fork server that is stopped must not stop us
                self._errors: IO[bytes] = opened.enter_context(TemporaryFile())
                self._process = _start(settings, theirs, self._errors)
            opened.pop_all()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def send(self, message: str, number: int, attached: socket.socket | None = None) -> None:
        """Send a control message about the worker of this number."""
        descriptors = [attached.fileno()] if attached else []
        try:
            socket.send_fds(self.control, [pack((message, number))], descriptors)
        except OSError as error:
            self.lost = self.lost or str(error)

    def receive(self) -> list[Any]:
        """The messages that have arrived; none when it is lost."""
        try:
            data = self.control.recv(65536)
        except OSError as error:
            self.lost = self.lost or str(error)
            return []
        if not data:
            self.lost = "its socket was closed"
        return list(self._frames.feed(data))

    def why_lost(self) -> str:
        """The last line that it wrote to stderr, or else how its loss was noticed."""
        with contextlib.suppress(OSError):
            self._errors.seek(0)
            lines = self._errors.read().decode(errors="replace").strip().splitlines()
            return lines[-1] if lines else str(self.lost)
        return str(self.lost)

    def close(self) -> None:
        """Closing its socket makes it end, and its workers with it."""
        self.abandon()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=2)

    def abandon(self) -> None:
        """Close what this process has open of it."""
        for file in (self.control, self._errors):
            with contextlib.suppress(OSError):
                file.close()


def _start(
    settings: Settings, theirs: socket.socket, errors: IO[bytes]
) -> "subprocess.Popen[bytes]":
    limits = settings.deadline, settings.memory << 20
    return start_python(
        MAIN,
        theirs.fileno(),
        os.getpid(),
        *limits,
        pass_fds=[theirs.fileno()],
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env={**os.environ, "PYTHONHASHSEED": "0"},  # the same order of sets everywhere
    )


# -- Frames

LENGTH = struct.Struct("!I")


def pack(value: Any) -> bytes:
    """One frame: its length, and plain data (text, numbers, tuples, lists)."""
    body = marshal.dumps(value)
    return LENGTH.pack(len(body)) + body


def receive(connection: socket.socket) -> Any:
    """The next frame, waiting for it; EOFError if the other side is gone."""
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
