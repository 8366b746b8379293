"""VLM-R1: what holds for all of its rewards."""

import pickle

import pytest
from vlm_r1_samples import CAT, Words, fenced

from growth import exponent
from plaudit.rewards import vlm_r1

TEXT_REWARDS = [
    vlm_r1.default_accuracy_reward,
    vlm_r1.detection_score,
    vlm_r1.cosine_reward,
    vlm_r1.repetition_reward,
]


BATCH_REWARDS = [
    vlm_r1.accuracy_reward,
    vlm_r1.accuracy_reward_async,
    vlm_r1.iou_reward,
    vlm_r1.format_reward,
    vlm_r1.format_reward_rec,
    vlm_r1.cosine_rewards,
    vlm_r1.repetition_rewards,
]


@pytest.mark.parametrize("reward", TEXT_REWARDS + BATCH_REWARDS)
def test_a_reward_is_pickled_by_reference(reward):
    assert pickle.loads(pickle.dumps(reward)) is reward


def test_text_rewards_take_columns_too():
    scores = vlm_r1.detection_score.scores(
        [fenced(CAT)] * 2, solution=[fenced(CAT), None], alpha=1.0
    )
    assert [score.value for score in scores] == [1.0, 0.0]
    with pytest.raises(ValueError, match="acc_reward has 1 entries, completions has 2"):
        vlm_r1.cosine_reward.scores(["a", "b"], tokenizer=Words(), acc_reward=[1.0])


@pytest.mark.parametrize("unit", ["\0", "\ud800", "a", "<answer>"])
def test_hostile_text_breaks_nothing_and_takes_no_more_time_than_its_length(unit):
    def score(text):
        for method in ("mcq", "yes_no", "all_match", "weighted_sum", "map", "od_ap"):
            vlm_r1.accuracy_reward([text], ["none yes A"], accu_reward_method=[method])
        vlm_r1.format_reward([text])
        vlm_r1.format_reward_rec([text])
        vlm_r1.repetition_reward(text)

    assert exponent(score, lambda length: unit * (length // len(unit))) < 1.6


def test_debug_logs(tmp_path, monkeypatch, image):
    monkeypatch.setenv("DEBUG_MODE", "true")
    monkeypatch.delenv("LOG_PATH", raising=False)
    monkeypatch.chdir(tmp_path)
    vlm_r1.accuracy_reward(["<answer>B</answer>"], ["B"], accu_reward_method=["mcq"])
    vlm_r1.iou_reward(["?"], ["[0, 0, 9, 9]"], image_grid_thw=[[1, 5, 10]], image_path=[image])
    vlm_r1.format_reward(["text"], solution=["B"])
    vlm_r1.format_reward_rec(["text"])
    vlm_r1.cosine_rewards(["none"], ["none"], tokenizer=Words())
    vlm_r1.repetition_rewards(["text"])
    logs = {path.name: path.read_text() for path in tmp_path.glob("vlm_r1*")}
    assert set(logs) == {
        "vlm_r1.txt",
        "vlm_r1_format.txt",
        "vlm_r1_cosine.txt",
        "vlm_r1_repetition.txt",
    }
    assert "Accuracy reward: 1.0 ---" in logs["vlm_r1.txt"]
    assert "IoU reward: 0.0 ---" in logs["vlm_r1.txt"]
    assert logs["vlm_r1_format.txt"].count("Format reward: 0.0 ---") == 2
