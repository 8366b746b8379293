"""The difference between two scored runs: which rows changed, by how much and why.

    $ plaudit diff runs/before runs/after
    $ plaudit diff --input rollouts.jsonl trl-math mine.toml

Rows are matched by `row_id`. Both runs are read once, side by side, so that memory does not grow
with them.
"""

import heapq
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from html import escape
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TextIO

try:
    import numpy as np
    import pyarrow as pa

    from plaudit.reports._scored_run import Array, floats
    from plaudit.tables import open_scored, score_table
    from plaudit.tables.output import ScoredFolder
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"plaudit.reports.diff needs {missing.name}: pip install 'plaudit[score]'",
        name=missing.name,
    ) from missing

from plaudit.inputs.errors import one_line
from plaudit.recipes.recipe import as_recipe

if TYPE_CHECKING:
    from plaudit.recipes import Recipe

__all__ = ["compare", "compare_recipes"]

_SAME = 1e-9  # values that differ by no more than this are equal
_NEEDED = ("row_id", "total", "status", "explanation")


def compare(
    a: str | PathLike[str],
    b: str | PathLike[str],
    limit: int = 20,
    out: str | PathLike[str] | None = None,
) -> "Difference":
    """Return the difference between two folders that `plaudit score` or `plaudit.record` wrote.

    a, b: the folders, before and after
    limit: how many of the largest changes the result holds; default: 20. Counts and means are over
        all rows
    out: a file to write every change to, as one line of JSON each; default: none is written

    >>> compare("no-such-run", "another")
    Traceback (most recent call last):
    ...
    plaudit.tables.errors.InputError: there is no folder no-such-run
    """
    if limit < 0:
        raise ValueError(f"limit must be 0 or more, got {limit}")
    before, after = open_scored(Path(a)), open_scored(Path(b))
    with nullcontext() if out is None else Path(out).open("w", encoding="utf-8") as file:
        tally = _Tally((before, after), limit, file)
        for left, right in _align(_batches_of(before), _batches_of(after)):
            tally.add(left, right)
    return tally.difference()


