"""Write scored batches to the spool of a folder, as rows in Arrow: at once, and never raise."""

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
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from plaudit.inputs.columns import GROUP, PROMPT, STEP, rows_of
from plaudit.inputs.images import is_decoded, opened, source_of
from plaudit.recipes import RowScore
from plaudit.recipes.row_score import scored_columns, text_array
from plaudit.runs._writer import COMPLETE, OPEN, WriterProcess
from plaudit.runs.recording import trainer_call, whole_number
from plaudit.runs.sessions import (
    RecordedPart,
    RecordSession,
    last_step,
    locked,
    open_session,
    supersede,
)
from plaudit.scores.decorators import HOOKS

LOGGER = logging.getLogger("plaudit")
LARGE = 32  # rows: a batch of as many becomes a part of its own; smaller ones share a part
FULL = 512  # rows: a part that has as many takes no further batch
OLDEST = 10.0  # seconds for which a part takes further batches
ROWS = 256  # rows that make a step, if rows come one at a time and without a step
VARIABLE = "PLAUDIT_RECORD_ROWS"  # another number of rows that make a step


class Recorder:
    """Records what a process scores, into a folder that any number of processes share.

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

    def _add(self, batch: "RecordedBatch", restarts: int | None) -> None:
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

    def _add_step(self, batch: "RecordedBatch", step: int) -> None:
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
        part = self._open.pop(step, None)
        if part is None:
            self._number += 1
            name = RecordedPart(step, session.process, session.number, self._number)
            part = _OpenPart(session.spool / f"{name}{OPEN}")
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

    def _close_parts(self, before: int | None = None) -> None:
        now = time.monotonic()
        for step, part in list(self._open.items()):
            is_past = before is not None and step < before
            if is_past or part.rows >= FULL or now - part.since > OLDEST:
                self._open.pop(step).complete()

    def _begin(self, batch: "RecordedBatch") -> dict[str, str]:
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


FOLDER = "thumbnails"
SIDE = 160  # pixels of the longer side
_COLUMNS = ("image", "images", "image_path")


def first_images(columns: Mapping[str, Sequence[Any]], prompts: Sequence[Any]) -> list[Any]:
    """Return the first image of each row, as the trainer passes it; None if it has none.

    columns: the columns that have an entry per row
    prompts: in whose messages there may be images
    """
    for name in _COLUMNS:
        if name in columns:
            return [_first(entry) for entry in columns[name]]
    return [_in_messages(prompt) for prompt in prompts]


def _first(entry: Any) -> Any:
    while isinstance(entry, list | tuple):
        entry = entry[0] if entry else None
    return entry


def _in_messages(prompt: Any) -> Any:
    for message in prompt if isinstance(prompt, list | tuple) else ():
        content = message.get("content") if isinstance(message, Mapping) else None
        for part in content if isinstance(content, list | tuple) else ():
            if isinstance(part, Mapping) and part.get("image") is not None:
                return part["image"]
    return None


def digest_of(image: Any) -> str | None:
    """Return a digest of an image, by which its thumbnail is named; None if it is no image."""
    if is_decoded(image):
        return digest(f"{image.mode} {image.size}".encode() + image.tobytes())
    try:
        source = source_of(image)
    except ValueError:
        return None
    if source is None or isinstance(source, tuple):
        return None
    return digest(source if isinstance(source, bytes) else source.encode())


def digest(content: bytes) -> str:
    """Twelve characters that tell this content from any other."""
    return blake2b(content, digest_size=6).hexdigest()


def write_thumbnail(image: Any, name: str, record: Path) -> str | None:
    """Write the thumbnail of an image if it is not there; None if the image cannot be read."""
    file = record / FOLDER / f"{name}.jpg"
    if file.exists():
        return f"{FOLDER}/{file.name}"
    with suppress(Exception):  # an image may be broken in any way, and the run goes on without it
        file.parent.mkdir(exist_ok=True)
        unfinished = file.with_suffix(f".{os.getpid()}")
        if is_decoded(image):
            _shrink(image, unfinished)
        else:
            with opened(source_of(image)) as found:  # type: ignore[arg-type]
                found.draft("RGB", (SIDE, SIDE))
                _shrink(found, unfinished)
        unfinished.replace(file)
        return f"{FOLDER}/{file.name}"
    return None


def _shrink(image: Any, file: Path) -> None:
    small = image.copy()
    small.thumbnail((SIDE, SIDE), reducing_gap=2.0)
    small.convert("RGB").save(file, "JPEG", quality=80)


PER_STEP, PER_PROCESS = 10**10, 10**6
FIXED = ("step", "process", "prompt", "completion", "thumbnail", "tokens", "seconds")
_SCORED = ("row_id", "group_id", "total", "status", "explanation")
TOKENS = "completion_ids"
_KEYS = ("index", "id", "solution")  # what tells prompts apart that the trainer does not pass
_LEFT_OUT = (
    *(*HOOKS, *STEP, "prompts", "prompt", "completions", "completion", TOKENS, "prompt_ids"),
    *("messages", "response_token_ids"),  # ms-swift's prompts and completions, once more
)
_LONGEST = 64  # numbers in a list: longer ones are token ids, log probabilities, features
_NUMBERS = {"int64": (int,), "double": (int, float), "bool": (bool,)}


@dataclass(frozen=True)
class RecordedBatch:
    """A batch: what the model wrote in each row, the other columns, and what each row got."""

    completions: Sequence[Any]
    columns: Mapping[str, Any]
    scores: Sequence[RowScore]
    seconds: float

    def __len__(self) -> int:
        return len(self.scores)

    def at(self, rows: Sequence[int]) -> "RecordedBatch":
        """Return some of its rows."""
        columns = {n: [values[row] for row in rows] for n, values in self.listed.items()}
        scores = [self.scores[row] for row in rows]
        share = self.seconds * len(rows) / max(len(self), 1)
        return RecordedBatch([self.completions[row] for row in rows], columns, scores, share)

    @cached_property
    def listed(self) -> dict[str, Sequence[Any]]:
        """The columns that have an entry per row."""
        found = {}
        for name, column in self.columns.items():
            try:
                rows = rows_of(column, name)
            except TypeError:
                continue
            if len(rows) == len(self) and name not in HOOKS:
                found[name] = rows
        return found


def steps_of(batch: RecordedBatch) -> tuple[int | list[int] | None, bool]:
    """Return the step of a batch, or of each row; and whether it is the trainer's own count."""
    step = trainer_call(batch.columns).step
    if step is not None:
        return step, True
    for name in STEP:
        rows = [whole_number(one) for one in batch.listed.get(name, ())]
        steps = [one for one in rows if one is not None]
        if rows and len(steps) == len(rows):
            return steps, False
        step = whole_number(batch.columns.get(name))
        if step is not None:
            return step, False
    return None, False


