"""A chunk in, a part of the scored table out. The same function runs in every engine."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from plaudit.recipes import BrokenRewardError, Recipe, RowScore
from plaudit.scored_columns import parquet_of, scored_columns, text_array, valid_texts
from plaudit.scoring._chunks import Chunk, first_row_ids
from plaudit.scoring._errors import ROW_ERRORS, Failure, common_failure, reason_of
from plaudit.scoring._plan import OTHER_VALUES, Plan
from plaudit.scoring._records import start_of
from plaudit.scoring._rows import ParsedBlock, Rejected, Row, column_values, parse_block, rows_in

Outcome = RowScore | Exception  # of a row: its score, or what a reward raised


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A part of the output, and its counts.

    part: the bytes of its Parquet file
    statuses: how many rows have each status
    values: for each component and the total, how many rows have a value, and the values' sum
    golds_in_part: how many rows have a gold of which only a part was read
    failure: the error that every row failed with, if it is the same for all
    seconds: how long it took to score
    scores: the columns of scores, where the plan wants these alone
    """

    number: int
    part: bytes
    rows: int
    rejected: list[Rejected]
    statuses: dict[str, int]
    values: dict[str, tuple[int, float]]
    golds_in_part: int = 0
    failure: Failure | None = None
    seconds: float = 0.0
    scores: dict[str, list[Any]] = field(default_factory=dict)


def score_chunk(chunk: Chunk, plan: Plan) -> ScoredChunk:
    """Score the rows of a chunk; those that cannot be scored are rejected, with a reason."""
    start = time.monotonic()
    for component in plan.recipe.components:
        _ = component.calling  # a reward that cannot be imported here is not the fault of a row
    parsed_blocks, found, rejected = _found(chunk, plan)
    rows = [row for block in found for row in block]
    outcomes = outcomes_of(plan.recipe, _arguments(rows, plan))
    scores = [outcome for outcome in outcomes if isinstance(outcome, RowScore)]
    if len(scores) < len(rows):
        rejected += _rejected(chunk, plan, found, outcomes)
        found = _kept(found, outcomes)
    kept = [row for block in found for row in block]
    statuses = [score.status for score in scores]
    part = b""
    if not plan.scores_only:
        table = _input_columns(parsed_blocks, found, plan)
        part = parquet_of(table, _added_columns(kept, scores, statuses, plan))
    return ScoredChunk(
        chunk.number,
        part,
        len(kept),
        sorted(rejected, key=lambda one: one.row_id),
        dict(sorted(Counter(statuses).items())),
        _sums(scores, plan),
        sum(any(one.gold_in_part for one in row.components.values()) for row in scores),
        None if scores else common_failure([one for one in outcomes if isinstance(one, Exception)]),
        time.monotonic() - start,
        _scores(kept, scores, statuses, plan) if plan.scores_only else {},
    )


def _found(chunk: Chunk, plan: Plan) -> tuple[list[ParsedBlock], list[list[Row]], list[Rejected]]:
    parsed_blocks: list[ParsedBlock] = []
    found: list[list[Row]] = []
    rejected: list[Rejected] = []
    record = chunk.first_record
    for block, firsts in zip(chunk.blocks, first_row_ids(chunk), strict=True):
        parsed_block = parse_block(block, plan)
        rows, bad = rows_in(parsed_block, block, firsts, record, plan)
        parsed_blocks.append(parsed_block)
        found.append(rows)
        rejected += bad
        record += len(block)
    return parsed_blocks, found, rejected


def _arguments(rows: Sequence[Row], plan: Plan) -> dict[str, list[Any]]:
    exploded = {column.source for column in plan.columns if column.exploded}
    names = [name for name in plan.reward_columns if name != plan.completions]
    columns = {name: column_values(rows, name, name in exploded) for name in names}
    return {"completions": column_values(rows, plan.completions, plan.listed), **columns}


def outcomes_of(recipe: Recipe, arguments: Mapping[str, list[Any]]) -> list[Outcome]:
    r"""The score of each row, or why it has none: a batch for which a reward raises is halved.

    >>> from plaudit.recipes import load
    >>> texts, golds = [r"\boxed{4}", r"\boxed{5}"], ["4", {"not": "a gold"}]
    >>> good, bad = outcomes_of(load("trl-math"), {"completions": texts, "solution": golds})
    >>> good.total, type(bad).__name__
    (1.0, 'TypeError')
    """
    rows = len(arguments["completions"])
    if not rows:
        return []
    try:
        return list(recipe(**arguments))
    except BrokenRewardError:
        raise  # a single row might hide it
    except ROW_ERRORS as error:
        if rows == 1:
            return [error]
    half = rows // 2
    return [
        outcome
        for part in (slice(half), slice(half, None))
        for outcome in outcomes_of(recipe, {name: v[part] for name, v in arguments.items()})
    ]


def _rejected(
    chunk: Chunk,
    plan: Plan,
    found: Sequence[Sequence[Row]],
    outcomes: Sequence[Outcome],
) -> list[Rejected]:
    rows = [
        (plan.files[block.file], row)
        for block, rows in zip(chunk.blocks, found, strict=True)
        for row in rows
    ]
    return [
        Rejected(file, row.line, row.row_id, reason_of(outcome), start_of(row.record))
        for (file, row), outcome in zip(rows, outcomes, strict=True)
        if isinstance(outcome, Exception)
    ]


def _kept(found: Sequence[Sequence[Row]], outcomes: Sequence[Outcome]) -> list[list[Row]]:
    each = iter(outcomes)
    return [[row for row in rows if isinstance(next(each), RowScore)] for rows in found]


def _input_columns(
    parsed_blocks: Sequence[ParsedBlock], found: Sequence[Sequence[Row]], plan: Plan
) -> pa.Table:
    fields = [(column.name, column.type) for column in plan.columns]
    fields += [(OTHER_VALUES, pa.string())] if plan.other_values else []
    schema = pa.schema(fields)
    tables = [
        parsed_block.table(rows).cast(schema)
        for parsed_block, rows in zip(parsed_blocks, found, strict=True)
        if rows
    ]
    return pa.concat_tables(tables or [schema.empty_table()]).combine_chunks()


def _added_columns(
    rows: Sequence[Row], scores: Sequence[RowScore], statuses: Sequence[str], plan: Plan
) -> dict[str, pa.Array]:
    names = [component.name for component in plan.recipe.components]
    return {
        "row_id": pa.array([row.row_id for row in rows], pa.int64()),
        "group_id": text_array(row.group_id for row in rows),
        **scored_columns(names, scores, statuses),
    }


def _scores(
    rows: Sequence[Row], scores: Sequence[RowScore], statuses: Sequence[str], plan: Plan
) -> dict[str, list[Any]]:
    """What a table in memory gets: the columns of a part, with the reasons in one text."""
    return {
        "row_id": [row.row_id for row in rows],
        **_values([component.name for component in plan.recipe.components], scores),
        "status": list(statuses),
        "why": valid_texts([score.why for score in scores]),
    }


def _values(names: Sequence[str], scores: Sequence[RowScore]) -> dict[str, list[float | None]]:
    values = {name: [score.components[name].value for score in scores] for name in names}
    return {**values, "total": [score.total for score in scores]}


def _sums(scores: Sequence[RowScore], plan: Plan) -> dict[str, tuple[int, float]]:
    columns = {
        component.name: [score.components[component.name].value for score in scores]
        for component in plan.recipe.components
    }
    columns["total"] = [score.total for score in scores]
    numbers = {name: [v for v in values if v is not None] for name, values in columns.items()}
    return {name: (len(values), sum(values, 0.0)) for name, values in numbers.items()}
