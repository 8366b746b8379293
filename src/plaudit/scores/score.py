"""`Score`: what a completion is worth, and why; and the values and metrics that a trainer takes."""

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from plaudit.inputs.golds import in_part
from plaudit.judge import Status, Verdict

# The statuses of a row, the worst first. A component can also say "equal", "different" or "gated",
# each of which is "scored" for its row.
TRUNCATED, NOT_APPLICABLE = "truncated", "not_applicable"
STATUSES = (
    *("error", "timeout", "limit", "bad_gold", "undecided", TRUNCATED),
    *("no_answer", "exception", "several", "retracted", "unsolved", NOT_APPLICABLE, "scored"),
)
# What every reward may say, and trainers are sent for each row; only `answers` and `code` have
# the others.
REPORTED_STATUSES = ("error", "timeout", "limit", "bad_gold", TRUNCATED, "no_answer")
# A row without a value that has one of these failed: nobody wanted it to be skipped.
FAILED_STATUSES = ("error", "timeout", "limit", "undecided")
SLOW = 0.001  # seconds: what is faster is not noted
# The judge did not come to the end of comparing.
UNFINISHED_STATUSES = STATUSES[: STATUSES.index("bad_gold")]
# Something is wrong with the data or the machine: the row got its value because something failed.
PROBLEM_STATUSES = STATUSES[: STATUSES.index("undecided")]


def short_repr(instance: Any) -> str:
    """Return the repr of a dataclass with only the fields that differ from their defaults.

    >>> short_repr(Score(1.0, "It is short.", right=True))
    "Score(value=1.0, why='It is short.', right=True)"
    """
    shown = []
    for f in fields(instance):
        value = getattr(instance, f.name)
        default = f.default_factory() if f.default_factory is not MISSING else f.default
        if f.repr and value != default:
            shown.append(f"{f.name}={value!r}")
    return f"{type(instance).__name__}({', '.join(shown)})"


@dataclass(frozen=True, slots=True, repr=False)
class Score:
    """What one completion is worth, and why.

    value: the reward; None if the row is skipped, or if the reward does not apply to it
    why: one sentence for a person
    answer, gold: what was read as answer and as gold
    decided_by: what decided
    status: one of STATUSES; "equal" or "different" if the answer was compared with the gold;
        "gated" if the gate of a recipe holds the value back
    right: whether the completion is right by the reward's own rule; None if the reward does not
        say so (a format, a length), or if there is no gold to compare with
    ungated: what the value would be without the gate of its recipe; None if no gate held it back
    partial_gold: whether only a part of the gold was read, see `plaudit.inputs.golds`
    problem: what went wrong, if something did, such as "a power of more than a million digits"
    seconds: how long it took, if that is known: for a reward that scores rows together, its share.
        None for less than a millisecond
    turns: the value of each turn of the assistant, if the reward gives some

    >>> Score(1.0, "4 is equal to the gold 4.", answer="4", gold="4").value
    1.0
    """

    value: float | None
    why: str
    answer: str | None = None
    gold: str | None = None
    decided_by: str = ""
    status: str = "scored"
    right: bool | None = None
    ungated: float | None = None
    partial_gold: bool = False
    problem: str = ""
    seconds: float | None = field(default=None, compare=False, repr=False)
    turns: tuple[float, ...] | None = None

    def __repr__(self) -> str:
        return short_repr(self)

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        named = ("value", "answer", "gold", "decided_by", "status", "right", "why", "problem")
        facts = {name: getattr(self, name) for name in named}
        known = [(n, v) for n, v in facts.items() if n == "value" or v not in (None, "")]
        return html_table("Score", ["", ""], known)


# The score of a row without a gold.
NO_GOLD = Score(0.0, "There is no gold.", status=Status.BAD_GOLD)


def score_of(
    verdict: Verdict,
    gold: str,
    shown: tuple[str, str] | None = None,
    *,
    compared: Score | None = None,
    bad_gold: float | None = 0.0,
) -> Score:
    """Return the score of a verdict: 1.0 if the answer equals the gold, else 0.0.

    After an error of plaudit or of a worker the value is None: the row is skipped.

    gold: the whole text that the judge received as the gold
    shown: the answer and the gold that the score names. Default: what the judge read
    compared: the score of another comparison, such as one of texts, which counts unless the judge
        says equal; it gets the status of a judge that was stopped. Default: there is none
    bad_gold: the value if the gold cannot be read; None skips the row. Default: 0.0
    """
    told = in_part(gold, verdict.gold)
    if compared is None or verdict.status is Status.EQUAL:
        if verdict.status in (Status.BAD_GOLD, Status.ERROR):  # the model is not to blame
            right, value = None, bad_gold if verdict.status is Status.BAD_GOLD else None
        else:
            right = verdict.status is Status.EQUAL
            value = float(right)
        answer, its = shown or (verdict.answer, verdict.gold)
        why, by, status = verdict.why, verdict.decided_by, verdict.status
        # All at once: it is made for every row of every step.
        taken = verdict.seconds if verdict.seconds >= SLOW else None
        parts = value, why, answer, its, by, status, right, None, False, verdict.problem, taken
        score = Score(*parts)
    elif verdict.status in UNFINISHED_STATUSES:
        why = f"{verdict.why} {compared.why}"
        score = replace(compared, why=why, status=verdict.status, problem=verdict.problem)
    else:
        score = compared
    return replace(score, why=f"{score.why} {told}", partial_gold=True) if told else score


