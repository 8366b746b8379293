"""A deadline for a user's reward: what hangs has no value, and the other rows keep theirs.

A plain function is called in a process of its own. If a batch is not done in half of the deadline,
the call is killed. The rows are then scored in parts, several at a time, without the row that hung;
a part that hangs is cut into smaller ones. A coroutine function is cancelled. A function that no
other process can import, such as a closure over a model, is called in the caller's thread, and a
warning says which row hangs.

    parent -> process   the component, once; then a socket and a file for each fork, and the id of
                        each fork that was killed
    process -> parent   "" once the reward is imported, or why it cannot be
    parent -> fork      the arguments of a call
    fork -> parent      its process id, once; then what came of each call

The process is started by exec, so no lock that a thread of the trainer holds is locked in it. It
imports the reward, which may take a second, and forks, which takes milliseconds. A fork is called
and, if it hangs, killed. It writes the row that the reward reads into memory that the parent can
see: after a kill, that is most likely the row which hangs.
"""

import atexit
import contextlib
import mmap
import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, SupportsIndex

from plaudit.processes import adopt_orphans, die_with_parent, start_python
from plaudit.recipes.bound_reward import RewardLimits
from plaudit.scores import Score
from plaudit.scores.decorators import HOOKS, groups_of, rows_at

if TYPE_CHECKING:
    from plaudit.recipes.component import Component

IMPORT_SECONDS = 60.0  # for a new process, before the clock of a batch starts
FORK_SECONDS = 10.0
NO_ROW = -1
IDLE = 2  # forks that are kept for the next call
ORPHANS = 100  # how often orphans are looked for
LOOKS = 8  # how often a call that takes all its time is looked at
_INDEX = 8  # bytes
LOGS = ("log_extra", "log_metric")  # hooks of a trainer that are called once the reward returned
FORK = 0  # the message that asks for a fork; any other is the id of one that was killed


@dataclass(frozen=True)
class Failure:
    """A call that gave nothing."""

    status: str  # of the rows that are to blame: "timeout", "limit" or "error"
    why: str  # one sentence for a person
    row: int  # the row that the reward read last; NO_ROW if that is not known


@dataclass(frozen=True)
class Returned:
    """What a call gave: what the reward returned, and what it logged with the trainer's hooks."""

    values: list[Any]
    logs: list[tuple[str, str, Any]]


class RewardProcess:
    """The process of a component, and the forks of it that are called, from any thread.

    memory: the MiB that a call may allocate; 0 for no limit
    """

    def __init__(self, component: "Component", memory: int) -> None:
        self._memory = memory
        self._is_ready = False
        self._lock = threading.Lock()
        self._idle: list[_Fork] = []
        self._control, there = socket.socketpair()
        with there:
            fd = there.fileno()
            self._process = start_python(__name__, os.getpid(), fd, memory, pass_fds=[fd])
        self._messages = Connection(os.dup(self._control.fileno()))
        self._messages.send(component)

    def wait_until_ready(self) -> None:
        """Wait until the reward is imported; raise RuntimeError if it cannot be."""
        if self._is_ready:
            return
        with self._lock:
            problem = "" if self._is_ready else self._import_problem()
            self._is_ready = not problem
        if problem:
            self.close()
            raise RuntimeError(f"the reward cannot be called in a process of its own: {problem}")

    def _import_problem(self) -> str:
        try:
            is_there = self._messages.poll(IMPORT_SECONDS)
            problem = self._messages.recv() if is_there else "its module takes too long to import"
        except (EOFError, OSError):
            problem = f"the process ended with the code {self._process.wait()}"
        return str(problem)

    def call(self, arguments: bytes, end: float, stall: float) -> Returned | Failure:
        """Return what the reward returns; raise what it raises.

        arguments: pickled
        end: when the call must be done, by `time.monotonic`
        stall: seconds that it may stay at one row
        """
        fork = None
        try:
            fork = self._fork(end)
            kind, returned = fork.call(arguments, end, stall)
        except TimeoutError as error:
            return self._failed(fork, "timeout", str(error))
        except (EOFError, OSError):
            return self._failed(fork, "error", "It ended its process.")
        if kind == "memory":
            return self._failed(
                fork, "limit", f"It needs more than {self._memory:,} MiB of memory."
            )
        with self._lock:
            is_kept = len(self._idle) < IDLE
            self._idle += [fork] if is_kept else []
        if not is_kept:
            fork.close()  # at which it ends
        if kind == "raised":
            raise returned
        return Returned(*returned)

    def _fork(self, end: float) -> "_Fork":
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if time.monotonic() > end:
                raise TimeoutError("There was no time left for it, since other rows hung.")
            return _Fork(self._control)

    def _failed(self, fork: "_Fork | None", status: str, why: str) -> Failure:
        row = NO_ROW
        if fork is not None:
            row = fork.row
            fork.kill()
            with self._lock, contextlib.suppress(OSError):  # it has ended
                self._control.send(_message(fork.pid))
        return Failure(status, why, row)

    @property
    def has_ended(self) -> bool:
        """Whether it was closed, or has ended by itself."""
        return self._messages.closed or self._process.poll() is not None

    def close(self) -> None:
        """End the process, and what it started."""
        for fork in self._idle:
            fork.kill()
        self.abandon()  # at which it kills what its forks have left, and ends
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def abandon(self) -> None:
        """Close what this process has open of it, which is all to do after a fork."""
        for fork in self._idle:
            fork.close()
        self._idle = []
        self._messages.close()
        self._control.close()


