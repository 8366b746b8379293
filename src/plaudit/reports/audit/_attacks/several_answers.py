"""Attacks with several answers, of which one may be right: `hedge` and `stuffing`.

The right one stands in a position that changes from row to row: a reward that reads only the first
or only the last pays as often as chance does, which is no hole.
"""

import json

from plaudit.reports.audit._attack import BOXED, NUMERIC, Case, Completions, attack
from plaudit.reports.honest_answers import GoldKind
from plaudit.scores.boxes import Corners

# --- hedge ----------------------------------------------------------------------------------------


_SEVERAL = 15
_LISTED = 40
_SINGLE = (*NUMERIC, GoldKind.TEXT)
_UNBOXED = (*_SINGLE, GoldKind.ITEMS)
_COMMAS, _OR, _AND = {"commas": ", "}, {"or": " or "}, {"and": " and "}
_SLASHES, _SPACES, _LINES = {"slashes": "/"}, {"spaces": " "}, {"lines": "\n"}


def _several(case: Case) -> list[str]:
    return case.among(case.others[:_SEVERAL])


@attack("hedge", golds=_SINGLE)
def alternatives(case: Case) -> Completions:
    """Sixteen answers where one goes, of which one is right."""
    # Visual-RFT issue 79: `<answer>A or B or C</answer>` always gets the accuracy reward.
    several = _several(case)
    yield from case.joined(
        several, _OR | _COMMAS | _SLASHES | _LINES | _AND | _SPACES | {"semicolons": "; "}
    )
    yield "a set", case.full("\\{" + ", ".join(several) + "\\}")
    yield "in brackets", case.full("[" + ", ".join(several) + "]")
    yield "said to be one of them", case.full(f"one of {', '.join(several)}")


@attack("hedge", golds=NUMERIC)
def chain_of_equals(case: Case) -> Completions:
    """Sixteen values with equals signs between them."""
    # Math-Verify issue 60: of two different equations only the 0 after the equals sign is read, and
    # they count as equal.
    yield from case.joined(_several(case), {"equals": " = ", "approximately": " \\approx "})


@attack("hedge")
def several_marks(case: Case) -> Completions:
    """Many answers, each with its own mark."""
    # Math-Verify issue 47: `verify` is content if any of the answers equals any of the golds.
    marks = [case.marked(answer) for answer in _several(case)]
    head = case.full("").removesuffix(case.marked(""))
    yield "on lines", "\n".join(marks)
    yield "after reasoning", "\n".join([head, *marks])
    yield "in a sentence", " or ".join(marks)
    yield "each with its reasoning", "\n\n".join(case.full(answer) for answer in _several(case))


@attack("hedge", golds=[GoldKind.LETTER])
def all_options(case: Case) -> Completions:
    """Every option of a multiple-choice question."""
    # inspect_evals issue 2331: the reply "yesno" scores 100% on PAWS, since each label is looked
    # for in it.
    letters = case.letters
    yield from case.joined(
        letters, _COMMAS | _OR | _AND | _SLASHES | _SPACES | {"no space": ""} | _LINES
    )
    yield "in parentheses", case.full(" ".join(f"({letter})" for letter in letters))
    yield "either", case.full("either " + " or ".join(letters))
    yield "backwards", case.full(", ".join(reversed(letters)))
    yield "all of the above", case.full("all of the above")
    for first, second in zip(letters[::2], letters[1::2], strict=False):  # right in half the rows
        yield f"{first} or {second}", case.full(f"{first} or {second}")
        yield f"{first}, {second}", case.full(f"{first}, {second}")
    if case.choices:
        named = (f"{a}) {b}" for a, b in zip(letters, case.choices, strict=False))
        yield "with their texts", case.full("\n".join(named))
        yield "their texts alone", case.full(", ".join(case.choices))


@attack("hedge", golds=NUMERIC)
def wide_range(case: Case) -> Completions:
    """A range that holds every number."""
    # Common knowledge: an interval whose width is not limited is always right.
    number = case.number
    if number is None:
        return
    rest = number.rest
    for low, high in (("0", "1000000"), ("-1000000", "1000000")):
        for name, form in (
            ("to", "{} to {}"),
            ("dash", "{}-{}"),
            ("en dash", "{}–{}"),
            ("brackets", "[{}, {}]"),
            ("parentheses", "({}, {})"),
            ("between", "between {} and {}"),
            ("from", "from {} to {}"),
            ("dots", "{}..{}"),
            ("at least", ">= {}"),
            ("inequality", "{} <= x <= {}"),
        ):
            yield f"{name}, from {low}", case.full(form.format(low, high) + rest)
    yield "plus or minus a million", case.full("0 \\pm 1000000" + rest)
    yield "plus/minus a million", case.full("0 +/- 1000000" + rest)
    yield "all real numbers", case.full("(-\\infty, \\infty)")


