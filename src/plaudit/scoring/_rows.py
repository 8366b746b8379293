"""A block's records -> rows, one a completion, and a table of the input's columns for them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from plaudit.scoring._blocks import Block, Broken, Record
from plaudit.scoring._columns import Column, array_of
from plaudit.scoring._plan import OTHER_VALUES, Plan
from plaudit.scoring._python_values import python_rows
from plaudit.scoring._records import parsed, start_of
from plaudit.scoring._shapes import complaint, is_completion, taken_apart

_LONGEST_GROUP = 80  # characters: longer texts are groups by their digest


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that was not scored: where it stands, why, and how it begins.

    line: its line, or its row in a file that has no lines
    """

    file: str
    line: int
    row_id: int
    reason: str
    row: str


@dataclass(frozen=True, slots=True)
class Row:
    """One completion.

    record: what it was read from; place: which of its block's records that is
    item: which of the record's completions it is
    """

    row_id: int
    group_id: str
    record: dict[str, Any]
    place: int
    item: int
    line: int


def values_of(rows: Sequence[Row], column: str, apart: bool) -> list[Any]:
    """The rows' values of a column; of one that is taken apart, each row's own."""
    if apart:
        return [row.record[column][row.item] for row in rows]
    return [row.record.get(column) for row in rows]


class Source(Protocol):
    """The records of a block, and tables of their columns."""

    records: list[dict[str, Any] | Broken]

    def table(self, rows: Sequence[Row]) -> pa.Table: ...


def source_of(block: Block, plan: Plan) -> Source:
    """What the records of a block are read from."""
    if isinstance(block.records, list):
        return _Parsed(block, plan)
    return _Batch(block.table(), plan)


class _Parsed:
    """Records of JSON or CSV."""

    def __init__(self, block: Block, plan: Plan) -> None:
        records: list[Record] = block.records
        self.records = [parsed(record) for record in records]
        self._plan = plan

    def table(self, rows: Sequence[Row]) -> pa.Table:
        plan = self._plan
        others: dict[int, dict[str, Any]] = {}
        arrays = {}
        for column in plan.columns:
            values = values_of(rows, column.source, column.apart)
            arrays[column.name], misfits = array_of(values, column)
            for place in misfits:
                others.setdefault(place, {})[column.name] = values[place]
        if plan.other_values:
            arrays[OTHER_VALUES] = self._other_values(rows, others)
        return pa.table(arrays)

    def _other_values(self, rows: Sequence[Row], others: dict[int, dict[str, Any]]) -> pa.Array:
        known = {column.source for column in self._plan.columns}
        for place, row in enumerate(rows):
            if not known.issuperset(row.record):
                new = {name: v for name, v in row.record.items() if name not in known}
                others.setdefault(place, {}).update(new)
        texts = [json.dumps(others[i]) if i in others else None for i in range(len(rows))]
        return pa.array(texts, pa.string())


class _Batch:
    """Records of Arrow. Only what the recipe takes is ever made into Python's values."""

    def __init__(self, table: pa.Table, plan: Plan) -> None:
        taken = {plan.completions, *plan.apart, *plan.given, *filter(None, [plan.group])}
        here = [name for name in table.column_names if name in taken]
        self.records: list[dict[str, Any] | Broken] = [*python_rows(table.select(here))]
        self._table = table
        self._plan = plan

    def table(self, rows: Sequence[Row]) -> pa.Table:
        places = pa.array([row.place for row in rows], pa.int64())
        arrays = {
            column.name: self._array(column, rows, places).cast(column.type)
            for column in self._plan.columns
        }
        if self._plan.other_values:
            arrays[OTHER_VALUES] = pa.nulls(len(rows), pa.string())
        return pa.table(arrays)

    def _array(self, column: Column, rows: Sequence[Row], places: pa.Array) -> pa.ChunkedArray:
        if column.source not in self._table.column_names:
            return pa.nulls(len(rows), column.type)
        values = self._table[column.source]
        if not column.apart:
            return values.take(places)
        lengths = pc.list_value_length(values).fill_null(0).to_pylist()
        starts = list(accumulate(lengths, initial=0))
        items = pa.array([starts[row.place] + row.item for row in rows], pa.int64())
        return pc.list_flatten(values).take(items)


def rows_in(
    source: Source, block: Block, firsts: Sequence[int], first_record: int, plan: Plan
) -> tuple[list[Row], list[Rejected]]:
    """The rows of a block, and what cannot be one; `firsts` are the records' first row ids."""
    rows: list[Row] = []
    rejected: list[Rejected] = []
    file = plan.files[block.file]
    for place, (record, line, row_id) in enumerate(
        zip(source.records, block.numbers, firsts, strict=True)
    ):
        reason = _complaint(record, plan)
        if isinstance(record, Broken) or reason:
            rejected.append(Rejected(file, line, row_id, reason, start_of(record)))
            continue
        many = len(record[plan.completions]) if plan.listed else 1
        for item in range(many):
            own = row_id + item
            group = _group_id(record, own, first_record + place, plan)
            rows.append(Row(own, group, record, place, item, line))
    return _with_completions(rows, rejected, file, plan)


def _complaint(record: dict[str, Any] | Broken, plan: Plan) -> str:
    if isinstance(record, Broken):
        return record.reason
    for name in (plan.completions, *plan.needed):
        if name not in record:
            return f"it has no column {name}"
    wrong = complaint(plan.completions, record[plan.completions], plan.listed)
    if not wrong and plan.listed:
        return taken_apart(record, plan.completions, plan.apart)
    return wrong


def _with_completions(
    rows: list[Row], rejected: list[Rejected], file: str, plan: Plan
) -> tuple[list[Row], list[Rejected]]:
    """Of a list of completions, each must be one."""
    if not plan.listed:
        return rows, rejected
    good = []
    for row in rows:
        value = row.record[plan.completions][row.item]
        if is_completion(value):
            good.append(row)
        else:
            expected = "must be text or a list of messages"
            reason = f"{plan.completions}[{row.item}] {expected}, got {type(value).__name__}"
            rejected.append(Rejected(file, row.line, row.row_id, reason, start_of(row.record)))
    return good, rejected


def _group_id(record: dict[str, Any], row_id: int, record_number: int, plan: Plan) -> str:
    """Which rows belong together: those of a record, or those with the same value in a column."""
    if plan.group is None:
        return str(record_number if plan.listed else row_id)
    value = record.get(plan.group)
    if value is None:
        return f"row {row_id}"
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=repr)
    if len(text) <= _LONGEST_GROUP and text.isprintable():
        return text
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
