"""The numbers of a run in; spreads, histograms, groups, lengths and correlations out.

Everything here is a pure function of arrays; NaN stands for None, a row that was skipped.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from plaudit.report._numbers import Numbers
from plaudit.report._pass_at_k import Array, AtK, at_k
from plaudit.scores import TROUBLE

_FEW_VALUES = 12  # with at most so many distinct values, a histogram has a bar for each
_OF_EACH = 5  # if each has at least so many rows on average
_BINS = 24
_LENGTH_BINS = 16
SAME = 1e-9  # totals that differ by no more than this are equal: the rest is rounding


@dataclass(frozen=True, slots=True)
class Spread:
    """How values are distributed; all but the counts are None if there is no value."""

    count: int
    missing: int
    mean: float | None = None
    std: float | None = None
    low: float | None = None
    quartile1: float | None = None
    median: float | None = None
    quartile3: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Bin:
    """How many values are between `low` and `high`, which are equal for a bin of one value."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Share:
    """How many groups have this share of right completions.

    mixed: whether some completions of such a group are right, but not all
    """

    label: str
    count: int
    mixed: bool


@dataclass(frozen=True, slots=True)
class LengthBin:
    """The totals of rows with a length from `low` to `high`: their mean and quartiles."""

    low: float
    high: float
    count: int
    mean: float
    quartile1: float
    quartile3: float


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups; each array has one entry per group.

    rows, scored: how many rows, and how many with a total
    decided, right: how many rows are known to be right or wrong, and how many are right
    mean, variance, low, high: of the totals; NaN if there is none
    first: the place of the first row
    """

    names: list[str]
    rows: Array
    scored: Array
    decided: Array
    right: Array
    mean: Array
    variance: Array
    low: Array
    high: Array
    first: Array

    @property
    def without_signal(self) -> Array:
        """Whether a group's totals are all the same: GRPO learns nothing from it."""
        # NaN compares as False, so a group without totals is one as well.
        return ~(self.high - self.low > SAME)


@dataclass(frozen=True, slots=True)
class Signal:
    """How many groups have no signal, by reason."""

    groups: int
    without_signal: int
    all_right: int
    all_wrong: int
    single: int
    otherwise: int


@dataclass(frozen=True, slots=True)
class Summary:
    """All that the report shows, except the rows themselves."""

    correct: str | None
    rows: int
    right: int
    decided: int
    total: Spread
    total_bins: list[Bin]
    spreads: dict[str, Spread]
    bins: dict[str, list[Bin]]
    groups: Groups
    signal: Signal
    right_shares: list[Share]
    at_k: list[AtK]
    unit: str
    lengths: list[LengthBin]
    length: Spread
    names: list[str]
    correlation: list[list[float | None]]
    statuses: dict[str, int]
    component_statuses: dict[tuple[str, str], int]
    golds_in_part: int

    @property
    def troubled(self) -> int:
        """How many rows have a status that says that something went wrong."""
        return sum(self.statuses.get(status, 0) for status in TROUBLE)


def summary_of(numbers: Numbers, correct: str | None) -> Summary:
    """The summary of the numbers; `correct` is the component that says which rows are right."""
    decided = ~np.isnan(numbers.right)
    right = numbers.right == 1
    groups = groups_of(numbers, decided, right)
    columns = {**numbers.values, "total": numbers.totals, "length": numbers.lengths.astype(float)}
    counts = np.bincount(numbers.statuses, minlength=len(numbers.status_names)).tolist()
    return Summary(
        correct=correct,
        rows=len(numbers.row_ids),
        right=int(right.sum()),
        decided=int(decided.sum()),
        total=spread_of(numbers.totals),
        total_bins=histogram(numbers.totals),
        spreads={name: spread_of(values) for name, values in numbers.values.items()},
        bins={name: histogram(values) for name, values in numbers.values.items()},
        groups=groups,
        signal=signal_of(groups),
        right_shares=right_shares(groups),
        at_k=at_k(numbers.groups[decided], right[decided], numbers.answers[decided]),
        unit=numbers.unit,
        lengths=by_length(numbers.lengths, numbers.totals),
        length=spread_of(numbers.lengths.astype(float)),
        names=list(columns),
        correlation=correlation(list(columns.values())),
        statuses=dict(zip(numbers.status_names, counts, strict=True)),
        component_statuses=numbers.component_statuses,
        golds_in_part=numbers.golds_in_part,
    )


def spread_of(values: Array) -> Spread:
    """How the finite values are distributed.

    >>> spread_of(np.array([0.0, 1.0, np.nan]))  # doctest: +ELLIPSIS
    Spread(count=2, missing=1, mean=0.5, std=0.5, low=0.0, quartile1=0.25, median=0.5, ...)
    """
    finite = values[np.isfinite(values)]
    if not len(finite):
        return Spread(0, len(values))
    quantiles = np.quantile(finite, (0, 0.25, 0.5, 0.75, 1)).tolist()
    return Spread(
        len(finite),
        len(values) - len(finite),
        float(finite.mean()),
        float(finite.std()),
        *quantiles,
    )


def histogram(values: Array) -> list[Bin]:
    """A bin for each value if there are few distinct ones, else bins of equal width.

    >>> histogram(np.array([0.0, 1.0, 1.0, np.nan]))
    [Bin(low=0.0, high=0.0, count=1), Bin(low=1.0, high=1.0, count=2)]
    """
    finite = values[np.isfinite(values)] + 0.0  # + 0: no -0.0
    distinct, counts = np.unique(finite, return_counts=True)
    many_of_each = len(finite) >= _OF_EACH * len(distinct) or len(distinct) <= 3
    if len(distinct) <= _FEW_VALUES and many_of_each:
        pairs = zip(distinct.tolist(), counts.tolist(), strict=True)
        return [Bin(value, value, count) for value, count in pairs]
    counts, edges = np.histogram(finite, _edges(distinct[0], distinct[-1]))
    lows, highs = edges[:-1].tolist(), edges[1:].tolist()
    return [Bin(*found) for found in zip(lows, highs, counts.tolist(), strict=True)]


