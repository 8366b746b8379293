"""The rows of two scored runs, side by side."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

Batch: TypeAlias = pa.RecordBatch
Ids = NDArray[np.int64]

_AT_ONCE = 1024  # rows of a run that are held at a time
_NEEDED = ("row_id", "total", "status", "explanation")


@dataclass(frozen=True)
class Run:
    """A folder that `plaudit score` wrote."""

    folder: Path
    parts: tuple[Path, ...]
    components: tuple[str, ...]
    inputs: Any

    def batches(self) -> Iterator[Batch]:
        """Its rows in order, without the columns of the input."""
        columns = [*_NEEDED, *self.components]
        last = None
        for part in self.parts:
            try:
                with pq.ParquetFile(part) as file:
                    _check_columns(part, file.schema_arrow.names, columns)
                    for batch in file.iter_batches(_AT_ONCE, columns=columns):
                        last = _check_order(part, ids_of(batch), last)
                        yield batch
            except (OSError, pa.ArrowException) as error:
                raise ValueError(f"cannot read {part}: {str(error).splitlines()[0]}") from error


def open_run(folder: Path) -> Run:
    """The run that a folder holds."""
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    file = folder / "run.json"
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
        components = tuple(map(str, about["components"]))
    except FileNotFoundError as error:
        raise ValueError(
            f"{folder} has no run.json: it is no folder that `plaudit score` wrote"
        ) from error
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ValueError(f"cannot read {file}: {error}") from error
    return Run(
        folder, tuple(sorted(folder.glob("part-*.parquet"))), components, about.get("inputs")
    )


def _check_columns(part: Path, there: list[str], needed: list[str]) -> None:
    for name in needed:
        if name not in there:
            raise ValueError(f"{part} has no column {name}: this run did not write it")


def _check_order(part: Path, ids: Ids, last: int | None) -> int:
    """The last id, where they rise; rows are matched as they come, so they must."""
    if (last is not None and ids[0] <= last) or (np.diff(ids) <= 0).any():
        raise ValueError(f"{part}: row_id must rise from row to row")
    return int(ids[-1])


def ids_of(batch: Batch) -> Ids:
    """The row ids of a batch."""
    ids: Ids = batch.column("row_id").to_numpy(zero_copy_only=False)
    return ids


def aligned(a: Iterator[Batch], b: Iterator[Batch]) -> Iterator[tuple[Batch | None, Batch | None]]:
    """Batches of both that cover the same range of row ids; None where a run has none there."""
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
    """What goes up to this row id, and what comes after it."""
    place = int(np.searchsorted(ids_of(batch), last, side="right"))
    parts = batch.slice(0, place), batch.slice(place)
    return parts[0] if parts[0].num_rows else None, parts[1] if parts[1].num_rows else None
