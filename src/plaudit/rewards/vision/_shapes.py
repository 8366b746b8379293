"""Rewards for what is drawn on an image: a box, the boxes of all objects, or a click."""

import re
from collections.abc import Sequence
from functools import lru_cache
from math import hypot, inf
from typing import Any, NamedTuple

from plaudit.inputs.columns import number_of
from plaudit.inputs.completions import Completion
from plaudit.rewards.vision._answers import (
    COLUMNS,
    NO_GOLD,
    PALIGEMMA_DIVISOR,
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
from plaudit.rewards.vision._formats import MANY, MOST_SHAPES, Format, Shape, format_of, shapes_in
from plaudit.scores import Score, boxes, reward
from plaudit.scores.algorithms import largest_matching
from plaudit.scores.boxes import Box, Corners

RIGHT_FROM = 0.5  # the IoU from which a box is right
LABELS = ("exact", "casefold", "ignore")
_MOST_SHOWN = 50  # boxes in the answer of a score


@reward(columns=COLUMNS)
def box_reward(
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
    gold_scale: str = "pixels",
    gold_order: str = "xyxy",
    golds: str = "one",
    measure: str = "iou",
    threshold: float | None = None,
    model: str = "Qwen2.5-VL",
    divisor: float = PALIGEMMA_DIVISOR,
    **kwargs: Any,
) -> list[Score]:
    """The IoU of the one box in the final answer with the gold box; 0.0 for several boxes.

    solution: the gold of each row: `[left, top, right, bottom]`, an object with `bbox_2d`, or text
        with either; `[]` or "none" if there is no object, which the answer has to say; None skips
        the row
    image_size: `[width, height]` of each image; or a column `image_path`, `image` or `images`, as
        of `vlm_r1.iou_reward`. Every scale but "pixels" needs one
    input_size: `[width, height]` of what the model saw, for the scale "model"; or `image_grid_thw`.
        Default: computed from the size of the image, as the image processor of `model` does
    format: how the model writes boxes, one of `FORMATS`, which says scale and order.
        Default: "plain": pixels, left, top, right, bottom
    scale: what the numbers are: pixels (of the image), model (pixels of what the model saw), unit
        (from 0 to 1), percent, thousand, 999ths, paligemma, florence or kosmos.
        Default: the format's
    order: xyxy, xywh, yxyx or yxhw. Default: the format's
    gold_scale, gold_order: the same of the golds. Default: pixels, xyxy
    golds: "any" if a list of golds holds alternatives. Default: "one"
    measure: "iou", or "giou": half of 1 + GIoU, which tells a near miss from a far one.
        Default: "iou"
    threshold: the measure from which the value is 1.0, below it 0.0. Default: the measure itself
    model: "Qwen2-VL", "Qwen2.5-VL" or "Qwen3-VL": whose image processor counts
    divisor: what a location of PaliGemma is divided by. Default: 1023

    >>> box_reward(["It is at [0, 0, 100, 50].", "[0, 0, 9, 9] or [0, 0, 100, 100]"],
    ...            [[0, 0, 100, 100], [0, 0, 100, 100]])
    [0.5, 0.0]
    >>> box_reward(["<box>[[0, 0, 500, 1000]]</box>"], [[0, 0, 320, 480]],
    ...            image_size=[[640, 480]], format="internvl")
    [1.0]
    """
    if golds not in ("one", "any"):
        raise ValueError(f'golds must be "one" or "any", got {golds!r:.80}')
    if measure not in ("iou", "giou"):
        raise ValueError(f'measure must be "iou" or "giou", got {measure!r:.80}')
    least = None if threshold is None else number_of(threshold, "threshold")
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
        divisor,
    )
    return [_box_score(row, golds == "any", measure, least) for row in rows]


