"""verl's own code loads the reward by `pkg://` and calls it."""

import asyncio
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import verl
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from verl import DataProto
from verl.experimental.reward_loop.reward_loop import migrate_legacy_reward_impl
from verl.trainer.ppo.reward import get_custom_reward_fn, load_reward_manager

from plaudit.runs import open_recorded
from plaudit.scores.score import REPORTED_STATUSES

KEYS = ["score", "status", "accuracy_reward", "skipped"]
STATUSES = [f"status_{status}" for status in REPORTED_STATUSES]


def config(name="compute_score", **reward_kwargs):
    function = {"path": "pkg://plaudit.trainers.verl", "name": name, "reward_kwargs": reward_kwargs}
    manager = {"source": "register", "name": "naive"}
    return OmegaConf.create(
        {"reward": {"custom_reward_function": function, "reward_manager": manager}}
    )


def batch(tokenizer, responses, golds):
    """Rows as a rollout of verl leaves them, padded to one length."""
    ids = [tokenizer("|".join(words))["input_ids"] for words in responses]
    length = max(len(row) for row in ids)
    pad = tokenizer.pad_token_id
    padded = torch.tensor([row + [pad] * (length - len(row)) for row in ids])
    prompts = torch.full((len(ids), 2), tokenizer.eos_token_id)
    return DataProto.from_dict(
        tensors={
            "prompts": prompts,
            "responses": padded,
            "attention_mask": torch.cat([torch.ones_like(prompts), (padded != pad).long()], dim=1),
        },
        non_tensors={
            "data_source": np.array(["math"] * len(ids), dtype=object),
            "reward_model": np.array([{"ground_truth": gold} for gold in golds], dtype=object),
            "extra_info": np.array([{} for _ in ids], dtype=object),
        },
    )


@pytest.mark.parametrize("gold", ["4", 4, np.int64(4), ["4"], {"target": 4}, '{"answer": "4"}'])
def test_the_function_is_loaded_and_gives_its_dict(gold):
    compute_score = get_custom_reward_fn(config(recipe="trl-math"))
    result = compute_score(
        data_source="math", solution_str=r"So \boxed{2+2}.", ground_truth=gold, extra_info={}
    )
    assert [result[key] for key in KEYS] == [1.0, "scored", 1.0, 0.0]


@pytest.mark.parametrize("name", ["compute_score", "compute_score_async"])
def test_a_reward_manager_scores_a_rollout(name, tokenizer):
    manager = load_reward_manager(config(name, recipe="trl-math"), tokenizer)
    data = batch(
        tokenizer,
        responses=[["so", r"\boxed{4}"], [r"\boxed{5}", "<eos>"], ["so", "so", "so", r"\boxed{5}"]],
        golds=["4", "4", None],
    )

    async def scored():
        manager.loop = asyncio.get_running_loop()
        rows = [manager.run_single(data[row : row + 1]) for row in range(len(data))]
        return await asyncio.gather(*rows)

    rows = asyncio.run(scored())
    assert [row["reward_score"] for row in rows] == [1.0, 0.0, 0.0]
    assert [row["reward_extra_info"]["status"] for row in rows] == ["scored", "scored", "bad_gold"]
    assert [list(row["reward_extra_info"]) for row in rows] == [[*KEYS, *STATUSES]] * 3


def test_the_batch_manager_takes_the_function_of_lists(tokenizer):
    from verl.workers.reward_manager.batch import BatchRewardManager

    compute_scores = get_custom_reward_fn(config("compute_scores", recipe="trl-math"))
    manager = BatchRewardManager(tokenizer, num_examine=0, compute_score=compute_scores)
    data = batch(tokenizer, [["so", r"\boxed{4}"], [r"\boxed{5}"]], ["4", "4"])
    told = manager(data, return_dict=True)
    assert told["reward_tensor"].tolist() == [[0.0, 1.0], [0.0, 0.0]]
    assert told["reward_extra_info"]["accuracy_reward"] == [1.0, 0.0]


def test_without_a_recipe_the_error_says_how_to_choose_one():
    compute_score = get_custom_reward_fn(config())
    with pytest.raises(ValueError, match="PLAUDIT_RECIPE"):
        compute_score(data_source="", solution_str="4", ground_truth="4", extra_info=None)


@pytest.mark.parametrize("root", ["reward.", ""], ids=["now", "formerly"])
def test_the_lines_of_the_documentation_are_verls_own(root):
    """As the command line of `verl.trainer.main_ppo` reads them."""
    function = f"{root}custom_reward_function"
    lines = [
        f"{function}.path=pkg://plaudit.trainers.verl",
        f"{function}.name=compute_score",
        f"+{function}.reward_kwargs.recipe=trl-math",
    ]
    folder = Path(verl.__file__).parent / "trainer" / "config"
    with initialize_config_dir(config_dir=str(folder), version_base=None):
        read = migrate_legacy_reward_impl(compose("ppo_trainer", overrides=lines))
    compute_score = get_custom_reward_fn(read)
    assert compute_score("math", r"\boxed{4}", "4")["score"] == 1.0


IN_RAY = """
import os, ray, sys
from plaudit.runs import open_recorded
os.environ["PLAUDIT_RECORD"] = sys.argv[1]
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)

@ray.remote
class Worker:
    def score(self, rows):
        from plaudit.trainers.verl import compute_score
        scored = (compute_score("", "4", "4", {"index": n}, "trl-math") for n in range(rows))
        return [row["status"] for row in scored]

workers = [Worker.remote() for _ in range(2)]
assert ray.get([worker.score.remote(50) for worker in workers]) == [["no_answer"] * 50] * 2
ray.shutdown()
"""


def test_no_row_is_lost_when_ray_shuts_down(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", IN_RAY, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    run = open_recorded(tmp_path)
    run.refresh()
    assert run.rows == 100