def kept_columns(batch: RecordedBatch, taken: Sequence[str]) -> dict[str, str]:
    """Return the columns to keep besides the fixed ones, and the type of each.

    The first batch decides; a later value of another type is recorded as null.
    """
    kept = {}
    for name, rows in batch.listed.items():
        if name in (*_LEFT_OUT, *FIXED, *_SCORED, *taken):
            continue
        kind = _kind([value for value in map(_plain, rows) if value is not None])
        if kind:
            kept[name] = kind
    return kept


def _kind(values: Sequence[Any]) -> str:
    """Return the type of a column; "" if its values cannot be kept."""
    if not values:
        return "string"
    for kind in _NUMBERS:
        if all(_is_of(one, kind) for one in values):
            return kind
    first = values[0]
    if isinstance(first, list | tuple) and len(first) > _LONGEST:
        return ""
    if isinstance(first, list | tuple | dict):
        return "string" if _is_json(first) else ""
    return "string" if isinstance(first, str | int | float) else ""


def _is_of(value: Any, kind: str) -> bool:
    return isinstance(value, _NUMBERS[kind]) and isinstance(value, bool) == (kind == "bool")


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, default=lambda array: array.tolist())
    except (AttributeError, TypeError, ValueError, RecursionError):
        return False
    return True


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _json_value(value: Any) -> Any:
    """Return arrays as lists, and what JSON cannot represent, such as an image, as its type."""
    return value.tolist() if hasattr(value, "tolist") else f"<{type(value).__name__}>"