def compare_recipes(
    inputs: str | PathLike[str] | Sequence[str | PathLike[str]],
    a: Any,
    b: Any,
    limit: int = 20,
    out: str | PathLike[str] | None = None,
    progress: TextIO | None = None,
    completions: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> "Difference":
    """Return the difference between the scores that two recipes give the same rows.

    inputs: the file to score, or several
    a, b: recipes, names of presets, TOML files or rewards
    limit, out: as for `compare`
    progress: where to show the progress of scoring, such as sys.stderr; default: nowhere
    completions: the column that a model wrote; default: as for `plaudit.tables.score_table`
    columns: which column an argument of a reward is read from, such as {"solution": "answer"}; a
        recipe that has no such argument ignores it

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "rollouts.jsonl")
    >>> _ = file.write_text('{"completion": "<think>Hm.</think> 4", "solution": "4"}')
    >>> difference = compare_recipes(file, "trl-math", "trl-reasoning")
    >>> difference.changed, difference.components_b
    (1, ('reasoning_accuracy_reward', 'think_format_reward'))
    """
    recipes = as_recipe(a), as_recipe(b)
    _check_taken(recipes, columns or {})
    with TemporaryDirectory(prefix="plaudit-diff-") as folder:
        runs = Path(folder, "a"), Path(folder, "b")
        for recipe, run in zip(recipes, runs, strict=True):
            taken = {name: c for name, c in (columns or {}).items() if _takes(recipe, name)}
            score_table(
                inputs, recipe, run, completions=completions, columns=taken, progress=progress
            )
        return replace(compare(*runs, limit, out), a=recipes[0].name, b=recipes[1].name)


def _takes(recipe: "Recipe", argument: str) -> bool:
    return any(component.takes(argument) for component in recipe.components)


def _check_taken(recipes: Sequence["Recipe"], columns: Mapping[str, str]) -> None:
    for argument, column in columns.items():
        if not any(_takes(recipe, argument) for recipe in recipes):
            names = " nor ".join(recipe.name for recipe in recipes)
            raise ValueError(
                f"no reward of {names} takes {argument}, which {argument}={column} names; the "
                "argument comes first, as in --column solution=answer"
            )


@dataclass(frozen=True)
class Side:
    """A row in one of the runs; `why` and `values` have an entry for each component."""

    total: float | None
    status: str
    values: Mapping[str, float | None] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """A row that both runs have, and that differs between them."""

    row_id: int
    before: Side
    after: Side

    @property
    def delta(self) -> float | None:
        """By how much the total went up; None if one of the totals is None."""
        if self.before.total is None or self.after.total is None:
            return None
        return self.after.total - self.before.total

    def components(self) -> list[str]:
        """Return the components whose values differ, or that only one of the runs has."""
        before, after = self.before.values, self.after.values
        names = dict.fromkeys([*before, *after])
        one_sided = [name for name in names if (name in before) != (name in after)]
        return [
            name
            for name in names
            if name in one_sided or not _same(before.get(name), after.get(name))
        ]


def _same(a: float | None, b: float | None) -> bool:
    return a is b if a is None or b is None else abs(a - b) <= _SAME


@dataclass(frozen=True)
class Measure:
    """The total or a component, over the rows that both runs have.

    before, after: its mean, without the rows where it is None
    up, down: how many rows it rose and fell in
    skipped: how many rows it is None in, in one of the runs only
    """

    name: str
    before: float | None
    after: float | None
    up: int
    down: int
    skipped: int

    @property
    def changed(self) -> int:
        """How many rows it differs in."""
        return self.up + self.down + self.skipped


@dataclass(frozen=True)
class Difference:
    """The difference between two runs, `a` before and `b` after.

    rows: how many rows are in both
    changed: how many of them have other values
    status_only: how many have another status, and the same values
    only_a, only_b: how many rows only one run has, and the first of their row ids
    measures: the total, then the components that both have
    components_a, components_b: the components that only one run has
    statuses: how many rows went from one status to another
    changes: the largest changes, by the total, then by the components; None counts as 0 here
    notes: what a reader should know first
    """

    a: str
    b: str
    rows: int = 0
    changed: int = 0
    status_only: int = 0
    only_a: tuple[int, tuple[int, ...]] = (0, ())
    only_b: tuple[int, tuple[int, ...]] = (0, ())
    measures: tuple[Measure, ...] = ()
    components_a: tuple[str, ...] = ()
    components_b: tuple[str, ...] = ()
    statuses: Mapping[tuple[str, str], int] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether both runs have the same rows with the same scores."""
        return not (self.changed or self.status_only or self.only_a[0] or self.only_b[0])

    def as_json(self) -> dict[str, Any]:
        """Return a dictionary for `json.dumps`."""
        only = {
            key: {"count": count, "first": list(first)}
            for key, (count, first) in (("only_a", self.only_a), ("only_b", self.only_b))
        }
        statuses = [
            {"before": before, "after": after, "rows": rows}
            for (before, after), rows in self.statuses.items()
        ]
        return {**asdict(self), **only, "statuses": statuses}

    def _repr_html_(self) -> str:
        """Return the difference in a notebook, as its text."""
        return f"<pre>{escape(self.as_text())}</pre>"

    def as_text(self) -> str:
        """Text for a person: the summary, then the largest changes."""
        blocks = [_head(self), _table(self.measures), _statuses(self.statuses)]
        if self.changes:
            shown = len(self.changes)
            differing = self.changed + self.status_only
            rest = f" ({shown:,} of {differing:,})" if shown < differing else ""
            title = f"The largest changes of the total{rest}:"
            blocks += [[title], *(_change_lines(change) for change in self.changes)]
        return "\n\n".join("\n".join(block) for block in blocks if block)


def _head(difference: Difference) -> list[str]:
    d = difference
    lines = [f"A: {d.a}", f"B: {d.b}", *(f"Note: {note}" for note in d.notes)]
    lines.append(
        f"{d.rows:,} rows in both: {d.changed:,} with other values, "
        f"{d.status_only:,} with another status alone; "
        f"{d.only_a[0]:,} only in A, {d.only_b[0]:,} only in B"
    )
    for run, (count, first) in (("A", d.only_a), ("B", d.only_b)):
        if first:
            more = ", …" if count > len(first) else ""
            lines.append(f"rows only in {run}: {', '.join(map(str, first))}{more}")
    for run, names in (("A", d.components_a), ("B", d.components_b)):
        if names:
            lines.append(f"components only in {run}: {', '.join(names)}")
    return lines


def _table(measures: tuple[Measure, ...]) -> list[str]:
    if not measures:
        return []
    width = max(len(measure.name) for measure in measures)
    head = f"{'':{width}}   mean A   mean B   change       up     down  skipped"
    return [head, *(_table_line(measure, width) for measure in measures)]


def _table_line(m: Measure, width: int) -> str:
    change = None if m.before is None or m.after is None else m.after - m.before
    cells = [_format(m.before, ".4f"), _format(m.after, ".4f"), _format(change, "+.4f")]
    numbers = "".join(f"{cell:>9}" for cell in cells)
    return f"{m.name:{width}}{numbers}{m.up:>9,}{m.down:>9,}{m.skipped:>9,}"


def _statuses(statuses: Mapping[tuple[str, str], int]) -> list[str]:
    return [
        f"status {before} -> {after}: {rows:,} {'row' if rows == 1 else 'rows'}"
        for (before, after), rows in sorted(statuses.items(), key=lambda item: -item[1])
    ]


def _change_lines(change: Change) -> list[str]:
    before, after, delta = change.before, change.after, change.delta
    lines = [
        f"row {change.row_id}  total {_format(before.total)} -> {_format(after.total)}"
        + (f"  ({delta:+.6g})" if delta else "")
    ]
    if before.status != after.status:
        lines.append(f"  status {before.status} -> {after.status}")
    for name in change.components():
        sides = [_value(side, name) for side in (before, after)]
        lines.append(f"  {name} {' -> '.join(sides)}")
        for run, side in (("A", before), ("B", after)):
            if why := side.why.get(name):
                lines.append(f"    {run}: {one_line(why)}")
    return lines


def _value(side: Side, name: str) -> str:
    return _format(side.values[name]) if name in side.values else "absent"


def _format(value: float | None, form: str = ".6g") -> str:
    return "None" if value is None else format(value, form)


def _batches_of(run: ScoredFolder) -> Iterator[pa.RecordBatch]:
    """Return the rows of a run, without the columns of the input; raise if row ids do not rise."""
    columns = [*_NEEDED, *run.components]
    run.columns(*columns)
    last = None
    for part, batch in run.batches(columns):
        ids = _ids_of(batch)
        if not np.issubdtype(ids.dtype, np.integer):
            raise ValueError(f"{part}: row_id must be a whole number in every row")
        if (last is not None and ids[0] <= last) or (np.diff(ids) <= 0).any():
            raise ValueError(f"{part}: row_id must rise from row to row")
        last = int(ids[-1])
        yield batch


def _ids_of(batch: pa.RecordBatch) -> Array:
    ids: Array = batch["row_id"].to_numpy(zero_copy_only=False)
    return ids


def _align(
    a: Iterator[pa.RecordBatch], b: Iterator[pa.RecordBatch]
) -> Iterator[tuple[pa.RecordBatch | None, pa.RecordBatch | None]]:
    """Yield batches of both that cover the same row ids; None if a run has no rows there."""
    left, right = next(a, None), next(b, None)
    while left is not None or right is not None:
        last = min(_ids_of(batch)[-1] for batch in (left, right) if batch is not None)
        left_now, left = _split(left, last)
        right_now, right = _split(right, last)
        yield left_now, right_now
        left, right = left or next(a, None), right or next(b, None)


def _split(
    batch: pa.RecordBatch | None, last: int
) -> tuple[pa.RecordBatch | None, pa.RecordBatch | None]:
    """Return the rows up to this row id, and those after it; None for no rows."""
    if batch is None:
        return None, None
    count = int(np.searchsorted(_ids_of(batch), last, side="right"))
    parts = batch.slice(0, count), batch.slice(count)
    return parts[0] if parts[0].num_rows else None, parts[1] if parts[1].num_rows else None


class _Tally:
    """Adds up the differences of two runs, batch by batch."""

    def __init__(
        self, runs: tuple[ScoredFolder, ScoredFolder], limit: int, out: TextIO | None
    ) -> None:
        self.runs, self.limit, self.out = runs, limit, out
        self.shared = [name for name in runs[0].components if name in runs[1].components]
        self.rows = self.changed = self.status_only = 0
        self.only: tuple[list[int], list[int]] = ([], [])  # the first of the rows of one run alone
        self.only_counts = [0, 0]
        self.sums = {name: np.zeros(7) for name in ("total", *self.shared)}
        self.statuses: Counter[tuple[str, str]] = Counter()
        self.largest: list[tuple[float, float, int, Change]] = []  # a heap, the smallest on top

    def add(self, left: pa.RecordBatch | None, right: pa.RecordBatch | None) -> None:
        """Add batches that cover the same row ids."""
        batches = (left, right)
        ids = [np.zeros(0, np.int64) if batch is None else _ids_of(batch) for batch in batches]
        both, *rows = np.intersect1d(ids[0], ids[1], assume_unique=True, return_indices=True)
        for run in (0, 1):
            self._add_only(run, np.setdiff1d(ids[run], both, assume_unique=True))
        self.rows += len(both)
        if left is not None and right is not None:
            self._add_pairs(both, left.take(pa.array(rows[0])), right.take(pa.array(rows[1])))

    def _add_only(self, run: int, ids: Array) -> None:
        self.only_counts[run] += len(ids)
        self.only[run].extend(ids[: self.limit - len(self.only[run])].tolist())
        for row_id in ids.tolist() if self.out else ():
            self._write({"row_id": row_id, "only_in": "ab"[run]})

    def _add_pairs(self, ids: Array, left: pa.RecordBatch, right: pa.RecordBatch) -> None:
        """Add rows that both runs have, in the same order."""
        amounts, changed = {}, np.zeros(len(ids), dtype=bool)
        for name, sums in self.sums.items():
            before, after = floats(left[name]), floats(right[name])
            sums += _sums_of(before, after)
            amounts[name] = np.abs(np.nan_to_num(after) - np.nan_to_num(before))
            changed |= (amounts[name] > _SAME) | (np.isnan(before) != np.isnan(after))
        statuses = [batch["status"].to_numpy(zero_copy_only=False) for batch in (left, right)]
        other = np.asarray(statuses[0] != statuses[1], dtype=bool)
        self.statuses.update(zip(*(found[other].tolist() for found in statuses), strict=True))
        self.changed += int(changed.sum())
        self.status_only += int((other & ~changed).sum())
        of_components = sum((amounts[name] for name in self.shared), np.zeros(len(ids)))
        for row in np.flatnonzero(changed | other).tolist():
            rank = float(amounts["total"][row]), float(of_components[row]), -int(ids[row])
            self._add_change(rank, left.slice(row, 1), right.slice(row, 1))

    def _add_change(
        self, rank: tuple[float, float, int], left: pa.RecordBatch, right: pa.RecordBatch
    ) -> None:
        full = len(self.largest) >= self.limit
        is_large = self.limit > 0 and (not full or rank > self.largest[0][:3])
        if not is_large and self.out is None:
            return  # its reasons need not be read
        sides = [
            _side(batch.to_pylist()[0], run.components)
            for batch, run in zip((left, right), self.runs, strict=True)
        ]
        change = Change(-rank[2], *sides)
        self._write(asdict(change))
        if is_large:
            (heapq.heapreplace if full else heapq.heappush)(self.largest, (*rank, change))

    def _write(self, entry: dict[str, Any]) -> None:
        if self.out is not None:
            self.out.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def difference(self) -> Difference:
        """Return what was added up."""
        a, b = self.runs
        other_inputs = a.run.get("inputs") != b.run.get("inputs")
        note = "the runs have different inputs; rows are matched by their position in them"
        return Difference(
            str(a.path),
            str(b.path),
            self.rows,
            self.changed,
            self.status_only,
            (self.only_counts[0], tuple(self.only[0])),
            (self.only_counts[1], tuple(self.only[1])),
            measures=tuple(_measure(name, *sums.tolist()) for name, sums in self.sums.items()),
            components_a=tuple(name for name in a.components if name not in self.shared),
            components_b=tuple(name for name in b.components if name not in self.shared),
            statuses=dict(self.statuses),
            changes=tuple(entry[3] for entry in sorted(self.largest, key=lambda e: e[:3]))[::-1],
            notes=(note,) if other_inputs else (),
        )


def _sums_of(before: Array, after: Array) -> Array:
    """Return the sum and the count of both, and in how many rows a value rose, fell or is None."""
    sums = [part for v in (before, after) for part in (np.nansum(v), (~np.isnan(v)).sum())]
    up, down = (after - before > _SAME).sum(), (before - after > _SAME).sum()
    return np.array([*sums, up, down, (np.isnan(before) != np.isnan(after)).sum()], float)


def _measure(name: str, a: float, count_a: float, b: float, count_b: float, *n: float) -> Measure:
    means = a / count_a if count_a else None, b / count_b if count_b else None
    return Measure(name, *means, *map(int, n))


def _side(row: dict[str, Any], components: Sequence[str]) -> Side:
    reasons = {entry["component"]: entry["why"] or "" for entry in row["explanation"] or ()}
    values = {name: row[name] for name in components}
    return Side(row["total"], str(row["status"]), values, reasons)
