"""A scored folder: the names of its columns, the numbers of every row, the texts of some rows."""

import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from plaudit.inputs.columns import COMPLETION, GOLD, IMAGE, PROMPT, STEP, TOKENS
from plaudit.inputs.completions import text_of
from plaudit.inputs.extract import json_items
from plaudit.recipes.row_score import input_name
from plaudit.tables import InputError, open_scored
from plaudit.tables.output import ScoredFolder
from plaudit.tables.summary import ProgressLine

Array = np.ndarray[Any, np.dtype[Any]]

LABEL = "label"
NO_ANSWER = 0  # the number of the answer of a row without one

_ADDED = ("row_id", "group_id", "total", "status", "explanation")  # by scoring
_EXAMPLES = 20  # of rejected rows
_SPLITS = 6  # columns that a report is split by unless options name some
_VALUES = 20  # distinct values of such a column at most
_SHORT = 60  # characters of such a value at most
_PARTS = 16  # parts whose first rows are looked at to find such columns
_RIGHT = frozenset("true t yes y right correct equal pass passed good positive".split())
_WRONG = frozenset("false f no n wrong incorrect different fail failed bad negative".split())
_EMPTY = frozenset(["", "none", "null", "nan", "n/a", "unknown", "?"])
_EXPECTED = "true or false, a number from 0 to 1, or a word such as correct or wrong"


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """The options of a report, see `write_report`; None or (): what the columns' names suggest."""

    correct: str | None = None
    by: tuple[str, ...] = ()
    step: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Folder:
    """A scored folder, checked, and the names of some of its columns; None if it has none."""

    scored: ScoredFolder
    completion: str | None
    prompt: str | None
    gold: str | None
    tokens: str | None
    image: str | None
    step: str | None
    label: str | None
    by: tuple[str, ...]  # the columns that the numbers are split by
    others: tuple[str, ...]  # the columns of the input that are shown only if a row is opened
    unread: tuple[str, ...]  # those of them that hold bytes, such as images, which are not shown

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the run's components."""
        return self.scored.components


def open_folder(directory: Path, options: ReportOptions | None = None) -> Folder:
    """Return the scored folder at a path; raise InputError if it lacks what the options name."""
    scored, options = open_scored(directory), options or ReportOptions()
    if not scored.parts:
        raise InputError(f"{directory} has no part-*.parquet: `plaudit score` wrote no rows there")
    added = (*_ADDED, *scored.components)
    columns = _in_every_part(scored, scored.columns(*added))
    schema = scored.schema(scored.parts[0])
    kinds = dict(zip(schema.names, schema.types, strict=True))

    def wanted(option: str, name: str | None) -> str | None:
        """Return the column of the input that an option names."""
        found = None if name is None else input_name(name, scored.renamed)
        if found is not None and found not in columns:
            has = ", ".join(columns)
            raise InputError(f"--{option}: {directory} has no column {found}; it has {has}")
        return found

    def first(*names: object) -> str | None:
        """Return the first of these columns that is there, and is not one that scoring added."""
        read = (input_name(str(name), scored.renamed) for name in names)
        return next((name for name in read if name in columns and name not in added), None)

    by = tuple(name for one in options.by if (name := wanted("by", one)))
    step, label = wanted("step", options.step), wanted("label", options.label)
    if step is not None and not _is_number(kinds[step]):
        raise InputError(f"--step: column {step} must hold numbers, but it holds {kinds[step]}")
    completion = first(scored.run.get("completion_column"), *COMPLETION)
    prompt = first(*PROMPT)
    gold = first(_column_of("solution", scored.run.get("recipe")), "solution", *GOLD)
    others = [name for name in columns if name not in (*added, completion, prompt, gold)]
    step = step or first(*(name for name in STEP if name in others and _is_number(kinds[name])))
    label = label or (first(LABEL) if gold != LABEL else None)
    tokens, image = first(*TOKENS), first(*IMAGE)
    if tokens and not _is_list(kinds[tokens]):
        tokens = None  # a table of text, such as CSV, has them as text
    free = [name for name in others if name not in (step, label, tokens, image)]
    return Folder(
        scored,
        completion=completion,
        prompt=prompt,
        gold=gold,
        tokens=tokens,
        image=image,
        step=step,
        label=label,
        by=by or _columns_to_split_by(scored, {name: kinds[name] for name in free}),
        others=tuple(name for name in others if not _holds_bytes(kinds[name])),
        unread=tuple(name for name in others if _holds_bytes(kinds[name])),
    )