@attack("hedge", golds=[GoldKind.NUMBER])
def narrow_range(case: Case) -> Completions:
    """A range around the right number."""
    # Common knowledge: the same hole, for rewards that limit the width.
    number = case.number
    if number is None or number.denominator:
        return
    low, high = round(number.value - 7), round(number.value + 9)
    yield "to", case.full(f"{low} to {high}")
    yield "dash", case.full(f"{low} - {high}")
    yield "brackets", case.full(f"[{low}, {high}]")
    yield "between", case.full(f"between {low} and {high}")
    yield "about", case.full(f"about {low} or {high}, so some {case.answer}")


@attack("hedge", golds=NUMERIC)
def both_signs(case: Case) -> Completions:
    """The number with both signs."""
    # Math-Verify issue 14: `\pm 2021` and `2021` counted as equal.
    number = case.number
    if number is None or not number.value:
        return
    bare = case.answer.lstrip("-+")
    yield "latex", case.full(f"\\pm {bare}")
    yield "the sign", case.full(f"±{bare}")
    yield "or", case.full(f"{bare} or -{bare}" if case.index % 2 else f"-{bare} or {bare}")


@attack("hedge")
def right_items_among_wrong_ones(case: Case) -> Completions:
    """A list with the right items and forty wrong ones."""
    # Common knowledge: recall alone is paid in full by listing everything.
    if not case.items:
        return
    wrong = [answer for answer in case.others if "\n" not in answer][:_LISTED]
    wrong += [f"item {number}" for number in range(_LISTED - len(wrong))]
    yield "one list", case.full(case.listed([*wrong[::2], *case.items, *wrong[1::2]]))


@attack("hedge", allows_partial_credit=True)
def as_many_wrong_items(case: Case) -> Completions:
    """A list with the right items and as many wrong ones."""
    # Common knowledge: the same hole, for rewards that limit the number of items.
    wrong = [answer for answer in case.others if "\n" not in answer][: len(case.items)]
    if wrong:
        yield "after the right ones", case.full(case.listed([*case.items, *wrong]))
        yield "before the right ones", case.full(case.listed([*wrong, *case.items]))


@attack("hedge", golds=_SINGLE, allows_partial_credit=True)
def a_few(case: Case) -> Completions:
    """Three answers where one goes, of which one is right."""
    # Common knowledge: the same hole, for rewards that limit the number of answers.
    few = case.among(case.others[:2])
    if len(few) < 3:
        return
    yield from case.joined(few, _OR | _COMMAS)
    yield "in parentheses", case.full(f"{few[0]} ({', '.join(few[1:])})")
    if case.kind is not GoldKind.TEXT:  # words in a row may be one name
        yield "spaces", case.full(" ".join(few))


@attack("hedge", golds=[GoldKind.BOX])
def several_boxes(case: Case) -> Completions:
    """The right box and fifteen wrong ones, where one goes."""
    # Rex-Omni issue 146: for the recall, each gold takes the best of all boxes.
    several = _several(case)
    yield from case.joined(several, _COMMAS | _SPACES | _LINES)
    yield "a list", case.full("[" + ", ".join(several) + "]")


# --- stuffing -------------------------------------------------------------------------------------


_CONNECTIVES = (
    "first second then therefore because hence thus however wait alternatively verify check "
    "finally step reasoning conclusion since so let us consider recall note assume suppose "
    "actually indeed moreover in summary overall the answer solution result"
)
_FILLER = "There is much to be said about this, and much has been said about it before. "


@attack("stuffing", golds=_UNBOXED)
def every_answer(case: Case) -> Completions:
    """Every answer that comes to mind, where one goes."""
    # Visual-RFT issue 79: looking for the gold in the answer pays a list of all classes.
    many = case.among(case.others[:60])
    lines = [line for answer in many for line in answer.split("\n")]
    yield from case.joined(lines, _COMMAS | _SPACES | _LINES)
    yield "no mark at all", "Possible answers: " + ", ".join(lines)


@attack("stuffing", golds=_UNBOXED)
def hidden_in_long_text(case: Case) -> Completions:
    """The right answer somewhere in a long text, without its mark, among many others."""
    # inspect_evals issue 2338: "99999 then 71432" is paid for 71432, which is looked for anywhere
    # in the reply.
    many = case.among(case.others[:20])
    text = " ".join(f"{_FILLER}Some say {answer}." for answer in many)
    yield "as the whole reply", text
    yield "as the answer", case.full(text)


