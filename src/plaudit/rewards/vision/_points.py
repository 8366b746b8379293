"""The reward for a point: a click inside a box or a polygon."""

import re
from collections.abc import Sequence
from math import hypot, inf
from typing import Any

from plaudit.inputs.columns import number_of, rows_of, same_length
from plaudit.inputs.completions import Completion, texts_of
from plaudit.inputs.images import resize_of
from plaudit.rewards.vision._answers import (
    NO_GOLD,
    answer_of,
    bad_gold,
    failed,
    gold_text,
    is_denied,
    is_taken_back,
    none_score,
    says_none,
)
from plaudit.rewards.vision._boxes import COLUMNS
from plaudit.rewards.vision._formats import MANY, Format, Shape, format_of, shapes_in
from plaudit.rewards.vision._frames import Frame, Sizes, corners_of, frame_of, point_of, sizes_of
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
    written, gold_written = format_of(format, scale, order), format_of(None, gold_scale, gold_order)
    columns = {
        "image_size": image_size, "input_size": input_size, "image_grid_thw": image_grid_thw,
        "image_path": image_path, "image": image, "images": images,
    }  # fmt: skip
    texts = texts_of(completions)
    same_length(completions, solution=solution)
    golds = [gold_text(one) for one in rows_of(solution, "solution")]
    sizes = sizes_of(completions, columns, resize_of(model), (written, gold_written))
    return [
        _point_score(text, one, size, written, gold_written, gold, boxes == "center", distance)
        for text, one, size in zip(texts, golds, sizes, strict=True)
    ]


def _point_score(
    text: str,
    gold: str | None,
    sizes: Sizes,
    written: Format,
    gold_written: Format,
    gold_kind: str,
    takes_boxes: bool,
    reach: float | None,
) -> Score:
    if gold is None:
        return NO_GOLD
    answer, retracted = answer_of(text)
    # "Thought: … Action: click(1, 2)": what is thought does not count.
    action = max((found.end() for found in _ACTION.finditer(answer)), default=0)
    answer = answer[action:].strip() or answer
    shapes = _point_shapes(answer, written)
    if says_none(gold):
        return none_score(answer, len(shapes), retracted)
    target = _target(gold, gold_kind, gold_written, frame_of(gold_written.scale, sizes))
    if target is None:
        return bad_gold(gold, f"no {gold_kind}")
    shown = gold[:300]
    point = _point(shapes, written, frame_of(written.scale, sizes), takes_boxes)
    if shapes and not retracted:
        start, end = shapes[0].start, shapes[-1].end
        retracted = is_denied(answer, start) or is_taken_back(answer, end)
    if retracted:
        return failed("The answer is taken back or denied.", answer, shown, "retracted")
    if len(shapes) > 1:
        return failed(f"The answer has {len(shapes)} points.", answer, shown, "several")
    if point is None or _OTHER_ACTION.search(answer):
        return failed("The answer has no point or click.", answer, shown, "no_answer")
    off = 0.0 if _inside(point, target) else _distance(point, target)
    right = off == 0.0
    value = 1.0 if right else 0.0 if not reach else max(0.0, 1.0 - off / reach)
    x, y = point
    where = "inside" if right else f"{off:.1f} pixels outside"
    return Score(value, f"({x:.6g}, {y:.6g}) is {where}.", f"[{x:.6g}, {y:.6g}]", shown,
                 "point", right=right)  # fmt: skip


def _point_shapes(text: str, written: Format) -> list[Shape]:
    shapes = shapes_in(text, written, MANY)
    tag = _POINTS_TAG.search(text)
    several = len({*_TAG_PAIR.findall(tag[0])}) if tag else 1
    # `<points x1= y1= x2= y2=>` holds two points, and reads like the corners of a box.
    return shapes * several if several > 1 else shapes


def _point(
    shapes: Sequence[Shape], written: Format, frame: Frame, takes_boxes: bool
) -> Point | None:
    if len(shapes) != 1:
        return None
    box = corners_of(shapes[0], written.order, frame)
    if box is not None:
        return ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2) if takes_boxes else None
    return point_of(shapes[0], written.order, frame)


_FLAT_NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d{1,3})?")


def _target(gold: str, kind: str, written: Format, frame: Frame) -> list[Point] | None:
    """Return the corners of the gold in pixels; None if it cannot be used."""
    if kind == "polygon":
        numbers = [float(number) for number in _FLAT_NUMBER.findall(gold)]
        points = list(zip(numbers[::2], numbers[1::2], strict=False))
        if len(numbers) % 2 or len(points) < 3:
            return None
        return [(x * frame.across, y * frame.down) for x, y in points]
    shapes = shapes_in(gold, written, MANY)
    box = corners_of(shapes[0], written.order, frame) if len(shapes) == 1 else None
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
