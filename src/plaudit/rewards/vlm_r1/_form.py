"""Rewards for the form of a completion: its tags, its length, and what it repeats."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from plaudit.inputs import extract
from plaudit.inputs.columns import naming_row, number_of, same_length
from plaudit.inputs.completions import Completion, Solution, gold_texts_of, texts_of
from plaudit.rewards.vlm_r1._accuracy import CORRECT, log, weighted_sum
from plaudit.scores import Score, reward, text_reward
from plaudit.scores import algorithms as schedules
from plaudit.scores.algorithms import repeated_share
from plaudit.scores.decorators import declared, reward_factory
from plaudit.scores.score import NO_GOLD, values_of

_PERIOD = 1024  # tokens over which the cosine falls
_PHRASE = 6  # words of a phrase that should not repeat


@reward(columns=("solution",))  # for the debug log
def format_reward(completions: Sequence[Completion], **kwargs: Any) -> list[Score]:
    """1.0 if the whole text is `<think>…</think>`, white space, `<answer>…</answer>`.

    >>> format_reward(["<think>2 + 2</think>\\n<answer>4</answer>", "4"])
    [1.0, 0.0]
    """
    texts = texts_of(completions)
    parts = "<think>…</think>, <answer>…</answer> and nothing else."
    right, wrong = Score(1.0, f"The text is {parts}"), Score(0.0, f"The text is not {parts}")
    scores = [right if extract.only_tags(text, "think", "answer") else wrong for text in texts]
    log("Format reward", scores, texts, kwargs.get("solution"), "_format")
    return scores


@reward(columns=("solution",))  # for the debug log
def format_reward_rec(completions: Sequence[Completion], **kwargs: Any) -> list[Score]:
    """1.0 if the text holds a `<think>`, then an `<answer>` with a box in curly brackets.

    >>> format_reward_rec(['<think>left</think><answer>{"bbox_2d": [1, 2, 3, 4]}</answer>'])
    [1.0]
    """
    texts = texts_of(completions)
    seam = r"</think>\s*+<answer>"
    parts = ("<think>", seam, r"\{", extract.INT_BOX, r"\}", "</answer>")
    right = Score(1.0, "There is a <think>, then an <answer> with a box in curly brackets.")
    wrong = Score(0.0, "There is no <think> with an <answer> after it that holds {…[int × 4]…}.")
    scores = [right if extract.in_order(text, *parts) else wrong for text in texts]
    log("Format reward", scores, texts, kwargs.get("solution"), "_format")
    return scores


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
        decided_by="cosine of the length",
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


@text_reward(columns=())
def repetition_reward(content: str, **kwargs: object) -> Score:
    """Minus the share of what repeats: boxes if the text holds a list of them, else phrases.

    >>> repetition_reward("the cat sat on the mat " * 2)
    -0.1428571428571429
    >>> repetition_reward('[{"bbox_2d": [0, 0, 9, 9], "label": "cat"}]')
    0.0
    """
    items = extract.box_list(content)
    if items is not None:
        found = [f"{i['bbox_2d']}_{i['label']}" for i in items if _is_labelled(i)]
        return _repetition(found, 1, "boxes")
    return _repetition(content.lower().split(), _PHRASE, f"phrases of {_PHRASE} words")


def _is_labelled(item: object) -> bool:
    return isinstance(item, dict) and "bbox_2d" in item and "label" in item


def _repetition(tokens: list[str], size: int, what: str) -> Score:
    share = repeated_share(tokens, size)
    count = max(0, len(tokens) - size + 1)
    return Score(0.0 - share, f"Of {count} {what}, {share:.1%} repeat another.", decided_by=what)


@reward(columns=("solution",))
def repetition_rewards(
    completions: Sequence[Completion], solution: Sequence[Solution] | None = None, **kwargs: object
) -> list[Score]:
    """`repetition_reward` of each completion.

    >>> repetition_rewards(["the cat sat on the mat", "la la la la la la la"])
    [0.0, -0.5]
    """
    if solution is not None:
        same_length(completions, solution=solution)
    texts = texts_of(completions)
    scores = repetition_reward.scores(texts)
    log("Repetition reward", scores, texts, solution, "_repetition")
    return scores
