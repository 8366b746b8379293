"""The statistics of a step's parts in; what is drawn of the step, and looked at for alarms, out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

_SAME = 1e-9  # totals of a group that differ by no more are the same


@dataclass(frozen=True, slots=True)
class Spread:
    """The values of a step: how many, their sum and that of their squares, and quartiles."""

    rows: int
    total: float
    squares: float
    low: float | None
    middle: float | None
    high: float | None
    least: float | None
    most: float | None

    @property
    def mean(self) -> float | None:
        """The mean; None where no row has a value."""
        return self.total / self.rows if self.rows else None


@dataclass(frozen=True, slots=True)
class Answer:
    """The most frequent answer of a step: its share of the rows, and how many prompts it is for.

    gold: the share of the rows whose gold is the most frequent gold
    """

    text: str
    share: float
    prompts: int
    gold: float


@dataclass(frozen=True, slots=True)
class Step:
    """What came of a step.

    seconds: how long its rewards took, in the process in which they took longest
    groups: how many groups have two totals or more; flat: how many of these have no signal
    statuses: how many rows have each
    decided: for each component that says which rows are right, how many rows it says so of

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
    decided: Mapping[str, int]
    answers: Mapping[str, Answer]


def step_of(step: int, lines: Sequence[Mapping[str, Any]]) -> Step:
    """The lines of all processes for one step, put together.

    >>> spread = {"rows": 2, "sum": 1.0, "squares": 1.0, "points": [[0.0, 1], [1.0, 1]]}
    >>> line = {"part": "part-00000003-00000-00000-000001", "rows": 2, "seconds": 0.5, "at": 0.0,
    ...         "values": {"total": spread}, "length": spread, "unit": "tokens",
    ...         "statuses": {"scored": 2}, "groups": [["a", 2, 0.0, 1.0]], "right": {},
    ...         "answers": {}}
    >>> found = step_of(3, [line, line])
    >>> found.rows, found.values["total"].mean, found.flat, found.groups
    (4, 0.5, 0, 1)
    """
    rows = sum(line["rows"] for line in lines)
    seconds: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    decided: Counter[str] = Counter()
    for line in lines:
        process = "".join(line["part"].split("-")[2:3])
        seconds[process] += line["seconds"]
        statuses.update(line["statuses"])
        decided.update({name: counts[0] for name, counts in line["right"].items()})
    names = dict.fromkeys(name for line in lines for name in line["values"])
    groups, flat = _groups(lines)
    return Step(
        step=step,
        rows=rows,
        seconds=max(seconds.values(), default=0.0),
        at=max((line["at"] for line in lines), default=0.0),
        values={name: spread_of([line["values"][name] for line in lines]) for name in names},
        length=spread_of([line["length"] for line in lines]),
        unit=lines[0]["unit"] if lines else "characters",
        groups=groups,
        flat=flat,
        statuses=dict(statuses),
        decided=dict(decided),
        answers=_answers(lines),
    )


def spread_of(found: Sequence[Mapping[str, Any]]) -> Spread:
    """The spread of values that several processes summed up.

    >>> spread_of([{"rows": 4, "sum": 2.0, "squares": 2.0, "points": [[0.0, 2], [1.0, 2]]}]).high
    1.0
    """
    points = sorted((float(v), float(n)) for one in found for v, n in one["points"])
    points = [(value, weight) for value, weight in points if isfinite(value)]
    low, middle, high = (_quantile(points, share) for share in (0.25, 0.5, 0.75))
    return Spread(
        sum(one["rows"] for one in found),
        float(sum(one["sum"] for one in found)),
        float(sum(one["squares"] for one in found)),
        *(low, middle, high),
        points[0][0] if points else None,
        points[-1][0] if points else None,
    )


def _quantile(points: Sequence[tuple[float, float]], share: float) -> float | None:
    """The value up to which a share of the weight lies."""
    wanted = share * sum(weight for _, weight in points)
    for value, weight in points:
        wanted -= weight
        if wanted <= 0:
            return value
    return points[-1][0] if points else None


def _groups(lines: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """How many groups can have a signal, and how many have none: all their totals are the same."""
    found: dict[str, tuple[int, float, float]] = {}
    for line in lines:
        for name, count, least, most in line["groups"]:
            known = found.get(name, (0, least, most))
            found[name] = known[0] + count, min(known[1], least), max(known[2], most)
    several = [(least, most) for count, least, most in found.values() if count > 1]
    return len(several), sum(most - least <= _SAME for least, most in several)


def _answers(lines: Sequence[Mapping[str, Any]]) -> dict[str, Answer]:
    rows = max(sum(line["rows"] for line in lines), 1)
    found = {}
    for name in dict.fromkeys(name for line in lines for name in line["answers"]):
        counts: Counter[str] = Counter()
        prompts: Counter[str] = Counter()
        golds: Counter[str] = Counter()
        for one in (line["answers"][name] for line in lines if name in line["answers"]):
            counts.update({text: count for text, count, _ in one["top"]})
            for text, _, groups in one["top"]:
                prompts[text] = max(prompts[text], groups)  # processes may share a prompt
            golds.update(dict(one["gold"]))
        if counts:
            text, count = max(counts.items(), key=lambda item: (item[1], item[0]))
            gold = max(golds.values(), default=0)
            found[name] = Answer(text, count / rows, prompts[text], gold / rows)
    return found