class _Fork:
    """A fork of the process, as the parent sees it; EOFError or OSError if there is none."""

    def __init__(self, control: socket.socket) -> None:
        here, there = socket.socketpair()
        self.connection = Connection(here.detach())
        with there, TemporaryFile() as file:
            file.truncate(_INDEX)
            self._shown = mmap.mmap(file.fileno(), _INDEX)
            socket.send_fds(control, [_message(FORK)], [there.fileno(), file.fileno()])
        if not self.connection.poll(FORK_SECONDS):
            raise OSError("it does not fork")
        self.pid: int = self.connection.recv()

    def call(self, arguments: bytes, end: float, stall: float) -> tuple[str, Any]:
        """Return what came of a call; raise TimeoutError if that is nothing."""
        self._shown[:] = _message(NO_ROW)
        self.connection.send_bytes(arguments)
        start = since = time.monotonic()
        row = NO_ROW
        while (now := time.monotonic()) < end:
            if self.row != row:
                row, since = self.row, now
            elif now - since > stall:
                raise TimeoutError(f"It was stopped after {now - since:.3g} s at one row.")
            if self.connection.poll(min(end - now, stall / LOOKS)):
                kind, returned = self.connection.recv()
                return kind, returned
        raise TimeoutError(f"It was stopped after {now - start:.3g} s.")

    @property
    def row(self) -> int:
        """The row that the reward read last."""
        return int.from_bytes(self._shown[:], "little", signed=True)

    def kill(self) -> None:
        """Kill it, and what it started: it leads a group of its own."""
        self.close()
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close what this process has open of it."""
        self.connection.close()
        self._shown.close()


class WatchedRows(list[Any]):
    """A list that notes which of its entries was read last."""

    def __init__(self, rows: Sequence[Any], note: Any) -> None:
        super().__init__(rows)
        self._note = note

    def __iter__(self) -> Any:
        for row, entry in enumerate(super().__iter__()):
            self._note(row)
            yield entry

    def __getitem__(self, at: SupportsIndex | slice) -> Any:
        if not isinstance(at, slice):
            self._note(at.__index__() % max(len(self), 1))
        return super().__getitem__(at)

    def __reduce__(self) -> Any:
        return list, (list.copy(self),)


# --- what runs in the process ---------------------------------------------------------------------


def main(parent: int, descriptor: int, memory: int) -> None:
    """Receive a component and import its reward; then fork for each socket that comes."""
    control = socket.socket(fileno=descriptor)
    messages = Connection(os.dup(descriptor))
    die_with_parent(parent)
    try:
        component = messages.recv()
        bound = component.bound  # imports the reward's module
    except Exception as error:
        messages.send(f"{type(error).__name__}: {error}"[:300])
        return
    messages.send("")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # forks leave no zombies
    adopt_orphans()
    # What the module has started when it was imported lives as long as the process.
    process, known = os.getpid(), set(_children())
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, _INDEX, 2)
        if data != _message(FORK):
            _kill_orphans(int.from_bytes(data, "little"), known if data else set())
            if not data:
                return
            continue
        if pid := os.fork():
            known.add(pid)
            for one in descriptors:
                os.close(one)
            continue
        try:
            os.setpgid(0, 0)
            die_with_parent(process)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            messages.close()
            _limit_memory(memory)
            shown = mmap.mmap(descriptors[1], _INDEX)
            os.close(descriptors[1])
            _serve(bound, Connection(descriptors[0]), shown)
        finally:
            os._exit(0)


def _message(number: int) -> bytes:
    return number.to_bytes(_INDEX, "little", signed=True)


def _kill_orphans(killed: int, known: set[int]) -> None:
    """Kill what a fork that was killed has started, in whatever session."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(killed, 0)  # then its children are those of this process
    for _ in range(ORPHANS):
        orphans = set(_children()) - known
        for pid in orphans:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not orphans:
            break
        time.sleep(0.001)  # then their children are orphans
    known &= set(_children())


