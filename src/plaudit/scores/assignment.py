"""Assign rows to columns, one to one: by the largest sum, or as many as possible."""

from collections.abc import Iterator, Sequence
from math import inf


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
