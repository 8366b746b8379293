"""The figures of a run: spreads, histograms, groups, lengths, parts, agreement with labels.

Everything here is a pure function of arrays; NaN stands for None, a row that was skipped."""

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import comb
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plaudit.reports._scored_run import (
    NO_ANSWER,
    Array,
    Folder,
    Numbers,
    RejectedRows,
    ReportOptions,
    Split,
    numbers_of,
    open_folder,
    rejected_rows,
    right_component,
)
from plaudit.scores.score import PROBLEM_STATUSES
from plaudit.tables.summary import ProgressLine

_FEW_VALUES = 12  # with at most so many distinct values, a histogram has a bar for each
_OF_EACH = 5  # if each has at least so many rows on average
_BINS = 24
_LENGTH_BINS = 16
SAME = 1e-9  # totals that differ by no more than this are equal: the rest is rounding
VALUES = 30  # of a column that are shown
POINTS = 200  # of a curve; more steps than this are put together
_NONE = "(none)"
LISTED = 10  # rows of each kind of disagreement that the page lists, at most
SHOWN = 1000  # rows of each kind that the page's table holds, at most


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
    """How many groups have this share of right completions."""

    label: str
    count: int
    mixed: bool  # whether some completions of such a group are right, but not all


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

    scored: how many rows have a total
    decided, right: how many rows are known to be right or wrong, and how many are right
    mean, variance, low, high: of the totals; NaN if there is none
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
    spreads: dict[str, Spread]
    groups: Groups
    signal: Signal
    right_shares: list[Share]
    at_k: "list[AtK]"
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
        return sum(self.statuses.get(status, 0) for status in PROBLEM_STATUSES)


def summary_of(numbers: Numbers, correct: str | None) -> Summary:
    """Return the summary; `correct` is the component that says which rows are right."""
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
        spreads={name: spread_of(values) for name, values in numbers.values.items()},
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
    """Return how the finite values are distributed."""
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
    """Return a bin for each value if there are few distinct ones, else bins of equal width."""
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
    """Return the statistics of each group."""
    many, at = len(numbers.group_names), numbers.groups
    scored = ~np.isnan(numbers.totals)
    totals, scored_at = numbers.totals[scored], at[scored]
    counts = np.bincount(scored_at, minlength=many)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(scored_at, totals, many) / counts
        variance = np.bincount(scored_at, (totals - mean[scored_at]) ** 2, many) / counts
    low, high = _extremes(scored_at, totals, many)
    return Groups(
        names=numbers.group_names,
        rows=np.bincount(at, minlength=many),
        scored=counts,
        decided=np.bincount(at[decided], minlength=many),
        right=np.bincount(at[right], minlength=many),
        mean=mean,
        variance=variance,
        low=low,
        high=high,
        first=first_rows(at, many),
    )


def first_rows(codes: Array, many: int) -> Array:
    """Return the index of the first row of each of `many` parts."""
    first = np.full(many, len(codes), np.int64)
    np.minimum.at(first, codes, np.arange(len(codes)))
    return first


def _extremes(codes: Array, values: Array, many: int) -> tuple[Array, Array]:
    """Return the lowest and the highest value of each part; NaN for one without a value."""
    low, high = np.full(many, np.nan), np.full(many, np.nan)
    np.fmin.at(low, codes, values)
    np.fmax.at(high, codes, values)
    return low, high


def signal_of(groups: Groups) -> Signal:
    """Return how many groups have no signal, by the first reason that applies."""
    flat = groups.without_signal
    single = flat & (groups.scored < 2)
    decided = flat & ~single & (groups.decided > 0)
    all_right = decided & (groups.right == groups.decided)
    all_wrong = decided & (groups.right == 0)
    otherwise = flat & ~(single | all_right | all_wrong)
    parts = (flat, all_right, all_wrong, single, otherwise)
    return Signal(len(groups.names), *(int(part.sum()) for part in parts))


def right_shares(groups: Groups) -> list[Share]:
    """Return how many groups have each share of right completions.

    By number of completions if all groups are of one small size, else by tenths. None and all have
    bars of their own, whatever the size of a group.
    """
    some = groups.decided > 0
    if not some.any():
        return []
    right, decided = groups.right[some], groups.decided[some]
    size = int(decided[0])
    if size <= _FEW_VALUES and bool(np.all(decided == size)):
        labels, bars = [f"{step}/{size}" for step in range(size + 1)], right
    else:
        tenths = [f"{10 * tenth}–{10 * tenth + 10}%" for tenth in range(10)]
        labels, bars = ["none", *tenths, "all"], 1 + 10 * right // decided
        bars = np.where(right == 0, 0, np.where(right == decided, len(labels) - 1, bars))
    counts, last = np.bincount(bars, minlength=len(labels)).tolist(), len(labels) - 1
    return [Share(label, counts[bar], mixed=0 < bar < last) for bar, label in enumerate(labels)]


