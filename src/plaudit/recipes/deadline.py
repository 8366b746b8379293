"""A deadline for a user's reward: what hangs has no value, and the other rows keep theirs.

A plain function is called in a process of its own (`reward_process`). If a batch is not done in
half of the deadline, the process is killed, and another one scores it without the row that hung.
A coroutine function is cancelled. A function that no other process can import, such as a closure
over a model, is called in the caller's thread, and a warning says which row hangs.
"""

import atexit
import os
import pickle
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from plaudit.recipes.reward_process import NO_ROW, Failure, RewardProcess, WatchedRows
from plaudit.scores import Score
from plaudit.scores.groups import HOOKS, rows_at

if TYPE_CHECKING:
    from plaudit.recipes.component import Component

VARIABLE = "PLAUDIT_REWARD_DEADLINE"
FIRST = 0.5  # share of the deadline for the whole batch; the rest is for what is left of it
AGAIN = 0.125  # share for each further try


@dataclass(frozen=True)
class Limits:
    """What a reward may take for a batch.

    deadline: seconds; None for no deadline
    memory: MiB; None for no limit
    """

    deadline: float | None = None
    memory: int | None = None


NO_LIMITS = Limits()


def limits_of(own: Limits, recipe: Limits) -> Limits:
    """Return the limits of a component: its own, the recipe's, or the environment's."""
    deadline = own.deadline or recipe.deadline or _from_environment()
    return Limits(deadline, own.memory or recipe.memory)


def check_limits(limits: Limits) -> None:
    """Raise ValueError unless both are positive numbers or None."""
    for name, value, kind in (
        ("deadline", limits.deadline, (int, float)),
        ("memory", limits.memory, int),
    ):
        if value is None:
            continue
        is_number = isinstance(value, kind) and not isinstance(value, bool)
        if not is_number or not isfinite(value) or value <= 0:
            unit = "seconds" if name == "deadline" else "MiB, a whole number"
            raise ValueError(f"{name} must be a number of {unit} above 0, got {value!r:.80}")
    if limits.memory is not None and limits.deadline is None:
        raise ValueError("memory needs a deadline: without one, a reward runs in this process")


def _from_environment() -> float | None:
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    try:
        limits = Limits(float(text))
        check_limits(limits)
    except ValueError as error:
        raise ValueError(f"{VARIABLE} must be a number of seconds, got {text!r:.80}") from error
    return limits.deadline


# --- plain functions ------------------------------------------------------------------------------


def scores_in_time(
    component: "Component", arguments: Mapping[str, Any], limits: Limits
) -> list[Score]:
    """Return the scores of a batch; rows that hang, or end the process, have no value.

    arguments: those of the reward, as `BoundReward.arguments` gives them
    """
    if isinstance(component.reward, str) and not component.reward.startswith("__main__:"):
        sent = {name: value for name, value in arguments.items() if name not in HOOKS}
        try:
            pickled = pickle.dumps(sent, pickle.HIGHEST_PROTOCOL)
        except Exception:  # a column may hold anything
            pickled = b""
        if pickled:
            return _Batch(component, sent, pickled, limits).scores()
    return _watched(component, arguments, limits)


