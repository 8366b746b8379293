"""`stuffing`: so much that something of it is right."""

import json

from plaudit.auditing._attacks._attack import Completions, attack
from plaudit.auditing._cases import Case
from plaudit.auditing._golds import Box, Kind

_CONNECTIVES = (
    "first second then therefore because hence thus however wait alternatively verify check "
    "finally step reasoning conclusion since so let us consider recall note assume suppose "
    "actually indeed moreover in summary overall the answer solution result"
)
_FILLER = "There is much to be said about this, and much has been said about it before. "


@attack("stuffing")
def every_answer(case: Case) -> Completions:
    """Every answer that comes to mind, where one goes.

    Visual-RFT issue 79: looking for the gold in the answer pays a list of all classes.
    """
    if case.kind in (Kind.BOX, Kind.BOXES, Kind.LETTER) or not case.others:
        return
    many = case.among(case.others[:60])
    lines = [line for answer in many for line in answer.split("\n")]
    yield "commas", case.full(", ".join(lines))
    yield "spaces", case.full(" ".join(lines))
    yield "lines", case.full("\n".join(lines))
    yield "no mark at all", "Possible answers: " + ", ".join(lines)


@attack("stuffing")
def hidden_in_long_text(case: Case) -> Completions:
    """The right answer somewhere in a long text, without its mark, among many others.

    inspect_evals issue 2338: "99999 then 71432" is paid for 71432, which is looked for anywhere in
    the reply.
    """
    if case.kind in (Kind.BOX, Kind.BOXES, Kind.LETTER) or not case.others:
        return
    many = case.among(case.others[:20])
    told = " ".join(f"{_FILLER}Some say {answer}." for answer in many)
    yield "as the whole reply", told
    yield "as the answer", case.full(told)


@attack("stuffing")
def all_numbers(case: Case) -> Completions:
    """Every whole number up to a thousand, where one goes.

    inspect_evals issue 2020: LiveBench's AIME matcher takes the gold anywhere in the last 50
    characters.
    """
    if case.kind is Kind.NUMBER:
        numbers = " ".join(str(number) for number in range(-300, 1000))
        yield "as the answer", case.full(numbers)
        yield "as the whole reply", numbers


@attack("stuffing", blind=True)
def keywords(case: Case) -> Completions:
    """The words of reasoning, without reasoning.

    unsloth issue 2690: points for keywords soon led to reward hacking. open-r1,
    `reasoning_steps_reward`: "First, Next, Finally," gets 1.0.
    """
    yield "once", _CONNECTIVES
    yield "ten times", " ".join([_CONNECTIVES] * 10)
    yield "before the empty form", f"{_CONNECTIVES}\n{case.marked('')}"
    yield "in the form", case.dress.written("x", _CONNECTIVES)


def _grid(width: float, height: float, columns: int, rows: int) -> list[Box]:
    w, h = width / columns, height / rows
    return [
        (round(i * w), round(j * h), round((i + 1) * w), round((j + 1) * h))
        for j in range(rows)
        for i in range(columns)
    ]


@attack("stuffing")
def whole_image(case: Case) -> Completions:
    """A box as large as the image.

    Zhou et al., "GUI-G1" (2025): models exploit the size of the box. VLM-R1 issue 44: completions
    whose box is the whole image (it paid nothing there).
    """
    if case.boxes:
        width, height = case.size
        yield "one box", case.full(case.boxed([(0, 0, width, height)]))
        yield "larger than the image", case.full(case.boxed([(0, 0, 4 * width, 4 * height)]))


@attack("stuffing")
def grid_of_boxes(case: Case) -> Completions:
    """Boxes all over the image.

    Found by hand on VLM-R1's `detection_score`: a grid of 800 boxes gets half of it. Shen et al.,
    "VLM-R1" (2025), report reward hacking in object detection.
    """
    if not case.boxes:
        return
    width, height = case.size
    sizes = [(3, 2), (5, 4), (10, 8), (25, 32)]
    grids = [_grid(width, height, columns, rows) for columns, rows in sizes]
    for (columns, rows), grid in zip(sizes, grids, strict=True):
        yield f"{columns * rows} boxes", case.full(json_boxes(case, grid))
    yield "all of them", case.full(json_boxes(case, [box for grid in grids for box in grid]))


@attack("stuffing", near=True)
def same_box_again(case: Case) -> Completions:
    """One right box, twenty times.

    Rex-Omni issue 146: without matching one to one, ten copies of a box are as precise as one.
    """
    if case.boxes:
        yield "twenty times", case.full(json_boxes(case, [case.boxes[0]] * 20))
        yield (
            "as often as there are objects",
            case.full(json_boxes(case, [case.boxes[0]] * max(len(case.boxes), 2))),
        )


@attack("stuffing")
def right_boxes_among_wrong_ones(case: Case) -> Completions:
    """The right boxes among a hundred wrong ones.

    om-ai-lab, "Improving Object Detection through Reinforcement Learning with VLM-R1" (2025): the
    reward had to be changed to suppress redundant boxes, a limit of AP.
    """
    if case.boxes:
        grid = _grid(*case.size, 12, 9)
        yield "in the middle", case.full(json_boxes(case, [*grid[::2], *case.boxes, *grid[1::2]]))


def json_boxes(case: Case, boxes: list[Box]) -> str:
    """Several boxes, written as the gold writes its own, as one list."""
    text = case.boxed(boxes)
    return text if text.startswith("[[") or '"' in text else json.dumps([json.loads(text)])


@attack("stuffing", near=True)
def same_item_again(case: Case) -> Completions:
    """One right item, twenty times.

    openpi-dataset pull request 14: items that a model repeats were counted each time, which raised
    precision.
    """
    is_listed = case.gold and case.kind is Kind.ITEMS and case.answer in case.gold.texts[:3]
    if case.gold and is_listed and len(case.gold.items) > 1:
        yield "twenty times", case.full("\n".join([case.gold.items[0]] * 20))
        yield (
            "as often as there are items",
            case.full("\n".join([case.gold.items[0]] * len(case.gold.items))),
        )
