"""ms-swift finds the classes that a plugin registers, and scores with them."""

import os
from types import SimpleNamespace

import pytest
import torch
from swift.rewards import ORM, AsyncORM, orms
from swift.rl_core.data import GRPOSample
from swift.rl_core.grpo_algorithm import score_completions
from swift.rlhf_trainers.utils import resolve_reward_funcs
from swift.utils.utils import import_external_file

from plaudit.runs import finish
from plaudit.tables import open_scored
from plaudit.trainers.ms_swift import register

NAMES = ["plaudit_reasoning_accuracy_reward", "plaudit_think_format_reward"]


@pytest.fixture(params=[False, True], ids=["plain", "asynchronous"])
def plugged(request, tmp_path):
    """The kind of class that a plugin registered."""
    plugin = tmp_path / "plugin.py"
    plugin.write_text(
        "from plaudit.trainers.ms_swift import register\n"
        f"register('trl-reasoning', asynchronous={request.param})\n"
    )
    known = dict(orms)
    import_external_file(os.fspath(plugin))
    yield AsyncORM if request.param else ORM
    orms.clear()
    orms.update(known)


def test_the_classes_are_found_and_score(plugged):
    functions, names = resolve_reward_funcs(list(NAMES), args=object())
    assert names == NAMES
    assert all(isinstance(function, plugged) for function in functions)
    replies = [
        r"<think>2 + 2</think> \boxed{4}<|im_end|>",
        r"<think>2 + 2</think> \boxed{5}",
        r"<think>2 + 2</think> \boxed{4}",
    ]
    samples = [sample(reply, gold) for reply, gold in zip(replies, ["4", 4, None], strict=True)]
    rewards = score_completions(samples, functions, None, False, torch.device("cpu"))
    assert rewards[:, 1].tolist() == [1.0, 1.0, 1.0]
    assert rewards[:2, 0].tolist() == [1.0, 0.0]
    assert rewards[2, 0] == rewards[:2, 0].mean()  # no gold: the mean of its group


def test_no_class_of_ms_swift_is_replaced(plugged):
    assert {"accuracy", "format", "math", *NAMES} <= set(orms)


def sample(reply, gold):
    messages = [
        {"role": "user", "content": "What is 2 + 2?"},
        {"role": "assistant", "content": reply},
    ]
    return GRPOSample.from_row({"messages": messages, "solution": gold})


def test_what_ms_swift_passes_is_recorded(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAUDIT_RECORD", str(tmp_path))
    known = dict(orms)
    names = register("trl-math")
    try:
        functions, _ = resolve_reward_funcs(list(names), args=object())
        samples = [sample(r"\boxed{4}", "4") for _ in range(4)]
        for number, one in enumerate(samples):
            one.prompt_id = f"prompt_{number // 2}"
            one.response_token_ids = [[1, 2, 3]]
        state = SimpleNamespace(global_step=6)
        score_completions(samples, functions, None, False, torch.device("cpu"), state)
    finally:
        orms.clear()
        orms.update(known)
    finish(tmp_path)
    names = ["step", "prompt", "tokens", "group_id"]
    [(_, rows)] = open_scored(tmp_path).batches(names)
    steps, prompts, tokens, groups = (rows[name].to_pylist() for name in names)
    assert (set(steps), set(tokens)) == ({7}, {3})
    assert [groups.count(group) for group in dict.fromkeys(groups)] == [2, 2]
    assert all("What is 2 + 2?" in prompt and "boxed" not in prompt for prompt in prompts)
