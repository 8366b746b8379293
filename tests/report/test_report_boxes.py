"""Boxes and points over images: what is drawn, and what is not opened."""

import base64
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scored_sample import box_rows, reason

from plaudit.inputs import images
from plaudit.reports import _report
from plaudit.reports._report import (
    GOLD,
    PREDICTION,
    draw_shapes,
    golds_in,
    open_image,
    pictures_of,
    predictions_in,
)
from plaudit.reports._scored_run import open_folder, rows_at
from plaudit.tables import score_table


def image_of(picture):
    return Image.open(io.BytesIO(base64.b64decode(picture.uri.partition(",")[2])))


def rgb(colour):
    return tuple(bytes.fromhex(colour[1:]))


def near(pixel, colour):
    return all(abs(a - b) < 60 for a, b in zip(pixel, rgb(colour), strict=True))


def test_gold_and_prediction_are_drawn_where_they_are(tmp_path):
    Image.new("RGB", (200, 100)).save(tmp_path / "black.png")
    opened = open_image("black.png", [tmp_path])
    drawn = draw_shapes(opened, [((120.0, 20.0), (180.0, 80.0))], [((20.0, 20.0), (80.0, 80.0))])
    assert near(drawn.getpixel((20, 50)), GOLD)
    assert near(drawn.getpixel((121, 20)), PREDICTION)
    assert drawn.getpixel((50, 50)) == (0, 0, 0)


def test_a_point_is_a_cross_and_a_polygon_has_all_its_sides(tmp_path):
    Image.new("RGB", (200, 100)).save(tmp_path / "black.png")
    opened = open_image("black.png", [tmp_path])
    triangle = ((20.0, 20.0), (80.0, 80.0), (20.0, 80.0))
    drawn = draw_shapes(opened, [((150.0, 50.0),)], [triangle])
    assert all(near(drawn.getpixel(at), PREDICTION) for at in [(150, 50), (144, 50), (150, 56)])
    assert all(near(drawn.getpixel(at), GOLD) for at in [(50, 50), (20, 50), (50, 80)])
    assert drawn.getpixel((144, 44)) == drawn.getpixel((70, 30)) == (0, 0, 0)


def test_a_large_image_becomes_small_and_its_boxes_with_it(tmp_path):
    Image.new("RGB", (2400, 1200)).save(tmp_path / "large.jpg")
    opened = open_image(["large.jpg"], [tmp_path])
    assert (opened[0].size, opened[1]) == ((480, 240), (2400, 1200))
    golds = [((1000.0, 500.0), (1500.0, 1e9)), ((-1e300, 0.0), (1e300, 5.0))]
    drawn = draw_shapes(opened, [], golds)
    assert near(drawn.getpixel((200, 150)), GOLD)


def test_pictures_go_from_the_worst_to_the_best(tmp_path):
    rows = list(enumerate(box_rows(tmp_path, 48)))
    pictures = pictures_of(rows, "image_path", [Path("/nowhere"), tmp_path])
    assert len(pictures) == _report.PICTURES
    values = [picture.value for picture in pictures]
    assert values == sorted(values)
    assert values[0] == min(row["iou_reward"] for _, row in rows)
    assert (pictures[0].predictions, pictures[0].golds) == (1, 1)
    assert image_of(pictures[0]).size == (pictures[0].width, pictures[0].height)


def test_rows_without_boxes_or_image_have_no_picture(tmp_path):
    row = next(iter(box_rows(tmp_path, 1)))
    words = [reason("accuracy_reward", 1.0, answer="4", gold="4")]
    rows = [
        {**row, "explanation": words},
        {**row, "explanation": None},
        {**row, "image_path": ["missing.png"]},
        {**row, "image_path": None},
    ]
    assert pictures_of(enumerate(rows), "image_path", [tmp_path]) == []


def test_an_invented_object_is_drawn(tmp_path):
    row = next(iter(box_rows(tmp_path, 1)))
    why = [reason("box_reward", 0.0, answer="[9, 9, 99, 99]", gold="none")]
    [picture] = pictures_of([(0, {**row, "explanation": why})], "image_path", [tmp_path])
    assert (picture.predictions, picture.golds) == (1, 0)


