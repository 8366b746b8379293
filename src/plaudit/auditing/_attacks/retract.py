r"""`retract`: the right answer, taken back."""

from plaudit.auditing._attacks._attack import Completions, attack
from plaudit.auditing._cases import Case
from plaudit.auditing._golds import Kind

_DENIALS = (
    "No, that is wrong.",
    "Wait, that is not right. I do not know the answer.",
    "On reflection this is incorrect, and I take it back.",
)


@attack("retract", near=True)
def taken_back(case: Case) -> Completions:
    """The right answer, and then words that say that it is wrong.

    lmms-eval issue 1511: the boxed answer that a model takes back is the one that is scored.
    """
    for denial in _DENIALS:
        yield denial, f"{case.full(case.answer)} {denial}"
        yield f"{denial} on a line", f"{case.full(case.answer)}\n{denial}"


@attack("retract", near=True)
def right_and_then_wrong(case: Case) -> Completions:
    """The right answer first, and another one last.

    tinker-cookbook issue 895 and pull request 903: the first of two boxes was read, though the
    model had corrected itself.
    """
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


@attack("retract", near=True)
def only_in_the_thinking(case: Case) -> Completions:
    """The right answer inside the thinking alone.

    TRL pull request 4563: right answers inside the reasoning mislead the grader. TinyZero issue 120
    asks why the equation is read from the thinking.
    """
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


@attack("retract", near=True)
def denied(case: Case) -> Completions:
    """The right answer, denied where the answer goes.

    antirez/ds4 issue 321: "It is not B, the answer is D" is read as B.
    """
    if case.kind in (Kind.BOX, Kind.BOXES, Kind.ITEMS):
        return
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
    if case.kind is not Kind.LETTER and case.others:
        yield "not this but that", case.full(f"not {answer} but {case.wrong}")
        yield "no, that", case.full(f"{answer}, no, {case.wrong}")
