"""OpenRLHF's own executor calls the reward from a file, and over HTTP."""

import asyncio
from types import SimpleNamespace

import pytest
from openrlhf.utils.agent import SingleTurnAgentExecutor

from plaudit.recipes import load
from plaudit.serve import serving

PROMPT = "What is 2 + 2?"


class Engine:
    """A model that says what it is told to say."""

    def __init__(self, ids):
        self.ids = ids

    async def generate(self, prompt_ids, parameters, multi_modal_data=None):
        said = SimpleNamespace(token_ids=self.ids, finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[said])


def executed(executor, tokenizer, words, label):
    ids = tokenizer("|".join(words))["input_ids"]
    parameters = SimpleNamespace(max_tokens=8, logprobs=None)
    return asyncio.run(executor.execute(PROMPT, label, parameters, 32, tokenizer, Engine(ids)))


@pytest.fixture
def by_file(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAUDIT_RECIPE", "trl-math")
    file = tmp_path / "rewards.py"
    file.write_text("from plaudit.trainers.openrlhf import reward_func\n")
    return SingleTurnAgentExecutor(str(file))


@pytest.fixture(scope="module")
def by_http():
    with serving(load("trl-math")) as url:
        yield SingleTurnAgentExecutor(f"{url}/openrlhf")


@pytest.mark.parametrize("way", ["by_file", "by_http"])
@pytest.mark.parametrize(
    ("words", "label", "reward", "skipped"),
    [
        (["so", r"\boxed{2+2}", "<eos>"], "4", 1.0, 0.0),
        (["so", r"\boxed{5}", "<eos>"], "4", 0.0, 0.0),
        (["so", r"\boxed{5}"], None, 0.0, 1.0),
    ],
)
def test_the_executor_gets_its_rewards(way, words, label, reward, skipped, request, tokenizer):
    output = executed(request.getfixturevalue(way), tokenizer, words, label)
    assert output["reward"] == [reward]
    assert output["scores"] == [reward]
    logs = output["extra_logs"]
    assert (logs["accuracy_reward"], logs["skipped"]) == ([reward], [skipped])