def by_length(lengths: Array, totals: Array) -> list[LengthBin]:
    """Return the totals by length, in bins with about equally many rows."""
    scored = np.isfinite(totals)
    lengths, totals = lengths[scored], totals[scored]
    if not len(lengths):
        return []
    starts = np.unique(lengths)[1:]  # where each bin begins, from the second on
    if len(starts) >= _LENGTH_BINS:
        inner = np.linspace(0, 1, _LENGTH_BINS + 1)[1:-1]
        starts = np.unique(np.quantile(lengths, inner, method="nearest"))
    bins = np.searchsorted(starts, lengths, side="right")
    found = []
    for number in np.unique(bins):
        inside = bins == number
        quartiles = np.quantile(totals[inside], (0.25, 0.75)).tolist()
        low, high = float(lengths[inside].min()), float(lengths[inside].max())
        mean = float(totals[inside].mean())
        found.append(LengthBin(low, high, int(inside.sum()), mean, *quartiles))
    return found


def correlation(columns: list[Array]) -> list[list[float | None]]:
    """Pearson's correlation of each pair, over the rows that have both; None if one is constant."""
    return [[_pearson(a, b) for b in columns] for a in columns]


def _pearson(a: Array, b: Array) -> float | None:
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    with np.errstate(over="ignore", invalid="ignore"):
        if len(a) < 2 or np.ptp(a) <= SAME or np.ptp(b) <= SAME:
            return None
        value = float(np.corrcoef(a, b)[0, 1])
    return round(value, 12) if np.isfinite(value) else None


# --- pass@k and maj@k -----------------------------------------------------------------------------

_DRAWS = 1000  # at most so many of the ways to draw k of n are tried, always the same ones
_FEWEST = 20  # or, if groups are many and large, as few as this: the mean over groups is as good
_WORK = 2_000_000_000  # multiplications for one k at most, which decide how many draws there are
_VOTERS = 256  # of a larger group, only the first 256 completions vote
_AT_ONCE = 4_000_000  # numbers held in memory while votes are counted


@dataclass(frozen=True, slots=True)
class AtK:
    """pass@k and maj@k for one k: means over the ways to draw k completions of a group."""

    k: int
    groups: int  # how many groups have k completions or more; the others are left out
    passed: float
    majority: float | None  # None if no completion has an answer


