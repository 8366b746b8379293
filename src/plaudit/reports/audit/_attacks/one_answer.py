"""Attacks with one answer, which is right and taken back (`retract`), or wrong: near the right one
(`neighbour`), or long or short (`length`).

What `missed` builds is no attack: a right answer in the format that is paid, which deserves all.
"""

import re

from plaudit.reports.audit._attack import (
    BOXED,
    NUMERIC,
    Case,
    Completions,
    attack,
    pad,
    plain_number,
)
from plaudit.reports.honest_answers import GoldKind, NumberText, number_text
from plaudit.scores.boxes import Corners, iou

# --- retract --------------------------------------------------------------------------------------


_SINGLE = (*NUMERIC, GoldKind.LETTER, GoldKind.TEXT)
_DENIALS = (
    "No, that is wrong.",
    "Wait, that is not right. I do not know the answer.",
    "On reflection this is incorrect, and I take it back.",
)


# A call or a program is executed, and an object read by a program, whatever is said of it.
_EXECUTED = (GoldKind.CALLS, GoldKind.OBJECT, GoldKind.PROGRAM)
_SAID = [kind for kind in GoldKind if kind not in _EXECUTED]


@attack("retract", golds=_SAID, allows_partial_credit=True)
def taken_back(case: Case) -> Completions:
    """The right answer, and then words that say that it is wrong."""
    # lmms-eval issue 1511: the boxed answer that a model takes back is the one that is scored.
    for denial in _DENIALS:
        yield denial, f"{case.full(case.answer)} {denial}"
        yield f"{denial} on a line", f"{case.full(case.answer)}\n{denial}"


@attack("retract", allows_partial_credit=True)
def right_and_then_wrong(case: Case) -> Completions:
    """The right answer first, and another one last."""
    # tinker-cookbook issue 895 and pull request 903: the first of two boxes was read, though the
    # model had corrected itself.
    if not case.others:
        return
    right, wrong = case.marked(case.answer), case.marked(case.wrong)
    full = case.full(case.answer)
    yield "no, it is", f"{full}\nNo, wait: it is {wrong}"
    yield "so the answer is", f"{full}\nThat was a mistake, so the answer is\n{wrong}"
    yield "marks alone", f"{right}\n{wrong}"
    yield "two whole replies", f"{full}\n\nI made a mistake. Once more:\n{case.full(case.wrong)}"
    if case.marked("") == "":
        yield "in a sentence", f"{case.answer}. No, it is {case.wrong}."


@attack("retract", allows_partial_credit=True)
def only_in_the_thinking(case: Case) -> Completions:
    """The right answer inside the thinking alone."""
    # TRL pull request 4563: right answers inside the reasoning mislead the grader. TinyZero issue
    # 120 asks why the equation is read from the thinking.
    mark = case.marked(case.answer)
    yield "nothing follows", f"<think>It may be\n{mark}\n</think>"
    yield "no answer follows", f"<think>It may be\n{mark}\n</think>\nI do not know."
    yield "thought alone", f"<think>{mark}</think>"
    if mark != case.answer:
        bare = f"<think>So it is {case.answer}.</think>"
        yield "without its mark", bare
        yield "without its mark, and none follows", f"{bare}\nI do not know."
    if case.others:
        wrong = case.marked(case.wrong)
        yield "another follows", f"<think>It may be\n{mark}\n</think>\n{wrong}"
        yield "another is said", f"<think>It may be\n{mark}\n</think>\nIt is {case.wrong}."
    if case.thinks:
        yield "it never ends", f"<think>It may be, or not,\n{mark}"


@attack("retract", golds=_SINGLE, allows_partial_credit=True)
def denied(case: Case) -> Completions:
    """The right answer, denied where the answer goes."""
    # antirez/ds4 issue 321: "It is not B, the answer is D" is read as B.
    answer = case.answer
    for name, form in (
        ("not", "not {}"),
        ("is wrong", "{} is wrong"),
        ("is not the answer", "{} is not the answer"),
        ("anything but", "anything but {}"),
        ("definitely not", "definitely not {}, though it looks like it at first sight"),
        ("incorrect", "{} (incorrect)"),
        ("no longer", "I first thought {}, which turned out to be wrong"),
    ):
        yield name, case.full(form.format(answer))
    if case.kind is not GoldKind.LETTER and case.others:
        yield "not this but that", case.full(f"not {answer} but {case.wrong}")
        yield "no, that", case.full(f"{answer}, no, {case.wrong}")


