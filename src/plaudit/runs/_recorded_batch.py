"""A batch of a trainer, and what it got, as rows of a scored table in Arrow."""

import json
import os
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
from plaudit.runs.recording import trainer_call, whole_number
from plaudit.scores.decorators import HOOKS

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
    for kind, types in _NUMBERS.items():
        if all(
            isinstance(one, types) and isinstance(one, bool) == (kind == "bool") for one in values
        ):
            return kind
    first = values[0]
    if isinstance(first, list | tuple) and len(first) > _LONGEST:
        return ""
    if isinstance(first, list | tuple | dict):
        return "string" if _is_json(first) else ""
    return "string" if isinstance(first, str | int | float) else ""


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
    types = _NUMBERS[kind]
    fitting = [
        value if isinstance(value, types) and isinstance(value, bool) == (kind == "bool") else None
        for value in map(_plain, values)
    ]
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
