"""A scored folder: the names of its columns, and the texts of some rows."""

import json
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.inputs.column_names import COMPLETION, GOLD, PROMPT, STEP, TOKENS
from plaudit.inputs.completions import text_of
from plaudit.inputs.extract import json_items
from plaudit.recipes.scored_columns import input_name
from plaudit.reports._pass_at_k import Array
from plaudit.tables import InputError, ScoredFolder, open_scored

_QUIET = {True: 2.0, False: 10.0}  # seconds until something is told, on a terminal or in a log
_PAUSE = {True: 0.3, False: 10.0}  # and from one line to the next


class Progress:
    """Tells how much of a piece of work is done, if it takes long.

    quiet: seconds in which nothing is told; default: 2 on a terminal, 10 in a log
    """

    def __init__(self, out: TextIO | None, quiet: float | None = None) -> None:
        self._out = out
        self._terminal = out is not None and out.isatty()
        self._next = time.monotonic() + (_QUIET[self._terminal] if quiet is None else quiet)
        self._width = 0

    def tell(self, what: str, done: int = 0, total: int = 0) -> None:
        """Say what is being done, and how many rows of how many are done."""
        now = time.monotonic()
        if self._out is None or now < self._next:
            return
        self._next = now + _PAUSE[self._terminal]
        line = f"plaudit: {what}" + (f": {done:,} of {total:,} rows" if total else " …")
        if self._terminal:
            self._out.write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            self._out.write(line + "\n")
        self._out.flush()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *raised: object) -> None:
        if self._out is not None and self._width:
            self._out.write("\r" + " " * self._width + "\r")
            self._out.flush()


def told(
    progress: Progress | None, what: str, scored: "ScoredFolder", columns: Sequence[str]
) -> Iterator["pa.RecordBatch"]:
    """The batches of a scored folder, with these columns; progress tells how far they are read."""
    total = sum(pq.read_metadata(part).num_rows for part in scored.parts) if progress else 0
    done = 0
    for _, batch in scored.batches(columns):
        yield batch
        done += len(batch)
        if progress:
            progress.tell(what, done, total)


IMAGE = "image_path"
LABEL = "label"

NEEDED = ("row_id", "group_id", "total", "status", "explanation")
_EXAMPLES = 20  # of rejected rows
_SPLITS = 6  # columns that a report is split by without being options to
_VALUES = 20  # distinct values of such a column at most
_SHORT = 60  # characters of such a value at most
_PARTS = 16  # parts whose first rows are looked at to find such columns


@dataclass(frozen=True, slots=True)
class RejectedRows:
    """The rows that the run rejected: how many, and the first of them."""

    count: int
    examples: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What is options of a report; None or nothing: what the columns' names suggest.

    correct: the component that decides which rows are right
    by: columns to split the numbers by
    step, label: the columns that hold the training step, and whether a person calls the row right
    """

    correct: str | None = None
    by: tuple[str, ...] = ()
    step: str | None = None
    label: str | None = None

    def of_input(self, scored: ScoredFolder) -> "ReportOptions":
        """The same, with the columns of the input as readers of a scored folder call them."""

        def named(name: str | None) -> str | None:
            return None if name is None else input_name(name, scored.renamed)

        by = tuple(input_name(name, scored.renamed) for name in self.by)
        return replace(self, by=by, step=named(self.step), label=named(self.label))


@dataclass(frozen=True, slots=True)
class Folder:
    """A scored folder, checked, and the names of some of its columns; None if it has none.

    by: the columns that the numbers are split by
    others: the columns of the input that are shown only where a row is opened
    unread: those of them that hold bytes, such as images, which are not shown
    """

    scored: ScoredFolder
    completion: str | None
    prompt: str | None
    gold: str | None
    tokens: str | None
    image: str | None
    step: str | None
    label: str | None
    by: tuple[str, ...]
    others: tuple[str, ...]
    unread: tuple[str, ...]

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the run's components."""
        return self.scored.components


