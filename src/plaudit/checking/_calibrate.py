"""A few rows in, and out comes the format in which each component wants an answer.

The right answers of these rows are written in each of the usual formats; the format in which most
of them are right is the one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from plaudit.checking._formats import Format
from plaudit.checking._golds import Row, honest_answers, scores_of
from plaudit.checking._images import image_problems
from plaudit.checking._plan import CheckPlan, Comparison
from plaudit.scores import TROUBLE, Score
from plaudit.scoring import Chunk, Failure, common_failure, records_in

SURE = 8  # rows, at least: a reward that fails for every one of them is broken
KNOWN = ("4", "B", "[1, 2, 3, 4]")  # golds that any reward of their kind can read


@dataclass(frozen=True, slots=True)
class Calibration:
    """The comparisons with their formats, or the failure of one that raises for every row.

    unknown: the names of those whose format was not found
    """

    comparisons: tuple[Comparison, ...]
    unknown: tuple[str, ...]
    failure: Failure | None = None


def calibrate(chunk: Chunk, plan: CheckPlan) -> Calibration:
    """Try the formats on the rows of a chunk."""
    records = [record for block in chunk.blocks for record in records_in(block, plan.columns)]
    rows: list[Row] = [r for r in records if isinstance(r, dict) and not image_problems(r, plan)]
    found, unknown = [], []
    for comparison in plan.comparisons:
        trials = _trials(rows, comparison, plan.formats)
        if failure := _failure(trials):
            return Calibration((), (), failure)
        best = _best(trials, comparison)
        if best is None:
            best = _best_of_known(rows, comparison, plan.formats)
        if best is None and rows and not _all_in_trouble(trials):
            unknown.append(comparison.name)
            found.append(comparison)
        else:
            found.append(best or replace(comparison, format=plan.formats[0]))
    return Calibration(tuple(found), tuple(unknown))


Trials = list[tuple[Format, list[Any]]]


def _trials(rows: Sequence[Row], comparison: Comparison, formats: Sequence[Format]) -> Trials:
    """What each format got, until one is right in every row."""
    answers = [honest_answers(row, comparison)[0] for row in rows]
    trials: Trials = []
    for one in formats:
        outcomes = scores_of(rows, [one.text(answer) for answer in answers], comparison)
        trials.append((one, outcomes))
        if rows and all(isinstance(o, Score) and o.right for o in outcomes):
            break
    return trials


def _best(trials: Trials, comparison: Comparison) -> Comparison | None:
    """The comparison with the format that earned most; None where nothing was right."""

    def earned(trial: tuple[Format, list[Any]]) -> tuple[int, float]:
        scores = [one for one in trial[1] if isinstance(one, Score)]
        return sum(bool(s.right) for s in scores), sum(s.value or 0.0 for s in scores)

    best = max(trials, key=earned, default=None)
    if best is None:
        return None
    scores = [one for one in best[1] if isinstance(one, Score)]
    pay = max((s.value for s in scores if s.right is None and s.value is not None), default=None)
    found = replace(comparison, format=best[0], pay=pay)
    values = [one.value for _, several in trials for one in several if isinstance(one, Score)]
    least = min((value for value in values if value is not None), default=0.0)
    earns = pay is not None and pay > min(least, 0.0)
    return found if earns or any(score.right for score in scores) else None


def _best_of_known(
    rows: Sequence[Row], comparison: Comparison, formats: Sequence[Format]
) -> Comparison | None:
    """The same with golds that are sure to be readable, in place of those of the rows."""
    for gold in KNOWN:
        with_gold = [{**row, comparison.column: gold} for row in rows[:1]]
        if best := _best(_trials(with_gold, comparison, formats), comparison):
            return best
    return None


def _all_in_trouble(trials: Trials) -> bool:
    """Whether every outcome says that the gold cannot be read or compared."""
    return all(
        not isinstance(one, Score) or one.status in TROUBLE
        for _, outcomes in trials
        for one in outcomes
    )


def _failure(trials: Trials) -> Failure | None:
    outcomes = [one for _, several in trials for one in several]
    errors = [one for one in outcomes if isinstance(one, Exception)]
    if len(errors) < len(outcomes) or len(errors) < SURE * len(trials):
        return None
    return common_failure(errors)