def scores_of_verdicts(
    verdicts: Sequence[Verdict], golds: Sequence[str], *, bad_gold: float | None = 0.0
) -> list[Score]:
    """Return the score of each verdict; rows that share verdict and gold share a score."""
    made: dict[tuple[int, str], Score] = {}
    scores = []
    for verdict, gold in zip(verdicts, golds, strict=True):
        key = id(verdict), gold  # a verdict's own hash takes as long as making a score
        score = made.get(key)
        if score is None:
            score = made[key] = score_of(verdict, gold, bad_gold=bad_gold)
        scores.append(score)
    return scores


def values_of(scores: Sequence[Score], name: str, log_metric: object = None) -> list[float | None]:
    """Return the values alone; log the share of rows with each status as metrics."""
    check_scores(scores, name)
    log_statuses(name, [score.status for score in scores], log_metric)
    return [score.value for score in scores]


def check_scores(given: Any, name: str) -> Sequence[Score]:
    """Raise unless it is a list of scores: a user's function may return anything."""
    if not isinstance(given, Sequence):
        got = type(given).__name__
        raise TypeError(f"{name} must give a list with a Score for each completion, got {got}")
    for row, one in enumerate(given):
        if not isinstance(one, Score):
            got = f"{type(one).__name__}: {one!r:.80}"
            raise TypeError(f"{name} must give a Score for each completion, row {row} is {got}")
    return given


def logged(scores: list[Score], columns: Mapping[str, Any]) -> list[Score]:
    """Return the scores; log answers, golds and what decided with the trainer's `log_extra`.

    columns: what the trainer passed to the reward besides the columns that it names
    """
    if callable(log_extra := columns.get("log_extra")):
        log_extra("answer", [score.answer or "" for score in scores])
        log_extra("gold", [score.gold or "" for score in scores])
        log_extra("decided_by", [score.decided_by for score in scores])
    return scores


def log_statuses(name: str, statuses: Sequence[str], log_metric: object) -> None:
    """Log the share of rows with each status other than "scored"."""
    if callable(log_metric) and statuses:
        count = Counter(statuses)
        # Also those of no row: a trainer takes the mean over several batches.
        for status in STATUSES[:-1]:
            log_metric(f"{name}/{status}", count[status] / len(statuses))


def log_seconds(name: str, seconds: Sequence[float], log_metric: object) -> None:
    """Log how long the rows of a batch took together, and the slowest of them."""
    if callable(log_metric) and seconds:
        log_metric(f"{name}/seconds", sum(seconds))
        log_metric(f"{name}/slowest_row_seconds", max(seconds))


def log_means(
    recipe: str, components: Mapping[str, Sequence[float | None]], log_metric: object
) -> None:
    """Log the mean of each component, which a total alone would hide."""
    for name, values in components.items():
        counted = [value for value in values if value is not None]
        if counted and callable(log_metric):
            log_metric(f"{recipe}/{name}", sum(counted) / len(counted))


LONGEST_CELL = 300  # characters of a cell
_STYLE = "text-align: left; padding: 2px 8px"


# --- tables of HTML, for notebooks ----------------------------------------------------------------


def html_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[object]], note: str = ""
) -> str:
    """Return a table for a notebook; what stands in it is text, never HTML.

    It sets no colours, so that it is readable in light and in dark notebooks.

    caption: what stands above it
    note: what stands below it; default: nothing
    """
    from html import escape  # only notebooks need it

    first, lines = _html_line(head, "th"), "".join(_html_line(row, "td") for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    return (
        f"<div><p><strong>{escape(caption)}</strong></p><table><thead>{first}</thead>"
        f"<tbody>{lines}</tbody></table>{below}</div>"
    )


def _html_line(cells: Sequence[object], tag: str) -> str:
    from html import escape

    inside = (f'<{tag} style="{_STYLE}">{escape(_html_cell(cell))}</{tag}>' for cell in cells)
    return f"<tr>{''.join(inside)}</tr>"


def _html_cell(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.6g}"
    text = "" if cell is None else str(cell)
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"


# --- the log of attempts --------------------------------------------------------------------------

_warned_of: set[str] = set()


def log_attempts(
    path: str,
    title: str,
    scores: Sequence[Score],
    contents: Sequence[str | None],
    solution: Sequence[object] | None = None,
    suffix: str = "",
) -> None:
    """Append what each completion got to `$LOG_PATH`, or to `path` if that is not set.

        ------------- 2025-03-01T12:00:00.123456 Accuracy reward: 1.0 -------------
        Content: <answer>4</answer>
        Solution: 4

    Does nothing without `DEBUG_MODE=true`. `suffix` tells apart the files of several rewards:
    `_format` turns `run.txt` into `run_format.txt`. A file that cannot be written is warned of
    once, and never changes a reward.
    """
    if os.environ.get("DEBUG_MODE") != "true":
        return
    file = os.environ.get("LOG_PATH") or path
    file = f"{file.removesuffix('.txt')}{suffix}.txt" if suffix else file
    now = datetime.now().isoformat(timespec="microseconds")
    golds = [None] * len(scores) if solution is None else solution
    text = "".join(
        f"------------- {now} {title}: {score.value} -------------\n"
        f"Content: {content}\nSolution: {gold}\n"
        for score, content, gold in zip(scores, contents, golds, strict=True)
    )
    try:
        # One write to a file opened for appending: batches of several threads do not mix.
        with Path(file).open("ab", buffering=0) as log:
            log.write(text.encode("utf-8", errors="backslashreplace"))
    except (OSError, ValueError) as error:
        if file not in _warned_of:
            _warned_of.add(file)
            warnings.warn(f"plaudit writes no debug log: {error}", RuntimeWarning, stacklevel=2)
