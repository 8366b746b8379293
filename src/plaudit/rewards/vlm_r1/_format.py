"""A completion in, and out comes whether it has the tags that it should have."""

from collections.abc import Sequence
from typing import Any

from plaudit import extract
from plaudit.completions import Completion, texts_of
from plaudit.rewards.vlm_r1._log import log
from plaudit.scores import Score, reward


@reward(columns=("solution",), is_light=True)  # for the debug log
def format_reward(completions: Sequence[Completion], **kwargs: Any) -> list[Score]:
    """1.0 where the whole text is `<think>…</think>`, white space, `<answer>…</answer>`.

    >>> format_reward(["<think>2 + 2</think>\\n<answer>4</answer>", "4"])
    [1.0, 0.0]
    """
    texts = texts_of(completions)
    parts = "<think>…</think>, <answer>…</answer> and nothing else."
    right, wrong = Score(1.0, f"The text is {parts}"), Score(0.0, f"The text is not {parts}")
    scores = [right if extract.only_tags(text, "think", "answer") else wrong for text in texts]
    log("Format reward", scores, texts, kwargs.get("solution"), "_format")
    return scores


@reward(columns=("solution",), is_light=True)  # for the debug log
def format_reward_rec(completions: Sequence[Completion], **kwargs: Any) -> list[Score]:
    """1.0 where the text holds a `<think>`, then an `<answer>` with a box in curly brackets.

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
