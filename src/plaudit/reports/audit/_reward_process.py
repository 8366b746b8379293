"""Scores completions in a process of its own, which is killed and started again if a reward hangs.

`RowScorer` scores completions of rows, `AuditProcess` one batch, and `main` is what runs in the
process. A completion on which a reward raises or hangs gets that as its result: batches that fail
are taken apart, so that the others get their pay.
"""

import contextlib
import os
import random
import signal
import socket
import threading
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

from plaudit.processes import die_with_parent, start_python
from plaudit.recipes import Recipe

if TYPE_CHECKING:
    import subprocess

TOTAL = "total"
_DEADLINE = 10.0  # seconds for a batch of ordinary texts
_IMPORT_SECONDS = 180.0  # until the rewards' modules are imported
_FIRST_SECONDS = 60.0  # for the first batch of a process, which imports and starts what is needed
_MOST, _MOST_CHARACTERS = 256, 1_000_000  # of a batch
_ALONE = 3.0  # seconds for one completion, after a batch was not done in time
_MOST_HANGS = 3  # after which batches that hang are not taken apart any more
_HARMLESS = "It is so."


@dataclass(frozen=True)
class Pay:
    """What one completion got: by component, and in total."""

    values: Mapping[str, float | None]  # None if the row was skipped
    whys: Mapping[str, str]
    problems: Mapping[str, str]  # what was wrong with a value, such as "not a number"


@dataclass(frozen=True)
class PaidBatch:
    """The pays of a batch, and how long it took, without waiting for a processor."""

    pays: Sequence[Pay]
    seconds: float = 0.0


@dataclass(frozen=True)
class Raised:
    """A batch, or a completion, on which a component raised."""

    component: str
    message: str


@dataclass(frozen=True)
class Hung:
    """A batch, or a completion, that was not done in time, or that ended the process."""

    seconds: float  # how long it ran, without the time in which the machine was busy with others
    ended_process: bool = False


UNTRIED = Hung(-1.0)  # what was not scored any more, after too many hangs

RowText = tuple[int, str]  # the index of a row, and a completion of it
Result = Pay | Raised | Hung
BatchResult = PaidBatch | Raised | Hung


def value_of(result: Result, component: str) -> float | None:
    """Return what a component gave; None if there is no number."""
    return result.values.get(component) if isinstance(result, Pay) else None


