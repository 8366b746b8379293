"""The local engine: chunks in, what some work makes of each out, by one worker process per core.

A worker receives some work and its plan, then chunks, and sends back each result. It is started by
exec, so that it never sees the caller's `__main__`, threads or CUDA. One that dies is replaced, and
another worker gets its chunk.
"""

import gc
import os
import socket
import subprocess
import sys
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any, Generic, Protocol, TypeVar, cast

import pyarrow as pa

from plaudit.judge import configure, shared_judge
from plaudit.processes import cores, die_with_parent, end_process, start_python
from plaudit.scoring._chunks import Chunk
from plaudit.scoring._errors import RESUME_HINT, RETRY_HINT, StoppedError, describe
from plaudit.scoring._folder import score_and_write
from plaudit.scoring._plan import Plan
from plaudit.scoring._score_chunk import ScoredChunk

T = TypeVar("T")

ATTEMPTS = 3
IO_THREADS = 4  # of a worker, for files that are elsewhere
STOP_TIMEOUT = 5.0  # seconds that a worker has to exit by itself
WORKER = "plaudit.scoring._local"


class WorkPlan(Protocol):
    """What every worker is sent first: at least the names of the files, and the judge's limits."""

    @property
    def files(self) -> tuple[str, ...]: ...

    @property
    def limits(self) -> Mapping[str, float]: ...


@dataclass(slots=True)
class Task:
    """A chunk, and how many workers died while they worked on it."""

    chunk: Chunk
    deaths: int = 0


class Worker:
    """A process, and the task that it has, if any."""

    def __init__(self, work: Callable[..., Any], plan: WorkPlan) -> None:
        with ExitStack() as unless_started:
            here, there = socket.socketpair()
            unless_started.callback(here.close)
            with there:
                descriptor = there.fileno()
                self.process = start_python(WORKER, descriptor, os.getpid(), pass_fds=[descriptor])
            unless_started.pop_all()
        self.connection = Connection(here.detach())
        self.task: Task | None = None
        self._unsent: tuple[Callable[..., Any], WorkPlan] | None = (work, plan)

    def send_task(self, task: Task) -> bool:
        """Send a task, and return whether it was sent; work and plan go before the first."""
        self.task = task
        try:
            if self._unsent is not None:
                self.connection.send(self._unsent)
                self._unsent = None
            self.connection.send(task.chunk)
        except OSError:
            return False  # it has died, or received half of a message: it cannot be used any more
        return True

    def receive(self) -> Any:
        """The result, or the text of an error; None if the worker is dead."""
        try:
            result = self.connection.recv()
        except (EOFError, OSError):
            return None
        self.task = None
        return result

    def close_connection(self) -> None:
        """Close the connection, at which the worker exits."""
        self.connection.close()

    def stop(self, wait_first: bool) -> int:
        """Return its exit code, once it has ended: killed, or given time to exit by itself."""
        self.close_connection()
        if wait_first:
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(STOP_TIMEOUT)
        self.process.kill()
        return self.process.wait()


def score_locally(
    chunks: Iterator[Chunk], plan: Plan, workers: int | None
) -> Generator[ScoredChunk]:
    """The scored chunks, in the order in which they are done.

    workers: how many processes; None: one per core
    """
    return process_locally(chunks, plan, score_and_write, workers)


def process_locally(
    chunks: Iterator[Chunk],
    plan: WorkPlan,
    work: Callable[[Chunk, Any], T],
    workers: int | None = None,
    *,
    resume_hint: str = RESUME_HINT,
    retry_hint: str = RETRY_HINT,
) -> Generator[T]:
    """What `work(chunk, plan)` gives for each chunk, in the order in which they are done.

    work: a function of a module, which is called in the workers; what it gives is pickled, and
        is neither text nor None
    workers: how many processes; None: one per core
    resume_hint, retry_hint: what to do after the run had to stop, or after a reward was mended

    >>> from types import SimpleNamespace
    >>> list(process_locally(iter([]), SimpleNamespace(files=("a.jsonl",), limits={}), print))
    []
    """
    pool = _Pool(plan, work, workers or cores(), resume_hint, retry_hint)
    try:
        yield from pool.run(chunks)
    finally:
        pool.close()


