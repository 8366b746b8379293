"""Boxes over images: what is drawn, and what is not opened."""

import base64
import io
import os
from pathlib import Path

import pytest
from PIL import Image
from scored_sample import box_rows, reason

from plaudit.inputs import images
from plaudit.reports import _page_rows
from plaudit.reports._page_rows import (
    GOLD,
    PREDICTION,
    boxes_in,
    draw_boxes,
    open_image,
    pictures_of,
)


def image_of(picture):
    return Image.open(io.BytesIO(base64.b64decode(picture.uri.partition(",")[2])))


def rgb(colour):
    return tuple(bytes.fromhex(colour[1:]))


def near(pixel, colour):
    return all(abs(a - b) < 60 for a, b in zip(pixel, rgb(colour), strict=True))


def test_gold_and_prediction_are_drawn_where_they_are(tmp_path):
    Image.new("RGB", (200, 100)).save(tmp_path / "black.png")
    opened = open_image("black.png", [tmp_path])
    drawn = draw_boxes(opened, [(120.0, 20.0, 180.0, 80.0)], [(20.0, 20.0, 80.0, 80.0)])
    assert near(drawn.getpixel((20, 50)), GOLD)
    assert near(drawn.getpixel((121, 20)), PREDICTION)
    assert drawn.getpixel((50, 50)) == (0, 0, 0)


def test_a_large_image_becomes_small_and_its_boxes_with_it(tmp_path):
    Image.new("RGB", (2400, 1200)).save(tmp_path / "large.jpg")
    opened = open_image(["large.jpg"], [tmp_path])
    assert (opened[0].size, opened[1]) == ((480, 240), (2400, 1200))
    drawn = draw_boxes(opened, [], [(1000.0, 500.0, 1500.0, 1e9), (-1e300, 0.0, 1e300, 5.0)])
    assert near(drawn.getpixel((200, 150)), GOLD)


def test_pictures_go_from_the_worst_to_the_best(tmp_path):
    rows = list(enumerate(box_rows(tmp_path, 48)))
    pictures = pictures_of(rows, [Path("/nowhere"), tmp_path])
    assert len(pictures) == _page_rows.PICTURES
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
    assert pictures_of(enumerate(rows), [tmp_path]) == []


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


@pytest.mark.parametrize(
    ("text", "boxes"),
    [
        ("[[0, 0, 1, 1], [2, 2, 3, 3]]", 2),
        ('```json\n[{"bbox_2d": [0, 0, 1, 1], "label": "a"}]\n```', 1),
        ('{"bbox_2d": [0, 0, 1, 1]}', 1),
        ('[{"bbox_2d": [0, 0, 1]}, "text", null]', 0),
        ("[1, 2, 3]", 0),
        ("4", 0),
        ("[" * 100_000, 0),
        ("[[0, 0, 1, 1]]" + " " * 30_000, 0),
    ],
)
def test_boxes_are_read_as_models_write_them(text, boxes):
    assert len(boxes_in(text)) == boxes
