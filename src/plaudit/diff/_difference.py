"""The difference between two scored runs, as data, as JSON and as text."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

SAME = 1e-9  # values that differ by no more than this are equal


@dataclass(frozen=True)
class Side:
    """A row in one of the runs; `why` and `values` have an entry for each component.

    >>> Side(1.0, "scored", {"accuracy": 1.0}, {"accuracy": "4 is the gold."}).total
    1.0
    """

    total: float | None
    status: str
    values: Mapping[str, float | None] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """A row that both runs have, and that differs between them.

    >>> change = Change(
    ...     7,
    ...     Side(0.0, "scored", {"accuracy": 0.0, "format": 1.0}),
    ...     Side(1.0, "scored", {"accuracy": 1.0, "format": 1.0}),
    ... )
    >>> change.delta, change.components()
    (1.0, ['accuracy'])
    """

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
        """The components whose values differ, or that only one of the runs has."""
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

    >>> Measure("total", 0.25, 0.5, up=3, down=1, skipped=0).changed
    4
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

    >>> Difference("a", "b", rows=2, changed=0).is_empty
    True
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
        """A dictionary for `json.dumps`.

        >>> Difference("a", "b", rows=2).as_json()["rows"]
        2
        """
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
        """The difference in a notebook, as its text."""
        return f"<pre>{escape(self.as_text())}</pre>"

    def as_text(self) -> str:
        """Text for a person: the summary, then the largest changes.

        >>> print(Difference("a", "b", rows=2).as_text())
        A: a
        B: b
        2 rows in both: 0 with other values, 0 with another status alone; 0 only in A, 0 only in B
        """
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
