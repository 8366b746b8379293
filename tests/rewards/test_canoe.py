"""CANOE's rewards, as its trainer calls them."""

import asyncio
import pickle

import pytest

import plaudit
from plaudit.judge import Status
from plaudit.rewards import canoe

WHOLE = "<think>a</think>\n<long_answer>b</long_answer>\n<answer>c</answer>"


@pytest.mark.parametrize(
    ("completion", "gold", "value"),
    [
        ("<answer>42</answer>", "<answer>42.0</answer>", 1.0),
        ("<answer>1/2</answer>", "0.5", 1.0),
        ("<answer>Paris</answer>", "<answer> Paris </answer>", 1.0),
        ("<answer>\nParis\n</answer>", "Paris", 1.0),
        ("<answer>paris</answer>", "Paris", 0.0),
        ("<answer>Rome</answer><answer>Paris</answer>", "Paris", 0.0),
        ("Paris", "Paris", 1.0),
        ("<think>It is 42.</think><answer>41</answer>", "42", 0.0),
        ("<answer></answer>", "", 1.0),
        ("", "Paris", 0.0),
    ],
)
def test_accuracy(completion, gold, value):
    assert canoe.accuracy_reward([completion], [gold]) == [value]


def test_golds_may_be_numbers_or_missing():
    completions = ["<answer>42</answer>"] * 3
    assert canoe.accuracy_reward(completions, [42, 42.0, None]) == [1.0, 1.0, 0.0]
    score = plaudit.explain(canoe.accuracy_reward, "42", None)
    assert (score.value, score.status) == (0.0, Status.BAD_GOLD)


def test_an_event_loop_gets_the_same():
    completions = ["<answer>42.0</answer>", "<answer>x</answer>"]
    rewards = asyncio.run(canoe.accuracy_reward_async(completions, ["42", "y"]))
    assert rewards == [1.0, 0.0]


def test_trouble_of_the_judge_stays_visible():
    score = plaudit.explain(canoe.accuracy_reward, r"<answer>$1000000!$</answer>", "7")
    assert (score.value, score.status) == (0.0, "limit")
    assert score.why == "Too large to compare: a factorial of six digits or more."


def test_log_extra_gets_answers_and_methods():
    logged = {}
    completions = ["<answer>Rome</answer>", "<answer>4.0</answer>"]
    canoe.accuracy_reward(completions, ["Rome", "4"], log_extra=logged.__setitem__)
    assert logged == {"answer": ["Rome", "4.0"], "decided_by": ["same text", "numbers"]}


@pytest.mark.parametrize(
    ("anew", "value", "why"),
    [
        ("<answer>Paris</answer>", 1.0, "word for word"),
        ([{"role": "assistant", "content": "<answer>Paris</answer>"}], 1.0, "word for word"),
        ("<answer>Paris.</answer>", 0.0, "is not the gold"),
        (None, 0.0, "no long answer"),
    ],
)
def test_influence(anew, value, why):
    assert canoe.influence_reward(["…"], ["Paris"], [anew]) == [value]
    score = plaudit.explain(canoe.influence_reward, "…", "Paris", completions_long_answer=anew)
    assert why in score.why


def test_influence_compares_texts_alone():
    assert canoe.influence_reward(["…"], ["42"], ["<answer>42.0</answer>"]) == [0.0]
    assert canoe.influence_reward(["…"], [None], ["<answer>42.0</answer>"]) == [0.0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (WHOLE, 1.0),
        (WHOLE.replace("\n", ""), 1.0),
        (WHOLE.replace("b", "b\nb"), 1.0),
        (WHOLE + "\n", 0.0),
        (" " + WHOLE, 0.0),
        (WHOLE.replace("\n", " x "), 0.0),
        ("<think>a</think><answer>c</answer>", 0.0),
        ("<answer>c</answer><long_answer>b</long_answer><think>a</think>", 0.0),
        ("", 0.0),
    ],
)
def test_format(text, value):
    assert canoe.format_reward([text]) == [value]


@pytest.mark.parametrize(
    ("long_answer", "value"), [(2, 0.0), (3, 1.0), (7, 1.0), (8, 0.0), (0, 0.0), (20, 0.0)]
)
def test_length_lies_strictly_between_a_fifth_and_four_fifths(long_answer, value):
    problem = ["<context> " + "x" * 10 + "\n</context>\n\nWhat?"]
    text = f"<long_answer>{'y' * long_answer} </long_answer>"
    assert canoe.len_reward([text], problem=problem) == [value]


def test_length_across_lines():
    problem = ["<context>line one\nline two</context> What?"]
    assert canoe.len_reward(["<long_answer>line\none</long_answer>"], problem=problem) == [1.0]


@pytest.mark.parametrize(
    ("text", "problem", "why"),
    [
        ("no long answer", "<context>x</context>", "The text has no <long_answer>."),
        ("<long_answer>x</long_answer>", "no context", "The problem has no <context>."),
    ],
)
def test_length_of_what_is_not_there(text, problem, why):
    score = plaudit.explain(canoe.len_reward, text, problem=problem)
    assert (score.value, score.why) == (0.0, why)


def test_length_needs_the_problem():
    with pytest.raises(ValueError, match="len_reward needs the column `problem`"):
        canoe.len_reward([WHOLE])
    with pytest.raises(ValueError, match="problem has 2 entries, completions has 1"):
        canoe.len_reward([WHOLE], problem=["a", "b"])


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="completions_long_answer has 2 entries"):
        canoe.influence_reward(["a"], ["b"], ["c", "d"])


@pytest.mark.parametrize(
    "reward",
    [
        canoe.accuracy_reward,
        canoe.accuracy_reward_async,
        canoe.influence_reward,
        canoe.format_reward,
        canoe.len_reward,
    ],
)
def test_a_reward_is_pickled_by_reference(reward):
    assert pickle.loads(pickle.dumps(reward)) is reward


def test_debug_logs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEBUG_MODE", "true")
    monkeypatch.delenv("LOG_PATH", raising=False)
    canoe.accuracy_reward(["<answer>naïve \ud800</answer>"], ["café"])
    canoe.influence_reward(["…", "…"], ["Rom", "Rom"], ["<answer>Rom</answer>", None])
    accuracy = (tmp_path / "accuracy_reward.log").read_text(encoding="utf-8")
    influence = (tmp_path / "influence_accuracy_reward.log").read_text(encoding="utf-8")
    assert "Accuracy reward: 0.0" in accuracy
    assert "Content: <answer>naïve" in accuracy
    assert "Solution: café" in accuracy
    assert influence.count("Influence accuracy reward: ") == 2
    monkeypatch.setenv("LOG_PATH", str(tmp_path / "all.log"))
    canoe.accuracy_reward(["a"], ["a"])
    assert "Accuracy reward: 1.0" in (tmp_path / "all.log").read_text(encoding="utf-8")