def _children() -> Iterator[int]:
    with contextlib.suppress(OSError):  # not on Linux
        for task in Path("/proc/self/task").iterdir():
            yield from map(int, (task / "children").read_text().split())


def _serve(bound: Any, connection: Connection, shown: mmap.mmap) -> None:
    connection.send(os.getpid())
    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.send(_called(bound, connection.recv(), shown))


def _called(bound: Any, arguments: Mapping[str, Any], shown: mmap.mmap) -> tuple[str, Any]:
    def note(row: int) -> None:
        shown[:] = _message(row)

    completions, logs = arguments["completions"], list[tuple[str, str, Any]]()
    # A hook is sent as its name.
    hooks = {hook: _hook(hook, logs) for hook in LOGS if hook in arguments}
    try:
        passed = {**arguments, **hooks, "completions": WatchedRows(completions, note)}
        returned = bound.function(**passed)
        plain = isinstance(returned, list) and all(type(one) is float for one in returned)
        # Numbers of another type and other faults are found here, as they would be in the caller.
        values = returned if plain else bound.checked(len(completions), returned)
        return "returned", (values, logs)
    except MemoryError:
        return "memory", None
    except BaseException as error:  # SystemExit too
        return "raised", _sendable(error)


def _hook(hook: str, logs: list[tuple[str, str, Any]]) -> Any:
    def log(name: str, value: Any) -> None:
        with contextlib.suppress(Exception):  # what cannot be sent is not logged
            pickle.dumps(value)
            logs.append((hook, name, value))

    return log


def _sendable(error: BaseException) -> BaseException:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}"[:1000])
    return error


def _limit_memory(memory: int) -> None:
    """Have the kernel refuse what goes beyond the memory that the process has now."""
    if not memory or sys.platform != "linux":
        return
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = now + (memory << 20)
    if hard == resource.RLIM_INFINITY or wanted < hard:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


# --- the deadline of a batch ----------------------------------------------------------------------

FIRST = 0.5  # share of the deadline for the whole batch; the rest is for its parts
STALL = 1 / 8  # share of the deadline that a part may stay at one row: four hang one after another
PARTS = 16  # into which rows are cut, and as many are scored at the same time


# --- plain functions ------------------------------------------------------------------------------


def scores_in_time(
    component: "Component", arguments: Mapping[str, Any], limits: RewardLimits
) -> list[Score]:
    """Return the scores of a batch; rows that hang, or end the process, have no value."""
    if isinstance(component.reward, str) and not component.reward.startswith("__main__:"):
        sent = {n: value for n, value in arguments.items() if n not in HOOKS}
        sent |= {name: name for name in LOGS if name in arguments}
        try:
            pickled = pickle.dumps(sent, pickle.HIGHEST_PROTOCOL)
        except Exception:  # a column may hold anything
            pickled = b""
        if pickled:
            batch = _TimedBatch(component, sent, limits)
            scores = batch.scores(pickled)
            for hook, name, value in batch.logs:
                arguments[hook](name, value)
            return scores
    return _watched(component, arguments, limits)


def _units_of(component: "Component", arguments: Mapping[str, Any]) -> list[list[int]]:
    """Return the rows that are scored together: those of a group, or each alone."""
    count = len(arguments["completions"])
    if component.bound.declaration.scope == "group":
        return groups_of(arguments, count)
    return [[row] for row in range(count)]


