"""What is being done, for a person who waits: over one line of a terminal, else a line at times."""

import time
from typing import TextIO

_QUIET = {True: 2.0, False: 10.0}  # seconds until the first line, on a terminal or in a log
_PAUSE = {True: 0.3, False: 10.0}  # and from one line to the next


class ProgressLine:
    """Shows what is being done, if it takes longer than `quiet` seconds; by default 2, or 10."""

    def __init__(self, out: TextIO | None, quiet: float | None = None) -> None:
        self._out = out
        self._terminal = out is not None and out.isatty()
        self._next = time.monotonic() + (_QUIET[self._terminal] if quiet is None else quiet)
        self._width = 0

    def __call__(self, what: str, done: int = 0, total: int = 0) -> None:
        """Show what is being done, and how many rows of how many are done."""
        now = time.monotonic()
        if self._out is None or now < self._next:
            return
        self._next = now + _PAUSE[self._terminal]
        line = f"plaudit: {what}" + (f": {done:,} of {total:,} rows" if total else " …")
        if self._terminal:
            self._out.write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            self._out.write(line + "\n")
        self._out.flush()

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *raised: object) -> None:
        if self._out is not None and self._width:
            self._out.write("\r" + " " * self._width + "\r")
            self._out.flush()
