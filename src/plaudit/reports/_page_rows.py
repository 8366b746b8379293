"""The rows of a page: which are shown, the data of their table, and pictures with shapes."""

import base64
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from plaudit.inputs import extract, images
from plaudit.reports._scored_run import Array, Folder, Numbers, completion_text, prompt_text
from plaudit.reports._summary import ReportedRun, Summary
from plaudit.scores.boxes import box_of, corners_of
from plaudit.scores.score import PROBLEM_STATUSES, STATUSES

PROMPTS = 10  # the hardest and the most contested
FLAT_GROUPS = 50  # groups without signal that are listed
EXAMPLES = 5  # of each status
LONGEST = 20_000  # characters of one completion
FULL_TEXT = 8_000_000  # characters of all completions that are shown in full
CUT = 400  # characters of each of the others

_OF_A_GROUP = 16  # rows of a group that the page refers to


@dataclass(frozen=True, slots=True)
class Sample:
    """The rows on the page, and the groups and examples that the page refers to."""

    rows: Array
    full: set[int]  # the rows that are shown with their whole text
    hardest: list[int]
    contested: list[int]
    without_signal: list[int]
    examples: dict[str, list[int]]


def sample_of(
    numbers: Numbers,
    summary: Summary,
    rows: int,
    wanted: Sequence[int],
    full_text: int = FULL_TEXT,
) -> Sample:
    """Choose `rows` rows; those of `wanted` come first.

    full_text: characters of all completions that are shown in full
    """
    groups = summary.groups
    scored = np.flatnonzero(groups.scored > 0)
    hardest = scored[np.lexsort((scored, groups.mean[scored]))[:PROMPTS]].tolist()
    uneven = np.flatnonzero(~groups.without_signal)
    contested = uneven[np.lexsort((uneven, -groups.variance[uneven]))[:PROMPTS]].tolist()
    flat = np.flatnonzero(groups.without_signal & (groups.rows > 0))[:FLAT_GROUPS]
    examples = _examples(numbers)
    members = [
        np.flatnonzero(numbers.groups == group)[:_OF_A_GROUP]
        for group in dict.fromkeys([*hardest, *contested])
    ]
    referenced = [*wanted, *(row for found in examples.values() for row in found)]
    first = np.concatenate([referenced, *members, groups.first[flat]]).astype(np.int64)
    order = _in_order(numbers, list(dict.fromkeys(first.tolist()))[:rows], rows)
    costs = np.minimum(numbers.characters[order], LONGEST)
    full = set(order[np.cumsum(costs) <= full_text].tolist())
    return Sample(order, full, hardest, contested, flat.tolist(), examples)


def _examples(numbers: Numbers) -> dict[str, list[int]]:
    """Return the first rows of each status except `scored`, the worst status first."""
    codes = {status: code for code, status in enumerate(numbers.status_names)}
    return {
        status: np.flatnonzero(numbers.statuses == codes[status])[:EXAMPLES].tolist()
        for status in STATUSES[:-1]
        if status in codes
    }


def _in_order(numbers: Numbers, first: list[int], rows: int) -> Array:
    """Return `rows` rows, the most important first, then rows in trouble, then evenly by total."""
    bad = [code for code, name in enumerate(numbers.status_names) if name in PROBLEM_STATUSES]
    troubled = np.isin(numbers.statuses, bad)
    every = np.arange(len(numbers.row_ids))
    by_total = np.lexsort((every, numbers.totals))
    chosen = np.zeros(len(every), np.bool_)
    chosen[first] = True
    parts = [np.array(first, np.int64)]
    for pool in (every[troubled], by_total[~troubled[by_total]]):
        more = evenly_spaced(pool[~chosen[pool]], rows - int(chosen.sum()))
        chosen[more] = True
        # By the golden ratio, each prefix of them is spread over the whole.
        spread = np.argsort((np.arange(len(more)) * 0.6180339887498949) % 1.0, kind="stable")
        parts.append(more[spread])
    return np.concatenate(parts)