def at_k(groups: Array, right: Array, answers: Array) -> list[AtK]:
    """Return pass@k and maj@k for k = 1, 2, 4, … and the largest k that half of the groups have.

    pass@k: whether at least one of k completions is right. maj@k: whether the most frequent answer
    among k is right.

    Each array has one entry per completion: the number of its group, whether it is right, and a
    number for its answer, the same for equal answers.
    """
    ballots = _ballots(groups, right, answers)
    tallies: Counter[tuple[int, int]] = Counter()
    for of_size in ballots:
        tallies.update((of_size.size, int(c)) for c in of_size.right.sum(axis=1))
    votes = bool(np.any(answers != NO_ANSWER))
    found = []
    for k in _ks(tallies):
        passed = {pair: pass_at_k(*pair, k) for pair in tallies if pair[0] >= k}
        enough = sum(tallies[pair] for pair in passed)
        mean = sum(value * tallies[pair] for pair, value in passed.items()) / enough
        found.append(AtK(k, enough, mean, _mean_majority(ballots, k) if votes else None))
    return found


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the chance that one of k completions is right, of n of which c are right."""
    return 1.0 - comb(n - c, k) / comb(n, k)


def majority_at_k(right: Array, answers: Array, k: int) -> Array:
    """Return the chance that the most frequent answer is right, for each group (a row).

    It is the mean over draws of k completions. Of answers that are equally frequent, each counts
    the same; if there is no answer at all, the chance is 0.
    """
    groups, n = right.shape
    drawn = _draws(n, k, min(_DRAWS, max(_FEWEST, _WORK // (max(groups, 1) * n**2))))
    step = max(1, _AT_ONCE // (n * max(n, len(drawn))))
    chances = [
        _chances(right[at : at + step], answers[at : at + step], drawn)
        for at in range(0, len(right), step)
    ]
    return np.concatenate([np.zeros(0), *chances])


def _chances(right: Array, answers: Array, drawn: Array) -> Array:
    same = (answers[:, :, None] == answers[:, None, :]) & (answers != NO_ANSWER)[:, None, :]
    # For each draw and completion: how many in the draw give this completion's answer.
    votes = np.where(drawn, drawn.astype(np.float32) @ same.astype(np.float32), 0.0)
    # Answers that tie for the most have equally many completions, so each counts the same.
    winners = (votes == votes.max(axis=2, keepdims=True)) & (votes > 0)
    shares = (winners & right[:, None, :]).sum(axis=2) / np.maximum(winners.sum(axis=2), 1)
    chances: Array = shares.mean(axis=1)
    return chances


@lru_cache(maxsize=64)
def _draws(n: int, k: int, many: int) -> Array:
    """Return ways to draw k of n, one per row, True for what is drawn: all of them, or `many`."""
    if comb(n, k) <= _DRAWS:
        drawn_at = np.array(list(combinations(range(n), k)))
    else:
        drawn_at = np.random.default_rng([n, k]).random((many, n)).argsort(axis=1)[:, :k]
    drawn = np.zeros((len(drawn_at), n), np.bool_)
    np.put_along_axis(drawn, drawn_at, True, axis=1)
    return drawn


class _Ballots(NamedTuple):
    """The groups of one size: one row per group, one column per completion."""

    size: int
    right: Array
    answers: Array


def _ballots(groups: Array, right: Array, answers: Array) -> list[_Ballots]:
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups) if len(groups) else np.zeros(0, np.int64)
    starts = np.cumsum(sizes) - sizes
    found = []
    for size in np.unique(sizes[sizes > 0]).tolist():
        rows = order[starts[sizes == size][:, None] + np.arange(size)]
        found.append(_Ballots(size, right[rows], answers[rows]))
    return found


def _ks(tallies: Counter[tuple[int, int]]) -> list[int]:
    half = tallies.total() / 2
    sizes = sorted({n for n, _ in tallies})
    common = [n for n in sizes if sum(m for (size, _), m in tallies.items() if size >= n) >= half]
    largest = max(common, default=0)
    powers = [2**power for power in range(largest.bit_length())]
    return sorted({*powers, largest} - {0}) if largest <= _VOTERS else powers


def _mean_majority(ballots: list[_Ballots], k: int) -> float | None:
    if k > _VOTERS:
        return None
    chances = [
        majority_at_k(b.right[:, :_VOTERS], b.answers[:, :_VOTERS], k)
        for b in ballots
        if b.size >= k
    ]
    return float(np.concatenate(chances).mean())


# --- parts of a run: by the values of a column, or by steps ---------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """The figures of some rows; a mean or a quartile is NaN if no row has a value.

    groups, flat: how many groups have rows here, and how many of these without signal
    decided, right: how many rows are known to be right or wrong, and how many are right
    means: of each component
    exact: whether the name is the value that all of its rows have
    """

    name: str
    rows: int
    groups: int
    flat: int
    decided: int
    right: int
    troubled: int
    total: float
    quartile1: float
    quartile3: float
    length: float
    means: dict[str, float]
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A run by the values of a column: the values with the most rows, and the others together."""

    column: str
    parts: list[Part]
    others: int  # how many values are in the last part together; 0 if each has a part of its own
    binned: bool  # whether the values are numbers that were put together in ranges

    def width(self, part: Part) -> float:
        """Return how long the bar of a part's mean total is, in percent of the longest."""
        means = [0.0, *(found.total for found in self.parts if found.total == found.total)]
        low, high = min(means), max(means)
        is_drawn = high > low and part.total == part.total
        return round(100 * (part.total - low) / (high - low), 1) if is_drawn else 0.0


@dataclass(frozen=True, slots=True)
class Curves:
    """A run over its steps: where each part is, and how many steps are in one at most."""

    steps: list[float]
    parts: list[Part]
    together: int


