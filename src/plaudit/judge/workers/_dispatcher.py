"""The thread that hands items to workers, watches their deadlines and replaces those that end.

    in:  (item, future) by the inbox
    out: an `Outcome` in each future, or an error that says why there is none

Whatever goes wrong in it, every future is completed. Where workers do not start, callers get an
error that says why, and the next item tries again. An unforeseen exception ends the thread, and the
pool with it; the judge makes another.
"""

import contextlib
import selectors
import socket
import time
from collections import deque
from typing import TYPE_CHECKING

from plaudit.judge._settings import Settings
from plaudit.judge._verdict import Status
from plaudit.judge.workers._fork_server import ForkServer
from plaudit.judge.workers._tasks import Inbox, Item, Outcome, Task, Worker, timeout
from plaudit.judge.workers._wire import pack

if TYPE_CHECKING:
    from concurrent.futures import Future

AHEAD = 6  # items that a worker has at most: what it does next, so that it need not wait for us
FEW = 3  # items left with a worker that is sent more: a busy caller keeps us from running for 5 ms
SMALL = 8192  # bytes that are sent to a worker that is busy: what it does not read now has to fit
ATTEMPTS = 100  # a worker may die through no fault of its item: a kill from outside
START_ATTEMPTS = 3
FIRST_START_SECONDS = 30.0  # for a fork server's first worker: it has to import sympy
FORK_SECONDS = 10.0  # for each worker after it, which takes milliseconds unless something stalls
UNWANTED_SECONDS = 0.1  # for an item that is not wanted any more: a new worker costs as much
RETRY_SECONDS = 1.0  # until the next try where a worker did not start, and others work


