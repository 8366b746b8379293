"""The numbers of all rows of a scored folder, in memory: some hundred bytes per row."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plaudit.reports._folder import (
    NEEDED,
    Folder,
    Progress,
    array_of,
    completion_text,
    floats_of,
    number_of_text,
    prompt_text,
    told,
)
from plaudit.reports._pass_at_k import NO_ANSWER, Array
from plaudit.tables import InputError

_RIGHT = frozenset("true t yes y right correct equal pass passed good positive".split())
_WRONG = frozenset("false f no n wrong incorrect different fail failed bad negative".split())
_EMPTY = frozenset(["", "none", "null", "nan", "n/a", "unknown", "?"])
_EXPECTED = "true or false, a number from 0 to 1, or a word such as correct or wrong"


class LabelReader:
    """Reads the labels of a column, batch by batch.

    strict: raise where a label cannot be read; else `unreadable` says that there was one
    """

    def __init__(self, column: str, strict: bool) -> None:
        self._column, self._strict = column, strict
        self.unreadable = False

    def of(self, column: pa.Array, row_ids: Array) -> Array:
        """Return the labels of a batch, NaN where there is none."""
        encoded = column if isinstance(column, pa.DictionaryArray) else _encoded(column)
        known = [self._read(value) for value in encoded.dictionary.to_pylist()]
        if None in known:
            self._complain(encoded, known, row_ids)
        values = np.array([np.nan if v is None else v for v in known] or [np.nan])
        labels: Array = values[array_of(encoded.indices.fill_null(0))]
        labels[array_of(encoded.indices.is_null())] = np.nan
        return labels

    def _complain(self, encoded: pa.DictionaryArray, known: list[Any], row_ids: Array) -> None:
        self.unreadable = True
        if not self._strict:
            return
        code = known.index(None)
        row = row_ids[array_of(encoded.indices.fill_null(-1)) == code][0]
        value = encoded.dictionary[code].as_py()
        raise InputError(
            f"--label: column {self._column} must hold {_EXPECTED}; row {row} has {value!r:.60}"
        )

    @staticmethod
    def _read(value: Any) -> float | None:
        """1 or 0; NaN where there is no label, None where the value cannot be read as one."""
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


def _encoded(column: pa.Array) -> pa.DictionaryArray:
    if pa.types.is_nested(column.type):
        column = pa.array([str(value) for value in column.to_pylist()])
    return column.dictionary_encode()


@dataclass(frozen=True, slots=True)
class Explained:
    """The explanations of a batch, flattened: one entry per row and component."""

    rows: Array
    entries: pa.StructArray


def explained_in(column: pa.ListArray) -> Explained:
    return Explained(array_of(pc.list_parent_indices(column)), pc.list_flatten(column))


def statuses_of(explained: Explained) -> Counter[tuple[str, str]]:
    names = [pc.struct_field(explained.entries, name) for name in ("component", "status")]
    counted = pa.table(names, ["component", "status"]).group_by(["component", "status"])
    found = counted.aggregate([([], "count_all")]).to_pylist()
    return Counter({(str(row["component"]), str(row["status"])): row["count_all"] for row in found})


def golds_in_part(explained: Explained) -> int:
    marked = pc.fill_null(pc.struct_field(explained.entries, "gold_in_part"), False)
    return len(np.unique(explained.rows[array_of(marked)]))


def right_and_answers(
    explained: Explained, component: str | None, rows: int
) -> tuple[Array, Array]:
    """Return whether each row is right, and a number that stands for its answer.

    Equal answers have the same number; all right answers have the number 1.
    """
    right, answers = np.full(rows, np.nan), np.full(rows, NO_ANSWER, np.int64)
    mine = pc.fill_null(pc.equal(pc.struct_field(explained.entries, "component"), component), False)
    at = explained.rows[array_of(mine)]
    entries = explained.entries.filter(mine)
    right[at] = floats_of(pc.struct_field(entries, "right"))
    texts = pc.struct_field(entries, "answer").dictionary_encode()
    known = [_answer_number(text) for text in texts.dictionary.to_pylist()]
    numbers = np.array(known or [NO_ANSWER], np.int64)
    answers[at] = numbers[array_of(texts.indices.fill_null(0))]
    answers[at[array_of(texts.is_null())]] = NO_ANSWER
    answers[right == 1] = 1
    return right, answers


def _answer_number(answer: str) -> int:
    """Return a number for an answer, so that no text has to be kept; never 0 or 1."""
    return number_of_text(answer) + 2


def right_component(folder: Folder, wanted: str | None) -> str | None:
    """Return the component that says which rows are right; None if none does.

    That is `wanted`, if given; else the first whose name contains "accuracy", else the first.
    """
    names = folder.components
    if wanted is not None and wanted not in names:
        raise InputError(f"no component is called {wanted!r}; the run has {', '.join(names)}")
    saying: set[str] = set()
    for _, batch in folder.scored.batches(["explanation"]):
        entries = explained_in(batch["explanation"]).entries
        says = entries.filter(pc.is_valid(pc.struct_field(entries, "right")))
        saying |= set(pc.struct_field(says, "component").unique().to_pylist())
        if wanted in saying or (wanted is None and saying):
            break
    known = [name for name in names if name in saying]
    if wanted is not None and wanted not in saying:
        others = f"choose {' or '.join(known)}, or " if known else ""
        raise InputError(
            f"{wanted} does not say which rows are right: {others}add `right = 1.0` (the least "
            "value of a right row) to it in the recipe, and score the table again"
        )
    return wanted or next((n for n in known if "accuracy" in n), known[0] if known else None)


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
    steps: the training step; None if the run has none
    labels: 1 or 0 by a person, NaN if there is none; None if the run has no such column
    splits: for each column to split by, the value of each row
    prompts: a number for each prompt, or for each group if the rows have no prompt; None unless
        options for
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
    progress: Progress | None = None,
) -> Numbers:
    """Read the numbers of every row.

    correct: the component that says what is right
    prompts: whether to number the prompts, which takes time
    strict_labels: whether a label that cannot be read is an error; else the run has no labels
    """
    reader = _Reader(folder, correct, prompts, strict_labels)
    for batch in told(progress, "reading", folder.scored, reader.wanted):
        reader.add(batch)
    return reader.numbers()


class _Reader:
    """Adds up the numbers of a run, batch by batch; see `numbers_of`."""

    def __init__(
        self, folder: Folder, correct: str | None, prompts: bool, strict_labels: bool
    ) -> None:
        self._folder, self._correct = folder, correct
        self._prompt = (folder.prompt or "group_id") if prompts else None
        self._groups, self._statuses = _Codes(), _Codes()
        self._splits = {name: _Codes() for name in folder.by}
        self._labels = LabelReader(folder.label, strict_labels) if folder.label else None
        self._component_statuses: Counter[tuple[str, str]] = Counter()
        self._golds_in_part = 0
        self._columns: dict[Any, list[Array]] = {}

    @property
    def wanted(self) -> list[str]:
        """The columns that are read."""
        folder = self._folder
        also = (folder.completion, folder.tokens, folder.step, folder.label, self._prompt)
        known = [*NEEDED, *folder.components, *filter(None, also), *folder.by]
        return list(dict.fromkeys(known))

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the rows of a batch."""
        folder, completion, tokens = self._folder, self._folder.completion, self._folder.tokens
        # A component may have any name, "answer" or "length" too: it has keys of its own.
        read: dict[Any, Array] = {
            ("component", name): floats_of(batch[name]) for name in folder.components
        }
        read["total"] = floats_of(batch["total"])
        read["row id"] = array_of(batch["row_id"])
        read["group"] = self._groups.of(batch["group_id"])
        read["status"] = self._statuses.of(batch["status"])
        read["characters"] = _characters(batch[completion] if completion else None, len(batch))
        read["length"] = _token_counts(batch[tokens]) if tokens else read["characters"]
        explained = explained_in(batch["explanation"])
        read["right"], read["answer"] = right_and_answers(explained, self._correct, len(batch))
        if folder.step:
            read["step"] = floats_of(batch[folder.step])
        if self._labels:
            read["label"] = self._labels.of(batch[folder.label], read["row id"])
        if self._prompt:
            read["prompt"] = _prompt_numbers(batch[self._prompt], batch["group_id"])
        read |= {("split", name): codes.of(batch[name]) for name, codes in self._splits.items()}
        self._golds_in_part += golds_in_part(explained)
        self._component_statuses.update(statuses_of(explained))
        for name, values in read.items():
            self._columns.setdefault(name, []).append(values)

    def numbers(self) -> Numbers:
        """Return the numbers of all rows that were added."""
        folder, labels = self._folder, self._labels
        whole = {name: np.concatenate(chunks) for name, chunks in self._columns.items()}
        floats, integers = np.zeros(0), np.zeros(0, np.int64)  # of a run without rows
        has_labels = labels is not None and not labels.unreadable
        return Numbers(
            row_ids=whole.get("row id", integers),
            groups=whole.get("group", integers),
            group_names=self._groups.names,
            totals=whole.get("total", floats),
            values={name: whole.get(("component", name), floats) for name in folder.components},
            statuses=whole.get("status", integers),
            status_names=self._statuses.names,
            lengths=whole.get("length", integers),
            unit="tokens" if folder.tokens else "characters",
            characters=whole.get("characters", integers),
            right=whole.get("right", floats),
            answers=whole.get("answer", integers),
            component_statuses=dict(self._component_statuses),
            golds_in_part=self._golds_in_part,
            steps=whole.get("step", floats) if folder.step else None,
            labels=whole.get("label", floats) if has_labels else None,
            splits={
                name: Split(whole.get(("split", name), integers), codes.names)
                for name, codes in self._splits.items()
            },
            prompts=whole.get("prompt", integers) if self._prompt else None,
        )


