"""Run a function on every chunk of a table: in worker processes of this machine, or on Ray.

A local worker receives the function and its plan, then chunks, and sends back each result. It is
started by exec, so that it never sees the caller's `__main__`, threads or CUDA. If it dies, another
worker gets its chunk. On Ray, tasks do the same, and Ray retries them.
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
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any, Generic, TypeVar, cast

import pyarrow as pa

import plaudit
from plaudit.judge import configure, shared_judge
from plaudit.processes import cores, die_with_parent, end_process, leave_pandas_alone, start_python
from plaudit.tables.errors import RESUME_HINT, RETRY_HINT, InputError, StoppedError, describe
from plaudit.tables.output import score_and_write
from plaudit.tables.plan import Plan
from plaudit.tables.readers import Chunk
from plaudit.tables.score_chunk import ScoredChunk

T = TypeVar("T")

ATTEMPTS = 3
IO_THREADS = 4  # of a worker, for files that are elsewhere
STOP_TIMEOUT = 5.0  # seconds that a worker has to exit by itself
WORKER = "plaudit.tables.engines"
RETRIES = 10  # of a task of Ray: a node may die for reasons other than its tasks
AHEAD = 2  # tasks of Ray that are sent for each core


def score_locally(
    chunks: Iterator[Chunk], plan: Plan, workers: int | None
) -> Generator[ScoredChunk]:
    """Yield the scored chunks, in the order in which they are done."""
    return process_locally(chunks, plan, score_and_write, workers)


def process_locally(
    chunks: Iterator[Chunk],
    plan: Any,
    work: Callable[[Chunk, Any], T],
    workers: int | None = None,
    *,
    resume_hint: str = RESUME_HINT,
    retry_hint: str = RETRY_HINT,
) -> Generator[T]:
    """Yield what `work(chunk, plan)` returns for each chunk, in the order in which they are done.

    plan: what every worker is sent first; it has `files`, the names of the inputs, and `limits`,
        those of the judge
    work: a function of a module; what it returns is pickled, and is neither text nor None
    """
    pool = _ScoreProcesses(plan, work, workers or cores(), resume_hint, retry_hint)
    try:
        yield from pool.run(chunks)
    finally:
        pool.close()


@dataclass(slots=True)
class _PendingChunk:
    """A chunk, and how many workers died while they worked on it."""

    chunk: Chunk
    deaths: int = 0


class _ScoreProcess:
    """A process, and the task that it has, if any."""

    def __init__(self, work: Callable[..., Any], plan: Any) -> None:
        with ExitStack() as unless_started:
            here, there = socket.socketpair()
            unless_started.callback(here.close)
            with there:
                descriptor = there.fileno()
                self.process = start_python(WORKER, descriptor, os.getpid(), pass_fds=[descriptor])
            unless_started.pop_all()
        self.connection = Connection(here.detach())
        self.task: _PendingChunk | None = None
        self._unsent: tuple[Callable[..., Any], Any] | None = (work, plan)

    def send_task(self, task: _PendingChunk) -> bool:
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
        """Return the result, or the text of an error; None if the worker is dead."""
        try:
            result = self.connection.recv()
        except (EOFError, OSError):
            return None
        self.task = None
        return result

    def stop(self, wait_first: bool) -> int:
        """Return its exit code, once it has ended: killed, or given time to exit by itself."""
        self.connection.close()
        if wait_first:
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(STOP_TIMEOUT)
        self.process.kill()
        return self.process.wait()


@dataclass(slots=True)
class _ScoreProcesses(Generic[T]):
    """Worker processes, and the tasks that wait for one."""

    _plan: Any
    _work: Callable[[Chunk, Any], T]
    _size: int
    _resume_hint: str
    _retry_hint: str
    _workers: list[_ScoreProcess] = field(default_factory=list)
    # Ahead, so that no worker waits for the disk.
    _ready: deque[_PendingChunk] = field(default_factory=deque)

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

    def _busy(self) -> list[_ScoreProcess]:
        return [worker for worker in self._workers if worker.task is not None]

    def _fill(self, chunks: Iterator[Chunk]) -> bool:
        while len(self._ready) < self._size and (chunk := next(chunks, None)) is not None:
            self._ready.append(_PendingChunk(chunk))
        return bool(self._ready)

    def _hand_out(self) -> None:
        idle = [worker for worker in self._workers if worker.task is None]
        wanted = min(len(self._ready) - len(idle), self._size - len(self._workers))
        idle += [self._started() for _ in range(wanted)]  # all at once: each takes a second
        for worker in idle[: len(self._ready)]:
            task = self._ready.popleft()
            if not worker.send_task(task):
                self._replace(worker, task)

    def _started(self) -> _ScoreProcess:
        try:
            worker = _ScoreProcess(self._work, self._plan)
        except OSError as error:
            fewer = " Try fewer --workers." if self._size > 1 else ""
            why = f"cannot start a worker: {error.strerror}."
            raise StoppedError(f"{why}{fewer} {self._resume_hint}") from error
        self._workers.append(worker)
        return worker

    def _result_of(self, worker: _ScoreProcess) -> T | None:
        task = cast("_PendingChunk", worker.task)
        result = worker.receive()
        if result is None:
            self._replace(worker, task)
        elif isinstance(result, StoppedError):
            raise result
        elif isinstance(result, str):
            rows = _rows_of(task.chunk, self._plan)
            raise StoppedError(f"{rows} cannot be scored: {result}\n{self._retry_hint}")
        return cast("T | None", result)

    def _replace(self, worker: _ScoreProcess, task: _PendingChunk) -> None:
        self._workers.remove(worker)
        code = worker.stop(wait_first=True)  # a kill would hide the exit code that it died with
        task.deaths += 1
        if task.deaths >= ATTEMPTS:
            raise StoppedError(
                f"{ATTEMPTS} workers died while scoring {_rows_of(task.chunk, self._plan)}, "
                f"the last {_how_it_ended(code)}. {self._resume_hint}"
            )
        self._ready.appendleft(task)

    def close(self) -> None:
        for worker in self._workers:
            worker.connection.close()
        for worker in self._workers:
            worker.stop(wait_first=worker.task is None)


def _rows_of(chunk: Chunk, plan: Any) -> str:
    """Return what a message calls the rows of a chunk."""
    if chunk.range is not None:
        where = chunk.range
        name = plan.files[where.file]
        word = "row groups" if name.endswith(".parquet") else "bytes"
        return f"{word} {where.start:,} to {where.end:,} of {name}"
    if chunk.block is None or not len(chunk.block):
        return "no rows"
    first, last = chunk.block.numbers[0], chunk.block.numbers[-1]
    word = "row" if getattr(plan, "scores_only", False) else "line"
    start = f"{word} {first} of {plan.files[chunk.block.file]}"
    return start if first == last else f"{start} to {word} {last}"


def _how_it_ended(code: int) -> str:
    if code == -9:
        return "by signal 9: if the machine ran out of memory, try fewer --workers"
    if code < 0:
        return f"by signal {-code}"
    return f"with exit code {code}: something such as os._exit in a reward ended the process"


# --- in a worker ----------------------------------------------------------------------------------


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
    """Pickle as `Connection.send` does; if that fails, the reason, which is text."""
    try:
        return ForkingPickler.dumps(result)
    except Exception as error:  # a user's own class may raise anything
        why = f"{type(result).__name__} cannot be sent to the process that started this one"
        return ForkingPickler.dumps(f"{why}: {describe(error)}")


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
    """Return the result for a chunk, or what went wrong: as text, since exceptions may not pickle.

    It catches `SystemExit` too: a reward that calls `sys.exit` must not look like a crash.
    """
    try:
        return work(chunk, plan)
    except StoppedError as error:
        return error
    except BaseException as error:
        return describe(error)


# --- Ray ------------------------------------------------------------------------------------------


def score_on_ray(
    chunks: Iterator[Chunk], plan: Plan, workers: int | None, address: str | None
) -> Generator[ScoredChunk]:
    """Yield the scored chunks, in the order in which they are done.

    Tasks rather than `ray.data`, which sizes its blocks by the cluster: which rows make a part must
    not depend on it. Files of this machine are read here, since a node need not see them; ranges of
    files in the storage of a cluster are read by the tasks.

    address: the cluster to use; None: the one that RAY_ADDRESS names, or one that is started here
    """
    try:
        import ray
    except ImportError as error:
        raise InputError("--engine ray needs Ray: pip install 'plaudit[ray]'") from error
    is_mine = not ray.is_initialized()
    if is_mine:
        _connect(ray, address or os.environ.get("RAY_ADDRESS") or "local")
    try:
        yield from _scored_by_tasks(ray, chunks, plan, workers)
    finally:
        if is_mine:
            ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    _check_answers(address)
    # A running cluster has its settings; and without "local", Ray would join any that it finds.
    own = {"include_dashboard": False} if address == "local" else {}
    try:
        ray.init(address=address, log_to_driver=False, **own)
    except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        raise InputError(f"cannot reach Ray at {address}: {error}") from error


def _check_answers(address: str) -> None:
    """Raise InputError if nobody listens at an address: Ray itself would try for many minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"cannot reach Ray at {address}: {error}") from error


