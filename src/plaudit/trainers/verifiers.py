r"""verifiers: a rubric, and rewards that a task's configuration plugs in.

vf.SingleTurnEnv(dataset=…, rubric=plaudit.trainers.verifiers.rubric("trl-math"))   # to 0.3

[env.taskset.task.rewards.plaudit]                                                  # from 0.4
fn = "plaudit.trainers.verifiers:reward"
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from plaudit.inputs.golds import gold_of
from plaudit.recipes import Recipe, RowScore
from plaudit.recipes.bound_reward import CONVERSATION
from plaudit.trainers._rows import (
    AnyRecipe,
    Batch,
    chosen,
    columns_of,
    gold_in,
    metrics_of,
    response_of,
    total_of,
    warm_up_if_chosen,
)


def rubric(recipe: AnyRecipe = None) -> Any:
    """Return a `verifiers.Rubric` of a recipe's components, with its weights.

    verifiers has rubrics up to its version 0.3; from 0.4 on, plug in `reward`.

    recipe: a preset's name or the path of a TOML file; default: that of PLAUDIT_RECIPE
    """
    made = import_module("verifiers").Rubric
    return made(funcs=reward_funcs(recipe), weights=chosen(recipe).reward_weights())


def reward_funcs(recipe: AnyRecipe = None) -> list[Callable[..., Any]]:
    r"""Return a coroutine function for each component, as a rubric calls them: for one rollout.

    The entries of `info` are columns, and so is every other field of the dataset's row. A rollout
    is scored once, by the function that is called first. If the recipe values turns, each step of
    the trajectory gets what it adds to the total as its `reward`.
    """
    rollouts = _Rollouts(chosen(recipe))
    return [rollouts.function(component.name) for component in rollouts.recipe.components]


async def reward(task: Any, trace: Any) -> float:
    r"""Return the total of a trace's last reply, by the recipe that PLAUDIT_RECIPE names.

    The fields of the task's data are columns; the gold is under one of the names that datasets
    give it, such as `answer`. Each component's value becomes a metric of the trace, by its name.

    >>> import asyncio, os
    >>> from types import SimpleNamespace as Some
    >>> metrics = {}
    >>> trace = Some(last_reply=r"\boxed{4}", record_metrics=metrics.update)
    >>> os.environ["PLAUDIT_RECIPE"] = "trl-math"
    >>> asyncio.run(reward(Some(prompt="2 + 2?", answer="4"), trace)), metrics["accuracy_reward"]
    (1.0, 1.0)
    >>> del os.environ["PLAUDIT_RECIPE"]
    """
    fields = task.model_dump() if hasattr(task, "model_dump") else vars(task)
    columns = columns_of([fields])
    columns["prompts"] = [fields.get("prompt")]
    columns["solution"] = [gold_in(fields)]
    columns["truncated"] = [bool(getattr(trace, "is_truncated", False))]
    if messages := getattr(trace, "messages", None):
        columns[CONVERSATION] = [_completion(messages)]
    [row] = await Batch([response_of(trace.last_reply)], columns).scores_async(chosen())
    trace.record_metrics(metrics_of(row))
    return total_of(row)


class _Rollouts:
    """The rollouts that are being scored; the functions of a rubric are called one by one."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        # What each got, and which functions were not called yet, by the id of its state. The state
        # is kept so that no other gets its id.
        self._known: dict[int, tuple[Any, RowScore, set[str]]] = {}

    def function(self, name: str) -> Callable[..., Any]:
        async def scored(
            prompt: Any = None,
            completion: Any = None,
            answer: Any = None,
            info: Any = None,
            state: Any = None,
            **row: Any,
        ) -> float:
            fields = {**row, **info} if isinstance(info, Mapping) else row
            columns = columns_of([fields])
            columns |= {"prompts": [prompt], "solution": [gold_of(answer)]}
            return (await self._row(name, completion, columns, state)).numbers[name]

        scored.__name__ = name
        return scored

    async def _row(
        self, name: str, completion: Any, columns: dict[str, list[Any]], state: Any
    ) -> RowScore:
        key = id(state)
        if key in self._known and name in self._known[key][2]:
            _, row, waiting = self._known[key]
            waiting.discard(name)
            if not waiting:
                del self._known[key]
            return row
        if isinstance(state, Mapping) and "is_truncated" in state:
            columns["truncated"] = [bool(state["is_truncated"])]
        [row] = await Batch([_completion(completion)], columns).scores_async(self.recipe)
        waiting = {component.name for component in self.recipe.components} - {name}
        if state is not None and waiting:
            self._known[key] = state, row, waiting
        _reward_steps(row, state)
        return row


def _reward_steps(row: RowScore, state: Any) -> None:
    """Give each step of a trajectory what it adds to the total."""
    steps = state.get("trajectory") if isinstance(state, Mapping) else None
    if row.turns and steps and len(steps) == len(row.turns):
        for step, value in zip(steps, row.turns, strict=True):
            step["reward"] = value


def _completion(completion: Any) -> Any:
    """Text without special tokens, or messages as dicts."""
    if isinstance(completion, str):
        return response_of(completion)
    if not isinstance(completion, Sequence):
        return completion
    return [m.model_dump() if hasattr(m, "model_dump") else m for m in completion]


warm_up_if_chosen()
