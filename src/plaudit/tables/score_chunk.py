"""Score the rows of a chunk: one function, which every engine runs in its workers.

A row is one completion. Its `row_id` is the number of its part times ROW_IDS, plus its own number
in the part, so that ids rise from row to row and need no knowledge of other parts.
"""

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from typing import Any, TypedDict, cast

import pyarrow as pa
import pyarrow.compute as pc

from plaudit.recipes import Recipe, RowScore
from plaudit.recipes.bound_reward import BrokenRewardError
from plaudit.recipes.row_score import (
    ScoredBatch,
    parquet_of,
    scored_columns,
    text_array,
    valid_texts,
)
from plaudit.tables.errors import (
    RETRY_HINT,
    ROW_ERRORS,
    CommonFailure,
    StoppedError,
    common_failure,
    reason_of,
)
from plaudit.tables.plan import Column, Plan, array_of
from plaudit.tables.readers import Block, Chunk, UnreadableRecord, python_rows, records_in, start_of

FIRST = 4  # parts: if all rows of these fail in the same way, so will the others
ROW_IDS = 10**9  # ids for the rows of a part
_MAX_GROUP_ID = 80  # characters: longer texts are groups by their digest

ParsedRecord = dict[str, Any] | UnreadableRecord


class Rejected(TypedDict):
    """A row that was not scored: where it is, why, and how it begins."""

    file: str
    line: int  # its line, or its row in a file that has no lines
    row_id: int
    reason: str
    row: str


