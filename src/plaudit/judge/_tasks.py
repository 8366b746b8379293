"""What is on its way: items and their outcomes, who waits for them, which worker has them."""

import contextlib
import socket
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from plaudit.judge._verdict import Status
from plaudit.judge._wire import Frames

STALLED = 0.2  # the share of its deadline that a worker must have worked for a lasting timeout

Item = tuple[Any, ...]


class Outcome(NamedTuple):
    """What came of an item.

    answer, gold: what was read as each
    problem: what went wrong, where something did
    lasting: False where another try may end otherwise, so that it is not worth remembering
    """

    status: str
    answer: str
    gold: str
    problem: str
    seconds: float
    lasting: bool = True


def timeout(deadline: float, lasting: bool) -> Outcome:
    """What came of an item that had its deadline.

    >>> timeout(5.0, lasting=True).status
    'timeout'
    """
    return Outcome(Status.TIMEOUT.value, "", "", "", deadline, lasting)


Asked = tuple[Item, "Future[Outcome]"]


class Inbox:
    """What callers ask for, until the dispatcher has it. Nothing gets in once it is closed.

    >>> inbox = Inbox()
    >>> inbox.put(("an item", Future())), inbox.first()[0]
    (True, 'an item')
    >>> len(inbox.close()), inbox.put(("another", Future()))
    (1, False)
    """

    def __init__(self) -> None:
        self.closed = False
        self._asked: deque[Asked] = deque()
        self._lock = threading.Lock()

    def put(self, asked: Asked) -> bool:
        """False where it is closed."""
        with self._lock:
            if not self.closed:
                self._asked.append(asked)
            return not self.closed

    def first(self) -> Asked | None:
        """What was asked first. It stays until `drop`: what fails in between must not lose it."""
        return self._asked[0] if self._asked else None

    def drop(self) -> None:
        """The first is on its way."""
        self._asked.popleft()

    def close(self) -> list[Asked]:
        """Refuse what comes from now on; what is left is the caller's to answer."""
        with self._lock:
            self.closed = True
        return list(self._asked)


@dataclass(eq=False)
class Task:
    """One item on its way, for whoever asked: how many workers died on it, after how many seconds
    of work, and whether one got too little of the processor to be done."""

    item: Item
    futures: "list[Future[Outcome]]"
    deaths: int = 0
    seconds: float = 0.0
    stalled: bool = False

    @property
    def wanted(self) -> bool:
        """False where every caller went away."""
        return not all(future.done() for future in self.futures)

    def settle(self, outcome: Outcome) -> None:
        for future in self.futures:
            with contextlib.suppress(InvalidStateError):
                future.set_result(outcome)

    def fail(self, error: BaseException) -> None:
        for future in self.futures:
            with contextlib.suppress(InvalidStateError):
                future.set_exception(error)


@dataclass(eq=False)
class Worker:
    """A worker process as seen from here: its socket, and the items that it has."""

    number: int
    connection: socket.socket
    due: float = float("inf")  # when it must have started, or be done with the item it works on
    process: int | None = None  # its id, once it has started
    frames: Frames = field(default_factory=Frames)
    tasks: deque[Task] = field(default_factory=deque)
    worked: float | None = None  # seconds of processor time it had when it began with its item

    @property
    def ready(self) -> bool:
        return self.process is not None

    def begin(self, deadline: float) -> None:
        """It works on the first of its tasks from now on, if it has any."""
        self.due = time.monotonic() + deadline if self.tasks else float("inf")
        self.worked = processor_seconds(self.process)

    def stalled(self, deadline: float) -> bool:
        """Whether it got too little of the processor for its item to have had its time."""
        now = processor_seconds(self.process)
        if now is None or self.worked is None:
            return False
        return now - self.worked < STALLED * deadline


def processor_seconds(process: int | None) -> float | None:
    """How long a process has worked by now; None where the system does not say.

    >>> import os
    >>> sys.platform != "linux" or processor_seconds(os.getpid()) > 0
    True
    """
    if process is None or sys.platform != "linux":
        return None
    try:
        return time.clock_gettime(~process << 3 | 2)  # what clock_getcpuclockid(3) makes of an id
    except OSError:
        return None
