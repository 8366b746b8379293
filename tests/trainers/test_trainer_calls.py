"""Each trainer's function, called as the trainer's own source calls it."""

import asyncio
import importlib.util
import inspect
import json
import pickle
from functools import partial
from types import SimpleNamespace

import pytest

from plaudit.recipes import Component, Recipe, load
from plaudit.scores.score import REPORTED_STATUSES
from plaudit.trainers import (
    areal,
    chosen,
    easyr1,
    ms_swift,
    nemo_rl,
    openrlhf,
    skyrl,
    slime,
    trl,
    verifiers,
    verl,
)

OF_ANSWERS = (
    "undecided",
    "exception",
    "several",
    "retracted",
    "unsolved",
    "truncated",
    "not_applicable",
)
RIGHT, WRONG = r"<think>2 + 2</think> \boxed{2+2}", r"\boxed{5}"


@pytest.fixture
def recipe_in_the_environment(monkeypatch):
    monkeypatch.setenv("PLAUDIT_RECIPE", "trl-reasoning")


class TestChoosing:
    def test_an_argument_comes_before_the_environment(self, recipe_in_the_environment):
        assert chosen("trl-math").name == "trl-math"
        assert chosen(load("trl-math")).name == "trl-math"
        assert chosen().name == "trl-reasoning"

    def test_a_file_may_be_chosen(self, tmp_path):
        file = tmp_path / "mine.toml"
        file.write_text('[[rewards]]\nreward = "trl.think_format_reward"')
        assert chosen(file).name == "mine"

    def test_no_choice_is_an_error_that_says_how(self, monkeypatch):
        monkeypatch.delenv("PLAUDIT_RECIPE", raising=False)
        with pytest.raises(ValueError, match=r"pass recipe=….*PLAUDIT_RECIPE.*trl-math"):
            chosen()

    def test_the_environment_says_which_columns_are_read(self, monkeypatch):
        monkeypatch.setenv("PLAUDIT_RECIPE", "math")
        monkeypatch.setenv("PLAUDIT_COLUMNS", "solution=answer, question=problem")
        assert chosen().columns == {"solution": "answer", "question": "problem"}
        given = {"completions": [RIGHT], "answer": ["2+2"], "problem": ["2 + 2?"]}
        assert trl.accuracy(prompts=[""], **given) == [1.0]
        assert chosen(load("trl-math")).columns == {}
        monkeypatch.setenv("PLAUDIT_COLUMNS", "solution")
        with pytest.raises(ValueError, match="PLAUDIT_COLUMNS must be like solution=answer"):
            chosen()


class TestTrl:
    def test_the_command_line_finds_components_by_dotted_path(self, recipe_in_the_environment):
        module = importlib.import_module("plaudit.trainers.trl")
        function = module.think_format_reward
        assert function.__name__ == "think_format_reward"
        assert function(prompts=[""], completions=[RIGHT], solution=["4"]) == [1.0]

    def test_asynchronous_ones_have_their_components_name(self, recipe_in_the_environment):
        function = trl.reasoning_accuracy_reward_async
        assert function.__name__ == "reasoning_accuracy_reward"
        assert inspect.iscoroutinefunction(function)
        again = pickle.loads(pickle.dumps(function))
        assert asyncio.run(again(prompts=[""], completions=[RIGHT], solution=["4"])) == [1.0]

    def test_an_unknown_component_is_named(self, recipe_in_the_environment):
        with pytest.raises(AttributeError, match=r"has no component.*there is total, reas"):
            trl.acuracy_reward  # noqa: B018

    def test_without_a_recipe_there_is_no_component(self, monkeypatch):
        monkeypatch.delenv("PLAUDIT_RECIPE", raising=False)
        with pytest.raises(AttributeError, match="PLAUDIT_RECIPE"):
            trl.accuracy_reward  # noqa: B018
        assert not hasattr(trl, "_private")

    def test_the_total_tells_the_means_of_rows_that_count(self, recipe_in_the_environment):
        told = {}
        given = {"solution": ["4", None, "4"], "log_metric": told.__setitem__}
        assert trl.total([RIGHT, RIGHT, WRONG], **given) == [2.0, 1.0, 0.0]
        assert asyncio.run(trl.total_async([RIGHT, RIGHT, WRONG], **given)) == [2.0, 1.0, 0.0]
        assert told == {
            "trl-reasoning/reasoning_accuracy_reward": 1 / 2,
            "trl-reasoning/think_format_reward": 2 / 3,
            "trl-reasoning/error": 0.0,
            "trl-reasoning/timeout": 0.0,
            "trl-reasoning/limit": 0.0,
            "trl-reasoning/bad_gold": 1 / 3,
            "trl-reasoning/no_answer": 1 / 3,
            **dict.fromkeys((f"trl-reasoning/{name}" for name in OF_ANSWERS), 0.0),
        }

    def test_a_component_without_a_row_that_counts_is_not_told(self, recipe_in_the_environment):
        told = {}
        trl.total([RIGHT], solution=[None], log_metric=told.__setitem__)
        assert "trl-reasoning/think_format_reward" in told
        assert "trl-reasoning/reasoning_accuracy_reward" not in told