class PartCounts(TypedDict):
    """What is counted of a part, as a file of JSON next to it holds it.

    file, lines: the index of the input, and how many lines of it the chunk has, if the lines of
        rejected rows are counted from its own first
    values: for each component and the total, how many rows have a value, and the values' sum
    golds_in_part: how many rows have a gold of which only a part was read
    zeros: for each component, how many rows that come to nothing have each status
    """

    file: int
    lines: int
    rows: int
    statuses: dict[str, int]
    values: dict[str, tuple[int, float]]
    golds_in_part: int
    zeros: dict[str, dict[str, int]]
    rejected: list[Rejected]


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A part of the output.

    part: the bytes of its Parquet file; None if the worker has written it
    failure: the error that every row failed with, if it is the same for all
    seconds: how long it took to score
    scores: the columns of scores, if the plan wants these alone
    """

    number: int
    counts: PartCounts
    part: bytes | None
    failure: CommonFailure | None
    seconds: float
    scores: dict[str, list[Any]]


def score_chunk(chunk: Chunk, plan: Plan) -> ScoredChunk:
    """Score the rows of a chunk; those that cannot be scored are rejected, with a reason."""
    start = time.monotonic()
    for component in plan.recipe.components:
        _ = component.bound  # a reward that cannot be imported here is not the fault of a row
    chunk = chunk.loaded(plan.inputs)
    block = chunk.records
    groups = [] if plan.group is None else [plan.group]
    # Of Arrow, only these are converted to Python values.
    read = {plan.completions, *plan.exploded, *plan.reward_columns, *groups}
    records = records_in(block, read)
    rows, rejected = _rows_in(records, block, chunk, plan)
    batch, errors = _scored(plan.recipe, _arguments(rows, plan))
    if errors:
        rejected += [
            rows.rejected(index, reason_of(error), plan.files[block.file])
            for index, error in errors.items()
        ]
        rows = rows.kept([index not in errors for index in range(len(rows))])
    part = b""
    if not plan.scores_only:
        part = parquet_of(_input_columns(block, rows, plan), _added_columns(rows, batch, plan))
    counts: PartCounts = {
        "file": block.file,
        "lines": block.lines,
        "rows": len(batch.totals),
        "statuses": dict(sorted(Counter(batch.statuses).items())),
        "values": _sums(batch),
        "golds_in_part": _golds_in_part(batch),
        "zeros": _zeros(batch),
        "rejected": sorted(rejected, key=lambda one: one["row_id"]),
    }
    return ScoredChunk(
        chunk.number,
        counts,
        part,
        None if batch.totals else common_failure(list(errors.values())),
        time.monotonic() - start,
        _scores(rows, batch) if plan.scores_only else {},
    )


class FirstParts:
    """Holds back the first parts until one shows that the rewards work.

    A reward with a bug fails on every row. Such a run stops, and leaves no part that a later run
    would take for done. The order in which parts arrive does not matter.
    """

    def __init__(self) -> None:
        self._works = False
        self._held: list[ScoredChunk] = []

    def found(self, number: int) -> None:
        """Count a part that is there already: for the run that wrote it, the rewards worked."""
        self._works = self._works or number < FIRST

    def ready(self, scored: ScoredChunk) -> list[ScoredChunk]:
        """Return the parts that may be written, now that this one has been scored."""
        if self._works or (scored.failure is None and scored.number >= FIRST):
            return [scored]
        self._held.append(scored)
        first = self._failures()
        if all(first) and len({one.kind for one in first if one}) < 2:
            return []
        self._works = True
        held, self._held = self._held, []
        return held

    def _failures(self) -> list[CommonFailure | None]:
        return [part.failure for part in self._held if part.number < FIRST]

    @property
    def all_failed(self) -> bool:
        """Whether every row of all the first parts failed: the rest need not be scored."""
        return len(self._failures()) == FIRST

    def check(self) -> None:
        """At the end of a run, raise StoppedError if every row of its first parts failed."""
        if failure := next(filter(None, self._failures()), None):
            rows = sum(len(part.counts["rejected"]) for part in self._held if part.number < FIRST)
            which = f"each of the first {rows:,} rows" if self.all_failed else "every row"
            raise StoppedError(
                f"{which} fails with the same error, for example\n"
                f"{failure.description}\n{RETRY_HINT}"
            )


# --- records -> rows ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rows:
    """Completions of one block, a list for each thing that is known of them."""

    row_ids: Sequence[int]
    group_ids: Sequence[str]
    records: Sequence[dict[str, Any]]  # what each was read from
    places: Sequence[int]  # the index of the record in its block
    entries: Sequence[int]  # the index of the completion in its record
    lines: Sequence[int]

    def __len__(self) -> int:
        return len(self.row_ids)

    def values(self, column: str, exploded: bool) -> list[Any]:
        """Return the rows' values of a column; of an exploded column, each row's own entry."""
        if not exploded:
            return [record.get(column) for record in self.records]
        each = zip(self.records, self.entries, strict=True)
        return [record[column][entry] for record, entry in each]

    def kept(self, is_kept: Sequence[bool]) -> "Rows":
        """Return some of the rows."""
        columns = (getattr(self, name) for name in self.__slots__)
        return Rows(
            *([one for one, is_in in zip(c, is_kept, strict=True) if is_in] for c in columns)
        )

    def rejected(self, index: int, reason: str, file: str) -> Rejected:
        """Return the row at an index as one that was rejected."""
        start = start_of(self.records[index])
        line, row_id = self.lines[index], self.row_ids[index]
        return Rejected(file=file, line=line, row_id=row_id, reason=reason, row=start)


def _rows_in(
    records: Sequence[ParsedRecord], block: Block, chunk: Chunk, plan: Plan
) -> tuple[Rows, list[Rejected]]:
    """Return the rows of a block, one for each completion, and those that are rejected."""
    base = chunk.number * ROW_IDS
    counts = [completions_in(record, plan) for record in records]
    firsts = list(accumulate(counts, initial=base))
    problems = _problems(records, plan)
    file = plan.files[block.file]
    rejected = [
        Rejected(
            file=file, line=block.numbers[p], row_id=firsts[p], reason=why, row=start_of(records[p])
        )
        for p, why in problems.items()
    ]
    good = [place for place in range(len(records)) if place not in problems]
    places = [place for place in good for _ in range(counts[place])]
    entries = [entry for place in good for entry in range(counts[place])]
    own = cast("list[dict[str, Any]]", [records[place] for place in places])
    row_ids = [firsts[place] + entry for place, entry in zip(places, entries, strict=True)]
    if plan.group is None:  # the record is the group
        groups = [str(base + place) for place in places]
    else:
        groups = _groups(own, row_ids, plan)
    rows = Rows(row_ids, groups, own, places, entries, [block.numbers[p] for p in places])
    if not plan.listed:
        return rows, rejected
    completions = rows.values(plan.completions, exploded=True)
    are_good = [_is_completion(one) for one in completions]
    for index, value in enumerate(completions):
        if not are_good[index]:
            name = f"{plan.completions}[{entries[index]}]"
            why = f"{name} must be text or a list of messages, got {type(value).__name__}"
            rejected.append(rows.rejected(index, why, file))
    return rows if all(are_good) else rows.kept(are_good), rejected


def completions_in(record: ParsedRecord, plan: Plan) -> int:
    """Return how many rows a record counts for; one, if it has no list of completions."""
    value = record.get(plan.completions) if plan.listed and isinstance(record, dict) else None
    return max(1, len(value)) if isinstance(value, list) else 1


def _groups(records: Sequence[dict[str, Any]], row_ids: Sequence[int], plan: Plan) -> list[str]:
    """Return which group each row is in, by its value in the group column."""
    known: dict[str, str] = {}
    groups = []
    for record, row_id in zip(records, row_ids, strict=True):
        value = record.get(cast("str", plan.group))
        if value is None:
            groups.append(f"row {row_id}")
            continue
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=repr)
        if text not in known:
            is_short = len(text) <= _MAX_GROUP_ID and text.isprintable()
            digest = blake2b(text.encode("utf-8", "replace"), digest_size=8)
            known[text] = text if is_short else digest.hexdigest()
        groups.append(known[text])
    return groups


def _problems(records: Sequence[ParsedRecord], plan: Plan) -> dict[int, str]:
    """Return why records are rejected, by their indices."""
    column, needed = plan.completions, frozenset(plan.required_columns)
    problems = {}
    for index, record in enumerate(records):
        if isinstance(record, dict) and type(record.get(column)) is str:  # nearly all rows
            if plan.listed or not needed <= record.keys():
                problems[index] = _problem(record, plan)
        elif reason := _problem(record, plan):
            problems[index] = reason
    return problems


def _problem(record: ParsedRecord, plan: Plan) -> str:
    """Return what is wrong with a record; "" if nothing is."""
    if isinstance(record, UnreadableRecord):
        return record.reason
    column = plan.completions
    for name in (column, *plan.required_columns):
        if name not in record:
            return f"the row has no column {name}"
    value = record[column]
    if value is None:
        return f"{column} is null"
    if not plan.listed:
        is_one = _is_completion(value)
        return "" if is_one else f"{column} must be text or a list of messages, got {_kind(value)}"
    if not isinstance(value, list):
        expected = "a list of completions, as in the first rows"
        return f"{column} must be {expected}, got {type(value).__name__}"
    for name in plan.exploded if value else ():
        entries = record.get(name)
        if not isinstance(entries, list) or len(entries) != len(value):
            return f"{name} must be a list of {len(value)}, one entry per completion"
    return "" if value else f"{column} is empty"


def _is_completion(value: Any) -> bool:
    """Return whether a value is text, a message or a list of messages."""
    if isinstance(value, str | dict):
        return True
    return isinstance(value, list) and all(isinstance(message, dict) for message in value)


def _kind(value: Any) -> str:
    if not isinstance(value, list):
        return type(value).__name__
    odd = next(one for one in value if not isinstance(one, dict))
    return f"a list with {type(odd).__name__} in it"


# --- rows -> scores -------------------------------------------------------------------------------


def _arguments(rows: Rows, plan: Plan) -> dict[str, list[Any]]:
    exploded = {column.source for column in plan.columns if column.exploded}
    names = [name for name in plan.reward_columns if name != plan.completions]
    completions = rows.values(plan.completions, plan.listed)
    return {
        "completions": completions,
        **{name: rows.values(name, name in exploded) for name in names},
    }


def outcomes_of(recipe: Recipe, arguments: Mapping[str, list[Any]]) -> list[RowScore | Exception]:
    """Return the score of each row, or why it has none."""
    return _outcomes(_pieces(recipe, arguments))


def _outcomes(pieces: Sequence[ScoredBatch | Exception]) -> list[RowScore | Exception]:
    rows = ([one] if isinstance(one, Exception) else one.rows for one in pieces)
    return [one for some in rows for one in some]


def _pieces(recipe: Recipe, arguments: Mapping[str, list[Any]]) -> list[ScoredBatch | Exception]:
    """Return batches that were scored and errors of single rows, in order.

    A batch for which a reward raises is halved until the bad rows are found.
    """
    rows = len(arguments["completions"])
    if not rows:
        return []
    try:
        return [recipe.score_batch(**arguments)]
    except BrokenRewardError:
        raise  # a single row might hide it
    except ROW_ERRORS as error:
        if rows == 1:
            return [error]
    half = rows // 2
    return [
        piece
        for part in (slice(half), slice(half, None))
        for piece in _pieces(recipe, {name: v[part] for name, v in arguments.items()})
    ]


def _scored(
    recipe: Recipe, arguments: Mapping[str, list[Any]]
) -> tuple[ScoredBatch, dict[int, Exception]]:
    """Return the rows that can be scored as one batch, and the errors of the others."""
    pieces = _pieces(recipe, arguments)
    if len(pieces) == 1 and isinstance(pieces[0], ScoredBatch):
        return pieces[0], {}
    outcomes = _outcomes(pieces)
    errors = {index: one for index, one in enumerate(outcomes) if isinstance(one, Exception)}
    good = [one for one in outcomes if not isinstance(one, Exception)]
    names = [component.name for component in recipe.components]
    scores = {name: [row.components[name] for row in good] for name in names}
    weights = {component.name: component.weight for component in recipe.components}
    return ScoredBatch(scores, weights), errors


# --- the part -------------------------------------------------------------------------------------


def _input_columns(block: Block, rows: Rows, plan: Plan) -> pa.Table:
    """Return the input's columns, for the rows that were scored."""
    fields = [(column.name, column.type) for column in plan.columns]
    fields += [(plan.other_values, pa.string())] if plan.other_values else []
    schema = pa.schema(fields)
    if not rows:
        return schema.empty_table()
    others: dict[int, dict[str, Any]] = {}
    source = block.table() if block.is_arrow else None
    arrays = {}
    for column in plan.columns:
        if source is None:
            values = rows.values(column.source, column.exploded)
            arrays[column.name], misfits = array_of(values, column)
            lost = {index: values[index] for index in misfits}
        else:
            arrays[column.name], lost = _arrow_column(source, column, rows, plan, block)
        for index, value in lost.items():
            others.setdefault(index, {})[column.name] = value
    if plan.other_values:
        if source is None:
            _add_new_columns(others, rows, plan)
        texts = {index: json.dumps(values, default=str) for index, values in others.items()}
        arrays[plan.other_values] = pa.array(map(texts.get, range(len(rows))), pa.string())
    return pa.table(arrays).cast(schema).combine_chunks()


