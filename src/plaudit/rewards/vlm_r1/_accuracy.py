"""Completions, golds and the method of each row in, and out comes how right each answer is."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from plaudit.columns import naming_row, rows_of, same_length
from plaudit.completions import Completion, Solution, gold_texts_of, texts_of
from plaudit.judge import settle, settle_async
from plaudit.rewards.vlm_r1 import _answers, _detection
from plaudit.rewards.vlm_r1._answers import Draft, Method, draft, questions, settled
from plaudit.rewards.vlm_r1._llm import ask
from plaudit.rewards.vlm_r1._log import log
from plaudit.scores import Score, async_reward, reward

_METHODS: dict[str, Method] = {**_answers.METHODS, **_detection.METHODS}


@reward(columns=("solution", "accu_reward_method"), needs=("accu_reward_method",))
def accuracy_reward(
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    accu_reward_method: Sequence[str] | None = None,
    **kwargs: Any,
) -> list[Score]:
    """How right each answer is, by the method that its row names.

    completions: a text or a list of messages for each row
    solution: the gold of each row, tagged with `<answer>` or not
    accu_reward_method: the method of each row, one of

    - `default`: as `default_accuracy_reward`
    - `mcq`: the same option letter
    - `yes_no`: the same of the words yes and no
    - `math`: equal as mathematics
    - `all_match`: the same text, but for case, line breaks and a dot at the end
    - `weighted_sum`: as `detection_score`; where the gold is "none", so must the answer be
    - `od_ap`, `od_ap50`: COCO's average precision of the boxes in `<answer>`
    - `odLength`: `od_ap`, times gold boxes over predicted ones where these are more
    - `map`: as `od_ap`, on the last fenced JSON of the whole text
    - `llm`: a language model says whether it means the same (`OPENAI_API_BASE`, `OPENAI_API_KEY`,
      `PLAUDIT_LLM_MODEL`)

    >>> accuracy_reward(["It is B.", "No."], ["B", "yes"], accu_reward_method=["mcq", "yes_no"])
    [1.0, 0.0]
    """
    drafts = _drafts(completions, solution, accu_reward_method)
    scores = settle(settled(drafts, ask(questions(drafts))))
    return _accuracy_logged(scores, completions, solution, kwargs)


@async_reward(of=accuracy_reward)
async def accuracy_reward_async(
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    accu_reward_method: Sequence[str] | None = None,
    **kwargs: Any,
) -> list[Score]:
    """`accuracy_reward` for an event loop.

    >>> import asyncio
    >>> asyncio.run(accuracy_reward_async(["It is B."], ["B"], accu_reward_method=["mcq"]))
    [1.0]
    """
    import asyncio

    drafts = _drafts(completions, solution, accu_reward_method)
    replies = await asyncio.to_thread(ask, questions(drafts))
    scores = await settle_async(settled(drafts, replies))
    return _accuracy_logged(scores, completions, solution, kwargs)


def _accuracy_logged(
    scores: list[Score],
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    columns: dict[str, Any],
) -> list[Score]:
    log("Accuracy reward", scores, texts_of(completions), solution)
    if callable(log_extra := columns.get("log_extra")):
        log_extra("answer", [score.answer or "" for score in scores])
        log_extra("method", [score.method for score in scores])
    return scores


def _drafts(
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    accu_reward_method: Sequence[str] | None,
) -> list[Draft]:
    names = _methods(completions, accu_reward_method)
    same_length(completions, solution=solution)
    drafts = []
    for row, (text, gold) in enumerate(
        zip(texts_of(completions), gold_texts_of(solution), strict=True)
    ):
        with naming_row(row):
            drafts.append(draft(_METHODS[names[row]], text, gold))
    return drafts


def _methods(completions: Sequence[object], names: Sequence[str] | None) -> Sequence[str]:
    if names is None:
        raise ValueError(
            "accuracy_reward needs the column accu_reward_method, with one of "
            f"{', '.join(_METHODS)} for each completion"
        )
    same_length(completions, accu_reward_method=names)
    listed = rows_of(names, "accu_reward_method")
    for row, name in enumerate(listed):
        if not isinstance(name, str) or name not in _METHODS:
            near = get_close_matches(str(name), _METHODS, n=3, cutoff=0.4) or list(_METHODS)
            raise ValueError(
                f"row {row}: there is no accu_reward_method {name!r}; "
                f"did you mean {' or '.join(near)}?"
            )
    return listed
