"""Rewards for boxes, points, counts and spans of time."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.rewards import vision
from plaudit.rewards.vision import box_reward, boxes_reward, count_reward, point_reward, span_reward

BOX = [100, 50, 300, 150]


def box(completion, gold=BOX, **settings):
    [score] = box_reward.scores([completion], [gold], **settings)
    return score


def test_the_value_is_the_iou_and_right_from_one_half():
    assert box("It is at [100, 50, 300, 150].").value == 1.0
    half = box('{"bbox_2d": [100, 50, 300, 100], "label": "cat"}')
    assert (half.value, half.right) == (0.5, True)
    assert half.why == "The IoU with the gold box is 0.500."
    assert box("[100, 50, 300, 100]", threshold=0.6).value == 0.0
    assert box("[400, 50, 500, 150]").value == 0.0
    near, far = (box(f"[{x}, 50, {x + 200}, 150]", measure="giou").value for x in (310, 900))
    assert 0 < far < near < 0.5


@pytest.mark.parametrize(
    ("completion", "status"),
    [
        ("[100, 50, 300, 150] or [0, 0, 10, 10]", "several"),
        ("[100, 50, 300, 150] " * 20, "several"),
        ("<think>[100, 50, 300, 150]</think>", "no_answer"),
        ("<answer>[100, 50, 300, 150]</answer> No, wait, that is wrong.", "retracted"),
        ("[100, 50, 300, 150]\nScratch that: I cannot find it.", "retracted"),
        ("It is not at [100, 50, 300, 150].", "retracted"),
        ("[300, 150, 100, 50]", "no_answer"),
        ("[100, 50, NaN, 150]", "no_answer"),
        ("[100, 50, 1e400, 150]", "no_answer"),
        ("[100, 50, 300", "no_answer"),
        ("[100%, 50%, 300%, 150%]", "no_answer"),
        ("", "no_answer"),
        ("none", "no_answer"),
    ],
)
def test_whatever_is_not_one_box_gets_nothing(completion, status):
    score = box(completion)
    assert (score.value, score.status, score.right) == (0.0, status, False)


@pytest.mark.parametrize(
    "completion",
    [
        "(100, 50), (300, 150)",
        "[[100, 50], [300, 150]]",
        "100, 50, 300, 150",
        "$$\\boxed{100, 50, 300, 150}$$",
        "<box>100 50 300 150</box>",
        "[100 50 300 150]",
        "[100; 50; 300; 150]",
        "[100px, 50px, 300px, 150px]",
        "x1=100, y1=50, x2=300, y2=150",
        '{"ymin": 50, "xmin": 100, "ymax": 150, "xmax": 300}',
        '{"x": 100, "y": 50, "width": 200, "height": 100}',
        '{"left": 100, "top": 50, "right": 300, "bottom": 150}',
        '{"bbox_2d": ["100", "50", "300", "150"]}',
        '[{"bbox_2d": [100, 50, 300, 150,], "label": "dog",}]',
        '["{"bbox_2d": [100, 50, 300, 150], "label": "dog"}]',
        '{"result": {"detections": [{"bbox_2d": [100, 50, 300, 150]}]}}',
        '{"answer": [100, 50, 300, 150]}',
        "Of 2 dogs in the 640x480 image, it is the one at **[100, 50, 300, 150]** (95% sure).",
        "<think>[1, 2, 3, 4]</think>[100, 50, 300, 150]<|im_end|>",
        "<answer>[1, 2, 3, 4]</answer> Correction: <answer>[100, 50, 300, 150]</answer>",
    ],
)
def test_a_box_is_written_in_many_ways(completion):
    assert box(completion).value == 1.0


@pytest.mark.parametrize(
    "completion",
    [
        "[100, 50, 300, 150] is wrong.",
        "<answer>[100, 50, 300, 150]</answer> Hmm, actually that is wrong.",
        "The dog isn't at [100, 50, 300, 150].",
        "[100, 50, 300, 150, 1, 2, 3, 4]",
        "100, 50, 300, 150, 5",
        "dog[100, 50, 300, 150; 1, 2, 3, 4]",
        "x1=100, y1=50, x2=300, y2=150; x1=0, y1=0, x2=5, y2=5",
        '[{"bbox_2d": [100, 50, 300, 150]}, {"bbox_2d": [1, 2]}]',
        "<answer>[100, 50, 300, 150]</answer><answer>[1, 2, 3, 4]</answer>",
    ],
)
def test_what_only_looks_like_the_one_box_gets_nothing(completion):
    assert box(completion).value == 0.0


@pytest.mark.parametrize("text", ["<answer>{}</answer>\n{}", "{}\n{}"])
@pytest.mark.parametrize(
    ("remark", "value"),
    [
        ("Hmm, no. That's the wrong one.", 0.0),
        ("That box is wrong.", 0.0),
        ("No, it isn't there.", 0.0),
        ("Let me correct that: I don't know.", 0.0),
        ("Edit: wrong object.", 0.0),
        ("However, that is incorrect.", 0.0),
        ("I was mistaken. My mistake, it is elsewhere.", 0.0),
        ("No other dogs are visible.", 1.0),
        ("I checked the answer again and it is correct.", 1.0),
        ("The box does not include the leash.", 1.0),
        ("Let me know if this is wrong!", 1.0),
    ],
)
def test_a_remark_takes_a_box_back_or_does_not(text, remark, value):
    assert box(text.format("[100, 50, 300, 150]", remark)).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("It's anything but {}.", 0.0),
        ("There is no dog at {}.", 0.0),
        ("{} is not the dog.", 0.0),
        ("There is no doubt that it is at {}.", 1.0),
        ("I'm not sure, but {}.", 1.0),
        ("It is the left one, not the right one: {}", 1.0),
    ],
)
def test_a_denial_is_of_the_box_or_of_something_else(text, value):
    assert box(text.format("[100, 50, 300, 150]")).value == value


def test_the_answer_of_a_score_is_in_pixels_of_the_image():
    score = box("[250, 250, 750, 750] or [0, 0, 500, 500]", scale="thousand", image_size=[400, 200])
    assert (score.answer, score.status) == ("[[100, 50, 300, 150], [0, 0, 200, 100]]", "several")
    [score] = point_reward.scores(
        ["click(250, 500)"], [[0.25, 0.25, 0.5, 0.5]],
        scale="thousand", gold_scale="unit", gold_order="xywh", image_size=[400, 200],
    )  # fmt: skip
    assert (score.answer, score.gold, score.value) == ("[100, 100]", "[100, 50, 300, 150]", 1.0)


def test_a_label_takes_nothing_back():
    assert box('{"bbox_2d": [100, 50, 300, 150], "label": "sorry, not wrong"}').value == 1.0


@pytest.mark.parametrize(
    ("name", "completion"),
    [
        ("qwen2.5-vl", '```json\n[{"bbox_2d": [50, 25, 150, 75], "label": "cat"}]\n```'),
        ("qwen3-vl", '{"bbox_2d": [250, 250, 750, 750]}'),
        ("qwen2-vl", "<|box_start|>(250,250),(750,750)<|box_end|>"),
        ("internvl", "<ref>cat</ref><box>[[250, 250, 750, 750]]</box>"),
        ("gemini", '[{"box_2d": [250, 250, 750, 750], "label": "cat"}]'),
        ("paligemma", "<loc0256><loc0256><loc0767><loc0767> cat"),
        ("florence-2", "cat<loc_250><loc_250><loc_750><loc_750>"),
        ("kosmos-2", "<phrase>cat</phrase><object><patch_index_0264><patch_index_0760></object>"),
        ("cogvlm", "[[250,250,750,750]]"),
        ("llava", "[0.25, 0.25, 0.75, 0.75]"),
        ("deepseek-vl2", "<|ref|>cat<|/ref|><|det|>[[250, 250, 749, 749]]<|/det|>"),
        ("coco", '{"bbox": [100, 50, 200, 100]}'),
        ("molmo", "[25, 25, 75, 75]"),
    ],
)
def test_each_format_says_its_scale_and_order(name, completion):
    sizes = {"image_size": [[400, 200]], "input_size": [[200, 100]]}
    assert box(completion, format=name, **sizes).value > 0.85
    if vision.FORMATS[name].scale not in ("pixels", "paligemma", "florence", "kosmos"):
        assert box(completion, scale="pixels", **sizes).value < 0.9


def test_a_user_adds_a_format(monkeypatch):
    monkeypatch.setattr("plaudit.rewards.vision._formats.FORMATS", dict(vision.FORMATS))
    vision.add_format("mine", vision.Format("percent", "yxyx"))
    assert box("[25, 25, 75, 75]", format="mine", image_size=[[400, 200]]).value == 1.0
    with pytest.raises(ValueError, match="format must be one of"):
        box("[1, 2, 3, 4]", format="mein")


def test_sizes_come_from_the_column_the_image_or_the_grid(image):
    gold, answer = [0, 0, 140, 70], "[0, 0, 500, 500]"
    assert box(answer, gold, scale="thousand", image_path=[image]).value == 1.0
    assert box(answer, gold, scale="thousand", image_size=[280, 140]).value == 1.0
    grid = {"image_grid_thw": [[1, 5, 10]], "image_size": [[280, 140]]}
    assert box("[0, 0, 70, 35]", gold, scale="model", **grid).value == 1.0
    with pytest.raises(ValueError, match="needs the size of each image"):
        box(answer, gold, scale="thousand")


@pytest.mark.parametrize(
    "gold",
    [BOX, [BOX], {"bbox": BOX}, [{"bbox_2d": BOX}], json.dumps(BOX), f"<answer>{BOX}</answer>"],
)
def test_golds_are_written_in_many_ways(gold):
    assert box("[100, 50, 300, 150]", gold).value == 1.0


@pytest.mark.parametrize("gold", [None, "somewhere", [1, 2, 3], [300, 150, 100, 50], [BOX, BOX]])
def test_a_row_with_an_unusable_gold_is_skipped(gold):
    score = box("[100, 50, 300, 150]", gold)
    assert (score.value, score.status) == (None, "bad_gold")


@pytest.mark.parametrize("gold", [[], "none"])
def test_an_image_without_the_object(gold):
    assert box("<answer>[]</answer>", gold).value == 1.0
    assert box('{"bbox_2d": null}', gold).value == 1.0
    assert box("[1, 2, 3, 4]", gold).value == 0.0
    assert box("", gold).value == 0.0
    assert box("I cannot see any image.", gold).value == 0.0


def objects(*boxes):
    return json.dumps([{"bbox_2d": list(corners), "label": label} for corners, label in boxes])


def test_boxes_are_matched_as_well_as_possible():
    # Greedy matching takes the best pair first, and leaves the other two without a partner.
    gold = [{"bbox_2d": [0, 0, 10, 10]}, {"bbox_2d": [0, 0, 10, 16]}]
    answer = "[[0, 0, 10, 11], [0, 0, 10, 6]]"
    [score] = boxes_reward.scores([answer], [gold])
    assert score.value == 1.0
    assert score.why.startswith("2 of 2 gold boxes are matched, 0 of 2 predicted ones are extra")


def test_extra_missed_and_repeated_boxes_cost():
    cat, cup = ((0, 0, 10, 10), "cat"), ((20, 0, 30, 10), "cup")
    gold = json.loads(objects(cat, cup))
    values = boxes_reward(
        [objects(cat), objects(cat, cup, cat), objects(*[cat] * 20), objects(cup, cat), "[]", ""],
        [gold] * 6,
    )
    assert values == pytest.approx([2 / 3, 0.8, 2 / 22, 1.0, 0.0, 0.0])


@pytest.mark.parametrize(("labels", "value"), [("exact", 0.0), ("casefold", 1.0), ("ignore", 1.0)])
def test_labels_count_as_the_recipe_says(labels, value):
    answer, gold = objects(((0, 0, 9, 9), " Cat")), [{"bbox_2d": [0, 0, 9, 9], "label": "cat"}]
    assert boxes_reward([answer], [gold], labels=labels) == [value]


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("internvl", "<ref>a</ref><box>[[0, 0, 9, 9]]</box><ref>b</ref><box>[[20, 0, 29, 9], "
         "[40, 0, 49, 9]]</box>"),
        ("qwen2-vl", "<|object_ref_start|>a<|object_ref_end|><|box_start|>(0,0),(9,9)<|box_end|>"
         "<|object_ref_start|>b<|object_ref_end|><|box_start|>(20,0),(29,9)<|box_end|>"
         "<|box_start|>(40,0),(49,9)<|box_end|>"),
        ("qwen3-vl", '{"items": [{"box": [0, 0, 9, 9], "class_name": "a"}, '
         '{"box": [[20, 0, 29, 9], [40, 0, 49, 9]], "label": "b"}]}'),
        ("florence-2", "a<loc_0><loc_0><loc_9><loc_9>b<loc_20><loc_0><loc_29><loc_9>"
         "<loc_40><loc_0><loc_49><loc_9>"),
        ("kosmos-2", "<phrase>a</phrase><object><patch_index_0000><patch_index_0000></object>"
         "<phrase>b</phrase><object><patch_index_0001><patch_index_0001>"
         "</delimiter_of_multi_objects/><patch_index_0002><patch_index_0002></object>"),
    ],
)  # fmt: skip
def test_boxes_next_to_each_other_share_a_label(name, answer):
    side = 32 if name == "kosmos-2" else 1000
    lefts, width = ((0, 1, 2), 1) if name == "kosmos-2" else ((0, 20, 40), 9)
    gold = [
        {"bbox_2d": [left, 0, left + width, width], "label": label}
        for left, label in zip(lefts, "abb", strict=True)
    ]
    assert boxes_reward([answer], [gold], format=name, image_size=[side, side]) == [1.0]


def test_several_thresholds_are_averaged():
    gold = [{"bbox_2d": [0, 0, 10, 10]}]
    assert boxes_reward(["[[0, 0, 10, 6]]"], [gold], threshold=[0.5, 0.75]) == [0.5]


@given(st.lists(st.tuples(*[st.integers(0, 30)] * 2, *[st.integers(1, 30)] * 2), max_size=8))
def test_the_gold_itself_is_right_in_any_order(corners):
    gold = [{"bbox_2d": [x, y, x + w, y + h], "label": "a"} for x, y, w, h in corners]
    assert boxes_reward([json.dumps(gold[::-1])], [gold]) == [1.0]


@pytest.mark.parametrize(
    ("completion", "value"),
    [
        ("click(150, 100)", 1.0),
        ("pyautogui.click(x=150, y=100)", 1.0),
        ("<point x='150' y='100'>button</point>", 1.0),
        ("<point>150 100</point>", 1.0),
        ('{"action": "click", "coordinate": [150, 100]}', 1.0),
        ("Thought: not (1, 2).\nAction: click(start_box='(150,100)')", 1.0),
        ("150, 100", 1.0),
        ("<point>150, 100</point>", 1.0),
        ('<point y="100" x="150" alt="a"/>', 1.0),
        ("It is at x=150 and y=100.", 1.0),
        ("pyautogui.click(y=100, x=150)", 1.0),
        ("pyautogui.click(150, 100, clicks=2, button='left')", 1.0),
        ("click(150, 100) is not correct.", 0.0),
        ("click(100, 50)", 1.0),  # the edge
        ("click(99, 50)", 0.0),
        ("click(150, 100) or click(0, 0)", 0.0),
        ('<points x1="150" y1="100" x2="1" y2="1">', 0.0),
        ("scroll(150, 100)", 0.0),
        ("[100, 50, 300, 150]", 0.0),
        ("click(150)", 0.0),
        ("", 0.0),
    ],
)
def test_a_click_is_inside_or_not(completion, value):
    assert point_reward([completion], [BOX]) == [value]


def test_points_polygons_and_distances():
    triangle = [[0, 0], [100, 0], [0, 100]]
    clicks = ["click(10, 10)", "click(90, 90)"]
    assert point_reward(clicks, [triangle] * 2, gold="polygon") == [1.0, 0.0]
    assert point_reward(["click(310, 100)"], [BOX], reach=20) == [0.5]
    assert point_reward(["[100, 50, 300, 150]"], [BOX], boxes="center") == [1.0]
    assert point_reward(["none", "click(1, 1)"], [[], []]) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("completion", "value"),
    [
        ("3", 1.0),
        ("There are three dogs in the image.", 1.0),
        ("<answer>3.0</answer>", 1.0),
        ("Left 1, right 2.\nTotal: 3", 1.0),
        ("3 or 4", 0.0),
        ("at least 3", 0.0),
        ("not 3", 0.0),
        ("-3", 0.0),
        ("1, 2, 3, 4", 0.0),
        ("<think>3</think>", 0.0),
        ("<answer>3</answer> Actually no, that is wrong.", 0.0),
        ("many", 0.0),
    ],
)
def test_counts(completion, value):
    assert count_reward([completion], [3]) == [value]


def test_counts_in_words_and_of_nothing():
    assert count_reward(["twenty-three", "none", "1,203"], [23, 0, "1203"]) == [1.0, 1.0, 1.0]
    assert count_reward(["one hundred and five", "five and one"], [105, 6]) == [1.0, 0.0]
    assert count_reward(["3", "3"], [None, "a few"]) == [None, None]


@pytest.mark.parametrize(
    ("completion", "settings", "value"),
    [
        ("[10, 20]", {}, 1.0),
        ("10 - 15 seconds", {}, 0.5),
        ("It lasts from 0:10 to 0:20.", {}, 1.0),
        ('{"start": "00:00:10", "end": "00:00:20"}', {}, 1.0),
        ("It starts at 10 seconds and ends at 20 seconds.", {}, 1.0),
        ('{"begin": 10, "end": 20}', {}, 1.0),
        ("00:00:10,000 --> 00:00:20,000", {}, 1.0),
        ("It is not 10 to 20.", {}, 0.0),
        ("[0.1, 0.2]", {"scale": "unit", "duration": [100]}, 1.0),
        ("[240, 480]", {"scale": "frames", "fps": [24]}, 1.0),
        ("[10, 20] or [30, 40]", {}, 0.0),
        ("[20, 10]", {}, 0.0),
        ("[10, NaN]", {}, 0.0),
        ("<think>[10, 20]</think>", {}, 0.0),
        ("[10, 20]\nSorry, that is wrong.", {}, 0.0),
    ],
)
def test_spans_of_time(completion, settings, value):
    assert span_reward([completion], [[10, 20]], **settings) == [value]


HOSTILE = [
    "[" * 100_000,
    "[1, 2, 3, 4] " * 4_000,
    "[1," * 30_000,
    "<loc0001>" * 20_000,
    "x1=1, " * 20_000,
    '{"label": "' * 10_000,
    "twenty " * 20_000,
    "1:" * 50_000,
    "[" + " " * 100_000,
    "1 " * 50_000,
    "[1 " * 30_000,
    "[1, 1; " + "1, 1; " * 20_000,
    "click(1, 2, " + "a=1, " * 20_000,
    "<object>" + "<patch_index_0001>" * 5_000,
    "[1e308, 1e308, 1.7e308, 1.7e308]" * 3_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:8]))
def test_hostile_texts_take_linear_time(text):
    started = time.process_time()
    for name in ("plain", "paligemma", "florence-2", "kosmos-2"):
        box(text, format=name, image_size=[[9, 9]])
    boxes_reward([text], [[BOX]])
    point_reward([text], [BOX])
    count_reward([text], [3])
    span_reward([text], [[1, 2]])
    assert time.process_time() - started < 8


REWARDS = {
    "box": box_reward,
    "boxes": boxes_reward,
    "point": point_reward,
    "count": count_reward,
    "span": span_reward,
}


def test_the_shared_cases_have_their_values(shared):
    for file in ("visible.jsonl", "real.jsonl"):
        for line in (shared / "families" / "vision" / file).read_text().splitlines():
            row = json.loads(line)
            if row.get("debatable"):
                continue
            columns = ("image_size", "input_size", "duration", "fps")
            settings = {k: [v] if k in columns else v for k, v in row["settings"].items()}
            call = REWARDS[row["reward"]]
            [score] = call.scores([row["completion"]], [row["solution"]], **settings)
            assert score.value == pytest.approx(row["value"], abs=1e-6), row["id"]
            assert score.right == row["right"], row["id"]


def test_real_boxes_agree_with_their_labels(shared):
    rows = [json.loads(line) for line in (shared / "data" / "rec.jsonl").read_text().splitlines()]
    scores = box_reward.scores([r["completion"] for r in rows], [r["gold"] for r in rows])
    wrong = sum(score.right != row["label"] for score, row in zip(scores, rows, strict=True))
    assert wrong <= 0.005 * len(rows)