def _edges(low: float, high: float) -> Array:
    """Edges at round numbers, with about `_BINS` bins between them."""
    width = high / _BINS - low / _BINS  # divided first: the difference may not be finite
    if not 1e-300 < width < 1e300:
        return np.unique(np.linspace(low / _BINS, high / _BINS, _BINS + 1) * _BINS)
    power = 10.0 ** np.floor(np.log10(width))
    step = next(step for step in (1, 2, 2.5, 5, 10) if step * power >= width * 0.999) * power
    first, last = np.floor(low / step), np.ceil(high / step)
    edges = np.arange(first, last + 1) * step
    # Values that differ only in their last digits may fall between the edges.
    covers = bool(np.all(np.diff(edges) > 0)) and edges[0] <= low and edges[-1] >= high
    return edges if covers else np.unique(np.linspace(low, high, _BINS + 1))


def groups_of(numbers: Numbers, decided: Array, right: Array) -> Groups:
    """The statistics of each group."""
    many, at = len(numbers.group_names), numbers.groups
    scored = ~np.isnan(numbers.totals)
    totals, scored_at = numbers.totals[scored], at[scored]
    counts = np.bincount(scored_at, minlength=many)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(scored_at, totals, many) / counts
        variance = np.bincount(scored_at, (totals - mean[scored_at]) ** 2, many) / counts
    first = np.full(many, len(at), np.int64)
    np.minimum.at(first, at, np.arange(len(at)))
    return Groups(
        names=numbers.group_names,
        rows=np.bincount(at, minlength=many),
        scored=counts,
        decided=np.bincount(at[decided], minlength=many),
        right=np.bincount(at[right], minlength=many),
        mean=mean,
        variance=variance,
        low=_extreme(np.fmin, scored_at, totals, many),
        high=_extreme(np.fmax, scored_at, totals, many),
        first=first,
    )


def _extreme(choose: Any, at: Array, totals: Array, many: int) -> Array:
    extremes = np.full(many, np.nan)
    choose.at(extremes, at, totals)
    return extremes


def signal_of(groups: Groups) -> Signal:
    """How many groups have no signal, by the first reason that applies."""
    flat = groups.without_signal
    single = flat & (groups.scored < 2)
    decided = flat & ~single & (groups.decided > 0)
    all_right = decided & (groups.right == groups.decided)
    all_wrong = decided & (groups.right == 0)
    otherwise = flat & ~(single | all_right | all_wrong)
    parts = (flat, all_right, all_wrong, single, otherwise)
    return Signal(len(groups.names), *(int(part.sum()) for part in parts))


def right_shares(groups: Groups) -> list[Share]:
    """How many groups have each share of right completions.

    By number of completions if all groups are of one small size, else by tenths. None and all have
    bars of their own, whatever the size of a group.
    """
    some = groups.decided > 0
    if not some.any():
        return []
    right, decided = groups.right[some], groups.decided[some]
    size = int(decided[0])
    if size <= _FEW_VALUES and bool(np.all(decided == size)):
        labels, places = [f"{step}/{size}" for step in range(size + 1)], right
    else:
        tenths = [f"{10 * tenth}–{10 * tenth + 10}%" for tenth in range(10)]
        labels, places = ["none", *tenths, "all"], 1 + 10 * right // decided
        places = np.where(right == 0, 0, np.where(right == decided, len(labels) - 1, places))
    counts = np.bincount(places, minlength=len(labels)).tolist()
    last = len(labels) - 1
    return [
        Share(label, count, 0 < place < last)
        for place, (label, count) in enumerate(zip(labels, counts, strict=True))
    ]


def by_length(lengths: Array, totals: Array) -> list[LengthBin]:
    """The totals by length, in bins with about equally many rows."""
    scored = np.isfinite(totals)
    lengths, totals = lengths[scored], totals[scored]
    if not len(lengths):
        return []
    places = np.searchsorted(_length_starts(lengths), lengths, side="right")
    found = []
    for place in np.unique(places):
        inside = places == place
        quartiles = np.quantile(totals[inside], (0.25, 0.75)).tolist()
        low, high = float(lengths[inside].min()), float(lengths[inside].max())
        mean = float(totals[inside].mean())
        found.append(LengthBin(low, high, int(inside.sum()), mean, *quartiles))
    return found


def _length_starts(lengths: Array) -> Array:
    """Where each bin begins, from the second on."""
    distinct = np.unique(lengths)
    if len(distinct) <= _LENGTH_BINS:
        return distinct[1:]
    inner = np.linspace(0, 1, _LENGTH_BINS + 1)[1:-1]
    return np.unique(np.quantile(lengths, inner, method="nearest"))


def correlation(columns: list[Array]) -> list[list[float | None]]:
    """Pearson's correlation of each pair, over the rows that have both; None if one is constant.

    >>> correlation([np.array([0.0, 1.0, 2.0]), np.array([5.0, 3.0, 1.0])])
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    return [[_pearson(a, b) for b in columns] for a in columns]


def _pearson(a: Array, b: Array) -> float | None:
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    with np.errstate(over="ignore", invalid="ignore"):
        if len(a) < 2 or np.ptp(a) <= SAME or np.ptp(b) <= SAME:
            return None
        value = float(np.corrcoef(a, b)[0, 1])
    return round(value, 12) if np.isfinite(value) else None