def evenly_spaced(pool: Array, count: int) -> Array:
    """Return `count` entries of a pool, evenly spaced from its first to its last."""
    if count >= len(pool):
        return pool
    return pool[np.linspace(0, len(pool) - 1, max(count, 0)).round().astype(np.int64)]


def cut(text: str, most: int) -> tuple[str, int, str]:
    """Return the beginning of a text, how many characters were left out, and the end of it.

    The end is longer, since it usually has the answer.
    """
    if len(text) <= most:
        return text, 0, ""
    head = most // 3
    return text[:head], len(text) - most, text[len(text) - (most - head) :]


def json_number(value: Any) -> float | None:
    """Return a number for the page, rounded to six decimals; None if it is None or not finite."""
    return round(float(value), 6) if value is not None and np.isfinite(value) else None


_PROMPT, _REASON, _OTHER = 4000, 2000, 1000  # characters, in rows with their whole text
_CUT_PROMPT, _CUT_REASON, _CUT_OTHER = 300, 160, 80  # and in the others
_OTHERS = 4_000_000  # characters of all other columns; after that they are cut shorter still
_SHORTEST = 24
_ITEMS = 100  # of a list in another column
_BYTES = "(bytes: not shown)"
_NAMES = "id run group status total length values prompt gold text reasons right label others"
_LATEX = re.compile(r"\$[^$\n]+\$|\\[\[(]|\\[a-zA-Z]{2,}")


