"""Judge whether an answer equals a gold, as math-verify would.

    from plaudit.judge import Pair, judge

    judge([Pair(r"So it is $\\frac{2}{4}$.", "1/2")])[0].status   # Status.EQUAL

A text passes through `_candidates` and `_reading`; `_exact_numbers` and `_algebra` decide what
needs no CAS, and `workers` has math-verify decide the rest in other processes. The rewards of a
process share one judge, with its cache and its workers; `configure` sets its limits. This process
never imports sympy or antlr: only the workers do.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from plaudit.judge._judge import CacheStats as CacheStats
from plaudit.judge._judge import Judge
from plaudit.judge._judge import warm_up_pairs as warm_up_pairs
from plaudit.judge._settings import Settings
from plaudit.judge._verdict import Pair, Rule, Status, Verdict
from plaudit.judge._versions import TESTED_VERSIONS as TESTED_VERSIONS
from plaudit.judge._versions import MathVerify as MathVerify
from plaudit.judge._versions import math_verify_installed as math_verify_installed
from plaudit.judge._versions import warn_of_untested_version as warn_of_untested_version

__all__ = [
    "Judge",
    "Pair",
    "Rule",
    "Settings",
    "Status",
    "Verdict",
    "configure",
    "judge",
    "judge_async",
    "shared_judge",
    "warm_up",
    "workers_kept",
]

_lock = threading.Lock()
_shared: Judge | None = None
_keeping_workers = 0  # how many are inside `workers_kept`


def shared_judge() -> Judge:
    """Return the judge that the rewards of this process share.

    >>> shared_judge().settings.deadline
    5.0
    """
    global _shared
    if _shared is None:
        with _lock:
            if _shared is None:
                _shared = Judge()
    return _shared


def configure(
    *,
    deadline: float | None = None,
    memory: int | None = None,
    workers: int | None = None,
    cache: int | None = None,
    cache_memory: int | None = None,
) -> None:
    """Set the limits of the shared judge, see `Settings`; those that are None do not change.

    From now on, calls go to a new judge with an empty cache. Calls in flight finish with the
    workers and the limits that they began with; those workers stop when the last of them is done.

    >>> configure(deadline=2)
    >>> shared_judge().settings.deadline
    2
    >>> configure(deadline=5.0)
    """
    global _shared
    changes: dict[str, Any] = {
        "deadline": deadline,
        "memory": memory,
        "workers": workers,
        "cache": cache,
        "cache_memory": cache_memory,
    }
    with _lock:
        current = _shared.settings if _shared else Settings.from_environment()
        new = Judge(replace(current, **{name: v for name, v in changes.items() if v is not None}))
        old, _shared = _shared, new
    if old is not None:
        old.retire()


def warm_up() -> None:
    """Start the workers of the shared judge, so that the first step does not wait for them.

    It returns at once; the workers start in the background, which takes a second or two. It does
    not fail if they cannot start: the first call that needs one says why.

    >>> warm_up()
    """
    shared_judge().warm_up()


@contextmanager
def workers_kept() -> Iterator[None]:
    """Keep the workers of the shared judge running for as long as this lasts.

    For a server in a process that does other things too. Several may be inside at once: when the
    last one leaves, the workers stop as soon as no call is in flight. Later calls start new ones.

    >>> with workers_kept():
    ...     shared_judge().check()
    """
    global _keeping_workers
    with _lock:
        _keeping_workers += 1
    try:
        yield
    finally:
        with _lock:
            _keeping_workers -= 1
            last = _shared if _keeping_workers == 0 else None
        if last is not None:
            last.close()


def judge(pairs: Sequence[Pair]) -> list[Verdict]:
    """Return a verdict for each pair, by the shared judge.

    >>> judge([Pair("The answer is 0.5", "1/2")])[0].status
    <Status.EQUAL: 'equal'>
    """
    return shared_judge().judge(pairs)


async def judge_async(pairs: Sequence[Pair]) -> list[Verdict]:
    """Return a verdict for each pair, on an event loop.

    >>> import asyncio
    >>> asyncio.run(judge_async([Pair("The answer is 0.5", "1/2")]))[0].decided_by
    'numbers'
    """
    return await shared_judge().judge_async(pairs)


def _after_fork() -> None:
    """In a forked process: a thread that held the lock did not come along."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
