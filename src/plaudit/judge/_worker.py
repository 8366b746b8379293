"""A worker: reads items from its socket, judges each with math-verify, writes what came of it.

in:  [(answers, golds, rule), ...]              a chunk of items, as `as_wire` has them
out: its process id, once it has started; then
     (status, answer, gold, problem, seconds)   one frame an item, as soon as it is judged
"""

import os
import resource
import select
import socket
import time
from contextlib import nullcontext
from typing import Any, NamedTuple

from plaudit.judge._latex import Latex, Piece
from plaudit.judge._memory import MemoryLimit
from plaudit.judge._normal import normalise, opened
from plaudit.judge._plain import Arithmetic, Number
from plaudit.judge._verdict import Rule, Status
from plaudit.judge._wire import pack, receive

SHORT = 300  # longer LaTeX is normalised by a worker: it takes time quadratic in the length
IDLE = 0.05  # seconds after which a worker that has nothing to do prepares for what may come

Wire = tuple[tuple[Any, ...], ...]


class Normal(NamedTuple):
    """One environment's LaTeX, normalised."""

    text: str
    percent: bool


def as_wire(candidate: Latex | Number | Arithmetic, rule: Rule) -> tuple[Any, ...]:
    r"""A candidate as plain data. LaTeX is normalised where that is quick: it is the same then
    whatever stood around it.

    >>> as_wire(Latex((Piece(r"\dfrac{x}{2}"),)), Rule.LATEX)
    ('normal', '\\frac{x}{2}', False)
    >>> as_wire(Latex((Piece("x"), Piece("y", percent=True))), Rule.LATEX)
    ('latex', (('x', False, False), ('y', True, False)))
    """
    if not isinstance(candidate, Latex):
        return type(candidate).__name__.lower(), *candidate
    piece, *more = candidate.pieces
    if more or len(opened(piece)) > SHORT:
        return "latex", tuple(tuple(piece) for piece in candidate.pieces)
    return "normal", normalise(piece, rule), piece.percent


def from_wire(data: tuple[Any, ...]) -> Latex | Normal | Number | Arithmetic:
    """The candidate that `as_wire` made plain.

    >>> from_wire(("number", "42", False))
    Number(digits='42', percent=False)
    """
    match data:
        case "latex", pieces:
            return Latex(tuple(Piece(*piece) for piece in pieces))
        case "normal", text, percent:
            return Normal(text, percent)
        case "number", digits, percent:
            return Number(digits, percent)
        case "arithmetic", text:
            return Arithmetic(text)
    raise ValueError(f"no candidate: {data!r}")


def work(connection: socket.socket, deadline: float, memory: int) -> None:
    """Serve items until the other side is gone, or one of them needs too much memory.

    Who ran out of memory ends: a library that was interrupted anywhere may have left its caches
    half done. If it had judged others before, it says nothing: what those left may have been too
    much, and a new worker, which the item then gets, has only the item's own to count.
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
    from plaudit.judge._symbolic import preparations

    while not select.select([connection], [], [], IDLE)[0]:
        if not next(preparations, False):
            return


def judge_item(
    answers: Wire, golds: Wire, rule: str, limit: MemoryLimit | None = None
) -> tuple[str, str, str, str, float]:
    """One item's outcome. Running out of memory is one; anything else unforeseen is too."""
    from plaudit.judge._symbolic import compare

    start = time.perf_counter()
    answer = gold = problem = ""
    try:
        with limit.kept() if limit else nullcontext():
            status, answer, gold = compare(
                [from_wire(data) for data in answers],
                [from_wire(data) for data in golds],
                Rule(rule),
            )
    except MemoryError:
        status, answer, gold = Status.LIMIT, "", ""
        problem = limit.why if limit else "it needs more memory than there is"
    except Exception as error:
        status, problem = Status.ERROR, f"{type(error).__name__}: {error}"[:200]
    return status.value, answer, gold, problem, time.perf_counter() - start


def _limit_cpu(seconds: float) -> None:
    """A last resort where nobody is left to kill this worker: the kernel ends it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime + seconds) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))
