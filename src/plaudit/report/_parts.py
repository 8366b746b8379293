"""The numbers of a run, split into parts, in; the same few figures of each part out.

A part is the rows of one step, or those with one value of a column.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from plaudit.report._numbers import Numbers, Split
from plaudit.report._pass_at_k import Array
from plaudit.report._summary import SAME
from plaudit.scores import TROUBLE

VALUES = 30  # of a column that are shown
POINTS = 200  # of a curve; more steps than this are put together
_NONE = "(none)"


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
    """A run by the values of a column: the values with the most rows, and the others together.

    others: how many values are in the last part together; 0 if each has a part of its own
    binned: whether the values are numbers that were put together in ranges
    """

    column: str
    parts: list[Part]
    others: int
    binned: bool

    def width(self, part: Part) -> float:
        """How long the bar of a part's mean total is, in percent of the longest."""
        means = [0.0, *(found.total for found in self.parts if found.total == found.total)]
        low, high = min(means), max(means)
        return (
            round(100 * (part.total - low) / (high - low), 1)
            if high > low and part.total == part.total
            else 0.0
        )


@dataclass(frozen=True, slots=True)
class Curves:
    """A run over its steps: where each part is, and how many steps are in one at most."""

    steps: list[float]
    parts: list[Part]
    together: int


def breakdown_of(numbers: Numbers, column: str) -> Breakdown:
    """The run by the values of a column."""
    split = numbers.splits[column]
    binned = _all_numbers(split.names) and len(split.names) > VALUES
    if binned:
        split = _binned(split)
    counts = np.bincount(split.codes, minlength=len(split.names))
    order = sorted(range(len(split.names)), key=lambda code: (-counts[code], code))
    kept = order[: VALUES - 1] if len(order) > VALUES else order
    kept.sort(key=lambda code: _sort_key(split.names[code]))
    place = np.full(max(len(order), 1), len(kept), np.int64)
    place[kept] = np.arange(len(kept))
    names = [split.names[code] or _NONE for code in kept]
    others = len(order) - len(kept)
    names += [f"({others:,} others)"] if others else []
    parts = parts_of(numbers, place[split.codes], names)
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


def _binned(split: Split, most: int = 10) -> Split:
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
    """The run over its steps; None if it has fewer than two."""
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
    """The figures of each part; `codes` says which part a row is in, of the rows `where` holds."""
    many = len(names)

    def of(values: Array) -> Array:
        return values if where is None else values[where]

    totals, right, groups = of(numbers.totals), of(numbers.right), of(numbers.groups)
    bad = [code for code, name in enumerate(numbers.status_names) if name in TROUBLE]
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
            means={component: float(found[place]) for component, found in means.items()},
            **{figure: values[place] for figure, values in lists.items()},
        )
        for place, name in enumerate(names)
    ]


def means_of(codes: Array, values: Array, many: int) -> Array:
    """The mean of the finite values of each of `many` parts; NaN for one without a value."""
    finite = np.isfinite(values)
    counts = np.bincount(codes[finite], minlength=many)
    with np.errstate(invalid="ignore"):
        means: Array = np.bincount(codes[finite], values[finite], many) / counts
    return means


def _quartiles(codes: Array, values: Array, many: int) -> tuple[Array, Array]:
    """The first and the third quartile of the values of each part."""
    finite = np.isfinite(values)
    order = np.lexsort((values[finite], codes[finite]))
    sorted_values = values[finite][order]
    counts = np.bincount(codes[finite], minlength=many)
    starts = np.cumsum(counts) - counts
    found = []
    for share in (0.25, 0.75):
        at = starts + share * np.maximum(counts - 1, 0)
        low = np.floor(at).astype(np.int64)
        high = np.minimum(np.ceil(at).astype(np.int64), max(len(sorted_values) - 1, 0))
        quartile = np.full(many, np.nan)
        some = counts > 0
        lower, upper = sorted_values[low[some]], sorted_values[high[some]]
        quartile[some] = lower + (upper - lower) * (at - low)[some]
        found.append(quartile)
    return found[0], found[1]


def _groups_in_parts(
    codes: Array, groups: Array, totals: Array, many_groups: int
) -> tuple[Array, Array]:
    """For each group in each part where it has rows: the part, and whether its totals are equal."""
    pairs, place = np.unique(codes * max(many_groups, 1) + groups, return_inverse=True)
    low, high = np.full(len(pairs), np.nan), np.full(len(pairs), np.nan)
    np.fmin.at(low, place, totals)
    np.fmax.at(high, place, totals)
    return pairs // max(many_groups, 1), ~(high - low > SAME)


def share_of(part: float, whole: float) -> float | None:
    """What share of the whole a part is; None where the whole is 0.

    >>> share_of(1, 4), share_of(0, 0)
    (0.25, None)
    """
    return part / whole if whole else None