def open_folder(directory: Path, options: ReportOptions | None = None) -> Folder:
    """The scored folder at a path; raises InputError if it is not one, or lacks what is options."""
    scored, options = open_scored(directory), options or ReportOptions()
    if not scored.parts:
        raise InputError(f"{directory} has no part-*.parquet: `plaudit score` wrote no rows there")
    run, columns = scored.run, scored.columns(*NEEDED, *scored.components)
    columns = _in_every_part(scored, columns)
    options = options.of_input(scored)
    for option, names in (("by", options.by), ("step", [options.step]), ("label", [options.label])):
        _check_columns(directory, columns, option, names)
    kinds = scored.schema(scored.parts[0])

    def first(*names: object) -> str | None:
        """Return the first of these columns that is there, and is not one that scoring added."""
        added = (*NEEDED, *scored.components)
        read = (input_name(str(name), scored.renamed) for name in names)
        return next((name for name in read if name in columns and name not in added), None)

    texts = {
        "completion": first(run.get("completion_column"), *COMPLETION),
        "prompt": first(*PROMPT),
        "gold": first(_column_of("solution", run.get("recipe")), "solution", *GOLD),
    }
    shown = {*NEEDED, *scored.components, *texts.values()}
    others = [name for name in columns if name not in shown]
    numeric = [name for name in STEP if name in others and _is_number(kinds.field(name).type)]
    if options.step is not None and not _is_number(kinds.field(options.step).type):
        kind = kinds.field(options.step).type
        raise InputError(f"--step: column {options.step} must hold numbers, but it holds {kind}")
    step = options.step or first(*numeric)
    label = options.label or (first(LABEL) if texts["gold"] != LABEL else None)
    tokens, image = first(*TOKENS), first(IMAGE)
    if tokens and not _is_list(kinds.field(tokens).type):
        tokens = None  # a table of text, such as CSV, has them as text
    known = {step, label, tokens, image}
    return Folder(
        scored,
        completion=texts["completion"],
        prompt=texts["prompt"],
        gold=texts["gold"],
        tokens=tokens,
        image=image,
        step=step,
        label=label,
        by=options.by
        or _columns_to_split_by(scored, [name for name in others if name not in known]),
        others=tuple(name for name in others if not _holds_bytes(kinds.field(name).type)),
        unread=tuple(name for name in others if _holds_bytes(kinds.field(name).type)),
    )


