"""Scores in, and out come the values that a trainer takes and the metrics that it logs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.scores._score import STATUSES, Score


def values_of(scores: Sequence[Score], name: str, log_metric: object = None) -> list[float | None]:
    """The values alone; the share of rows with each status goes to the trainer's `log_metric`.

    >>> values_of([Score(1.0, "Equal."), Score(0.0, "Too large.", status="limit")], "accuracy")
    [1.0, 0.0]
    """
    check_scores(scores, name)
    log_statuses(name, [score.status for score in scores], log_metric)
    return [score.value for score in scores]


def check_scores(given: Any, name: str) -> Sequence[Score]:
    """Raise unless it is a list of scores: what a user's function gives may be anything."""
    if not isinstance(given, Sequence):
        got = type(given).__name__
        raise TypeError(f"{name} must give a list with a Score for each completion, got {got}")
    for row, one in enumerate(given):
        if not isinstance(one, Score):
            got = f"{type(one).__name__}: {one!r:.80}"
            raise TypeError(f"{name} must give a Score for each completion, row {row} is {got}")
    return given


def logged(scores: list[Score], columns: Mapping[str, Any]) -> list[Score]:
    """The scores; what was read as answer and gold, and what decided, go to `log_extra`.

    columns: what the trainer passed to the reward besides the columns that it names

    >>> scores = logged([Score(1.0, "Equal.", "4", "4", "numbers")], {"log_extra": print})
    answer ['4']
    gold ['4']
    method ['numbers']
    """
    if callable(log_extra := columns.get("log_extra")):
        log_extra("answer", [score.answer or "" for score in scores])
        log_extra("gold", [score.gold or "" for score in scores])
        log_extra("method", [score.method for score in scores])
    return scores


def log_statuses(name: str, statuses: Sequence[str], log_metric: object) -> None:
    """Tell the trainer the share of rows with each status other than "scored".

    >>> log_statuses("math", ["equal", "no_answer"], lambda key, share: share and print(key, share))
    math/no_answer 0.5
    """
    if callable(log_metric) and statuses:
        count = Counter(statuses)
        # Also those of no row: a trainer takes the mean of what it is told in several batches.
        for status in STATUSES[:-1]:
            log_metric(f"{name}/{status}", count[status] / len(statuses))


def log_means(
    recipe: str, components: Mapping[str, Sequence[float | None]], log_metric: object
) -> None:
    """Tell the trainer the mean of each component, which a total alone would hide.

    >>> log_means("math", {"accuracy": [1.0, 0.0, None], "format": [None]}, print)
    math/accuracy 0.5
    """
    for name, values in components.items():
        counted = [value for value in values if value is not None]
        if counted and callable(log_metric):
            log_metric(f"{recipe}/{name}", sum(counted) / len(counted))
