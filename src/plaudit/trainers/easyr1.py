r"""EasyR1: a reward file.

    worker.reward.reward_function=/path/to/plaudit/trainers/easyr1.py:compute_score
    worker.reward.reward_function_kwargs='{"recipe": "trl-math"}'

`python -c "import plaudit.trainers.easyr1 as m; print(m.__file__)"` prints the path. A file of your
own works as well, if it imports `compute_score`, `REWARD_NAME` and `REWARD_TYPE` from this one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.inputs.golds import gold_of
from plaudit.recipes import RowScore
from plaudit.trainers._rows import (
    AnyRecipe,
    Batch,
    chosen,
    columns_of,
    metrics_of,
    responses_of,
    total_of,
    warm_up_if_chosen,
)

REWARD_NAME = "plaudit"
REWARD_TYPE = "batch"

Input = Mapping[str, Any]


def compute_score(
    reward_inputs: Sequence[Input] | Input, recipe: AnyRecipe = None
) -> list[dict[str, float]] | dict[str, float]:
    r"""Return the total as `overall`, and each component by its name, for each input.

    reward_inputs: dicts with `response` and `ground_truth`, whose other entries are columns for the
        recipe; or a single one, as `reward_type=sequential` passes it, which gives a single result
    recipe: a preset's name or the path of a TOML file; default: that of PLAUDIT_RECIPE
    """
    if isinstance(reward_inputs, Mapping):
        return _results([reward_inputs], recipe)[0]
    return _results(reward_inputs, recipe)


def _results(inputs: Sequence[Input], recipe: AnyRecipe) -> list[dict[str, float]]:
    columns = columns_of(inputs)
    responses = columns.pop("response", [None] * len(inputs))
    golds = columns.pop("ground_truth", [None] * len(inputs))
    columns["solution"] = [gold_of(gold, row) for row, gold in enumerate(golds)]
    batch = Batch(responses_of(responses), columns)
    return [_result(row) for row in batch.scores(chosen(recipe))]


def _result(row: RowScore) -> dict[str, float]:
    return {"overall": total_of(row)} | metrics_of(row, taken=("overall",))


warm_up_if_chosen()
