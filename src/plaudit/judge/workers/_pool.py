"""Worker processes that can be killed, shared by every reward of a process.

One thread, the dispatcher, owns all sockets: it sends pairs to workers, watches their deadlines,
kills what runs over and starts anew. Callers only ever wait on a future, so they may be threads, an
event loop or both. Nothing here uses signals, and no thread is ever left behind with work.

Whatever goes wrong in the dispatcher, every future is completed. If workers do not start, callers
get an error that says why, and the next pair tries again. An unforeseen exception ends the thread,
and the pool with it; the judge makes another.
"""

import contextlib
import selectors
import socket
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from plaudit.judge._settings import Settings
from plaudit.judge._verdict import Status
from plaudit.judge.workers._fork_server import ForkServer, Frames, pack

AHEAD = 6  # pairs that a worker has at most: what it does next, so that it need not wait for us
FEW = 3  # pairs left with a worker that is sent more: a busy caller keeps us from running for 5 ms
SMALL = 8192  # bytes that are sent to a worker that is busy: what it does not read now has to fit
ATTEMPTS = 100  # a worker may die through no fault of its pair: a kill from outside
START_ATTEMPTS = 3
FIRST_START_SECONDS = 30.0  # for a fork server's first worker: it has to import sympy
FORK_SECONDS = 10.0  # for each worker after it, which takes milliseconds unless something stalls
UNWANTED_SECONDS = 0.1  # for a pair that is not wanted any more: a new worker costs as much
RETRY_SECONDS = 1.0  # until the next try where a worker did not start, and others work
STALLED = 0.2  # a worker that had less than this share of the deadline in CPU time stood still

# The candidates of an answer and of a gold as plain data, and the rule.
PlainPair = tuple[Any, ...]


class WorkerResult(NamedTuple):
    """What came of a pair.

    answer, gold: what was read as each
    problem: what went wrong, where something did
    cacheable: False if another try may end otherwise, so that it is not worth remembering
    """

    status: str
    answer: str
    gold: str
    problem: str
    seconds: float
    cacheable: bool = True


def timeout(deadline: float, cacheable: bool) -> WorkerResult:
    """Return the result of a pair that reached its deadline."""
    return WorkerResult(Status.TIMEOUT.value, "", "", "", deadline, cacheable)


Submitted = tuple[PlainPair, "Future[WorkerResult]"]


class Inbox:
    """What callers submit, until the dispatcher has it. Nothing gets in once it is closed."""

    def __init__(self) -> None:
        self.closed = False
        self._submitted: deque[Submitted] = deque()
        self._lock = threading.Lock()

    def put(self, submitted: Submitted) -> bool:
        """False if it is closed."""
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
class PairTask:
    """A pair in flight, and the futures of all who wait for it.

    deaths: how many workers died while they worked on it
    seconds: how long those had worked on it
    stalled: whether it reached its deadline once with a worker that had hardly any CPU time
    """

    pair: PlainPair
    futures: "list[Future[WorkerResult]]"
    deaths: int = 0
    seconds: float = 0.0
    stalled: bool = False

    @property
    def wanted(self) -> bool:
        """False if every caller went away."""
        return not all(future.done() for future in self.futures)

    def complete(self, result: WorkerResult) -> None:
        for future in self.futures:
            with contextlib.suppress(InvalidStateError):
                future.set_result(result)

    def fail(self, error: BaseException) -> None:
        for future in self.futures:
            with contextlib.suppress(InvalidStateError):
                future.set_exception(error)


@dataclass(eq=False)
class WorkerProcess:
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
    tasks: deque[PairTask] = field(default_factory=deque)
    cpu_before: float | None = None

    @property
    def ready(self) -> bool:
        return self.process is not None

    def begin(self, deadline: float) -> None:
        """It works on the first of its tasks from now on, if it has any."""
        self.due = time.monotonic() + deadline if self.tasks else float("inf")
        self.cpu_before = cpu_seconds(self.process)

    def stalled(self, deadline: float) -> bool:
        """Whether it had too little CPU time for its pair to have had a fair try."""
        now = cpu_seconds(self.process)
        if now is None or self.cpu_before is None:
            return False
        return now - self.cpu_before < STALLED * deadline


