"""The fork server as the trainer's process sees it: a process started by exec, a socket to it.

    in:  ("spawn", number) with a socket attached; ("kill", number)
    out: what `_nursery` says, frame by frame

It is owned by one thread, the dispatcher. Nothing here raises once the process runs: a fork server
that cannot be reached says so in `lost`, and whoever owns it starts another.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from plaudit.judge._settings import Settings
from plaudit.judge._wire import Frames, pack

PROGRAM = (
    "import json, sys\n"
    "sys.path[:] = json.loads(sys.argv[1])\n"
    "from plaudit.judge._nursery import main\n"
    "main(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))\n"
)


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

    def tell(self, order: str, number: int, attached: socket.socket | None = None) -> None:
        """Send an order."""
        descriptors = [attached.fileno()] if attached else []
        try:
            socket.send_fds(self.control, [pack((order, number))], descriptors)
        except OSError as error:
            self.lost = self.lost or str(error)

    def hear(self) -> list[Any]:
        """What it says; nothing when it is lost."""
        try:
            data = self.control.recv(65536)
        except OSError as error:
            self.lost = self.lost or str(error)
            return []
        if not data:
            self.lost = "its socket was closed"
        return list(self._frames.feed(data))

    def last_words(self) -> str:
        """Why it is lost: the end of what it wrote before it went, or else what was noticed."""
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
    limits = str(settings.deadline), str(settings.memory << 20)
    path = json.dumps([str(Path(entry).absolute()) for entry in sys.path])
    arguments = path, str(theirs.fileno()), str(os.getpid()), *limits
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        pass_fds=[theirs.fileno()],
        start_new_session=True,  # Ctrl-C in the terminal is the trainer's affair
        env={**os.environ, "PYTHONHASHSEED": "0"},  # the same order of sets everywhere
    )
