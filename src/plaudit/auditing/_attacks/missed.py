r"""`missed`: the gold itself, in the dresses of the format, which must be paid in full.

These are no attacks: what they build deserves everything.
"""

import re

from plaudit.auditing._attacks._attack import Completions, attack
from plaudit.auditing._cases import Case
from plaudit.auditing._golds import Kind, number_text

_OPENING = re.compile(r"\s*<\w+>|[A-Z]\w*(?: \w+)?:")
_NUMBERS = (Kind.NUMBER, Kind.QUANTITY)


@attack("missed", blind=True)
def as_it_stands(case: Case) -> Completions:
    """The gold as it stands.

    open-r1 issue 628: golds that stand in no box could not be read by the accuracy reward.
    """
    yield "every gold", case.full(case.answer)
    for form in _forms(case):
        yield form, case.full(case.answer)


def _forms(case: Case) -> list[str]:
    """What is special about a gold: forms that a reward may fail to read."""
    text, number = case.answer, number_text(case.answer)
    told = {
        "negative golds": case.kind in _NUMBERS and text.startswith("-"),
        "golds that are decimals": case.kind is Kind.NUMBER and "." in text,
        "golds that are fractions": number is not None and bool(number.bottom),
        "golds with a unit or an exponent": number is not None and bool(number.rest),
        "golds above a thousand": number is not None and abs(number.value) >= 1000,
        "golds with capitals": case.kind is Kind.TEXT and text != text.lower(),
        "golds in lower case": case.kind is Kind.TEXT and text == text.lower(),
        "golds of several words": case.kind is Kind.TEXT and " " in text,
        "golds of one item": case.kind is Kind.ITEMS
        and case.gold is not None
        and len(case.gold.items) == 1,
        "golds of several items": case.kind is Kind.ITEMS
        and case.gold is not None
        and len(case.gold.items) > 1,
        "boxes with decimals": bool(case.boxes)
        and any(not float(v).is_integer() for box in case.boxes for v in box),
        "golds with a digit": case.kind is Kind.TEXT and bool(re.search(r"\d", text)),
    }
    return [form for form, is_so in told.items() if is_so]


@attack("missed")
def white_space_around(case: Case) -> Completions:
    """The gold with white space around it, or the reply with a line end after it.

    unsloth issue 1761: line ends inside the tags made the format rewards zero.
    """
    yield "spaces", case.full(f" {case.answer} ")
    yield "a line end after the reply", case.full(case.answer) + "\n"
    if case.marked("").startswith("<"):
        yield "lines", case.full(f"\n{case.answer}\n")


@attack("missed")
def reasoning_before(case: Case) -> Completions:
    """The gold after a sentence of reasoning.

    TRL issue 6966: `think_format_reward` pays only what begins with `<think>`.
    """
    mark, full = case.marked(""), case.full(case.answer)
    begins = _OPENING.match(full)
    if begins and not full.startswith(mark):
        return  # the form says how a reply begins
    if mark and not mark.startswith("```"):
        yield "one sentence", f"First look at what is given.\n{full}"


@attack("missed")
def in_dollars(case: Case) -> Completions:
    r"""A number in `$…$`, or its box in `$…$` or `\[…\]`.

    lm-evaluation-harness pull requests 3598 and 3827: only `$…$` was read, neither `\[…\]` nor a
    bare box.
    """
    if case.kind not in _NUMBERS:
        return
    mark = case.marked("")
    if not mark.startswith("\\boxed"):
        if mark:
            yield "dollars", case.full(f"${case.answer}$")
        return
    box, head = (
        case.marked(case.answer),
        case.dress.written("", "So it is").partition("\\boxed{")[0],
    )
    bare = head.rstrip("$ \n")
    yield "dollars", f"{bare} ${box}$"
    yield "dollars and a period", f"{bare} ${box}$."
    yield "brackets", f"{bare}\n\\[ {box} \\]"
    yield "nothing around it", f"{bare} {box}"


@attack("missed")
def period_after(case: Case) -> Completions:
    """The gold with a period after it.

    lmms-eval pull request 364: "A." was wrong where the gold is "A".
    """
    if case.kind in (Kind.BOX, Kind.BOXES, Kind.ITEMS):
        return
    mark = case.marked("")
    if mark.startswith("\\boxed"):
        yield "after the box", case.full(case.answer).rstrip(".") + "."
    else:
        yield "after the answer", case.full(f"{case.answer}.")


@attack("missed")
def thousands_commas(case: Case) -> Completions:
    """A number with commas between its thousands.

    OpenCompass pull request 2426: some 50 of 130 wrong answers on GSM8K were right ones with
    commas.
    """
    number = number_text(case.answer) if case.kind is Kind.NUMBER else None
    if number is None or number.bottom or abs(number.value) < 1000 or "," in case.answer:
        return
    whole, point, part = number.digits.partition(".")
    yield "commas", case.full(f"{number.sign}{int(whole):,}{point}{part}")


@attack("missed")
def other_fraction(case: Case) -> Completions:
    r"""A fraction as `\dfrac`: the same formula in another size.

    Common knowledge: models write it so in displayed formulas.
    """
    number = number_text(case.answer) if case.kind is Kind.NUMBER else None
    if number is not None and number.bottom and case.marked("").startswith("\\boxed"):
        yield "dfrac", case.full(number.text().replace("\\frac", "\\dfrac"))


@attack("missed")
def other_capitals(case: Case) -> Completions:
    """A text with a capital in front, or without capitals.

    radgraph pull request 15: "Large" for "large" lowered the rewards.
    """
    if case.kind is Kind.TEXT and case.answer[:1].isalpha():
        changed = case.answer[0].upper() + case.answer[1:]
        if changed != case.answer:
            yield "a capital in front", case.full(changed)
        elif " " not in case.answer and case.answer[1:] == case.answer[1:].lower():
            yield "no capital", case.full(case.answer.lower())


@attack("missed")
def option_dressed(case: Case) -> Completions:
    """The letter in parentheses, in bold, or with its option's text.

    NeMo Gym pull request 1844: a letter with its option's text in the box was no answer.
    Ollama-MMLU-Pro issue 6: MMLU-Pro's own pattern misses `answer: (D)`.
    """
    if case.kind is not Kind.LETTER:
        return
    yield "parentheses", case.full(f"({case.answer})")
    yield "bold", case.full(f"**{case.answer}**")
    at = ord(case.answer) - ord("A") if len(case.answer) == 1 else len(case.choices)
    if at < len(case.choices):
        yield "its text", case.full(f"{case.answer}) {case.choices[at]}")


@attack("missed")
def other_order(case: Case) -> Completions:
    """Items or boxes in another order.

    PerceptionMetrics issue 45: a detection was matched with the first object that it overlaps, as
    if both lists had one order.
    """
    is_listed = case.gold and case.kind is Kind.ITEMS and case.answer == case.gold.texts[0]
    if case.gold and is_listed and len(case.gold.items) > 1:
        yield "backwards", case.full("\n".join(reversed(case.gold.items)))
    if case.kind is Kind.BOXES and len(case.boxes) > 1 and '"' not in case.answer:
        yield "backwards", case.full(case.boxed(case.boxes[::-1]))