class Dispatcher:
    """What the thread runs. Its state is touched by no other thread, but `trouble` may be read."""

    def __init__(
        self, settings: Settings, inbox: Inbox, wake_up: socket.socket, trouble: str | None = None
    ) -> None:
        self.trouble = trouble  # why a worker did not start; None once one starts or judges
        self._settings = settings
        self._inbox = inbox
        self._wake_up = wake_up
        self._queue: deque[Task] = deque()
        self._pending: dict[Item, Task] = {}  # every item that waits, or that a worker has
        self._workers: dict[int, Worker] = {}
        self._fork_server: ForkServer | None = None
        self._failed_starts = 0  # fork servers that were lost since a worker last started
        self._idle_deaths = 0  # workers that died without ever having judged anything
        self._next_try = 0.0  # when a worker may be started again, after one that could not be
        self._numbers = 0
        self._open = True
        self._selector = selectors.DefaultSelector()
        try:
            self._selector.register(wake_up, selectors.EVENT_READ)
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
            self._restart(self._fork_server.why_lost())
        self._assign_tasks()
        for key, _ in self._selector.select(self._seconds_until_due()):
            self._handle(key)
        self._cut_short_unwanted()
        self._stop_overdue()

    def _end(self, why: BaseException) -> None:
        """Complete every future, then close: nothing that fails here may leave a caller waiting."""
        for item, future in self._inbox.close():
            Task(item, [future]).fail(why)
        self._fail_all(why)
        with contextlib.suppress(Exception):  # the operating system has the last word
            self._stop_fork_server()
        self._selector.close()
        self._wake_up.close()

    def abandon(self) -> None:
        """Close the copies of what is open, in a process that was forked from this one.

        Nothing is unregistered: the parent's selector and this copy of it are one and the same.
        """
        self._selector.close()
        self._wake_up.close()
        for worker in self._workers.values():
            worker.connection.close()
        if self._fork_server is not None:
            self._fork_server.abandon()

    def _handle(self, key: selectors.SelectorKey) -> None:
        if key.fileobj is self._wake_up:
            self._open = bool(self._wake_up.recv(4096))
            while submitted := self._inbox.first():
                self._enqueue(*submitted)
                self._inbox.drop()
        elif isinstance(key.data, Worker):
            if key.data.number in self._workers:  # it may have been stopped a moment ago
                self._receive_from_worker(key.data)
        elif self._fork_server is not None and key.fileobj is self._fork_server.control:
            for frame in self._fork_server.receive():
                self._handle_message(*frame)

    def _enqueue(self, item: Item, future: "Future[Outcome]") -> None:
        """Queue an item, or join those who wait for it already."""
        task = self._pending.get(item)
        if task is not None and task.wanted:
            task.futures.append(future)
            return
        self._pending[item] = task = Task(item, [future])
        self._queue.append(task)

    def _complete(self, task: Task, outcome: Outcome) -> None:
        task.complete(outcome)
        self._forget(task)

    def _forget(self, task: Task) -> None:
        if self._pending.get(task.item) is task:  # and not one that was asked for since
            del self._pending[task.item]

    def _receive_from_worker(self, worker: Worker) -> None:
        try:
            data = worker.connection.recv(65536)
        except OSError:
            data = b""
        if not data:
            self._replace_dead(worker)
            return
        for frame in worker.frames.feed(data):
            if worker.ready:
                self._complete(worker.tasks.popleft(), _outcome(*frame))
                self._idle_deaths = 0
            else:
                worker.process = frame
                self._note_start()
            self.trouble = None
            worker.begin(self._settings.deadline)

    def _note_start(self) -> None:
        self._failed_starts = 0
        if self._fork_server is not None:
            self._fork_server.started = True

    def _handle_message(self, what: str, number: int, why: str) -> None:
        """A message of the fork server, about a worker or itself."""
        if what == "failed":
            self.trouble = why
            self._stop_fork_server()
            self._fail_all(ImportError(why))
        elif number in self._workers:
            self._replace_dead(self._workers[number])
            if what == "not forked":
                self._note_failed_start(why)

    def _assign_tasks(self) -> None:
        """Send waiting tasks to idle workers, and start more workers if there is enough to do."""
        while self._queue and not self._queue[0].wanted:
            self._forget(self._queue.popleft())
        for worker in sorted(self._workers.values(), key=lambda worker: len(worker.tasks)):
            if self._queue and worker.ready and len(worker.tasks) <= FEW:
                self._send_tasks(worker)
        starting = sum(not worker.ready for worker in self._workers.values())
        wanted = min(self._settings.workers, len(self._workers) - starting + len(self._queue))
        try:
            while self._queue and len(self._workers) < wanted and self._may_start_worker():
                self._start_worker()
        except OSError as error:
            self._note_failed_start(str(error))

    def _may_start_worker(self) -> bool:
        """Not right after a failure, unless there is no worker at all to go on with."""
        return not self._workers or time.monotonic() >= self._next_try

    def _send_tasks(self, worker: Worker) -> None:
        """Send a worker its share of what waits; one that is busy gets small items alone."""
        idle = not worker.tasks
        pending = len(self._queue) + sum(len(each.tasks) for each in self._workers.values())
        share = min(AHEAD, -(-pending // len(self._workers))) - len(worker.tasks)
        tasks: list[Task] = []
        while self._queue and len(tasks) < share:
            task = self._queue.popleft()
            if task.wanted:
                tasks.append(task)
            else:
                self._forget(task)
        frame = pack([task.item for task in tasks])
        if not tasks or (len(frame) > SMALL and not idle):
            self._queue.extendleft(reversed(tasks))
            return
        worker.tasks.extend(tasks)
        if idle:
            worker.begin(self._settings.deadline)
        try:
            worker.connection.sendall(frame)
        except OSError:
            self._stop_worker(worker)

    def _seconds_until_due(self) -> float | None:
        """How long to wait for messages; None where no worker has a deadline."""
        if self._fork_server is not None and self._fork_server.lost:
            return 0.0
        due = min((worker.due for worker in self._workers.values()), default=float("inf"))
        return None if due == float("inf") else max(due - time.monotonic(), 0.0)

    def _cut_short_unwanted(self) -> None:
        """Let a worker finish soon, or stop it, where nobody waits for its item any more."""
        for worker in self._workers.values():
            if worker.tasks and not worker.tasks[0].wanted:
                worker.due = min(worker.due, time.monotonic() + UNWANTED_SECONDS)

    def _stop_overdue(self) -> None:
        now = time.monotonic()
        for worker in [worker for worker in self._workers.values() if worker.due <= now]:
            if worker.ready:
                self._time_out(worker)
            elif self._fork_server is not None:
                self._fork_server.lost = "it started no worker in time"

    def _time_out(self, worker: Worker) -> None:
        """Its item has timed out, or is tried again where the worker had hardly any CPU time."""
        task, deadline = worker.tasks.popleft(), self._settings.deadline
        stalled = worker.stalled(deadline)
        self._stop_worker(worker, count_death=False)
        if stalled and not task.stalled:
            task.stalled = True
            self._queue.appendleft(task)
        else:
            self._complete(task, timeout(deadline, cacheable=not stalled))

    def _replace_dead(self, worker: Worker) -> None:
        """A worker died by itself. Where none ever judges anything, starting more is no use."""
        self._stop_worker(worker)
        self._idle_deaths += not worker.ready
        if self._idle_deaths >= ATTEMPTS:
            self._idle_deaths = 0
            memory = self._settings.memory
            self._note_failed_start(f"{ATTEMPTS} died at once; is memory={memory} MiB too little?")

    def _stop_worker(self, worker: Worker, count_death: bool = True) -> None:
        """Stop a worker, or clear up after one that died; its tasks go back to the queue.

        count_death: whether it counts against the item that the worker was busy with
        """
        del self._workers[worker.number]
        self._selector.unregister(worker.connection)
        worker.connection.close()
        if self._fork_server is not None:
            self._fork_server.send("kill", worker.number)
        if worker.tasks and count_death and self._give_up_if_hopeless(worker.tasks[0], worker):
            worker.tasks.popleft()
        self._queue.extendleft(reversed(worker.tasks))

    def _give_up_if_hopeless(self, task: Task, worker: Worker) -> bool:
        """Complete an item that had twice its time with workers that died, or saw too many die.

        An item that had its time has timed out, whatever its workers died of: a verdict should not
        depend on whether somebody killed workers meanwhile.
        """
        deadline = self._settings.deadline
        task.deaths += 1
        task.seconds += time.monotonic() - (worker.due - deadline)
        if task.seconds >= 2 * deadline:
            self._complete(task, timeout(deadline, cacheable=False))
            return True
        if task.deaths >= ATTEMPTS:
            why = f"{task.deaths} workers died on it"
            self._complete(task, Outcome(Status.ERROR.value, "", "", why, task.seconds, False))
            return True
        return False

    def _start_worker(self) -> None:
        """Start a worker; OSError where that is not possible, with nothing left open."""
        if self._fork_server is None:
            self._start_fork_server()
        assert self._fork_server is not None
        here, there = socket.socketpair()
        with there:
            try:
                here.settimeout(self._settings.deadline)  # one that is stopped must not stop us
                self._numbers += 1
                seconds = FORK_SECONDS if self._fork_server.started else FIRST_START_SECONDS
                worker = Worker(self._numbers, here, due=time.monotonic() + seconds)
                self._selector.register(here, selectors.EVENT_READ, worker)
            except BaseException:
                here.close()
                raise
            self._workers[worker.number] = worker
            self._fork_server.send("fork", worker.number, there)

    def _start_fork_server(self) -> None:
        fork_server = ForkServer(self._settings)
        try:
            self._selector.register(fork_server.control, selectors.EVENT_READ)
        except BaseException:
            fork_server.close()
            raise
        self._fork_server = fork_server

    def _restart(self, why: str) -> None:
        """The fork server is lost, and its workers with it: start another, but not for ever."""
        self._stop_fork_server()
        self._failed_starts += 1
        if self._failed_starts >= START_ATTEMPTS:
            self._failed_starts = 0
            self._note_failed_start(why)

    def _note_failed_start(self, why: str) -> None:
        """A worker did not start. If there is no other, the waiting callers get the error."""
        self.trouble = f"the judge's workers do not start: {why}"
        self._next_try = time.monotonic() + RETRY_SECONDS
        if not self._workers:
            self._fail_all(RuntimeError(self.trouble))

    def _stop_fork_server(self) -> None:
        fork_server, self._fork_server = self._fork_server, None
        if fork_server is not None:
            self._selector.unregister(fork_server.control)
            fork_server.close()
        for worker in list(self._workers.values()):
            self._stop_worker(worker)

    def _fail_all(self, error: BaseException) -> None:
        tasks = [*self._pending.values()]
        self._queue.clear()
        self._pending.clear()
        for task in tasks:
            task.fail(error)


def _outcome(status: str, answer: str, gold: str, problem: str, seconds: float) -> Outcome:
    """What a worker reports. Its error may have passing causes: no memory, no descriptor."""
    return Outcome(status, answer, gold, problem, seconds, cacheable=status != Status.ERROR)