class _Pool(Generic[T]):
    def __init__(
        self,
        plan: WorkPlan,
        work: Callable[[Chunk, Any], T],
        size: int,
        resume_hint: str,
        retry_hint: str,
    ) -> None:
        self._plan = plan
        self._work = work
        self._size = size
        self._resume_hint, self._retry_hint = resume_hint, retry_hint
        self._workers: list[Worker] = []
        self._ready: deque[Task] = deque()  # read ahead, so that no worker waits for the disk

    def run(self, chunks: Iterator[Chunk]) -> Iterator[T]:
        while self._fill(chunks) or self._busy():
            self._hand_out()
            self._fill(chunks)
            busy = [worker.connection for worker in self._busy()]
            for connection in wait(busy) if busy else ():  # none, if all have just died
                worker = next(w for w in self._workers if w.connection is connection)
                result = self._result_of(worker)
                self._fill(chunks)
                self._hand_out()  # keep the worker busy while the caller writes
                if result is not None:
                    yield result

    def _busy(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.task is not None]

    def _fill(self, chunks: Iterator[Chunk]) -> bool:
        while len(self._ready) < self._size and (chunk := next(chunks, None)) is not None:
            self._ready.append(Task(chunk.packed()))
        return bool(self._ready)

    def _hand_out(self) -> None:
        idle = [worker for worker in self._workers if worker.task is None]
        wanted = min(len(self._ready) - len(idle), self._size - len(self._workers))
        idle += [self._started() for _ in range(wanted)]  # all at once: each takes a second
        for worker in idle[: len(self._ready)]:
            task = self._ready.popleft()
            if not worker.send_task(task):
                self._replace(worker, task)

    def _started(self) -> Worker:
        try:
            worker = Worker(self._work, self._plan)
        except OSError as error:
            fewer = " Try fewer --workers." if self._size > 1 else ""
            why = f"cannot start a worker: {error.strerror}."
            raise StoppedError(f"{why}{fewer} {self._resume_hint}") from error
        self._workers.append(worker)
        return worker

    def _result_of(self, worker: Worker) -> T | None:
        task = worker.task
        assert task is not None
        result = worker.receive()
        if result is None:
            self._replace(worker, task)
        elif isinstance(result, StoppedError):
            raise result
        elif isinstance(result, str):
            rows = _lines_of(task.chunk, self._plan)
            raise StoppedError(f"{rows} cannot be scored: {result}\n{self._retry_hint}")
        return cast("T | None", result)

    def _replace(self, worker: Worker, task: Task) -> None:
        self._workers.remove(worker)
        code = worker.stop(wait_first=True)  # a kill would hide the exit code that it died with
        task.deaths += 1
        if task.deaths >= ATTEMPTS:
            raise StoppedError(
                f"{ATTEMPTS} workers died while scoring {_lines_of(task.chunk, self._plan)}, "
                f"the last {_how_it_ended(code)}. {self._resume_hint}"
            )
        self._ready.appendleft(task)

    def close(self) -> None:
        for worker in self._workers:
            worker.close_connection()
        for worker in self._workers:
            worker.stop(wait_first=worker.task is None)


def _lines_of(chunk: Chunk, plan: WorkPlan) -> str:
    first, last = chunk.blocks[0], chunk.blocks[-1]
    word = "row" if getattr(plan, "scores_only", False) else "line"
    start = f"{word} {first.numbers[0]} of {plan.files[first.file]}"
    if last.file != first.file:
        return f"{start} to {word} {last.numbers[-1]} of {plan.files[last.file]}"
    is_one = last.numbers[-1] == first.numbers[0]
    return start if is_one else f"{start} to {word} {last.numbers[-1]}"


def _how_it_ended(code: int) -> str:
    if code == -9:
        return "by signal 9: if the machine ran out of memory, try fewer --workers"
    if code < 0:
        return f"by signal {-code}"
    return f"with exit code {code}: something such as os._exit in a reward ended the process"


def main(descriptor: int, parent: int) -> None:
    """Work on chunks until the connection is closed, or the parent has ended."""
    connection = Connection(descriptor)
    die_with_parent(parent)
    os.dup2(2, 1)  # what a reward prints is not output of the command
    try:
        work, plan = connection.recv()
        set_up_worker(plan.limits)
        while True:
            chunk = connection.recv()
            connection.send_bytes(_pickled(result_or_error(work, chunk, plan)))
    except (EOFError, OSError):
        end_process()


def _pickled(result: Any) -> memoryview:
    """What `Connection.send` would send; if it cannot be pickled, the reason, which is text."""
    try:
        return ForkingPickler.dumps(result)
    except Exception as error:  # a user's own class may raise anything
        why = f"{type(result).__name__} cannot be sent to the process that started this one"
        return ForkingPickler.dumps(f"{why}: {describe(error)}")


class _NoPandas:
    """A finder of modules that finds no pandas, whether it is installed or not."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name="pandas")


def leave_pandas_alone() -> None:
    """Keep pyarrow from importing pandas, which takes a second, to see whether a list is a Series.

    Only for processes of plaudit's own. pyarrow asks once; `to_pandas` still imports pandas later.
    """
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)


def set_up_worker(limits: Mapping[str, Any]) -> None:
    """Make this process one worker of many: one thread, one judge process, no repeated warnings."""
    leave_pandas_alone()
    # The summary counts these, once for all workers.
    warnings.filterwarnings("ignore", message="the gold .* is read as", category=UserWarning)
    # The process that started this one has said so.
    warnings.filterwarnings("ignore", message="math-verify .* was not tested", category=UserWarning)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(IO_THREADS)
    gc.set_threshold(200_000, 20, 100)  # a chunk is many objects, none of them in a cycle
    wanted = {**limits, "workers": 1}
    settings = shared_judge().settings
    if any(getattr(settings, name) != value for name, value in wanted.items()):
        configure(**wanted)


def result_or_error(work: Callable[[Any, Any], Any], chunk: Any, plan: Any) -> Any:
    """What the work makes of a chunk, or what went wrong: as text, since not every exception can be
    pickled.

    It catches `SystemExit` too: a reward that calls `sys.exit` must not look like a crash.
    """
    try:
        return work(chunk, plan)
    except StoppedError as error:
        return error
    except BaseException as error:
        return describe(error)
