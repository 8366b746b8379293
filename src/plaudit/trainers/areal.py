r"""AReaL: a reward function of one response.

    workflow_kwargs = dict(reward_fn="plaudit.trainers.areal.reward_fn", …)

AReaL calls it in processes of its own, which inherit the environment and so PLAUDIT_RECIPE.
"""

from typing import Any

from plaudit.trainers._rows import (
    AnyRecipe,
    Batch,
    chosen,
    columns_of,
    gold_in,
    response_of,
    total_of,
)


def reward_fn(
    prompt: Any,
    completions: str,
    prompt_ids: Any = None,
    completion_ids: Any = None,
    recipe: AnyRecipe = None,
    **data: Any,
) -> float:
    r"""Return the total of one response.

    prompt: what the model was asked, which is the column `prompts`
    completions: what the model wrote; special tokens at its end are removed
    prompt_ids: ignored
    completion_ids: the token ids of the response, which are a column for the recipe
    recipe: a preset's name or the path of a TOML file; default: that of PLAUDIT_RECIPE
    data: the fields of the dataset's row, which are columns for the recipe. The gold has one of the
        usual names, such as `answer` or `solution`
    """
    columns = columns_of([data])
    columns["prompts"] = [prompt]
    columns["completion_ids"] = [completion_ids]
    columns["solution"] = [gold_in(data)]
    return total_of(Batch([response_of(completions)], columns).scores(chosen(recipe))[0])
