"""Predicted and gold boxes with labels in, as fenced JSON, and out comes how well they fit."""

from collections.abc import Callable
from functools import partial
from math import isfinite

from plaudit import boxes, extract
from plaudit.columns import number_of
from plaudit.completions import Solution, gold_text_of
from plaudit.rewards.vlm_r1._comparison import CORRECT, OVERLAPPING, first_answer, sameness
from plaudit.scores import NO_GOLD, Score, text_reward

_Weights = tuple[float, float, float]  # of position, label and completeness
_USUAL: _Weights = (0.7, 0.0, 0.3)


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


METHODS: dict[str, Callable[[str, str], Score]] = {
    "map": _map,
    "od_ap": _od,
    "od_ap50": partial(_od, measure="ap50"),
    "odLength": partial(_od, by_length=True),
    "weighted_sum": weighted_sum,
}
