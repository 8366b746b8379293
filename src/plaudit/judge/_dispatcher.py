"""The thread that hands items to workers, watches their deadlines and starts anew what ends.

    in:  (item, future) by the inbox
    out: an `Outcome` in each future, or an error that says why there is none

Whatever goes wrong in it, every future is completed. Where workers do not start, those who wait are
told why, and the next item tries again. What nobody foresaw ends the thread, and the pool with it;
the judge makes another.
"""

import contextlib
import selectors
import socket
import time
from collections import deque
from typing import TYPE_CHECKING

from plaudit.judge._fork_server import ForkServer
from plaudit.judge._settings import Settings
from plaudit.judge._tasks import Inbox, Item, Outcome, Task, Worker, timeout
from plaudit.judge._verdict import Status
from plaudit.judge._wire import pack

if TYPE_CHECKING:
    from concurrent.futures import Future

CHUNK = 8  # items handed to a worker at once: the wire costs more than the work otherwise
ATTEMPTS = 100  # a worker may die through no fault of its item: a kill from outside
START_ATTEMPTS = 3
START = 30.0  # seconds for a fork server's first worker: it has to import sympy
FORK = 10.0  # seconds for each after it, which takes milliseconds where nothing stands still
A_MOMENT = 0.1  # seconds for an item that is not wanted any more: a new worker costs as much
AGAIN = 1.0  # seconds until another worker is tried where one did not start, and others work