def breakdown_of(numbers: Numbers, column: str) -> Breakdown:
    """Return the run by the values of a column."""
    split = numbers.splits[column]
    binned = _all_numbers(split.names) and len(split.names) > VALUES
    if binned:
        split = _bin_numbers(split)
    counts = np.bincount(split.codes, minlength=len(split.names))
    order = sorted(range(len(split.names)), key=lambda code: (-counts[code], code))
    kept = order[: VALUES - 1] if len(order) > VALUES else order
    kept.sort(key=lambda code: _sort_key(split.names[code]))
    parts_at = np.full(max(len(order), 1), len(kept), np.int64)
    parts_at[kept] = np.arange(len(kept))
    names = [split.names[code] or _NONE for code in kept]
    others = len(order) - len(kept)
    names += [f"({others:,} others)"] if others else []
    parts = parts_of(numbers, parts_at[split.codes], names)
    values = set() if binned else {split.names[code] for code in kept if split.names[code]}
    parts = [replace(part, exact=part.name in values) for part in parts]
    return Breakdown(column, parts, others, binned)


def _all_numbers(names: list[str]) -> bool:
    try:
        return all(math.isfinite(float(name)) for name in names if name)
    except ValueError:
        return False


def _sort_key(name: str) -> tuple[bool, float, str]:
    """Numbers by their size, then words by the alphabet, then none."""
    try:
        return name == "", float(name), ""
    except ValueError:
        return name == "", math.inf, name.lower()


def _bin_numbers(split: Split, most: int = 10) -> Split:
    """Numbers with many values, in bins with about equally many rows."""
    sizes = np.array([float(name) if name else np.nan for name in split.names])
    values = sizes[split.codes]
    finite = values[~np.isnan(values)]
    starts = np.unique(np.quantile(finite, np.linspace(0, 1, most + 1)[1:-1], method="nearest"))
    codes = np.searchsorted(starts, values, side="right")
    inside = [finite[np.searchsorted(starts, finite, side="right") == c] for c in range(most)]
    names = [f"{found.min():.6g} – {found.max():.6g}" for found in inside if len(found)]
    # NaN is sorted behind every number: it gets a bin of its own.
    codes = np.where(np.isnan(values), len(names), codes)
    return Split(codes, [*names, ""] if np.isnan(values).any() else names)


