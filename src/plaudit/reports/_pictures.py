"""Pictures of rows with the predicted and gold boxes drawn on them.

answer "[12, 20, 110, 96]", gold "[10, 20, 100, 100]", image_path "images/kite.png"
"""

import base64
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from plaudit.inputs import extract, images
from plaudit.reports._page_rows import evenly_spaced
from plaudit.reports._scored_run import IMAGE, Array, Folder, Numbers
from plaudit.scores.boxes import Corners, box_of, corners_of

PICTURES = 24
_CANDIDATES = 96  # rows that are read to find that many pictures
_SIDE = 480  # pixels of a picture's longer side
_BOXES = 50  # of each kind, drawn in one picture at most
_TEXT = 20_000  # characters; longer ones are not searched for boxes
GOLD, PREDICTION = "#12a150", "#f5701a"


@dataclass(frozen=True, slots=True)
class Picture:
    """An image with boxes drawn on it, as a data URI, and the row that it comes from."""

    row: int
    component: str
    value: float | None
    uri: str
    width: int
    height: int
    predictions: int
    golds: int


def candidate_rows(folder: Folder, numbers: Numbers) -> Array:
    """Return rows that may have boxes, evenly by value; none if there are no images."""
    names = [name for name in folder.components if "iou" in name or "detect" in name]
    if folder.image is None:
        return np.zeros(0, np.int64)
    values = numbers.values[(names or folder.components)[0]]
    return evenly_spaced(np.argsort(values, kind="stable"), _CANDIDATES)


def pictures_of(
    rows: Iterable[tuple[int, dict[str, Any]]], folders: Sequence[Path]
) -> list[Picture]:
    """Return the pictures of rows that have boxes and an image, the worst first, evenly by value.

    folders: where images may be read from, and what relative paths are relative to
    """
    drawn = list(_pictures(rows, folders))
    drawn.sort(key=lambda picture: (picture.value is None, picture.value or 0.0, picture.row))
    return [drawn[at] for at in evenly_spaced(np.arange(len(drawn)), PICTURES).tolist()]


def _pictures(
    rows: Iterable[tuple[int, dict[str, Any]]], folders: Sequence[Path]
) -> Iterator[Picture]:
    for index, row in rows:
        for entry in row["explanation"] or ():
            golds, preds = boxes_in(entry["gold"]), boxes_in(entry["answer"])
            opened = open_image(row.get(IMAGE), folders) if golds else None
            if opened is not None:
                shown = drawn_over(opened, preds, golds)
                component, value = str(entry["component"]), entry["value"]
                uri, size = data_uri(shown), shown.size
                yield Picture(index, component, value, uri, *size, len(preds), len(golds))
                break


def boxes_in(text: str | None) -> list[Corners]:
    """Return the boxes that a text gives: four numbers, or objects with `bbox_2d`."""
    if not text or len(text) > _TEXT or "[" not in text:
        return []
    items = extract.json_items(text) or extract.json_items(extract.last_fence(text, "json") or "")
    one = corners_of(items)
    found = [one] if one else [corners_of(item) or box_of(item).corners for item in items or ()]
    return [corners for corners in found if corners][:_BOXES]


# An image, scaled down to the size of a picture, and its original size.
Thumbnail = tuple[Image.Image, tuple[int, int]]


def open_image(entry: Any, folders: Sequence[Path]) -> Thumbnail | None:
    """Return the image that an `image_path` names; None if it may not or cannot be read."""
    if isinstance(entry, str) and entry.startswith("["):
        entry = extract.json_items(entry)  # a list in a column of text
    try:
        source = images.source_of(entry)
        if not isinstance(source, str | bytes):
            return None
        with images.only_below(*folders), images.opened(source) as image:
            size = image.size
            image.draft("RGB", (_SIDE * 2, _SIDE * 2))
            small = image.convert("RGB")
        small.thumbnail((_SIDE, _SIDE))
    except (OSError, ValueError, SyntaxError):
        return None
    return small, size


def drawn_over(opened: Thumbnail, preds: list[Corners], golds: list[Corners]) -> Image.Image:
    """Return the image with boxes drawn on it: gold ones solid, predicted ones dashed."""
    image, (width, height) = opened
    across, down = image.width / width, image.height / height
    pen = ImageDraw.Draw(image)
    scaled = [
        (list(pairwise(_points(box, across, down, image.size))), colour, dash)
        for boxes, colour, dash in ((golds, GOLD, 0), (preds, PREDICTION, 9))
        for box in boxes
    ]
    # White lines under all the coloured ones keep both kinds visible on any image.
    for line in (line for lines, _, _ in scaled for line in lines):
        pen.line(line, fill="white", width=5)
    for lines, colour, dash in scaled:
        for piece in (piece for line in lines for piece in _dashes(line, dash)):
            pen.line(piece, fill=colour, width=3)
    return image


_Point = tuple[float, float]
_Line = tuple[_Point, _Point]


def _points(box: Corners, across: float, down: float, size: tuple[int, int]) -> list[_Point]:
    """Return the corners of a box in the picture, from the first around to the first."""
    left, right = (min(max(x * across, 0.0), size[0] - 1.0) for x in (box[0], box[2]))
    top, bottom = (min(max(y * down, 0.0), size[1] - 1.0) for y in (box[1], box[3]))
    return [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]


def _dashes(line: _Line, dash: int) -> Iterator[_Line]:
    (x0, y0), (x1, y1) = line
    length = abs(x1 - x0) + abs(y1 - y0)
    if not dash or length < dash:
        yield line
        return
    for start in np.arange(0.0, length, 2 * dash).tolist():
        a, b = start / length, min(start + dash, length) / length
        yield (
            (x0 + (x1 - x0) * a, y0 + (y1 - y0) * a),
            (x0 + (x1 - x0) * b, y0 + (y1 - y0) * b),
        )


def data_uri(image: Image.Image) -> str:
    """Return the image as a JPEG in a data URI."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=82)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
