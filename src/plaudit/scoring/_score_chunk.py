"""A chunk in, a part of the scored table out. The same function runs in every engine."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from plaudit.recipes import BrokenRewardError, Recipe, RowScore, ScoredBatch
from plaudit.scored_columns import parquet_of, scored_columns, text_array, valid_texts
from plaudit.scoring._chunks import Chunk, first_row_ids
from plaudit.scoring._errors import ROW_ERRORS, Failure, common_failure, reason_of
from plaudit.scoring._plan import Plan
from plaudit.scoring._records import start_of
from plaudit.scoring._rows import ParsedBlock, Rejected, Rows, parse_block, rows_in

if TYPE_CHECKING:
    from plaudit.scores import Score

Outcome = RowScore | Exception  # of a row: its score, or what a reward raised


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A part of the output, and its counts.

    part: the bytes of its Parquet file
    statuses: how many rows have each status
    values: for each component and the total, how many rows have a value, and the values' sum
    golds_in_part: how many rows have a gold of which only a part was read
    zeros: for each component, how many rows that come to nothing have each status
    failure: the error that every row failed with, if it is the same for all
    seconds: how long it took to score
    scores: the columns of scores, where the plan wants these alone
    is_written: whether the worker has written the part, which is then not sent
    """

    number: int
    part: bytes
    rows: int
    rejected: list[Rejected]
    statuses: dict[str, int]
    values: dict[str, tuple[int, float]]
    golds_in_part: int = 0
    zeros: dict[str, dict[str, int]] = field(default_factory=dict)
    failure: Failure | None = None
    seconds: float = 0.0
    scores: dict[str, list[Any]] = field(default_factory=dict)
    is_written: bool = False


def score_chunk(chunk: Chunk, plan: Plan) -> ScoredChunk:
    """Score the rows of a chunk; those that cannot be scored are rejected, with a reason."""
    start = time.monotonic()
    for component in plan.recipe.components:
        _ = component.calling  # a reward that cannot be imported here is not the fault of a row
    parsed_blocks, found, rejected = _found(chunk, plan)
    batch, errors = _scored(plan.recipe, _arguments(found, plan))
    if errors:
        rejected += _rejected(chunk, plan, found, errors)
        found = _kept(found, errors)
    part = b""
    if not plan.scores_only:
        table = _input_columns(parsed_blocks, found, plan)
        part = parquet_of(table, _added_columns(found, batch, plan))
    return ScoredChunk(
        chunk.number,
        part,
        len(batch.totals),
        sorted(rejected, key=lambda one: one.row_id),
        dict(sorted(Counter(batch.statuses).items())),
        _sums(batch),
        _golds_in_part(batch),
        _zeros(batch),
        None if batch.totals else common_failure(list(errors.values())),
        time.monotonic() - start,
        _scores(found, batch) if plan.scores_only else {},
    )


def _found(chunk: Chunk, plan: Plan) -> tuple[list[ParsedBlock], list[Rows], list[Rejected]]:
    parsed_blocks: list[ParsedBlock] = []
    found: list[Rows] = []
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


def _arguments(found: Sequence[Rows], plan: Plan) -> dict[str, list[Any]]:
    exploded = {column.source for column in plan.columns if column.exploded}
    names = [name for name in plan.reward_columns if name != plan.completions]
    wanted = {"completions": (plan.completions, plan.listed)}
    wanted |= {name: (name, name in exploded) for name in names}
    return {
        name: [value for rows in found for value in rows.values(*column)]
        for name, column in wanted.items()
    }


def outcomes_of(recipe: Recipe, arguments: Mapping[str, list[Any]]) -> list[Outcome]:
    r"""The score of each row, or why it has none: a batch for which a reward raises is halved.

    >>> from plaudit.recipes import load
    >>> texts, golds = [r"\boxed{4}", r"\boxed{5}"], ["4", {"not": "a gold"}]
    >>> good, bad = outcomes_of(load("trl-math"), {"completions": texts, "solution": golds})
    >>> good.total, type(bad).__name__
    (1.0, 'TypeError')
    """
    outcomes: list[Outcome] = []
    for piece in _pieces(recipe, arguments):
        outcomes += [piece] if isinstance(piece, Exception) else piece.rows
    return outcomes