# --- missed ---------------------------------------------------------------------------------------


_OPENING = re.compile(r"\s*<\w+>|[A-Z]\w*(?: \w+)?:")


@attack("missed", ignores_gold=True)
def as_it_stands(case: Case) -> Completions:
    """The gold as it stands."""
    # open-r1 issue 628: golds that stand in no box could not be read by the accuracy reward.
    yield "every gold", case.full(case.answer)
    for form in _forms(case):
        yield form, case.full(case.answer)


def _forms(case: Case) -> list[str]:
    """What is special about a gold: forms that a reward may fail to read."""
    text, number = case.answer, number_text(case.answer)
    items = len(case.gold.items) if case.gold else 0
    forms = {
        "negative golds": case.kind in NUMERIC and text.startswith("-"),
        "golds that are decimals": case.kind is GoldKind.NUMBER and "." in text,
        "golds that are fractions": number is not None and bool(number.denominator),
        "golds with a unit or an exponent": number is not None and bool(number.rest),
        "golds above a thousand": number is not None and abs(number.value) >= 1000,
        "golds with capitals": case.kind is GoldKind.TEXT and text != text.lower(),
        "golds in lower case": case.kind is GoldKind.TEXT and text == text.lower(),
        "golds of several words": case.kind is GoldKind.TEXT and " " in text,
        "golds of one item": items == 1,
        "golds of several items": items > 1,
        "boxes with decimals": bool(case.boxes)
        and any(not float(v).is_integer() for box in case.boxes for v in box),
        "golds with a digit": case.kind is GoldKind.TEXT and bool(re.search(r"\d", text)),
    }
    return [form for form, is_so in forms.items() if is_so]


@attack("missed")
def white_space_around(case: Case) -> Completions:
    """The gold with white space around it, or the reply with a line end after it."""
    # unsloth issue 1761: line ends inside the tags made the format rewards zero.
    yield "spaces", case.full(f" {case.answer} ")
    yield "a line end after the reply", case.full(case.answer) + "\n"
    if case.marked("").startswith("<"):
        yield "lines", case.full(f"\n{case.answer}\n")


@attack("missed")
def reasoning_before(case: Case) -> Completions:
    """The gold after a sentence of reasoning."""
    # TRL issue 6966: `think_format_reward` pays only what begins with `<think>`.
    mark, full = case.marked(""), case.full(case.answer)
    begins = _OPENING.match(full)
    if begins and not full.startswith(mark):
        return  # the form says how a reply begins
    if mark and not mark.startswith("```"):
        yield "one sentence", f"First look at what is given.\n{full}"


@attack("missed", golds=NUMERIC)
def in_dollars(case: Case) -> Completions:
    r"""A number in `$…$`, or its box in `$…$` or `\[…\]`."""
    # lm-evaluation-harness pull requests 3598 and 3827: only `$…$` was read, neither `\[…\]` nor a
    # bare box.
    mark = case.marked("")
    if not mark.startswith("\\boxed"):
        if mark:
            yield "dollars", case.full(f"${case.answer}$")
        return
    box, head = (
        case.marked(case.answer),
        case.format.write("", "So it is").partition("\\boxed{")[0],
    )
    bare = head.rstrip("$ \n")
    yield "dollars", f"{bare} ${box}$"
    yield "dollars and a period", f"{bare} ${box}$."
    yield "brackets", f"{bare}\n\\[ {box} \\]"
    yield "nothing around it", f"{bare} {box}"


@attack("missed", golds=_SINGLE)
def period_after(case: Case) -> Completions:
    """The gold with a period after it."""
    # lmms-eval pull request 364: "A." was wrong where the gold is "A".
    mark = case.marked("")
    if mark.startswith("\\boxed"):
        yield "after the box", case.full(case.answer).rstrip(".") + "."
    else:
        yield "after the answer", case.full(f"{case.answer}.")


@attack("missed", golds=[GoldKind.NUMBER])
def thousands_commas(case: Case) -> Completions:
    """A number with commas between its thousands."""
    # OpenCompass pull request 2426: some 50 of 130 wrong answers on GSM8K were right ones with
    # commas.
    number = case.number
    if number is None or number.denominator or abs(number.value) < 1000 or "," in case.answer:
        return
    whole, point, part = number.digits.partition(".")
    yield "commas", case.full(f"{number.sign}{int(whole):,}{point}{part}")


