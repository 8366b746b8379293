"""Rows of two runs, side by side, in; their difference out, counted batch by batch."""

import heapq
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from plaudit.diff._difference import SAME, Change, Difference, Measure, Side
from plaudit.diff._rows import Batch, aligned, batches_of, ids_of
from plaudit.scoring import ScoredFolder, open_scored

Floats = NDArray[np.float64]


def difference_of(a: Path, b: Path, limit: int, out: Path | None) -> Difference:
    """The difference between the runs in two folders."""
    if limit < 0:
        raise ValueError(f"limit must be 0 or more, got {limit}")
    before, after = open_scored(a), open_scored(b)
    with nullcontext() if out is None else out.open("w", encoding="utf-8") as file:
        tally = _Tally(before, after, limit, file)
        for left, right in aligned(batches_of(before), batches_of(after)):
            tally.add(left, right)
    return tally.difference()


@dataclass
class _Sums:
    """Sums and counts of a measure: its means, and how many rows it changed in."""

    sums: list[float] = field(default_factory=lambda: [0.0, 0.0])
    counts: list[int] = field(default_factory=lambda: [0, 0])
    up: int = 0
    down: int = 0
    skipped: int = 0

    def add(self, before: Floats, after: Floats) -> None:
        for place, values in enumerate((before, after)):
            self.sums[place] += float(np.nansum(values))
            self.counts[place] += int((~np.isnan(values)).sum())
        self.up += int((after - before > SAME).sum())
        self.down += int((before - after > SAME).sum())
        self.skipped += int((np.isnan(before) != np.isnan(after)).sum())

    def measure(self, name: str) -> Measure:
        before, after = (
            total / rows if rows else None
            for total, rows in zip(self.sums, self.counts, strict=True)
        )
        return Measure(name, before, after, self.up, self.down, self.skipped)


@dataclass
class _Only:
    """The rows that only one run has: how many, and the first."""

    limit: int
    count: int = 0
    first: list[int] = field(default_factory=list)

    def shown(self) -> tuple[int, tuple[int, ...]]:
        return self.count, tuple(self.first)

    def add(self, ids: NDArray[np.int64]) -> None:
        self.count += len(ids)
        self.first += ids[: self.limit - len(self.first)].tolist()


