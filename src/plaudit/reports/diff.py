"""The difference between two scored runs: which rows changed, by how much and why.

    $ plaudit diff runs/before runs/after
    $ plaudit diff --input rollouts.jsonl trl-math mine.toml

Rows are matched by `row_id`. What is held in memory of all rows is numbers: the reasons are read
only of rows that differ.
"""

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

    from plaudit.reports._scored_run import Array, floats, pick_rows
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
    runs = open_scored(Path(a)), open_scored(Path(b))
    with nullcontext() if out is None else Path(out).open("w", encoding="utf-8") as file:
        return _difference(runs, limit, file)


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

        def is_same(name: str) -> bool:
            a, b = before.get(name), after.get(name)
            both = name in before and name in after
            return both and (a is b if a is None or b is None else abs(a - b) <= _SAME)

        return [name for name in dict.fromkeys([*before, *after]) if not is_same(name)]


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

    changed, status_only: how many rows of both have other values, or another status alone
    only_a, only_b: how many rows only one run has, and the first of their row ids
    measures: the total, then the components that both have
    statuses: how many rows went from one status to another
    changes: the largest changes, by the total, then by the components; None counts as 0 here
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
        statuses = [
            f"status {before} -> {after}: {rows:,} {'row' if rows == 1 else 'rows'}"
            for (before, after), rows in sorted(self.statuses.items(), key=lambda item: -item[1])
        ]
        blocks = [_head(self), _table(self.measures), statuses]
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
    width = max((len(measure.name) for measure in measures), default=0)
    lines = [f"{'':{width}}   mean A   mean B   change       up     down  skipped"]
    for m in measures:
        change = None if m.before is None or m.after is None else m.after - m.before
        cells = [_format(m.before, ".4f"), _format(m.after, ".4f"), _format(change, "+.4f")]
        numbers = "".join(f"{cell:>9}" for cell in cells)
        lines.append(f"{m.name:{width}}{numbers}{m.up:>9,}{m.down:>9,}{m.skipped:>9,}")
    return lines if measures else []


def _change_lines(change: Change) -> list[str]:
    before, after, delta = change.before, change.after, change.delta
    lines = [
        f"row {change.row_id}  total {_format(before.total)} -> {_format(after.total)}"
        + (f"  ({delta:+.6g})" if delta else "")
    ]
    if before.status != after.status:
        lines.append(f"  status {before.status} -> {after.status}")
    for name in change.components():
        sides = [
            _format(side.values[name]) if name in side.values else "absent"
            for side in (before, after)
        ]
        lines.append(f"  {name} {' -> '.join(sides)}")
        for run, side in (("A", before), ("B", after)):
            if why := side.why.get(name):
                lines.append(f"    {run}: {one_line(why)}")
    return lines


def _format(value: float | None, form: str = ".6g") -> str:
    return "None" if value is None else format(value, form)


def _difference(
    runs: tuple[ScoredFolder, ScoredFolder], limit: int, out: TextIO | None
) -> "Difference":
    columns = [_columns_of(run) for run in runs]
    ids = [of_run["row_id"] for of_run in columns]
    both, *rows = np.intersect1d(ids[0], ids[1], assume_unique=True, return_indices=True)
    only = [np.setdiff1d(one, both, assume_unique=True) for one in ids]
    names = [set(run.components) for run in runs]
    shared = [name for name in runs[0].components if name in names[1]]
    amounts, changed = {}, np.zeros(len(both), dtype=bool)
    measures = []
    for name in ("total", *shared):
        before, after = (c[name][at] for c, at in zip(columns, rows, strict=True))
        measures.append(_measure(name, before, after))
        amounts[name] = np.abs(np.nan_to_num(after) - np.nan_to_num(before))
        changed |= (amounts[name] > _SAME) | (np.isnan(before) != np.isnan(after))
    statuses = [c["status"][at] for c, at in zip(columns, rows, strict=True)]
    other = np.asarray(statuses[0] != statuses[1], dtype=bool)
    differing = np.flatnonzero(changed | other)
    total, *others = (amount[differing] for amount in amounts.values())
    order = np.lexsort((differing, -sum(others, np.zeros(len(differing))), -total))
    largest = differing[order[:limit]].tolist()
    changes = _changes(runs, rows, both, differing, largest, out)
    for run, alone in zip("ab", only, strict=True):
        for row_id in alone.tolist():
            _write(out, {"row_id": row_id, "only_in": run})
    other_inputs = runs[0].run.get("inputs") != runs[1].run.get("inputs")
    note = "the runs have different inputs; rows are matched by their position in them"
    return Difference(
        str(runs[0].path),
        str(runs[1].path),
        rows=len(both),
        changed=int(changed.sum()),
        status_only=int((other & ~changed).sum()),
        only_a=(len(only[0]), tuple(only[0][:limit].tolist())),
        only_b=(len(only[1]), tuple(only[1][:limit].tolist())),
        measures=tuple(measures),
        components_a=tuple(name for name in runs[0].components if name not in names[1]),
        components_b=tuple(name for name in runs[1].components if name not in names[0]),
        statuses=dict(Counter(zip(*(found[other].tolist() for found in statuses), strict=True))),
        changes=tuple(changes[row] for row in largest),
        notes=(note,) if other_inputs else (),
    )