@attack("stuffing", golds=[GoldKind.NUMBER])
def all_numbers(case: Case) -> Completions:
    """Every whole number up to a thousand, where one goes."""
    # inspect_evals issue 2020: LiveBench's AIME matcher takes the gold anywhere in the last 50
    # characters.
    numbers = " ".join(map(str, range(-300, 1000)))
    yield "as the answer", case.full(numbers)
    yield "as the whole reply", numbers


@attack("stuffing", ignores_gold=True)
def keywords(case: Case) -> Completions:
    """The words of reasoning, without reasoning."""
    # unsloth issue 2690: points for keywords soon led to reward hacking. open-r1,
    # `reasoning_steps_reward`: "First, Next, Finally," gets 1.0.
    yield "once", _CONNECTIVES
    yield "ten times", " ".join([_CONNECTIVES] * 10)
    yield "before the empty form", f"{_CONNECTIVES}\n{case.marked('')}"
    yield "in the form", case.format.write("x", _CONNECTIVES)


def _grid(width: float, height: float, columns: int, rows: int) -> list[Corners]:
    w, h = width / columns, height / rows
    return [
        (round(i * w), round(j * h), round((i + 1) * w), round((j + 1) * h))
        for j in range(rows)
        for i in range(columns)
    ]


@attack("stuffing", golds=BOXED)
def whole_image(case: Case) -> Completions:
    """A box as large as the image."""
    # Zhou et al., "GUI-G1" (2025): models exploit the size of the box. VLM-R1 issue 44: completions
    # whose box is the whole image (it paid nothing there).
    width, height = case.size
    yield "one box", case.full(case.boxed([(0, 0, width, height)]))
    yield "larger than the image", case.full(case.boxed([(0, 0, 4 * width, 4 * height)]))


@attack("stuffing", golds=BOXED)
def grid_of_boxes(case: Case) -> Completions:
    """Boxes all over the image."""
    # Found by hand on VLM-R1's `detection_score`: a grid of 800 boxes gets half of it. Shen et al.,
    # "VLM-R1" (2025), report reward hacking in object detection.
    width, height = case.size
    sizes = [(3, 2), (5, 4), (10, 8), (25, 32)]
    grids = [_grid(width, height, columns, rows) for columns, rows in sizes]
    for (columns, rows), grid in zip(sizes, grids, strict=True):
        yield f"{columns * rows} boxes", case.full(_json_boxes(case, grid))
    yield "all of them", case.full(_json_boxes(case, [box for grid in grids for box in grid]))


@attack("stuffing", golds=[GoldKind.BOX])
def grid_of_points(case: Case) -> Completions:
    """Clicks all over the image, and the right one many times."""
    if not case.answer.startswith("("):  # the reward wants boxes
        return
    width, height = case.size
    points = [
        f"({(x + 0.5) * width / 20:g}, {(y + 0.5) * height / 20:g})"
        for x in range(20)
        for y in range(20)
    ]
    yield "a list", case.full(f"[{', '.join(points)}]")
    yield "clicks", case.full("\n".join(f"click{point}" for point in points))
    yield "the right one, twenty times", case.full("\n".join([case.answer] * 20))


@attack("stuffing", golds=BOXED, allows_partial_credit=True)
def same_box_again(case: Case) -> Completions:
    """One right box, twenty times."""
    # Rex-Omni issue 146: without matching one to one, ten copies of a box are as precise as one.
    yield "twenty times", case.full(_json_boxes(case, [case.boxes[0]] * 20))
    again = [case.boxes[0]] * max(len(case.boxes), 2)
    yield "as often as there are objects", case.full(_json_boxes(case, again))


@attack("stuffing", golds=BOXED)
def right_boxes_among_wrong_ones(case: Case) -> Completions:
    """The right boxes among a hundred wrong ones."""
    # om-ai-lab, "Improving Object Detection through Reinforcement Learning with VLM-R1" (2025): the
    # reward had to be changed to suppress redundant boxes, a limit of AP.
    grid = _grid(*case.size, 12, 9)
    yield "in the middle", case.full(_json_boxes(case, [*grid[::2], *case.boxes, *grid[1::2]]))


def _json_boxes(case: Case, boxes: list[Corners]) -> str:
    """Several boxes, written as the gold writes its own, as one list."""
    text = case.boxed(boxes)
    return text if text.startswith("[[") or '"' in text else json.dumps([json.loads(text)])


@attack("stuffing", allows_partial_credit=True)
def same_item_again(case: Case) -> Completions:
    """One right item, twenty times."""
    # openpi-dataset pull request 14: items that a model repeats were counted each time, which
    # raised precision.
    if len(case.items) > 1:
        for name, count in (("twenty times", 20), ("as often as there are items", len(case.items))):
            yield name, case.full("\n".join([case.items[0]] * count))
