"""TRL's OpenRewardSpec trains on the tasks of `plaudit serve`, with OpenReward's own client."""

import json
import os
import warnings

import pytest
import torch
from test_failures import trained
from tiny_models import model_of
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from plaudit.recipes import load
from served import served

os.environ["OPENREWARD_DISABLE_UPDATE_CHECK"] = "1"
with warnings.catch_warnings(action="ignore"):  # the module says that it is experimental
    from trl.experimental.openreward import OpenRewardSpec

TOKEN = "sesame"
TASKS = [
    {"prompt": "What is 2 + 2?", "answer": "4"},
    {"prompt": "What is 2 + 3?", "answer": "5"},
    {"prompt": "What is love?", "answer": None},
]
CALL = '<tool_call>{{"name": "submit", "arguments": {{"answer": "{}"}}}}</tool_call>'
WORDS = ["<pad>", "<eos>", "<unk>", "user", "assistant", CALL.format(4), CALL.format(5), "so"]
TEMPLATE = (
    "{% for m in messages %}{{ m.role }}|{{ m.content or '' }}|"
    "{% for c in m.tool_calls or [] %}"
    "<tool_call>{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}"
    "</tool_call>|{% endfor %}{% endfor %}{% if add_generation_prompt %}assistant|{% endif %}"
)
RESPONSE = {
    "type": "object",
    "properties": {
        "role": {"const": "assistant"},
        "content": {"type": "string", "x-regex": r"^((?:(?!<tool_call>)[\s\S])*)"},
        "tool_calls": {
            "type": "array",
            "x-regex-iterator": r"<tool_call>(.+?)</tool_call>",
            "items": {
                "x-parser": "json",
                "x-parser-args": {"transform": "{type: 'function', function: @}"},
                "type": "object",
            },
        },
    },
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    table = folder / "train.jsonl"
    table.write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    with served(folder, "--tasks", str(table), recipe="math", PLAUDIT_TOKEN=TOKEN) as server:
        yield server


@pytest.fixture
def spec(server, monkeypatch):
    monkeypatch.setenv("OPENREWARD_API_URL", server.url)
    monkeypatch.setenv("OPENREWARD_SESSION_URL", server.url)
    return OpenRewardSpec(server.url, api_key=TOKEN)


@pytest.fixture
def environment(spec):
    environment = spec.environment_factory()
    yield environment
    environment._close()


def test_tasks_are_listed_without_golds(spec):
    assert spec.train_dataset.column_names == ["prompt", "task_index"]
    assert spec.train_dataset["task_index"] == [0, 1, 2]


def test_a_rollout_gets_the_prompt_and_the_reward(spec, environment):
    assert environment.reset(task_index=0) == "What is 2 + 2?"
    assert environment.submit(answer="It is 4.") == "The answer is submitted."
    assert (environment.reward, environment.finished) == (1.0, True)
    assert environment.metadata == [{"status": "scored", "components": {"accuracy": 1.0}}]
    assert "an answer was submitted already" in environment.submit(answer="It is 5.")
    assert spec.reward_funcs(environments=[environment]) == [1.0]
    assert environment.reset(task_index=0)
    environment.submit(answer="It is 5.")
    assert spec.reward_funcs(environments=[environment]) == [0.0]


def test_what_is_skipped_or_never_submitted_has_no_reward(spec, environment):
    environment.reset(task_index=2)
    assert spec.reward_funcs(environments=[environment]) == [None]
    environment.submit(answer="5")
    assert spec.reward_funcs(environments=[environment]) == [None]
    assert environment.metadata[0]["status"] == "bad_gold"


FAILING = """
def fails(completions, **kwargs):
    raise RuntimeError(f"the secret of {completions[0]}")
"""


def test_a_reward_that_fails_ends_the_session_without_a_reward(tmp_path, monkeypatch):
    table, recipe = tmp_path / "train.jsonl", tmp_path / "failing.toml"
    table.write_text('{"prompt": "Say something."}\n')
    recipe.write_text('[[rewards]]\nreward = "failing:fails"\n')
    (tmp_path / "failing.py").write_text(FAILING)
    with served(tmp_path, "--tasks", str(table), recipe=str(recipe)) as server:
        monkeypatch.setenv("OPENREWARD_API_URL", server.url)
        monkeypatch.setenv("OPENREWARD_SESSION_URL", server.url)
        spec = OpenRewardSpec(server.url)
        environment = spec.environment_factory()
        environment.reset(task_index=0)
        said = environment.submit(answer="mine")
        assert "not scored: the server's log says why" in said
        assert "secret" not in said
        assert "session terminated" in environment.submit(answer="mine")
        assert spec.reward_funcs(environments=[environment]) == [None]
        environment._close()


def test_a_wrong_key_is_refused(server, spec):
    wrong = OpenRewardSpec(server.url, api_key="wrong")
    with pytest.raises(Exception, match="the token is wrong"):
        wrong.train_dataset  # noqa: B018


def tokenizer():
    """A tokenizer for which a call of the tool is one word."""
    vocabulary = {
        word: number for number, word in enumerate([*WORDS, *(t["prompt"] for t in TASKS)])
    }
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Split("|", "removed")
    words.decoder = decoders.Fuse()
    made = PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )
    made.chat_template, made.response_schema = TEMPLATE, RESPONSE
    return made


def test_grpo_trains_on_it(spec, server, tmp_path):
    spec = OpenRewardSpec(server.url, api_key=TOKEN, indices=[0, 1])
    submissions = []

    def reward(environments, **kwargs):
        submissions.extend(list(environment.rewards) for environment in environments)
        return spec.reward_funcs(environments=environments)

    words = tokenizer()
    advantages, values = trained(
        load("math"),
        model_of(words),
        words,
        spec.train_dataset,
        tmp_path,
        functions=[reward],
        arguments={"environment_factory": spec.environment_factory},
    )
    rewards = [None if torch.isnan(value) else value.item() for value in values[:, 0]]
    assert rewards == [one[0] if one else None for one in submissions]  # the first counts
    assert set(rewards) == {0.0, 1.0, None}
    skipped = torch.isnan(values[:, 0])
    assert (advantages[skipped] == 0).all()
    assert not torch.isnan(advantages).any()
    assert (advantages != 0).any()
