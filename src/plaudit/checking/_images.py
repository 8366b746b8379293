"""A row in, and out comes what is wrong with its images, and with the boxes of its gold."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plaudit import images
from plaudit.boxes import Corners
from plaudit.checking._formats import boxes_in
from plaudit.checking._plan import CheckPlan

OUTSIDE = 1.0  # pixels by which a box may leave its image

_REMEMBERED = 10_000  # images of which a worker remembers the size, or why there is none
_known: dict[tuple[str, str], images.Size | str] = {}


def image_problems(row: Mapping[str, Any], plan: CheckPlan, file: str = "") -> dict[str, str]:
    """For each column with an image that cannot be read, why that is so; `file` is the table."""
    problems: dict[str, str] = {}
    for column in plan.images:
        for entry in _entries(row.get(column)):
            found = _size(entry, "" if column in plan.own_images else file)
            if isinstance(found, str):
                problems.setdefault(column, found)
    return problems


def box_problem(row: Mapping[str, Any], gold: Any, plan: CheckPlan, file: str) -> str:
    """What is wrong with the boxes of a gold, where the size of the image is known; else ""."""
    size = image_size(row, plan, file)
    if size is None:
        return ""
    for corners in boxes_in(gold):
        if why := _box_problem(corners, size):
            return why
    return ""


def _box_problem(corners: Corners, size: images.Size) -> str:
    left, top, right, bottom = corners
    shown = f"[{', '.join(f'{side:g}' for side in corners)}]"
    if left >= right or top >= bottom:
        return f"The box {shown} has no area: it must be [left, top, right, bottom]."
    width, height = size
    inside = min(left, top) >= -OUTSIDE and right <= width + OUTSIDE and bottom <= height + OUTSIDE
    return (
        "" if inside else f"The box {shown} reaches out of its image of {width} x {height} pixels."
    )


def image_size(row: Mapping[str, Any], plan: CheckPlan, file: str) -> images.Size | None:
    """The size of a row's image: as the row says, or of its first image that can be read."""
    for across, down in plan.sizes:
        width, height = _whole(row.get(across)), _whole(row.get(down))
        if width and height:
            return width, height
    for column in plan.images:
        for entry in _entries(row.get(column)):
            found = _size(entry, "" if column in plan.own_images else file)
            if not isinstance(found, str):
                return found
    return None


def _whole(side: Any) -> int | None:
    """A side in pixels; a CSV file has it as text."""
    try:
        return int(side)
    except (TypeError, ValueError, OverflowError):  # the last one of infinity
        return None


def _entries(value: Any) -> list[Any]:
    """The images of a cell: one, or a list of them."""
    if value is None or value in ("", []):
        return []
    is_size = isinstance(value, list | tuple) and all(isinstance(side, int) for side in value)
    return [value] if is_size or not isinstance(value, list | tuple) else list(value)


def _size(entry: Any, file: str) -> images.Size | str:
    """The size of an image that can be read to its end, or why it cannot."""
    try:
        source = images.source_of(entry)
        if source is None:
            return "there is no image in it"
        if isinstance(source, str) and not source.startswith(images.URI):
            return _size_of_file(source, file)
        return images.readable_size(source)
    except ValueError as error:
        return str(error)


def _size_of_file(path: str, file: str) -> images.Size | str:
    """The same of a path, which is looked for here, and then beside the table."""
    key = (path, file)
    if key not in _known:
        if len(_known) > _REMEMBERED:
            _known.clear()
        beside = Path(file).parent / path if file else None
        found = str(beside) if beside and not Path(path).exists() and beside.exists() else path
        try:
            _known[key] = images.readable_size(found)
        except ValueError as error:
            _known[key] = str(error)
    return _known[key]
