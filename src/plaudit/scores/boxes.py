"""Boxes: their overlap, their matches, their average precision.

A box is its corners, `(left, top, right, bottom)`. As a model writes it, with its label:

    {"bbox_2d": [10, 20, 110, 220], "label": "cat"}
"""

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

Corners = tuple[float, float, float, float]

# Below this many pairs of boxes, plain Python is faster than arrays.
_FEW = 200
# Pairs that are looked at together: bounds the memory, whatever a model writes.
_MANY = 1_000_000


class Box(NamedTuple):
    """A box as it was read; what cannot be read is None."""

    corners: Corners | None
    label: object = None


_NO_BOX = Box(None)


class Match(NamedTuple):
    """A predicted box and the gold box that it was matched with, by their places."""

    pred: int
    gold: int
    iou: float


def box_of(item: object) -> Box:
    """Return a box as a model writes it."""
    if not isinstance(item, dict):
        return _NO_BOX
    return Box(corners_of(item.get("bbox_2d")), item.get("label"))


def corners_of(value: object) -> Corners | None:
    """Four finite numbers, or None."""
    # By the exact type: True is an int as well, but not a coordinate.
    if not isinstance(value, list) or not {type(v) for v in value} <= {int, float}:
        return None
    try:
        left, top, right, bottom = map(float, value)
    except (ValueError, OverflowError):
        return None
    # The sum is finite only if all are; a sum that overflows has areas that overflow as well.
    return (left, top, right, bottom) if isfinite(left + top + right + bottom) else None


def iou(a: Corners, b: Corners, thinnest: float = 1.0) -> float:
    """Intersection over union: 0.0 if two boxes do not overlap, 1.0 if they are the same.

    thinnest: an overlap that is this wide or high, or less, counts as none. Default: 1.0, a pixel
    """
    (a_left, a_top, a_right, a_bottom), (b_left, b_top, b_right, b_bottom) = a, b
    # Conditions, since calls of min and max take most of the time of this function.
    left = a_left if a_left > b_left else b_left
    right = a_right if a_right < b_right else b_right
    if left >= right - thinnest:
        return 0.0
    top = a_top if a_top > b_top else b_top
    bottom = a_bottom if a_bottom < b_bottom else b_bottom
    if top >= bottom - thinnest:
        return 0.0
    both = (right - left) * (bottom - top)
    a_area, b_area = (
        (a_right - a_left) * (a_bottom - a_top),
        (b_right - b_left) * (b_bottom - b_top),
    )
    union = a_area + b_area - both
    # Areas beyond the range of a float leave no ratio.
    return both / union if union > 0.0 and isfinite(both) else 0.0


def match(
    preds: Sequence[Corners | None], golds: Sequence[Corners | None], threshold: float
) -> list[Match]:
    """Pairs of boxes, the best overlap first, each box once, down to `threshold`.

    Ties go to the first prediction, then to the first gold. A box that is None overlaps nothing.

    threshold: the least IoU of a pair, such as 0.5
    """
    pairs = overlapping(preds, golds, threshold)
    matches: list[Match] = []
    free_preds, free_golds = [True] * len(preds), [True] * len(golds)
    most = min(len(preds), len(golds))
    for p, g, overlap in pairs:
        if free_preds[p] and free_golds[g]:
            matches.append(Match(p, g, overlap))
            if len(matches) == most:
                break
            free_preds[p] = free_golds[g] = False
    return matches


def overlapping(
    preds: Sequence[Corners | None],
    golds: Sequence[Corners | None],
    threshold: float,
    thinnest: float = 1.0,
) -> Iterable[tuple[int, int, float]]:
    """Return every pair (prediction, gold, IoU) from `threshold` on, the best first.

    Ties go to the first prediction, then to the first gold.
    """
    few = len(preds) * len(golds) <= _FEW
    return (_pairs if few else _many_pairs)(preds, golds, threshold, thinnest)


def _pairs(
    preds: Sequence[Corners | None],
    golds: Sequence[Corners | None],
    threshold: float,
    thinnest: float,
) -> Iterable[tuple[int, int, float]]:
    if threshold <= 0.0:
        pairs = [
            (p, g, iou(pred, gold, thinnest) if pred and gold else 0.0)
            for p, pred in enumerate(preds)
            for g, gold in enumerate(golds)
        ]
    else:
        listed = [(g, *gold, gold) for g, gold in enumerate(golds) if gold]
        pairs = [
            (p, g, overlap)
            for p, pred in enumerate(preds)
            if pred
            for a_left, a_top, a_right, a_bottom in [pred]
            for g, left, top, right, bottom, gold in listed
            # Most boxes of an image lie apart: that is seen without a call.
            if a_left < right and left < a_right and a_top < bottom and top < a_bottom
            if (overlap := iou(pred, gold, thinnest)) >= threshold
        ]
    pairs.sort(key=_overlap, reverse=True)
    return pairs


