"""Two scored runs in, their rows side by side out: batches that cover the same row ids."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from plaudit.scoring import ScoredFolder

Batch: TypeAlias = pa.RecordBatch
Ids = NDArray[np.int64]

_NEEDED = ("row_id", "total", "status", "explanation")


def batches_of(run: ScoredFolder) -> Iterator[Batch]:
    """The rows of a run in order, without the columns of the input."""
    columns = [*_NEEDED, *run.components]
    run.columns(*columns)
    last = None
    for part, batch in run.batches(columns):
        last = _check_order(part, ids_of(batch), last)
        yield batch


def _check_order(part: Path, ids: Ids, last: int | None) -> int:
    """The last row id; raises if the ids do not rise, since rows are matched in order."""
    if not np.issubdtype(ids.dtype, np.integer):
        raise ValueError(f"{part}: row_id must be a whole number in every row")
    if (last is not None and ids[0] <= last) or (np.diff(ids) <= 0).any():
        raise ValueError(f"{part}: row_id must rise from row to row")
    return int(ids[-1])


def ids_of(batch: Batch) -> Ids:
    """The row ids of a batch."""
    ids: Ids = batch.column("row_id").to_numpy(zero_copy_only=False)
    return ids


def aligned(a: Iterator[Batch], b: Iterator[Batch]) -> Iterator[tuple[Batch | None, Batch | None]]:
    """Batches of both that cover the same range of row ids; None if a run has no rows there."""
    left, right = next(a, None), next(b, None)
    while left is not None and right is not None:
        last = min(ids_of(left)[-1], ids_of(right)[-1])
        left_now, left = _split(left, last)
        right_now, right = _split(right, last)
        yield left_now, right_now
        left, right = left or next(a, None), right or next(b, None)
    while left is not None:
        yield left, None
        left = next(a, None)
    while right is not None:
        yield None, right
        right = next(b, None)


def _split(batch: Batch, last: int) -> tuple[Batch | None, Batch | None]:
    """The rows up to this row id, and those after it; None for no rows."""
    place = int(np.searchsorted(ids_of(batch), last, side="right"))
    parts = batch.slice(0, place), batch.slice(place)
    return parts[0] if parts[0].num_rows else None, parts[1] if parts[1].num_rows else None