def _add_new_columns(others: dict[int, dict[str, Any]], rows: Rows, plan: Plan) -> None:
    """Add values of columns that the first rows did not have."""
    known = {column.source for column in plan.columns}
    for index, record in enumerate(rows.records):
        if not known.issuperset(record):
            new = {name: v for name, v in record.items() if name not in known}
            others.setdefault(index, {}).update(new)


def _arrow_column(
    source: pa.Table, column: Column, rows: Rows, plan: Plan, block: Block
) -> tuple[pa.ChunkedArray, dict[int, Any]]:
    """Return a column of Arrow in its type of the output, and the values that do not fit."""
    if column.source not in source.column_names:
        return pa.nulls(len(rows), column.type), {}
    values = source[column.source]
    places: Sequence[int] = rows.places
    if column.exploded:
        lengths = pc.list_value_length(values).fill_null(0).to_pylist()
        starts = list(accumulate(lengths, initial=0))
        places = [starts[p] + entry for p, entry in zip(rows.places, rows.entries, strict=True)]
        values = pc.list_flatten(values)
    values = values.take(pa.array(places, pa.int64()))
    try:
        return values.cast(column.type), {}
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        # ArrowInvalid: some values would not be the same
        if plan.other_values and isinstance(error, pa.ArrowInvalid):
            return _what_fits(values, column.type)
        raise StoppedError(
            f"the column {column.source} of {plan.files[block.file]} has values of the type "
            f"{values.type}, which cannot be kept as {column.type}, its type in the output: "
            f"{error}. Give the column another type, the same in each file, or score the files in "
            "separate runs."
        ) from error