ROWS = {
    "grounding": ("[30, 30, 80, 60]", [40, 30, 90, 60], (31, 30), (90, 50)),
    "detection": (
        '[{"bbox_2d": [30, 30, 80, 60], "label": "a"}, {"bbox_2d": [9, 9, 20, 20], "label": "b"}]',
        [{"bbox_2d": [40, 30, 90, 60], "label": "a"}],
        (31, 30),
        (90, 50),
    ),
    "gui": ("click(30, 40)", [40, 30, 90, 60], (30, 40), (90, 50)),
}


@pytest.mark.parametrize("preset", ROWS)
def test_what_a_preset_scored_is_drawn(tmp_path, preset):
    """From a table whose column `image` holds paths, by way of the scored folder."""
    completion, gold, predicted, wanted = ROWS[preset]
    Image.new("RGB", (120, 90)).save(tmp_path / "black.png")
    row = {"completion": completion, "solution": gold, "image": "black.png"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    score_table(tmp_path / "rows.jsonl", preset, tmp_path / "scored", workers=1)
    folder = open_folder(tmp_path / "scored")
    rows = rows_at(folder, np.arange(1), [folder.image])
    [picture] = pictures_of(rows, folder.image, [tmp_path])
    image = image_of(picture)
    assert near(image.getpixel(predicted), PREDICTION)
    assert near(image.getpixel(wanted), GOLD)


def test_only_images_are_opened(tmp_path):
    (tmp_path / "text.png").write_text("no image")
    (tmp_path / "program.eps").write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    os.mkfifo(tmp_path / "pipe.png")
    bad = ["text.png", "program.eps", "pipe.png", "", "a\0b", 4, [], ["x" * 5000], "/dev/zero", "."]
    assert [open_image(entry, [tmp_path]) for entry in bad] == [None] * len(bad)
    assert open_image('["black.png"]', [tmp_path]) is None
    Image.new("RGB", (9, 9)).save(tmp_path / "black.png")
    assert open_image('["black.png"]', [tmp_path]) is not None


def test_images_outside_of_the_folder_are_not_shown(tmp_path, monkeypatch):
    """A page is passed on; a table names what it likes."""
    inside, outside = tmp_path / "data", tmp_path / "home"
    for folder in (inside, outside):
        folder.mkdir()
        Image.new("RGB", (9, 9)).save(folder / "image.png")
    (inside / "link.png").symlink_to(outside / "image.png")
    named = [str(outside / "image.png"), "../home/image.png", "link.png", "home/image.png"]
    monkeypatch.chdir(tmp_path)
    assert [open_image(entry, [inside]) for entry in named] == [None] * 4
    for entry in ("image.png", "data/image.png", str(inside / "image.png"), "../data/image.png"):
        assert open_image(entry, [inside]) is not None


def test_an_image_of_too_many_pixels_is_not_opened(tmp_path, monkeypatch):
    Image.new("RGB", (100, 100)).save(tmp_path / "large.png")
    monkeypatch.setattr(images, "PIXELS", 9_999)
    assert open_image("large.png", [tmp_path]) is None


BOX = ((0, 0), (1, 1))


@pytest.mark.parametrize(
    ("text", "predictions", "golds"),
    [
        ("[[0, 0, 1, 1], [2, 2, 3, 3]]", [BOX, ((2, 2), (3, 3))], [BOX, ((2, 2), (3, 3))]),
        ('```json\n[{"bbox_2d": [0, 0, 1, 1], "label": "a"}]\n```', [BOX], [BOX]),
        ('{"bbox_2d": [0, 0, 1, 1]}', [BOX], [BOX]),
        ('[{"bbox_2d": [0, 0, 1]}, "text", null]', [], []),
        ("[30, 40]", [((30, 40),)], []),
        ("[[30, 40], [50, 60]]", [((30, 40),), ((50, 60),)], []),
        ("[[0, 0], [9, 0], [0, 9]]", [((0, 0),), ((9, 0),), ((0, 9),)], [((0, 0), (9, 0), (0, 9))]),
        ("[1, 2, 3]", [], []),
        ("[NaN, 2]", [], []),
        ("4", [], []),
        ("[" * 100_000, [], []),
        ("[[0, 0, 1, 1]]" + " " * 30_000, [], []),
    ],
)
def test_shapes_are_read_as_rewards_write_them(text, predictions, golds):
    assert (predictions_in(text), golds_in(text)) == (predictions, golds)