class RowScorer:
    """Scores completions with the columns of their rows.

    rows: the columns of each row, without the completions
    as_messages: whether completions are passed as lists of messages
    """

    def __init__(
        self, recipe: Recipe, rows: Sequence[Mapping[str, Any]], as_messages: bool
    ) -> None:
        self.as_messages = as_messages
        self.seconds_each = 0.0  # for a completion, as far as was seen
        self._hangs = 0
        self._recipe, self._rows = recipe, rows
        self._names = list(dict.fromkeys(name for row in rows for name in row))
        self._wants_ids = any(one.takes("completion_ids") for one in recipe.components) and (
            "completion_ids" in recipe.needs() or "completion_ids" in self._names
        )
        warm_up = self._batch([(0, _HARMLESS)], as_messages)
        self._processes = [AuditProcess(recipe, warm_up, hash_seed=seed) for seed in (0, 1)]

    def __enter__(self) -> "RowScorer":
        return self

    def __exit__(self, *_: object) -> None:
        self.restart()

    def restart(self) -> None:
        """End the processes; new ones start when they are needed."""
        for process in self._processes:
            process.close()

    def __call__(
        self,
        texts: Sequence[RowText],
        *,
        alone: bool = False,
        **how: bool,
    ) -> list[Result]:
        """Return what each completion got; `how`: see `score_batch`."""
        fitting = int(_DEADLINE / 4 / self.seconds_each) if self.seconds_each else 16
        most = 1 if alone else max(1, min(_MOST, fitting))
        return [one for batch in _batches(texts, most) for one in self._results(batch, how)]

    def with_columns_of(
        self, texts: Sequence[RowText], others: Mapping[int, int], columns: Sequence[str]
    ) -> list[Result]:
        """Return the same, but with some columns of other rows: `others` says of which."""
        kept = self._rows
        swapped = [dict(row) for row in kept]
        for index, other in others.items():
            swapped[index] |= {n: kept[other].get(n) for n in columns if n in kept[index]}
        self._rows = swapped
        try:
            return self(texts)
        finally:
            self._rows = kept

    def _results(self, texts: list[RowText], how: Mapping[str, bool]) -> list[Result]:
        result = self.score_batch(texts, **how)
        if isinstance(result, PaidBatch):
            each = result.seconds / len(texts)
            self.seconds_each = min(self.seconds_each or each, each)
            return list(result.pays)
        if len(texts) == 1:
            self._hangs += isinstance(result, Hung)
            return [result]
        if isinstance(result, Raised):
            half = len(texts) // 2
            return [*self._results(texts[:half], how), *self._results(texts[half:], how)]
        return self._one_by_one(texts, how)

    def _one_by_one(self, texts: list[RowText], how: Mapping[str, bool]) -> list[Result]:
        """Return results up to the completion that hangs; the rest is tried again as a batch."""
        if self._hangs >= _MOST_HANGS:
            return [UNTRIED] * len(texts)
        found: list[Result] = []
        for number, text in enumerate(texts, 1):
            result = self.score_batch([text], _ALONE + 4 * self.seconds_each, **how)
            busy = isinstance(result, Hung) and result.seconds < _ALONE / 2
            if isinstance(result, Hung) and busy and not result.ended_process:
                # The machine was busy with others: it gets more time.
                result = self.score_batch([text], 5 * _ALONE, **how)
            found.append(result.pays[0] if isinstance(result, PaidBatch) else result)
            if isinstance(result, Hung):
                self._hangs += 1
                rest = texts[number:]
                return [*found, *(self._results(rest, how) if rest else [])]
        return found

    def score_batch(
        self,
        texts: Sequence[RowText],
        deadline: float = 0.0,
        *,
        in_thread: bool = False,
        in_other_process: bool = False,
        in_other_form: bool = False,
    ) -> BatchResult:
        """Score some completions at once, with a deadline for all of them."""
        # Once something hung, batches get less time, so that hangs do not add up.
        usual = _ALONE if self._hangs else _DEADLINE
        return self._processes[in_other_process].score(
            *self._batch(texts, self.as_messages != in_other_form),
            in_thread=in_thread,
            deadline=deadline or max(usual, 10 * self.seconds_each * len(texts)),
        )

    def _batch(self, texts: Sequence[RowText], as_messages: bool) -> "_Batch":
        columns = {name: [self._rows[i].get(name) for i, _ in texts] for name in self._names}
        if self._wants_ids:
            name = self._recipe.columns.get("completion_ids", "completion_ids")
            # There is no tokenizer: each word has an id.
            columns[name] = [
                [zlib.crc32(word.encode("utf-8", "replace")) % 50_000 for word in text.split()]
                for _, text in texts
            ]
        completions: list[Any] = [text for _, text in texts]
        if as_messages:
            completions = [[{"role": "assistant", "content": text}] for text in completions]
        return completions, columns


def _batches(texts: Sequence[RowText], most: int) -> list[list[RowText]]:
    batches: list[list[RowText]] = []
    characters = 0
    for text in texts:
        full = not batches or len(batches[-1]) == most
        if full or characters + len(text[1]) > _MOST_CHARACTERS:
            batches.append([])
            characters = 0
        batches[-1].append(text)
        characters += len(text[1])
    return batches


# --- one process ----------------------------------------------------------------------------------

_Batch = tuple[list[Any], dict[str, list[Any]]]  # completions, and the columns of their rows


class AuditProcess:
    """A recipe in a process of its own, which is started when it is needed.

    warm_up: a batch that a new process scores before any other, with time enough to import and
        start what the rewards need; its result is ignored
    hash_seed: of PYTHONHASHSEED in the process
    """

    def __init__(self, recipe: Recipe, warm_up: _Batch, hash_seed: int = 0) -> None:
        self._recipe = recipe
        self._warm_up: _Batch | None = warm_up
        self._environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
        self._connection: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def score(
        self,
        completions: list[Any],
        columns: dict[str, list[Any]],
        *,
        in_thread: bool = False,
        deadline: float = _DEADLINE,
    ) -> BatchResult:
        """Return the pays of a batch, or how it failed."""
        try:
            connection = self._start()
            waited = self._waiting()
            connection.send((completions, columns, in_thread))
            if not connection.poll(deadline):
                ran = deadline - (self._waiting() - waited)
                self.close()
                return Hung(ran)
            kind, *answer = _receive(connection)
        except (EOFError, OSError):
            self.close()
            return Hung(0.0, ended_process=True)
        if kind == "raised":
            return Raised(*answer)
        rows, seconds = answer
        return PaidBatch([self._pay(total, scores) for total, scores in rows], seconds)

    def _pay(self, total: float | None, scores: list[tuple[float | None, str, str]]) -> Pay:
        names = [component.name for component in self._recipe.components]
        named = dict(zip(names, scores, strict=True))
        why = " ".join(f"{name}: {score[1]}" for name, score in named.items())
        return Pay(
            {**{name: score[0] for name, score in named.items()}, TOTAL: total},
            {**{name: score[1] for name, score in named.items()}, TOTAL: why},
            {name: score[2] for name, score in named.items() if score[2]},
        )

    def _start(self) -> Connection:
        if self._connection is not None:
            return self._connection
        here, there = socket.socketpair()
        with there:
            try:
                arguments = (there.fileno(), os.getpid())
                self._process = start_python(
                    __name__, *arguments, pass_fds=[there.fileno()], env=self._environment
                )
            except BaseException:
                here.close()
                raise
        self._connection = Connection(here.detach())
        self._connection.send(self._recipe)
        is_ready = self._connection.poll(_IMPORT_SECONDS)
        too_long = f"their modules take more than {_IMPORT_SECONDS:g} s to import"
        if problem := self._connection.recv() if is_ready else too_long:
            self.close()
            raise ValueError(f"the rewards cannot be called in a process of their own: {problem}")
        if self._warm_up is None:
            return self._connection
        self._connection.send((*self._warm_up, False))
        if self._connection.poll(_FIRST_SECONDS):
            self._connection.recv()
            return self._connection
        self._warm_up = None  # it hangs on anything: a finding, and not of this batch
        self.close()
        return self._start()

    def _waiting(self) -> float:
        return 0.0 if self._process is None else _waiting_seconds(str(self._process.pid))

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


