"""Items in flight: what came of each, which callers wait for it, which worker has it."""

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
from plaudit.judge.workers._wire import Frames

STALLED = 0.2  # a worker that had less than this share of the deadline in CPU time stood still

Item = tuple[Any, ...]  # the candidates of an answer and of a gold as plain data, and the rule


class Outcome(NamedTuple):
    """What came of an item.

    answer, gold: what was read as each
    problem: what went wrong, where something did
    cacheable: False where another try may end otherwise, so that it is not worth remembering

    >>> Outcome("equal", "2", "4/2", "", 0.01).cacheable
    True
    """

    status: str
    answer: str
    gold: str
    problem: str
    seconds: float
    cacheable: bool = True


def timeout(deadline: float, cacheable: bool) -> Outcome:
    """The outcome of an item that reached its deadline.

    >>> timeout(5.0, cacheable=True).status
    'timeout'
    """
    return Outcome(Status.TIMEOUT.value, "", "", "", deadline, cacheable)


Submitted = tuple[Item, "Future[Outcome]"]


class Inbox:
    """What callers submit, until the dispatcher has it. Nothing gets in once it is closed.

    >>> inbox = Inbox()
    >>> inbox.put(("an item", Future())), inbox.first()[0]
    (True, 'an item')
    >>> len(inbox.close()), inbox.put(("another", Future()))
    (1, False)
    """

    def __init__(self) -> None:
        self.closed = False
        self._submitted: deque[Submitted] = deque()
        self._lock = threading.Lock()

    def put(self, submitted: Submitted) -> bool:
        """False where it is closed."""
        with self._lock:
            if not self.closed:
                self._submitted.append(submitted)
            return not self.closed

    def first(self) -> Submitted | None:
        """The oldest. It stays until `drop`, so that a failure in between does not lose it."""
        return self._submitted[0] if self._submitted else None

    def drop(self) -> None:
        """Remove the oldest: the dispatcher has it."""
        self._submitted.popleft()

    def close(self) -> list[Submitted]:
        """Refuse what comes from now on, and give back what is left: its futures are incomplete."""
        with self._lock:
            self.closed = True
        return list(self._submitted)


@dataclass(eq=False)
class Task:
    """An item in flight, and the futures of all who wait for it.

    deaths: how many workers died while they worked on it
    seconds: how long those had worked on it
    stalled: whether it reached its deadline once with a worker that had hardly any CPU time
    """

    item: Item
    futures: "list[Future[Outcome]]"
    deaths: int = 0
    seconds: float = 0.0
    stalled: bool = False

    @property
    def wanted(self) -> bool:
        """False where every caller went away."""
        return not all(future.done() for future in self.futures)

    def complete(self, outcome: Outcome) -> None:
        for future in self.futures:
            with contextlib.suppress(InvalidStateError):
                future.set_result(outcome)

    def fail(self, error: BaseException) -> None:
        for future in self.futures:
            with contextlib.suppress(InvalidStateError):
                future.set_exception(error)


@dataclass(eq=False)
class Worker:
    """A worker process as the dispatcher sees it: its socket, and the tasks that it has.

    due: when it must have started, or be done with the first of its tasks
    process: its process id, once it has started
    cpu_before: the CPU time that it had used when it began with the first of its tasks
    """

    number: int
    connection: socket.socket
    due: float = float("inf")
    process: int | None = None
    frames: Frames = field(default_factory=Frames)
    tasks: deque[Task] = field(default_factory=deque)
    cpu_before: float | None = None

    @property
    def ready(self) -> bool:
        return self.process is not None

    def begin(self, deadline: float) -> None:
        """It works on the first of its tasks from now on, if it has any."""
        self.due = time.monotonic() + deadline if self.tasks else float("inf")
        self.cpu_before = cpu_seconds(self.process)

    def stalled(self, deadline: float) -> bool:
        """Whether it had too little CPU time for its item to have had a fair try."""
        now = cpu_seconds(self.process)
        if now is None or self.cpu_before is None:
            return False
        return now - self.cpu_before < STALLED * deadline


def cpu_seconds(process: int | None) -> float | None:
    """The CPU time that a process has used; None where the system does not say.

    >>> import os
    >>> sys.platform != "linux" or cpu_seconds(os.getpid()) > 0
    True
    """
    if process is None or sys.platform != "linux":
        return None
    try:
        return time.clock_gettime(~process << 3 | 2)  # as clock_getcpuclockid(3) makes it of an id
    except OSError:
        return None
