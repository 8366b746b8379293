"""Who is let in: rows and bytes are counted, and what is too much comes back later."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.exceptions import HTTPException

from plaudit.serve._limits import Limits

LATER = {"Retry-After": "1"}


class Desk:
    """Counts what is in flight. Rows are counted on the server's event loop, bytes in any thread.

    >>> desk = Desk(Limits(rows=100))
    >>> with desk.admitted(80):
    ...     with desk.admitted(30):
    ...         pass
    Traceback (most recent call last):
    ...
    starlette.exceptions.HTTPException: 429: 80 rows are in flight, of 100 at the most: try again
    >>> desk.rows
    0
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.rows = 0
        self.requests = 0
        self.held = 0
        self.lock = threading.Lock()

    @contextmanager
    def admitted(self, rows: int) -> Iterator[None]:
        """Let a batch in for as long as the block lasts, or refuse it."""
        most = self.limits.rows
        if rows > most:
            raise HTTPException(
                413, f"{rows} completions in one request, this server takes {most} at the most"
            )
        if self.rows + rows > most:
            raise HTTPException(
                429, f"{self.rows} rows are in flight, of {most} at the most: try again", LATER
            )
        self.rows += rows
        self.requests += 1
        try:
            yield
        finally:
            self.rows -= rows
            self.requests -= 1


class Held:
    """The memory that one request takes: its body, what that became, and the answer.

    It is counted for as long as somebody uses it: the request, and each thread that works for it,
    which goes on where the client has gone away.

    >>> desk = Desk(Limits(held=100))
    >>> held = Held(desk)
    >>> held.add(90)
    >>> Held(desk).add(20)
    Traceback (most recent call last):
    ...
    starlette.exceptions.HTTPException: 429: the requests in flight take 90 bytes of 100 at the \
most: try again
    >>> held.drop()
    >>> desk.held
    0
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._users = 1
        self._bytes = 0

    def add(self, count: int) -> None:
        """Count more bytes, or refuse them."""
        desk, most = self._desk, self._desk.limits.held
        with desk.lock:
            own, all_of_them = self._bytes + count, desk.held + count
            if all_of_them <= most:
                self._bytes, desk.held = own, all_of_them
                return
        if own > most:
            raise HTTPException(
                413, f"the request takes {own} bytes in memory, this server has {most} for all"
            )
        raise HTTPException(
            429,
            f"the requests in flight take {desk.held} bytes of {most} at the most: try again",
            LATER,
        )

    def add_answer(self, count: int) -> None:
        """Count the bytes of an answer, for which it is too late to refuse anything."""
        with self._desk.lock:
            self._bytes += count
            self._desk.held += count

    def share(self) -> None:
        """Another uses it too."""
        with self._desk.lock:
            self._users += 1

    def drop(self) -> None:
        """One of those who use it is done."""
        with self._desk.lock:
            self._users -= 1
            if not self._users:
                self._desk.held -= self._bytes
