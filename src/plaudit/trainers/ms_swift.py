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
from plaudit.trainers._rows import AnyRecipe, chosen, golds_of, group_keys, response_of

PREFIX = "plaudit_"


def register(recipe: AnyRecipe = None, *, asynchronous: bool = False) -> list[str]:
    """Register a class for each component of a recipe, and return the names for `--reward_funcs`.

    A name is `plaudit_` and the component's name, so that it differs from ms-swift's own rewards.

    recipe: a preset's name or the path of a TOML file; default: that of PLAUDIT_RECIPE
    asynchronous: whether the components run concurrently on ms-swift's event loop; default: one
        after the other
    """
    rewards = import_module("swift.rewards")
    base = rewards.AsyncORM if asynchronous else rewards.ORM
    classes = reward_classes(chosen(recipe), base, asynchronous=asynchronous)
    rewards.orms.update(classes)
    return list(classes)


def reward_classes(
    recipe: Recipe, base: type = object, *, asynchronous: bool = False
) -> dict[str, type]:
    r"""Return a class for each component of a recipe, by the name that it is registered under."""
    functions, batch = recipe.reward_funcs(asynchronous=asynchronous), _LastBatch()
    named = {PREFIX + function.__name__: function for function in functions}
    return {
        name: type(name, (base,), {"__call__": _call(function, batch, asynchronous)})
        for name, function in named.items()
    }


class _LastBatch:
    """What the classes of a recipe are called with, read once: they share what it is scored."""

    def __init__(self) -> None:
        self._given: dict[str, Any] = {}
        self._read: dict[str, Any] = {}

    def read(self, **given: Any) -> dict[str, Any]:
        """Return the completions and columns as rewards read them."""
        last = self._given
        if given.keys() != last.keys() or any(given[name] is not last[name] for name in given):
            texts = [response_of(t) if isinstance(t, str) else t for t in given["completions"]]
            read = {**_columns(given), "completions": texts}
            self._given, self._read = given, read
        return self._read


def _call(
    function: Callable[..., Any], batch: _LastBatch, asynchronous: bool
) -> Callable[..., Any]:
    def call(self: object, completions: Sequence[Any], **columns: Any) -> Any:
        passed = batch.read(completions=completions, **columns)
        return _numbers(function(**passed), passed)

    async def call_async(self: object, completions: Sequence[Any], **columns: Any) -> Any:
        passed = batch.read(completions=completions, **columns)
        return _numbers(await function(**passed), passed)

    return call_async if asynchronous else call


def _numbers(values: Sequence[float | None], columns: dict[str, Any]) -> list[float]:
    """Return a number for each row: ms-swift counts a row without one as 0.

    A row that was skipped gets the mean of its group, so that no other row's advantage moves.
    """
    if None not in values:
        return list(values)  # type: ignore[arg-type]
    groups: dict[Any, list[float]] = {}
    keys = group_keys(columns, len(values))
    for key, value in zip(keys, values, strict=True):
        groups.setdefault(key, []).extend([] if value is None else [value])
    means = {key: sum(known) / len(known) if known else 0.0 for key, known in groups.items()}
    pairs = zip(keys, values, strict=True)
    return [means[key] if value is None else value for key, value in pairs]


def _columns(columns: dict[str, Any]) -> dict[str, Any]:
    """Return what ms-swift passes, and the prompts and token ids by the names that rewards read."""
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
    """Return the messages before the reply, which is the last one."""
    return messages[:-1] if messages and messages[-1].get("role") == "assistant" else messages
