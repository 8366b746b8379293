"""EasyR1, slime and NeMo-RL, of which PyPI has no package, run for real where their source is.

    PLAUDIT_TRAINER_SOURCES=/path/to/folder make test-trainers

The folder has clones called EasyR1, slime and RL. Each runs in a process of its own, since EasyR1
calls its package verl, as verl does.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = os.environ.get("PLAUDIT_TRAINER_SOURCES", "")
HERE = Path(__file__).parent

EASYR1 = r"""
import numpy as np, torch
from verl.protocol import DataProto
from verl.workers.reward import AutoRewardManager, RewardConfig
from plaudit.trainers import easyr1

class Tokenizer:
    def decode(self, ids, skip_special_tokens):
        return {4: "So \\boxed{4}.<|im_end|>", 5: "\\boxed{5}"}[int(ids[0])]

config = RewardConfig(
    reward_function=easyr1.__file__ + ":compute_score",
    reward_function_kwargs={"recipe": "trl-math"},
)
config.post_init()
data = DataProto.from_dict(
    tensors={
        "responses": torch.tensor([[4, 0], [5, 0]]),
        "response_mask": torch.tensor([[1, 0], [1, 0]]),
    },
    non_tensors={"ground_truth": np.array(["4", "4"], dtype=object)},
)
tensor, metrics = AutoRewardManager(config, Tokenizer()).compute_reward(data)
assert tensor.tolist() == [[1.0, 0.0], [0.0, 0.0]], tensor
assert metrics["accuracy_reward"] == [1.0, 0.0], metrics
"""

SLIME = r"""
import asyncio, os
from types import SimpleNamespace
from slime.rollout.rm_hub import async_rm, batched_async_rm
from slime.utils.types import Sample

os.environ["PLAUDIT_RECIPE"] = "trl-math"
samples = [
    Sample(prompt="2 + 2?", response=text, label="4") for text in ("\\boxed{4}<|im_end|>", "5")
]
def args(reward_key, eval_reward_key):
    return SimpleNamespace(
        custom_rm_path="plaudit.trainers.slime.custom_rm", rm_type=None,
        reward_key=reward_key, eval_reward_key=eval_reward_key,
    )
for keys in ((None, None), ("score", "score"), (None, "accuracy_reward")):
    given = args(*keys)
    for sample, reward in zip(samples, asyncio.run(batched_async_rm(given, samples))):
        sample.reward = reward
    assert [float(sample.get_reward_value(given)) for sample in samples] == [1.0, 0.0], keys
    samples[0].reward = asyncio.run(async_rm(given, samples[0]))
    if given.eval_reward_key:  # as slime's evaluation takes it
        assert samples[0].reward[given.eval_reward_key] == 1.0, keys
"""

NEMO_RL = r"""
import sys
from types import ModuleType
import torch

# What writes to trackers of experiments wants them all installed, and has no part in this.
trackers = sys.modules["nemo_rl.utils.logger"] = ModuleType("nemo_rl.utils.logger")
trackers.Logger = object

from nemo_rl.algorithms.advantage_estimator import AdvEstimatorConfig, GDPOAdvantageEstimator
from nemo_rl.environments.interfaces import EnvironmentReturn
from nemo_rl.environments.nemo_gym import validate_reward_components_match_scalar
from nemo_rl.environments.utils import ENV_REGISTRY
from plaudit.recipes import load
from plaudit.trainers import nemo_gym, nemo_rl

nemo_rl.register()
assert ENV_REGISTRY["plaudit"]["actor_class_fqn"] == nemo_rl.ACTOR

said = ["<think>a</think> \\boxed{4}", "\\boxed{4}", "<think>a</think> 5", "5"]
logs = [[{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": s}] for s in said]
golds = [{"ground_truth": "4"}] * len(said)
recipe = "trl-reasoning"
totals = nemo_rl.Environment({"recipe": recipe}).step(logs, golds)
environment = nemo_rl.Environment({"recipe": recipe, "components": True})
each = environment.step(logs, golds)
assert isinstance(each, EnvironmentReturn)
assert torch.equal(sum(each.rewards.values()), totals.rewards), (each.rewards, totals.rewards)

batch = {**each.rewards, "is_end": torch.tensor([1, 1, 1, 0])}
batch, metrics = environment.global_post_process_and_metrics(batch)
config = AdvEstimatorConfig(
    name="gdpo", use_leave_one_out_baseline=False, normalize_rewards=True,
    reward_weights=nemo_rl.gdpo_weights(recipe),
)
advantages = GDPOAdvantageEstimator(config, None).compute_advantage(
    prompt_ids=torch.zeros(4, 1, dtype=torch.long), rewards=None, mask=torch.ones(4, 3),
    repeated_batch=batch,
)
assert advantages[0, 0] == advantages.max() and advantages[3, 0] == advantages.min(), advantages

message = {"type": "message", "content": [{"type": "output_text", "text": said[0]}]}
asked = {"responses_create_params": {"input": "2 + 2?"}, "answer": "4"}
body = {**asked, "response": {"output": [message]}}
reply = nemo_gym.reply_of(nemo_gym.batch_of(body).scores(load(recipe)), body)
validate_reward_components_match_scalar([reply])
"""


@pytest.mark.parametrize(
    ("name", "script"),
    [("EasyR1", EASYR1), ("slime", SLIME), ("RL", NEMO_RL)],
    ids=["EasyR1", "slime", "NeMo-RL"],
)
def test_its_own_code_takes_the_rewards(name, script):
    source = Path(SOURCES) / name
    if not SOURCES or not source.is_dir():
        pytest.skip(f"PLAUDIT_TRAINER_SOURCES names no folder with {name} in it")
    paths = [str(source), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
