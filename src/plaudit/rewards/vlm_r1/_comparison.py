"""An answer and a gold in, and out comes the score of whether they are the same."""

from plaudit import extract
from plaudit.judge import Status
from plaudit.scores import Score

CORRECT = 0.7  # the accuracy from which an answer counts as correct
OVERLAPPING = 0.5  # the IoU, or average precision, from which boxes count as right


def sameness(same: bool, why: str, answer: str | None, truth: str | None, method: str) -> Score:
    """The score of an answer that is the gold, or is not; one that is None was not found."""
    other = Status.NO_ANSWER if answer is None else Status.DIFFERENT
    status = Status.EQUAL if same else other
    return Score(float(same), why, answer, truth, method, status, right=same)


def first_answer(text: str) -> str:
    found = extract.first_tag(text, "answer")
    return text.strip() if found is None else found


def last_answer(text: str) -> str:
    found = extract.last_tag(text, "answer")
    return text.strip() if found is None else found
