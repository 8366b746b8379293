"""What several rewards compute: repeated n-grams, curves over a length, the best assignment."""

from array import array
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import count
from math import cos, inf, pi
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Ids = np.ndarray[Any, np.dtype[np.int64]]

# --- repeated n-grams -----------------------------------------------------------------------------

# Below this many tokens, a set of tuples is faster than an array.
_FEW = 512


def repeated_share(tokens: Sequence[Hashable], size: int) -> float:
    """Return the share of n-grams that repeat another: 1 - unique / all; 0.0 if there is none."""
    total = len(tokens) - size + 1
    if total < 1:
        return 0.0
    unique = _unique_in_set(tokens, size) if len(tokens) < _FEW else _unique_in_array(tokens, size)
    return 1.0 - unique / total


def _unique_in_set(tokens: Sequence[Hashable], size: int) -> int:
    return len(set(zip(*(tokens[start:] for start in range(size)), strict=False)))


def _unique_in_array(tokens: Sequence[Hashable], size: int) -> int:
    """Number the n-grams exactly: two numbers make one as long as it fits in 63 bits."""
    ids = _numbered(tokens)
    base = limit = int(ids.max()) + 1
    grams, width = ids, 1
    while width < size:
        step = min(width, size - width)
        if limit * limit < 2**63:
            # A gram and the one `step` further, which may overlap it, make the longer one.
            grams, limit = grams[:-step] * limit + grams[step:], limit * limit
        elif limit * base < 2**63:
            step = 1
            grams, limit = grams[:-1] * base + ids[width:], limit * base
        else:
            step = 0
            grams = _dense(grams)
            limit = len(grams)
        width += step
    return _count_unique(grams)


def _numbered(tokens: Sequence[Hashable]) -> "Ids":
    """Equal tokens to equal numbers, from 0 on."""
    import numpy as np

    try:
        # Token ids are whole and small already: no need to number them anew.
        ids = np.frombuffer(array("q", tokens), np.int64)  # type: ignore[type-var]
    except (TypeError, OverflowError):
        number_of = defaultdict[Hashable, int](count().__next__)
        return np.fromiter(map(number_of.__getitem__, tokens), np.int64, len(tokens))
    return ids if ids.min() >= 0 and ids.max() < 2**31 else _dense(ids)


def _dense(ids: "Ids") -> "Ids":
    import numpy as np

    return np.unique(ids, return_inverse=True)[1].astype(np.int64, copy=False)


def _count_unique(grams: "Ids") -> int:
    import numpy as np

    ordered = np.sort(grams)
    return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))


# --- curves over a length -------------------------------------------------------------------------


def cosine(length: float, period: float, start: float, end: float) -> float:
    """Half a cosine: `start` at length 0, `end` at `period`.

    Beyond `period` it goes back towards `start`, and so on; clamp the length if that is not
    wanted.
    """
    return start - (start - end) * (1.0 - cos(pi * length / period)) / 2.0


def soft_overlong(length: float, longest: float, margin: float) -> float:
    """0 up to `longest - margin`, then falling to -1 at `longest`, and -1 beyond.

    length, longest, margin: all in the same unit, such as tokens
    """
    if length <= longest - margin:
        return 0.0
    return (longest - margin - length) / margin if length <= longest else -1.0


# --- rows to columns, one to one: by the largest sum, or as many as possible ----------------------


def best_assignment(values: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the pairs (row, column) whose values have the largest sum, ordered by row.

    It takes time cubic in the shorter side: callers bound what a model wrote.

    >>> best_assignment([[0.9, 0.8], [0.8, 0.1]])
    [(0, 1), (1, 0)]
    """
    if not values or not values[0]:
        return []
    if len(values) > len(values[0]):
        turned = best_assignment(list(zip(*values, strict=True)))
        return sorted((row, column) for column, row in turned)
    # Shortest augmenting paths with potentials; index 0 stands for "not assigned".
    width = len(values[0])
    of_row, of_column = [0.0] * (len(values) + 1), [0.0] * (width + 1)
    assigned = [0] * (width + 1)  # the row of each column
    for row in range(1, len(values) + 1):
        assigned[0], column = row, 0
        least, before, done = [inf] * (width + 1), [0] * (width + 1), [False] * (width + 1)
        while assigned[column]:
            done[column], current = True, assigned[column]
            costs, step, nearest = values[current - 1], inf, 0
            for other in range(1, width + 1):
                if done[other]:
                    continue
                reduced = -costs[other - 1] - of_row[current] - of_column[other]
                if reduced < least[other]:
                    least[other], before[other] = reduced, column
                if least[other] < step:
                    step, nearest = least[other], other
            for other in range(width + 1):
                if done[other]:
                    of_row[assigned[other]] += step
                    of_column[other] -= step
                else:
                    least[other] -= step
            column = nearest
        while column:
            assigned[column] = assigned[before[column]]
            column = before[column]
    return sorted((row - 1, column - 1) for column, row in enumerate(assigned) if column and row)


def largest_matching(partners: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return row -> column for as many rows as possible, given the columns that each may have.

    The algorithm of Hopcroft and Karp: thousands of rows take a fraction of a second.

    >>> largest_matching([[0, 1], [0]])
    {0: 1, 1: 0}
    """
    column_of: dict[int, int] = {}
    row_of: dict[int, int] = {}
    for row, columns in enumerate(partners):  # most rows need no more than this
        for column in columns:
            if column not in row_of:
                column_of[row], row_of[column] = column, row
                break
    while levels := _levels(partners, column_of, row_of):
        following = [iter(columns) for columns in partners]
        for start in range(len(partners)):
            if start not in column_of:
                _augment(start, following, levels, column_of, row_of)
    return dict(sorted(column_of.items()))


def _levels(
    partners: Sequence[Sequence[int]], column_of: dict[int, int], row_of: dict[int, int]
) -> dict[int, int]:
    """Return how many steps each row is from a free one; empty if no free column is in reach."""
    reached = [row for row in range(len(partners)) if row not in column_of]
    levels = dict.fromkeys(reached, 0)
    found = False
    for row in reached:  # it grows
        for column in partners[row]:
            if column not in row_of:
                found = True
            elif row_of[column] not in levels:
                levels[row_of[column]] = levels[row] + 1
                reached.append(row_of[column])
    return levels if found else {}


def _augment(
    start: int,
    following: Sequence[Iterator[int]],
    levels: dict[int, int],
    column_of: dict[int, int],
    row_of: dict[int, int],
) -> None:
    """Give a free row a column, along a shortest path of rows that move to another one."""
    path: list[tuple[int, int]] = []  # rows, and the columns that they would move to
    row = start
    while True:
        column = next(following[row], None)
        if column is None:
            if not path:
                return
            row = path.pop()[0]
            continue
        owner = row_of.get(column)
        if owner is None:
            for one, taken in [*path, (row, column)]:
                column_of[one], row_of[taken] = taken, one
            return
        if levels.get(owner) == levels[row] + 1:
            path.append((row, column))
            row = owner