def arrow_batch(
    batch: RecordedBatch,
    names: Sequence[str],
    kept: Mapping[str, str],
    step: int,
    process: int,
    first: int,
    record: Path,
) -> pa.RecordBatch:
    """The rows of a batch; `first` is how many rows of its step the process has recorded before."""
    rows, listed = len(batch), batch.listed
    start = step * PER_STEP + process * PER_PROCESS + first
    asked = next((listed[name] for name in PROMPT if name in listed), [None] * rows)
    prompts, own = _texts(asked), _own_groups(batch, first)
    digests, thumbnails = _images(batch, asked, first, record)
    tokens = listed.get(TOKENS)
    columns = {
        "row_id": pa.array(range(start, start + rows), pa.int64()),
        "group_id": text_array(_groups(step, prompts, digests, own, listed)),
        "step": pa.array([step] * rows, pa.int64()),
        "process": pa.array([process] * rows, pa.int32()),
        "prompt": text_array(prompts),
        "completion": text_array(_texts(batch.completions)),
        "thumbnail": text_array(thumbnails),
    }
    for name, kind in kept.items():
        columns[name] = _array(listed.get(name, [None] * rows), kind)
    columns["tokens"] = pa.array(
        [None] * rows
        if tokens is None
        else [len(one) if hasattr(one, "__len__") else None for one in tokens],
        pa.int64(),
    )
    columns["seconds"] = pa.array(_seconds(batch), pa.float64())
    by_name = {name: [row.components[name] for row in batch.scores] for name in names}
    totals = [row.total for row in batch.scores]
    statuses = [row.status for row in batch.scores]
    columns |= scored_columns(by_name, totals, statuses, timed=True)
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def _seconds(batch: RecordedBatch) -> list[float]:
    """Return how long each row took: the batch's seconds, by what its components measured."""
    own = [sum(s.seconds or 0.0 for s in row.components.values()) + 1e-9 for row in batch.scores]
    whole = sum(own)
    return [batch.seconds * one / whole for one in own]


def _texts(values: Sequence[Any]) -> list[str | None]:
    """Return text as it is, anything else as JSON; neighbours that are one object are one text."""
    texts = [_text(value) for value in values[:1]]
    for before, value in pairwise(values):
        texts.append(texts[-1] if value is before else _text(value))
    return texts


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=_json_value)
    except (TypeError, ValueError, RecursionError):
        return None


def _array(values: Sequence[Any], kind: str) -> pa.Array:
    if kind == "string":
        return text_array(_texts([_plain(value) for value in values]))
    fitting = [value if _is_of(value, kind) else None for value in map(_plain, values)]
    try:
        return pa.array(fitting, kind)
    except (pa.ArrowInvalid, OverflowError):  # an integer of more than 64 bits
        return pa.nulls(len(fitting), kind)


def _own_groups(batch: RecordedBatch, first: int) -> list[str] | None:
    """Return the group of each row by the trainer's own count or ids; None if it passes neither."""
    call, rows = trainer_call(batch.columns), len(batch)
    if call.group_size:
        return [str(call.group(row, rows, first)) for row in range(rows)]
    for name in GROUP:
        ids = [_text(_plain(one)) for one in batch.listed.get(name, ())]
        if ids and all(ids):
            return [digest(str(one).encode("utf-8", "replace"))[:8] for one in ids]
    return None


def _images(
    batch: RecordedBatch, prompts: Sequence[Any], first: int, record: Path
) -> tuple[list[str | None], list[str | None]]:
    """Return a digest of each row's image, and the path of its thumbnail in the record."""
    call, rows = trainer_call(batch.columns), len(batch)
    known: dict[Any, tuple[str | None, str | None]] = {}
    found: list[tuple[str | None, str | None]] = []
    for row, image in enumerate(first_images(batch.listed, prompts)):
        # TRL decodes the image of a group once for each row.
        key = call.group(row, rows, first) if call.group_size else id(image)
        if image is not None and key not in known:
            name = digest_of(image)
            known[key] = name, name and write_thumbnail(image, name, record)
        found.append((None, None) if image is None else known[key])
    return [name for name, _ in found], [path for _, path in found]


def _groups(
    step: int,
    prompts: list[str | None],
    images: Sequence[str | None],
    own: Sequence[str] | None,
    listed: Mapping[str, Sequence[Any]],
) -> list[str]:
    """The group of each row: the trainer's own, or else the prompt and its image in a step."""
    keys = prompts
    if all(prompt is None for prompt in prompts):
        others = [listed[name] for name in _KEYS if name in listed]
        keys = _texts(list(zip(*others, strict=True))) if others else prompts
    asked = [f"{text or ''}{image or ''}" for text, image in zip(keys, images, strict=True)]
    digests = {text: digest(text.encode("utf-8", "replace")) for text in dict.fromkeys(asked)}
    suffixes = [""] * len(asked) if own is None else [f".{name}" for name in own]
    return [f"{step}-{digests[text]}{end}" for text, end in zip(asked, suffixes, strict=True)]
