"""VLM-R1: boxes with labels against those of the gold."""

import json

import pytest
from vlm_r1_samples import CAT, DOG, box, fenced, rows

from growth import exponent
from plaudit.recipes import explain
from plaudit.rewards import vlm_r1


def test_detection_score_by_hand():
    preds = fenced(box(0, 0, 100, 80), box(200, 200, 300, 300, "fox"), box(500, 500, 510, 510))
    # One right with IoU 0.8, one with a wrong label, one in vain: of two gold boxes none is missed.
    expected = (0.7 * 0.8 / 2 + 0.2 * 1 / 2 + 0.3 * (1 - (0 + 1 / 3) / 2)) / 1.2
    assert vlm_r1.detection_score(preds, fenced(CAT, DOG), beta=0.2) == pytest.approx(expected)
    score = explain(vlm_r1.detection_score, preds, fenced(CAT, DOG), beta=0.2)
    assert score.value == pytest.approx(expected)
    assert score.why == (
        "3 predicted and 2 gold boxes: 2 overlap by at least 0.5, 1 of these with the right label."
    )


@pytest.mark.parametrize(
    ("content", "sol", "value"),
    [
        (fenced(), fenced(), 1.0),
        ("nothing", "nothing", 1.0),
        (fenced(CAT), fenced(), 0.0),
        ("nothing", fenced(CAT), 0.0),
        ("```json [broken ```", fenced(CAT), 0.0),
        ("```json" + "[" * 100_000 + "```", fenced(CAT), 0.0),
        ("```json 5 ```", fenced(CAT), 0.0),
        (f"```json {json.dumps(CAT)} ```", fenced(CAT), 1.0),
        (fenced({"bbox_2d": [0, 0, 100, 100]}), fenced({"bbox_2d": [0, 0, 100, 100]}), 1.0),
        (fenced({"bbox_2d": [0, 0, 100, 100]}), fenced(CAT), 0.3),
        (fenced(box(0, 0, 100, 100, 7)), fenced(box(0, 0, 100, 100, 7)), 1.0),
        (fenced(DOG) + fenced(CAT), fenced(CAT), 0.0),
    ],
)
def test_detection_score_at_the_edges(content, sol, value):
    assert vlm_r1.detection_score(content, sol) == pytest.approx(value)


@pytest.mark.parametrize("bad", [None, 5, "box", {}, {"bbox_2d": [1, 2]}, {"bbox_2d": "1234"}])
def test_a_malformed_box_is_a_prediction_in_vain(bad):
    expected = 0.7 + 0.3 * (1 - 0.5 / 2)
    assert vlm_r1.detection_score(fenced(bad, CAT), fenced(CAT)) == pytest.approx(expected)


def test_weights_that_sum_to_nothing():
    with pytest.raises(ValueError, match="alpha, beta and gamma must be finite, and must not sum"):
        vlm_r1.detection_score(fenced(CAT), fenced(CAT), alpha=0.0, beta=0.0, gamma=0.0)


def test_a_weight_is_finite():
    with pytest.raises(ValueError, match="alpha, beta and gamma must be finite"):
        vlm_r1.detection_score(fenced(CAT), fenced(CAT), alpha=float("inf"))


@pytest.mark.parametrize(
    "predicted",
    [lambda n: "```json [" + "0," * n + "0] ```", lambda n: fenced(*[CAT] * (n // 5))],
    ids=["numbers", "boxes"],
)
def test_time_grows_with_the_number_of_predictions_and_no_faster(predicted):
    def detect(text):
        vlm_r1.detection_score(text, fenced(CAT, DOG))

    assert exponent(detect, predicted, short=12_500) < 1.6


def test_detections_of_a_real_detector(shared):
    data = rows(shared, "od_voc100.jsonl")
    completions = [f"<answer>{row['completion']}</answer>" for row in data]
    golds = [fenced(*row["gold"]) for row in data]
    ap = vlm_r1.accuracy_reward(completions, golds, accu_reward_method=["od_ap"] * len(data))
    ap50 = vlm_r1.accuracy_reward(completions, golds, accu_reward_method=["od_ap50"] * len(data))
    assert all(0.0 <= whole <= half + 1e-9 for whole, half in zip(ap, ap50, strict=True))
    # What pycocotools gives for the same boxes, every one with the same confidence.
    assert sum(ap) / len(data) == pytest.approx(0.5333374, abs=1e-6)
    assert sum(ap50) / len(data) == pytest.approx(0.8188524, abs=1e-6)
    own = vlm_r1.accuracy_reward(golds, golds, accu_reward_method=["map"] * len(data))
    assert own == pytest.approx([1.0] * len(data))