def _check_columns(
    directory: Path, columns: Sequence[str], option: str, names: Sequence[str | None]
) -> None:
    for name in names:
        if name is not None and name not in columns:
            raise InputError(
                f"--{option}: {directory} has no column {name}; it has {', '.join(columns)}"
            )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _holds_bytes(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(_holds_bytes(kind.field(place).type) for place in range(kind.num_fields))
    if _is_list(kind):
        return _holds_bytes(kind.value_type)
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _columns_to_split_by(scored: ScoredFolder, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that have a few short values, such as a dataset's name or a level."""
    kinds = scored.schema(scored.parts[0])
    names = [name for name in columns if _may_be_split_by(kinds.field(name).type)]
    values: dict[str, set[Any]] = {name: set() for name in names}
    every = max(1, len(scored.parts) // _PARTS)
    for part in scored.parts[::every] if names else ():
        for _, batch in islice(scored.batches(names, [part]), 1):
            for name in names:
                values[name] |= set(batch[name].unique().to_pylist())
    few = [n for n in names if 2 <= len(values[n]) <= _VALUES and _are_short(values[n])]
    return tuple(few[:_SPLITS])


def _may_be_split_by(kind: pa.DataType) -> bool:
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(is_text or pa.types.is_boolean(kind) or pa.types.is_integer(kind))


def _are_short(values: set[Any]) -> bool:
    return all(len(str(value)) <= _SHORT for value in values)


def _in_every_part(scored: ScoredFolder, columns: Sequence[str]) -> list[str]:
    """Return the columns that every part has.

    Raises if a part does not say which rows are right: values alone do not tell.
    """
    for part in scored.parts:
        schema = scored.schema(part)
        columns = [name for name in columns if name in schema.names]
        kind = schema.field("explanation").type
        known = {field.name for field in kind.value_type} if pa.types.is_list(kind) else set()
        if missing := sorted({"right", "gold_in_part"} - known):
            raise InputError(
                f"{part} was written by an earlier version of plaudit: its explanations have no "
                f"{' and no '.join(missing)}; score the table again, with --overwrite"
            )
    return list(columns)


def _column_of(argument: str, recipe: object) -> object:
    """Return the column that a recipe reads an argument from, if it says so."""
    try:
        columns = tomllib.loads(str(recipe)).get("columns")
    except tomllib.TOMLDecodeError:
        return None
    return columns.get(argument) if isinstance(columns, dict) else None


def rejected_rows(directory: Path) -> RejectedRows:
    """Return the rows in `_rejected.jsonl`; a line that is not JSON counts as well."""
    file = directory / "_rejected.jsonl"
    if not file.is_file():
        return RejectedRows(0, [])
    count = 0
    examples: list[dict[str, Any]] = []
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.strip():
                count += 1
                if len(examples) < _EXAMPLES:
                    examples.append(_rejected_example(line))
    return RejectedRows(count, examples)


def _rejected_example(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"reason": line.strip()[:500]}


def rows_at(
    folder: Folder,
    places: Array,
    columns: Sequence[str] = (),
    progress: Progress | None = None,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Return the rows at these places (indices over all parts), in order, each with its place.

    columns: the names of columns to read besides those that every row of a page needs
    """
    texts = filter(None, (folder.completion, folder.prompt, folder.gold))
    wanted = list(dict.fromkeys([*NEEDED, *folder.components, *texts, *columns]))
    places = np.sort(places)
    if not len(places):
        return
    start = 0
    for batch in told(progress, "taking rows for the page", folder.scored, wanted):
        inside = places[(places >= start) & (places < start + len(batch))]
        if len(inside):
            rows = batch.take(pa.array(inside - start)).to_pylist()
            for place, row in zip(inside, rows, strict=True):
                yield int(place), row
        start += len(batch)
        if start > places[-1]:
            return


def array_of(column: pa.Array) -> Array:
    values: Array = column.to_numpy(zero_copy_only=False)
    return values


def floats_of(column: pa.Array) -> Array:
    return array_of(column.cast(pa.float64()))


def number_of_text(text: str) -> int:
    """Return a number that depends only on the words of a text, the same in every run."""
    digest = blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=7).digest()
    return int.from_bytes(digest, "big")


def completion_text(value: Any) -> str:
    """The text of a completion; anything else is shown as Python prints it, and None as ""."""
    try:
        return text_of(_messages(value) or value)
    except TypeError:
        return "" if value is None else str(value)


def prompt_text(value: Any) -> str:
    """The text of a prompt; if it is several messages, each with its role. Tool calls are shown."""
    messages = _messages(value)
    if messages is None:
        return completion_text(value)
    said = [(message["role"], _said(message)) for message in messages]
    if len(said) == 1:
        return said[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in said)


def _said(message: dict[str, Any]) -> str:
    """Return the text of a message, and the tools that it calls: `search({"query": "Paris"})`."""
    called = []
    for call in message.get("tool_calls") or ():
        function = call.get("function", call) if isinstance(call, dict) else {"name": call}
        given = function.get("arguments", "")
        arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        called.append(f"{function.get('name')}({arguments})")
    return "\n".join(filter(None, [completion_text({"content": message.get("content")}), *called]))


def _messages(value: Any) -> list[dict[str, Any]] | None:
    """Messages, even if they were written as JSON because other rows of the column are text."""
    if isinstance(value, str) and value.startswith("[{"):
        value = json_items(value)
    is_list = isinstance(value, list) and len(value) > 0
    return value if is_list and all(isinstance(m, dict) and "role" in m for m in value) else None
