"""VLM-R1: tags."""

import pytest

from plaudit.rewards import vlm_r1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("pre <think>a</think>\n<answer>{[1,\n2, 3,4]}</answer> post", 1.0),
        ("<think>a</think><answer>[1,2,3,4]</answer>", 0.0),
        ("<think>a</think> so <answer>{[1,2,3,4]}</answer>", 0.0),
        ("<answer>{[1,2,3,4]}</answer>", 0.0),
        ("<think>a</think><answer>{[-1,2,3,4]}</answer>", 0.0),
    ],
)
def test_format_reward_rec(text, value):
    assert vlm_r1.format_reward_rec([text], solution=["x"]) == [value]
