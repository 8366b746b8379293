"""VLM-R1: one box against that of the gold, in the pixels of its image."""

from collections import Counter

import pytest
from PIL import Image
from vlm_r1_samples import rows

from plaudit.inputs import extract
from plaudit.recipes import explain
from plaudit.rewards import vlm_r1
from plaudit.scores import boxes


def test_iou_reward_scales_to_the_image(image):
    completions = [
        "<answer>[0, 0, 70, 70]</answer>",
        "<answer>[0, 0, 70, 35]</answer>",
        "[0, 0, 70, 70]",
    ]
    values = vlm_r1.iou_reward(
        completions,
        ["<answer>[0, 0, 140, 140]</answer>"] * 3,
        image_grid_thw=[[1, 5, 10]] * 3,
        image_path=[[str(image)], image, str(image)],
    )
    assert values == pytest.approx([1.0, 0.5, 0.0])


@pytest.mark.parametrize(
    ("completion", "why"),
    [
        ("<answer>none</answer>", "The <answer> has no [int, int, int, int]."),
        ("[1, 2, 3, 4]", "There is no <answer>."),
        ("<answer>[70, 0, 0, 70]</answer>", "The boxes overlap with an IoU of 0.000."),
        (f"<answer>[0, 0, {'9' * 5000}, 70]</answer>", "The boxes overlap with an IoU of 0.000."),
    ],
)
def test_iou_reward_says_why(image, completion, why):
    score = explain(
        vlm_r1.iou_reward,
        completion,
        "[0, 0, 140, 140]",
        image_grid_thw=[1, 5, 10],
        image_path=image,
    )
    assert (score.value, score.why) == (0.0, why)


def test_iou_reward_reads_each_image_once_and_its_header_alone(image, monkeypatch):
    opened, load = [], Image.Image.load
    open_image = Image.open
    monkeypatch.setattr(Image, "open", lambda f, **k: opened.append(f.name) or open_image(f, **k))
    monkeypatch.setattr(Image.Image, "load", lambda *_: pytest.fail("the pixels were read"))
    vlm_r1.iou_reward(
        ["<answer>[0, 0, 9, 9]</answer>"] * 5,
        ["[0, 0, 9, 9]", "[0, 0, 9, 9]", None, "[0, 0, 9, 9]", "[0, 0, 9, 9]"],
        image_grid_thw=[[1, 5, 10]] * 5,
        image_path=[str(image)] * 5,
    )
    assert len(opened) == 1
    assert load is not Image.Image.load


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"image_path": None}, "iou_reward needs one of the columns image_path, image, images"),
        ({"image": ["x", "y"]}, "image has 2 entries"),
        ({"image_path": [None], "image": [None]}, "row 0: there is no image_path and no image"),
        (
            {"image_path": [[9, 1801]], "image_grid_thw": None},
            r"row 0 \(9 x 1801\): an image of 9 x",
        ),
        ({"model": "Qwen9-VL"}, "model must be one of Qwen2-VL, Qwen2.5-VL, Qwen3-VL"),
        ({"patch": 0}, "patch must be a whole number above 0, got 0"),
        (
            {"min_pixels": 9, "max_pixels": 8},
            "min_pixels must not be above max_pixels, got 9 and 8",
        ),
        ({"scale": "inches"}, "scale must be one of model, image, thousandths, got 'inches'"),
        ({"image_path": ["missing.png"]}, r"row 0 \(missing.png\): the image cannot be read"),
        ({"image_path": [[]]}, "row 0: there is no image_path"),
        ({"image_path": [None]}, "row 0: there is no image_path"),
        (
            {"image_path": [__file__]},
            r"row 0 \(.*test_vlm_r1_one_box.py\): the image cannot be read",
        ),
        ({"image_grid_thw": [[5, 10]]}, r"row 0 \(.*image.png\): image_grid_thw must be"),
        ({"image_grid_thw": [[1, 0, 10]]}, r"row 0 \(.*image.png\): image_grid_thw must be"),
        ({"image_grid_thw": [[1, 5, 10]] * 2}, "image_grid_thw has 2 entries"),
        ({"solution": ["somewhere"]}, r"row 0 \(.*image.png\): the gold must be \[left, top"),
        ({"solution": ["[1, 2, 3]"]}, r"row 0 \(.*image.png\): the gold must be \[left, top"),
    ],
)
def test_iou_reward_names_the_row_and_the_file(image, change, message):
    columns = {
        "completions": ["<answer>[0, 0, 9, 9]</answer>"],
        "solution": ["[0, 0, 9, 9]"],
        "image_grid_thw": [[1, 5, 10]],
        "image_path": [str(image)],
    }
    with pytest.raises(ValueError, match=message):
        vlm_r1.iou_reward(**{**columns, **change})


def test_the_iou_of_real_boxes(shared):
    found = Counter()
    for row in rows(shared, "rec.jsonl"):
        pred = extract.first_int_box(extract.first_tag(row["completion"], "answer") or "")
        if pred is None or list(pred) != row["extracted"]:
            found["another" if pred else "none"] += 1
            continue
        gold = tuple(row["gold"])
        assert boxes.iou(pred, gold, thinnest=0.0) == pytest.approx(row["iou_plain"], abs=1e-6)
        thin = boxes.iou(pred, gold) == 0.0 < row["iou_plain"]
        found["same, but overlaps by one pixel or less" if thin else "same"] += 1
    assert found == {
        "same": 791,
        "same, but overlaps by one pixel or less": 3,
        "another": 2,
        "none": 704,
    }
