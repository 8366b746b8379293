"""Who is let in: rows and bytes are counted, and what is too much comes back later."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.exceptions import HTTPException

from plaudit.serve._limits import Limits

LATER = {"Retry-After": "1"}


class Desk:
    """Counts what is in flight. All of it happens on the server's event loop.

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

    @contextmanager
    def holding(self) -> Iterator["Held"]:
        """Count the bytes of one body for as long as the block lasts."""
        held = Held(self)
        try:
            yield held
        finally:
            self.held -= held.bytes


class Held:
    """The bytes of one body.

    >>> desk = Desk(Limits(body=10))
    >>> with desk.holding() as held:
    ...     held.add(10)
    ...     held.add(1)
    Traceback (most recent call last):
    ...
    starlette.exceptions.HTTPException: 413: the body is larger than 10 bytes, the limit here
    >>> desk.held
    0
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.bytes = 0

    def add(self, count: int) -> None:
        """Count more bytes, or refuse them."""
        self.bytes += count
        self._desk.held += count
        limits = self._desk.limits
        if self.bytes > limits.body:
            raise HTTPException(413, f"the body is larger than {limits.body} bytes, the limit here")
        if self._desk.held > limits.held:
            raise HTTPException(429, "too many bodies are being sent: try again", LATER)