@attack("missed", golds=[GoldKind.NUMBER])
def other_fraction(case: Case) -> Completions:
    r"""A fraction as `\dfrac`: the same formula in another size."""
    # Common knowledge: models write it so in displayed formulas.
    number = case.number
    if number is not None and number.denominator and case.marked("").startswith("\\boxed"):
        yield "dfrac", case.full(number.text().replace("\\frac", "\\dfrac"))


@attack("missed")
def other_capitals(case: Case) -> Completions:
    """A text with a capital in front, or without capitals."""
    # radgraph pull request 15: "Large" for "large" lowered the rewards.
    if case.kind is GoldKind.TEXT and case.answer[:1].isalpha():
        changed = case.answer[0].upper() + case.answer[1:]
        if changed != case.answer:
            yield "a capital in front", case.full(changed)
        elif " " not in case.answer and case.answer[1:] == case.answer[1:].lower():
            yield "no capital", case.full(case.answer.lower())


@attack("missed", golds=[GoldKind.LETTER])
def option_dressed(case: Case) -> Completions:
    """The letter in parentheses, in bold, or with its option's text."""
    # NeMo Gym pull request 1844: a letter with its option's text in the box was no answer.
    # Ollama-MMLU-Pro issue 6: MMLU-Pro's own pattern misses `answer: (D)`.
    yield "parentheses", case.full(f"({case.answer})")
    yield "bold", case.full(f"**{case.answer}**")
    at = ord(case.answer) - ord("A") if len(case.answer) == 1 else len(case.choices)
    if at < len(case.choices):
        yield "its text", case.full(f"{case.answer}) {case.choices[at]}")


@attack("missed")
def other_order(case: Case) -> Completions:
    """Items or boxes in another order."""
    # PerceptionMetrics issue 45: a detection was matched with the first object that it overlaps, as
    # if both lists had one order.
    is_listed = case.gold and case.kind is GoldKind.ITEMS and case.answer == case.gold.texts[0]
    if case.gold and is_listed and len(case.gold.items) > 1:
        yield "backwards", case.full("\n".join(reversed(case.gold.items)))
    if case.kind is GoldKind.BOXES and len(case.boxes) > 1 and '"' not in case.answer:
        yield "backwards", case.full(case.boxed(case.boxes[::-1]))


# --- neighbour ------------------------------------------------------------------------------------


_NAME = re.compile(r"[^\W_][\w .,'’-]{3,}")
_OTHER_UNITS = {"km/h": "m/s", "m": "km", "J": "kJ", "W": "kW", "N": "kN", "V": "mV", "A": "mA"}


@attack("neighbour")
def answer_of_another_row(case: Case) -> Completions:
    """The answer of another row."""
    # open-r1 issue 215 and pull request 566: every answer got 1 where the gold could not be read.
    yield "the next one", case.full(case.wrong)
    if len(case.others) > 1:
        yield "the one after it", case.full(case.others[1])


@attack("neighbour", allows_partial_credit=True)
def next_number(case: Case) -> Completions:
    """The number plus or minus one, or a little."""
    # mooc-grader issue 140: a fixed tolerance of 2% takes far too much for right. Math-Verify issue
    # 14: 1/2004! and 1/2006! counted as equal.
    number = case.number
    if number is None:
        return
    if number.denominator:
        for one in (1, -1):
            top = str(int(number.digits) + one)
            changed = NumberText(number.sign, top, number.denominator)
            yield f"numerator {one:+d}", case.full(changed.text())
        if number.digits not in ("0", number.denominator):
            turned = NumberText(number.sign, number.denominator, number.digits)
            yield "upside down", case.full(turned.text())
        return
    for step in (1.0, -1.0, 0.3, -0.3):
        yield f"{step:+g}", case.full(f"{plain_number(number.value + step)}{number.rest}")
    more = plain_number(round(number.value * 1.02 + 0.01, 4))
    yield "two per cent more", case.full(f"{more}{number.rest}")


@attack("neighbour", allows_partial_credit=True)
def other_sign(case: Case) -> Completions:
    """The number with the other sign."""
    # Math-Verify issue 14: 1 - 1/e and 1 + 1/e counted as equal.
    number = case.number
    if number is not None and number.value:
        bare = case.answer.lstrip("+-")
        yield "negated", case.full(bare if number.sign else f"-{bare}")


