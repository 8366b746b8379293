"""The rows of a call: texts, golds, and how many pixels of the image the numbers of each are."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from plaudit.inputs import images as images_  # `images` is a column
from plaudit.inputs.columns import naming_row, rows_of, same_length, whole_numbers
from plaudit.inputs.completions import Completion, texts_of
from plaudit.inputs.images import Resize, Size, resize_of
from plaudit.rewards.vision._answers import gold_text
from plaudit.rewards.vision._formats import Format, Shape
from plaudit.scores.boxes import Corners

IMAGES = ("image_path", "image", "images")  # the columns in which trainers and tables keep an image
COLUMNS = ("solution", "image_size", "input_size", "image_grid_thw", *IMAGES)
PALIGEMMA_DIVISOR = 1023
_PARTS = {
    "unit": 1,
    "percent": 100,
    "thousand": 1000,
    "999ths": 999,
    "florence": 1000,
    "kosmos": 32,
}


class Notation(NamedTuple):
    """How boxes and points of one row are written: one unit is so many pixels of the image."""

    format: Format
    across: float = 1.0
    down: float = 1.0


class Row(NamedTuple):
    """A completion and its gold; None if there is none."""

    text: str
    gold: str | None
    answers: Notation
    golds: Notation


def rows_in_pixels(
    completions: Sequence[Completion],
    solution: Sequence[Any],
    columns: dict[str, Any],
    answers: Format,
    golds: Format,
    model: str,
    divisor: float = PALIGEMMA_DIVISOR,
) -> list[Row]:
    """Return the rows of a call. A size that no scale needs is not looked for.

    columns: image_size, input_size, image_grid_thw and those of IMAGES; None if missing
    """
    texts = texts_of(completions)
    same_length(completions, solution=solution)
    written = [gold_text(gold) for gold in rows_of(solution, "solution")]
    resize, scales = resize_of(model), {answers.scale, golds.scale}
    sizes = [] if scales == {"pixels"} else _image_sizes(completions, columns)
    seen = _seen_sizes(completions, columns, sizes, resize) if "model" in scales else []

    def notations(format: Format) -> list[Notation]:  # noqa: A002
        if format.scale == "pixels":
            return [Notation(format)] * len(texts)
        parts = divisor if format.scale == "paligemma" else _PARTS.get(format.scale, 0)
        units = seen if format.scale == "model" else [(parts, parts)] * len(texts)
        return [
            Notation(format, width / across, height / down)
            for (width, height), (across, down) in zip(sizes, units, strict=True)
        ]

    return list(map(Row, texts, written, notations(answers), notations(golds)))


def _image_sizes(completions: Sequence[Any], columns: dict[str, Any]) -> list[Size]:
    named = columns.get("image_size")
    if named is not None:
        return _pairs(completions, named, "image_size")
    held = {name: columns[name] for name in IMAGES if columns.get(name) is not None}
    if not held:
        raise ValueError(
            f"this scale needs the size of each image: pass image_size, or {', '.join(IMAGES)}"
        )
    same_length(completions, **held)
    listed = [rows_of(column, name) for name, column in held.items()]
    known: dict[images_.Source, Size] = {}
    sizes = []
    for row in range(len(completions)):
        with naming_row(row):
            entries = (images_.source_of(column[row]) for column in listed)
            source = next((one for one in entries if one is not None), None)
            if source is None:
                raise ValueError(f"there is no {' and no '.join(held)}")
            if source not in known:
                known[source] = images_.size_of(source)
            sizes.append(known[source])
    return sizes


def _seen_sizes(
    completions: Sequence[Any], columns: dict[str, Any], sizes: list[Size], resize: Resize
) -> list[Size]:
    named, grids = columns.get("input_size"), columns.get("image_grid_thw")
    if named is not None:
        return _pairs(completions, named, "input_size")
    if grids is None:
        return [resize.resized(size) for size in sizes]
    same_length(completions, image_grid_thw=grids)
    seen = []
    for row, (grid, size) in enumerate(zip(rows_of(grids, "image_grid_thw"), sizes, strict=True)):
        wanted = "[frames, rows, columns]"
        cells = resize.grid(size) if grid is None else whole_numbers(grid, f"grid {row}", wanted)
        if len(cells) != 3 or min(cells) < 1:
            raise ValueError(f"image_grid_thw {row} must be {wanted}, got {list(cells)!r:.80}")
        seen.append((cells[2] * resize.patch, cells[1] * resize.patch))
    return seen


def _pairs(completions: Sequence[Any], column: Any, name: str) -> list[Size]:
    """Return a column of [width, height]; one pair holds for every row."""
    entries = rows_of(column, name)
    if len(entries) == 2 and all(isinstance(entry, int | float) for entry in entries):
        entries = [entries] * len(completions)
    same_length(completions, **{name: entries})
    pairs = []
    for row, entry in enumerate(entries):
        numbers = whole_numbers(entry, f"{name} {row}", "[width, height]")
        if len(numbers) != 2 or min(numbers) < 1:
            raise ValueError(f"{name} {row} must be [width, height], got {list(numbers)!r:.80}")
        pairs.append((int(numbers[0]), int(numbers[1])))
    return pairs


def corners_of(shape: Shape, written: Notation) -> Corners | None:
    """Return the corners of a box in pixels; None if it is none, or has no area."""
    if shape.numbers is None or len(shape.numbers) != 4:
        return None
    a, b, c, d = shape.numbers
    order = shape.order or written.format.order
    if order in ("yxyx", "yxhw"):
        a, b, c, d = b, a, d, c
    if order in ("xywh", "yxhw"):
        c, d = a + c, b + d
    across, down = written.across, written.down
    left, top, right, bottom = a * across, b * down, c * across, d * down
    return (left, top, right, bottom) if left < right and top < bottom else None


def point_of(shape: Shape, written: Notation) -> tuple[float, float] | None:
    """Return a point in pixels; None if the shape has not two numbers."""
    if shape.numbers is None or len(shape.numbers) != 2:
        return None
    x, y = shape.numbers
    if not shape.order and written.format.order.startswith("y"):
        x, y = y, x
    return x * written.across, y * written.down


# One template takes half the time of a format for each number.
_SHOWN = {2: "[%.6g, %.6g]", 4: "[%.6g, %.6g, %.6g, %.6g]"}


def shown(shapes: Sequence[tuple[float, ...]]) -> str:
    """Return boxes or points in pixels, as the report reads them: `[[0, 0, 9, 9], [5, 5]]`."""
    texts = [_SHOWN[len(shape)] % shape for shape in shapes]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