class _Tally:
    def __init__(self, a: ScoredFolder, b: ScoredFolder, limit: int, out: TextIO | None) -> None:
        self.runs, self.limit, self.out = (a, b), limit, out
        self.components = [run.components for run in self.runs]
        self.shared = [name for name in a.components if name in b.components]
        self.rows = self.changed = self.status_only = 0
        self.only = (_Only(limit), _Only(limit))
        self.sums = {name: _Sums() for name in ("total", *self.shared)}
        self.statuses: Counter[tuple[str, str]] = Counter()
        self.largest: list[tuple[float, float, int, Change]] = []  # a heap, the smallest on top

    def add(self, left: Batch | None, right: Batch | None) -> None:
        if left is None or right is None:
            for place, batch in enumerate((left, right)):
                if batch is not None:
                    self._add_only(place, ids_of(batch))
            return
        ids = ids_of(left), ids_of(right)
        both, in_left, in_right = np.intersect1d(*ids, assume_unique=True, return_indices=True)
        for place in (0, 1):
            self._add_only(place, np.setdiff1d(ids[place], both, assume_unique=True))
        self.rows += len(both)
        self._compare(_Pairs(both, (left, right), (in_left, in_right)))

    def _add_only(self, place: int, ids: NDArray[np.int64]) -> None:
        self.only[place].add(ids)
        for row_id in ids.tolist() if self.out else ():
            self._write({"row_id": row_id, "only_in": "ab"[place]})

    def _compare(self, pairs: "_Pairs") -> None:
        amounts = {}
        other_status = pairs.other_status()
        changed = np.zeros(len(other_status), dtype=bool)
        for name, sums in self.sums.items():
            before, after = pairs.numbers(name)
            sums.add(before, after)
            amounts[name] = np.abs(np.nan_to_num(after) - np.nan_to_num(before))
            changed |= (amounts[name] > SAME) | (np.isnan(before) != np.isnan(after))
        self.changed += int(changed.sum())
        self.status_only += int((other_status & ~changed).sum())
        places = np.flatnonzero(changed | other_status)
        of_components = sum((amounts[name] for name in self.shared), np.zeros(len(changed)))
        for place in places.tolist():
            amount = float(amounts["total"][place]), float(of_components[place])
            self._add_change(pairs, place, amount)

    def _add_change(self, pairs: "_Pairs", place: int, amount: tuple[float, float]) -> None:
        statuses = pairs.statuses(place)
        if statuses[0] != statuses[1]:
            self.statuses[statuses] += 1
        row_id = int(pairs.ids[place])
        rank = (*amount, -row_id)
        full = len(self.largest) >= self.limit
        is_large = self.limit > 0 and (not full or rank > self.largest[0][:3])
        if not is_large and self.out is None:
            return  # its reasons need not be read
        change = Change(row_id, *pairs.sides(place, self.components))
        self._write(asdict(change))
        if is_large:
            (heapq.heapreplace if full else heapq.heappush)(self.largest, (*rank, change))

    def _write(self, entry: dict[str, Any]) -> None:
        if self.out is not None:
            self.out.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def difference(self) -> Difference:
        a, b = self.runs
        return Difference(
            str(a.path),
            str(b.path),
            self.rows,
            self.changed,
            self.status_only,
            self.only[0].shown(),
            self.only[1].shown(),
            measures=tuple(sums.measure(name) for name, sums in self.sums.items()),
            components_a=tuple(name for name in a.components if name not in self.shared),
            components_b=tuple(name for name in b.components if name not in self.shared),
            statuses=dict(self.statuses),
            changes=tuple(entry[3] for entry in sorted(self.largest, key=lambda e: e[:3]))[::-1],
            notes=tuple(_notes(a, b)),
        )


def _notes(a: ScoredFolder, b: ScoredFolder) -> Iterator[str]:
    if a.run.get("inputs") != b.run.get("inputs"):
        yield "the runs have different inputs; rows are matched by their position in them"


@dataclass(frozen=True)
class _Pairs:
    """Rows that both runs have: their ids, the two batches, and the indices of the rows in each."""

    ids: NDArray[np.int64]
    batches: tuple[Batch, Batch]
    places: tuple[NDArray[np.intp], NDArray[np.intp]]

    def numbers(self, name: str) -> tuple[Floats, Floats]:
        """A column on both sides; NaN stands for None."""
        before, after = (
            batch.column(name).cast(pa.float64()).to_numpy(zero_copy_only=False)[places]
            for batch, places in zip(self.batches, self.places, strict=True)
        )
        return before, after

    def other_status(self) -> NDArray[np.bool_]:
        before, after = (
            batch.column("status").to_numpy(zero_copy_only=False)[places]
            for batch, places in zip(self.batches, self.places, strict=True)
        )
        return np.asarray(before != after, dtype=bool)

    def statuses(self, place: int) -> tuple[str, str]:
        before, after = (str(self._cell(side, "status", place)) for side in (0, 1))
        return before, after

    def sides(self, place: int, components: list[tuple[str, ...]]) -> list[Side]:
        return [
            Side(
                self._cell(side, "total", place),
                str(self._cell(side, "status", place)),
                {name: self._cell(side, name, place) for name in components[side]},
                _reasons(self._cell(side, "explanation", place)),
            )
            for side in (0, 1)
        ]

    def _cell(self, side: int, name: str, place: int) -> Any:
        row = int(self.places[side][place])
        return self.batches[side].column(name)[row].as_py()


def _reasons(explanation: Any) -> dict[str, str]:
    return {entry["component"]: entry["why"] or "" for entry in explanation or ()}
