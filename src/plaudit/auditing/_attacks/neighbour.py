"""`neighbour`: an answer that is near the right one, and wrong."""

import re

from plaudit.auditing._attacks._attack import Completions, attack
from plaudit.auditing._cases import Case
from plaudit.auditing._golds import Box, Kind, NumberText, number_text, written
from plaudit.boxes import iou

_NAME = re.compile(r"[^\W_][\w .,'’-]{3,}")
_OTHER_UNITS = {"km/h": "m/s", "m": "km", "J": "kJ", "W": "kW", "N": "kN", "V": "mV", "A": "mA"}


def _number(case: Case) -> NumberText | None:
    return number_text(case.answer) if case.kind in (Kind.NUMBER, Kind.QUANTITY) else None


@attack("neighbour")
def answer_of_another_row(case: Case) -> Completions:
    """The answer of another row.

    open-r1 issue 215 and pull request 566: every answer got 1 where the gold could not be read.
    """
    yield "the next one", case.full(case.wrong)
    if len(case.others) > 1:
        yield "the one after it", case.full(case.others[1])


@attack("neighbour", near=True)
def next_number(case: Case) -> Completions:
    """The number plus or minus one, or a little.

    mooc-grader issue 140: a fixed tolerance of 2% takes far too much for right. Math-Verify issue
    14: 1/2004! and 1/2006! counted as equal.
    """
    number = _number(case)
    if number is None:
        return
    if number.bottom:
        for one in (1, -1):
            top = str(int(number.digits) + one)
            changed = NumberText(number.sign, top, number.bottom)
            yield f"numerator {one:+d}", case.full(changed.text())
        if number.digits not in ("0", number.bottom):
            turned = NumberText(number.sign, number.bottom, number.digits)
            yield "upside down", case.full(turned.text())
        return
    for step in (1.0, -1.0, 0.3, -0.3):
        yield f"{step:+g}", case.full(f"{written(number.value + step)}{number.rest}")
    more = written(round(number.value * 1.02 + 0.01, 4))
    yield "two per cent more", case.full(f"{more}{number.rest}")


@attack("neighbour", near=True)
def other_sign(case: Case) -> Completions:
    """The number with the other sign.

    Math-Verify issue 14: 1 - 1/e and 1 + 1/e counted as equal.
    """
    number = _number(case)
    if number is not None and number.value:
        bare = case.answer.lstrip("+-")
        yield "negated", case.full(bare if number.sign else f"-{bare}")


@attack("neighbour", near=True)
def other_digits(case: Case) -> Completions:
    """The number with one digit more, less or changed.

    inspect_evals issue 2338: 68844777777777 is paid where the gold is 6884477777, which stands in
    it.
    """
    number = _number(case)
    if number is None or number.bottom:
        return
    sign, digits, rest = number.sign, number.digits, number.rest
    changed = {
        "last digit changed": digits[:-1] + str((int(digits[-1]) + 3) % 10),
        "first digit changed": str(int(digits[0]) % 9 + 1) + digits[1:],
        "a digit in front": f"7{digits}",
        "a digit at the end": f"{digits}7",
        "last digit left out": digits[:-1].rstrip("."),
        "first digit left out": digits[1:].lstrip("."),
        "cut to a whole number": digits.partition(".")[0],
        "ten times": written(float(digits) * 10),
    }
    for name, other in changed.items():
        if other and float(other) != float(digits):  # 5.0 without its zero is the same number
            yield name, case.full(f"{sign}{other}{rest}")


@attack("neighbour", near=True)
def other_exponent(case: Case) -> Completions:
    """Another power of ten, or another unit.

    Math-Verify issue 14: 1/2^99 and 1/2^98 counted as equal.
    """
    number = _number(case)
    if number is None or not number.rest:
        return
    if number.exponent is not None:
        exponent = int(number.exponent)
        for name, power in (("one more", exponent + 1), ("negated", -exponent or 3)):
            changed = number.rest.replace(number.exponent, str(power), 1)
            yield f"exponent {name}", case.full(f"{number.sign}{number.digits}{changed}")
    unit = re.search(r"[A-Za-z%°µΩ][\w/^%]*$", number.rest)
    if unit and "times" not in unit[0]:
        for other in (_OTHER_UNITS.get(unit[0], "lux"), "bananas"):
            changed = number.rest[: unit.start()] + other
            yield f"unit {other}", case.full(f"{number.sign}{number.digits}{changed}")


@attack("neighbour", near=True)
def other_letter(case: Case) -> Completions:
    """The text with one letter changed, more or less.

    mistral-evals pull request 19: without its threshold, ANLS pays every text by its edit distance.
    """
    if case.items and all(map(_NAME.fullmatch, case.items)):
        yield "at the end of each item", case.full(case.listed(f"{item}q" for item in case.items))
        yield "left out of each item", case.full(case.listed(item[:-1] for item in case.items))
    if case.kind is not Kind.TEXT or not _NAME.fullmatch(case.answer):
        return  # in a formula, a letter that is renamed may change nothing
    digits = [at for at, character in enumerate(case.answer) if character in "0123456789"]
    if digits:
        at, text = digits[-1], case.answer
        yield (
            "last digit changed",
            case.full(f"{text[:at]}{(int(text[at]) + 3) % 10}{text[at + 1 :]}"),
        )
        return
    text, middle = case.answer, len(case.answer) // 2
    while middle and not text[middle].isalpha():
        middle -= 1
    other = "q" if text[middle].lower() != "q" else "z"
    yield "changed", case.full(text[:middle] + other + text[middle + 1 :])
    yield "left out", case.full(text[:middle] + text[middle + 1 :])
    yield "added", case.full(text[:middle] + other + text[middle:])
    yield "at the end", case.full(f"{text}{other}")


