"""Verdicts and values in, and out come scores with their reasons, and the rewards of a trainer.

Each reward is written as a function that gives a `Score` for each row: a value and its reasons.
`@reward` turns it into the function that a trainer calls, which gives the values alone.
`@text_reward` does so for the rewards that take one text and give one number.
"""

from plaudit.scores._decorators import (
    AsyncReward,
    Reward,
    TextReward,
    as_coroutine_functions,
    async_reward,
    reward,
    text_reward,
)
from plaudit.scores._score import (
    NO_GOLD,
    STATUSES,
    STOPPED,
    TOLD,
    TROUBLE,
    Score,
    score_of,
    scores_of_verdicts,
    without_reasons,
)
from plaudit.scores._values import log_means, log_statuses, logged, values_of

__all__ = [
    "NO_GOLD",
    "STATUSES",
    "STOPPED",
    "TOLD",
    "TROUBLE",
    "AsyncReward",
    "Reward",
    "Score",
    "TextReward",
    "as_coroutine_functions",
    "async_reward",
    "log_means",
    "log_statuses",
    "logged",
    "reward",
    "score_of",
    "scores_of_verdicts",
    "text_reward",
    "values_of",
    "without_reasons",
]
