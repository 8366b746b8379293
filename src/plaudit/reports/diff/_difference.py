"""The difference between two scored runs: which rows changed, by how much and why."""

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
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from plaudit.tables import ScoredFolder, open_scored

if TYPE_CHECKING:
    from plaudit.recipes import Recipe


SAME = 1e-9  # values that differ by no more than this are equal


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
    return a is b if a is None or b is None else abs(a - b) <= SAME


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
    cells = [_shown(m.before, ".4f"), _shown(m.after, ".4f"), _shown(change, "+.4f")]
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
        f"row {change.row_id}  total {_shown(before.total)} -> {_shown(after.total)}"
        + (f"  ({delta:+.6g})" if delta else "")
    ]
    if before.status != after.status:
        lines.append(f"  status {before.status} -> {after.status}")
    for name in change.components():
        sides = [_value(side, name) for side in (before, after)]
        lines.append(f"  {name} {' -> '.join(sides)}")
        for run, side in (("A", before), ("B", after)):
            if why := side.why.get(name):
                lines.append(f"    {run}: {_one_line(why)}")
    return lines


def _value(side: Side, name: str) -> str:
    return _shown(side.values[name]) if name in side.values else "absent"


def _shown(value: float | None, form: str = ".6g") -> str:
    return "None" if value is None else format(value, form)


def _one_line(text: str, width: int = 200) -> str:
    """Text that can neither move the cursor nor fill the screen."""
    shown = text if len(text) <= width else text[: width - 1] + "…"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)


Batch: TypeAlias = pa.RecordBatch
Ids = NDArray[np.int64]

_NEEDED = ("row_id", "total", "status", "explanation")


def batches_of(run: ScoredFolder) -> Iterator[Batch]:
    """Return the rows of a run in order, without the columns of the input."""
    columns = [*_NEEDED, *run.components]
    run.columns(*columns)
    last = None
    for part, batch in run.batches(columns):
        last = _check_order(part, ids_of(batch), last)
        yield batch


def _check_order(part: Path, ids: Ids, last: int | None) -> int:
    """Return the last row id; raises if the ids do not rise, since rows are matched in order."""
    if not np.issubdtype(ids.dtype, np.integer):
        raise ValueError(f"{part}: row_id must be a whole number in every row")
    if (last is not None and ids[0] <= last) or (np.diff(ids) <= 0).any():
        raise ValueError(f"{part}: row_id must rise from row to row")
    return int(ids[-1])


def ids_of(batch: Batch) -> Ids:
    """Return the row ids of a batch."""
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
    """Return the rows up to this row id, and those after it; None for no rows."""
    place = int(np.searchsorted(ids_of(batch), last, side="right"))
    parts = batch.slice(0, place), batch.slice(place)
    return parts[0] if parts[0].num_rows else None, parts[1] if parts[1].num_rows else None


Floats = NDArray[np.float64]


def difference_of(a: Path, b: Path, limit: int, out: Path | None) -> Difference:
    """Return the difference between the runs in two folders."""
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
        """Return a column on both sides; NaN stands for None."""
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
    plaudit.tables._errors.InputError: there is no folder no-such-run
    """
    return difference_of(Path(a), Path(b), limit, None if out is None else Path(out))


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
    from plaudit.recipes.files import as_recipe
    from plaudit.tables import score_table

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
