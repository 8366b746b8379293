"""What is opened as an image, and what is not."""

import base64
import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from plaudit.inputs import images
from plaudit.inputs.images import only_below, opened, size_of, source_of
from plaudit.rewards import vlm_r1


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "images").mkdir()
    (tmp_path / "secret").mkdir()
    for place in ("images", "secret"):
        Image.new("RGB", (20, 10)).save(tmp_path / place / "kite.png")
    (tmp_path / "images" / "link.png").symlink_to(tmp_path / "secret" / "kite.png")
    (tmp_path / "images" / "away").symlink_to(tmp_path / "secret")
    return tmp_path / "images"


def encoded(kind):
    buffer = io.BytesIO()
    Image.new("RGB", (20, 10)).save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", images.FORMATS)
def test_sizes_are_read_of_files_and_of_bytes(kind, tmp_path):
    data = encoded(kind)
    (tmp_path / "image").write_bytes(data)
    uri = f"data:image/{kind.lower()};base64,{base64.b64encode(data).decode()}"
    for entry in (tmp_path / "image", [str(tmp_path / "image")], data, uri, {"bytes": data}):
        assert size_of(source_of(entry)) == (20, 10)


@pytest.mark.parametrize("entry", [[20, 10], (20, 10), [[20, 10]], {"path": None, "bytes": None}])
def test_a_size_needs_no_image(entry):
    source = source_of(entry)
    assert source is None or size_of(source) == (20, 10)


def pipe(folder):
    os.mkfifo(folder / "pipe.png")
    return folder / "pipe.png"


def huge(folder):
    with (folder / "huge.png").open("wb") as file:
        file.write(encoded("PNG"))
        file.truncate(images.BYTES + 1)
    return folder / "huge.png"


def many_pixels(folder):
    file = folder / "many.png"
    data = bytearray(encoded("PNG"))
    data[16:24] = (11_000).to_bytes(4, "big") * 2
    data[29:33] = __import__("zlib").crc32(data[12:29]).to_bytes(4, "big")
    file.write_bytes(data)
    return file


def text(folder):
    (folder / "text.png").write_text("no image")
    return folder / "text.png"


def program(folder):
    file = folder / "program.eps"
    file.write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    return file


def cut_short(folder):
    (folder / "short.png").write_bytes(encoded("PNG")[:20])
    return folder / "short.png"


UNREADABLE = {
    "pipe": (pipe, "not a regular file"),
    "device": (lambda _: "/dev/zero", "not a regular file"),
    "terminal": (lambda _: "/dev/tty", "image"),
    "folder": (lambda folder: folder, "not a regular file"),
    "proc": (lambda _: "/proc/self/environ", "the file is empty"),
    "blocking": (lambda _: "/proc/kmsg", "image"),
    "huge": (huge, "more than 67,108,864 bytes: give it as [width, height]"),
    "pixels": (many_pixels, "more than 100,000,000 pixels: give it as [width, height]"),
    "text": (text, "it is none of PNG, JPEG"),
    "program": (program, "it is none of PNG, JPEG"),
    "cut short": (cut_short, "cannot be read"),
    "missing": (lambda folder: folder / "none.png", "No such file"),
    "null": (lambda _: "a\0b", "null"),
    "no base64": (lambda _: "data:image/png;base64,%%%", "not base64"),
    "plain data": (lambda _: "data:image/png,abc", "data:image/png;base64,…"),
    "negative": (lambda _: [-1, 10], "must be above 0"),
    "number": (lambda _: 7, "got int"),
}


@pytest.mark.parametrize("why", UNREADABLE)
def test_what_is_no_image_is_refused_at_once(why, tmp_path):
    made, said = UNREADABLE[why]
    entry = made(tmp_path)
    with pytest.raises(ValueError, match="row 0") as refused:
        vlm_r1.iou_reward(
            ["<answer>[1, 2, 3, 4]</answer>"],
            ["[1, 2, 3, 4]"],
            image_grid_thw=[[1, 5, 10]],
            image_path=[entry],
        )
    assert said in str(refused.value)


OF_THE_WRONG_KIND = [
    (4, "int: 4"),
    (4.5, "float: 4.5"),
    (True, "bool: True"),
    ([4], "list: [4]"),
    ([4.0, 3.0], "list: [4.0, 3.0]"),
    ([True, True], "list: [True, True]"),
    ([1, 2, 3], "list: [1, 2, 3]"),
    ({"path": 4}, "int: 4"),
    (np.array(4), "ndarray: array(4)"),
    (np.int64(4), "int64: "),
    (object(), "object: "),
]


@pytest.mark.parametrize(("entry", "shown"), OF_THE_WRONG_KIND, ids=lambda one: type(one).__name__)
def test_an_entry_of_the_wrong_kind_is_named_with_its_row(entry, shown):
    with pytest.raises(ValueError) as refused:
        vlm_r1.iou_reward(
            ["<answer>[1, 2, 3, 4]</answer>"] * 2,
            ["[1, 2, 3, 4]"] * 2,
            image_grid_thw=[[1, 5, 10]] * 2,
            image_path=[[20, 10], entry],
        )
    wanted = "row 1: an image must be a path, the bytes of a file, an image of Pillow, or "
    wanted += "[width, height], got "
    assert str(refused.value).startswith(wanted + shown)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_of_any_kind_are_the_file(kind):
    assert size_of(source_of(kind(encoded("PNG")))) == (20, 10)


def test_only_what_is_below_a_folder_is_opened(folder):
    with only_below(folder):
        for path in ("kite.png", "./kite.png", "a/../kite.png", str(folder / "kite.png")):
            assert size_of(path) == (20, 10)


OUTSIDE = ["../secret/kite.png", "link.png", "away/kite.png", "/etc/passwd", "../secret/none.png"]


def test_what_is_outside_is_refused_alike_whether_it_is_there_or_not(folder):
    absolute = [str(folder.parent / "secret" / name) for name in ("kite.png", "none.png")]
    odd = ["../secret/../images/kite.png/../../x", "away/none.png", "../../../../proc/self/mem"]
    said = set()
    for path in [*OUTSIDE, *absolute, *odd]:
        with only_below(folder), pytest.raises(ValueError) as refused, opened(path):
            pass
        said.add(str(refused.value))
    assert said == {"the image cannot be read: its path leaves the folder of images"}


def test_a_folder_by_another_name_is_the_same_folder(folder):
    alias = folder.parent / "alias"
    alias.symlink_to(folder)
    with only_below(Path("alias")):
        assert size_of("kite.png") == (20, 10)
        assert size_of(str(alias / "kite.png")) == (20, 10)


def test_no_folder_means_no_file_but_sizes_and_bytes(folder):
    with only_below():
        with pytest.raises(ValueError, match=r"send the image's size as \[width, height\]"):
            size_of(str(folder / "kite.png"))
        assert size_of((20, 10)) == size_of(encoded("PNG")) == (20, 10)
