"""What the rewards of VLM-R1 share: which part of a text is its answer, and the debug log."""

from collections.abc import Sequence

from plaudit.inputs import extract
from plaudit.judge import Status
from plaudit.scores import Score
from plaudit.scores.score import log_attempts

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


def log(
    title: str,
    scores: Sequence[Score],
    texts: Sequence[str],
    solution: Sequence[object] | None = None,
    suffix: str = "",
) -> None:
    """Append each attempt to the debug log; `suffix` tells apart the files of several rewards."""
    log_attempts("vlm_r1.txt", title, scores, texts, solution, suffix)
