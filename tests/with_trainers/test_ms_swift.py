"""ms-swift finds the classes that a plugin registers, and scores with them."""

import math
import os

import pytest
import torch
from swift.rewards import ORM, AsyncORM, orms
from swift.rl_core.data import GRPOSample
from swift.rl_core.grpo_algorithm import score_completions
from swift.rlhf_trainers.utils import resolve_reward_funcs
from swift.utils.utils import import_external_file

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
    assert math.isnan(rewards[2, 0])  # no gold: the row is skipped


def test_no_class_of_ms_swift_is_replaced(plugged):
    assert {"accuracy", "format", "math", *NAMES} <= set(orms)


def sample(reply, gold):
    messages = [
        {"role": "user", "content": "What is 2 + 2?"},
        {"role": "assistant", "content": reply},
    ]
    return GRPOSample.from_row({"messages": messages, "solution": gold})
