"""The steps of a run in; the means of each few steps that follow one another out."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from plaudit.alarms._steps import Spread, Step

WINDOW = 3  # steps, at least, that are looked at together
GROUPS = 24  # groups, at least, in these steps: of few prompts a step, more steps are needed
LONGEST = 24  # steps, at most
SURE = 4.0  # standard errors: a smaller change is no rise and no fall
NOISE = 50  # steps: from the last ones, the noise of a step's mean is estimated
# Before this many steps there is no such estimate. Until then each row counts as half a row, since
# the rows of a group are alike.
SOME = 8
LENGTH = ""  # the name of the length of completions: no component is called so


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a window, and its standard error; `place` is that of its last step."""

    place: int
    last: int
    value: float
    error: float


def is_higher(before: Mean, after: Mean) -> bool:
    """Whether a mean has risen by more than chance explains.

    >>> is_higher(Mean(0, 0, 0.5, 0.01), Mean(5, 5, 0.6, 0.01)), is_higher(
    ...     Mean(0, 0, 0.5, 0.02), Mean(5, 5, 0.6, 0.02))
    (True, False)
    """
    error = sqrt(before.error**2 + after.error**2)
    return after.value - before.value >= max(SURE * error, 1e-9)


class History:
    """The steps of a run, and the means of the windows that end at each of them.

    A window is WINDOW steps, or as many as have GROUPS groups.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        self._starts = _starts([step.groups for step in steps])
        self._means: dict[str, list[Mean | None]] = {}
        self._arrays: dict[str, NDArray[np.float64]] = {}
        self._moves: dict[str, int] = {}

    def start(self, place: int) -> int | None:
        """The place of the first step of a window; None if there are too few steps for one."""
        return self._starts[place]

    def window(self, place: int) -> Sequence[Step]:
        """The steps of the window that ends at a place; () if there are too few for one."""
        start = self._starts[place]
        return () if start is None else self.steps[start : place + 1]

    def means(self, name: str) -> list[Mean | None]:
        """The mean of the window that ends at each step; None if it has no values."""
        if name not in self._means:
            self._means[name] = self._windows(name)
        return self._means[name]

    def _windows(self, name: str) -> list[Mean | None]:
        spreads = [_spread(step, name) for step in self.steps]
        sums = np.array([(s.rows, s.total, s.squares) for s in spreads], float).reshape(-1, 3)
        ends = np.cumsum(np.vstack([np.zeros(3), sums]), axis=0)
        noise = _noise(sums[:, 1] / np.maximum(sums[:, 0], 1))
        found: list[Mean | None] = []
        for place, start in enumerate(self._starts):
            rows, total, squares = (0, 0, 0) if start is None else ends[place + 1] - ends[start]
            if start is None or rows < 0.5:
                found.append(None)
                continue
            mean = float(total / rows)
            alike = 2 if place < SOME else 1
            variance = max(squares / rows - mean**2, 0.0) * alike / rows
            error = sqrt(max(variance, noise[place] ** 2 / (place + 1 - start)))
            found.append(Mean(place, self.steps[place].step, mean, error))
        return found

    def differing(self, name: str, place: int, end: int, *, fallen: bool) -> list[Mean]:
        """The means before the place `end` from which the one at `place` differs beyond chance.

        fallen: whether it must be lower than these; otherwise it must be higher
        """
        means = self.means(name)
        now = means[place]
        if now is None:
            return []
        if name not in self._arrays:
            pairs = [(m.value, m.error) if m else (np.nan, np.nan) for m in means]
            self._arrays[name] = np.array(pairs, float).reshape(-1, 2)
        values, errors = self._arrays[name][:end].T
        fall = (values - now.value) * (1 if fallen else -1)
        chance = np.maximum(SURE * np.sqrt(errors**2 + now.error**2), 1e-9)
        return [mean for at in np.nonzero(fall >= chance)[0] if (mean := means[at])]

    def moves(self, name: str) -> int:
        """The place of the first step at which not all rows so far have one value."""
        if name not in self._moves:
            self._moves[name] = self._first_move(name)
        return self._moves[name]

    def _first_move(self, name: str) -> int:
        value = None
        for place, step in enumerate(self.steps):
            spread = step.values[name]
            value = spread.least if value is None else value
            if spread.rows and not spread.least == spread.most == value:
                return place
        return len(self.steps)


def _starts(groups: Sequence[int]) -> list[int | None]:
    """The place at which each window starts; None before the first one that is long enough.

    >>> _starts([8] * 5), _starts([12, 0, 12]), _starts([0] * 4)
    ([None, None, 0, 1, 2], [None, None, 0], [None, None, 0, 1])
    """
    found: list[int | None] = []
    for place in range(len(groups)):
        start, have = place + 1, 0
        while start > 0 and place + 1 - start < LONGEST:
            start -= 1
            have += groups[start]
            if place + 1 - start >= WINDOW and (have >= GROUPS or not have):
                break
        is_full = place + 1 - start >= WINDOW and (have >= GROUPS or not have)
        found.append(start if is_full or place + 1 - start == LONGEST else None)
    return found


def _noise(means: NDArray[np.float64]) -> list[float]:
    """The standard deviation by which the mean of a step is off its trend, as seen at each step.

    Prompts differ in how hard they are, so the mean of a step varies by more than the variance of
    its rows explains. The median of second differences is not affected by a trend, and little by a
    jump.
    """
    count = len(means)
    if count <= SOME:
        return [0.0] * count
    bends = np.abs(means[2:] - 2 * means[1:-1] + means[:-2])
    padded = np.concatenate([np.full(NOISE - 1, np.nan), bends])
    seen = np.nanmedian(np.lib.stride_tricks.sliding_window_view(padded, NOISE), axis=1)
    known = np.concatenate([np.zeros(2), seen / (0.6745 * sqrt(6))])
    known[:SOME] = 0.0
    return [float(value) for value in known]


def _spread(step: Step, name: str) -> Spread:
    return step.length if name == LENGTH else step.values[name]