def distinct_names(directories: Sequence[Path]) -> list[str]:
    """Return short names that tell folders apart."""
    parts = [directory.resolve().parts for directory in directories]
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-length:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({number})" for number, name in enumerate(names, 1)]


def _in_every_part(scored: ScoredFolder, columns: Sequence[str]) -> list[str]:
    """Return the columns that every part has.

    Raises if a part does not say which rows are right: values alone do not tell.
    """
    for part in scored.parts:
        schema = scored.schema(part)
        columns = [name for name in columns if name in schema.names]
        kind = schema.field("explanation").type
        known = {field.name for field in kind.value_type} if pa.types.is_list(kind) else set()
        if missing := sorted({"right", "partial_gold"} - known):
            raise InputError(
                f"{part} was written by an earlier version of plaudit: its explanations have no "
                f"{' and no '.join(missing)}; score the table again, with --overwrite"
            )
    return list(columns)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _holds_bytes(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(_holds_bytes(kind.field(index).type) for index in range(kind.num_fields))
    if _is_list(kind):
        return _holds_bytes(kind.value_type)
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _columns_to_split_by(scored: ScoredFolder, kinds: dict[str, pa.DataType]) -> tuple[str, ...]:
    """Return the columns that have a few short values, such as a dataset's name or a level."""
    tests = (
        *(pa.types.is_string, pa.types.is_large_string),
        *(pa.types.is_boolean, pa.types.is_integer),
    )
    names = [name for name, kind in kinds.items() if any(test(kind) for test in tests)]
    values: dict[str, set[Any]] = {name: set() for name in names}
    every = max(1, len(scored.parts) // _PARTS)
    for part in scored.parts[::every] if names else ():
        for _, batch in islice(scored.batches(names, [part]), 1):
            for name in names:
                values[name] |= set(batch[name].unique().to_pylist())
    few = [
        name
        for name, found in values.items()
        if 2 <= len(found) <= _VALUES and all(len(str(value)) <= _SHORT for value in found)
    ]
    return tuple(few[:_SPLITS])


def _column_of(argument: str, recipe: object) -> object:
    """Return the column that a recipe reads an argument from, if it says so."""
    try:
        columns = tomllib.loads(str(recipe)).get("columns")
    except tomllib.TOMLDecodeError:
        return None
    return columns.get(argument) if isinstance(columns, dict) else None


@dataclass(frozen=True, slots=True)
class RejectedRows:
    """The rows that the run rejected: how many, and the first of them."""

    count: int
    examples: list[dict[str, Any]]


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


# --- the texts of some rows -----------------------------------------------------------------------


def _batches(
    folder: Folder, columns: Sequence[str], what: str, progress: ProgressLine | None
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a folder with these columns, and show how many rows are read."""
    parts = folder.scored.parts if progress else ()
    total, done = sum(pq.read_metadata(part).num_rows for part in parts), 0
    for _, batch in folder.scored.batches(list(dict.fromkeys(columns))):
        yield batch
        done += len(batch)
        if progress:
            progress(what, done, total)


def rows_at(
    folder: Folder,
    indices: Array,
    columns: Sequence[str] = (),
    progress: ProgressLine | None = None,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows at these indices over all parts, in order, each with its index.

    columns: the columns to read besides those that every row of a page needs
    """
    texts = filter(None, (folder.completion, folder.prompt, folder.gold))
    wanted = [*_ADDED, *folder.components, *texts, *columns]
    batches = _batches(folder, wanted, "taking rows for the page", progress)
    return pick_rows(batches, np.sort(indices))


def pick_rows(
    batches: Iterator[pa.RecordBatch], indices: Array
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows at these indices, which rise, each with its index."""
    start = 0
    for batch in batches if len(indices) else ():
        inside = indices[(indices >= start) & (indices < start + len(batch))]
        if len(inside):
            rows = batch.take(pa.array(inside - start)).to_pylist()
            yield from zip(inside.tolist(), rows, strict=True)
        start += len(batch)
        if start > indices[-1]:
            return


def completion_text(value: Any) -> str:
    """Return the text of a completion; anything else as Python prints it, and None as ""."""
    try:
        return text_of(_messages(value) or value)
    except TypeError:
        return "" if value is None else str(value)


def prompt_text(value: Any) -> str:
    """Return the text of a prompt, with its tool calls; of several messages, with their roles."""
    messages = _messages(value)
    if messages is None:
        return completion_text(value)
    texts = [(message["role"], _message_text(message)) for message in messages]
    if len(texts) == 1:
        return texts[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in texts)


def _message_text(message: dict[str, Any]) -> str:
    """Return the text of a message, and the tools that it calls: `search({"query": "Paris"})`."""
    calls = []
    for call in message.get("tool_calls") or ():
        function = call.get("function", call) if isinstance(call, dict) else {"name": call}
        arguments = function.get("arguments", "")
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        calls.append(f"{function.get('name')}({arguments})")
    return "\n".join(filter(None, [completion_text({"content": message.get("content")}), *calls]))


def _messages(value: Any) -> list[dict[str, Any]] | None:
    """Return messages, even if they are JSON because other rows of the column are text."""
    if isinstance(value, str) and value.startswith("[{"):
        value = json_items(value)
    is_list = isinstance(value, list) and len(value) > 0
    return value if is_list and all(isinstance(m, dict) and "role" in m for m in value) else None


# --- the numbers of every row ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Split:
    """A column's value of each row, as an index in `names`; the name of None is ""."""

    codes: Array
    names: list[str]


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a run, with one entry per row; NaN stands for None.

    groups, statuses: indices in group_names and in status_names
    lengths: in `unit`: tokens if the run has them, else characters
    right: 1 or 0 by the component that decides what is right; NaN if it does not say
    answers: a number for each answer by the same component; equal answers have the same number
    component_statuses: how many rows have a status, by (component, status)
    golds_in_part: how many rows have a gold of which only a part was read
    labels: 1 or 0 by a person, NaN if there is none; None if the run has no such column
    prompts: a number for each prompt, or for each group if the rows have no prompt; None unless
        they were asked for
    """

    row_ids: Array
    groups: Array
    group_names: list[str]
    totals: Array
    values: dict[str, Array]
    statuses: Array
    status_names: list[str]
    lengths: Array
    unit: str
    characters: Array
    right: Array
    answers: Array
    component_statuses: dict[tuple[str, str], int]
    golds_in_part: int
    steps: Array | None = None
    labels: Array | None = None
    splits: dict[str, Split] = field(default_factory=dict)
    prompts: Array | None = None


def numbers_of(
    folder: Folder,
    correct: str | None,
    *,
    prompts: bool = False,
    strict_labels: bool = False,
    progress: ProgressLine | None = None,
) -> Numbers:
    """Read the numbers of every row; `correct` is the component that says what is right.

    strict_labels: whether a label that cannot be read is an error; else the run has no labels
    """
    prompt = (folder.prompt or "group_id") if prompts else None
    texts = (folder.completion, folder.tokens, folder.step, folder.label, prompt)
    wanted = [*_ADDED, *folder.components, *filter(None, texts), *folder.by]
    found: dict[Any, list[Any]] = {}
    codes: dict[str, list[pa.Array]] = {"group_id": [], "status": [], **{n: [] for n in folder.by}}
    statuses: Counter[tuple[str, str]] = Counter()
    golds_in_part = 0
    for batch in _batches(folder, wanted, "reading", progress):
        explained = _Explained(batch["explanation"])
        for name, values in _numbers_in(batch, folder, explained, correct, prompt).items():
            found.setdefault(name, []).append(values)
        if folder.label:
            labels = read_labels(batch[folder.label], batch["row_id"], folder.label, strict_labels)
            found.setdefault("label", []).append(labels)
        for name, chunks in codes.items():
            chunks.append(_as_text(batch[name]).fill_null("").dictionary_encode())
        statuses.update(explained.statuses())
        golds_in_part += explained.golds_in_part()

    def whole(name: Any, kind: Any = np.float64) -> Array:
        return np.concatenate([np.zeros(0, kind), *found.get(name, [])])

    splits = {name: _split_of(chunks) for name, chunks in codes.items()}
    has_labels = folder.label and all(chunk is not None for chunk in found.get("label", []))
    return Numbers(
        row_ids=whole("row id", np.int64),
        groups=splits["group_id"].codes,
        group_names=splits["group_id"].names,
        totals=whole("total"),
        values={name: whole(("component", name)) for name in folder.components},
        statuses=splits["status"].codes,
        status_names=splits["status"].names,
        lengths=whole("length", np.int64),
        unit="tokens" if folder.tokens else "characters",
        characters=whole("characters", np.int64),
        right=whole("right"),
        answers=whole("answer", np.int64),
        component_statuses=dict(statuses),
        golds_in_part=golds_in_part,
        steps=whole("step") if folder.step else None,
        labels=whole("label") if has_labels else None,
        splits={name: splits[name] for name in folder.by},
        prompts=whole("prompt", np.int64) if prompt else None,
    )


def _numbers_in(
    batch: pa.RecordBatch,
    folder: Folder,
    explained: "_Explained",
    correct: str | None,
    prompt: str | None,
) -> dict[Any, Array]:
    # A component may have any name, "answer" or "length" too: it has keys of its own.
    found: dict[Any, Array] = {("component", n): floats(batch[n]) for n in folder.components}
    found["total"], found["row id"] = floats(batch["total"]), _array(batch["row_id"])
    found["right"], found["answer"] = explained.right_and_answers(correct, len(batch))
    completions = batch[folder.completion] if folder.completion else None
    found["length"] = found["characters"] = _characters(completions, len(batch))
    if folder.tokens:
        counts = pc.list_value_length(batch[folder.tokens]).fill_null(0)
        found["length"] = _array(counts).astype(np.int64)
    if folder.step:
        found["step"] = floats(batch[folder.step])
    if prompt:
        found["prompt"] = _prompt_numbers(batch[prompt], batch["group_id"])
    return found


def _array(column: pa.Array) -> Array:
    values: Array = column.to_numpy(zero_copy_only=False)
    return values


def floats(column: pa.Array) -> Array:
    """Return a column as numbers; NaN stands for None."""
    return _array(column.cast(pa.float64()))


def _as_text(column: pa.Array) -> pa.Array:
    try:
        return column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # lists, structures, bytes
        texts = [None if v is None else json.dumps(v, default=str) for v in column.to_pylist()]
        return pa.array(texts, pa.string())


def _split_of(chunks: list[pa.DictionaryArray]) -> Split:
    if not chunks:
        return Split(np.zeros(0, np.int64), [])
    whole = pa.chunked_array(chunks).unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    return Split(_array(whole.indices).astype(np.int64), whole.dictionary.to_pylist())


def _characters(column: pa.Array | None, rows: int) -> Array:
    if column is None:
        return np.zeros(rows, np.int64)
    if pa.types.is_string(column.type) and not pc.any(pc.starts_with(column, "[{")).as_py():
        return _array(pc.utf8_length(column).fill_null(0)).astype(np.int64)
    return np.array([len(completion_text(value)) for value in column.to_pylist()], np.int64)


def _number_of_text(text: str) -> int:
    """Return a number that depends only on the words of a text, the same in every run."""
    digest = blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=7).digest()
    return int.from_bytes(digest, "big")


def _prompt_numbers(column: pa.Array, groups: pa.Array) -> Array:
    """Return a number for each prompt that depends only on its text, to match those of two runs.

    A row without a prompt has that of its group.
    """
    if pa.types.is_string(column.type):
        encoded = column.fill_null("").dictionary_encode()
        texts, codes = encoded.dictionary.to_pylist(), _array(encoded.indices)
    else:
        texts, codes = column.to_pylist(), np.arange(len(column))
    prompts = [prompt_text(text) for text in texts]
    numbers = np.array([_number_of_text(prompt) for prompt in prompts], np.int64)[codes]
    empty = np.array([not prompt for prompt in prompts], bool)[codes]
    for row in np.flatnonzero(empty).tolist():
        numbers[row] = _number_of_text(f"group {groups[row]}")
    return numbers


class _Explained:
    """The explanations of a batch, flattened: one entry per row and component."""

    def __init__(self, column: pa.ListArray) -> None:
        self.rows, self.entries = _array(pc.list_parent_indices(column)), pc.list_flatten(column)

    def statuses(self) -> Counter[tuple[str, str]]:
        """Return how many rows have a status, by (component, status)."""
        names = ["component", "status"]
        table = pa.table([pc.struct_field(self.entries, name) for name in names], names)
        found = table.group_by(names).aggregate([([], "count_all")]).to_pylist()
        return Counter({(str(r["component"]), str(r["status"])): r["count_all"] for r in found})

    def golds_in_part(self) -> int:
        """Return how many rows have a gold of which only a part was read."""
        marked = pc.fill_null(pc.struct_field(self.entries, "partial_gold"), False)
        return len(np.unique(self.rows[_array(marked)]))

    def right_and_answers(self, component: str | None, rows: int) -> tuple[Array, Array]:
        """Return whether each row is right, and a number for its answer.

        Equal answers have the same number; all right answers have the number 1.
        """
        right, answers = np.full(rows, np.nan), np.full(rows, NO_ANSWER, np.int64)
        names = pc.struct_field(self.entries, "component")
        mine = pc.fill_null(pc.equal(names, component), False)
        at, entries = self.rows[_array(mine)], self.entries.filter(mine)
        right[at] = floats(pc.struct_field(entries, "right"))
        texts = pc.struct_field(entries, "answer").dictionary_encode()
        # No text has to be kept; + 2: neither NO_ANSWER nor the number of what is right.
        known = [_number_of_text(text) + 2 for text in texts.dictionary.to_pylist()]
        numbers = np.array(known or [NO_ANSWER], np.int64)
        answers[at] = numbers[_array(texts.indices.fill_null(0))]
        answers[at[_array(texts.is_null())]] = NO_ANSWER
        answers[right == 1] = 1
        return right, answers


def right_component(folder: Folder, wanted: str | None) -> str | None:
    """Return the component that says which rows are right; None if none does.

    That is `wanted`, if it is not None; else the first whose name contains "accuracy", else the
    first.
    """
    names = folder.components
    if wanted is not None and wanted not in names:
        raise InputError(f"no component is called {wanted!r}; the run has {', '.join(names)}")
    deciding: set[str] = set()
    for _, batch in folder.scored.batches(["explanation"]):
        entries = _Explained(batch["explanation"]).entries
        decided = entries.filter(pc.is_valid(pc.struct_field(entries, "right")))
        deciding |= set(pc.struct_field(decided, "component").unique().to_pylist())
        if wanted in deciding or (wanted is None and deciding):
            break
    known = [name for name in names if name in deciding]
    if wanted is not None and wanted not in deciding:
        others = f"choose {' or '.join(known)}, or " if known else ""
        raise InputError(
            f"{wanted} does not say which rows are right: {others}add `right = 1.0` (the least "
            "value of a right row) to it in the recipe, and score the table again"
        )
    return wanted or next((n for n in known if "accuracy" in n), known[0] if known else None)


def read_labels(column: pa.Array, row_ids: pa.Array, name: str, strict: bool) -> Array | None:
    """Return the labels of a batch, NaN if there is none; None if one cannot be read.

    strict: raise instead, and name the row
    """
    if not isinstance(column, pa.DictionaryArray):
        if pa.types.is_nested(column.type):
            column = pa.array([str(value) for value in column.to_pylist()])
        column = column.dictionary_encode()
    known = [_label(value) for value in column.dictionary.to_pylist()]
    if None in known and strict:
        code = known.index(None)
        row = row_ids.filter(pc.fill_null(pc.equal(column.indices, code), False))[0]
        value = column.dictionary[code].as_py()
        raise InputError(
            f"--label: column {name} must hold {_EXPECTED}; row {row} has {value!r:.60}"
        )
    values = np.array([np.nan if value is None else value for value in known] or [np.nan])
    labels: Array = values[_array(column.indices.fill_null(0))]
    labels[_array(column.indices.is_null())] = np.nan
    return None if None in known else labels


def _label(value: Any) -> float | None:
    """Return 1 or 0; NaN for no label, None for a value that cannot be read as one."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _RIGHT or word in _WRONG:
            return float(word in _RIGHT)
        if word in _EMPTY:
            return np.nan
        try:
            value = float(word)
        except ValueError:
            return None
    if not isinstance(value, int | float):
        return None
    if value != value:
        return np.nan
    return float(value >= 0.5) if 0 <= value <= 1 or value == -1 else None
