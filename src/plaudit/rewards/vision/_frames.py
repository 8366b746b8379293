"""From the numbers of a format to pixels of the image."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from plaudit.inputs import images as images_  # `images` is a column
from plaudit.inputs.columns import naming_row, rows_of, same_length, whole_numbers
from plaudit.inputs.images import Resize, Size
from plaudit.rewards.vision._formats import Format, Shape
from plaudit.scores.boxes import Corners

IMAGES = ("image_path", "image", "images")  # the columns in which trainers and tables keep an image
PALIGEMMA_DIVISOR = 1023
_PARTS = {"unit": 1.0, "percent": 100.0, "thousand": 1000.0, "999ths": 999.0, "florence": 1000.0}


class Sizes(NamedTuple):
    """The sizes of one row: of the image, and of what the model saw; None if unknown."""

    image: Size | None = None
    seen: Size | None = None


class Frame(NamedTuple):
    """How many pixels of the image one unit of a format is, across and down."""

    across: float
    down: float


def sizes_of(
    completions: Sequence[Any],
    columns: dict[str, Any],
    resize: Resize,
    written: Sequence[Format],
) -> list[Sizes]:
    """Return the sizes of each row, from the columns that there are.

    columns: image_size, input_size, image_grid_thw and those of IMAGES; None if missing
    written: the formats of completions and golds: a size that no scale needs is not looked for
    """
    scales = {one.scale for one in written}
    rows = len(completions)
    if scales == {"pixels"}:
        return [Sizes()] * rows
    sizes = _image_sizes(completions, columns)
    seen = _seen_sizes(completions, columns, sizes, resize) if "model" in scales else [None] * rows
    return [Sizes(*both) for both in zip(sizes, seen, strict=True)]


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
) -> list[Size | None]:
    named, grids = columns.get("input_size"), columns.get("image_grid_thw")
    if named is not None:
        return list(_pairs(completions, named, "input_size"))
    if grids is None:
        return [resize.resized(size) for size in sizes]
    same_length(completions, image_grid_thw=grids)
    seen: list[Size | None] = []
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


def frame_of(scale: str, sizes: Sizes, divisor: float = PALIGEMMA_DIVISOR) -> Frame:
    """Return the frame of a scale."""
    if scale == "pixels" or sizes.image is None:
        return Frame(1.0, 1.0)
    width, height = sizes.image
    if scale == "model":
        assert sizes.seen is not None
        return Frame(width / sizes.seen[0], height / sizes.seen[1])
    parts = {**_PARTS, "paligemma": divisor, "kosmos": 32.0}[scale]
    return Frame(width / parts, height / parts)


def corners_of(shape: Shape, order: str, frame: Frame) -> Corners | None:
    """Return the corners of a box in pixels; None if it is none, or has no area."""
    if shape.numbers is None or len(shape.numbers) != 4:
        return None
    a, b, c, d = shape.numbers
    order = shape.order or order
    if order in ("yxyx", "yxhw"):
        a, b, c, d = b, a, d, c
    if order in ("xywh", "yxhw"):
        c, d = a + c, b + d
    left, top, right, bottom = a * frame.across, b * frame.down, c * frame.across, d * frame.down
    return (left, top, right, bottom) if left < right and top < bottom else None


def point_of(shape: Shape, order: str, frame: Frame) -> tuple[float, float] | None:
    """Return a point in pixels; None if the shape has not two numbers."""
    if shape.numbers is None or len(shape.numbers) != 2:
        return None
    x, y = shape.numbers
    if not shape.order and order.startswith("y"):
        x, y = y, x
    return x * frame.across, y * frame.down