class _Codes:
    """Numbers for names, in the order of their first occurrence."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, column: pa.Array) -> Array:
        encoded = _as_text(column).fill_null("").dictionary_encode()
        codes = [
            self._known.setdefault(n, len(self._known)) for n in encoded.dictionary.to_pylist()
        ]
        return np.array(codes, np.int64)[array_of(encoded.indices)]

    @property
    def names(self) -> list[str]:
        return list(self._known)


def _as_text(column: pa.Array) -> pa.Array:
    try:
        return column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # lists, structures, bytes
        texts = [None if v is None else json.dumps(v, default=str) for v in column.to_pylist()]
        return pa.array(texts, pa.string())


def _prompt_numbers(column: pa.Array, groups: pa.Array) -> Array:
    """A number for each prompt that depends only on its text, so that two runs can be matched.

    A row without a prompt has that of its group.
    """
    if pa.types.is_string(column.type):
        encoded = column.fill_null("").dictionary_encode()
        texts, places = encoded.dictionary.to_pylist(), array_of(encoded.indices)
    else:
        texts, places = column.to_pylist(), np.arange(len(column))
    known = [number_of_text(prompt_text(text)) for text in texts]
    empty = [number for number, text in zip(known, texts, strict=True) if not prompt_text(text)]
    numbers = np.array(known, np.int64)[places]
    for place in np.flatnonzero(np.isin(numbers, empty)).tolist():
        numbers[place] = number_of_text(f"group {groups[place]}")
    return numbers


def _token_counts(column: pa.Array) -> Array:
    return array_of(pc.list_value_length(column).fill_null(0)).astype(np.int64)


def _characters(column: pa.Array | None, rows: int) -> Array:
    if column is None:
        return np.zeros(rows, np.int64)
    if pa.types.is_string(column.type) and not pc.any(pc.starts_with(column, "[{")).as_py():
        return array_of(pc.utf8_length(column).fill_null(0)).astype(np.int64)
    return np.array([len(completion_text(value)) for value in column.to_pylist()], np.int64)
