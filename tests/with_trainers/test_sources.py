"""EasyR1, slime, NeMo-RL and NeMo-Gym, which PyPI does not have, run for real from their source.

    PLAUDIT_TRAINER_SOURCES=/path/to/folder make test-trainers

The folder has clones called EasyR1, slime, RL and Gym. Each runs in a process of its own, since
EasyR1 calls its package verl, as verl does.
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

# The resources server that docs/trainers/nemo_gym.md shows, run by NeMo-Gym's own classes.
NEMO_GYM = r"""
import os, re, socket, sys, threading, time
from pathlib import Path
from unittest.mock import MagicMock
import httpx, uvicorn

sys.modules["wandb"] = MagicMock()  # a tracker of experiments has no part in this
from nemo_gym.base_resources_server import BaseResourcesServerConfig
from nemo_gym.server_utils import ServerClient

os.environ["PLAUDIT_RECIPE"] = "trl-reasoning"
page = Path(os.environ["PLAUDIT_PAGE"]).read_text()
(shown,) = [code for code in re.findall("```python\n(.*?)```", page, re.S) if "Server)" in code]
exec(shown)

config = BaseResourcesServerConfig(host="127.0.0.1", port=0, entrypoint="", name="plaudit")
client = ServerClient.model_construct()  # asks other servers of NeMo-Gym: there are none
server = uvicorn.Server(
    uvicorn.Config(PlauditServer(config=config, server_client=client).setup_webserver())
)
listener = socket.create_server(("127.0.0.1", 0))
thread = threading.Thread(target=server.run, args=([listener],))
thread.start()
try:
    while not server.started:
        time.sleep(0.01)
    message = {
        "id": "m", "type": "message", "role": "assistant", "status": "completed",
        "content": [
            {"type": "output_text", "text": "<think>a</think> \\boxed{4}", "annotations": []}
        ],
    }
    body = {
        "responses_create_params": {"input": [{"role": "user", "content": "2 + 2?"}]},
        "response": {
            "id": "r", "created_at": 0, "model": "m", "object": "response", "output": [message],
            "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
        },
        "expected_answer": "4",
    }
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/verify"
    answer = httpx.post(url, json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    given = answer.json()
    components = {"reasoning_accuracy_reward": 1.0, "think_format_reward": 1.0}
    assert (given["reward"], given["reward_components"]) == (2.0, components), given
    assert given["expected_answer"] == "4" and given["mask_sample"] is False, given
finally:
    server.should_exit = True
    thread.join()
"""


@pytest.mark.parametrize(
    ("name", "script"),
    [("EasyR1", EASYR1), ("slime", SLIME), ("RL", NEMO_RL), ("Gym", NEMO_GYM)],
    ids=["EasyR1", "slime", "NeMo-RL", "NeMo-Gym"],
)
def test_its_own_code_takes_the_rewards(name, script):
    source = Path(SOURCES) / name
    if not SOURCES or not source.is_dir():
        pytest.skip(f"PLAUDIT_TRAINER_SOURCES names no folder with {name} in it")
    paths = [str(source), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment["PLAUDIT_PAGE"] = str(HERE.parents[1] / "docs" / "trainers" / "nemo_gym.md")
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