@reward(columns=COLUMNS)
def boxes_reward(
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
    gold_scale: str = "pixels",
    gold_order: str = "xyxy",
    labels: str = "exact",
    threshold: float | Sequence[float] = 0.5,
    model: str = "Qwen2.5-VL",
    divisor: float = PALIGEMMA_DIVISOR,
    **kwargs: Any,
) -> list[Score]:
    """The F1 of all boxes in the final answer: matched, missed and extra ones count.

    A predicted and a gold box match if their IoU reaches the threshold and their labels are equal;
    each is matched once, so that a repeated box is an extra one. As many as possible are matched.

    solution: the gold boxes of each row: a list of objects with `bbox_2d` and `label`, or of
        `[left, top, right, bottom]`, or text with either; `[]` if there is no object; None skips
        the row
    labels: "exact"; "casefold": case and white space around do not count; or "ignore".
        Default: "exact"
    threshold: the least IoU of a match; of several, the mean of the values. Default: 0.5

    The other columns and settings are those of `box_reward`.

    >>> gold = [{"bbox_2d": [0, 0, 9, 9], "label": "cat"}, {"bbox_2d": [20, 0, 29, 9]}]
    >>> boxes_reward(['[{"bbox_2d": [0, 0, 9, 8], "label": "cat"}]'], [gold])
    [0.6666666666666666]
    """
    if labels not in LABELS:
        raise ValueError(f"labels must be one of {', '.join(LABELS)}, got {labels!r:.80}")
    listed = threshold if isinstance(threshold, Sequence) else [threshold]
    thresholds = [number_of(one, "threshold") for one in listed]
    if not thresholds:
        raise ValueError("threshold must not be an empty list")
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
        divisor,
    )
    return [_boxes_score(row, labels, thresholds) for row in rows]


def _box_score(row: Row, takes_any: bool, measure: str, threshold: float | None) -> Score:
    if row.gold is None:
        return NO_GOLD
    gold = _gold_boxes(row.gold, row.golds)
    if gold is None or (len(gold.boxes) > 1 and not takes_any):
        return bad_gold(row.gold, "no box" if gold is None else "several boxes")
    answer, retracted = answer_of(row.text)
    shapes = _box_shapes(answer, row.answers, MANY)
    if len(shapes) == 2 and _is_linked(answer, *shapes):
        shapes.pop()
    if not gold.boxes:
        return none_score(answer, len(shapes), retracted)
    found = _corners(shapes, row.answers)
    read = shown(found) if found else answer
    if fault := fault_of(answer, [shape[1:3] for shape in shapes], retracted, "box"):
        return failed(*fault, read, gold.shown)
    if not found:
        why = "The numbers are no box with an area."
        return failed(why, "no_answer", answer, gold.shown)
    wanted = (box.corners for box in gold.boxes if box.corners)
    best = max(wanted, key=lambda one: _overlap(found[0], one))
    value = _overlap(found[0], best)
    right = value >= RIGHT_FROM
    why = f"The IoU with the gold box is {value:.3f}."
    if measure == "giou":
        value = (1.0 + _giou(found[0], best)) / 2
    if threshold is not None:
        value = float(value >= threshold)
    return Score(value, why, read, gold.shown, measure, right=right)


def _is_linked(answer: str, first: Shape, second: Shape) -> bool:
    """Return whether the second is the first again, as the target of a Markdown link.

    Qwen2.5-VL often writes its box that way, which gains nothing.
    """
    is_same = first.numbers is not None and first.numbers == second.numbers
    return is_same and "](" in answer[first.end : second.start]


def _overlap(a: Corners, b: Corners) -> float:
    return boxes.iou(a, b, thinnest=0.0)


def _giou(a: Corners, b: Corners) -> float:
    overlap = _overlap(a, b)
    areas = sum((right - left) * (bottom - top) for left, top, right, bottom in (a, b))
    union = areas / (1.0 + overlap)  # IoU is (areas - union) / union
    hull = (max(a[2], b[2]) - min(a[0], b[0])) * (max(a[3], b[3]) - min(a[1], b[1]))
    return overlap - (hull - union) / hull


_BOX_KEY = re.compile(r"box\w*+[\"']?\s*+[:=]\s*+$")
_NEAR = 40  # characters before a list in which its key stands


def _box_shapes(text: str, written: Notation, most: int) -> list[Shape]:
    """Return the boxes of a text; numbers that cannot be read count, lone points do not."""
    return [
        shape
        for shape in shapes_in(text, written.format, most)
        if shape.numbers is None
        or len(shape.numbers) == 4
        or _BOX_KEY.search(text[max(0, shape.start - _NEAR) : shape.start])
    ]


