"""A reward that can say why.

Each reward is written as a function that gives a `Score` for each row: a value and its reasons.
`@reward` turns it into the function that a trainer calls, which gives the values alone.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, Protocol, cast

P = ParamSpec("P")

# What a trainer should hear of: the row got its value because something went wrong on the way.
TROUBLE = ("bad_gold", "timeout", "limit", "error")


@dataclass(frozen=True, slots=True)
class Score:
    """What one completion is worth, and why.

    value: the reward; None where the row is skipped
    why: one sentence for a person
    answer, gold: what was read as answer and as gold
    method: what decided
    status: "scored", or the judge's word for why it could not compare
    """

    value: float | None
    why: str
    answer: str | None = None
    gold: str | None = None
    method: str = ""
    status: str = "scored"


class Reward(Protocol[P]):
    """A reward function: the values of a batch, and, with `scores`, the reasons too."""

    __name__: str
    scores: Callable[P, list[Score]]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[float | None]: ...


def reward(scores: Callable[P, list[Score]]) -> Reward[P]:
    """Make the reward function of a function that scores a batch.

    >>> @reward
    ... def brief(completions, **kwargs):
    ...     return [Score(float(len(c) < 9), f"{len(c)} characters") for c in completions]
    >>> brief(["short", "rather long"])
    [1.0, 0.0]
    >>> brief.scores(["short"])[0].why
    '5 characters'
    """

    @wraps(scores)
    def values(*args: P.args, **kwargs: P.kwargs) -> list[float | None]:
        return values_of(scores(*args, **kwargs), scores.__name__, kwargs.get("log_metric"))

    named = cast(Reward[P], values)
    named.scores = scores
    return named


def values_of(scores: Sequence[Score], name: str, log_metric: object = None) -> list[float | None]:
    """The values alone; the share of rows in trouble goes to the trainer's `log_metric`."""
    if callable(log_metric) and scores:
        count = Counter(score.status for score in scores)
        for status in TROUBLE:
            log_metric(f"{name}/{status}", count[status] / len(scores))
    return [score.value for score in scores]


def explain(reward: Any, completion: Any, solution: Any = None, **columns: Any) -> Score:
    """Score one completion, and say why it got what it got.

    `columns` holds the value of this one row for each column that the reward needs.

    >>> from plaudit.rewards import canoe
    >>> explain(canoe.format_reward, "just text").why
    'The text is not <think>…</think>, <long_answer>…</long_answer>, <answer>…</answer> and nothing else.'
    """
    if not hasattr(reward, "scores"):
        raise TypeError(f"{reward!r} is no plaudit reward: it has no `scores` to explain it with")
    batch: dict[str, Any] = {name: [value] for name, value in columns.items()}
    if solution is not None:
        batch["solution"] = [solution]
    score: Score = reward.scores(completions=[completion], **batch)[0]
    return score
