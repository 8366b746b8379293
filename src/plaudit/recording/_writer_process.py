"""A session in; the process out that makes Parquet of its spool: started, woken, started again.

This is the trainer's side; `_writer` is what runs in the process.
"""

import json
import os
import subprocess
import time
from contextlib import suppress

from plaudit.processes import start_python
from plaudit.recording._sessions import Session

RESTARTS = 3  # of the process, before recording is given up
ENDING = 60.0  # seconds to wait for it at the end


class WriterProcess:
    """The process that makes Parquet of what is in a session's spool."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._starts = 0
        self._wake_pipe = -1  # -1: closed
        self._said = b""
        self._told: set[str] = set()
        self._start()

    def _start(self) -> None:
        self._starts += 1
        theirs, self._wake_pipe = os.pipe()
        os.set_blocking(self._wake_pipe, False)
        try:
            self._child = start_python(
                "plaudit.recording._writer",
                *(str(self._session.folder.absolute()), self._session.number),
                *(theirs, os.getpid()),
                pass_fds=[theirs],
                stdout=subprocess.PIPE,
            )
            os.set_blocking(self._stdout, False)
        except BaseException:
            self.abandon()
            raise
        finally:
            os.close(theirs)

    @property
    def _stdout(self) -> int:
        assert self._child.stdout
        return self._child.stdout.fileno()

    def alarms(self) -> list[str]:
        """The alarms that it has told since the last call, each in words; none of them twice."""
        with suppress(OSError):
            while got := os.read(self._stdout, 1 << 16):
                self._said += got
        *lines, self._said = self._said.split(b"\n")
        said = dict(map(json.loads, lines))
        new = [text for key, text in said.items() if key not in self._told]
        self._told |= said.keys()  # one that was started again tells of them once more
        return new

    def wake(self) -> None:
        """Tell it that there is something to write."""
        with suppress(BlockingIOError):  # it has not come to read the last ones
            try:
                os.write(self._wake_pipe, b".")
            except BrokenPipeError:
                self._restart()

    def _restart(self) -> None:
        self.abandon()
        self._start_after(self._child.wait())
        self.wake()

    def _start_after(self, code: int) -> None:
        """Start it again after it ended with this exit code; raises where that does not help."""
        if code > 1:  # an error of the system, such as a full disk
            raise OSError(code, os.strerror(code))
        if self._starts > RESTARTS:
            raise RuntimeError("the process that writes the record ended several times")
        self._start()

    def _has_work(self) -> bool:
        return next(self._session.spool.glob("part-*"), None) is not None

    def wait_for_spool(self) -> bool:
        """Wait until it has written everything; False where that takes more than ENDING seconds."""
        end = time.monotonic() + ENDING
        while self._has_work():
            if time.monotonic() > end:
                return False
            if self._child.poll() is not None:
                self._restart()
            time.sleep(0.01)
        return True

    def end(self) -> None:
        """Let it write what is left, and end."""
        self.abandon()
        try:
            # One that was killed, for want of memory perhaps, has left something.
            while (code := self._child.wait(ENDING)) and self._has_work():
                self._start_after(code)
                self.abandon()
        except subprocess.TimeoutExpired:
            return  # it goes on by itself

    def abandon(self) -> None:
        """Close the pipe to it, once: it writes what is left, and ends by itself."""
        pipe, self._wake_pipe = self._wake_pipe, -1
        if pipe >= 0:
            os.close(pipe)
