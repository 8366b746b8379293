"""Images on a server: no client names a file that it may not."""

import base64
import io
import os

import httpx
import pytest
from PIL import Image

from plaudit.recipes import load
from plaudit.serve import serving

ANSWER, GOLD = "<answer>[0, 0, 70, 70]</answer>", "<answer>[0, 0, 140, 140]</answer>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "images").mkdir()
    for place in (folder, folder / "images"):
        Image.new("RGB", (280, 140)).save(place / "kite.png")
        os.mkfifo(place / "pipe.png")
    return folder / "images"


def ask(url, *images):
    columns = {
        "solution": [GOLD] * len(images),
        "image_grid_thw": [[1, 5, 10]] * len(images),
        "image_path": list(images),
    }
    batch = {"completions": [ANSWER] * len(images), "columns": columns}
    return httpx.post(f"{url}/v1/score", json=batch, timeout=60)


def uri():
    buffer = io.BytesIO()
    Image.new("RGB", (280, 140)).save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def values(answer):
    return [row["components"]["iou_reward"]["value"] for row in answer.json()["rows"]]


def test_without_a_folder_images_come_as_sizes_or_bytes(folder):
    with serving(load("vlm-r1-rec")) as url:
        assert values(ask(url, [280, 140], uri(), [[280, 140]])) == [1.0] * 3
        for path in ("kite.png", str(folder / "kite.png"), "/no/such/file", "/dev/zero"):
            refused = ask(url, [280, 140], path)
            assert refused.status_code == 422
            assert "row 1" in refused.json()["error"]
            assert "[width, height]" in refused.json()["error"]


def test_with_a_folder_paths_start_there_and_stay_there(folder):
    with serving(load("vlm-r1-rec"), images=folder) as url:
        assert values(ask(url, "kite.png", ["kite.png"], str(folder / "kite.png"))) == [1.0] * 3
        outside = [str(folder.parent / name) for name in ("kite.png", "pipe.png", "none.png")]
        outside += ["../kite.png", "../pipe.png", "../none.png", "/etc/passwd", "/etc/none"]
        errors = [ask(url, path).json()["error"].replace(path, "…") for path in outside]
        assert len(set(errors)) == 1
        assert "leaves the folder of images" in errors[0]


def test_pipes_stop_no_server(folder):
    """There are fewer threads than requests here, and each would wait for ever."""
    with serving(load("vlm-r1-rec"), images=folder) as url:
        for _ in range(40):
            assert ask(url, "pipe.png").status_code == 422
        assert values(ask(url, "kite.png")) == [1.0]
