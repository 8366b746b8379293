r"""TRL: the recipe's reward functions by dotted path, for its command line.

    PLAUDIT_RECIPE=trl-reasoning trl grpo … \
        --reward_funcs plaudit.trainers.trl.reasoning_accuracy_reward \
                       plaudit.trainers.trl.think_format_reward \
        --reward_weights 1.0 1.0

Every component of the recipe that PLAUDIT_RECIPE names is a function of this module with the
component's name, and a coroutine function with `_async` appended. `total` and `total_async` are the
whole recipe as one function, weights included.

In a script, `recipe.reward_funcs()` and `recipe.reward_weights()` are what `GRPOTrainer` takes.
For CANOE's `influence_reward`, which needs a second generation, `dual(GRPOTrainer)` is the trainer.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from inspect import signature
from typing import Any, TypeVar

from plaudit.inputs.columns import naming_row
from plaudit.recipes import Recipe, RowScore
from plaudit.rewards.canoe import second_prompt
from plaudit.scores.score import log_means, log_statuses
from plaudit.trainers._rows import AnyRecipe, chosen, warm_up_if_chosen

Trainer = TypeVar("Trainer")

LONG_ANSWER = "completions_long_answer"  # the column that influence_reward reads
_ASYNC = "_async"


def total(completions: Sequence[Any], **columns: Any) -> list[float | None]:
    r"""Return the total of each completion, by the recipe that PLAUDIT_RECIPE names.

    completions: texts, or lists of messages, as TRL passes them
    columns: the columns of the dataset and whatever else TRL passes. If there is a `log_metric`, it
        gets the mean of each component, and the share of rows with each status
    """
    recipe = chosen()
    return _totals(recipe, recipe(completions, **columns), columns.get("log_metric"))


async def total_async(completions: Sequence[Any], **columns: Any) -> list[float | None]:
    r"""`total` for an event loop."""
    recipe = chosen()
    rows = await recipe.score_async(completions, **columns)
    return _totals(recipe, rows, columns.get("log_metric"))


def row_total(completion: Any, recipe: AnyRecipe = None, **columns: Any) -> float | None:
    r"""Return the total of one completion: the `get_reward` of an environment of TRL's.

        class Quiz:
            def get_reward(self):
                return row_total(self.answer, "math", solution=self.gold)

    completion: text or messages that the environment has kept
    recipe: a recipe, a preset's name or the path of a TOML file; default: that of PLAUDIT_RECIPE
    columns: the value of this one row for each column

    >>> row_total(r"\boxed{4}", "trl-math", solution="4")
    1.0
    """
    entries = {name: [value] for name, value in columns.items()}
    return chosen(recipe)([completion], **entries)[0].total


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
        f"and each of them with {_ASYNC} appended"
    )


def _totals(recipe: Recipe, rows: Sequence[RowScore], log_metric: object) -> list[float | None]:
    names = [component.name for component in recipe.components]
    values = {name: [row.components[name].value for row in rows] for name in names}
    log_means(recipe.name, values, log_metric)
    log_statuses(recipe.name, [row.status for row in rows], log_metric)
    return [row.total for row in rows]


# --- the second generation of CANOE ---------------------------------------------------------------


@cache
def dual(trainer_class: type[Trainer]) -> type[Trainer]:
    """TRL's `GRPOTrainer` or `RLOOTrainer`, made to generate twice, as CANOE's Dual-GRPO does.

    After TRL has generated, the model generates once more from each completion's `second_prompt`:
    one completion, with the same settings. The rewards get what it wrote as the column
    `completions_long_answer`, None if a completion has no long answer.
    """

    class Dual(trainer_class):  # type: ignore[valid-type, misc]
        def _calculate_rewards(
            self, inputs: list[Any], prompts: list[Any], completions: list[Any], *rest: Any
        ) -> Any:
            again = _second_completions(self, prompts, completions)
            rows = [{**row, LONG_ANSWER: one} for row, one in zip(inputs, again, strict=True)]
            return super()._calculate_rewards(rows, prompts, completions, *rest)

    Dual.__name__ = Dual.__qualname__ = f"Dual{trainer_class.__name__}"
    return Dual


def dual_rollout(prompts: list[Any], trainer: Any) -> dict[str, list[Any] | None]:
    """The same as `dual`, as a `rollout_func` of `GRPOTrainer`, for those who cannot subclass.

    TRL calls it with the prompts and the trainer. It generates twice, and the rewards get the
    column `completions_long_answer`. In TRL, `rollout_func` is experimental and supports neither
    tools nor images; `RLOOTrainer` does not have it.
    """
    is_training = trainer.model.training
    groups = trainer.num_generations if is_training else trainer.num_generations_eval
    prompt_ids, images, fields = trainer._tokenize_prompts(prompts)
    if images is not None:
        raise ValueError("dual_rollout takes no images, since TRL does not: use dual(GRPOTrainer)")
    completion_ids, logprobs = _generated(trainer, prompt_ids, images, fields, groups)
    completions = trainer.processing_class.batch_decode(completion_ids, skip_special_tokens=True)
    return {
        "prompt_ids": prompt_ids,
        "completion_ids": completion_ids,
        "logprobs": logprobs,
        LONG_ANSWER: _second_completions(trainer, prompts, completions),
    }


def _second_completions(
    trainer: Any, prompts: Sequence[Any], completions: Sequence[Any]
) -> list[str | None]:
    """What the model writes from each completion's second prompt; None if there is none."""
    seconds = []
    for row, (prompt, completion) in enumerate(zip(prompts, completions, strict=True)):
        with naming_row(row):
            seconds.append(second_prompt(prompt, completion))
    rows = [row for row, second in enumerate(seconds) if second is not None]
    if trainer.accelerator.num_processes > 1 or getattr(trainer, "environment_factories", None):
        # Processes generate together: each must do so for as many rows as the others, or one would
        # wait for ever. And each environment of TRL belongs to a row.
        rows = list(range(len(seconds)))
    again: list[str | None] = [None] * len(seconds)
    if not rows:
        return again
    asked = [prompts[row] if seconds[row] is None else seconds[row] for row in rows]
    prompt_ids, images, fields = trainer._tokenize_prompts(asked)
    ids, _ = _generated(trainer, prompt_ids, images, fields, groups=1)
    written = trainer.processing_class.batch_decode(ids, skip_special_tokens=True)
    for row, text in zip(rows, written, strict=True):
        again[row] = None if seconds[row] is None else text
    return again


def _generated(
    trainer: Any, prompt_ids: Any, images: Any, fields: Any, groups: int
) -> tuple[Any, Any]:
    """The ids of what the model writes after each prompt, and their log probabilities, if any.

    `groups` says how many prompts in a row are the same. TRL generates with a private method, which
    takes that as an argument in some versions and reads it from the trainer in others.
    """
    generate = trainer._generate_single_turn
    takes_groups = "num_generations" in signature(generate).parameters
    with _in_groups_of(trainer, groups):
        given = generate(
            prompt_ids, images, fields, **{"num_generations": groups} if takes_groups else {}
        )
    return given if isinstance(given, tuple) else (given, None)  # RLOO's gives the ids alone


@contextmanager
def _in_groups_of(trainer: Any, groups: int) -> Iterator[None]:
    before = trainer.num_generations, trainer.num_generations_eval
    trainer.num_generations = trainer.num_generations_eval = groups
    try:
        yield
    finally:
        trainer.num_generations, trainer.num_generations_eval = before


warm_up_if_chosen()