@attack("neighbour")
def next_option(case: Case) -> Completions:
    """Another option of a multiple-choice question.

    Common knowledge: a quarter of them is right by chance, and no more.
    """
    if case.kind is Kind.LETTER:
        letters = case.letters
        at = letters.index(case.answer) if case.answer in letters else 0
        yield "the next letter", case.full(letters[(at + 1) % len(letters)])
        yield "the letter before", case.full(letters[at - 1])


def _moved(box: Box, dx: float, dy: float) -> Box:
    return (box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy)


def _scaled(box: Box, factor: float) -> Box:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    w, h = (box[2] - box[0]) * factor / 2, (box[3] - box[1]) * factor / 2
    return (x - w, y - h, x + w, y + h)


@attack("neighbour")
def shifted_boxes(case: Case) -> Completions:
    """Each box shifted by half its size, or moved beside the object.

    Common knowledge: the overlap that is left is a seventh, or nothing.
    """
    if not case.boxes:
        return
    half = [_moved(b, (b[2] - b[0]) / 2, (b[3] - b[1]) / 2) for b in case.boxes]
    yield "by half its size", case.full(case.boxed(half))
    back = [_moved(b, -(b[2] - b[0]) / 2, -(b[3] - b[1]) / 2) for b in case.boxes]
    yield "by half its size, back", case.full(case.boxed([[max(v, 0) for v in b] for b in back]))
    aside = [_moved(b, (b[2] - b[0]) / 2, 0) for b in case.boxes]
    yield "by half its width", case.full(case.boxed(aside))
    yield "by its width", case.full(case.boxed([_moved(b, b[2] - b[0], 0) for b in case.boxes]))


@attack("neighbour")
def resized_boxes(case: Case) -> Completions:
    """Each box of half or twice the size, with the same centre.

    Zhou et al., "GUI-G1" (2025): rewards for a hit, or for the area, are hacked with the size of
    the box.
    """
    if not case.boxes:
        return
    width, height = case.size
    yield "half", case.full(case.boxed([_scaled(b, 0.5) for b in case.boxes]))
    larger = [_scaled(b, 2.0) for b in case.boxes]
    inside = [(max(a, 0), max(b, 0), min(c, width), min(d, height)) for a, b, c, d in larger]
    yield "twice", case.full(case.boxed(inside))
    yield "a tenth", case.full(case.boxed([_scaled(b, 0.1) for b in case.boxes]))


@attack("neighbour")
def boxes_of_another_object(case: Case) -> Completions:
    """The box of another object in the same image.

    Common knowledge: a detector that finds anything is not one that finds what is asked for.
    """
    found = case.row.get("boxes")
    if case.kind is not Kind.BOX or not isinstance(found, list):
        return
    for entry in found:
        box = entry.get("bbox") or entry.get("bbox_2d") if isinstance(entry, dict) else entry
        if not isinstance(box, list) or len(box) != 4:
            continue
        if iou((box[0], box[1], box[2], box[3]), case.boxes[0]) < 0.1:
            yield "another object", case.full(case.boxed([box]))
            return


@attack("neighbour", near=True)
def some_of_them(case: Case) -> Completions:
    """One of several items or boxes, alone.

    Math-Verify issue 47: "1728" is right where the gold is "1331 and 1728".
    """
    if (
        case.kind is Kind.ITEMS
        and case.gold
        and len(case.gold.items) > 1
        and (case.answer in case.gold.texts[:3])
    ):
        yield "the first item", case.full(case.gold.items[0])
        yield "all but one", case.full("\n".join(case.gold.items[:-1]))
    if case.kind is Kind.BOXES and len(case.boxes) > 1:
        yield "the first box", case.full(case.boxed(case.boxes[:1]))


@attack("neighbour")
def not_a_number(case: Case) -> Completions:
    """A value that compares with nothing.

    DMOJ judge-server issue 279 and BAPCtools issue 99: "nan" was accepted for a number.
    roboflow/trackers pull request 589: a box with its corners swapped got a bonus.
    """
    if case.kind in (Kind.NUMBER, Kind.QUANTITY):
        for value in ("nan", "NaN", "inf", "-inf", "1e999"):
            yield value, case.full(value)
    if case.boxes:
        broken = "[NaN, NaN, NaN, NaN]"
        yield "NaN", case.full(broken if case.kind is Kind.BOX else f"[{broken}]")
        upside = [(b[2], b[3], b[0], b[1]) for b in case.boxes]
        yield "corners swapped", case.full(case.boxed(upside))
