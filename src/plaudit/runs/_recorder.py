"""Write scored batches to the spool of a folder, at once, and never raise."""

import atexit
import json
import logging
import os
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from plaudit.recipes import RowScore
from plaudit.runs._recorded_batch import (
    FIXED,
    RecordedBatch,
    arrow_batch,
    kept_columns,
    steps_of,
)
from plaudit.runs._writer import COMPLETE, OPEN, WriterProcess
from plaudit.runs.sessions import (
    RecordedPart,
    RecordSession,
    last_step,
    locked,
    open_session,
    supersede,
)

LOGGER = logging.getLogger("plaudit")
LARGE = 32  # rows: a batch of as many becomes a part of its own; smaller ones share a part
FULL = 512  # rows: a part that has as many takes no further batch
OLDEST = 10.0  # seconds for which a part takes further batches
ROWS = 256  # rows that make a step, if rows come one at a time and without a step
VARIABLE = "PLAUDIT_RECORD_ROWS"  # another number of rows that make a step


class Recorder:
    """Records what a process scores, into a folder that any number of processes share.

    folder: where to record
    components: the names of the rewards, which are columns of the record
    recipe: the recipe as TOML, or "" if there is none; `_run.json` keeps it
    """

    def __init__(self, folder: Path, components: Sequence[str], recipe: str) -> None:
        self.folder = folder
        self.components = tuple(components)
        self.recipe = recipe
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._reset()
        self._check()
        pa.array([0])  # imports pandas, if it is there: now, rather than in the first step
        atexit.register(self.close)

    def _reset(self) -> None:
        self._session: RecordSession | None = None
        self._kept: dict[str, str] = {}
        self._writer: WriterProcess | None = None
        self._open: dict[int, _OpenPart] = {}
        self._rows: Counter[int] = Counter()
        self._number = 0
        self._last: int | None = None  # the last step that the trainer counted
        self._restarts = 0  # how often the run was begun anew, as far as `add` knows
        self._first: int | None = None  # the first step that was said, by the trainer or a column
        self._counted: _CountedSteps | None = None
        self.has_stopped = False

    def _check(self) -> None:
        for name in self.components:
            if name in FIXED:
                raise ValueError(
                    f'a component is called "{name}", as a column of a recorded run is: '
                    "give it another name in the recipe"
                )
        self.folder.mkdir(parents=True, exist_ok=True)
        has_parts = next(self.folder.glob("part-*.parquet"), None) is not None
        manifest = self._manifest()
        if manifest is None and has_parts:
            raise ValueError(f"{self.folder} has part-*.parquet files of something else")
        if manifest is None:
            return
        if manifest.get("recorded") is not True:
            raise ValueError(f"{self.folder} holds a table that `plaudit score` wrote")
        components, columns = manifest.get("components"), manifest.get("columns")
        if not isinstance(components, list) or not isinstance(columns, list):
            raise ValueError(
                f"{self.folder / '_run.json'} is no record of a run: it has no list of components "
                "and of columns"
            )
        if tuple(components) != self.components:
            raise ValueError(
                f"{self.folder} holds the record of a run with the components "
                f"{', '.join(map(str, components))}; these are {', '.join(self.components)}"
            )

    def _manifest(self) -> dict[str, Any] | None:
        file = self.folder / "_run.json"
        try:
            manifest = json.loads(file.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise ValueError(f"{file} cannot be read as JSON: {error}") from error
        return manifest if isinstance(manifest, dict) else {}

    def add(
        self,
        scores: Sequence[RowScore],
        completions: Sequence[Any],
        columns: Mapping[str, Any],
        seconds: float,
        *,
        restarts: int | None = None,
    ) -> None:
        """Record a batch. What goes wrong is a warning, once, and then nothing is recorded.

        restarts: how often the run had been begun anew in this process when the batch came.
            Default: that is seen from the steps, for batches that are recorded as they come
        """
        with self._lock:
            if os.getpid() != self._process:  # a fork: another process, with a session of its own
                self._process = os.getpid()
                self._reset()
            if self.has_stopped or not len(scores):
                return
            try:
                self._add(RecordedBatch(completions, columns, scores, seconds), restarts)
            except Exception as error:  # whatever it is, the step must not fail for it
                self.stop(error)

    def _add(self, batch: RecordedBatch, restarts: int | None) -> None:
        steps, is_trainers = steps_of(batch)
        if steps is None:
            steps = self._count(len(batch))
        else:
            first = steps if isinstance(steps, int) else min(steps)
            self._restart_if_needed(first, is_trainers, restarts)
        if isinstance(steps, int):
            self._add_step(batch, steps)
            return
        for step in sorted(set(steps)):
            self._add_step(batch.at([at for at, s in enumerate(steps) if s == step]), step)

    def _restart_if_needed(self, step: int, is_trainers: bool, restarts: int | None) -> None:
        """Put aside what was recorded from this step on, if the run is resumed there."""
        if restarts is None:
            goes_back = is_trainers and self._last is not None and step < self._last
        else:
            goes_back = restarts > self._restarts
        if goes_back:
            self._start(after=self._session)
        if restarts is not None:
            self._restarts = restarts
        if is_trainers:
            self._last = step
        if self._first is None or step < self._first:
            self._first = step
            moved = supersede(self._current(), step)
            if moved:
                where = self.folder / ".record" / "superseded"
                _warn(f"the run goes on from step {step}: {moved} parts were moved to {where}")

    def _count(self, rows: int) -> int:
        if self._counted is None:
            self._counted = _CountedSteps(1 + last_step(self._current()))
        return self._counted.step_of(rows)

    def _current(self) -> RecordSession:
        return self._session or self._start()

    def _start(self, after: RecordSession | None = None) -> RecordSession:
        if after is not None:
            self._finish_session()
            self._reset()
        self._session = open_session(self.folder, after)
        return self._session

    def _add_step(self, batch: RecordedBatch, step: int) -> None:
        session = self._current()
        if not self._writer:
            self._kept = self._begin(batch)
            self._writer = WriterProcess(session)
        if step not in self._rows and len(self._rows) > 1000:
            del self._rows[min(self._rows)]
        first = self._rows[step]
        self._rows[step] += len(batch)
        where = session.process, first, self.folder
        rows = arrow_batch(batch, self.components, self._kept, step, *where)
        part = self._open.pop(step, None) or self._open_part(session, step)
        part.add(rows)
        if len(batch) >= LARGE:
            part.complete()
        else:
            self._open[step] = part
        self._close_parts(before=step)
        self._writer.wake()
        self._log_alarms()

    def _log_alarms(self) -> None:
        for alarm in self._writer.alarms() if self._writer else ():
            LOGGER.warning("plaudit: %s (plaudit watch %s shows the rows)", alarm, self.folder)

    def _open_part(self, session: RecordSession, step: int) -> "_OpenPart":
        self._number += 1
        name = RecordedPart(step, session.process, session.number, self._number)
        return _OpenPart(session.spool / f"{name}{OPEN}")

    def _close_parts(self, before: int | None = None) -> None:
        now = time.monotonic()
        for step, part in list(self._open.items()):
            is_past = before is not None and step < before
            if is_past or part.rows >= FULL or now - part.since > OLDEST:
                self._open.pop(step).complete()

    def _begin(self, batch: RecordedBatch) -> dict[str, str]:
        """Return the columns to keep, as `_run.json` says; the first process writes that file."""
        with locked(self.folder):
            manifest = self._manifest()
            if manifest is None:
                kept = kept_columns(batch, self.components)
                manifest = {
                    # `import plaudit` here would be an import of the layers above.
                    "plaudit": sys.modules["plaudit"].__version__,
                    "recorded": True,
                    "finished": False,
                    "recipe": self.recipe,
                    "components": list(self.components),
                    "inputs": [],
                    "completions": "completion",
                    "completion_column": "completion",
                    "group": "prompt",
                    "columns": [{"name": name, "type": kind} for name, kind in kept.items()],
                }
                unfinished = self.folder / ".record" / "_run.json.unfinished"
                text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
                unfinished.write_text(text, "utf-8", "replace")
                unfinished.replace(self.folder / "_run.json")
        return {str(one["name"]): str(one["type"]) for one in manifest["columns"]}

    def flush(self) -> None:
        """Wait until everything that was recorded is in the folder as Parquet."""
        with self._lock:
            if self._process == os.getpid() and self._writer and not self.has_stopped:
                try:
                    self._close_parts(before=1 << 62)
                    self._writer.wake()
                    if not self._writer.wait_for_spool():
                        _warn(f"{self.folder}: not all that was recorded is written yet")
                    self._log_alarms()
                except (OSError, RuntimeError) as error:
                    self.stop(error)

    def close(self) -> None:
        """End the session; a batch that comes later begins a new one."""
        with self._lock:
            if self._process == os.getpid():
                try:
                    self._finish_session()
                except (OSError, RuntimeError) as error:
                    self.stop(error)
                if not self.has_stopped:
                    self._reset()

    def _finish_session(self) -> None:
        self._close_parts(before=1 << 62)
        if self._writer:
            self._writer.end()
            self._log_alarms()
        self._close_session()

    def _close_session(self) -> None:
        """Release the lock of the session, once: its descriptor may soon be another file's."""
        session, self._session = self._session, None
        if session:
            session.close()

    def stop(self, error: Exception) -> None:
        """Record no more: warn, once, and let what trains go on."""
        if self.has_stopped:
            return
        self.has_stopped = True
        why = f"{error.strerror}" if isinstance(error, OSError) and error.strerror else repr(error)
        _warn(f"{self.folder} is recorded no further, the run goes on: {why}")
        for part in self._open.values():
            with suppress(OSError):
                part.stream.close()
        self._open = {}
        if self._writer:
            self._writer.abandon()
        with suppress(OSError):
            self._close_session()


def _warn(text: str) -> None:
    warnings.warn(f"plaudit: {text}", RuntimeWarning, stacklevel=2)


class _CountedSteps:
    """Counts steps for a trainer that passes none.

    Each batch is a step. If batches have one row, or PLAUDIT_RECORD_ROWS says how many rows make
    a step, as many rows are one.
    """

    def __init__(self, first: int) -> None:
        said = os.environ.get(VARIABLE, "")
        self._each = int(said) if said.isdecimal() else 0
        if said and not self._each:
            _warn(f"{VARIABLE} must be a whole number of rows, 1 or more, got {said!r}: ignored")
        self._first = first
        self._step = first - 1
        self._rows = 0

    def step_of(self, rows: int) -> int:
        each = self._each or (ROWS if rows == 1 else 0)
        if each:
            step = self._first + self._rows // each
            self._rows += rows
            return max(step, self._step)
        self._step += 1
        return self._step


class _OpenPart:
    """A file of Arrow to which batches are added; a reader gets each that was added whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = 0
        self.since = time.monotonic()
        self._file = pa.OSFile(str(path), "wb")
        self.stream: Any = None

    def add(self, batch: pa.RecordBatch) -> None:
        if self.stream is None:
            self.stream = pa.ipc.new_stream(self._file, batch.schema)
        self.stream.write_batch(batch)
        self.rows += len(batch)

    def complete(self) -> None:
        self.stream.close()
        self._file.close()
        try:
            self.path.rename(self.path.with_suffix(COMPLETE))
        except FileNotFoundError:
            # Another rank that began anew before this one has put the part aside: see `supersede`.
            if not self.path.parent.is_dir():
                raise
