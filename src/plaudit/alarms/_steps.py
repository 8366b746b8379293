"""The statistics of a step's parts in; what is drawn of the step, and looked at for alarms, out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

_SAME = 1e-9  # totals of a group that differ by no more are the same


@dataclass(frozen=True, slots=True)
class Spread:
    """Values: how many, their sum and that of their squares, the least and the most.

    >>> Spread(rows=4, total=2.0, squares=2.0, least=0.0, most=1.0).mean
    0.5
    """

    rows: int
    total: float
    squares: float
    least: float | None
    most: float | None

    @property
    def mean(self) -> float | None:
        """The mean; None if no row has a value."""
        return self.total / self.rows if self.rows else None

    @property
    def deviation(self) -> float:
        """The standard deviation; 0.0 if no row has a value."""
        mean = self.mean or 0.0
        return sqrt(max(self.squares / max(self.rows, 1) - mean**2, 0.0))


@dataclass(frozen=True, slots=True)
class Answers:
    """The most frequent answers of a step, each with its rows and groups; and its golds."""

    texts: Mapping[str, tuple[int, int]]
    golds: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Step:
    """What came of a step.

    seconds: how long its rewards took, in the process in which they took longest
    groups: how many groups have two totals or more; flat: how many of these have no signal
    statuses: how many rows have each
    right: for each component that says which rows are right, how many rows it judged, and how
        many of these are right

    >>> step_of(3, []).rows
    0
    """

    step: int
    rows: int
    seconds: float
    at: float
    values: Mapping[str, Spread]
    length: Spread
    unit: str
    groups: int
    flat: int
    statuses: Mapping[str, int]
    right: Mapping[str, tuple[int, int]]
    answers: Mapping[str, Answers]


def step_of(step: int, lines: Sequence[Mapping[str, Any]]) -> Step:
    """The lines of all processes for one step, put together.

    >>> spread = {"rows": 2, "sum": 1.0, "squares": 1.0, "least": 0.0, "most": 1.0}
    >>> line = {"part": "part-00000003-00000-00000-000001", "rows": 2, "seconds": 0.5, "at": 0.0,
    ...         "values": {"total": spread}, "length": spread, "unit": "tokens",
    ...         "statuses": {"scored": 2}, "groups": [["a", 2, 0.0, 1.0]], "right": {},
    ...         "answers": {}}
    >>> found = step_of(3, [line, line])
    >>> found.rows, found.values["total"].mean, found.flat, found.groups
    (4, 0.5, 0, 1)
    """
    seconds: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for line in lines:
        process = "".join(line["part"].split("-")[2:3])
        seconds[process] += line["seconds"]
        statuses.update(line["statuses"])
        for name, (rows, of_these) in line["right"].items():
            judged[name] += rows
            right[name] += of_these
    names = dict.fromkeys(name for line in lines for name in line["values"])
    groups, flat = _groups(lines)
    return Step(
        step=step,
        rows=sum(line["rows"] for line in lines),
        seconds=max(seconds.values(), default=0.0),
        at=max((line["at"] for line in lines), default=0.0),
        values={name: _spread([line["values"][name] for line in lines]) for name in names},
        length=_spread([line["length"] for line in lines]),
        unit=lines[0]["unit"] if lines else "characters",
        groups=groups,
        flat=flat,
        statuses=dict(statuses),
        right={name: (rows, right[name]) for name, rows in judged.items()},
        answers=_answers(lines),
    )


def _spread(lines: Sequence[Mapping[str, Any]]) -> Spread:
    return spread_of(
        [
            Spread(*(one[key] for key in ("rows", "sum", "squares", "least", "most")))
            for one in lines
        ]
    )


def spread_of(spreads: Sequence[Spread]) -> Spread:
    """The spread of the values of several spreads.

    >>> spread_of([Spread(2, 2.0, 2.0, 1.0, 1.0), Spread(2, 0.0, 0.0, 0.0, 0.0)]).deviation
    0.5
    """
    least = [one.least for one in spreads if one.least is not None]
    most = [one.most for one in spreads if one.most is not None]
    return Spread(
        sum(one.rows for one in spreads),
        float(sum(one.total for one in spreads)),
        float(sum(one.squares for one in spreads)),
        min(least, default=None),
        max(most, default=None),
    )


def _groups(lines: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """How many groups can have a signal, and how many have none: all their totals are the same."""
    found: dict[str, tuple[int, float, float]] = {}
    for line in lines:
        for name, count, least, most in line["groups"]:
            known = found.get(name, (0, least, most))
            found[name] = known[0] + count, min(known[1], least), max(known[2], most)
    several = [(least, most) for count, least, most in found.values() if count > 1]
    return len(several), sum(most - least <= _SAME for least, most in several)


def _answers(lines: Sequence[Mapping[str, Any]]) -> dict[str, Answers]:
    found = {}
    for name in dict.fromkeys(name for line in lines for name in line["answers"]):
        rows: Counter[str] = Counter()
        groups: Counter[str] = Counter()
        golds: Counter[str] = Counter()
        for one in (line["answers"][name] for line in lines if name in line["answers"]):
            for text, count, own in one["top"]:
                rows[text] += count
                groups[text] = max(groups[text], own)  # processes may share a group
            golds.update(dict(one["gold"]))
        found[name] = Answers({text: (n, groups[text]) for text, n in rows.items()}, dict(golds))
    return found
