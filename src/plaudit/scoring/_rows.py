"""A block of records in, rows out: one per completion, and a table of the input's columns."""

import json
from collections.abc import Container, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from typing import Any, Protocol, cast

import pyarrow as pa
import pyarrow.compute as pc

from plaudit.scoring._columns import Column, array_of, python_rows
from plaudit.scoring._errors import StoppedError
from plaudit.scoring._plan import Plan
from plaudit.scoring._records import (
    Block,
    Unread,
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
class Rows:
    """Completions of one block, a list for each thing that is known of them.

    records: what each was read from
    places: the index of the record in its block
    items: the index of the completion in its record
    """

    row_ids: Sequence[int]
    group_ids: Sequence[str]
    records: Sequence[dict[str, Any]]
    places: Sequence[int]
    items: Sequence[int]
    lines: Sequence[int]

    def __len__(self) -> int:
        return len(self.row_ids)

    def values(self, column: str, exploded: bool) -> list[Any]:
        """The rows' values of a column; of an exploded column, each row's own entry."""
        if not exploded:
            return [record.get(column) for record in self.records]
        each = zip(self.records, self.items, strict=True)
        return [record[column][item] for record, item in each]

    def kept(self, is_kept: Sequence[bool]) -> "Rows":
        """Some of the rows."""
        columns = (getattr(self, name) for name in self.__slots__)
        return Rows(
            *([one for one, is_in in zip(c, is_kept, strict=True) if is_in] for c in columns)
        )


class ParsedBlock(Protocol):
    """The records of a block, parsed, and a table of the input's columns for some of its rows."""

    records: list[dict[str, Any] | UnreadableRecord]

    def table(self, rows: Rows) -> pa.Table: ...


def parse_block(block: Block, plan: Plan) -> ParsedBlock:
    """Parse the records of a block."""
    if isinstance(block.records, list | dict | Unread):
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
    if isinstance(block.records, Unread):
        return [parsed(record) for record in block.records.records(len(block))]
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

    def table(self, rows: Rows) -> pa.Table:
        plan = self._plan
        others: dict[int, dict[str, Any]] = {}
        arrays = {}
        for column in plan.columns:
            values = rows.values(column.source, column.exploded)
            arrays[column.name], misfits = array_of(values, column)
            for place in misfits:
                others.setdefault(place, {})[column.name] = values[place]
        if plan.other_values:
            arrays[plan.other_values] = self._other_values(rows, others)
        return pa.table(arrays)

    def _other_values(self, rows: Rows, others: dict[int, dict[str, Any]]) -> pa.Array:
        known = {column.source for column in self._plan.columns}
        for place, record in enumerate(rows.records):
            if not known.issuperset(record):
                new = {name: v for name, v in record.items() if name not in known}
                others.setdefault(place, {}).update(new)
        if not others:
            return pa.nulls(len(rows), pa.string())
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
        self._file = plan.files[block.file]
        self._plan = plan

    def table(self, rows: Rows) -> pa.Table:
        places = pa.array(rows.places, pa.int64())
        others: dict[int, dict[str, Any]] = {}
        arrays = {}
        for column in self._plan.columns:
            values = self._array(column, rows, places)
            try:
                arrays[column.name] = values.cast(column.type)
            except pa.ArrowInvalid as error:  # some values would not be the same
                if not self._plan.other_values:
                    raise self._no_cast(column, values.type, error) from error
                arrays[column.name], lost = _what_fits(values, column.type)
                for place, value in lost.items():
                    others.setdefault(place, {})[column.name] = value
            except (pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
                raise self._no_cast(column, values.type, error) from error
        if self._plan.other_values:
            told = {place: json.dumps(lost, default=str) for place, lost in others.items()}
            arrays[self._plan.other_values] = pa.array(map(told.get, range(len(rows))), pa.string())
        return pa.table(arrays)

    def _no_cast(self, column: Column, found: pa.DataType, error: Exception) -> StoppedError:
        return StoppedError(
            f"the column {column.source} of {self._file} has values of the type {found}, which "
            f"cannot be kept as {column.type}, its type in the output: {error}. Give the column "
            "another type, the same in each file, or score the files in separate runs."
        )

    def _array(self, column: Column, rows: Rows, places: pa.Array) -> pa.ChunkedArray:
        if column.source not in self._table.column_names:
            return pa.nulls(len(rows), column.type)
        values = self._table[column.source]
        if not column.exploded:
            return values.take(places)
        lengths = pc.list_value_length(values).fill_null(0).to_pylist()
        starts = list(accumulate(lengths, initial=0))
        each = zip(rows.places, rows.items, strict=True)
        items = pa.array([starts[place] + item for place, item in each], pa.int64())
        return pc.list_flatten(values).take(items)


def _what_fits(
    values: pa.ChunkedArray, kind: pa.DataType
) -> tuple[pa.ChunkedArray, dict[int, Any]]:
    """The values as another type, null where that would change them, and those, by their places."""
    misfits = [place for place, value in enumerate(values) if not _fits(value, kind)]
    lost = python_rows(pa.table({"it": values.take(pa.array(misfits, pa.int64()))}))
    by_place = {place: row["it"] for place, row in zip(misfits, lost, strict=True)}
    kept = [None if place in by_place else place for place in range(len(values))]
    return values.take(pa.array(kept, pa.int64())).cast(kind), by_place


def _fits(value: pa.Scalar, kind: pa.DataType) -> bool:
    try:
        value.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def rows_in(
    source: ParsedBlock, block: Block, firsts: Sequence[int], first_record: int, plan: Plan
) -> tuple[Rows, list[Rejected]]:
    """The rows of a block, and those that are rejected.

    firsts: for each record, the row id of its first completion
    first_record: the number of the block's first record among all records
    """
    file = plan.files[block.file]
    problems = _problems(source.records, plan)
    rejected = [
        Rejected(file, block.numbers[p], firsts[p], why, start_of(source.records[p]))
        for p, why in problems.items()
    ]
    good: Sequence[int] = range(len(block))
    if problems:
        good = [place for place in good if place not in problems]
    records = cast("list[dict[str, Any]]", source.records)
    if problems:
        records = [records[place] for place in good]
    if plan.listed:
        return _exploded(records, good, block, firsts, first_record, rejected, plan)
    row_ids = [firsts[place] for place in good]
    groups = (
        [str(one) for one in row_ids] if plan.group is None else _groups(records, row_ids, plan)
    )
    lines = [block.numbers[place] for place in good]
    return Rows(row_ids, groups, records, good, [0] * len(good), lines), rejected


def _problems(records: Sequence[dict[str, Any] | UnreadableRecord], plan: Plan) -> dict[int, str]:
    """Why records are rejected, by their places."""
    column, needed = plan.completions, frozenset(plan.required_columns)
    problems = {}
    for place, record in enumerate(records):
        if isinstance(record, dict) and type(record.get(column)) is str:
            if plan.listed or not needed <= record.keys():
                problems[place] = _problem(record, plan)
        elif reason := _problem(record, plan):
            problems[place] = reason
    return problems


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


def _exploded(
    records: Sequence[dict[str, Any]],
    places: Sequence[int],
    block: Block,
    firsts: Sequence[int],
    first_record: int,
    rejected: list[Rejected],
    plan: Plan,
) -> tuple[Rows, list[Rejected]]:
    """A row for each completion of a list; entries that are not completions are rejected."""
    rows = [
        (record, place, item)
        for record, place in zip(records, places, strict=True)
        for item in range(len(record[plan.completions]))
    ]
    row_ids = [firsts[place] + item for _, place, item in rows]
    own = [record for record, _, _ in rows]
    if plan.group is None:
        groups = [str(first_record + place) for _, place, _ in rows]
    else:
        groups = _groups(own, row_ids, plan)
    lines = [block.numbers[place] for _, place, _ in rows]
    found = Rows(row_ids, groups, own, [p for _, p, _ in rows], [i for _, _, i in rows], lines)
    completions = found.values(plan.completions, exploded=True)
    are_good = [is_completion(one) for one in completions]
    if all(are_good):
        return found, rejected
    for place, value in enumerate(completions):
        if not are_good[place]:
            expected = "must be text or a list of messages"
            name = f"{plan.completions}[{found.items[place]}]"
            why = f"{name} {expected}, got {type(value).__name__}"
            row = start_of(own[place])
            rejected.append(
                Rejected(plan.files[block.file], lines[place], row_ids[place], why, row)
            )
    return found.kept(are_good), rejected


def _groups(records: Sequence[dict[str, Any]], row_ids: Sequence[int], plan: Plan) -> list[str]:
    """Which group each row is in, by its value in the group column."""
    known: dict[str, str] = {}
    groups = []
    for record, row_id in zip(records, row_ids, strict=True):
        value = record.get(cast("str", plan.group))
        if value is None:
            groups.append(f"row {row_id}")
            continue
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=repr)
        group = known.get(text)
        if group is None:
            group = known[text] = _group_of(text)
        groups.append(group)
    return groups


def _group_of(text: str) -> str:
    if len(text) <= _MAX_GROUP_ID and text.isprintable():
        return text
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
