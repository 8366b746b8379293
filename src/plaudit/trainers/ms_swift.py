r"""ms-swift: reward classes in its registry `orms`, one for each component of a recipe.

    # plugin.py
    from plaudit.trainers.ms_swift import register
    register("trl-reasoning")

    swift rlhf --rlhf_type grpo --external_plugins plugin.py \
        --reward_funcs plaudit_reasoning_accuracy_reward plaudit_think_format_reward \
        --reward_weights 1.0 1.0
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import chain
from typing import Any

from plaudit.recipes import Recipe
from plaudit.trainers._chosen import AnyRecipe, chosen
from plaudit.trainers._rows import golds_of, response_of

PREFIX = "plaudit_"


def register(recipe: AnyRecipe = None, *, asynchronous: bool = False) -> list[str]:
    """Register a class for each component of a recipe, and return the names for `--reward_funcs`.

    A name is `plaudit_` and the component's name, so that it differs from ms-swift's own rewards.

    recipe: a preset's name or the path of a TOML file; default: that of PLAUDIT_RECIPE
    asynchronous: whether the components run concurrently on ms-swift's event loop; default: one
        after the other

    >>> register("trl-math")  # doctest: +SKIP
    ['plaudit_accuracy_reward']
    """
    rewards = import_module("swift.rewards")
    base = rewards.AsyncORM if asynchronous else rewards.ORM
    classes = reward_classes(chosen(recipe), base, asynchronous=asynchronous)
    rewards.orms.update(classes)
    return list(classes)


def reward_classes(
    recipe: Recipe, base: type = object, *, asynchronous: bool = False
) -> dict[str, type]:
    r"""A class for each component of a recipe, by the name that it is registered under.

    >>> from plaudit.recipes import load
    >>> classes = reward_classes(load("trl-math"))
    >>> reward = classes["plaudit_accuracy_reward"]()
    >>> reward([r"\boxed{4}<|im_end|>"], solution=["4"])
    [1.0]
    """
    functions = recipe.reward_funcs(asynchronous=asynchronous)
    named = {PREFIX + function.__name__: function for function in functions}
    return {
        name: type(name, (base,), {"__call__": _call(function, asynchronous)})
        for name, function in named.items()
    }


def _call(function: Callable[..., Any], asynchronous: bool) -> Callable[..., Any]:
    def call(self: object, completions: Sequence[Any], **columns: Any) -> Any:
        return function(completions=_responses(completions), **_columns(columns))

    async def call_async(self: object, completions: Sequence[Any], **columns: Any) -> Any:
        return await function(completions=_responses(completions), **_columns(columns))

    return call_async if asynchronous else call


def _responses(completions: Sequence[Any]) -> list[Any]:
    return [response_of(text) if isinstance(text, str) else text for text in completions]


def _columns(columns: dict[str, Any]) -> dict[str, Any]:
    """What ms-swift passes, and the prompts and token ids by the names that rewards read."""
    made: dict[str, Any] = {}
    if isinstance(solution := columns.get("solution"), list):
        made["solution"] = golds_of(solution)
    if "prompts" not in columns and isinstance(rows := columns.get("messages"), list):
        made["prompts"] = [_prompt(messages) for messages in rows]
    if "completion_ids" not in columns and isinstance(
        ids := columns.get("response_token_ids"), list
    ):
        made["completion_ids"] = [list(chain.from_iterable(turns)) for turns in ids]
    return {**columns, **made}


def _prompt(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages before the reply, which is the last one."""
    return messages[:-1] if messages and messages[-1].get("role") == "assistant" else messages