class TestVerl:
    def test_every_row_has_the_same_keys(self):
        rows = [
            verl.compute_score("math", text, gold, extra, recipe="trl-reasoning")
            for text, gold, extra in ((RIGHT, "4", {}), (WRONG, None, None), ("", 4, {"index": 1}))
        ]
        assert [row["score"] for row in rows] == [2.0, 0.0, 0.0]
        assert len({tuple(row) for row in rows}) == 1

    def test_both_ways_give_the_same(self):
        given = {"data_source": "m", "solution_str": RIGHT, "ground_truth": "4", "extra_info": {}}
        asked = partial(verl.compute_score_async, recipe="trl-math", reward_router_address="host:1")
        assert asyncio.run(asked(**given)) == verl.compute_score(**given, recipe="trl-math")

    def test_lists_of_unequal_lengths_are_refused(self):
        with pytest.raises(ValueError, match="ground_truths has 0 entries, completions has 1"):
            verl.compute_scores(["m"], ["4"], [], recipe="trl-math")


class TestOpenRLHF:
    def test_a_file_of_one_line_has_the_function(self, tmp_path, recipe_in_the_environment):
        file = tmp_path / "rewards.py"
        file.write_text("from plaudit.trainers.openrlhf import reward_func")
        spec = importlib.util.spec_from_file_location("reward_func", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        prompts = ["What is 2 + 2? ", "What is 2 + 2? "]
        queries = [prompts[0] + RIGHT + "</s>", prompts[1] + WRONG + "</s></s>"]
        given = module.reward_func(queries, prompts, ["4", "4"])
        assert given["rewards"] == [2.0, 0.0]
        assert given["extra_logs"]["think_format_reward"] == [1.0, 0.0]

    def test_lists_of_unequal_lengths_are_refused(self):
        with pytest.raises(ValueError, match="labels has 0 entries"):
            openrlhf.reward_func(["4"], [""], [])


class TestSlime:
    """As `async_rm` and `batched_async_rm` in slime's rm_hub call a custom reward."""

    def sample(self, response=RIGHT, label="4", metadata=None):
        prompt = [{"role": "user", "content": "What is 2 + 2?"}]
        return SimpleNamespace(prompt=prompt, response=response, label=label, metadata=metadata)

    def test_one_sample_gives_one_reward(self, recipe_in_the_environment):
        args = SimpleNamespace(reward_key=None, custom_rm_path="plaudit.trainers.slime.custom_rm")
        assert asyncio.run(slime.custom_rm(args, self.sample())) == 2.0

    def test_samples_give_rewards(self, recipe_in_the_environment):
        args = SimpleNamespace(reward_key="score")
        samples = [self.sample(), self.sample(WRONG, metadata={"level": 1})]
        rewards = asyncio.run(slime.custom_rm(args, samples, evaluation=True))
        assert [reward[args.reward_key] for reward in rewards] == [2.0, 0.0]

    def test_with_a_key_for_evaluation_alone_a_reward_is_a_number_too(
        self, recipe_in_the_environment
    ):
        """slime trains on the reward itself then, and evaluates on `reward[eval_reward_key]`."""
        args = SimpleNamespace(reward_key=None, eval_reward_key="think_format_reward")
        reward = asyncio.run(slime.custom_rm(args, self.sample()))
        sent = pickle.loads(pickle.dumps(reward))
        assert (float(reward), sent, json.dumps(sent)) == (2.0, 2.0, "2.0")
        assert (sent["score"], sent[args.eval_reward_key]) == (2.0, 1.0)


class TestEasyR1:
    """As its function reward managers call a reward file."""

    def test_a_batch(self):
        spec = importlib.util.spec_from_file_location("custom_reward_fn", easyr1.__file__)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert (module.REWARD_NAME, module.REWARD_TYPE) == ("plaudit", "batch")
        reward = partial(module.compute_score, recipe="trl-reasoning")
        inputs = [
            {"response": text, "response_length": 9, "ground_truth": gold}
            for text, gold in ((RIGHT + "<|im_end|>", "4"), (WRONG, 4))
        ]
        scores = reward(inputs)
        assert [score["overall"] for score in scores] == [2.0, 0.0]
        components = ("reasoning_accuracy_reward", "think_format_reward")
        statuses = (f"status_{status}" for status in REPORTED_STATUSES)
        assert set(scores[0]) == {"overall", *components, "skipped", *statuses}

    def test_one_input(self):
        score = easyr1.compute_score({"response": RIGHT, "ground_truth": "4"}, recipe="trl-math")
        assert score["overall"] == 1.0

    def test_no_gold_and_no_input(self):
        assert easyr1.compute_score([{"response": RIGHT}], recipe="trl-math")[0]["skipped"] == 1.0
        assert easyr1.compute_score([], recipe="trl-math") == []

    def test_inputs_without_a_response_are_not_dropped(self):
        recipe = Recipe("format", (Component("", "trl.think_format_reward"),))
        for inputs in ([{"text": RIGHT}] * 2, [{"response": RIGHT}, {"text": RIGHT}]):
            with pytest.raises(TypeError, match=r"response . must be text, got NoneType: None"):
                easyr1.compute_score(inputs, recipe=recipe)


class TestAReaL:
    def test_a_row_of_the_dataset_comes_as_keywords(self, recipe_in_the_environment):
        data = {"messages": [], "solution": {"answer": "4"}, "index": 3}
        assert areal.reward_fn("2 + 2?", RIGHT + "<|im_end|>", [1], [2], **data) == 2.0
        assert areal.reward_fn("2 + 2?", RIGHT, [1], [2], recipe="trl-math") == 0.0


class TestMsSwift:
    """As `compute_rewards_per_func` calls reward classes."""

    def test_each_component_is_a_class_of_its_own_name(self):
        classes = ms_swift.reward_classes(load("trl-reasoning"))
        assert [made.__name__ for made in classes.values()] == list(classes)
        accuracy, form = (made() for made in classes.values())
        given = {"solution": ["4", None], "trainer_state": None, "messages": [[], []]}
        # ms-swift takes only numbers: a row that is skipped gets the mean of its group
        assert accuracy([RIGHT + "<|im_end|>", RIGHT], **given) == [1.0, 1.0]
        assert form([RIGHT, WRONG], **given) == [1.0, 0.0]

    def test_asynchronous_ones_are_seen_to_be(self):
        [made] = ms_swift.reward_classes(load("trl-math"), asynchronous=True).values()
        assert inspect.iscoroutinefunction(made().__call__)
        message = [{"role": "assistant", "content": RIGHT}]
        assert asyncio.run(made()([message], solution=[[4]])) == [1.0]


class TestVerifiers:
    def test_a_rubrics_functions_take_one_rollout(self):
        accuracy, form = verifiers.reward_funcs("trl-reasoning")
        row = {"prompt": "2 + 2?", "answer": "4", "info": {"level": 1}, "state": {}, "task": None}
        message = SimpleNamespace(model_dump=lambda: {"role": "assistant", "content": RIGHT})
        for completion in (RIGHT + "</s>", [{"role": "assistant", "content": RIGHT}], [message]):
            assert asyncio.run(accuracy(completion=completion, **row)) == 1.0
            assert asyncio.run(form(completion=completion, **row)) == 1.0
        assert accuracy.__name__ == "reasoning_accuracy_reward"

    def test_a_row_without_a_gold_is_worth_nothing(self):
        [accuracy] = verifiers.reward_funcs("trl-math")
        assert asyncio.run(accuracy(prompt="", completion=RIGHT, answer="", info="{}")) == 0.0

    def test_a_wrong_completion_is_an_error(self):
        [accuracy] = verifiers.reward_funcs("trl-math")
        with pytest.raises(TypeError, match="completion 0 must be text or a list of messages"):
            asyncio.run(accuracy(completion=None, answer="4"))


class TestSkyRL:
    def test_the_dataset_row_comes_as_extras(self):
        extras = {
            "reward_spec": {"method": "rule", "ground_truth": "4"},
            "extra_info": {"problem": "2 + 2?"},
            "data_source": "math",
        }
        batch = skyrl.batch_of(RIGHT + "<|im_end|>", extras, prompt=[])
        assert batch.columns["problem"] == ["2 + 2?"]
        [row] = batch.scores(load("trl-math"))
        output = skyrl.step_output(row)
        assert (output["reward"], output["done"]) == (1.0, True)
        assert output["metadata"]["status"] == "scored"


class TestNemoRL:
    """As `EnvironmentInterface.step` in NeMo-RL's source is called."""

    def test_a_step(self):
        logs = [
            [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": RIGHT}],
            [{"role": "assistant", "content": RIGHT}, {"role": "assistant", "content": WRONG}],
            [{"role": "user", "content": "2 + 2?"}],
        ]
        fields = nemo_rl.step_fields(load("trl-math"), logs, [{"ground_truth": "4"}] * 2 + [None])
        assert fields["rewards"] == [1.0, 0.0, 0.0]
        assert fields["terminateds"] == [1.0, 1.0, 1.0]
        assert fields["answers"] == ["2+2", "5", None]
        assert fields["metadata"][0]["plaudit"]["status"] == "scored"
        assert fields["metadata"][2] is None

    def test_components_are_what_each_adds(self):
        components = (
            Component("right", "trl.accuracy_reward"),
            Component("form", "trl.think_format_reward", weight=-0.5, gate="right"),
        )
        recipe = Recipe("weighted", components)
        logs = [[{"role": "assistant", "content": said}] for said in (RIGHT, WRONG, "<think>")]
        golds = [{"ground_truth": "4"}] * 3
        totals = nemo_rl.step_fields(recipe, logs, golds)["rewards"]
        rewards = nemo_rl.step_fields(recipe, logs, golds, components=True)["rewards"]
        assert rewards == {"reward/right": [1.0, 0.0, 0.0], "reward/form": [-0.5, 0.0, 0.0]}
        assert [sum(row) for row in zip(*rewards.values(), strict=True)] == totals
        assert nemo_rl.gdpo_weights(recipe) == [0.5, 1.0]

    def test_content_that_is_not_text_is_read_as_messages_are(self):
        asked = [{"type": "image", "image": "kite.png"}, {"type": "text", "text": "2 + 2?"}]
        logs = [
            [{"role": "user", "content": asked}, {"role": "assistant", "content": None}],
            [{"role": "assistant", "content": [{"type": "text", "text": "4</s>"}]}],
        ]
        batch = nemo_rl.batch_of(logs, [None, None])
        assert batch.completions == ["", "4"]
        assert batch.columns["prompts"] == ["2 + 2?", ""]
        with pytest.raises(TypeError, match="completion 0: a message's content must be text"):
            nemo_rl.batch_of([[{"role": "assistant", "content": 4}]], [None])

    def test_there_is_no_other_environment(self):
        with pytest.raises(AttributeError, match="MathEnvironment"):
            nemo_rl.MathEnvironment  # noqa: B018
