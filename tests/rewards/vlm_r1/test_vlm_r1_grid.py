"""A missing grid is computed from the image's size, as the models' image processors do."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from plaudit.inputs.images import resize_of
from plaudit.recipes import load
from plaudit.rewards import vlm_r1

MILLION = 28 * 28 * 1280  # the limit of `Qwen2VLImageProcessor()` without arguments


# Width and height, and what transformers' smart_resize makes of them.
@pytest.mark.parametrize(
    ("model", "limits", "size", "resized"),
    [
        ("Qwen2-VL", {}, (640, 480), (644, 476)),
        ("Qwen2-VL", {}, (28, 28), (56, 56)),
        ("Qwen2-VL", {}, (10, 300), (28, 308)),
        ("Qwen2-VL", {}, (300, 10), (308, 28)),
        ("Qwen2-VL", {}, (42, 70), (56, 56)),
        ("Qwen2-VL", {}, (5000, 4000), (4004, 3192)),
        ("Qwen2.5-VL", {}, (1920, 1080), (1932, 1092)),
        ("Qwen2.5-VL", {"max_pixels": MILLION}, (1920, 1080), (1316, 728)),
        ("Qwen2.5-VL", {"max_pixels": MILLION}, (9999, 50), (9996, 56)),
        ("Qwen2.5-VL", {"min_pixels": MILLION}, (640, 480), (1176, 868)),
        ("Qwen3-VL", {}, (640, 480), (640, 480)),
        ("Qwen3-VL", {}, (28, 28), (256, 256)),
        ("Qwen3-VL", {}, (100, 37), (448, 160)),
        ("Qwen3-VL", {"patch": 14}, (100, 37), (448, 168)),
    ],
)
def test_sizes_are_those_of_the_image_processors(model, limits, size, resized):
    resize = resize_of(model, **limits)
    assert resize.resized(size) == resized
    assert resize.grid(size) == [1, resized[1] // resize.patch, resized[0] // resize.patch]


ANSWER = '<think>a</think><answer>{"bbox_2d": [0, 0, 322, 238]}</answer>'  # a quarter of 644 x 476
GOLD = "<answer>[0, 0, 320, 240]</answer>"  # of 640 x 480


def encoded(picture):
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture(scope="module")
def picture():
    return Image.new("RGB", (640, 480))


@pytest.mark.parametrize("column", ["image", "images", "image_path"])
@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(lambda picture, path: picture, id="pillow"),
        pytest.param(lambda picture, path: [picture, picture], id="list"),
        pytest.param(lambda picture, path: encoded(picture), id="bytes"),
        pytest.param(lambda picture, path: {"bytes": encoded(picture)}, id="datasets"),
        pytest.param(lambda picture, path: path, id="path"),
        pytest.param(lambda picture, path: str(path), id="text"),
    ],
)
def test_the_preset_takes_what_trainers_hand_over(column, entry, picture, tmp_path):
    picture.save(tmp_path / "image.png")
    given = entry(picture, tmp_path / "image.png")
    functions = load("vlm-r1-rec").reward_funcs()
    assert [f([ANSWER], solution=[GOLD], **{column: [given]}) for f in functions] == [[1.0], [1.0]]


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda grid: [np.array(grid[0])]])
def test_grids_are_lists_or_arrays(kind, picture):
    grid = kind([[1, 34, 46]])
    assert vlm_r1.iou_reward([ANSWER], [GOLD], image_grid_thw=grid, image=[picture]) == [1.0]


def test_a_row_without_a_grid_gets_one(picture):
    grids = [[1, 34, 46], None]
    values = vlm_r1.iou_reward([ANSWER] * 2, [GOLD] * 2, image_grid_thw=grids, image=[picture] * 2)
    assert values == [1.0, 1.0]


def test_the_first_column_that_has_an_image_counts(picture):
    other = Image.new("RGB", (320, 480))
    values = vlm_r1.iou_reward(
        [ANSWER] * 2, [GOLD] * 2, image_path=[[640, 480], None], image=[other, picture]
    )
    assert values == [1.0, 1.0]


@pytest.mark.parametrize(
    ("scale", "answer"),
    [
        ("model", "[0, 0, 322, 238]"),
        ("image", "[0, 0, 320, 240]"),
        ("thousandths", "[0, 0, 500, 500]"),
    ],
)
def test_boxes_may_be_in_another_scale(scale, answer, picture):
    said = f"<answer>{answer}</answer>"
    assert vlm_r1.iou_reward([said], [GOLD], image=[picture], scale=scale) == [1.0]
    others = {"model", "image", "thousandths"} - {scale}
    assert all(
        vlm_r1.iou_reward([said], [GOLD], image=[picture], scale=other) < [1.0] for other in others
    )


def test_a_recipe_names_the_model(picture, tmp_path):
    (tmp_path / "boxes.toml").write_text(
        '[[rewards]]\nreward = "vlm_r1.iou_reward"\nparams = { model = "Qwen3-VL", patch = 8 }\n'
    )
    recipe = load(tmp_path / "boxes.toml")
    said = "<answer>[0, 0, 320, 240]</answer>"
    assert recipe([said], solution=[GOLD], images=[[picture]])[0].total == 1.0


def test_a_client_sends_sizes_and_grids(picture):
    from plaudit.trainers.client import RemoteRecipe, body_of

    taken = frozenset({"image", "images", "image_grid_thw"})
    recipe = RemoteRecipe("rec", ("iou",), (1.0,), frozenset(), taken, takes_any=False)
    columns = {"image": [picture], "images": [[picture]], "image_grid_thw": np.array([[1, 2, 3]])}
    sent = json.loads(body_of(recipe, ["a"], columns))["columns"]
    assert sent["image"] == [[640, 480]]
    assert sent["images"] == [[[640, 480]]]
    assert sent["image_grid_thw"] == [[1, 2, 3]]
