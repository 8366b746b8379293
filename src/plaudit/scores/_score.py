"""A verdict of the judge in, and out comes a `Score`: what a completion is worth, and why."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache

from plaudit.golds import in_part
from plaudit.judge import Status, Verdict
from plaudit.notebook import html_table

# What the status of a row can be, the worst first. A component can also say "equal", "different" or
# "gated", each of which is "scored" for its row.
STATUSES = (
    *("error", "timeout", "limit", "bad_gold", "undecided"),
    *("no_answer", "several", "retracted", "unsolved", "scored"),
)
# What every reward may say, and trainers are told of each row; of the others `answers` alone knows.
TOLD = ("error", "timeout", "limit", "bad_gold", "no_answer")
# The judge did not come to the end of comparing.
STOPPED = STATUSES[: STATUSES.index("bad_gold")]
# What is wrong with the data or the machine: the row got its value because something failed.
TROUBLE = STATUSES[: STATUSES.index("undecided")]


@dataclass(frozen=True, slots=True)
class Score:
    """What one completion is worth, and why.

    value: the reward; None where the row is skipped
    why: one sentence for a person
    answer, gold: what was read as answer and as gold
    method: what decided
    status: one of STATUSES; or "equal" or "different" where the answer was compared with the gold;
        or "gated" where the gate of a recipe holds the value back
    right: whether the completion is right by the reward's own rule; None where the reward does not
        say so (a format, a length), or where there is no gold to compare with
    ungated: what the value would be without the gate of its recipe; None where no gate held it back
    gold_in_part: whether only a part of the gold was read, see `plaudit.golds`
    problem: what went wrong, where something did, such as "a power of more than a million digits"

    >>> Score(1.0, "4 is equal to the gold 4.", answer="4", gold="4").value
    1.0
    """

    value: float | None
    why: str
    answer: str | None = None
    gold: str | None = None
    method: str = ""
    status: str = "scored"
    right: bool | None = None
    ungated: float | None = None
    gold_in_part: bool = False
    problem: str = ""

    def _repr_html_(self) -> str:
        """The score in a notebook: what there is to say of it, line by line."""
        named = ("value", "answer", "gold", "method", "status", "right", "why", "problem")
        facts = {name: getattr(self, name) for name in named}
        known = [(n, v) for n, v in facts.items() if n == "value" or v not in (None, "")]
        return html_table("Score", ["", ""], known)


# What a reward gives that finds no gold in its row.
NO_GOLD = Score(0.0, "There is no gold.", status=Status.BAD_GOLD)


def score_of(
    verdict: Verdict,
    gold: str,
    shown: tuple[str, str] | None = None,
    *,
    compared: Score | None = None,
    bad_gold: float | None = 0.0,
) -> Score:
    """The score of a verdict, for every system of rewards: 1.0 where it is equal, else 0.0.

    After an error of plaudit's, or of a worker, the value is None: the row is skipped.

    gold: the whole text that the judge was given as the gold
    shown: the answer and the gold that the score names. Default: what the judge read
    compared: the score of another comparison, such as one of texts, which counts where the judge
        does not say equal; it gets the status of a judge that was stopped. Default: there is none
    bad_gold: the value where the gold cannot be read; None skips the row. Default: 0.0

    >>> different = score_of(Verdict(Status.DIFFERENT, "5", "4", "numbers", 0.0), "4")
    >>> different.value, different.right, different.why
    (0.0, False, '5 is not equal to the gold 4.')
    >>> too_large = Verdict(Status.LIMIT, "9^9^9", "x", "size", 0.0, "a tower of powers")
    >>> alike = score_of(too_large, "x", compared=Score(0.2, "The texts are 20% alike."))
    >>> alike.value, str(alike.status), alike.problem
    (0.2, 'limit', 'a tower of powers')
    >>> alike.why
    'Too large to compare: a tower of powers. The texts are 20% alike.'
    """
    told = in_part(gold, verdict.gold)
    if compared is None or verdict.status is Status.EQUAL:
        if verdict.status in (Status.BAD_GOLD, Status.ERROR):  # the model is not to blame
            right, value = None, bad_gold if verdict.status is Status.BAD_GOLD else None
        else:
            right = verdict.status is Status.EQUAL
            value = float(right)
        answer, its = shown or (verdict.answer, verdict.gold)
        why, method, status = verdict.why, verdict.method, verdict.status
        # All at once: it is made for every row of every step.
        score = Score(value, why, answer, its, method, status, right, None, False, verdict.problem)
    elif verdict.status in STOPPED:
        why = f"{verdict.why} {compared.why}"
        score = replace(compared, why=why, status=verdict.status, problem=verdict.problem)
    else:
        score = compared
    return replace(score, why=f"{score.why} {told}", gold_in_part=True) if told else score


def scores_of_verdicts(
    verdicts: Sequence[Verdict], golds: Sequence[str], *, bad_gold: float | None = 0.0
) -> list[Score]:
    """The score of each verdict and its gold; rows that share both share a score.

    >>> verdict = Verdict(Status.EQUAL, "4", "4", "same text", 0.0)
    >>> one, other = scores_of_verdicts([verdict, verdict], ["4", "4"])
    >>> one.value, one is other
    (1.0, True)
    """
    make = score_of if _reasons_wanted.get() else _bare_score_of
    made: dict[tuple[int, str], Score] = {}
    scores = []
    for verdict, gold in zip(verdicts, golds, strict=True):
        key = id(verdict), gold  # a verdict's own hash takes as long as making a score
        score = made.get(key)
        if score is None:
            score = made[key] = make(verdict, gold, bad_gold=bad_gold)
        scores.append(score)
    return scores


@contextmanager
def without_reasons() -> Iterator[None]:
    """What `scores_of_verdicts` gives in the block has a value and a status, for who wants no more.

    >>> verdict = Verdict(Status.EQUAL, "4", "4", "same text", 0.0)
    >>> with without_reasons():
    ...     (score,) = scores_of_verdicts([verdict], ["4"])
    >>> score.value, score.why
    (1.0, '')
    """
    token = _reasons_wanted.set(False)
    try:
        yield
    finally:
        _reasons_wanted.reset(token)


_reasons_wanted = ContextVar("plaudit_reasons", default=True)


def _bare_score_of(verdict: Verdict, gold: str, *, bad_gold: float | None) -> Score:
    in_part(gold, verdict.gold)  # which warns
    return _bare_score(verdict.status, bad_gold)


@cache  # there are as many as statuses
def _bare_score(status: Status, bad_gold: float | None) -> Score:
    verdict = Verdict(status, None, None, "", 0.0)
    return replace(score_of(verdict, "", bad_gold=bad_gold), why="")