class _TimedBatch:
    """A batch that is scored in processes, until its deadline.

    logs: what the reward logged: the hook of the trainer, the name and the value. A reward that
        was called with parts of the batch has logged nothing
    """

    def __init__(
        self, component: "Component", arguments: Mapping[str, Any], limits: RewardLimits
    ) -> None:
        assert limits.deadline is not None
        self._component, self._memory = component, limits.memory or 0
        self._arguments, self._deadline = arguments, limits.deadline
        self._count = len(arguments["completions"])
        self._units = _units_of(component, arguments)
        # If each is a part of its own, none waits for another.
        self._stall = self._deadline * (STALL if len(self._units) > PARTS else 1.0)
        self._scores: dict[int, Score] = {}
        self._start = time.monotonic()
        self._end = self._start + self._deadline
        self.logs: list[tuple[str, str, Any]] = []

    def scores(self, pickled: bytes) -> list[Score]:
        """Return the score of each row; `pickled` are the arguments."""
        # What cannot be cut has all the time: many trainers score row by row.
        first = self._deadline * (FIRST if len(self._units) > 1 else 1.0)
        returned = self._called(pickled, self._count, first)
        if not isinstance(returned, Failure):
            return returned
        self._score_parts(self._parts(list(range(len(self._units))), returned))
        return [self._scores[row] for row in range(self._count)]

    def _score_parts(self, parts: list[list[int]]) -> None:
        """Score the parts of a batch, and the parts of those that fail."""
        with ThreadPoolExecutor(PARTS, "plaudit-reward") as pool:
            waiting: set[Future[list[list[int]]]] = set()
            while parts or waiting:
                waiting |= {pool.submit(self._score_part, part) for part in parts}
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                parts = [part for one in done for part in one.result()]

    def _score_part(self, part: list[int]) -> list[list[int]]:
        """Score some units; return the parts of them that are to be scored again."""
        rows = [row for unit in part for row in self._units[unit]]
        if time.monotonic() > self._end:
            why = f"It was not scored within {self._deadline:g} s, since other rows hung."
            self._fail(rows, Failure("timeout", why, NO_ROW))
            return []
        fixed = {n: v for n, v in self._arguments.items() if n in self._component.bound.fixed}
        some = rows_at(self._arguments, rows, self._count) | fixed
        pickled = pickle.dumps(some, pickle.HIGHEST_PROTOCOL)
        returned = self._called(pickled, len(rows), self._stall)
        if isinstance(returned, Failure):
            return self._parts(part, returned)
        self._scores |= dict(zip(rows, returned, strict=True))
        return []

    def _called(self, pickled: bytes, count: int, stall: float) -> list[Score] | Failure:
        """Return the scores of some rows; the call may stay at one row for `stall` seconds."""
        process = _processes.of_this_process().of(self._component, self._memory)
        start = time.monotonic()
        process.wait_until_ready()
        self._end += time.monotonic() - start  # its imports are no fault of the batch
        is_first = count == self._count
        end = min(self._end, time.monotonic() + stall) if is_first else self._end
        returned = process.call(pickled, end, stall)
        if isinstance(returned, Failure):
            return returned
        if is_first:
            self.logs = returned.logs
        return self._component.bound.checked(count, returned.values)

    def _parts(self, part: list[int], failure: Failure) -> list[list[int]]:
        """Blame a unit for a failure if it is known; return the parts of the others."""
        rows = [unit for unit in part for _ in self._units[unit]]
        # The last row was read if the reward reads all rows before it scores one.
        is_known = NO_ROW < failure.row < len(rows) - 1
        if is_known or len(part) == 1:
            culprit = rows[failure.row] if is_known else part[0]
            self._fail(self._units[culprit], failure)
            part = [unit for unit in part if unit != culprit]
        size = -(-len(part) // PARTS)
        return [part[at : at + size] for at in range(0, len(part), size or 1)]

    def _fail(self, rows: Sequence[int], failure: Failure) -> None:
        label, taken = self._component.bound.label, time.monotonic() - self._start
        status, why = failure.status, failure.why
        score = Score(None, why, decided_by=label, status=status, problem=why, seconds=taken)
        self._scores |= dict.fromkeys(rows, score)


class _Processes:
    """The processes of rewards, one for each component, kept for the next batch.

    The kernel kills a process when the thread that started it ends, so one thread, which lives as
    long as this process, starts them all.
    """

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._known: dict[tuple[str, str, int], RewardProcess] = {}
        self._lock = threading.Lock()
        self._starter = ThreadPoolExecutor(1, "plaudit-reward-processes")

    def of(self, component: "Component", memory: int) -> RewardProcess:
        """Return the process of a component."""
        key = repr(component), component.folder, memory
        with self._lock:
            process = self._known.get(key)
            if process is None or process.has_ended:
                process = self._starter.submit(RewardProcess, component, memory).result()
                self._known[key] = process
            return process

    def close(self) -> None:
        """End all of them."""
        if self._owner == os.getpid():
            for process in self._known.values():
                process.close()
            self._known = {}

    def of_this_process(self) -> "_Processes":
        """Return itself; after a fork, others: these are the parent's."""
        if self._owner != os.getpid():
            for process in self._known.values():
                process.abandon()
            self.__init__()  # type: ignore[misc]
        return self


_processes = _Processes()
atexit.register(_processes.close)


# --- functions that stay in this process ----------------------------------------------------------


def _watched(
    component: "Component", arguments: Mapping[str, Any], limits: RewardLimits
) -> list[Score]:
    """Call a function in this thread; warn if it is not done in time."""
    bound, last = component.bound, [0]
    rows = WatchedRows(arguments["completions"], lambda row: last.__setitem__(0, row))
    start = time.monotonic()

    def warn() -> None:
        message = (
            f"plaudit: {component.name} ({component.reference}) has not returned for "
            f"{time.monotonic() - start:.3g} s; it reads row {last[0]}. It cannot be stopped, "
            "since no other process can import it: put it into a module"
        )
        print(message, file=sys.stderr, flush=True)
        warnings.warn(message, RuntimeWarning, stacklevel=2)

    timer = threading.Timer(limits.deadline or 0.0, warn)
    timer.daemon = True
    timer.start()
    try:
        returned = bound.function(**{**arguments, "completions": rows})
    finally:
        timer.cancel()
    return bound.checked(len(rows), returned)


# --- coroutine functions --------------------------------------------------------------------------


async def scores_in_time_async(
    component: "Component", arguments: Mapping[str, Any], limits: RewardLimits
) -> list[Score]:
    """Return the scores of a batch by a coroutine function, which is cancelled in time.

    If the batch is not done in half of the deadline, each row is tried alone, all at once.
    """
    import asyncio

    bound, deadline = component.bound, limits.deadline
    assert bound.async_function is not None and deadline is not None
    count, units = len(arguments["completions"]), _units_of(component, arguments)
    first = deadline * (FIRST if len(units) > 1 else 1.0)
    known = await _in_time(bound.async_function(**arguments), first)
    if known:
        return bound.checked(count, known[0])
    why = f"It was cancelled after {deadline:g} s."
    hung = Score(None, why, decided_by=bound.label, status="timeout", problem=why, seconds=deadline)
    fixed = {name: value for name, value in arguments.items() if name in bound.fixed}

    async def alone(unit: list[int]) -> list[Score]:
        own = rows_at(arguments, unit, count) | fixed
        known = await _in_time(bound.async_function(**own), deadline - first)  # type: ignore[misc]
        return bound.checked(len(unit), known[0]) if known else [hung] * len(unit)

    scored = await asyncio.gather(*map(alone, units))
    pairs = zip(units, scored, strict=True)
    scores = {row: s for unit, of in pairs for row, s in zip(unit, of, strict=True)}
    return [scores[row] for row in range(count)]


async def _in_time(coroutine: Any, seconds: float) -> list[Any]:
    """Return what a coroutine returns, in a list; nothing if it takes longer, and cancel it.

    It is not awaited any more: it may catch that it is cancelled, and hang on.
    """
    import asyncio

    task = asyncio.ensure_future(coroutine)
    try:
        done, _ = await asyncio.wait([task], timeout=seconds)
    finally:
        task.cancel()
    return [task.result()] if done else []