def _corners(shapes: Sequence[Shape], written: Notation) -> list[Corners]:
    found = (corners_of(shape, written) for shape in shapes)
    return [corners for corners in found if corners]


class GoldBoxes(NamedTuple):
    """The boxes of a gold; none if it says that there is no object."""

    boxes: tuple[Box, ...]
    shown: str = "none"


@lru_cache(maxsize=1024)  # all completions of a prompt have the same gold
def _gold_boxes(gold: str, written: Notation) -> GoldBoxes | None:
    """Return the boxes of a gold; None if one is unusable."""
    if says_none(gold):
        return GoldBoxes(())
    found = _labelled(_box_shapes(gold, written, MOST_SHAPES), written)
    if not found or any(box.corners is None for box in found):
        return None
    return GoldBoxes(tuple(found), _shown(found))


def _labelled(shapes: Sequence[Shape], written: Notation) -> list[Box]:
    return [Box(corners_of(shape, written), shape.label) for shape in shapes]


def _boxes_score(row: Row, labels: str, thresholds: Sequence[float]) -> Score:
    if row.gold is None:
        return NO_GOLD
    gold = _gold_boxes(row.gold, row.golds)
    if gold is None:
        return bad_gold(row.gold, "no list of boxes")
    answer, retracted = answer_of(row.text)
    shapes = _box_shapes(answer, row.answers, MOST_SHAPES)
    if not gold.boxes:
        return none_score(answer, len(shapes), retracted)
    found = _labelled(shapes, row.answers)
    places = [shape[1:3] for shape in shapes]
    if fault := fault_of(answer, places, retracted, "box", one=False):
        return failed(*fault, _shown(found) if found else answer, gold.shown)
    return compared(found, gold, labels, thresholds)


def compared(
    found: Sequence[Box], gold: GoldBoxes, labels: str, thresholds: Sequence[float]
) -> Score:
    """Return the score of boxes that were read."""
    matched = [_matched(found, gold.boxes, labels, threshold) for threshold in thresholds]
    values = [2 * len(pairs) / (len(found) + len(gold.boxes)) for pairs in matched]
    value = sum(values) / len(values)
    why = _why(matched[0], found, gold.boxes)
    return Score(value, why, _shown(found), gold.shown, "F1 of boxes", right=value == 1.0)


def _shown(found: Sequence[Box]) -> str:
    return shown([corners for corners, _ in found[:_MOST_SHOWN] if corners])


def _matched(
    found: Sequence[Box], wanted: Sequence[Box], labels: str, threshold: float
) -> dict[int, int]:
    """Return prediction -> gold, for as many boxes as possible."""
    preds, golds = _labels(found, labels), _labels(wanted, labels)
    partners: list[list[int]] = [[] for _ in found]
    pairs = boxes.overlapping(
        [corners for corners, _ in found],
        [corners for corners, _ in wanted],
        max(threshold, 1e-9),  # boxes that do not overlap never match
        thinnest=0.0,
    )
    for pred, gold, _ in pairs:
        if golds[gold] is None or golds[gold] == preds[pred]:  # a gold without a label takes any
            partners[pred].append(gold)
    return largest_matching(partners)


def _labels(some: Sequence[Box], labels: str) -> list[object]:
    if labels == "ignore":
        return [None] * len(some)
    if labels == "exact":
        return [label for _, label in some]
    return [None if label is None else str(label).strip().casefold() for _, label in some]


def _why(pairs: dict[int, int], found: Sequence[Box], wanted: Sequence[Box]) -> str:
    counts = (
        f"{len(pairs)} of {len(wanted)} gold boxes are matched, "
        f"{len(found) - len(pairs)} of {len(found)} predicted ones are extra"
    )
    examples = [
        f"IoU {_overlap(a, b):.2f} (box {pred + 1} matched {wanted[gold].label or gold + 1})"
        for pred, gold in list(pairs.items())[:3]
        if (a := found[pred].corners) and (b := wanted[gold].corners)
    ]
    return f"{counts}{': ' if examples else ''}{', '.join(examples)}."


# --- points ---------------------------------------------------------------------------------------

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
