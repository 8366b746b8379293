"""A scored folder in, the numbers of all its rows out.

They are held in memory, some hundred bytes per row; texts are not.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plaudit.report._explained import (
    explained_in,
    golds_in_part,
    right_and_answers,
    statuses_of,
)
from plaudit.report._folder import (
    NEEDED,
    Folder,
    array_of,
    completion_text,
    floats_of,
    number_of_text,
    prompt_text,
)
from plaudit.report._labels import LabelReader
from plaudit.report._pass_at_k import Array
from plaudit.report._progress import Progress, told


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
        asked for
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
        """The numbers of all rows that were added."""
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