class RowTable:
    """The rows of the page's table. `has_latex` says whether a text in it may have formulas."""

    def __init__(self, runs: Sequence[ReportedRun]) -> None:
        self._runs = runs
        folders = [run.folder for run in runs]
        self._components = _distinct(f.components for f in folders)
        self._columns = _distinct((*f.others, *f.unread) for f in folders)
        self._strings: dict[str, int] = {}
        self._rows: list[list[Any]] = []
        self._left = _OTHERS
        self._pairs: dict[int, int] = {}
        self.has_latex = False

    def add(self, run: int, index: int, row: dict[str, Any], full: bool) -> None:
        """Add a row of a run: its whole text, or its beginning and end."""
        folder, numbers = self._runs[run].folder, self._runs[run].numbers
        prompt_size, size = (_PROMPT, _REASON) if full else (_CUT_PROMPT, _CUT_REASON)
        text = completion_text(value_of(row, folder.completion))
        head, left_out, tail = cut(text, LONGEST if full else CUT)
        self.has_latex = self.has_latex or bool(_LATEX.search(head) or _LATEX.search(tail))
        gold = value_of(row, folder.gold)
        labels = numbers.labels
        self._rows.append(
            [
                row["row_id"],
                run,
                self._string(str(row["group_id"]), size),
                self._string(str(row["status"]), size),
                json_number(row["total"]),
                int(numbers.lengths[index]),
                [json_number(row.get(name)) for name in self._components],
                self._string(prompt_text(value_of(row, folder.prompt)), prompt_size),
                None if gold is None else self._string(completion_text(gold), size),
                [head, left_out, tail] if left_out else head,
                [self._reason(entry, size) for entry in row["explanation"] or ()],
                json_number(numbers.right[index]),
                None if labels is None else json_number(labels[index]),
                self._others(folder, row, _OTHER if full else _CUT_OTHER),
            ]
        )

    def _reason(self, entry: dict[str, Any], size: int) -> list[Any]:
        texts = (
            entry[name] for name in ("component", "status", "decided_by", "answer", "gold", "why")
        )
        known = [None if text is None else self._string(text, size) for text in texts]
        return [json_number(entry["value"]), *known, json_number(entry["ungated"])]

    def _others(self, folder: Folder, row: dict[str, Any], size: int) -> list[int | None]:
        found: list[int | None] = []
        for name in self._columns:
            value = _BYTES if name in folder.unread else row.get(name)
            if value is None:
                found.append(None)
                continue
            # What a report is split by is filtered by: it stays as it is, unless it is very long.
            most = _OTHER if name in folder.by else size if self._left > 0 else _SHORTEST
            before = len(self._strings)
            found.append(self._string(_value_text(value), most))
            self._left -= most if len(self._strings) > before else 0
        return found

    def _string(self, text: str, most: int) -> int:
        head, left_out, tail = cut(text, most)
        short = f"{head} … {tail}" if left_out else head
        known = self._strings.setdefault(short, len(self._strings))
        if known == len(self._strings) - 1 and not self.has_latex:
            self.has_latex = bool(_LATEX.search(short))
        return known

    def pair(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Show rows side by side; each is named by its index in the table."""
        for a, b in pairs:
            self._pairs[a], self._pairs[b] = b, a

    def data(self) -> dict[str, Any]:
        """Return the data of the table."""
        names = _NAMES.split()
        columns = zip(*self._rows, strict=True) if self._rows else [[] for _ in names]
        return {
            "runs": [run.name for run in self._runs],
            "components": self._components,
            "columns": self._columns,
            "strings": list(self._strings),
            **dict(zip(names, columns, strict=True)),
            "pair": [self._pairs.get(row) for row in range(len(self._rows))],
        }


def value_of(row: dict[str, Any], column: str | None) -> Any:
    """Return the value of a column, None if there is no such column."""
    return None if column is None else row[column]


def _distinct(names: Any) -> list[str]:
    return list(dict.fromkeys(name for group in names for name in group))


def _value_text(value: Any) -> str:
    """Return a value of any kind, as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and len(value) > _ITEMS:
        start = json.dumps(value[:_ITEMS], ensure_ascii=False, default=str)
        return f"{start[:-1]}, … {len(value):,} in all"
    return json.dumps(value, ensure_ascii=False, default=str)


# --- pictures with boxes and points ---------------------------------------------------------------


PICTURES = 24
_CANDIDATES = 96  # rows that are read to find that many pictures
_SIDE = 480  # pixels of a picture's longer side
_SHAPES = 50  # of each kind, drawn in one picture at most
_TEXT = 20_000  # characters; longer ones are not searched for shapes
_ARM = 8  # pixels of each arm of the cross that marks a point
_NONE = "none"  # the gold of a row whose image does not show what is asked for
_LOCATING = ("iou", "detect", "box", "point", "click")  # in the names of components
GOLD, PREDICTION = "#12a150", "#f5701a"

Point = tuple[float, float]
Shape = tuple[Point, ...]  # one point; the opposite corners of a box; the corners of a polygon


@dataclass(frozen=True, slots=True)
class Picture:
    """An image with shapes drawn on it, as a data URI, and the row that it comes from."""

    row: int
    component: str
    value: float | None
    uri: str
    width: int
    height: int
    predictions: int
    golds: int


def candidate_rows(folder: Folder, numbers: Numbers) -> Array:
    """Return rows that may have shapes, evenly by value; none if there are no images."""
    names = [name for name in folder.components if any(word in name for word in _LOCATING)]
    if folder.image is None:
        return np.zeros(0, np.int64)
    values = numbers.values[(names or folder.components)[0]]
    return evenly_spaced(np.argsort(values, kind="stable"), _CANDIDATES)


def pictures_of(
    rows: Iterable[tuple[int, dict[str, Any]]], column: str | None, folders: Sequence[Path]
) -> list[Picture]:
    """Return the pictures of rows that have shapes and an image, the worst first, evenly by value.

    column: holds the images
    folders: where images may be read from, and what relative paths are relative to
    """
    drawn = list(_pictures(rows, column, folders))
    drawn.sort(key=lambda picture: (picture.value is None, picture.value or 0.0, picture.row))
    return [drawn[at] for at in evenly_spaced(np.arange(len(drawn)), PICTURES).tolist()]


def _pictures(
    rows: Iterable[tuple[int, dict[str, Any]]], column: str | None, folders: Sequence[Path]
) -> Iterator[Picture]:
    for index, row in rows:
        for entry in row["explanation"] or ():
            golds, preds = golds_in(entry["gold"]), predictions_in(entry["answer"])
            # An object that is not there and was found all the same is worth a picture, too.
            is_located = golds or (entry["gold"] == _NONE and preds)
            opened = open_image(value_of(row, column), folders) if is_located else None
            if opened is not None:
                shown = draw_shapes(opened, preds, golds)
                component, value = str(entry["component"]), entry["value"]
                uri, size = data_uri(shown), shown.size
                yield Picture(index, component, value, uri, *size, len(preds), len(golds))
                break


def predictions_in(text: str | None) -> list[Shape]:
    """Return the boxes and points that an answer gives: `[30, 40]` is a point."""
    items = _items(text)
    points = [_point(item) for item in ([items] if _point(items) else items)]
    return [*_boxes(items), *((point,) for point in points if point)][:_SHAPES]


def golds_in(text: str | None) -> list[Shape]:
    """Return the boxes that a gold gives, or its polygon: three or more points."""
    items = _items(text)
    corners = [_point(item) for item in items]
    if len(corners) > 2 and all(corners):
        return [tuple(corner for corner in corners if corner)]
    return _boxes(items)[:_SHAPES]


def _items(text: str | None) -> list[Any]:
    """Return the list that a text gives: of numbers, of lists of them, or of objects."""
    if not text or len(text) > _TEXT or "[" not in text:
        return []
    fence = extract.last_fence(text, "json") or ""
    return extract.json_items(text) or extract.json_items(fence) or []


def _boxes(items: list[Any]) -> list[Shape]:
    """Return the boxes of a list: it is one itself, or its items are, or have a `bbox_2d`."""
    one = corners_of(items)
    found = [one] if one else [corners_of(item) or box_of(item).corners for item in items]
    return [((box[0], box[1]), (box[2], box[3])) for box in found if box]


def _point(item: Any) -> Point | None:
    # As a box without extent: it has to be two finite numbers.
    corners = corners_of([*item, *item]) if isinstance(item, list) and len(item) == 2 else None
    return corners and (corners[0], corners[1])


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


def draw_shapes(opened: Thumbnail, preds: list[Shape], golds: list[Shape]) -> Image.Image:
    """Return the image with shapes drawn on it: gold ones solid, predicted boxes dashed."""
    image, (width, height) = opened
    across, down = image.width / width, image.height / height
    pen = ImageDraw.Draw(image)
    scaled = [
        (_lines(shape, across, down, image.size), colour, dash if len(shape) > 1 else 0)
        for shapes, colour, dash in ((golds, GOLD, 0), (preds, PREDICTION, 9))
        for shape in shapes
    ]
    # White lines under all the coloured ones keep both kinds visible on any image.
    for line in (line for lines, _, _ in scaled for line in lines):
        pen.line(line, fill="white", width=5)
    for lines, colour, dash in scaled:
        for piece in (piece for line in lines for piece in _dashes(line, dash)):
            pen.line(piece, fill=colour, width=3)
    return image


_Line = tuple[Point, Point]


def _lines(shape: Shape, across: float, down: float, size: tuple[int, int]) -> list[_Line]:
    """Return the lines of a shape in the picture: a cross for a point, else all around it."""
    points = [
        (min(max(x * across, 0.0), size[0] - 1.0), min(max(y * down, 0.0), size[1] - 1.0))
        for x, y in shape
    ]
    left, top = points[0]
    if len(points) == 1:
        sides = ((-_ARM, 0), (_ARM, 0)), ((0, -_ARM), (0, _ARM))
        return [((left + x, top + y), (left + dx, top + dy)) for (x, y), (dx, dy) in sides]
    if len(points) == 2:
        right, bottom = points[1]
        points = [(left, top), (right, top), (right, bottom), (left, bottom)]
    return list(pairwise([*points, points[0]]))


def _dashes(line: _Line, dash: int) -> Iterator[_Line]:
    (x0, y0), (x1, y1) = line
    length = abs(x1 - x0) + abs(y1 - y0)  # the sides of a box are level or upright
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