class Dispatcher:
    """What the thread runs. Its state is touched by no other thread, but `trouble` may be read."""

    def __init__(
        self, settings: Settings, inbox: Inbox, alarm: socket.socket, trouble: str | None = None
    ) -> None:
        self.trouble = trouble  # why a worker did not start; None once one starts or judges
        self._settings = settings
        self._inbox = inbox
        self._alarm = alarm
        self._queue: deque[Task] = deque()
        self._pending: dict[Item, Task] = {}  # every item that waits, or that a worker has
        self._workers: dict[int, Worker] = {}
        self._fork_server: ForkServer | None = None
        self._starts = 0  # fork servers that were lost since a worker last started
        self._idle_deaths = 0  # workers that died without ever having judged anything
        self._next_try = 0.0  # when a worker may be started again, after one that could not be
        self._numbers = 0
        self._open = True
        self._selector = selectors.DefaultSelector()
        try:
            self._selector.register(alarm, selectors.EVENT_READ)
        except BaseException:
            self._selector.close()
            raise

    def run(self) -> None:
        why = RuntimeError("the judge was closed while it worked")
        try:
            while self._open:
                self._step()
        except BaseException as error:
            why = RuntimeError(f"the judge's dispatcher failed: {type(error).__name__}: {error}")
            why.__cause__ = error
            self.trouble = str(why)
        finally:
            self._end(why)

    def _step(self) -> None:
        if self._fork_server is not None and self._fork_server.lost:
            self._restart(self._fork_server.last_words())
        self._hand_out()
        for key, _ in self._selector.select(self._patience()):
            self._hear(key)
        self._hurry_unwanted()
        self._kill_overdue()

    def _end(self, why: BaseException) -> None:
        """First those who wait, then the rest: nothing that fails here may keep them waiting."""
        for item, future in self._inbox.close():
            Task(item, [future]).fail(why)
        self._fail_all(why)
        with contextlib.suppress(Exception):  # the operating system has the last word
            self._stop_fork_server()
        self._selector.close()
        self._alarm.close()

    def abandon(self) -> None:
        """Close the copies of what is open, in a process that was forked from this one.

        Nothing is unregistered: the parent's selector and this copy of it are one and the same.
        """
        self._selector.close()
        self._alarm.close()
        for worker in self._workers.values():
            worker.connection.close()
        if self._fork_server is not None:
            self._fork_server.abandon()

    def _hear(self, key: selectors.SelectorKey) -> None:
        if key.fileobj is self._alarm:
            self._open = bool(self._alarm.recv(4096))
            while asked := self._inbox.first():
                self._take(*asked)
                self._inbox.drop()
        elif isinstance(key.data, Worker):
            if key.data.number in self._workers:  # it may have been buried a moment ago
                self._hear_worker(key.data)
        elif self._fork_server is not None and key.fileobj is self._fork_server.control:
            for frame in self._fork_server.hear():
                self._hear_of(*frame)

    def _take(self, item: Item, future: "Future[Outcome]") -> None:
        """Queue an item, or join those who wait for it already."""
        task = self._pending.get(item)
        if task is not None and task.wanted:
            task.futures.append(future)
            return
        self._pending[item] = task = Task(item, [future])
        self._queue.append(task)

    def _settle(self, task: Task, outcome: Outcome) -> None:
        task.settle(outcome)
        self._drop(task)

    def _drop(self, task: Task) -> None:
        if self._pending.get(task.item) is task:  # and not one that was asked for since
            del self._pending[task.item]

    def _hear_worker(self, worker: Worker) -> None:
        try:
            data = worker.connection.recv(65536)
        except OSError:
            data = b""
        if not data:
            self._mourn(worker)
            return
        for frame in worker.frames.feed(data):
            if worker.ready:
                self._settle(worker.tasks.popleft(), _outcome(*frame))
                self._idle_deaths = 0
            else:
                worker.process = frame
                self._started()
            self.trouble = None
            worker.begin(self._settings.deadline)

    def _started(self) -> None:
        self._starts = 0
        if self._fork_server is not None:
            self._fork_server.started = True

    def _hear_of(self, what: str, number: int, why: str) -> None:
        """The fork server has something to say of a worker, or of itself."""
        if what == "failed":
            self.trouble = why
            self._stop_fork_server()
            self._fail_all(ImportError(why))
        elif number in self._workers:
            self._mourn(self._workers[number])
            if what == "not forked":
                self._cannot_start(why)

    def _hand_out(self) -> None:
        """Give the idle workers what waits, and start more of them where it is worth it."""
        while self._queue and not self._queue[0].wanted:
            self._drop(self._queue.popleft())
        for worker in list(self._workers.values()):
            if self._queue and worker.ready and not worker.tasks:
                self._give(worker)
        starting = sum(not worker.ready for worker in self._workers.values())
        wanted = min(self._settings.workers, len(self._workers) - starting + len(self._queue))
        try:
            while self._queue and len(self._workers) < wanted and self._may_spawn():
                self._spawn()
        except OSError as error:
            self._cannot_start(str(error))

    def _may_spawn(self) -> bool:
        """Not right after a failure, unless there is no worker at all to go on with."""
        return not self._workers or time.monotonic() >= self._next_try

    def _give(self, worker: Worker) -> None:
        share = -(-len(self._queue) // len(self._workers))
        for _ in range(min(CHUNK, share)):
            task = self._queue.popleft()
            if task.wanted:
                worker.tasks.append(task)
            else:
                self._drop(task)
        if not worker.tasks:
            return
        worker.begin(self._settings.deadline)
        try:
            worker.connection.sendall(pack([task.item for task in worker.tasks]))
        except OSError:
            self._bury(worker)

    def _patience(self) -> float | None:
        """How long nothing need be looked at, unless somebody says something."""
        if self._fork_server is not None and self._fork_server.lost:
            return 0.0
        due = min((worker.due for worker in self._workers.values()), default=float("inf"))
        return None if due == float("inf") else max(due - time.monotonic(), 0.0)

    def _hurry_unwanted(self) -> None:
        """What nobody waits for any more has a moment left, not its deadline."""
        for worker in self._workers.values():
            if worker.tasks and not worker.tasks[0].wanted:
                worker.due = min(worker.due, time.monotonic() + A_MOMENT)

    def _kill_overdue(self) -> None:
        now = time.monotonic()
        for worker in [worker for worker in self._workers.values() if worker.due <= now]:
            if worker.ready:
                self._time_out(worker)
            elif self._fork_server is not None:
                self._fork_server.lost = "it started no worker in time"

    def _time_out(self, worker: Worker) -> None:
        """Its item had its deadline; but one that got little of the processor gets another."""
        task, deadline = worker.tasks.popleft(), self._settings.deadline
        stalled = worker.stalled(deadline)
        self._bury(worker, to_blame=False)
        if stalled and not task.stalled:
            task.stalled = True
            self._queue.appendleft(task)
        else:
            self._settle(task, timeout(deadline, lasting=not stalled))

    def _mourn(self, worker: Worker) -> None:
        """A worker died of itself. Where none ever gets to work, there is no use in more."""
        self._bury(worker)
        self._idle_deaths += not worker.ready
        if self._idle_deaths >= ATTEMPTS:
            self._idle_deaths = 0
            memory = self._settings.memory
            self._cannot_start(f"{ATTEMPTS} died at once; is memory={memory} MiB too little?")

    def _bury(self, worker: Worker, to_blame: bool = True) -> None:
        """A worker is gone or must go: what it had waits again, the item it worked on counted."""
        del self._workers[worker.number]
        self._selector.unregister(worker.connection)
        worker.connection.close()
        if self._fork_server is not None:
            self._fork_server.tell("kill", worker.number)
        if worker.tasks and to_blame and self._gives_up(worker.tasks[0], worker):
            worker.tasks.popleft()
        self._queue.extendleft(reversed(worker.tasks))

    def _gives_up(self, task: Task, worker: Worker) -> bool:
        """Whether an item had twice its time with workers that died, or too many of them died.

        Who had its time and was not done has timed out, whatever its workers died of: a verdict
        should not tell whether somebody killed workers meanwhile.
        """
        deadline = self._settings.deadline
        task.deaths += 1
        task.seconds += time.monotonic() - (worker.due - deadline)
        if task.seconds >= 2 * deadline:
            self._settle(task, timeout(deadline, lasting=False))
            return True
        if task.deaths >= ATTEMPTS:
            why = f"{task.deaths} workers died on it"
            self._settle(task, Outcome(Status.ERROR.value, "", "", why, task.seconds, False))
            return True
        return False

    def _spawn(self) -> None:
        """Start a worker; OSError where that is not possible, with nothing left open."""
        if self._fork_server is None:
            self._start_fork_server()
        assert self._fork_server is not None
        here, there = socket.socketpair()
        with there:
            try:
                here.settimeout(self._settings.deadline)  # one that is stopped must not stop us
                self._numbers += 1
                patience = FORK if self._fork_server.started else START
                worker = Worker(self._numbers, here, due=time.monotonic() + patience)
                self._selector.register(here, selectors.EVENT_READ, worker)
            except BaseException:
                here.close()
                raise
            self._workers[worker.number] = worker
            self._fork_server.tell("spawn", worker.number, there)

    def _start_fork_server(self) -> None:
        fork_server = ForkServer(self._settings)
        try:
            self._selector.register(fork_server.control, selectors.EVENT_READ)
        except BaseException:
            fork_server.close()
            raise
        self._fork_server = fork_server

    def _restart(self, why: str) -> None:
        """The fork server is lost, and its workers with it: start anew, but not for ever."""
        self._stop_fork_server()
        self._starts += 1
        if self._starts >= START_ATTEMPTS:
            self._starts = 0
            self._cannot_start(why)

    def _cannot_start(self, why: str) -> None:
        """A worker did not start. That is a matter for those who wait where there is no other."""
        self.trouble = f"the judge's workers do not start: {why}"
        self._next_try = time.monotonic() + AGAIN
        if not self._workers:
            self._fail_all(RuntimeError(self.trouble))

    def _stop_fork_server(self) -> None:
        fork_server, self._fork_server = self._fork_server, None
        if fork_server is not None:
            self._selector.unregister(fork_server.control)
            fork_server.close()
        for worker in list(self._workers.values()):
            self._bury(worker)

    def _fail_all(self, error: BaseException) -> None:
        tasks = [*self._pending.values()]
        self._queue.clear()
        self._pending.clear()
        for task in tasks:
            task.fail(error)


def _outcome(status: str, answer: str, gold: str, problem: str, seconds: float) -> Outcome:
    """What a worker says. Its error may have been one of the moment: no memory, no descriptor."""
    return Outcome(status, answer, gold, problem, seconds, lasting=status != Status.ERROR)