def _scored_by_tasks(
    ray: Any, chunks: Iterator[Chunk], plan: Plan, workers: int | None
) -> Iterator[ScoredChunk]:
    score = ray.remote(max_retries=RETRIES, num_cpus=1)(score_in_task)
    shared = ray.put(plan)
    pending: list[Any] = []
    try:
        while True:
            most = workers or AHEAD * int(ray.cluster_resources().get("CPU", 1))
            while len(pending) < most and (chunk := next(chunks, None)) is not None:
                if chunk.range is not None and not plan.inputs[chunk.range.file].url:
                    chunk = chunk.loaded(plan.inputs)
                pending.append(score.remote(chunk, shared, plaudit.__version__, sys.path))
            if not pending:
                return
            done, pending = ray.wait(pending, num_returns=1)
            if pending:  # all that are done, since to ask takes longer the more are pending
                more, pending = ray.wait(pending, num_returns=len(pending), timeout=0)
                done += more
            for reference in done:
                yield _result(ray, reference)
    finally:
        for task in pending:  # a run that has stopped must not write into the next run's folder
            with suppress(ray.exceptions.RayError):  # Ray is gone, and so are they
                ray.cancel(task, force=True)


def _result(ray: Any, reference: Any) -> Any:
    try:
        result = ray.get(reference)
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[-1]
        raise StoppedError(f"Ray could not run a task: {reason}. {RESUME_HINT}") from error
    if isinstance(result, StoppedError):
        raise result
    if isinstance(result, str):
        raise StoppedError(f"a chunk cannot be scored: {result}\n{RETRY_HINT}")
    return result


def score_in_task(
    chunk: Chunk, plan: Plan, version: str, path: list[str]
) -> ScoredChunk | str | StoppedError:
    """Score a chunk on whichever node; a user's own rewards may be on `path`."""
    sys.path += [entry for entry in path if entry not in sys.path]
    if plaudit.__version__ != version:
        return f"the node has plaudit {plaudit.__version__}, this machine has {version}"
    set_up_worker(plan.limits)
    result: ScoredChunk | str | StoppedError = result_or_error(score_and_write, chunk, plan)
    return result
