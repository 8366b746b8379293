"""VLM-R1: one answer against one gold, by default."""

import pytest
from vlm_r1_samples import CAT, accuracy, fenced, rows

from plaudit.judge import Status, Verdict
from plaudit.recipes import explain
from plaudit.rewards import vlm_r1


@pytest.mark.parametrize(
    ("content", "sol", "value", "method"),
    [
        ("<answer>3/4</answer>", "0.75", 1.0, None),
        ("<answer>1</answer><answer>2</answer>", "<answer>2</answer><answer>1</answer>", 1.0, None),
        ("<answer>2</answer>", "<answer>\n2\n</answer>", 1.0, None),
        ("<answer>12</answer>", "13", 0.0, "number"),
        ("twelve", "12", 0.0, "text similarity"),
        ("12 or 13 apples", "12 pears", None, "text similarity"),
        ("<answer>The answer is B.</answer>", "B", 1.0, "option letter"),
        ("I think (C)", "C", 0.0, "option letter"),
        ("a red car", "a red cat", 8 / 9, "text similarity"),
        ("Left\nright.", "left right", 1.0, "text similarity"),
        ("\ud800", "a cat", 0.0, "text similarity"),
    ],
)
def test_default_accuracy(content, sol, value, method):
    score = explain(vlm_r1.default_accuracy_reward, content, sol)
    assert vlm_r1.default_accuracy_reward(content, sol) == score.value
    if value is not None:
        assert score.value == pytest.approx(value)
    if method is not None:
        assert score.decided_by == method
    assert score.right is (score.value == 1.0)
    assert score.status in ("equal", "different", "no_answer", "scored")
    assert score.why.endswith(".")


@pytest.mark.parametrize("sol", [4, 4.0, "4"])
def test_a_gold_may_be_a_number(sol):
    assert vlm_r1.default_accuracy_reward("<answer>4</answer>", sol) == 1.0


def test_without_gold_there_is_nothing_to_win():
    assert vlm_r1.default_accuracy_reward("4", None) == 0.0
    assert vlm_r1.detection_score(fenced(CAT), None) == 0.0
    assert explain(vlm_r1.default_accuracy_reward, "4").why == "There is no gold."


def test_trouble_of_the_judge_stays_visible(monkeypatch):
    def judged(pairs):
        return [Verdict(Status.TIMEOUT, None, None, "math-verify", 5.0) for _ in pairs]

    monkeypatch.setattr("plaudit.scores.decorators.judge", judged)
    score = explain(vlm_r1.default_accuracy_reward, "a red car", "a red cat")
    assert (score.status, score.decided_by) == ("timeout", "text similarity")
    assert accuracy("math", "x", "y").status == "timeout"


def test_a_batch_asks_the_judge_once(monkeypatch):
    asked = []

    def judged(pairs):
        asked.append(len(pairs))
        return [Verdict(Status.DIFFERENT, None, None, "math-verify", 0.0) for _ in pairs]

    monkeypatch.setattr("plaudit.scores.decorators.judge", judged)
    vlm_r1.accuracy_reward(
        ["a", "b", "c", "A"],
        ["x", "y", "z", "A"],
        accu_reward_method=["default", "math", "math", "mcq"],
    )
    vlm_r1.default_accuracy_reward.scores(["a", "b"], solution=["x", "y"])
    assert asked == [3, 2]


SHAPES = [
    "<think>2 + 2</think><answer>4</answer>",
    [{"role": "assistant", "content": "<think>2 + 2</think><answer>4</answer>"}],
    [
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "content": "5"},
        {"role": "assistant", "content": "<think>2 + 2</think><answer>4</answer>"},
    ],
    [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "<think>2 + 2</think>"},
                {"type": "image", "image": "…"},
                {"type": "text", "text": "<answer>4</answer>"},
            ],
        }
    ],
]


@pytest.mark.parametrize("completion", SHAPES)
def test_every_shape_of_completion_counts_the_same(completion):
    assert vlm_r1.default_accuracy_reward(completion, "4") == 1.0
    assert vlm_r1.format_reward([completion]) == [1.0]
    assert vlm_r1.accuracy_reward([completion], ["4"], accu_reward_method=["math"]) == [1.0]
    assert vlm_r1.repetition_rewards([completion]) == [0.0]
    assert explain(vlm_r1.default_accuracy_reward, completion, "4").answer == "4"


def test_a_number_is_no_completion():
    with pytest.raises(TypeError, match="completion 0 must be text or a list of messages, got int"):
        vlm_r1.default_accuracy_reward(4, "4")
    with pytest.raises(TypeError, match="completion 1 must be text"):
        vlm_r1.format_reward(["4", 4])


def test_what_a_real_run_logged(shared):
    data = rows(shared, "grpo_log_counting_vlmr1.jsonl")
    scores = vlm_r1.default_accuracy_reward.scores(
        [row["completion"] for row in data], solution=[row["gold"] for row in data]
    )
    same = [round(s.value) == row["score"] for s, row in zip(scores, data, strict=True)]
    assert sum(same) >= 398  # the run that logged these still judged the whole completion
