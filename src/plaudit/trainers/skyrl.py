r"""SkyRL: an environment of one turn.

    from plaudit.trainers.skyrl import register
    register()                            # then: environment.env_class=plaudit

A row of the dataset has `env_class: "plaudit"` and `reward_spec: {"ground_truth": …}`.
"""

from importlib import import_module
from typing import Any

from plaudit.inputs.golds import gold_of
from plaudit.recipes import Recipe, RowScore
from plaudit.trainers._rows import (
    AnyRecipe,
    Batch,
    chosen,
    columns_of,
    metrics_of,
    response_of,
    total_of,
)


def register(name: str = "plaudit", recipe: AnyRecipe = None) -> None:
    """Register the environment with skyrl_gym, in every process that makes environments.

    name: what `environment.env_class` calls it
    recipe: a preset's name or the path of a TOML file; default: that of PLAUDIT_RECIPE
    """
    import_module("skyrl_gym").register(id=name, entry_point=environment_class(recipe))


def environment_class(recipe: AnyRecipe = None) -> type:
    """Return the class of the environment, for a recipe or the one that PLAUDIT_RECIPE names."""
    base = import_module("skyrl_gym.envs.base_text_env").BaseTextEnv
    return type("PlauditEnv", (Episode, base), {"__module__": __name__, "recipe": chosen(recipe)})


class Episode:
    r"""One turn: a prompt, an action, its reward."""

    recipe: Recipe

    def __init__(self, env_config: Any = None, extras: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.extras = extras or {}
        self.prompt: Any = None
        self.metrics: dict[str, float] = {}

    def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
        """Return the first prompt, as it is."""
        self.prompt = prompt
        return prompt, {}

    def step(self, action: str) -> dict[str, Any]:
        """Return what the action is worth; the episode is over."""
        [row] = batch_of(action, self.extras, self.prompt).scores(self.recipe)
        self.metrics = metrics_of(row)
        return step_output(row)

    def get_metrics(self) -> dict[str, float]:
        """Return each component's value by its name."""
        return dict(self.metrics)


def batch_of(action: str, extras: dict[str, Any], prompt: Any = None) -> Batch:
    r"""Return the batch of one row that an action and the extras of a dataset's row make.

    The gold is the `ground_truth` of `reward_spec`; the entries of `extra_info` and of the extras
    themselves are columns.
    """
    inside = extras.get("extra_info")
    columns = columns_of([{**extras, **(inside if isinstance(inside, dict) else {})}])
    columns["prompts"] = [prompt]
    columns["solution"] = [gold_of(extras.get("reward_spec"))]
    return Batch([response_of(action)], columns)


def step_output(row: RowScore) -> dict[str, Any]:
    """Return what a step gives: the reward and its reasons; the episode is over."""
    metadata = {**metrics_of(row), "status": row.status, "why": row.why}
    return {"observations": [], "reward": total_of(row), "done": True, "metadata": metadata}
