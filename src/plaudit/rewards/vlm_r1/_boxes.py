"""Rewards for boxes: how well predicted boxes fit the gold ones, and the IoU of a single box."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Any

from plaudit.inputs import extract
from plaudit.inputs import images as images_  # `images` is a column
from plaudit.inputs.columns import naming_row, number_of, rows_of, same_length, whole_numbers
from plaudit.inputs.completions import Completion, Solution, gold_text_of, gold_texts_of, texts_of
from plaudit.inputs.images import Resize, Size, resize_of
from plaudit.rewards.vlm_r1._common import (
    CORRECT,
    OVERLAPPING,
    first_answer,
    last_answer,
    log,
    sameness,
)
from plaudit.scores import Score, boxes, reward, text_reward
from plaudit.scores.score import NO_GOLD

_Weights = tuple[float, float, float]  # of position, label and completeness
_USUAL: _Weights = (0.7, 0.0, 0.3)
_IMAGES = ("image_path", "image", "images")  # where trainers and tables keep an image
_SCALES = ("model", "image", "thousandths")


@text_reward(columns=("solution",))
def detection_score(
    content: str,
    sol: Solution,
    iou_threshold: float = 0.5,
    alpha: float = 0.7,
    beta: float = 0.0,
    gamma: float = 0.3,
) -> Score:
    """How well predicted boxes fit the gold ones: position, label and completeness, weighted.

    Boxes are matched greedily, the best overlap first. Position is the mean IoU and label the share
    of right labels over the gold boxes; a match with a wrong label has no position. Completeness is
    1 less the mean of two shares: of gold boxes that no prediction matches, and of predictions that
    match no gold box.

    content, sol: texts with fenced JSON, ```json [{"bbox_2d": [left, top, right, bottom], "label":
        "cat"}]```
    iou_threshold: the least overlap of boxes that match. Default: 0.5
    alpha, beta, gamma: the weights of position, label and completeness; the value is divided by
        their sum. Default: 0.7, 0.0 and 0.3

    >>> gold = '```json [{"bbox_2d": [0, 0, 100, 100], "label": "cat"}] ```'
    >>> detection_score('```json [{"bbox_2d": [0, 0, 100, 80], "label": "Cat"}] ```', gold)
    0.8599999999999999
    >>> detection_score("no boxes", gold)
    0.0
    """
    weights = (
        number_of(alpha, "alpha"),
        number_of(beta, "beta"),
        number_of(gamma, "gamma"),
    )
    if sum(weights) == 0 or not all(map(isfinite, weights)):
        raise ValueError("alpha, beta and gamma must be finite, and must not sum to 0")
    threshold = number_of(iou_threshold, "iou_threshold")
    gold = gold_text_of(sol)
    if gold is None:
        return NO_GOLD
    return _detection(extract.clean(content), extract.clean(gold), threshold, weights)


def _weighted(weights: _Weights, position: float, label: float, completeness: float) -> float:
    alpha, beta, gamma = weights
    return (alpha * position + beta * label + gamma * completeness) / (alpha + beta + gamma)


def _detection(content: str, gold: str, threshold: float, weights: _Weights) -> Score:
    """Both texts are cleaned."""
    answer, truth = extract.first_fence(content, "json"), extract.first_fence(gold, "json")
    golds, preds = _gold_boxes(truth), _pred_boxes(answer)
    if not golds or not preds:
        return _without_boxes(preds, golds, answer, truth, "greedy matching")
    pred_corners, gold_corners = ([box.corners for box in side] for side in (preds, golds))
    matches = boxes.match(pred_corners, gold_corners, threshold)
    right = [m for m in matches if _same_label(preds[m.pred], golds[m.gold])]
    missed = (len(golds) - len(matches)) / len(golds)
    vain = (len(preds) - len(matches)) / len(preds)
    position, label = sum(m.iou for m in right) / len(golds), len(right) / len(golds)
    value = _weighted(weights, position, label, 1.0 - (missed + vain) / 2.0)
    why = (
        f"{len(preds)} predicted and {len(golds)} gold boxes: {len(matches)} overlap by at least "
        f"{threshold}, {len(right)} of these with the right label."
    )
    return Score(value, why, answer, truth, "greedy matching", right=value >= CORRECT)


def _same_label(pred: boxes.Box, gold: boxes.Box) -> bool:
    a, b = (x.lower() if isinstance(x, str) else x for x in (pred.label, gold.label))
    return a == b


def weighted_sum(content: str, gold: str) -> Score:
    answer, truth = extract.clean(content), extract.clean(gold)
    if truth != "none":
        return _detection(answer, truth, 0.5, _USUAL)
    same = answer == "none"
    why = f"The gold is none, and the answer {'is, too' if same else 'is not'}."
    return sameness(same, why, answer, truth, "none")


def _map(content: str, gold: str, measure: str = "ap", by_length: bool = False) -> Score:
    method = {"ap": "COCO AP", "ap50": "COCO AP50"}[measure]
    answer, truth = extract.last_fence(content, "json"), extract.last_fence(gold, "json")
    golds, preds = _gold_boxes(truth), _pred_boxes(answer)
    if bad := [place for place, box in enumerate(golds) if box.corners is None]:
        raise ValueError(f"box {bad[0]} of the gold has no four numbers in bbox_2d: {truth!r:.80}")
    if not golds or not preds:
        return _without_boxes(preds, golds, answer, truth, method)
    precision: float = getattr(boxes.average_precision(preds, golds), measure)
    share = min(1.0, len(golds) / len(preds)) if by_length else 1.0
    why = f"{method} is {precision:.3f} for {len(preds)} predicted and {len(golds)} gold boxes"
    why += f", times {share:.3f} for their number." if by_length else "."
    value = precision * share
    return Score(value, why, answer, truth, method, right=value >= OVERLAPPING)


def _od(content: str, gold: str, measure: str = "ap", by_length: bool = False) -> Score:
    answer, truth = extract.last_tag(content, "answer"), first_answer(gold)
    if answer is None:
        return sameness(False, "There is no <answer>.", None, truth, "no answer")
    if answer == truth == "None":
        return sameness(True, "The gold is None, and the answer is, too.", answer, truth, "none")
    return _map(answer, truth, measure, by_length)


def _pred_boxes(block: str | None) -> list[boxes.Box]:
    return [boxes.box_of(item) for item in extract.json_items(block or "") or ()]


def _gold_boxes(block: str | None) -> list[boxes.Box]:
    items = extract.json_items(block) if block else []
    if items is None:
        raise ValueError(f"the fenced JSON of the gold is not a list of boxes: {block!r:.80}")
    return [boxes.box_of(item) for item in items]


def _without_boxes(
    preds: list[boxes.Box],
    golds: list[boxes.Box],
    answer: str | None,
    truth: str | None,
    method: str,
) -> Score:
    why = f"{len(preds) or 'No'} predicted and {len(golds) or 'no'} gold boxes."
    return sameness(not preds and not golds, why, answer, truth, method)


BOX_METHODS: dict[str, Callable[[str, str], Score]] = {
    "map": _map,
    "od_ap": _od,
    "od_ap50": partial(_od, measure="ap50"),
    "odLength": partial(_od, by_length=True),
    "weighted_sum": weighted_sum,
}


# --- one box --------------------------------------------------------------------------------------


@reward(columns=("solution", "image_grid_thw", *_IMAGES), needs_any=_IMAGES)
def iou_reward(
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    image_grid_thw: Sequence[Any] | None = None,
    image_path: Sequence[Any] | None = None,
    image: Sequence[Any] | None = None,
    images: Sequence[Any] | None = None,
    *,
    model: str = "Qwen2.5-VL",
    patch: int | None = None,
    merge: int | None = None,
    min_pixels: int | None = None,
    max_pixels: int | None = None,
    scale: str = "model",
    **kwargs: object,
) -> list[Score]:
    """The IoU of the first box in the first `<answer>` with the gold box in the gold's last.

    The gold is in the image's own pixels. The predicted box is in pixels of what the model saw, and
    is scaled to those of the image. The columns are

    - `image_path`, `image` or `images`: a path, the bytes of a file, an image of Pillow, or the
      size `[width, height]`; of a file only the header is read (see `plaudit.inputs.images`)
    - `image_grid_thw`: what the model saw, `[frames, rows, columns]` in patches. Where there is
      none, it is computed from the image's size, as the model's image processor does

    model: "Qwen2-VL", "Qwen2.5-VL" or "Qwen3-VL": whose patches and limits of pixels count
    patch, merge, min_pixels, max_pixels: what differs from that model's own, such as the
        `max_pixels` that a processor was made with. Default: the model's own
    scale: what the numbers of a predicted box are. "model": pixels of what the model saw;
        "image": pixels of the image itself; "thousandths" of the image's width and height, as
        Qwen3-VL writes them. Default: "model"

    >>> from PIL import Image
    >>> answer, gold = "<answer>[0, 0, 70, 70]</answer>", "<answer>[0, 0, 140, 140]</answer>"
    >>> iou_reward([answer], [gold], image_grid_thw=[[1, 5, 10]], image_path=[[280, 140]])
    [1.0]
    >>> iou_reward([gold], [gold], image=[Image.new("RGB", (280, 140))])
    [1.0]
    """
    resize = resize_of(
        model, patch=patch, merge=merge, min_pixels=min_pixels, max_pixels=max_pixels
    )
    if scale not in _SCALES:
        raise ValueError(f"scale must be one of {', '.join(_SCALES)}, got {scale!r:.80}")
    given = dict(zip(_IMAGES, (image_path, image, images), strict=True))
    columns = {name: column for name, column in given.items() if column is not None}
    if not columns:
        raise ValueError(
            f"iou_reward needs one of the columns {', '.join(_IMAGES)}, with one entry per "
            "completion: a path, the bytes of a file, an image, or [width, height]"
        )
    same_length(completions, solution=solution, **columns)
    grids = _grids(completions, image_grid_thw)
    listed = {name: rows_of(column, name) for name, column in columns.items()}
    texts, golds = texts_of(completions), gold_texts_of(solution)
    sizes: dict[images_.Source, Size] = {}
    scores = []
    for row, (text, gold) in enumerate(zip(texts, golds, strict=True)):
        source = _source([column[row] for column in listed.values()], row, list(listed))
        with naming_row(row, images_.name_of(source)):
            if source not in sizes:
                sizes[source] = images_.size_of(source)
            seen = _seen(grids[row], sizes[source], resize, scale)
            scores.append(_iou_score(text, gold, seen, sizes[source]))
    log("IoU reward", scores, texts, golds)
    return scores


def _grids(completions: Sequence[Any], column: Sequence[Any] | None) -> list[Sequence[int] | None]:
    if column is None:
        return [None] * len(completions)
    same_length(completions, image_grid_thw=column)
    return [
        None
        if grid is None
        else whole_numbers(grid, f"image_grid_thw {row}", "[frames, rows, columns]")
        for row, grid in enumerate(rows_of(column, "image_grid_thw"))
    ]


def _seen(grid: Sequence[int] | None, size: Size, resize: Resize, scale: str) -> tuple[int, int]:
    """Return the width and height in whose pixels a predicted box is."""
    if scale == "image":
        return size
    if scale == "thousandths":
        return 1000, 1000
    cells = resize.grid(size) if grid is None else grid
    if len(cells) != 3 or min(cells) < 1:
        raise ValueError(f"image_grid_thw must be [frames, rows, columns], got {list(cells)!r:.80}")
    return cells[2] * resize.patch, cells[1] * resize.patch


def _iou_score(text: str, gold: str | None, seen: tuple[int, int], size: Size) -> Score:
    if gold is None:
        return NO_GOLD
    truth = boxes.corners_of(extract.json_items(last_answer(gold)))
    if truth is None:
        raise ValueError(f"the gold must be [left, top, right, bottom], got {gold!r:.80}")
    answer = extract.first_tag(text, "answer")
    box = extract.first_int_box(answer or "")
    if box is None:
        why = (
            "There is no <answer>."
            if answer is None
            else "The <answer> has no [int, int, int, int]."
        )
        return replace(sameness(False, why, None, _shown(truth), "no box"), answer=answer)
    across, down = size[0] / seen[0], size[1] / seen[1]
    scaled = (box[0] * across, box[1] * down, box[2] * across, box[3] * down)
    value = boxes.iou(scaled, truth)
    why = f"The boxes overlap with an IoU of {value:.3f}."
    right = value >= OVERLAPPING
    return Score(value, why, _shown(scaled), _shown(truth), "IoU", right=right)


def _shown(corners: boxes.Corners) -> str:
    return f"[{', '.join(f'{v:.6g}' for v in corners)}]"


def _source(entries: Sequence[Any], row: int, names: Sequence[str]) -> images_.Source:
    """Return the image of a row, from the first of its columns that has one."""
    try:
        found = next((s for s in map(images_.source_of, entries) if s is not None), None)
    except ValueError as error:
        raise ValueError(f"row {row}: {error}") from error
    if found is None:
        raise ValueError(f"row {row}: there is no {' and no '.join(names)}")
    return found
