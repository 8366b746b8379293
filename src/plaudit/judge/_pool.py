"""Killable workers, shared by every reward of a process.

One thread, the dispatcher, owns all sockets: it hands items to workers, watches their deadlines,
kills what runs over and starts anew. Callers only ever wait on a future, so they may be threads,
an event loop or both. Nothing here uses signals, and no thread is ever left behind with work.
"""

import contextlib
import json
import os
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from plaudit.judge._settings import Settings
from plaudit.judge._verdict import Status
from plaudit.judge._wire import Frames, pack

CHUNK = 8  # items handed to a worker at once: the wire costs more than the work otherwise
ATTEMPTS = 100  # a worker may die through no fault of its item: a kill from outside
START_ATTEMPTS = 3
A_MOMENT = 0.1  # seconds for an item that is not wanted any more: a new worker costs as much
NURSERY = (
    "import json, sys\n"
    "sys.path[:] = json.loads(sys.argv[1])\n"
    "from plaudit.judge._nursery import main\n"
    "main(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))\n"
)

Item = tuple[Any, ...]
Outcome = tuple[str, str, str, float]
Inbox = deque[tuple[Item, "Future[Outcome]"]]


@dataclass(eq=False)
class Task:
    """One item on its way, for whoever asked: how many workers died on it, after how many seconds
    of work."""

    item: Item
    futures: "list[Future[Outcome]]"
    deaths: int = 0
    seconds: float = 0.0

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
    frames: Frames = field(default_factory=Frames)
    ready: bool = False
    tasks: deque[Task] = field(default_factory=deque)
    due: float = float("inf")  # when the item that it works on must be done


class Pool:
    """The dispatcher, its nursery and its workers.

    >>> pool = Pool(Settings(workers=1))
    >>> pool.submit(((("number", "2", False),), (("arithmetic", "4/2"),), "latex")).result()[:3]
    ('equal', '2', '4/2')
    >>> pool.close()
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._inbox: Inbox = deque()
        self._alarm, self._alarm_sender = socket.socketpair()
        self._closed = False
        self._dispatcher = Dispatcher(settings, self._inbox, self._alarm)
        self._thread = threading.Thread(target=self._dispatcher.run, name="plaudit", daemon=True)
        self._thread.start()

    def submit(self, item: Item) -> "Future[Outcome]":
        """A future of the item's outcome. Workers take what waits in chunks."""
        future: Future[Outcome] = Future()
        self._inbox.append((item, future))
        self._alarm_sender.send(b"!")
        future.add_done_callback(self._hear_of_cancellation)
        return future

    def _hear_of_cancellation(self, future: "Future[Outcome]") -> None:
        if future.cancelled():
            with contextlib.suppress(OSError):  # it may be closed by now
                self._alarm_sender.send(b"!")

    def close(self) -> None:
        """Stop the workers. What was not judged by now never will be."""
        if not self._closed:
            self._closed = True
            self._alarm_sender.close()
            self._thread.join(timeout=5)

    def abandon(self) -> None:
        """Forget it all, in a process forked from the one that owns it: no thread came along."""
        self._closed = True
        self._alarm_sender.close()
        self._dispatcher.abandon()