class _Batch:
    """A batch that is scored in processes, until its deadline."""

    def __init__(
        self, component: "Component", arguments: Mapping[str, Any], pickled: bytes, limits: Limits
    ) -> None:
        assert limits.deadline is not None
        self._component, self._memory = component, limits.memory or 0
        self._arguments, self._pickled = arguments, pickled
        self._count = len(arguments["completions"])
        self._deadline = limits.deadline
        self._scores: dict[int, Score] = {}
        self._start = time.monotonic()
        self._end = self._start + self._deadline

    def scores(self) -> list[Score]:
        """Return the score of each row."""
        waiting = self._tried(list(range(self._count)), FIRST)
        while waiting:
            waiting += self._without_culprit(*waiting.pop())
        return [self._scores[row] for row in range(self._count)]

    def _without_culprit(
        self, rows: list[int], failure: Failure
    ) -> list[tuple[list[int], Failure]]:
        """Score the rows of a failed call without the one to blame; return what fails again."""
        parts = [rows]
        # The last row was read if the reward reads all rows before it scores one.
        is_known = NO_ROW < failure.row < len(rows) - 1
        if is_known or len(rows) == 1:
            culprit = failure.row if is_known else 0
            self._scores[rows[culprit]] = self._failed(failure.status, failure.why)
            parts = [rows[:culprit] + rows[culprit + 1 :]]
        else:
            parts = [rows[: len(rows) // 2], rows[len(rows) // 2 :]]
        again = []
        for part in parts:
            if part and time.monotonic() < self._end:
                again += self._tried(part, AGAIN)
            else:
                why = f"It was not scored within {self._deadline:g} s, since other rows hung."
                self._scores |= {row: self._failed("timeout", why) for row in part}
        return again

    def _tried(self, rows: list[int], share: float) -> list[tuple[list[int], Failure]]:
        """Score some rows in a share of the deadline; return them if that failed."""
        arguments = self._pickled if len(rows) == self._count else self._pickled_rows(rows)
        with _processes.of_this_process().take(self._component, self._memory) as process:
            start = time.monotonic()
            process.wait_until_ready()
            self._end += time.monotonic() - start  # its imports are no fault of the batch
            left = self._end - time.monotonic()
            returned = process.call(arguments, min(left, share * self._deadline))
        if isinstance(returned, Failure):
            return [(rows, returned)]
        scores = self._component.bound.checked(len(rows), returned)
        self._scores |= dict(zip(rows, scores, strict=True))
        return []

    def _pickled_rows(self, rows: list[int]) -> bytes:
        fixed = {n: v for n, v in self._arguments.items() if n in self._component.bound.fixed}
        some = rows_at(self._arguments, rows, self._count) | fixed
        return pickle.dumps(some, pickle.HIGHEST_PROTOCOL)

    def _failed(self, status: str, why: str) -> Score:
        label, taken = self._component.bound.label, time.monotonic() - self._start
        return Score(None, why, method=label, status=status, problem=why, seconds=taken)


class _Processes:
    """The processes of rewards, kept for the next batch: two for each component at most.

    The kernel kills a process when the thread that started it ends, so one thread, which lives as
    long as this process, starts them all.
    """

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._idle: dict[tuple[str, str, int], list[RewardProcess]] = {}
        self._lock = threading.Lock()
        self._starter = ThreadPoolExecutor(1, "plaudit-reward-processes")

    @contextmanager
    def take(self, component: "Component", memory: int) -> Iterator[RewardProcess]:
        """Have a process for a call; those that are not in use are kept."""
        key = repr(component), component.folder, memory
        with self._lock:
            idle = self._idle.setdefault(key, [])
            process = idle.pop() if idle else None
        if process is None or process.has_ended:
            process = self._starter.submit(RewardProcess, component, memory).result()
        try:
            yield process
        finally:
            with self._lock:
                is_kept = len(idle) < _KEPT and not process.has_ended
                idle += [process] if is_kept else []
            if not is_kept and not process.has_ended:
                process.close()

    def close(self) -> None:
        """End all that are kept."""
        if self._owner == os.getpid():
            for process in (one for idle in self._idle.values() for one in idle):
                process.close()
            self._idle = {}

    def of_this_process(self) -> "_Processes":
        """Return itself; after a fork, others: these are the parent's."""
        if self._owner == os.getpid():
            return self
        for process in (one for idle in self._idle.values() for one in idle):
            process.abandon()
        self.__init__()  # type: ignore[misc]
        return self


_KEPT = 2
_processes = _Processes()
atexit.register(_processes.close)


# --- functions that stay in this process ----------------------------------------------------------


def _watched(component: "Component", arguments: Mapping[str, Any], limits: Limits) -> list[Score]:
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
    component: "Component", arguments: Mapping[str, Any], limits: Limits
) -> list[Score]:
    """Return the scores of a batch by a coroutine function, which is cancelled in time.

    If the batch is not done in half of the deadline, each row is tried alone, all at once.
    """
    import asyncio

    bound, deadline = component.bound, limits.deadline
    assert bound.async_function is not None and deadline is not None
    count, call = len(arguments["completions"]), bound.async_function
    try:
        returned = await asyncio.wait_for(call(**arguments), FIRST * deadline)
        return bound.checked(count, returned)
    except TimeoutError:
        pass
    why = f"It was cancelled after {deadline:g} s."
    hung = Score(None, why, method=bound.label, status="timeout", problem=why)
    fixed = {name: value for name, value in arguments.items() if name in bound.fixed}

    async def alone(row: int) -> Score:
        try:
            own = rows_at(arguments, [row], count) | fixed
            returned = await asyncio.wait_for(call(**own), FIRST * deadline)
        except TimeoutError:
            return hung
        return bound.checked(1, returned)[0]

    return list(await asyncio.gather(*(alone(row) for row in range(count))))
