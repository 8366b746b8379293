r"""TRL: the recipe's reward functions by dotted path, for its command line.

    PLAUDIT_RECIPE=trl-reasoning trl grpo … \
        --reward_funcs plaudit.trainers.trl.reasoning_accuracy_reward \
                       plaudit.trainers.trl.think_format_reward \
        --reward_weights 1.0 1.0

Every component of the recipe that PLAUDIT_RECIPE names is a function of this module, by the
component's name, and with `_async` behind it a coroutine function. `total` and `total_async` are
the whole recipe as one function, weights included.

In a script, `recipe.reward_funcs()` and `recipe.reward_weights()` are what `GRPOTrainer` takes.
"""

from collections.abc import Callable, Sequence
from typing import Any

from plaudit.recipes import Recipe, RowScore
from plaudit.scores import log_means, log_statuses
from plaudit.trainers._chosen import chosen, warm_up_if_chosen

_ASYNC = "_async"


def total(completions: Sequence[Any], **columns: Any) -> list[float | None]:
    r"""The total of each completion.

    TRL's `log_metric` gets the mean of each component, and the share of rows with each status.

    >>> import os
    >>> os.environ["PLAUDIT_RECIPE"] = "trl-math"
    >>> logged = {}
    >>> total([r"\boxed{4}", "four"], solution=["4", "4"], log_metric=logged.__setitem__)
    [1.0, 0.0]
    >>> logged["trl-math/accuracy_reward"], logged["trl-math/no_answer"]
    (0.5, 0.5)
    >>> del os.environ["PLAUDIT_RECIPE"]
    """
    recipe = chosen()
    return _totals(recipe, recipe(completions, **columns), columns.get("log_metric"))


async def total_async(completions: Sequence[Any], **columns: Any) -> list[float | None]:
    r"""`total` for an event loop.

    >>> import asyncio, os
    >>> os.environ["PLAUDIT_RECIPE"] = "trl-math"
    >>> asyncio.run(total_async([r"\boxed{4}"], solution=["4"]))
    [1.0]
    >>> del os.environ["PLAUDIT_RECIPE"]
    """
    recipe = chosen()
    rows = await recipe.score_async(completions, **columns)
    return _totals(recipe, rows, columns.get("log_metric"))


def __getattr__(name: str) -> Callable[..., Any]:
    """The reward function of a component, by its name."""
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        recipe = chosen()
    except ValueError as error:
        raise AttributeError(f'{__name__} has no "{name}": {error}') from error
    for asynchronous in (False, True):
        for function in recipe.reward_funcs(asynchronous=asynchronous):
            if function.__name__ + _ASYNC * asynchronous == name:
                return function
    known = ", ".join(["total", *(component.name for component in recipe.components)])
    raise AttributeError(
        f'the recipe {recipe.name} has no component "{name}"; there is {known}, '
        f"and each with {_ASYNC} behind it"
    )


def _totals(recipe: Recipe, rows: Sequence[RowScore], log_metric: object) -> list[float | None]:
    names = [component.name for component in recipe.components]
    values = {name: [row.components[name].value for row in rows] for name in names}
    log_means(recipe.name, values, log_metric)
    log_statuses(recipe.name, [row.status for row in rows], log_metric)
    return [row.total for row in rows]


warm_up_if_chosen()
