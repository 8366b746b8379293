"""The local engine: worker processes on this machine, one a core.

A worker that dies is replaced, and its chunk is given out again.
"""

import os
import socket
import subprocess
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait

from plaudit.processes import cores, start_python
from plaudit.scoring._chunks import Chunk
from plaudit.scoring._errors import StoppedError
from plaudit.scoring._folder import AGAIN, GO_ON
from plaudit.scoring._plan import Plan
from plaudit.scoring._score_chunk import ScoredChunk

ATTEMPTS = 3
PATIENCE = 5.0  # seconds
WORKER = "plaudit.scoring._worker"


@dataclass(slots=True)
class Task:
    """A chunk, and how often a worker died on it."""

    chunk: Chunk
    deaths: int = 0


class Worker:
    """A process, and the task that it has, if any."""

    def __init__(self, plan: Plan) -> None:
        with ExitStack() as unless_started:
            here, there = socket.socketpair()
            unless_started.callback(here.close)
            with there:
                descriptor = there.fileno()
                self.process = start_python(WORKER, descriptor, os.getpid(), pass_fds=[descriptor])
            unless_started.pop_all()
        self.connection = Connection(here.detach())
        self.task: Task | None = None
        self._greeting: Plan | None = plan

    def give(self, task: Task) -> bool:
        """Hand over a task, and say whether that went well."""
        self.task = task
        try:
            if self._greeting is not None:
                self.connection.send(self._greeting)
                self._greeting = None
            self.connection.send(task.chunk.packed())
        except OSError:
            return False  # it is gone, or has half of a message: it is of no more use
        return True

    def take(self) -> "ScoredChunk | str | None":
        """The result; None where the worker is dead."""
        try:
            result: ScoredChunk | str = self.connection.recv()
        except (EOFError, OSError):
            return None
        self.task = None
        return result

    def hang_up(self) -> None:
        """Let it know that there is no more to do."""
        self.connection.close()

    def end(self, by_itself: bool) -> int:
        """Make sure that it is gone, and say how it went; one that goes by itself is waited for."""
        self.hang_up()
        if by_itself:
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(PATIENCE)
        self.process.kill()
        return self.process.wait()


def score_locally(
    chunks: Iterator[Chunk], plan: Plan, workers: int | None
) -> Generator[ScoredChunk]:
    """The scored chunks, as they come; `workers` processes, or one a core."""
    pool = _Pool(plan, workers or cores())
    try:
        yield from pool.run(chunks)
    finally:
        pool.close()


class _Pool:
    def __init__(self, plan: Plan, size: int) -> None:
        self._plan = plan
        self._size = size
        self._workers: list[Worker] = []
        self._ready: deque[Task] = deque()  # read ahead, so that no worker waits for the disk

    def run(self, chunks: Iterator[Chunk]) -> Iterator[ScoredChunk]:
        while self._fill(chunks) or self._busy():
            self._hand_out()
            self._fill(chunks)
            busy = [worker.connection for worker in self._busy()]
            for connection in wait(busy) if busy else ():  # none, where all have just died
                worker = next(w for w in self._workers if w.connection is connection)
                result = self._result_of(worker)
                self._fill(chunks)
                self._hand_out()  # first the worker, then the disk
                if result is not None:
                    yield result

    def _busy(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.task is not None]

    def _fill(self, chunks: Iterator[Chunk]) -> bool:
        while len(self._ready) < self._size and (chunk := next(chunks, None)) is not None:
            self._ready.append(Task(chunk))
        return bool(self._ready)

    def _hand_out(self) -> None:
        idle = [worker for worker in self._workers if worker.task is None]
        wanted = min(len(self._ready) - len(idle), self._size - len(self._workers))
        idle += [self._started() for _ in range(wanted)]  # all at once: it takes a second
        for worker in idle[: len(self._ready)]:
            task = self._ready.popleft()
            if not worker.give(task):
                self._bury(worker, task)

    def _started(self) -> Worker:
        try:
            worker = Worker(self._plan)
        except OSError as error:
            fewer = "try fewer --workers. " if self._size > 1 else ""
            why = f"cannot start a worker: {error.strerror}"
            raise StoppedError(f"{why}; {fewer}{GO_ON}") from error
        self._workers.append(worker)
        return worker

    def _result_of(self, worker: Worker) -> ScoredChunk | None:
        task = worker.task
        assert task is not None
        result = worker.take()
        if result is None:
            self._bury(worker, task)
        elif isinstance(result, str):
            rows = _rows_of(task.chunk, self._plan)
            raise StoppedError(f"{rows} cannot be scored: {result}\n{AGAIN}")
        return result

    def _bury(self, worker: Worker, task: Task) -> None:
        self._workers.remove(worker)
        code = worker.end(by_itself=True)  # a kill would hide what it died of
        task.deaths += 1
        if task.deaths >= ATTEMPTS:
            raise StoppedError(
                f"{ATTEMPTS} workers died on {_rows_of(task.chunk, self._plan)}, the last "
                f"{_last_words(code)}. {GO_ON}"
            )
        self._ready.appendleft(task)

    def close(self) -> None:
        for worker in self._workers:
            worker.hang_up()
        for worker in self._workers:
            worker.end(by_itself=worker.task is None)


def _rows_of(chunk: Chunk, plan: Plan) -> str:
    first, last = chunk.blocks[0], chunk.blocks[-1]
    ends = f"line {first.numbers[0]} of {plan.files[first.file]}", f"line {last.numbers[-1]}"
    return f"{ends[0]} to {ends[1]}" + (
        f" of {plan.files[last.file]}" if last.file != first.file else ""
    )


def _last_words(code: int) -> str:
    if code == -9:
        return "by signal 9: perhaps there is too little memory, then try fewer --workers"
    if code < 0:
        return f"by signal {-code}"
    return f"with exit code {code}: something ended the process, such as os._exit in a reward"
