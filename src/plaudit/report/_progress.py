"""How much of a long piece of work is done in; lines on a terminal or in a log out."""

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

import pyarrow.parquet as pq

if TYPE_CHECKING:
    import pyarrow as pa

    from plaudit.scoring import ScoredFolder

_QUIET = {True: 2.0, False: 10.0}  # seconds until something is told, on a terminal or in a log
_PAUSE = {True: 0.3, False: 10.0}  # and from one line to the next


class Progress:
    """Tells how much of a piece of work is done, if it takes long.

    quiet: seconds in which nothing is told; default: 2 on a terminal, 10 in a log

    >>> import sys
    >>> with Progress(sys.stdout, quiet=0.0) as progress:
    ...     progress.tell("reading", 1000, 4000)
    plaudit: reading: 1,000 of 4,000 rows
    """

    def __init__(self, out: TextIO | None, quiet: float | None = None) -> None:
        self._out = out
        self._terminal = out is not None and out.isatty()
        self._next = time.monotonic() + (_QUIET[self._terminal] if quiet is None else quiet)
        self._width = 0

    def tell(self, what: str, done: int = 0, total: int = 0) -> None:
        """Say what is being done, and how many rows of how many are done."""
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

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *raised: object) -> None:
        if self._out is not None and self._width:
            self._out.write("\r" + " " * self._width + "\r")
            self._out.flush()


def told(
    progress: Progress | None, what: str, scored: "ScoredFolder", columns: Sequence[str]
) -> Iterator["pa.RecordBatch"]:
    """The batches of a scored folder, with these columns; progress tells how far they are read."""
    total = sum(pq.read_metadata(part).num_rows for part in scored.parts) if progress else 0
    done = 0
    for _, batch in scored.batches(columns):
        yield batch
        done += len(batch)
        if progress:
            progress.tell(what, done, total)