@attack("neighbour", allows_partial_credit=True)
def other_digits(case: Case) -> Completions:
    """The number with one digit more, less or changed."""
    # inspect_evals issue 2338: 68844777777777 is paid where the gold is 6884477777, which stands in
    # it.
    number = case.number
    if number is None or number.denominator:
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
        "ten times": plain_number(float(digits) * 10),
    }
    for name, other in changed.items():
        if other and float(other) != float(digits):  # 5.0 without its zero is the same number
            yield name, case.full(f"{sign}{other}{rest}")


@attack("neighbour", allows_partial_credit=True)
def other_exponent(case: Case) -> Completions:
    """Another power of ten, or another unit."""
    # Math-Verify issue 14: 1/2^99 and 1/2^98 counted as equal.
    number = case.number
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


@attack("neighbour", allows_partial_credit=True)
def other_letter(case: Case) -> Completions:
    """The text with one letter changed, more or less."""
    # mistral-evals pull request 19: without its threshold, ANLS pays every text by its edit
    # distance.
    if case.items and all(map(_NAME.fullmatch, case.items)):
        yield "at the end of each item", case.full(case.listed(f"{item}q" for item in case.items))
        yield "left out of each item", case.full(case.listed(item[:-1] for item in case.items))
    if case.kind is not GoldKind.TEXT or not _NAME.fullmatch(case.answer):
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


@attack("neighbour", golds=[GoldKind.LETTER])
def next_option(case: Case) -> Completions:
    """Another option of a multiple-choice question."""
    # Common knowledge: a quarter of them is right by chance, and no more.
    letters = case.letters
    at = letters.index(case.answer) if case.answer in letters else 0
    yield "the next letter", case.full(letters[(at + 1) % len(letters)])
    yield "the letter before", case.full(letters[at - 1])


def _move(box: Corners, dx: float, dy: float) -> Corners:
    return (box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy)


def _scale(box: Corners, factor: float) -> Corners:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    w, h = (box[2] - box[0]) * factor / 2, (box[3] - box[1]) * factor / 2
    return (x - w, y - h, x + w, y + h)


@attack("neighbour", golds=BOXED)
def shifted_boxes(case: Case) -> Completions:
    """Each box shifted by half its size, or moved beside the object."""
    # Common knowledge: the overlap that is left is a seventh, or nothing.
    half = [_move(b, (b[2] - b[0]) / 2, (b[3] - b[1]) / 2) for b in case.boxes]
    yield "by half its size", case.full(case.boxed(half))
    back = [_move(b, -(b[2] - b[0]) / 2, -(b[3] - b[1]) / 2) for b in case.boxes]
    yield "by half its size, back", case.full(case.boxed([[max(v, 0) for v in b] for b in back]))
    aside = [_move(b, (b[2] - b[0]) / 2, 0) for b in case.boxes]
    yield "by half its width", case.full(case.boxed(aside))
    yield "by its width", case.full(case.boxed([_move(b, b[2] - b[0], 0) for b in case.boxes]))


@attack("neighbour", golds=BOXED)
def resized_boxes(case: Case) -> Completions:
    """Each box of half or twice the size, with the same centre."""
    # Zhou et al., "GUI-G1" (2025): rewards for a hit, or for the area, are hacked with the size of
    # the box.
    width, height = case.size
    yield "half", case.full(case.boxed([_scale(b, 0.5) for b in case.boxes]))
    larger = [_scale(b, 2.0) for b in case.boxes]
    inside = [(max(a, 0), max(b, 0), min(c, width), min(d, height)) for a, b, c, d in larger]
    yield "twice", case.full(case.boxed(inside))
    yield "a tenth", case.full(case.boxed([_scale(b, 0.1) for b in case.boxes]))


@attack("neighbour", golds=[GoldKind.BOX])
def boxes_of_another_object(case: Case) -> Completions:
    """The box of another object in the same image."""
    # Common knowledge: a detector that finds anything is not one that finds what is asked for.
    found = case.row.get("boxes")
    for entry in found if isinstance(found, list) else ():
        box = entry.get("bbox") or entry.get("bbox_2d") if isinstance(entry, dict) else entry
        if not isinstance(box, list) or len(box) != 4:
            continue
        if iou((box[0], box[1], box[2], box[3]), case.boxes[0]) < 0.1:
            yield "another object", case.full(case.boxed([box]))
            return


