r"""SkyRL: an environment of one turn, and one that a subclass gives tools.

    from plaudit.trainers.skyrl import register
    register()                            # then: environment.env_class=plaudit

A row of the dataset has `env_class: "plaudit"` and `reward_spec: {"ground_truth": …}`.
"""

from collections.abc import Sequence
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
    r"""A prompt, and turns until the environment has nothing to answer: one, unless `respond` does.

    A reward for each turn is what the turn adds to the total, so that they add up to it. Rewards
    that read messages are paid at every turn, others at the last.
    """

    recipe: Recipe

    def __init__(self, env_config: Any = None, extras: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.extras = extras or {}
        self.prompt: Any = None
        self.messages: list[dict[str, Any]] = []
        self.paid = 0.0
        self.metrics: dict[str, float] = {}

    def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
        """Return the first prompt, as it is."""
        self.prompt = prompt
        return prompt, {}

    def respond(self, action: str) -> list[dict[str, Any]]:
        """Return the messages that answer an action, such as a tool's result; [] at the end.

        This environment has no tools: override it in a subclass that does.
        """
        return []

    def step(self, action: str) -> dict[str, Any]:
        """Return what the action adds to what the episode is worth."""
        self.messages.append({"role": "assistant", "content": action})
        observations = self.respond(action)
        self.messages += observations
        if observations and not any(
            c.bound.declaration.reads == "messages" for c in self.recipe.components
        ):
            return {"observations": observations, "reward": 0.0, "done": False, "metadata": {}}
        batch = batch_of(action, self.extras, self.prompt, self.messages)
        [row] = batch.scores(self.recipe)
        self.metrics = metrics_of(row)
        output = step_output(row, observations)
        output["reward"], self.paid = output["reward"] - self.paid, output["reward"]
        return output

    def get_metrics(self) -> dict[str, float]:
        """Return each component's value by its name."""
        return dict(self.metrics)


def batch_of(
    action: str, extras: dict[str, Any], prompt: Any = None, messages: Sequence[Any] | None = None
) -> Batch:
    r"""Return the batch of one row that an action and the extras of a dataset's row make.

    The gold is the `ground_truth` of `reward_spec`; the entries of `extra_info` and of the extras
    themselves are columns.

    messages: the conversation so far, for rewards that read messages. Default: the action alone
    """
    inside = extras.get("extra_info")
    columns = columns_of([{**extras, **(inside if isinstance(inside, dict) else {})}])
    columns["prompts"] = [prompt]
    columns["solution"] = [gold_of(extras.get("reward_spec"))]
    if messages is not None:
        columns[CONVERSATION] = [list(messages)]
    return Batch([response_of(action)], columns)


def step_output(row: RowScore, observations: Sequence[Any] = ()) -> dict[str, Any]:
    """Return what a step gives: what the episode is worth so far, and the reasons.

    observations: what the environment answers; without any, the episode is over. Before that, only
        rewards that value turns count
    """
    metadata = {**metrics_of(row), "status": row.status, "why": row.why}
    reward = total_of(row)
    if observations:
        valued = [name for name, score in row.components.items() if score.turns is not None]
        reward = sum(row.weighted[name] for name in valued) if row.total is not None else 0.0
    return {
        "observations": list(observations),
        "reward": reward,
        "done": not observations,
        "metadata": metadata,
    }
