"""VLM-R1: brevity."""

import pickle

import pytest
from vlm_r1_samples import CAT, DOG, Words, fenced

from plaudit.recipes import explain
from plaudit.rewards import vlm_r1


@pytest.mark.parametrize(
    ("tokens", "acc_reward", "value"),
    [(0, 1.0, 1.0), (1024, 0.7, 0.5), (0, 0.69, -0.5), (1024, 0.0, 0.0), (2048, 1.0, 1.0)],
)
def test_cosine_reward(tokens, acc_reward, value):
    text = "word " * tokens
    assert vlm_r1.cosine_reward(text, Words(), acc_reward) == pytest.approx(value)
    score = explain(vlm_r1.cosine_reward, text, tokenizer=Words(), acc_reward=acc_reward)
    assert score.value == pytest.approx(value)
    assert f"of {tokens} tokens" in score.why


def test_cosine_rewards_count_detections_from_0_7_on():
    completions = [fenced(CAT), fenced(DOG), "none", "none", "x"]
    golds = [fenced(CAT), fenced(CAT), "none", fenced(CAT), None]
    values = vlm_r1.cosine_rewards(completions, golds, tokenizer=Words())
    assert [value > 0 for value in values] == [True, False, True, False, False]
    brief = vlm_r1.get_cosine_rewards(Words())
    assert brief(completions, solution=golds, prompts=["…"] * 5) == values
    assert pickle.loads(pickle.dumps(brief))(completions, solution=golds) == values
    assert brief.__name__ == "cosine_rewards"
    assert explain(brief, completions[0], golds[0]).value == values[0]
    assert explain(vlm_r1.cosine_rewards, "none", "none", tokenizer=Words()).value == values[2]


def test_a_tokenizer_is_asked_for():
    with pytest.raises(ValueError, match="cosine_rewards needs tokenizer"):
        vlm_r1.cosine_rewards(["4"], ["4"])
    with pytest.raises(TypeError, match=r"tokenizer must have encode\(text\), got str"):
        vlm_r1.cosine_reward("4", "gpt2", 1.0)