def _changes(
    runs: tuple[ScoredFolder, ScoredFolder],
    rows: Sequence[Array],
    ids: Array,
    differing: Array,
    largest: Sequence[int],
    out: TextIO | None,
) -> dict[int, Change]:
    """Return the largest changes; write all that differ. Reasons are read of no other rows."""
    wanted = differing if out else np.sort(np.array(largest, np.int64))
    sides = (_sides(run, at[wanted]) for run, at in zip(runs, rows, strict=True))
    found = {}
    listed = frozenset(largest)
    for row, before, after in zip(wanted.tolist(), *sides, strict=True):
        change = Change(int(ids[row]), before, after)
        _write(out, asdict(change))
        if row in listed:
            found[row] = change
    return found


def _write(out: TextIO | None, entry: dict[str, Any]) -> None:
    if out is not None:
        out.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _columns_of(run: ScoredFolder) -> dict[str, Array]:
    """Return the row ids, values and statuses of all rows; raise if row ids do not rise."""
    names = ("row_id", "total", "status", *run.components)
    run.columns(*names, "explanation")
    found: dict[str, list[Array]] = {name: [np.zeros(0)] for name in names}
    found["row_id"] = [np.zeros(0, np.int64)]
    for part, batch in run.batches(names):
        ids = batch["row_id"]
        if not pa.types.is_integer(ids.type) or ids.null_count:
            raise ValueError(f"{part}: row_id must be a whole number in every row")
        found["row_id"].append(ids.to_numpy(zero_copy_only=False))
        codes = batch["status"].dictionary_encode()
        statuses = np.array(codes.dictionary.to_pylist(), object)
        found["status"].append(statuses[codes.indices.to_numpy(zero_copy_only=False)])
        for name in ("total", *run.components):
            found[name].append(floats(batch[name]))
    columns = {name: np.concatenate(chunks) for name, chunks in found.items()}
    if (np.diff(columns["row_id"]) <= 0).any():
        raise ValueError(f"{run.path}: row_id must rise from row to row")
    return columns


def _sides(run: ScoredFolder, indices: Array) -> Iterator["Side"]:
    """Yield the rows of a run at these indices, which rise."""
    columns = ["total", "status", *run.components, "explanation"]
    batches = (batch for _, batch in run.batches(columns))
    for _, row in pick_rows(batches, indices):
        why = {entry["component"]: entry["why"] or "" for entry in row["explanation"] or ()}
        values = {name: row[name] for name in run.components}
        yield Side(row["total"], str(row["status"]), values, why)


def _measure(name: str, before: Array, after: Array) -> "Measure":
    means = [
        float(np.nansum(values)) / count if (count := int((~np.isnan(values)).sum())) else None
        for values in (before, after)
    ]
    up, down = (after - before > _SAME).sum(), (before - after > _SAME).sum()
    skipped = (np.isnan(before) != np.isnan(after)).sum()
    return Measure(name, means[0], means[1], int(up), int(down), int(skipped))