def curves_of(numbers: Numbers) -> Curves | None:
    """Return the run over its steps; None if it has fewer than two."""
    if numbers.steps is None:
        return None
    known = np.isfinite(numbers.steps)
    steps, codes = np.unique(numbers.steps[known], return_inverse=True)
    if len(steps) < 2:
        return None
    together = -(-len(steps) // POINTS)
    codes = codes // together
    middle = [float(np.mean(steps[at : at + together])) for at in range(0, len(steps), together)]
    names = [f"{step:g}" for step in middle]
    return Curves(middle, parts_of(numbers, codes, names, known), together)


def parts_of(
    numbers: Numbers, codes: Array, names: list[str], where: Array | None = None
) -> list[Part]:
    """Return the figures of each part; `codes`: the part of each row, of the rows in `where`."""
    many = len(names)

    def of(values: Array) -> Array:
        return values if where is None else values[where]

    totals, right, groups = of(numbers.totals), of(numbers.right), of(numbers.groups)
    bad = [code for code, name in enumerate(numbers.status_names) if name in PROBLEM_STATUSES]
    decided = ~np.isnan(right)
    pairs, flat = _groups_in_parts(codes, groups, totals, len(numbers.group_names))
    quartiles = _quartiles(codes, totals, many)
    means = {name: means_of(codes, of(values), many) for name, values in numbers.values.items()}
    figures = {
        "rows": np.bincount(codes, minlength=many),
        "groups": np.bincount(pairs, minlength=many),
        "flat": np.bincount(pairs[flat], minlength=many),
        "decided": np.bincount(codes[decided], minlength=many),
        "right": np.bincount(codes[right == 1], minlength=many),
        "troubled": np.bincount(codes[np.isin(of(numbers.statuses), bad)], minlength=many),
        "total": means_of(codes, totals, many),
        "quartile1": quartiles[0],
        "quartile3": quartiles[1],
        "length": means_of(codes, of(numbers.lengths).astype(float), many),
    }
    lists = {name: values.tolist() for name, values in figures.items()}
    return [
        Part(
            name=name,
            means={component: float(found[index]) for component, found in means.items()},
            **{figure: values[index] for figure, values in lists.items()},
        )
        for index, name in enumerate(names)
    ]


def means_of(codes: Array, values: Array, many: int) -> Array:
    """Return the mean of the finite values of each of `many` parts; NaN for one without a value."""
    finite = np.isfinite(values)
    counts = np.bincount(codes[finite], minlength=many)
    with np.errstate(invalid="ignore"):
        means: Array = np.bincount(codes[finite], values[finite], many) / counts
    return means


def _quartiles(codes: Array, values: Array, many: int) -> tuple[Array, Array]:
    """Return the first and the third quartile of the values of each part."""
    finite = np.isfinite(values)
    codes, values = codes[finite], values[finite]
    found = np.full((many, 2), np.nan)
    for code in np.unique(codes):
        found[code] = np.quantile(values[codes == code], (0.25, 0.75))
    return found[:, 0], found[:, 1]


def _groups_in_parts(
    codes: Array, groups: Array, totals: Array, many_groups: int
) -> tuple[Array, Array]:
    """Return the part of each group in each part, and whether its totals there are equal."""
    pairs, pair_of = np.unique(codes * max(many_groups, 1) + groups, return_inverse=True)
    low, high = _extremes(pair_of, totals, len(pairs))
    return pairs // max(many_groups, 1), ~(high - low > SAME)


def share_of(part: float, whole: float) -> float | None:
    """Return what share of the whole a part is; None if the whole is 0."""
    return part / whole if whole else None


# --- agreement with labels ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Agreement:
    """The rows with a label that the reward decided, by what both say.

    wrongly_paid, wrongly_refused: the rows that disagree: right by the reward and wrong by the
        label, and the other way round
    undecided: how many rows with a label the reward did not decide
    """

    label: str
    both_right: int
    both_wrong: int
    wrongly_paid: list[int]
    wrongly_refused: list[int]
    undecided: int

    @property
    def rows(self) -> int:
        """How many rows are compared."""
        return self.agreeing + len(self.wrongly_paid) + len(self.wrongly_refused)

    @property
    def agreeing(self) -> int:
        """How many rows both call right, or both wrong."""
        return self.both_right + self.both_wrong

    @property
    def precision(self) -> float | None:
        """Of the rows that the reward calls right, the share that the label calls right."""
        return share_of(self.both_right, self.both_right + len(self.wrongly_paid))

    @property
    def recall(self) -> float | None:
        """Of the rows that the label calls right, the share that the reward calls right."""
        return share_of(self.both_right, self.both_right + len(self.wrongly_refused))

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: 1 for full agreement, 0 for as much as chance would give."""
        rows, paid = self.rows, self.both_right + len(self.wrongly_paid)
        called = self.both_right + len(self.wrongly_refused)
        chance = (paid * called + (rows - paid) * (rows - called)) / rows**2
        return share_of(self.agreeing / rows - chance, 1 - chance)


def agreement_of(numbers: Numbers, label: str | None) -> Agreement | None:
    """Return how the reward agrees with the labels; None if there are none, or no row has both."""
    if numbers.labels is None or label is None:
        return None
    labelled, decided = ~np.isnan(numbers.labels), ~np.isnan(numbers.right)
    both = labelled & decided
    if not both.any():
        return None
    paid, called = numbers.right == 1, numbers.labels == 1
    return Agreement(
        label=label,
        both_right=int((both & paid & called).sum()),
        both_wrong=int((both & ~paid & ~called).sum()),
        wrongly_paid=np.flatnonzero(both & paid & ~called).tolist(),
        wrongly_refused=np.flatnonzero(both & ~paid & called).tolist(),
        undecided=int((labelled & ~decided).sum()),
    )


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """What a page says about a run; `name` is that of its folder."""

    name: str
    folder: Folder
    numbers: Numbers
    summary: Summary
    breakdowns: list[Breakdown]
    curves: Curves | None
    agreement: Agreement | None
    rejected: RejectedRows


def run_of(
    directory: Path,
    options: ReportOptions,
    progress: ProgressLine,
    name: str = "",
    prompts: bool = False,
) -> ReportedRun:
    """Return the run in a folder; prompts: whether to match its prompts with another run's."""
    folder = open_folder(directory, options)
    correct = right_component(folder, options.correct)
    strict = options.label is not None
    numbers = numbers_of(folder, correct, prompts=prompts, strict_labels=strict, progress=progress)
    progress("summing up")
    return ReportedRun(
        name=name or directory.resolve().name,
        folder=folder,
        numbers=numbers,
        summary=summary_of(numbers, correct),
        breakdowns=[breakdown_of(numbers, column) for column in folder.by],
        curves=curves_of(numbers),
        agreement=agreement_of(numbers, folder.label),
        rejected=rejected_rows(folder.scored.path),
    )
