"""VLM-R1: repeated boxes and phrases."""

import json

import pytest
from vlm_r1_samples import CAT, DOG, fenced

from plaudit.recipes import explain
from plaudit.rewards import vlm_r1


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("", 0.0),
        ("a b c d e f", 0.0),
        ("la " * 7, -0.5),
        ("La la LA la lA la la", -0.5),
        (fenced(CAT, CAT, DOG), -1 / 3),
        (f"see [{json.dumps(CAT)}, {json.dumps(CAT)}]", -0.5),
        (fenced(1, "bbox_2d label", None, {"label": "cat"}), 0.0),
        ('```json {"a": 1} ```' + " la" * 7, -1 / 6),
        ("```json" + "[" * 5_000 + "```", 0.0),
    ],
)
def test_repetition_reward(content, value):
    assert vlm_r1.repetition_reward(content) == pytest.approx(value)
    assert vlm_r1.repetition_rewards([content], solution=["x"]) == pytest.approx([value])
    assert explain(vlm_r1.repetition_reward, content).value == pytest.approx(value)


def test_no_repetition_is_zero_and_not_minus_zero():
    assert str(vlm_r1.repetition_reward("a b c d e f")) == "0.0"