def _receive(connection: Connection) -> tuple[Any, ...]:
    """Return what the process has sent; raise EOFError if that cannot be read."""
    try:
        received: tuple[Any, ...] = connection.recv()
    except (ValueError, TypeError, UnpicklingError) as error:
        # A program that its reward ran has changed the process, such as its `len`.
        raise EOFError("the process sends what cannot be read") from error
    return received


def _waiting_seconds(process: str) -> float:
    """Return how long the first thread of a process could have run and did not; 0 off Linux.

    A busy machine adds it to every measurement. `process` is its id, or "thread-self".
    """
    try:
        _, waited, _ = Path(f"/proc/{process}/schedstat").read_text().split()
    except (OSError, ValueError):
        return 0.0
    return int(waited) / 1e9


# --- what runs in the process ---------------------------------------------------------------------


def main(descriptor: int, parent: int) -> None:
    """Receive a recipe, then score batches until the connection is closed or the parent ends."""
    connection = Connection(descriptor)
    die_with_parent(parent)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # what a reward prints is no output of the audit
    os.dup2(nowhere, 2)
    # What is random in a reward is the same in every audit, though not in every call.
    random.seed(0)
    with contextlib.suppress(ImportError):
        import numpy as np

        np.random.seed(0)
    try:
        try:
            recipe = connection.recv()
            for component in recipe.components:
                _ = component.bound  # imports the reward's module, which is no batch's fault
        except Exception as error:  # EOFError too: then nobody reads what is sent
            connection.send(_describe(error)[1])
            return
        connection.send("")  # ready
        while True:
            completions, columns, in_thread = connection.recv()
            connection.send(_score_batch(recipe, completions, columns, in_thread))
    except (EOFError, OSError):
        return


def _score_batch(
    recipe: Recipe, completions: list[Any], columns: Mapping[str, Any], in_thread: bool
) -> tuple[Any, ...]:
    """Return ("paid", rows, seconds) or ("raised", component, message)."""
    found: list[tuple[Any, ...]] = []

    def work() -> None:
        start, waited = time.perf_counter(), _waiting_seconds("thread-self")
        try:
            rows = [
                # A component's value before its gate, with reason and problem.
                (
                    row.total,
                    [
                        (s.value if s.ungated is None else s.ungated, s.why[:300], s.problem)
                        for s in row.components.values()
                    ],
                )
                for row in recipe.score_batch(completions, **columns).rows
            ]
        except BaseException as error:  # SystemExit too: the audit goes on
            found.append(("raised", *_describe(error)))
            return
        seconds = time.perf_counter() - start - (_waiting_seconds("thread-self") - waited)
        # On a busy machine Linux may count more waiting than time went by.
        found.append(("paid", rows, max(seconds, 1e-6)))

    if in_thread:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    else:
        work()
    return found[0]


def _describe(error: BaseException) -> tuple[str, str]:
    """Return which component raised, by the note that a recipe adds, and what."""
    notes = [note for note in getattr(error, "__notes__", []) if note.startswith("in ")]
    component = notes[0].removeprefix("in ").partition(" (")[0] if notes else ""
    try:
        message = str(error)
    except Exception:
        message = "(it cannot be shown as text)"
    return component, f"{type(error).__name__}: {message}"[:300]
