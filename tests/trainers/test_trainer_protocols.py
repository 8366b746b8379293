"""Remote protocols: a body is scored as its trainer means it, or refused with a sentence."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.recipes import Component, Recipe, load
from plaudit.trainers import nemo_gym, openrlhf, slime, verl

MATH = load("trl-math")
RIGHT, WRONG = r"So \boxed{2+2}.", r"So \boxed{5}."
STATUSES = ("error", "timeout", "limit", "bad_gold", "truncated", "no_answer")
SCORED = {f"status_{name}": 0.0 for name in STATUSES}


def asked(trainer, body, recipe=MATH, reply="reply_of"):
    """What a server would answer, by way of JSON."""
    body = json.loads(json.dumps(body))
    scores = trainer.batch_of(body).scores(recipe)
    return json.loads(json.dumps(getattr(trainer, reply)(scores, body)))


def test_openrlhf_sends_prompt_and_response_in_one_text():
    prompts = ["<|im_start|>user\nPut it into \\boxed{4}.<|im_end|>\n<|im_start|>assistant\n"] * 3
    body = {
        "query": [prompts[0] + RIGHT + "<|im_end|>", prompts[1] + WRONG, prompts[2] + "four"],
        "prompts": prompts,
        "labels": ["4", 4, ["4"]],
    }
    assert asked(openrlhf, body) == {
        "rewards": [1.0, 0.0, 0.0],
        "scores": [1.0, 0.0, 0.0],
        "extra_logs": {
            "accuracy_reward": [1.0, 0.0, 0.0],
            "skipped": [0.0, 0.0, 0.0],
            **{name: [0.0, 0.0, 0.0] for name in SCORED},
            "status_no_answer": [0.0, 0.0, 1.0],
        },
    }


@pytest.mark.parametrize("body", [{"query": [RIGHT]}, {"query": [RIGHT], "labels": None}])
def test_openrlhf_may_send_no_labels(body):
    logs = asked(openrlhf, body)["extra_logs"]
    assert (logs["accuracy_reward"], logs["skipped"]) == ([0.0], [1.0])
    assert (logs["status_bad_gold"], logs["status_no_answer"]) == ([1.0], [0.0])


def test_openrlhf_may_send_nothing_to_score():
    nothing = {"rewards": [], "scores": [], "extra_logs": {}}
    assert asked(openrlhf, {"query": [], "prompts": [], "labels": []}) == nothing


@pytest.mark.parametrize("prompt", ["What is 2 + 2?", [{"role": "user", "content": "2 + 2?"}]])
def test_slime_sends_one_sample_and_gets_one_number(prompt):
    body = {"prompt": prompt, "response": RIGHT + "<|user|>", "label": "4"}
    assert asked(slime, body) == 1.0
    details = {"score": 1.0, "accuracy_reward": 1.0, "skipped": 0.0, **SCORED}
    assert asked(slime, body, reply="detailed_reply_of") == details


def test_slime_metadata_are_columns():
    recipe = Recipe("sourced", (Component("a", "trl.accuracy_reward"),), {"solution": "gold_text"})
    body = {"prompt": "", "response": RIGHT, "label": None, "metadata": {"gold_text": "4"}}
    assert asked(slime, body, recipe) == 1.0


def test_verl_takes_a_row_or_lists_of_them():
    row = {"data_source": "math", "solution_str": RIGHT, "ground_truth": "4", "extra_info": {}}
    result = {"score": 1.0, "status": "scored", "accuracy_reward": 1.0, "skipped": 0.0, **SCORED}
    assert asked(verl, row) == result
    rows = {
        "data_sources": ["math"],
        "solution_strs": [RIGHT],
        "ground_truths": ["4"],
        "extra_infos": [None],
    }
    assert asked(verl, rows) == [result]
    assert asked(verl, {"solution_strs": []}) == []


def output(*texts, **extra):
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []} for text in texts],
        **extra,
    }


def gym_body(items, **fields):
    return {
        "responses_create_params": {"input": [{"role": "user", "content": "What is 2 + 2?"}]},
        "response": {"id": "resp_1", "object": "response", "output": items},
        **fields,
    }


@pytest.mark.parametrize(
    "items",
    [
        [output(RIGHT)],
        [output("So ", r"\boxed{4}.")],
        [{"type": "reasoning", "summary": []}, output(RIGHT)],
        [output(WRONG), {"type": "function_call_output", "output": "4"}, output(RIGHT)],
        [output(RIGHT), {"type": "function_call", "name": "python", "arguments": "{}"}],
        [{"role": "assistant", "content": RIGHT}],
    ],
)
@pytest.mark.parametrize(
    "fields", [{"expected_answer": "4"}, {"verifier_metadata": {"answer": 4, "level": 1}}]
)
def test_nemo_gym_gets_its_request_back_with_the_reward(items, fields):
    body = gym_body(items, **fields)
    reply = asked(nemo_gym, body)
    assert {name: reply[name] for name in body} == body
    assert reply["reward"] == 1.0
    assert reply["reward_components"] == {"accuracy_reward": 1.0}
    assert (reply["mask_sample"], reply["failure_reason"]) == (False, None)


@pytest.mark.parametrize("said", [RIGHT, WRONG, f"<think>{RIGHT}</think>{RIGHT}"])
def test_nemo_gym_gets_components_that_sum_up_to_the_reward(said):
    """NeMo-RL raises where they do not; a component that its gate holds back adds nothing."""
    components = (
        Component("accuracy", "trl.accuracy_reward", weight=2.0),
        Component("form", "trl.think_format_reward", weight=0.5, gate="accuracy"),
        Component("malus", "trl.think_format_reward", weight=-0.25),
    )
    reply = asked(nemo_gym, gym_body([output(said)], answer="4"), Recipe("r", components))
    assert sum(reply["reward_components"].values()) == reply["reward"]
    assert reply["reward_components"]["accuracy"] == 2.0 * reply["accuracy"]
    assert reply["reward_components"]["form"] == 0.5 * reply["form"]


def test_nemo_gym_hears_that_a_reward_is_no_measurement():
    reply = asked(nemo_gym, gym_body([output(RIGHT)]))
    assert (reply["reward"], reply["mask_sample"], reply["status"]) == (0.0, True, "bad_gold")
    assert "no gold" in reply["failure_reason"]


def test_nemo_gym_may_send_an_answer_without_a_message():
    assert asked(nemo_gym, gym_body([], answer="4"))["reward"] == 0.0
    assert asked(nemo_gym, gym_body([output()], answer="4"))["reward"] == 0.0
    reply = asked(nemo_gym, gym_body([{"role": "assistant"}], answer="4"))
    # The model's fault, and no failure of the verifier.
    assert (reply["reward"], reply["status"], reply["status_no_answer"]) == (0.0, "no_answer", 1.0)
    assert (reply["failure_reason"], reply["mask_sample"]) == (None, False)


@pytest.mark.parametrize(
    ("trainer", "body", "complaint"),
    [
        (openrlhf, [], "the body must be a JSON object, got a list"),
        (openrlhf, {}, 'the body has no "query"; it has nothing'),
        (openrlhf, {"query": "4"}, '"query" must be a list, got text'),
        (openrlhf, {"query": [4]}, '"query" must be a list of texts, entry 0 is a number'),
        (openrlhf, {"query": ["4"], "labels": []}, '"labels" has 0 entries for 1 responses'),
        (openrlhf, {"query": ["4"], "prompts": {}}, '"prompts" must be a list, got an object'),
        (
            slime,
            {"prompt": "", "label": ""},
            'the body has no "response"; it has "prompt", "label"',
        ),
        (slime, {"response": "4"}, 'the body has no "label"; it has "response"'),
        (slime, {"response": True}, '"response" must be text, got a boolean'),
        (verl, None, "the body must be a JSON object, got null"),
        (verl, {"solution_strs": "4"}, '"solution_strs" must be a list, got text'),
        (verl, {"solution_str": 4.0}, '"solution_str" must be text, got a number'),
        (nemo_gym, {"response": {}}, 'the body has no "responses_create_params"'),
        (nemo_gym, gym_body("4"), '"output" must be a list, got text'),
        (nemo_gym, gym_body(["4"]), '"output" must be a list of objects'),
        (
            nemo_gym,
            gym_body([output() | {"content": 4}]),
            'the "content" of a message must be text',
        ),
    ],
)
def test_a_malformed_body_is_refused_with_a_sentence(trainer, body, complaint):
    with pytest.raises((ValueError, TypeError)) as caught:
        trainer.batch_of(body)
    assert str(caught.value).startswith(complaint)


NAMES = "query prompts labels prompt response label metadata output content type role text".split()
NAMES += "responses_create_params solution_str solution_strs ground_truth ground_truths".split()
NAMES += "extra_info extra_infos data_source verifier_metadata answer".split()
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("message"),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(NAMES) | st.text(), inner),
    max_leaves=12,
)


@pytest.mark.parametrize("trainer", [openrlhf, slime, verl, nemo_gym])
@given(body=ANYTHING)
def test_whatever_comes_is_a_batch_or_a_complaint(trainer, body):
    try:
        batch = trainer.batch_of(body)
    except (ValueError, TypeError) as error:
        assert str(error)
    else:
        assert all(isinstance(text, str) for text in batch.completions)
        assert all(len(column) == len(batch.completions) for column in batch.columns.values())


@pytest.mark.parametrize("name", ["score", "skipped", "status_limit", "reward", "uid"])
def test_a_component_may_not_take_a_name_that_the_trainer_needs(name):
    recipe = Recipe("bad", (Component(name, "trl.accuracy_reward"),))
    with pytest.raises(ValueError, match="give it another name in the recipe"):
        asked(verl, {"solution_str": RIGHT, "ground_truth": "4"}, recipe)
