"""A completion with one box in, and out comes how far that box overlaps the gold one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plaudit import boxes, extract
from plaudit import images as images_  # `images` is a column
from plaudit.columns import naming_row, rows_of, same_length, whole_numbers
from plaudit.completions import Completion, Solution, gold_texts_of, texts_of
from plaudit.rewards.vlm_r1._comparison import OVERLAPPING, last_answer, sameness
from plaudit.rewards.vlm_r1._grid import Resize, resize_of
from plaudit.rewards.vlm_r1._log import log
from plaudit.scores import NO_GOLD, Score, reward

_IMAGES = ("image_path", "image", "images")  # where trainers and tables keep an image
_SCALES = ("model", "image", "thousandths")


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
      size `[width, height]`; of a file only the header is read (see `plaudit.images`)
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
    sizes: dict[images_.Source, images_.Size] = {}
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


def _seen(
    grid: Sequence[int] | None, size: images_.Size, resize: Resize, scale: str
) -> tuple[int, int]:
    """The width and height in whose pixels a predicted box is."""
    if scale == "image":
        return size
    if scale == "thousandths":
        return 1000, 1000
    cells = resize.grid(size) if grid is None else grid
    if len(cells) != 3 or min(cells) < 1:
        raise ValueError(f"image_grid_thw must be [frames, rows, columns], got {list(cells)!r:.80}")
    return cells[2] * resize.patch, cells[1] * resize.patch


def _iou_score(text: str, gold: str | None, seen: tuple[int, int], size: images_.Size) -> Score:
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
    """The image of a row, from the first of its columns that has one."""
    try:
        found = next((s for s in map(images_.source_of, entries) if s is not None), None)
    except ValueError as error:
        raise ValueError(f"row {row}: {error}") from error
    if found is None:
        raise ValueError(f"row {row}: there is no {' and no '.join(names)}")
    return found
