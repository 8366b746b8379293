"""The reward for a point: a click inside a box or a polygon."""

import re
from collections.abc import Sequence
from math import hypot, inf
from typing import Any

from plaudit.inputs.columns import number_of
from plaudit.inputs.completions import Completion
from plaudit.rewards.vision._answers import (
    COLUMNS,
    NO_GOLD,
    Notation,
    Row,
    answer_of,
    bad_gold,
    corners_of,
    failed,
    fault_of,
    none_score,
    point_of,
    rows_in_pixels,
    says_none,
    shown,
)
from plaudit.rewards.vision._formats import MANY, Format, Shape, format_of, shapes_in
from plaudit.scores import Score, reward

Point = tuple[float, float]

_ACTION = re.compile(r"\bactions?\s*+:", re.IGNORECASE)
_OTHER_ACTION = re.compile(
    r"\b(?:scroll|drag|swipe|type|write|hotkey|press|wait|move|hover)\w*+\s*+\("
    r"|[\"'](?:action|action_type)[\"']\s*+:\s*+[\"'](?![^\"']*(?:click|tap|point))",
    re.IGNORECASE,
)
_POINTS_TAG = re.compile(r"<points\b[^<>]*+>")
_TAG_PAIR = re.compile(r"\bx(\d++)\s*+=")


@reward(columns=COLUMNS)
def point_reward(
    completions: Sequence[Completion],
    solution: Sequence[Any],
    image_size: Any = None,
    input_size: Any = None,
    image_grid_thw: Any = None,
    image_path: Any = None,
    image: Any = None,
    images: Any = None,
    *,
    format: str | None = None,  # noqa: A002
    scale: str | None = None,
    order: str | None = None,
    gold: str = "box",
    gold_scale: str = "pixels",
    gold_order: str = "xyxy",
    boxes: str = "refuse",
    reach: float | None = None,
    model: str = "Qwen2.5-VL",
    **kwargs: Any,
) -> list[Score]:
    """1.0 if the one point or click in the final answer is inside the gold; 0.0 for several points.

    Read are pairs of numbers, `click(x, y)`, `pyautogui.click(x=…, y=…)`, `<point x="…" y="…">`,
    and actions in JSON. The edge of a box is inside.

    solution: the gold of each row: a box or a polygon, as a list or as text; `[]` or "none" if
        there is nothing to click, which the answer has to say; None skips the row
    order: xy or yx. Default: the format's
    gold: "box" or "polygon". Default: "box"
    boxes: "center" if a box is taken for a click into its middle. Default: "refuse": a box is no
        point
    reach: how many pixels outside of the gold the value falls to 0.0, evenly. Default: it is 0.0
        outside

    The other columns and settings are those of `box_reward`.

    >>> point_reward(["click(30, 40)", "click(30, 40) or click(1, 1)"], [[20, 20, 60, 60]] * 2)
    [1.0, 0.0]
    """
    if gold not in ("box", "polygon"):
        raise ValueError(f'gold must be "box" or "polygon", got {gold!r:.80}')
    if boxes not in ("refuse", "center"):
        raise ValueError(f'boxes must be "refuse" or "center", got {boxes!r:.80}')
    distance = None if reach is None else number_of(reach, "reach")
    columns = {
        "image_size": image_size, "input_size": input_size, "image_grid_thw": image_grid_thw,
        "image_path": image_path, "image": image, "images": images,
    }  # fmt: skip
    rows = rows_in_pixels(
        completions,
        solution,
        columns,
        format_of(format, scale, order),
        format_of(None, gold_scale, gold_order),
        model,
    )
    return [_point_score(row, gold, boxes == "center", distance) for row in rows]


def _point_score(row: Row, kind: str, takes_boxes: bool, reach: float | None) -> Score:
    if row.gold is None:
        return NO_GOLD
    answer, retracted = answer_of(row.text)
    # "Thought: … Action: click(1, 2)": what is thought does not count.
    action = max((found.end() for found in _ACTION.finditer(answer)), default=0)
    answer = answer[action:].strip() or answer
    shapes = _point_shapes(answer, row.answers.format)
    if says_none(row.gold):
        return none_score(answer, len(shapes), retracted)
    target = _target(row.gold, kind, row.golds)
    if target is None:
        return bad_gold(row.gold, f"no {kind}")
    gold = shown([(*target[0], *target[2])] if kind == "box" else target)[:2000]
    points = [point for shape in shapes if (point := _point(shape, row.answers, takes_boxes))]
    read = shown(points) if points else answer
    if fault := fault_of(answer, [shape[1:3] for shape in shapes], retracted, "point"):
        return failed(*fault, read, gold)
    if not points or _OTHER_ACTION.search(answer):
        return failed("The answer has no point or click.", "no_answer", answer, gold)
    x, y = points[0]
    off = 0.0 if _inside((x, y), target) else _distance((x, y), target)
    right = off == 0.0
    value = 1.0 if right else 0.0 if not reach else max(0.0, 1.0 - off / reach)
    why = f"({x:.6g}, {y:.6g}) is {'inside' if right else f'{off:.1f} pixels outside'}."
    return Score(value, why, read, gold, "point", right=right)


def _point_shapes(text: str, written: Format) -> list[Shape]:
    shapes = shapes_in(text, written, MANY)
    tag = _POINTS_TAG.search(text)
    several = len({*_TAG_PAIR.findall(tag[0])}) if tag else 1
    # `<points x1= y1= x2= y2=>` holds two points, and reads like the corners of a box.
    return shapes * several if several > 1 else shapes


def _point(shape: Shape, written: Notation, takes_boxes: bool) -> Point | None:
    box = corners_of(shape, written)
    if box is not None:
        return ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2) if takes_boxes else None
    return point_of(shape, written)


_FLAT_NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d{1,3})?")


def _target(gold: str, kind: str, written: Notation) -> list[Point] | None:
    """Return the corners of the gold in pixels; None if it cannot be used."""
    if kind == "polygon":
        numbers = [float(number) for number in _FLAT_NUMBER.findall(gold)]
        points = list(zip(numbers[::2], numbers[1::2], strict=False))
        if len(numbers) % 2 or len(points) < 3:
            return None
        return [(x * written.across, y * written.down) for x, y in points]
    shapes = shapes_in(gold, written.format, MANY)
    box = corners_of(shapes[0], written) if len(shapes) == 1 else None
    if box is None:
        return None
    left, top, right, bottom = box
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _inside(point: Point, corners: Sequence[Point]) -> bool:
    """Return whether a point is in a polygon by the even-odd rule; its edge is inside."""
    x, y = point
    inside = False
    for (x1, y1), (x2, y2) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if _to_segment(point, (x1, y1), (x2, y2)) <= 1e-9:
            return True
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            inside = not inside
    return inside


def _distance(point: Point, corners: Sequence[Point]) -> float:
    edges = zip(corners, [*corners[1:], corners[0]], strict=True)
    return min((_to_segment(point, a, b) for a, b in edges), default=inf)


def _to_segment(point: Point, a: Point, b: Point) -> float:
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = dx * dx + dy * dy
    along = 0.0 if not length else ((point[0] - a[0]) * dx + (point[1] - a[1]) * dy) / length
    along = min(1.0, max(0.0, along))
    return hypot(point[0] - a[0] - along * dx, point[1] - a[1] - along * dy)
