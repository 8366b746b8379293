r"""verl: a custom reward function, and the same over the wire.

    reward.custom_reward_function.path=pkg://plaudit.trainers.verl
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.recipe=trl-math

The wire carries the function's own arguments and result, for one row or for lists of them:

    {"data_source": "math", "solution_str": "\\boxed{4}", "ground_truth": "4", "extra_info": {}}
    {"score": 1.0, "status": "scored", "accuracy_reward": 1.0, "skipped": 0.0, "status_error": 0.0,
     "status_timeout": 0.0, "status_limit": 0.0, "status_bad_gold": 0.0, "status_truncated": 0.0,
     "status_no_answer": 0.0}
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.inputs.columns import same_length
from plaudit.recipes import RowScore
from plaudit.trainers._rows import (
    AnyRecipe,
    Batch,
    chosen,
    columns_of,
    golds_of,
    list_in,
    metrics_of,
    responses_of,
    text_in,
    texts_in,
    total_of,
    warm_up_if_chosen,
)

Result = dict[str, float | str]

# What verl keeps by these names beside what a reward gives; it would be overwritten.
_TAKEN = ("score", "status", "reward", "uid", "data_source", "reward_model", "extra_info")


def compute_score(
    data_source: Any,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    recipe: AnyRecipe = None,
    **kwargs: Any,
) -> Result:
    r"""Return the score of one row, with the same keys for every row.

    data_source: the dataset that the row is from; the recipe gets it as the column `data_source`
    solution_str: what the model wrote; special tokens at its end are removed
    ground_truth: the gold, in any form that `plaudit.trainers.gold_of` reads
    extra_info: other fields of the row, which are columns for the recipe; default: none
    recipe: a preset's name or the path of a TOML file; default: that of PLAUDIT_RECIPE
    kwargs: whatever else verl passes, which is ignored
    """
    batch = _batch([data_source], [solution_str], [ground_truth], [extra_info])
    return _result(batch.scores(chosen(recipe))[0])


async def compute_score_async(
    data_source: Any,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    recipe: AnyRecipe = None,
    **kwargs: Any,
) -> Result:
    r"""`compute_score` for an event loop, on which the rows of a step are scored concurrently."""
    batch = _batch([data_source], [solution_str], [ground_truth], [extra_info])
    return _result((await batch.scores_async(chosen(recipe)))[0])


def compute_scores(
    data_sources: Sequence[Any],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    recipe: AnyRecipe = None,
    **kwargs: Any,
) -> list[Result]:
    r"""Return the scores of a batch, for verl's batch reward manager.

    The parameters are lists of what `compute_score` takes, all of the same length.
    """
    others = [None] * len(solution_strs) if extra_infos is None else extra_infos
    sources = {"data_sources": data_sources, "ground_truths": ground_truths, "extra_infos": others}
    same_length(solution_strs, **sources)
    batch = _batch(data_sources, solution_strs, ground_truths, others)
    return [_result(row) for row in batch.scores(chosen(recipe))]


def batch_of(body: Mapping[str, Any]) -> Batch:
    """Return the batch that a request holds: `compute_score`'s arguments, or `compute_scores`'.

    Only the responses must be there.
    """
    if not _is_listed(body):
        text = text_in(body, "solution_str")
        one = [[body.get(name)] for name in ("data_source", "ground_truth", "extra_info")]
        return _batch(one[0], [text], one[1], one[2])
    texts = texts_in(body, "solution_strs")
    sources, golds, infos = (
        [None] * len(texts) if body.get(name) is None else list_in(body, name, len(texts))
        for name in ("data_sources", "ground_truths", "extra_infos")
    )
    return _batch(sources, texts, golds, infos)


def reply_of(scores: Sequence[RowScore], body: Mapping[str, Any]) -> Result | list[Result]:
    """Return what comes back: a result for one row, a list of them for lists."""
    results = [_result(row) for row in scores]
    return results if _is_listed(body) else results[0]


def _is_listed(body: object) -> bool:
    return isinstance(body, Mapping) and "solution_strs" in body


def _batch(
    sources: Sequence[Any], texts: Sequence[str], golds: Sequence[Any], infos: Sequence[Any]
) -> Batch:
    columns = columns_of(infos)
    columns["data_source"] = list(sources)
    columns["solution"] = golds_of(golds)
    return Batch(responses_of(texts), columns)


def _result(row: RowScore) -> Result:
    values = metrics_of(row, taken=_TAKEN)
    return {"score": total_of(row), "status": row.status, **values}


warm_up_if_chosen()
