"""A block of records in, rows out: one per completion, and a table of the input's columns."""

import json
from collections.abc import Container, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from plaudit.scoring._columns import Column, array_of, python_rows
from plaudit.scoring._plan import OTHER_VALUES, Plan
from plaudit.scoring._records import (
    Block,
    UnreadableRecord,
    completions_problem,
    is_completion,
    lengths_problem,
    parsed,
    start_of,
)

_MAX_GROUP_ID = 80  # characters: longer texts are groups by their digest


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that was not scored: where it is, why, and how it begins.

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

    record: what it was read from
    place: the index of the record in its block
    item: the index of the completion in its record
    """

    row_id: int
    group_id: str
    record: dict[str, Any]
    place: int
    item: int
    line: int


def column_values(rows: Sequence[Row], column: str, exploded: bool) -> list[Any]:
    """The rows' values of a column; of an exploded column, each row's own entry."""
    if exploded:
        return [row.record[column][row.item] for row in rows]
    return [row.record.get(column) for row in rows]


class ParsedBlock(Protocol):
    """The records of a block, parsed, and a table of the input's columns for some of its rows."""

    records: list[dict[str, Any] | UnreadableRecord]

    def table(self, rows: Sequence[Row]) -> pa.Table: ...


def parse_block(block: Block, plan: Plan) -> ParsedBlock:
    """Parse the records of a block."""
    if isinstance(block.records, list | dict):
        return _ParsedText(block, plan)
    return _ParsedArrow(block, plan)


def records_in(
    block: Block, columns: Container[str] | None = None
) -> list[dict[str, Any] | UnreadableRecord]:
    """The records of a block of a packed chunk; of an Arrow table, with these columns alone.

    >>> records_in(Block(0, [1], [b'{"solution": "4"}'], 18))
    [{'solution': '4'}]
    """
    if isinstance(block.records, dict):
        return [*block.records_from(range(len(block)))]
    if isinstance(block.records, list):
        return [parsed(record) for record in block.records]
    table = block.table()
    here = [name for name in table.column_names if columns is None or name in columns]
    return [*python_rows(table.select(here))]


class _ParsedText:
    """Records of JSON, CSV or a table in memory."""

    records: list[dict[str, Any] | UnreadableRecord]

    def __init__(self, block: Block, plan: Plan) -> None:
        self.records = records_in(block)
        self._plan = plan

    def table(self, rows: Sequence[Row]) -> pa.Table:
        plan = self._plan
        others: dict[int, dict[str, Any]] = {}
        arrays = {}
        for column in plan.columns:
            values = column_values(rows, column.source, column.exploded)
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


class _ParsedArrow:
    """Records of Arrow. Only the columns that a reward reads are converted to Python values."""

    def __init__(self, block: Block, plan: Plan) -> None:
        taken = {
            plan.completions,
            *plan.exploded,
            *plan.reward_columns,
            *filter(None, [plan.group]),
        }
        self.records = records_in(block, taken)
        self._table = block.table()
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
        if not column.exploded:
            return values.take(places)
        lengths = pc.list_value_length(values).fill_null(0).to_pylist()
        starts = list(accumulate(lengths, initial=0))
        items = pa.array([starts[row.place] + row.item for row in rows], pa.int64())
        return pc.list_flatten(values).take(items)


def rows_in(
    source: ParsedBlock, block: Block, firsts: Sequence[int], first_record: int, plan: Plan
) -> tuple[list[Row], list[Rejected]]:
    """The rows of a block, and those that are rejected.

    firsts: for each record, the row id of its first completion
    first_record: the number of the block's first record among all records
    """
    rows: list[Row] = []
    rejected: list[Rejected] = []
    file = plan.files[block.file]
    for place, (record, line, row_id) in enumerate(
        zip(source.records, block.numbers, firsts, strict=True)
    ):
        reason = _problem(record, plan)
        if isinstance(record, UnreadableRecord) or reason:
            rejected.append(Rejected(file, line, row_id, reason, start_of(record)))
            continue
        many = len(record[plan.completions]) if plan.listed else 1
        for item in range(many):
            own = row_id + item
            group = _group_id(record, own, first_record + place, plan)
            rows.append(Row(own, group, record, place, item, line))
    return _with_completions(rows, rejected, file, plan)


def _problem(record: dict[str, Any] | UnreadableRecord, plan: Plan) -> str:
    if isinstance(record, UnreadableRecord):
        return record.reason
    for name in (plan.completions, *plan.required_columns):
        if name not in record:
            return f"the row has no column {name}"
    wrong = completions_problem(plan.completions, record[plan.completions], plan.listed)
    if not wrong and plan.listed:
        return lengths_problem(record, plan.completions, plan.exploded)
    return wrong


def _with_completions(
    rows: list[Row], rejected: list[Rejected], file: str, plan: Plan
) -> tuple[list[Row], list[Rejected]]:
    """Reject the entries of lists of completions that are not completions."""
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
    """Which group a row is in: that of its record, or of its value in the group column."""
    if plan.group is None:
        return str(record_number if plan.listed else row_id)
    value = record.get(plan.group)
    if value is None:
        return f"row {row_id}"
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=repr)
    if len(text) <= _MAX_GROUP_ID and text.isprintable():
        return text
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
