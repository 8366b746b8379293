"""What a status is worth in a recipe: the table `[on]`.

    [on]
    timeout = "skip"     # the row has no value, and no trainer learns from it
    limit = "zero"
    truncated = -0.5
    undecided = "keep"   # what the reward gave

A fault of the machinery must not be paid like a wrong answer, so what it caused is skipped.
"""

import threading
import warnings
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite, sqrt
from typing import Any

from plaudit.inputs.errors import did_you_mean, quoted
from plaudit.scores import Score
from plaudit.scores.score import FAILED_STATUSES, STATUSES, TRUNCATED

MEAN = "mean"
SKIP, ZERO, KEEP = "skip", "zero", "keep"
Worth = str | float
# What the model caused is 0; what the machinery or the data caused is skipped.
DEFAULTS: Mapping[str, Worth] = {
    "error": SKIP,  # a worker, a sandbox or a request failed
    "timeout": SKIP,  # a deadline passed, which says nothing about the answer
    "limit": ZERO,  # an answer that explodes
    "bad_gold": SKIP,  # there is nothing to compare with
    "undecided": KEEP,  # 0 by `answers`; skipped if the grader failed
    "truncated": KEEP,  # the model wrote too much: what the reward gave
}
FAIL_ABOVE = 0.2  # the share of failed rows from which a run stops
ROWS = 128  # that are counted together, if batches are smaller
LEAST = 4  # rows: fewer are no sign of anything
ERRORS = 2.0  # standard errors that the share must be above: 2 of 8 may be chance, 5 of 10 are not

_NAMES = tuple(status for status in STATUSES if status not in ("scored", "not_applicable"))


def check_policy(on: object) -> None:
    """Raise ValueError unless it maps statuses to what they are worth."""
    if not isinstance(on, Mapping):
        raise ValueError(f"on must be a table, got {on!r:.80}")
    for status, worth in on.items():
        if status not in _NAMES:
            raise ValueError(
                f"on: there is no status {quoted(str(status))}; {did_you_mean(str(status), _NAMES)}"
            )
        is_number = isinstance(worth, int | float) and not isinstance(worth, bool)
        if worth not in (SKIP, ZERO, KEEP) and not (is_number and isfinite(worth)):
            raise ValueError(
                f'on: {status} must be "skip", "zero", "keep" or a finite number, got {worth!r:.80}'
            )


def check_fail_above(share: object) -> None:
    """Raise ValueError unless it is a share."""
    is_number = isinstance(share, int | float) and not isinstance(share, bool)
    if not is_number or not 0 <= share <= 1:  # type: ignore[operator]
        raise ValueError(f"fail_above must be a share from 0 to 1, got {share!r:.80}")


def with_policy(scores: list[Score], on: Mapping[str, Any]) -> list[Score]:
    """Return the scores, each worth what its status is worth.

    on: a recipe's table and a component's, the latter above the former
    """
    policy = {**DEFAULTS, **on}
    if not any(score.status in policy for score in scores):
        return scores  # nearly every batch
    return [_worth(score, policy.get(score.status, KEEP)) for score in scores]


def _worth(score: Score, worth: Worth) -> Score:
    # Another rule found it right before the judge was stopped.
    decided = score.right is True and score.status != TRUNCATED
    if worth == KEEP or decided:
        return score
    value = None if worth == SKIP else 0.0 if worth == ZERO else float(worth)
    if value == score.value:
        return score
    instead = "The row is skipped" if value is None else f"It counts {value:g}"
    why = f"{instead}, as the recipe says for {score.status}. {score.why}"
    return replace(score, value=value, why=why)


def check_neutral(neutral: object) -> None:
    """Raise ValueError unless it is "mean" or a finite number."""
    is_number = isinstance(neutral, int | float) and not isinstance(neutral, bool)
    if neutral != MEAN and not (is_number and isfinite(neutral)):  # type: ignore[arg-type]
        raise ValueError(f'neutral must be "mean" or a finite number, got {neutral!r:.80}')


class TooManyFailuresError(RuntimeError):
    """More rows of a batch failed than `fail_above` allows: the run would train on noise.

    >>> issubclass(TooManyFailuresError, RuntimeError)
    True
    """


class FailureCount:
    """How many of the last rows had no value because something failed, for one component."""

    def __init__(self) -> None:
        self._batches: deque[tuple[int, int]] = deque()  # rows, and how many of them failed
        self._warned: set[str] = set()
        self._lock = threading.Lock()

    def add(self, name: str, scores: Sequence[Score], fail_above: float) -> None:
        """Count a batch; warn of the first failure of a kind; raise if there are too many.

        name: that of the component
        """
        failed = [one for one in scores if one.value is None and one.status in FAILED_STATUSES]
        with self._lock:
            self._batches.append((len(scores), len(failed)))
            while sum(rows for rows, _ in self._batches) - self._batches[0][0] >= ROWS:
                self._batches.popleft()
            rows, count = (sum(numbers) for numbers in zip(*self._batches, strict=True))
            new = {one.status: one for one in failed if one.status not in self._warned}
            self._warned |= set(new)
        for status, score in new.items():
            warnings.warn(
                f"plaudit: {name} skips rows with the status {status}, from now on without a "
                f"warning; the first: {score.why}",
                RuntimeWarning,
                stacklevel=2,
            )
        margin = ERRORS * sqrt(fail_above * (1 - fail_above) / max(rows, 1))
        if count >= LEAST and count / rows > fail_above + margin:
            self._batches.clear()
            kinds = Counter(one.status for one in failed).most_common()
            why = f"; the last: {failed[-1].why}" if failed else ""
            raise TooManyFailuresError(
                f"{name} failed on {count} of the last {rows} rows "
                f"({', '.join(f'{status} {many}' for status, many in kinds)}), and fail_above is "
                f"{fail_above:g}{why}"
            )
