"""A completion with one box in, and out comes how far that box overlaps the gold one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plaudit import boxes, extract, images
from plaudit.completions import (
    Completion,
    Solution,
    gold_texts_of,
    naming_row,
    rows_of,
    same_length,
    texts_of,
    whole_numbers,
)
from plaudit.rewards.vlm_r1._comparison import OVERLAPPING, last_answer, sameness
from plaudit.rewards.vlm_r1._log import log
from plaudit.scores import NO_GOLD, Score, reward

_PATCH = 14  # pixels of a cell of `image_grid_thw`


@reward(
    columns=("solution", "image_grid_thw", "image_path"), needs=("image_grid_thw", "image_path")
)
def iou_reward(
    completions: Sequence[Completion],
    solution: Sequence[Solution],
    image_grid_thw: Sequence[Any] | None = None,
    image_path: Sequence[Any] | None = None,
    **kwargs: object,
) -> list[Score]:
    """The IoU of the first box in the first `<answer>` with the gold box in the gold's last.

    The predicted box is in pixels of what the model saw, `image_grid_thw` times 14; it is scaled to
    the size of the image at `image_path`, of which only the header is read. In place of a path
    there may be the size itself, `[width, height]`, or the file's bytes (see `plaudit.images`).

    >>> import os, tempfile
    >>> from PIL import Image
    >>> path = os.path.join(tempfile.mkdtemp(), "image.png")
    >>> Image.new("RGB", (280, 140)).save(path)
    >>> answer, gold = "<answer>[0, 0, 70, 70]</answer>", "<answer>[0, 0, 140, 140]</answer>"
    >>> iou_reward([answer], [gold], image_grid_thw=[[1, 5, 10]], image_path=[[path]])
    [1.0]
    """
    for name, column in (("image_grid_thw", image_grid_thw), ("image_path", image_path)):
        if column is None:
            raise ValueError(f"iou_reward needs the column {name}, with one entry per completion")
    same_length(
        completions, solution=solution, image_grid_thw=image_grid_thw, image_path=image_path
    )
    grids = [
        whole_numbers(grid, f"image_grid_thw {row}", "[frames, rows, columns]")
        for row, grid in enumerate(rows_of(image_grid_thw, "image_grid_thw"))
    ]
    paths = rows_of(image_path, "image_path")
    texts, golds = texts_of(completions), gold_texts_of(solution)
    sizes: dict[images.Source, images.Size] = {}
    scores = []
    for row, (text, gold) in enumerate(zip(texts, golds, strict=True)):
        source = _source(paths[row], row)
        with naming_row(row, images.name_of(source)):
            if source not in sizes:
                sizes[source] = images.size_of(source)
            scores.append(_iou_score(text, gold, grids[row], sizes[source]))
    log("IoU reward", scores, texts, golds)
    return scores


def _iou_score(text: str, gold: str | None, grid: list[int], size: tuple[int, int]) -> Score:
    if gold is None:
        return NO_GOLD
    truth = boxes.corners_of(extract.json_items(last_answer(gold)))
    if truth is None:
        raise ValueError(f"the gold must be [left, top, right, bottom], got {gold!r:.80}")
    seen = [cells * _PATCH for cells in grid]
    if len(seen) != 3 or min(seen) < 1:
        raise ValueError(f"image_grid_thw must be [frames, rows, columns], got {grid!r:.80}")
    answer = extract.first_tag(text, "answer")
    box = extract.first_int_box(answer or "")
    if box is None:
        why = (
            "There is no <answer>."
            if answer is None
            else "The <answer> has no [int, int, int, int]."
        )
        return replace(sameness(False, why, None, _shown(truth), "no box"), answer=answer)
    across, down = size[0] / seen[2], size[1] / seen[1]
    scaled = (box[0] * across, box[1] * down, box[2] * across, box[3] * down)
    value = boxes.iou(scaled, truth)
    why = f"The boxes overlap with an IoU of {value:.3f}."
    right = value >= OVERLAPPING
    return Score(value, why, _shown(scaled), _shown(truth), "IoU", right=right)


def _shown(corners: boxes.Corners) -> str:
    return f"[{', '.join(f'{v:.6g}' for v in corners)}]"


def _source(entry: Any, row: int) -> images.Source:
    try:
        source = images.source_of(entry)
    except ValueError as error:
        raise ValueError(f"row {row}: {error}") from error
    if source is None:
        raise ValueError(f"row {row}: there is no image_path")
    return source
