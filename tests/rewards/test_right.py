"""Which completions are right: the reward's own rule, and not a value above 0."""

import pytest
from PIL import Image

from plaudit.judge import Status
from plaudit.recipes import explain
from plaudit.rewards import all_rewards, canoe, trl, vlm_r1


class Words:
    def encode(self, text):
        return text.split()


def boxes(*corners):
    items = ", ".join(f'{{"bbox_2d": {list(box)}, "label": "cup"}}' for box in corners)
    return f"```json\n[{items}]\n```"


CUP, WIDE, HALF = boxes((0, 0, 100, 100)), boxes((0, 0, 100, 60)), boxes((0, 0, 100, 52))
ACCURACY = vlm_r1.accuracy_reward
BRIEF = trl.get_cosine_scaled_reward(max_len=100)
IDS = {"completion_ids": [1] * 90}


@pytest.mark.parametrize(
    ("reward", "completion", "gold", "columns", "status", "right"),
    [
        (trl.accuracy_reward, r"\boxed{4}", "4", {}, "equal", True),
        (trl.accuracy_reward, r"\boxed{5}", "4", {}, "different", False),
        (trl.accuracy_reward, "four", "4", {}, "no_answer", False),
        (trl.accuracy_reward, r"\boxed{9^{9^{9^{9}}}}", "4", {}, "limit", False),
        (trl.accuracy_reward, r"\boxed{4}", None, {}, "bad_gold", None),
        (trl.accuracy_reward, r"\boxed{4}", "what?", {}, "bad_gold", None),
        (trl.reasoning_accuracy_reward, r"\boxed{4}", "4", {}, "no_answer", False),
        (BRIEF, r"\boxed{4}", "4", IDS, "equal", True),
        (BRIEF, r"\boxed{5}", "4", IDS, "different", False),
        (BRIEF, r"\boxed{5}", None, IDS, "bad_gold", None),
        (trl.think_format_reward, "<think>a</think> b", None, {}, "scored", None),
        (canoe.accuracy_reward, "<answer>42.0</answer>", "42", {}, "equal", True),
        (canoe.accuracy_reward, "<answer>Paris</answer>", "Paris", {}, "equal", True),
        (canoe.accuracy_reward, "<answer>Rome</answer>", "Paris", {}, "different", False),
        (canoe.accuracy_reward, "<answer>41</answer>", "42", {}, "different", False),
        (canoe.accuracy_reward, "<answer>41</answer>", None, {}, "bad_gold", None),
        (canoe.influence_reward, "…", "4", {"completions_long_answer": "4"}, "equal", True),
        (canoe.influence_reward, "…", "4", {"completions_long_answer": "5"}, "different", False),
        (canoe.influence_reward, "…", "4", {"completions_long_answer": None}, "no_answer", False),
        (vlm_r1.default_accuracy_reward, "4.0", "4", {}, "equal", True),
        (vlm_r1.default_accuracy_reward, "It is B.", "C", {}, "different", False),
        (vlm_r1.default_accuracy_reward, "a red car", "a red cat", {}, "scored", False),
        (vlm_r1.default_accuracy_reward, "A red cat.", "a red cat", {}, "scored", True),
        (ACCURACY, "B", "B", {"accu_reward_method": "mcq"}, "equal", True),
        (ACCURACY, "", "B", {"accu_reward_method": "mcq"}, "no_answer", False),
        (ACCURACY, "perhaps", "yes", {"accu_reward_method": "yes_no"}, "no_answer", False),
        (ACCURACY, "perhaps", "maybe", {"accu_reward_method": "yes_no"}, "bad_gold", None),
        (ACCURACY, "2+2", "4", {"accu_reward_method": "math"}, "equal", True),
        (ACCURACY, "5", "4", {"accu_reward_method": "math"}, "different", False),
        (ACCURACY, "4", "who?", {"accu_reward_method": "math"}, "bad_gold", None),
        (ACCURACY, "A cup.", "a cup", {"accu_reward_method": "all_match"}, "equal", True),
        (ACCURACY, WIDE, CUP, {"accu_reward_method": "weighted_sum"}, "scored", True),
        (ACCURACY, HALF, CUP, {"accu_reward_method": "weighted_sum"}, "scored", False),
        (ACCURACY, "none", "none", {"accu_reward_method": "weighted_sum"}, "equal", True),
        (ACCURACY, CUP, CUP, {"accu_reward_method": "map"}, "scored", True),
        (ACCURACY, HALF, CUP, {"accu_reward_method": "map"}, "scored", False),
        (ACCURACY, "none", CUP, {"accu_reward_method": "od_ap"}, "no_answer", False),
        (vlm_r1.detection_score, "no boxes", CUP, {}, "no_answer", False),
        (vlm_r1.cosine_rewards, CUP, CUP, {"tokenizer": Words()}, "scored", True),
        (vlm_r1.cosine_rewards, CUP, None, {"tokenizer": Words()}, "bad_gold", None),
        (vlm_r1.format_reward, "4", "4", {}, "scored", None),
        (vlm_r1.repetition_rewards, "4", "4", {}, "scored", None),
    ],
)
def test_each_reward_says_what_is_right(reward, completion, gold, columns, status, right):
    score = explain(reward, completion, gold, **columns)
    assert (score.status, score.right) == (status, right)


@pytest.mark.parametrize(("width", "right"), [(1, False), (49, False), (50, True), (100, True)])
def test_a_box_is_right_from_half_an_overlap_on(width, right, tmp_path):
    Image.new("RGB", (140, 140)).save(tmp_path / "cup.png")
    columns = {"image_grid_thw": [1, 10, 10], "image_path": [str(tmp_path / "cup.png")]}
    answer = f"<answer>[0, 0, {width + 2}, 100]</answer>"
    score = explain(
        vlm_r1.iou_reward, answer, f"[0, 0, {(width + 2) * 100 / width}, 100]", **columns
    )
    assert score.value == pytest.approx(width / 100)
    assert score.right is right


def test_a_completion_without_a_box_has_no_answer(tmp_path):
    Image.new("RGB", (140, 140)).save(tmp_path / "cup.png")
    columns = {"image_grid_thw": [1, 10, 10], "image_path": [str(tmp_path / "cup.png")]}
    score = explain(vlm_r1.iou_reward, "left", "[0, 0, 9, 9]", **columns)
    assert (score.value, score.status, score.right) == (0.0, "no_answer", False)


def test_whoever_says_equal_says_right():
    for name, reward in all_rewards().items():
        if "accuracy" not in name or name.startswith("text.vqa"):  # which needs many golds
            continue
        columns = {"accu_reward_method": "math"} if name == "vlm_r1.accuracy_reward" else {}
        for answer in ("4", "5", "2+2"):
            text = rf"<think>…</think> \boxed{{{answer}}}"
            score = explain(reward, text, "4", **columns)
            assert score.right is (score.status == Status.EQUAL), (name, answer)
            assert score.right is (score.value == 1.0), (name, answer)
