"""Right answers: taken back, which deserve nothing (`retract`), and in the format that is paid.

The second are no attacks: what `missed` builds deserves everything.
"""

import re

from plaudit.reports.audit._attack import NUMERIC, Case, Completions, attack
from plaudit.reports.honest_answers import GoldKind, number_text

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