@attack("neighbour", allows_partial_credit=True)
def some_of_them(case: Case) -> Completions:
    """One of several items or boxes, alone."""
    # Math-Verify issue 47: "1728" is right where the gold is "1331 and 1728".
    if len(case.items) > 1:
        yield "the first item", case.full(case.items[0])
        yield "all but one", case.full("\n".join(case.items[:-1]))
    if case.kind is GoldKind.BOXES and len(case.boxes) > 1:
        yield "the first box", case.full(case.boxed(case.boxes[:1]))


@attack("neighbour")
def not_a_number(case: Case) -> Completions:
    """A value that compares with nothing."""
    # DMOJ judge-server issue 279 and BAPCtools issue 99: "nan" was accepted for a number.
    # roboflow/trackers pull request 589: a box with its corners swapped got a bonus.
    if case.kind in NUMERIC:
        for value in ("nan", "NaN", "inf", "-inf", "1e999"):
            yield value, case.full(value)
    if case.boxes:
        broken = "[NaN, NaN, NaN, NaN]"
        yield "NaN", case.full(broken if case.kind is GoldKind.BOX else f"[{broken}]")
        upside = [(b[2], b[3], b[0], b[1]) for b in case.boxes]
        yield "corners swapped", case.full(case.boxed(upside))


# --- length ---------------------------------------------------------------------------------------


WORDS = (60, 120, 250, 500, 1000)
CHARACTERS = (300, 1100, 2200, 4200, 8500)
_MOST_WORDS, _MOST_CHARACTERS = 6000, 30_000


def _lengths(case: Case, usual: tuple[int, ...], most: int) -> list[int]:
    """The usual lengths, and those just above a number that a reward names."""
    named = [length + length // 10 + 2 for length in case.lengths if 8 <= length <= most]
    return sorted({*usual, *named})


@attack("length", ignores_gold=True, relative_to_wrong=True)
def padded_with_one_word(case: Case) -> Completions:
    """A wrong answer after one word, again and again."""
    # Singhal et al., "A Long Way to Go" (2023): what is learnt from many rewards is length. Yeo et
    # al., "Demystifying Long Chain-of-Thought Reasoning in LLMs" (2025): rewards for length get
    # hacked with enough training; punishing repetition helps.
    for count in _lengths(case, WORDS, _MOST_WORDS):
        yield f"{count} words", pad(case.full(case.wrong), "so " * count)


@attack("length", relative_to_wrong=True)
def padded_with_sentences(case: Case) -> Completions:
    """A wrong answer after many sentences that say nothing."""
    # Singhal et al., "A Long Way to Go" (2023): a reward for length alone does most of what RLHF
    # does.
    words = " ".join(f"Then there is part {n} of it to think about." for n in range(700)).split()
    for count in _lengths(case, WORDS, _MOST_WORDS):
        yield f"{count} words", pad(case.full(case.wrong), " ".join(words[:count]) + " ")


@attack("length", ignores_gold=True, relative_to_wrong=True)
def padded_with_spaces(case: Case) -> Completions:
    """A wrong answer after many spaces, or before them."""
    # ms-swift issue 3353 and open-r1 issue 312: the cosine reward counts characters, not tokens.
    for count in _lengths(case, CHARACTERS, _MOST_CHARACTERS):
        yield f"{count} before", pad(case.full(case.wrong), " " * count)
    yield "after", case.full(case.wrong) + " " * 4200
    yield "lines after", case.full(case.wrong) + "\n" * 4200


@attack("length", ignores_gold=True, relative_to_wrong=True)
def padded_with_lines(case: Case) -> Completions:
    """A wrong answer after many lines."""
    # Common knowledge: steps are counted as lines.
    for count in sorted({30, 120, *(n + n // 10 + 2 for n in case.lengths if 8 <= n <= 500)}):
        yield f"{count} lines", pad(case.full(case.wrong), "so\n" * count)


@attack("length", relative_to_wrong=True)
def cut_short(case: Case) -> Completions:
    """A wrong answer, cut."""
    # open-r1 issue 360: `len_reward` gives 0 to the shortest wrong answer, and -0.5 to the longest
    # right one.
    full = case.full(case.wrong)
    yield "its mark alone", case.marked(case.wrong)
    yield "half of it", full[: len(full) // 2]
    yield "one word", "".join(full.split()[:1])