def _pieces(recipe: Recipe, arguments: Mapping[str, list[Any]]) -> list[ScoredBatch | Exception]:
    """What became of a batch, in order: batches that were scored, and errors of single rows."""
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
    """The rows that can be scored as one batch, and the errors of the others, by their places."""
    pieces = _pieces(recipe, arguments)
    if len(pieces) == 1 and isinstance(pieces[0], ScoredBatch):
        return pieces[0], {}
    errors: dict[int, Exception] = {}
    scores: dict[str, list[Score]] = {component.name: [] for component in recipe.components}
    place = 0
    for piece in pieces:
        if isinstance(piece, Exception):
            errors[place] = piece
            place += 1
            continue
        for name, own in piece.components.items():
            scores[name] += own
        place += len(piece.totals)
    weights = {component.name: component.weight for component in recipe.components}
    return ScoredBatch(scores, weights), errors


def _rejected(
    chunk: Chunk, plan: Plan, found: Sequence[Rows], errors: Mapping[int, Exception]
) -> list[Rejected]:
    rejected = []
    place = 0
    for block, rows in zip(chunk.blocks, found, strict=True):
        for own in range(len(rows)):
            if (error := errors.get(place + own)) is not None:
                why, row = reason_of(error), start_of(rows.records[own])
                file, line, row_id = plan.files[block.file], rows.lines[own], rows.row_ids[own]
                rejected.append(Rejected(file, line, row_id, why, row))
        place += len(rows)
    return rejected


def _kept(found: Sequence[Rows], errors: Mapping[int, Exception]) -> list[Rows]:
    kept = []
    place = 0
    for rows in found:
        kept.append(rows.kept([place + own not in errors for own in range(len(rows))]))
        place += len(rows)
    return kept


def _input_columns(
    parsed_blocks: Sequence[ParsedBlock], found: Sequence[Rows], plan: Plan
) -> pa.Table:
    fields = [(column.name, column.type) for column in plan.columns]
    fields += [(plan.other_values, pa.string())] if plan.other_values else []
    schema = pa.schema(fields)
    tables = [
        parsed_block.table(rows).cast(schema)
        for parsed_block, rows in zip(parsed_blocks, found, strict=True)
        if rows
    ]
    return pa.concat_tables(tables or [schema.empty_table()]).combine_chunks()


def _added_columns(found: Sequence[Rows], batch: ScoredBatch, plan: Plan) -> dict[str, pa.Array]:
    added = {
        "row_id": pa.array([one for rows in found for one in rows.row_ids], pa.int64()),
        "group_id": text_array([one for rows in found for one in rows.group_ids]),
        **scored_columns(batch.components, batch.totals, batch.statuses),
    }
    return {plan.renamed.get(name, name): column for name, column in added.items()}


def _scores(found: Sequence[Rows], batch: ScoredBatch) -> dict[str, list[Any]]:
    """What a table in memory gets: the columns of a part, with the reasons in one text."""
    return {
        "row_id": [one for rows in found for one in rows.row_ids],
        **_values(batch),
        "status": list(batch.statuses),
        "extracted_answer": valid_texts(batch.answers),
        "why": valid_texts([row.why for row in batch.rows]),
    }


def _values(batch: ScoredBatch) -> dict[str, list[float | None]]:
    values = {name: [one.value for one in scores] for name, scores in batch.components.items()}
    return {**values, "total": batch.totals}


def _sums(batch: ScoredBatch) -> dict[str, tuple[int, float]]:
    numbers = {name: [v for v in own if v is not None] for name, own in _values(batch).items()}
    return {name: (len(values), sum(values, 0.0)) for name, values in numbers.items()}


def _zeros(batch: ScoredBatch) -> dict[str, dict[str, int]]:
    """Why rows got 0 in all: the statuses of the components that gave them 0."""
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
    columns = ([one.gold_in_part for one in scores] for scores in batch.components.values())
    return sum(map(any, zip(*columns, strict=True)))
