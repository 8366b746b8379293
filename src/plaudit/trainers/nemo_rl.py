r"""NeMo-RL: an environment that scores responses with a recipe.

from plaudit.trainers.nemo_rl import register
register()              # before the environments are made; then, in the configuration:

env:
  plaudit:
    recipe: trl-math
    components: false   # true for GDPO, which wants each component's reward
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from plaudit.inputs.completions import text_of
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
)

PREFIX = "reward/"  # of the names by which NeMo-RL knows the components of a reward
ACTOR = "plaudit.trainers.nemo_rl.PlauditEnvironment"


def register(name: str = "plaudit") -> None:
    """Register the environment with NeMo-RL, to run in the Python interpreter of the driver.

    name: what the configuration calls it, under `env`
    """
    interpreters = import_module("nemo_rl.distributed.ray_actor_environment_registry")
    system = import_module("nemo_rl.distributed.virtual_cluster").PY_EXECUTABLES.SYSTEM
    interpreters.ACTOR_ENVIRONMENT_REGISTRY[ACTOR] = system
    import_module("nemo_rl.environments.utils").register_env(name, ACTOR)


class Environment:
    r"""The environment; `PlauditEnvironment` is the same as an actor of Ray."""

    def __init__(self, cfg: Mapping[str, Any] | None = None) -> None:
        self.recipe = chosen((cfg or {}).get("recipe"))
        self.components = bool((cfg or {}).get("components", False))

    def step(
        self, message_log_batch: Sequence[Any], metadata: Sequence[Any], *_: Any, **__: Any
    ) -> Any:
        """Return what each conversation is worth, as NeMo-RL's `EnvironmentReturn`."""
        torch = import_module("torch")
        fields = step_fields(self.recipe, message_log_batch, metadata, self.components)
        fields["rewards"] = (
            {name: torch.tensor(of, dtype=torch.float32) for name, of in fields["rewards"].items()}
            if self.components
            else torch.tensor(fields["rewards"], dtype=torch.float32)
        )
        fields["terminateds"] = torch.tensor(fields["terminateds"], dtype=torch.float32)
        return import_module("nemo_rl.environments.interfaces").EnvironmentReturn(**fields)

    def global_post_process_and_metrics(self, batch: Any) -> tuple[Any, dict[str, float]]:
        """Return a response that did not end is worth nothing, as in NeMo-RL's own environments."""
        held = [name for name in batch if str(name).startswith(PREFIX) or name == "rewards"]
        for name in held:
            batch[name] = batch[name] * batch["is_end"]
        means = {name: batch[name].float().mean().item() for name in held}
        ended = batch["is_end"].float().mean().item()
        total = means.pop("rewards", None)
        metrics = {"reward": sum(means.values()) if total is None else total, **means}
        return batch, {**metrics, "fraction_of_samples_properly_ended": ended}

    def shutdown(self) -> None:
        """There is nothing to shut down: the judge's workers end with the process."""


def gdpo_weights(recipe: AnyRecipe = None) -> list[float]:
    """What `grpo.adv_estimator.reward_weights` must be for a recipe, in the order of the names.

    NeMo-RL's GDPO normalises each component before it adds them up, so it needs the weights again.
    They have no sign: the components that it gets have it already.
    """
    components = sorted(chosen(recipe).components, key=lambda component: component.name)
    return [abs(component.weight) for component in components]


def step_fields(
    recipe: Recipe,
    message_logs: Sequence[Any],
    metadata: Sequence[Any],
    components: bool = False,
) -> dict[str, Any]:
    r"""Return the fields of an `EnvironmentReturn`, in plain lists.

    The response is what the last assistant message says. `metadata` holds each row's gold under
    one of the names that datasets give it, and columns; what each row got is added to it.

    components: whether to give, for GDPO, what each component adds to the total, as
        `reward/<name>`; NeMo-RL adds them up itself. Default: the totals alone
    """
    rows = batch_of(message_logs, metadata).scores(recipe)
    return {
        "observations": [
            {"role": "environment", "content": f"reward {total_of(row)}"} for row in rows
        ],
        "metadata": [_marked(one, row) for one, row in zip(metadata, rows, strict=True)],
        "next_stop_strings": [None] * len(rows),
        "rewards": _by_component(recipe, rows) if components else [total_of(r) for r in rows],
        "terminateds": [1.0] * len(rows),
        "answers": [_answer(row) for row in rows],
    }


def _by_component(recipe: Recipe, rows: Sequence[RowScore]) -> dict[str, list[float]]:
    return {
        f"{PREFIX}{component.name}": [row.weighted[component.name] for row in rows]
        for component in recipe.components
    }


def batch_of(message_logs: Sequence[Any], metadata: Sequence[Any]) -> Batch:
    """Return the batch that logs of messages and their metadata make."""
    columns = columns_of(metadata)
    columns["prompts"] = [_prompt(log, row) for row, log in enumerate(message_logs)]
    columns["solution"] = [
        gold_in(fields, row) if isinstance(fields, Mapping) else None
        for row, fields in enumerate(metadata)
    ]
    columns[CONVERSATION] = list(message_logs)
    return Batch([_response(log, row) for row, log in enumerate(message_logs)], columns)


def _response(log: Sequence[Mapping[str, Any]], row: int) -> str:
    """What the last assistant message says; a message that only calls a tool says nothing."""
    said = [message["content"] for message in log if message["role"] == "assistant"]
    return response_of(text_of({"content": said[-1]}, row), row=row) if said else ""


def _prompt(log: Sequence[Mapping[str, Any]], row: int) -> str:
    said = [message["content"] for message in log if message["role"] != "assistant"]
    return "".join(text_of({"content": content}, row) for content in said)


def _marked(metadata: Any, row: RowScore) -> Any:
    if not isinstance(metadata, Mapping):
        return metadata
    return {**metadata, "plaudit": {**metrics_of(row), "status": row.status}}


def _answer(row: RowScore) -> str | None:
    """Return what was read as answer, by the first component that read one."""
    return next((s.answer for s in row.components.values() if s.answer is not None), None)


def __getattr__(name: str) -> Any:
    if name != "PlauditEnvironment":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("ray").remote(max_restarts=-1, max_task_retries=-1)(Environment)
