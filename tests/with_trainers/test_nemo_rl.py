"""The environment, with tensors and as an actor of Ray, in the shapes that NeMo-RL's source has.

NeMo-RL is not on PyPI. What it would bring is here as its source defines it: the named tuple that
a step returns, and the two registries. The rest is real.
"""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest
import ray
import torch

from plaudit.trainers import nemo_rl


class EnvironmentReturn(NamedTuple):
    observations: list[dict[str, str]]
    metadata: list[Any]
    next_stop_strings: list[Any]
    rewards: torch.Tensor
    terminateds: torch.Tensor
    answers: list[str | None] | None = None


LOGS = [
    [{"role": "user", "content": "What is 2 + 2?"}, {"role": "assistant", "content": said}]
    for said in (r"\boxed{2+2}<|im_end|>", r"\boxed{5}")
]


@pytest.fixture
def shapes(monkeypatch):
    """The modules of NeMo-RL that the environment asks for."""
    environments, interpreters = {}, {}
    executables = SimpleNamespace(SYSTEM=sys.executable)
    modules = {
        "environments.interfaces": {"EnvironmentReturn": EnvironmentReturn},
        "environments.utils": {"register_env": environments.__setitem__},
        "distributed.virtual_cluster": {"PY_EXECUTABLES": executables},
        "distributed.ray_actor_environment_registry": {"ACTOR_ENVIRONMENT_REGISTRY": interpreters},
    }
    for name in ("nemo_rl", "nemo_rl.environments", "nemo_rl.distributed"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    for name, contents in modules.items():
        module = ModuleType(f"nemo_rl.{name}")
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, f"nemo_rl.{name}", module)
    return environments, interpreters


def test_a_step_gives_tensors(shapes):
    golds = [{"ground_truth": "4"}, {"ground_truth": "4"}]
    returned = nemo_rl.Environment({"recipe": "trl-math"}).step(LOGS, golds)
    assert returned.rewards.tolist() == [1.0, 0.0]
    assert returned.terminateds.tolist() == [1.0, 1.0]
    assert returned.rewards.dtype == torch.float32
    assert returned.answers == ["2+2", "5"]
    assert returned.metadata[0]["plaudit"]["accuracy_reward"] == 1.0


def test_a_response_that_did_not_end_is_worth_nothing():
    environment = nemo_rl.Environment({"recipe": "trl-math"})
    batch = {"rewards": torch.tensor([1.0, 1.0]), "is_end": torch.tensor([1, 0])}
    changed, metrics = environment.global_post_process_and_metrics(batch)
    assert changed["rewards"].tolist() == [1.0, 0.0]
    assert metrics == {"reward": 0.5, "fraction_of_samples_properly_ended": 0.5}


def test_it_is_registered_as_an_actor(shapes):
    environments, interpreters = shapes
    nemo_rl.register()
    assert environments == {"plaudit": nemo_rl.ACTOR}
    assert interpreters == {nemo_rl.ACTOR: sys.executable}
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        module, _, name = nemo_rl.ACTOR.rpartition(".")
        actor_class = getattr(sys.modules[module], name)
        actor = actor_class.options(num_cpus=0).remote({"recipe": "trl-math"})
        batch = {"rewards": torch.ones(2), "is_end": torch.ones(2)}
        _, metrics = ray.get(actor.global_post_process_and_metrics.remote(batch))
        assert metrics["reward"] == 1.0
    finally:
        ray.shutdown()