class Dispatcher:
    """What the thread runs. Its state is touched by no other thread."""

    def __init__(self, settings: Settings, inbox: Inbox, alarm: socket.socket) -> None:
        self._settings = settings
        self._inbox = inbox
        self._alarm = alarm
        self._queue: deque[Task] = deque()
        self._pending: dict[Item, Task] = {}  # every item that waits, or that a worker has
        self._workers: dict[int, Worker] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(alarm, selectors.EVENT_READ)
        self._nursery: NurseryProcess | None = None
        self._starts = 0
        self._idle_deaths = 0  # workers that died without ever having judged anything
        self._numbers = 0
        self._open = True

    def run(self) -> None:
        try:
            while self._open:
                self._hand_out()
                for key, _ in self._selector.select(self._patience()):
                    self._hear(key)
                self._hurry_unwanted()
                self._kill_overdue()
        except BaseException as error:
            self._fail_all(error)
            raise
        finally:
            self._stop_nursery()
            self._fail_all(RuntimeError("the judge was closed while it worked"))

    def abandon(self) -> None:
        """Close the copies of the sockets that a fork made."""
        self._alarm.close()
        for worker in self._workers.values():
            worker.connection.close()
        if self._nursery is not None:
            self._nursery.control.close()

    def _hear(self, key: selectors.SelectorKey) -> None:
        if key.fileobj is self._alarm:
            self._open = bool(self._alarm.recv(4096))
            while self._inbox:
                self._take(*self._inbox.popleft())
        elif isinstance(key.data, Worker):
            if key.data.number in self._workers:  # it may have been buried a moment ago
                self._hear_worker(key.data)
        elif self._nursery is not None and key.fileobj is self._nursery.control:
            self._hear_nursery(self._nursery)

    def _take(self, item: Item, future: "Future[Outcome]") -> None:
        """Queue an item, or join those who wait for it already."""
        task = self._pending.get(item)
        if task is not None and task.wanted:
            task.futures.append(future)
            return
        self._pending[item] = task = Task(item, [future])
        self._queue.append(task)

    def _settle(self, task: Task, outcome: Outcome) -> None:
        self._drop(task)
        task.settle(outcome)

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
                self._settle(worker.tasks.popleft(), frame)
                self._idle_deaths = 0
            worker.ready = True
        worker.due = self._due() if worker.tasks else float("inf")

    def _hear_nursery(self, nursery: "NurseryProcess") -> None:
        frames = nursery.hear()
        if frames is None:
            self._restart(nursery.last_words())
            return
        for frame in frames:
            self._starts = 0
            if frame == "ready":
                continue
            what, about = frame
            if what == "failed":
                self._stop_nursery()
                self._fail_all(ImportError(about))
            elif about in self._workers:
                self._mourn(self._workers[about])

    def _hand_out(self) -> None:
        """Give the idle workers what waits, and start more of them where it is worth it."""
        while self._queue and not self._queue[0].wanted:
            self._drop(self._queue.popleft())
        for worker in list(self._workers.values()):
            if self._queue and worker.ready and not worker.tasks:
                self._give(worker)
        starting = sum(not worker.ready for worker in self._workers.values())
        wanted = min(self._settings.workers, len(self._workers) - starting + len(self._queue))
        while self._queue and len(self._workers) < wanted:
            self._spawn()

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
        worker.due = self._due()
        try:
            worker.connection.sendall(pack([task.item for task in worker.tasks]))
        except OSError:
            self._bury(worker)

    def _due(self) -> float:
        return time.monotonic() + self._settings.deadline

    def _patience(self) -> float | None:
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
            outcome = (Status.TIMEOUT.value, "", "", self._settings.deadline)
            self._settle(worker.tasks.popleft(), outcome)
            self._bury(worker, to_blame=False)

    def _mourn(self, worker: Worker) -> None:
        """A worker died of itself. Where none ever gets to work, there is no use in more."""
        self._bury(worker)
        self._idle_deaths += not worker.ready
        if self._idle_deaths >= ATTEMPTS:
            self._idle_deaths = 0
            self._fail_all(RuntimeError(f"{ATTEMPTS} of the judge's workers died at the start"))

    def _bury(self, worker: Worker, to_blame: bool = True) -> None:
        """A worker is gone or must go: what it had waits again, the item it worked on counted."""
        del self._workers[worker.number]
        self._selector.unregister(worker.connection)
        worker.connection.close()
        if self._nursery is not None:
            self._nursery.tell("kill", worker.number)
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
            self._settle(task, (Status.TIMEOUT.value, "", "", deadline))
            return True
        if task.deaths >= ATTEMPTS:
            why = f"{task.deaths} workers died on it"
            self._settle(task, (Status.ERROR.value, why, "", task.seconds))
            return True
        return False

    def _spawn(self) -> None:
        if self._nursery is None:
            self._nursery = NurseryProcess(self._settings)
            self._selector.register(self._nursery.control, selectors.EVENT_READ)
        here, there = socket.socketpair()
        here.settimeout(self._settings.deadline)  # a worker that was stopped must not stop us
        self._numbers += 1
        worker = Worker(self._numbers, here)
        self._workers[worker.number] = worker
        self._selector.register(here, selectors.EVENT_READ, worker)
        self._nursery.tell("spawn", worker.number, there)
        there.close()

    def _restart(self, last_words: str) -> None:
        """The nursery is gone, and its workers with it: start anew, but not for ever."""
        self._stop_nursery()
        self._starts += 1
        if self._starts >= START_ATTEMPTS:
            self._starts = 0
            self._fail_all(RuntimeError(f"the judge's workers do not start: {last_words}"))

    def _stop_nursery(self) -> None:
        if self._nursery is not None:
            self._selector.unregister(self._nursery.control)
            self._nursery.close()
            self._nursery = None
        for worker in list(self._workers.values()):
            self._bury(worker)

    def _fail_all(self, error: BaseException) -> None:
        while self._inbox:
            self._take(*self._inbox.popleft())
        tasks = [*self._pending.values()]
        self._queue.clear()
        self._pending.clear()
        for task in tasks:
            task.fail(error)


class NurseryProcess:
    """The nursery as seen from here: a process started by exec, and a socket to it."""

    def __init__(self, settings: Settings) -> None:
        self.control, theirs = socket.socketpair()
        self._errors: IO[bytes] = TemporaryFile()  # noqa: SIM115 - closed with the nursery
        self._frames = Frames()
        limits = str(settings.deadline), str(int(settings.memory) << 20)
        path = json.dumps([str(Path(entry).absolute()) for entry in sys.path])
        arguments = path, str(theirs.fileno()), str(os.getpid()), *limits
        self._process = subprocess.Popen(
            [sys.executable, "-c", NURSERY, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # Ctrl-C in the terminal is the trainer's affair
            env={**os.environ, "PYTHONHASHSEED": "0"},  # the same order of sets everywhere
        )
        theirs.close()

    def tell(self, order: str, number: int, attached: socket.socket | None = None) -> None:
        """Send an order; a nursery that is gone is noticed by its closed socket."""
        descriptors = [attached.fileno()] if attached else []
        with contextlib.suppress(OSError):
            socket.send_fds(self.control, [pack((order, number))], descriptors)

    def hear(self) -> list[Any] | None:
        """What it says; None when it is gone."""
        try:
            data = self.control.recv(65536)
        except OSError:
            return None
        return list(self._frames.feed(data)) if data else None

    def last_words(self) -> str:
        """The end of what it wrote before it went."""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no word of why"

    def close(self) -> None:
        """Closing its socket makes it end, and its workers with it."""
        self.control.close()
        self._errors.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
