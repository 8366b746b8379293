"""A recipe in a process of its own: completions go in, and out come pays, or how it failed.

A reward that raises, hangs or ends its process costs a batch, and never the audit: the process is
killed and started again.
"""

import contextlib
import os
import signal
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from plaudit.auditing._findings import TOTAL
from plaudit.auditing._waiting import waiting_seconds
from plaudit.processes import start_python
from plaudit.recipes import Recipe

if TYPE_CHECKING:
    import subprocess

WORKER = "plaudit.auditing._worker"
DEADLINE = 10.0  # seconds for a batch of ordinary texts
_START = 180.0  # seconds until the rewards' modules are imported
_FIRST = 60.0  # seconds for the first batch of a process, which imports and starts what is needed


@dataclass(frozen=True)
class Pay:
    """What one completion got: by component, and in total.

    values: None where the row was skipped
    problems: what was wrong with a value, such as "not a number"
    """

    values: Mapping[str, float | None]
    whys: Mapping[str, str]
    problems: Mapping[str, str]


@dataclass(frozen=True)
class Paid:
    """The pays of a batch, and how long it took, without waiting for a processor."""

    pays: Sequence[Pay]
    seconds: float = 0.0


@dataclass(frozen=True)
class Raised:
    """A batch on which a reward raised."""

    component: str
    message: str


@dataclass(frozen=True)
class Hung:
    """A batch that was not done in time, or that ended the process.

    seconds: how long it ran, without the time in which the machine was busy with others
    died: whether it ended the process
    """

    seconds: float
    died: bool = False


Outcome = Paid | Raised | Hung


Batch = tuple[list[Any], dict[str, Any]]  # completions, and the columns of their rows


class RewardProcess:
    """A recipe in a process of its own, which is started again after it was killed.

    harmless: a batch that a new process scores before any other, with time enough to import and
        start what the rewards need; what comes of it is of no interest
    """

    def __init__(self, recipe: Recipe, harmless: Batch | None = None, hash_seed: int = 0) -> None:
        self._recipe = recipe
        self._harmless = harmless
        self._environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
        self._connection: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def score(
        self,
        completions: Sequence[Any],
        columns: Mapping[str, Any],
        *,
        in_thread: bool = False,
        deadline: float = DEADLINE,
    ) -> Outcome:
        """The pays of a batch, or how it failed."""
        try:
            connection = self._started()
            waited = self._waited()
            connection.send((list(completions), dict(columns), in_thread))
            if not connection.poll(deadline):
                return self._hung(deadline - (self._waited() - waited))
            answer = connection.recv()
        except (EOFError, OSError):
            self.close()
            return Hung(0.0, died=True)
        if answer[0] == "raised":
            return Raised(answer[1], answer[2])
        _, rows, seconds = answer
        return Paid([self._pay(total, scores) for total, scores in rows], seconds)

    def _pay(self, total: float | None, scores: list[tuple[float | None, str, str]]) -> Pay:
        names = [component.name for component in self._recipe.components]
        named = dict(zip(names, scores, strict=True))
        why = " ".join(f"{name}: {score[1]}" for name, score in named.items())
        return Pay(
            {**{name: score[0] for name, score in named.items()}, TOTAL: total},
            {**{name: score[1] for name, score in named.items()}, TOTAL: why},
            {name: score[2] for name, score in named.items() if score[2]},
        )

    def _started(self) -> Connection:
        if self._connection is not None:
            return self._connection
        with ExitStack() as unless_started:
            here, there = socket.socketpair()
            unless_started.callback(here.close)
            with there:
                self._process = start_python(
                    WORKER,
                    there.fileno(),
                    os.getpid(),
                    pass_fds=[there.fileno()],
                    env=self._environment,
                )
            unless_started.pop_all()
        self._connection = Connection(here.detach())
        self._connection.send(self._recipe)
        if not self._connection.poll(_START):
            self.close()
            raise ValueError(
                f"the rewards cannot be called in a process of their own: their modules take more "
                f"than {_START:g} s to import"
            )
        if problem := self._connection.recv():
            self.close()
            raise ValueError(f"the rewards cannot be called in a process of their own: {problem}")
        return self._warmed_up(self._connection)

    def _warmed_up(self, connection: Connection) -> Connection:
        if self._harmless is None:
            return connection
        connection.send((*self._harmless, False))
        if connection.poll(_FIRST):
            connection.recv()
            return connection
        self._harmless = None  # it hangs on anything: a finding, and not this one's
        self.close()
        return self._started()

    def _hung(self, seconds: float) -> Hung:
        self.close()
        return Hung(seconds)

    def _waited(self) -> float:
        return 0.0 if self._process is None else waiting_seconds(str(self._process.pid))

    def close(self) -> None:
        """End the process, and what it started."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            # It leads a session of its own, so this reaches what a reward started, too.
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def __enter__(self) -> "RewardProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