def cpu_seconds(process: int | None) -> float | None:
    """The CPU time that a process has used; None if the system does not say."""
    if process is None or sys.platform != "linux":
        return None
    try:
        return time.clock_gettime(~process << 3 | 2)  # as clock_getcpuclockid(3) makes it of an id
    except OSError:
        return None


class Dispatcher:
    """What the thread runs. Its state is touched by no other thread, but `trouble` may be read."""

    def __init__(
        self, settings: Settings, inbox: Inbox, wake_up: socket.socket, trouble: str | None = None
    ) -> None:
        self.trouble = trouble  # why a worker did not start; None once one starts or judges
        self._settings = settings
        self._inbox = inbox
        self._wake_up = wake_up
        self._queue: deque[PairTask] = deque()
        self._pending: dict[PlainPair, PairTask] = {}  # every pair that waits, or that a worker has
        self._workers: dict[int, WorkerProcess] = {}
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
        for pair, future in self._inbox.close():
            PairTask(pair, [future]).fail(why)
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
        elif isinstance(key.data, WorkerProcess):
            if key.data.number in self._workers:  # it may have been stopped a moment ago
                self._receive_from_worker(key.data)
        elif self._fork_server is not None and key.fileobj is self._fork_server.control:
            for frame in self._fork_server.receive():
                self._handle_message(*frame)

    def _enqueue(self, pair: PlainPair, future: "Future[WorkerResult]") -> None:
        """Queue a pair, or join those who wait for it already."""
        task = self._pending.get(pair)
        if task is not None and task.wanted:
            task.futures.append(future)
            return
        self._pending[pair] = task = PairTask(pair, [future])
        self._queue.append(task)

    def _complete(self, task: PairTask, result: WorkerResult) -> None:
        task.complete(result)
        self._forget(task)

    def _forget(self, task: PairTask) -> None:
        if self._pending.get(task.pair) is task:  # and not one that was asked for since
            del self._pending[task.pair]

    def _receive_from_worker(self, worker: WorkerProcess) -> None:
        try:
            data = worker.connection.recv(65536)
        except OSError:
            data = b""
        if not data:
            self._replace_dead(worker)
            return
        for frame in worker.frames.feed(data):
            if worker.ready:
                self._complete(worker.tasks.popleft(), _result(*frame))
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

    def _send_tasks(self, worker: WorkerProcess) -> None:
        """Send a worker its share of what waits; one that is busy gets small pairs alone."""
        idle = not worker.tasks
        pending = len(self._queue) + sum(len(each.tasks) for each in self._workers.values())
        share = min(AHEAD, -(-pending // len(self._workers))) - len(worker.tasks)
        tasks: list[PairTask] = []
        while self._queue and len(tasks) < share:
            task = self._queue.popleft()
            if task.wanted:
                tasks.append(task)
            else:
                self._forget(task)
        frame = pack([task.pair for task in tasks])
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
        """How long to wait for messages; None if no worker has a deadline."""
        if self._fork_server is not None and self._fork_server.lost:
            return 0.0
        due = min((worker.due for worker in self._workers.values()), default=float("inf"))
        return None if due == float("inf") else max(due - time.monotonic(), 0.0)

    def _cut_short_unwanted(self) -> None:
        """Let a worker finish soon, or stop it, where nobody waits for its pair any more."""
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

    def _time_out(self, worker: WorkerProcess) -> None:
        """Its pair has timed out, or is tried again where the worker had hardly any CPU time."""
        task, deadline = worker.tasks.popleft(), self._settings.deadline
        stalled = worker.stalled(deadline)
        self._stop_worker(worker, count_death=False)
        if stalled and not task.stalled:
            task.stalled = True
            self._queue.appendleft(task)
        else:
            self._complete(task, timeout(deadline, cacheable=not stalled))

    def _replace_dead(self, worker: WorkerProcess) -> None:
        """A worker died by itself. Where none ever judges anything, starting more is no use."""
        self._stop_worker(worker)
        self._idle_deaths += not worker.ready
        if self._idle_deaths >= ATTEMPTS:
            self._idle_deaths = 0
            memory = self._settings.memory
            self._note_failed_start(f"{ATTEMPTS} died at once; is memory={memory} MiB too little?")

    def _stop_worker(self, worker: WorkerProcess, count_death: bool = True) -> None:
        """Stop a worker, or clear up after one that died; its tasks go back to the queue.

        count_death: whether it counts against the pair that the worker was busy with
        """
        del self._workers[worker.number]
        self._selector.unregister(worker.connection)
        worker.connection.close()
        if self._fork_server is not None:
            self._fork_server.send("kill", worker.number)
        if worker.tasks and count_death and self._give_up_if_hopeless(worker.tasks[0], worker):
            worker.tasks.popleft()
        self._queue.extendleft(reversed(worker.tasks))

    def _give_up_if_hopeless(self, task: PairTask, worker: WorkerProcess) -> bool:
        """Complete a pair that had twice its time with workers that died, or saw too many die.

        A pair that had its time has timed out, whatever its workers died of: a verdict should not
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
            self._complete(task, WorkerResult(Status.ERROR.value, "", "", why, task.seconds, False))
            return True
        return False

    def _start_worker(self) -> None:
        """Start a worker; OSError if that is not possible, with nothing left open."""
        if self._fork_server is None:
            self._start_fork_server()
        assert self._fork_server is not None
        here, there = socket.socketpair()
        with there:
            try:
                here.settimeout(self._settings.deadline)  # one that is stopped must not stop us
                self._numbers += 1
                seconds = FORK_SECONDS if self._fork_server.started else FIRST_START_SECONDS
                worker = WorkerProcess(self._numbers, here, due=time.monotonic() + seconds)
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


def _result(status: str, answer: str, gold: str, problem: str, seconds: float) -> WorkerResult:
    """What a worker reports. Its error may have passing causes: no memory, no descriptor."""
    return WorkerResult(status, answer, gold, problem, seconds, cacheable=status != Status.ERROR)


class WorkerPool:
    """The dispatcher, its fork server and its workers.

    trouble: why a worker did not start, as far as an earlier pool knows
    """

    def __init__(self, settings: Settings, trouble: str | None = None) -> None:
        self._inbox = Inbox()
        with contextlib.ExitStack() as opened:
            wake_up, self._wake_up_sender = socket.socketpair()
            opened.callback(wake_up.close)
            opened.callback(self._wake_up_sender.close)
            self._dispatcher = Dispatcher(settings, self._inbox, wake_up, trouble)
            opened.callback(self._dispatcher.abandon)
            run = self._dispatcher.run
            self._thread = threading.Thread(target=run, name="plaudit", daemon=True)
            self._thread.start()
            opened.pop_all()

    @property
    def ended(self) -> bool:
        """Whether it takes no more pairs: it was closed, or its dispatcher failed."""
        return self._inbox.closed

    @property
    def trouble(self) -> str | None:
        """Why a worker did not start; None once one starts, or another has judged something."""
        return self._dispatcher.trouble

    def submit(self, pair: PlainPair) -> "Future[WorkerResult]":
        """A future of the pair's result. Workers take the pairs in chunks."""
        future: Future[WorkerResult] = Future()
        if not self._inbox.put((pair, future)):
            future.set_exception(RuntimeError(self.trouble or "the judge was closed"))
            return future
        try:
            self._wake_up_sender.send(b"!")
        except OSError as error:
            with contextlib.suppress(InvalidStateError):  # the dispatcher may have ended meanwhile
                future.set_exception(RuntimeError(f"the judge cannot be reached: {error}"))
        future.add_done_callback(self._notify_if_cancelled)
        return future

    def _notify_if_cancelled(self, future: "Future[WorkerResult]") -> None:
        if future.cancelled():
            with contextlib.suppress(OSError):  # it may be closed by now
                self._wake_up_sender.send(b"!")

    def close(self, wait: bool = True) -> None:
        """Stop the workers. Items that are not judged by now never will be."""
        self._wake_up_sender.close()
        if wait:
            self._thread.join(timeout=5)

    def abandon(self) -> None:
        """Close what is open, in a process that was forked from the owner: no thread came along."""
        self._wake_up_sender.close()
        self._dispatcher.abandon()
