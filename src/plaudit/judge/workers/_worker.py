"""A worker: reads items from its socket, judges each with math-verify, sends back what came of it.

in:  [(answers, golds, rule), ...]              a chunk of items: candidates as plain data
out: its process id, once it has started; then
     (status, answer, gold, problem, seconds)   one frame per item, as soon as it is judged
"""

import os
import resource
import select
import socket
import sys
import time
from contextlib import nullcontext
from typing import Any

from plaudit.judge._verdict import Rule, Status
from plaudit.judge._versions import math_verify_installed
from plaudit.judge.reading import PlainData, from_plain_data
from plaudit.judge.workers._memory import MemoryLimit
from plaudit.judge.workers._wire import pack, receive

IDLE = 0.05  # seconds after which a worker that has nothing to do prepares for what may come


def work(connection: socket.socket, deadline: float, memory: int) -> None:
    """Serve items until the other side is gone, or one of them needs too much memory.

    A worker that ran out of memory ends: a library that was interrupted anywhere may have left its
    caches half done. If it had judged others before, it sends no outcome: those may have left too
    much behind, so the item goes to a new worker, which has nothing else in its memory.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit, new = MemoryLimit(memory), True
    connection.sendall(pack(os.getpid()))
    while True:
        _prepare_until_asked(connection)
        try:
            items = receive(connection)
        except (EOFError, OSError):
            return
        for answers, golds, rule in items:
            _limit_cpu(2 * deadline + 1)
            outcome = judge_item(answers, golds, rule, limit)
            enough = outcome[0] != Status.LIMIT
            if enough or new:
                connection.sendall(pack(outcome))
            if not enough:
                return
            new = False


def _prepare_until_asked(connection: socket.socket) -> None:
    """Fill the parser's tables while there is nothing to do; each time goes on with the next."""
    preparations = comparison().preparations
    while not select.select([connection], [], [], IDLE)[0]:
        if not next(preparations, False):
            return


def judge_item(
    answers: PlainData, golds: PlainData, rule: str, limit: MemoryLimit | None = None
) -> tuple[str, str, str, str, float]:
    """One item's outcome. Running out of memory is one; anything else unforeseen is too."""
    compare = comparison().compare
    leave_nothing_to_chance()
    start = time.perf_counter()
    answer = gold = problem = ""
    try:
        with limit.enforced() if limit else nullcontext():
            status, answer, gold = compare(
                [from_plain_data(data) for data in answers],
                [from_plain_data(data) for data in golds],
                Rule(rule),
            )
    except MemoryError:
        status, answer, gold = Status.LIMIT, "", ""
        problem = limit.why if limit else "it needs more memory than there is"
    except Exception as error:
        status, problem = Status.ERROR, f"{type(error).__name__}: {error}"[:200]
    return status.value, answer, gold, problem, time.perf_counter() - start


def leave_nothing_to_chance() -> None:
    """Have sympy come to the same result for an item in every process, whatever was judged before.

    It checks facts about an expression in random order, and where its rules contradict each other,
    the order decides; and it tries random numbers.
    """
    from sympy.core.random import seed

    sys.modules["sympy.core.assumptions"].shuffle = list.sort  # type: ignore[attr-defined]
    seed(0)


def comparison() -> Any:
    """The module that compares: with what is known of a tested version, or by its public functions.

    >>> comparison().__name__
    'plaudit.judge.workers._symbolic'
    """
    if math_verify_installed().tested:
        from plaudit.judge.workers import _symbolic

        return _symbolic
    from plaudit.judge.workers import _public_api

    return _public_api


def _limit_cpu(seconds: float) -> None:
    """A last resort where nobody is left to kill this worker: the kernel ends it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime + seconds) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))
