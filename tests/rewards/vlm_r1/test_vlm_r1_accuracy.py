"""VLM-R1: the accuracy reward, and the method that each row names."""

import asyncio

import pytest
from vlm_r1_samples import CAT, DOG, accuracy, box, fenced

from plaudit.rewards import vlm_r1


@pytest.mark.parametrize(
    ("method", "completion", "gold", "value"),
    [
        ("default", "<answer>12.0</answer>", "12", 1.0),
        ("mcq", "<answer>It is B.</answer><answer>C</answer>", "<answer>\nB\n</answer>", 1.0),
        ("mcq", "no idea", "B", 0.0),
        ("yes_no", "I know: Yes, it is.", "yes", 1.0),
        ("yes_no", "<answer>No</answer>", "<answer>yes</answer>", 0.0),
        ("yes_no", "maybe", "no", 0.0),
        ("math", r"<answer>$\frac{1}{2}$</answer>", "0.5", 1.0),
        ("math", "Same Text.", "same text", 1.0),
        ("math", r"<answer>\dfrac12</answer>", r"\frac{1}{2}", 1.0),
        ("math", "1", "2", 0.0),
        ("all_match", "<answer>A red\ncar.</answer>", "a red car", 1.0),
        ("all_match", "a car", "a red car", 0.0),
        ("weighted_sum", "<answer>None</answer>", "none", 1.0),
        ("weighted_sum", fenced(CAT), "none", 0.0),
        ("weighted_sum", fenced(CAT), fenced(CAT), 1.0),
        ("map", fenced(DOG) + fenced(CAT), fenced(CAT), 1.0),
        ("map", "no boxes", "no boxes", 1.0),
        ("map", "no boxes", fenced(CAT), 0.0),
        ("map", "```json [broken ```", fenced(CAT), 0.0),
        ("map", fenced(CAT, DOG), fenced(CAT, DOG), 1.0),
        ("od_ap", f"<answer>{fenced(box(0, 0, 100, 72))}</answer>", fenced(CAT), 0.5),
        ("od_ap50", f"<answer>{fenced(box(0, 0, 100, 72))}</answer>", fenced(CAT), 1.0),
        ("od_ap", fenced(CAT), fenced(CAT), 0.0),
        ("od_ap", "<answer>None</answer>", "<answer>None</answer>", 1.0),
        ("od_ap", "<answer>None</answer>", f"<answer>{fenced(CAT)}</answer>", 0.0),
        ("odLength", f"<answer>{fenced(CAT, DOG)}</answer>", fenced(CAT), 0.5),
        ("odLength", f"<answer>{fenced(CAT)}</answer>", fenced(CAT, DOG), 0.5),
    ],
)
def test_methods(method, completion, gold, value):
    score = accuracy(method, completion, gold)
    assert score.value == pytest.approx(value)
    assert score.why.endswith(".")
    assert score.decided_by
    assert score.status in ("equal", "different", "no_answer", "scored")


@pytest.mark.parametrize(("method", "gold"), [("mcq", "(b)"), ("yes_no", "perhaps")])
def test_a_gold_that_no_answer_can_meet_is_trouble(method, gold):
    score = accuracy(method, gold, gold)
    assert (score.value, score.status) == (0.0, "bad_gold")


@pytest.mark.parametrize(
    ("method", "gold", "message"),
    [
        ("map", "```json [broken ```", "row 1: the fenced JSON of the gold is not a list of boxes"),
        (
            "map",
            fenced({"label": "cat"}),
            "row 1: box 0 of the gold has no four numbers in bbox_2d",
        ),
        (
            "weighted_sum",
            "```json 5 ```",
            "row 1: the fenced JSON of the gold is not a list of boxes",
        ),
    ],
)
def test_a_broken_gold_is_an_error_that_names_the_row(method, gold, message):
    with pytest.raises(ValueError, match=message):
        vlm_r1.accuracy_reward(["A", "x"], ["A", gold], accu_reward_method=["mcq", method])


def test_the_method_must_be_given():
    with pytest.raises(ValueError, match="accuracy_reward needs the column accu_reward_method"):
        vlm_r1.accuracy_reward(["4"], ["4"])


@pytest.mark.parametrize(
    ("method", "hint"),
    [("od_ap5", "did you mean od_ap50"), (None, "did you mean"), ("", "default")],
)
def test_an_unknown_method_is_named_with_its_row(method, hint):
    with pytest.raises(
        ValueError, match=f"row 1: there is no accu_reward_method {method!r}.*{hint}"
    ):
        vlm_r1.accuracy_reward(["4", "4"], ["4", "4"], accu_reward_method=["math", method])


def test_columns_must_be_equally_long():
    with pytest.raises(ValueError, match="solution has 1 entries, completions has 2"):
        vlm_r1.accuracy_reward(["4", "5"], ["4"], accu_reward_method=["math", "math"])
    with pytest.raises(ValueError, match="accu_reward_method has 1 entries"):
        vlm_r1.accuracy_reward(["4", "5"], ["4", "5"], accu_reward_method=["math"])
    with pytest.raises(ValueError, match="solution has 1 entries"):
        vlm_r1.repetition_rewards(["4", "5"], ["4"])
    with pytest.raises(ValueError, match="solution has 1 entries"):
        vlm_r1.default_accuracy_reward.scores(["4", "5"], solution=["4"])


def test_what_a_trainer_passes_along_is_accepted_and_used():
    extra, metrics = {}, {}
    values = vlm_r1.accuracy_reward(
        completions=["<answer>B</answer>", "?", "4"],
        solution=["B", "(b)", None],
        accu_reward_method=["mcq", "mcq", "math"],
        prompts=["…"] * 3,
        completion_ids=[[1]] * 3,
        trainer_state=object(),
        log_extra=extra.__setitem__,
        log_metric=metrics.__setitem__,
    )
    assert values == [1.0, 0.0, 0.0]
    assert extra == {"answer": ["B", "", ""], "decided_by": ["option letter", "option letter", ""]}
    assert metrics["accuracy_reward/bad_gold"] == pytest.approx(2 / 3)


def test_on_an_event_loop():
    call = vlm_r1.accuracy_reward_async(
        ["<answer>B</answer>", "1/2"], ["B", "0.5"], accu_reward_method=["mcq", "math"]
    )
    assert asyncio.run(call) == [1.0, 1.0]
