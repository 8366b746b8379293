"""How many connections there may be, and which go where there are more.

Descriptors are what a process has few of: a connection takes one, and the judge needs some to start
workers. So connections are counted, and the limit lies below that of the process.
"""

import resource
from contextlib import suppress
from typing import Protocol

RESERVED = 96  # descriptors for all but connections: files, images, and what is being accepted
FOR_A_WORKER = 4
FEWEST = 16


class Closable(Protocol):
    """A connection, as far as this module cares."""

    def make_room(self) -> None: ...
    def refuse(self, code: int, why: str) -> None: ...


class Connections:
    """The connections of a server. Strangers, who were never let in, give way first.

    >>> class Caller:
    ...     def make_room(self):
    ...         print("closed")
    >>> connections = Connections(most=1)
    >>> connections.came(Caller())
    >>> connections.came(Caller())
    closed
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: set[Closable] = set()
        # Both in the order in which they became what they are: the oldest goes first.
        self._strangers: dict[Closable, None] = {}
        self._resting: dict[Closable, None] = {}

    def came(self, connection: Closable) -> None:
        """Take a connection in; where there are too many, another goes, or else this one."""
        self._open.add(connection)
        self._strangers[connection] = None
        if len(self._open) > self._most:
            given_up = next(iter(self._strangers))
            if given_up is connection and self._resting:
                given_up = next(iter(self._resting))
            self.went(given_up)
            given_up.make_room()

    def let_in(self, connection: Closable) -> None:
        """It asked for something that it may ask for."""
        self._strangers.pop(connection, None)

    def rests(self, connection: Closable) -> None:
        """It has its answer, and keeps the connection."""
        if connection not in self._strangers:
            self._resting[connection] = None

    def begins(self, connection: Closable) -> None:
        """It begins a request."""
        self._resting.pop(connection, None)

    def went(self, connection: Closable) -> None:
        """It is closed."""
        self._open.discard(connection)
        self._strangers.pop(connection, None)
        self._resting.pop(connection, None)


def raise_descriptor_limit() -> None:
    """Let this process open as many files as it may."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems name a hard limit that they do not grant.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def fitting(wanted: int, workers: int) -> int:
    """As many connections as wanted, or as this process has descriptors for.

    >>> fitting(20, workers=2)
    20
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    return min(wanted, max(FEWEST, soft - RESERVED - FOR_A_WORKER * workers))
