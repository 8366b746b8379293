"""A completion and its accuracy in, and out comes a reward for being brief."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from plaudit import schedules
from plaudit.columns import naming_row, number_of, same_length
from plaudit.completions import Completion, Solution, gold_texts_of, texts_of
from plaudit.declarations import declared, reward_factory
from plaudit.rewards.vlm_r1._comparison import CORRECT
from plaudit.rewards.vlm_r1._detection import weighted_sum
from plaudit.rewards.vlm_r1._log import log
from plaudit.scores import NO_GOLD, Score, reward, text_reward, values_of

_PERIOD = 1024  # tokens over which the cosine falls


@text_reward(columns=("acc_reward",))
def cosine_reward(content: str, tokenizer: Any, acc_reward: float, **kwargs: object) -> Score:
    """For being brief: the fewer tokens, the better a correct answer, and the worse a wrong one.

    From an accuracy of 0.7 on, the value falls from 1.0 at no token to 0.5 at 1024 tokens; below
    that accuracy it rises from -0.5 to 0.0.

    content: the text of the completion
    tokenizer: what counts the tokens; it needs `encode(text)`
    acc_reward: the accuracy of the completion, from 0 to 1

    >>> class Words:
    ...     def encode(self, text):
    ...         return text.split()
    >>> cosine_reward("", Words(), acc_reward=1.0), cosine_reward("", Words(), acc_reward=0.2)
    (1.0, -0.5)
    """
    return _brevity(content, tokenizer, number_of(acc_reward, "acc_reward"))


def _brevity(content: str, tokenizer: Any, acc_reward: float) -> Score:
    if isinstance(tokenizer, str) or not hasattr(tokenizer, "encode"):
        raise TypeError(f"tokenizer must have encode(text), got {type(tokenizer).__name__}")
    correct, length = acc_reward >= CORRECT, len(tokenizer.encode(content))
    start, end = (1.0, 0.5) if correct else (-0.5, 0.0)
    what = "A correct" if correct else "A wrong"
    return Score(
        schedules.cosine(length, _PERIOD, start, end),
        f"{what} answer (accuracy {acc_reward:.3g}) of {length} tokens.",
        method="cosine of the length",
        right=correct,
    )


@reward(columns=("solution",), needs=("tokenizer",))
def cosine_rewards(
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    tokenizer: Any = None,
    **kwargs: object,
) -> list[Score]:
    """`cosine_reward` of each completion, correct by `detection_score` from 0.7 on.

    A trainer that passes no tokenizer takes `get_cosine_rewards(tokenizer)` instead.

    >>> class Words:
    ...     def encode(self, text):
    ...         return text.split()
    >>> cosine_rewards(["none"], ["none"], tokenizer=Words()) == [cosine_reward("none", Words(), 1)]
    True
    """
    if tokenizer is None:
        raise ValueError(
            "cosine_rewards needs tokenizer=…: pass it, "
            "or give the trainer get_cosine_rewards(tokenizer)"
        )
    same_length(completions, solution=solution)
    texts, golds = texts_of(completions), gold_texts_of(solution)
    scores = []
    for row, (text, gold) in enumerate(zip(texts, golds, strict=True)):
        with naming_row(row):
            found = NO_GOLD if gold is None else weighted_sum(text, gold)
            brief = _brevity(text, tokenizer, found.value or 0.0)
            scores.append(replace(brief, status=found.status, right=found.right))
    log("Cosine reward", scores, texts, golds, "_cosine")
    return scores


@dataclass(frozen=True)
class _CosineRewards:
    tokenizer: Any
    __name__ = "cosine_rewards"

    @declared(columns=("solution",), needs=("solution",))
    def scores(self, completions: Sequence[Completion], **columns: Any) -> list[Score]:
        return cosine_rewards.scores(completions, **{**columns, "tokenizer": self.tokenizer})

    def __call__(self, completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        scores = self.scores(completions, **columns)
        return values_of(scores, self.__name__, columns.get("log_metric"))


@reward_factory
def get_cosine_rewards(tokenizer: Any) -> _CosineRewards:
    """`cosine_rewards` with its tokenizer, for a trainer that passes none.

    >>> class Words:
    ...     def encode(self, text):
    ...         return text.split()
    >>> brief = get_cosine_rewards(Words())
    >>> brief(["none"], solution=["none"]) == [cosine_reward("none", Words(), acc_reward=1.0)]
    True
    """
    return _CosineRewards(tokenizer)