def _overlap(pair: tuple[int, int, float]) -> float:
    return pair[2]


def _many_pairs(
    preds: Sequence[Corners | None],
    golds: Sequence[Corners | None],
    threshold: float,
    thinnest: float,
) -> Iterable[tuple[int, int, float]]:
    """Return the same as `_pairs`, number for number."""
    import numpy as np

    # What is not a box cannot reach a threshold above 0: leave it out, a model may write a million.
    places = [p for p, pred in enumerate(preds) if pred or threshold <= 0.0]
    gold_corners, found = _corner_array(golds), []
    rows = max(1, _MANY // len(golds))
    for start in range(0, len(places), rows):
        chunk = places[start : start + rows]
        corners = _corner_array([preds[p] for p in chunk])
        overlaps = _iou_array(corners, gold_corners, thinnest)
        p, g = np.nonzero(overlaps >= threshold)
        found.append((np.array(chunk)[p], g, overlaps[p, g]))
    if not found:
        return []
    p, g, overlap = map(np.concatenate, zip(*found, strict=True))
    best_first = np.argsort(-overlap, kind="stable")
    columns = (column[best_first].tolist() for column in (p, g, overlap))
    return zip(*columns, strict=True)


def _corner_array(boxes: Sequence[Corners | None]) -> "Floats":
    import numpy as np

    # A box without extent overlaps nothing.
    nowhere = (0.0, 0.0, 0.0, 0.0)
    return np.array([box or nowhere for box in boxes], np.float64)


def _iou_array(preds: "Floats", golds: "Floats", thinnest: float) -> "Floats":
    """Return the IoU of each prediction, down, with each gold, across: `iou`, step for step."""
    import numpy as np

    a, b = preds.T[:, :, None], golds.T[:, None, :]
    left, top = np.maximum(a[0], b[0]), np.maximum(a[1], b[1])
    right, bottom = np.minimum(a[2], b[2]), np.minimum(a[3], b[3])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        both = (right - left) * (bottom - top)
        union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both
        overlaps: Floats = both / union
    none = (left >= right - thinnest) | (top >= bottom - thinnest)
    overlaps[none | ~(union > 0.0) | ~np.isfinite(both)] = 0.0
    return overlaps


class AveragePrecision(NamedTuple):
    """COCO's two: over IoU thresholds from 0.50 to 0.95, and at 0.50."""

    ap: float
    ap50: float


def average_precision(preds: Sequence[Box], golds: Sequence[Box]) -> AveragePrecision:
    """COCO's average precision of one image, every prediction with the same confidence.

    A prediction that is not a box counts as a wrong one of its label. One whose label no gold box
    has counts nowhere: COCO takes the mean over the labels of the gold.
    """
    ids: dict[str, int] = {}
    for gold in golds:
        ids.setdefault(repr(gold.label), len(ids) + 1)
    found = [(pred, ids[repr(pred.label)]) for pred in preds if repr(pred.label) in ids]
    if not found:
        return AveragePrecision(0.0, 0.0)
    return _coco_average_precision(
        {
            "images": [{"id": 1}],
            "categories": [{"id": number} for number in ids.values()],
            "annotations": [
                {"id": place, "iscrowd": 0, **_coco_box(gold, ids[repr(gold.label)])}
                for place, gold in enumerate(golds, 1)
            ],
        },
        [{"score": 1.0, **_coco_box(pred, number)} for pred, number in found],
    )


def _coco_box(box: Box, label: int) -> dict[str, Any]:
    left, top, right, bottom = box.corners or (0.0, 0.0, 0.0, 0.0)
    # A box turned inside out has no extent; COCO would not even count it.
    width, height = max(0.0, right - left), max(0.0, bottom - top)
    return {
        "image_id": 1,
        "category_id": label,
        "bbox": [left, top, width, height],
        "area": width * height,
    }


def _coco_average_precision(golds: dict[str, Any], preds: list[dict[str, Any]]) -> AveragePrecision:
    try:
        from faster_coco_eval import COCO, COCOeval_faster  # type: ignore[import-untyped]
    except ImportError as missing:
        raise ImportError(
            "average precision needs faster-coco-eval: pip install 'plaudit[coco]'"
        ) from missing

    truth = COCO(golds, print_function=_silent)
    coco = COCOeval_faster(truth, truth.loadRes(preds), "bbox", print_function=_silent)
    coco.print_function = _silent
    # Both numbers are over boxes of all sizes: leave the small, medium and large ones out.
    coco.params.areaRng, coco.params.areaRngLbl = [[0.0, 1e10]], ["all"]
    coco.params.maxDets = [100]
    coco.evaluate()
    coco.accumulate()
    coco.summarize()
    # COCO says -1 if no gold box counts: one of more than 1e10 pixels does not.
    ap, ap50 = (max(0.0, float(stat)) for stat in coco.stats[:2])
    return AveragePrecision(ap, ap50)


def _silent(*_: object) -> None:
    pass
