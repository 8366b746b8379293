"""A completion in, and out comes minus the share of its boxes or phrases that repeat."""

from collections.abc import Sequence

from plaudit import extract
from plaudit.columns import same_length
from plaudit.completions import Completion, Solution, texts_of
from plaudit.ngrams import repeated_share
from plaudit.rewards.vlm_r1._log import log
from plaudit.scores import Score, reward, text_reward

_PHRASE = 6  # words of a phrase that should not repeat


@text_reward(columns=())
def repetition_reward(content: str, **kwargs: object) -> Score:
    """Minus the share of what repeats: boxes where the text holds a list of them, else phrases.

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
    return Score(0.0 - share, f"Of {count} {what}, {share:.1%} repeat another.", method=what)


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
