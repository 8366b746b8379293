"""Rows and bytes of a request in, admission or a refusal out: how much a server takes at once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from math import inf
from numbers import Integral, Real

from starlette.exceptions import HTTPException

RETRY = {"Retry-After": "1"}
LITTLE = 1 / 8  # of what is free


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a server takes before it refuses.

    body: bytes of a request's body; default: 64 MiB
    rows: completions that may be in flight, over all requests
    sending: seconds in which a client must have sent its request, and received its answer
    deadline: seconds in which a request must be scored, waiting included
    connections: connections that may be open; fewer if the process may not open as many files
    held: bytes of memory that all requests may take together: their bodies, the objects read from
        these, and the answers; default: eight times `body`

    >>> Limits(rows=0)
    Traceback (most recent call last):
    ...
    ValueError: rows must be above 0, got 0
    >>> Limits(body=1000).held
    8000
    """

    body: int = 64 << 20
    rows: int = 16_384
    sending: float = 30.0
    deadline: float = 300.0
    connections: int = 1024
    held: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            is_right = isinstance(value, Integral if field.type is int else Real)
            if not is_right:
                wanted = "a whole number" if field.type is int else "a number"
                raise ValueError(f"{field.name} must be {wanted}, got {value!r:.80}")
            if field.name == "held" and value == 0:
                object.__setattr__(self, "held", 8 * self.body)
            elif not 0 < value < inf:
                raise ValueError(f"{field.name} must be above 0, got {value}")


class Admission:
    """Counts what is in flight. Rows are counted on the server's event loop, bytes in any thread.

    >>> admission = Admission(Limits(rows=100))
    >>> with admission.admitted(80):
    ...     with admission.admitted(30):
    ...         pass
    Traceback (most recent call last):
    ...
    starlette.exceptions.HTTPException: 429: 80 rows are in flight, of at most 100: try again
    >>> admission.rows
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
        """Admit a batch for as long as the block lasts, or refuse it."""
        most = self.limits.rows
        if rows > most:
            raise HTTPException(
                413, f"{rows} completions in one request, this server takes at most {most}"
            )
        if self.rows + rows > most:
            raise HTTPException(
                429, f"{self.rows} rows are in flight, of at most {most}: try again", RETRY
            )
        self.rows += rows
        self.requests += 1
        try:
            yield
        finally:
            self.rows -= rows
            self.requests -= 1


class HeldMemory:
    """The memory that one request takes: its body, the objects read from it, and the answer.

    It is counted for as long as somebody uses it: the request, and each thread that works for it,
    which goes on when the client has gone away.

    >>> admission = Admission(Limits(held=100))
    >>> held = HeldMemory(admission)
    >>> held.add(90)
    >>> HeldMemory(admission).add(20)
    Traceback (most recent call last):
    ...
    starlette.exceptions.HTTPException: 429: the requests in flight take 90 bytes, of at most 100: \
try again
    >>> held.release()
    >>> admission.held
    0
    """

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._users = 1
        self._bytes = 0

    def add(self, count: int) -> None:
        """Count more bytes, or refuse them."""
        admission, most = self._admission, self._admission.limits.held
        with admission.lock:
            own, everyones = self._bytes + count, admission.held + count
            if everyones <= most:
                self._bytes, admission.held = own, everyones
                return
        if own > most:
            raise HTTPException(
                413, f"the request takes {own} bytes of memory, this server has {most} for all"
            )
        raise HTTPException(
            429,
            f"the requests in flight take {admission.held} bytes, of at most {most}: try again",
            RETRY,
        )

    def add_if_little(self, count: int) -> bool:
        """Count more bytes if they are little of what is free; says whether it did."""
        admission = self._admission
        with admission.lock:
            if count > (admission.limits.held - admission.held) * LITTLE:
                return False
            self._bytes += count
            admission.held += count
            return True

    def add_answer(self, count: int) -> None:
        """Count the bytes of an answer: it is too late to refuse anything."""
        with self._admission.lock:
            self._bytes += count
            self._admission.held += count

    def share(self) -> None:
        """Count another user."""
        with self._admission.lock:
            self._users += 1

    def release(self) -> None:
        """One user is done; with the last, the memory is free."""
        with self._admission.lock:
            self._users -= 1
            if not self._users:
                self._admission.held -= self._bytes
