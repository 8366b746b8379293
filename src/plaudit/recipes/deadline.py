"""A deadline for a user's reward: what hangs has no value, and the other rows keep theirs.

A plain function is called in a process of its own (`reward_process`). If a batch is not done in
half of the deadline, the call is killed. The rows are then scored in parts, several at a time,
without the row that hung; a part that hangs is cut into smaller ones. A coroutine function is
cancelled. A function that no other process can import, such as a closure over a model, is called in
the caller's thread, and a warning says which row hangs.
"""

import atexit
import os
import pickle
import sys
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from plaudit.recipes.bound_reward import RewardLimits
from plaudit.recipes.reward_process import LOGS, NO_ROW, Failure, RewardProcess, WatchedRows
from plaudit.scores import Score
from plaudit.scores.decorators import HOOKS, groups_of, rows_at

if TYPE_CHECKING:
    from plaudit.recipes.component import Component

FIRST = 0.5  # share of the deadline for the whole batch; the rest is for its parts
STALL = 1 / 8  # share of the deadline that a part may stay at one row: four hang one after another
PARTS = 16  # into which rows are cut, and as many are scored at the same time


# --- plain functions ------------------------------------------------------------------------------


def scores_in_time(
    component: "Component", arguments: Mapping[str, Any], limits: RewardLimits
) -> list[Score]:
    """Return the scores of a batch; rows that hang, or end the process, have no value.

    arguments: those of the reward, as `BoundReward.arguments` gives them
    """
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