def _what_fits(
    values: pa.ChunkedArray, kind: pa.DataType
) -> tuple[pa.ChunkedArray, dict[int, Any]]:
    """Return values as another type, null if that would change them; and those, by index."""
    misfits = [index for index, value in enumerate(values) if not _fits(value, kind)]
    lost = python_rows(pa.table({"it": values.take(pa.array(misfits, pa.int64()))}))
    by_index = {index: row["it"] for index, row in zip(misfits, lost, strict=True)}
    kept = [None if index in by_index else index for index in range(len(values))]
    return values.take(pa.array(kept, pa.int64())).cast(kind), by_index


def _fits(value: pa.Scalar, kind: pa.DataType) -> bool:
    try:
        value.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _added_columns(rows: Rows, batch: ScoredBatch, plan: Plan) -> dict[str, pa.Array]:
    added = {
        "row_id": pa.array(rows.row_ids, pa.int64()),
        "group_id": text_array(rows.group_ids),
        **scored_columns(batch.components, batch.totals, batch.statuses),
    }
    return {plan.renamed.get(name, name): column for name, column in added.items()}


def _scores(rows: Rows, batch: ScoredBatch) -> dict[str, list[Any]]:
    """Return what a table in memory gets: the columns of a part, with the reasons in one text."""
    return {
        "row_id": list(rows.row_ids),
        **_values(batch),
        "status": list(batch.statuses),
        "extracted_answer": valid_texts(batch.answers),
        "why": valid_texts([row.why for row in batch.rows]),
    }


# --- counts ---------------------------------------------------------------------------------------


def _values(batch: ScoredBatch) -> dict[str, list[float | None]]:
    values = {name: [one.value for one in scores] for name, scores in batch.components.items()}
    return {**values, "total": batch.totals}


def _sums(batch: ScoredBatch) -> dict[str, tuple[int, float]]:
    numbers = {name: [v for v in own if v is not None] for name, own in _values(batch).items()}
    return {name: (len(values), sum(values, 0.0)) for name, values in numbers.items()}


def _zeros(batch: ScoredBatch) -> dict[str, dict[str, int]]:
    """Return why rows got 0 in all: the statuses of the components that gave them 0."""
    nothing = [total == 0 for total in batch.totals]
    found = {
        name: Counter(
            str(one.status)
            for one, is_zero in zip(scores, nothing, strict=True)
            if is_zero and one.value == 0 and one.status != "scored"
        )
        for name, scores in batch.components.items()
    }
    return {name: dict(counts) for name, counts in found.items() if counts}


def _golds_in_part(batch: ScoredBatch) -> int:
    columns = ([one.partial_gold for one in scores] for scores in batch.components.values())
    return sum(map(any, zip(*columns, strict=True)))
