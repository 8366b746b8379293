"""What completions got from a recipe: each component's score, and what they come to.

What a status is worth is the table `[on]` of a recipe or a component:

    [on]
    timeout = "skip"     # the row has no value, and no trainer learns from it
    limit = "zero"
    truncated = -0.5
    undecided = "keep"   # what the reward gave

A fault of the machinery must not be paid like a wrong answer, so what it caused is skipped.

In a table, the scores are columns:

    <a component>   its value            status        the worst of the components' statuses
    total           the weighted sum     explanation   a struct for each component: its reason

`plaudit score` writes them for a table, and a recorded run for each batch, so that the same readers
read both. A column of the input keeps its name: if it has one of these, such as `total`, the column
that is added is called `plaudit_total`, and `_run.json` says so under `renamed`.
"""

import threading
import warnings
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any

from plaudit.inputs.errors import did_you_mean, quoted
from plaudit.scores import Score
from plaudit.scores.score import FAILED_STATUSES, NOT_APPLICABLE, STATUSES, TRUNCATED, html_table

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN = 20  # rows of a table in a notebook


@dataclass(frozen=True)
class RowScore:
    """What one completion got from a recipe.

    total: the weighted sum of the components, without those that are None; None if all are, or if
        one with a weight failed: without it, the others would say something else
    components: the score of each, in the recipe's order; its value is what counts. One that its
        gate holds back has the value 0.0, and the value that it would have had as `ungated`
    weights: the weight of each component in the total; 1.0 for one that is not named
    neutral: what each component is worth to a trainer that takes only numbers, if the row has no
        total; 0.0 for one that is not named
    """

    total: float | None
    components: Mapping[str, Score]
    weights: Mapping[str, float] = field(default_factory=dict, repr=False, compare=False)
    neutral: Mapping[str, float] = field(default_factory=dict, repr=False, compare=False)

    @property
    def numbers(self) -> dict[str, float]:
        """The value of each component, 0.0 without one; the neutral value without a total."""
        if self.total is None:
            return {name: self.neutral.get(name, 0.0) for name in self.components}
        return {name: score.value or 0.0 for name, score in self.components.items()}

    @property
    def weighted(self) -> dict[str, float]:
        """What each component adds to the total: its weight times its number."""
        return {name: self.weights.get(name, 1.0) * n for name, n in self.numbers.items()}

    @property
    def turns(self) -> tuple[float, ...] | None:
        """What each turn of the assistant adds to the total; None if no component values turns.

        They add up to the total. The value of a component is divided among the turns in proportion
        to its `Score.turns`; that of a component without these counts for the last turn.

        >>> used = Score(0.5, "One of two calls worked.", turns=(1.0, 0.0, 0.0))
        >>> RowScore(1.5, {"used": used, "right": Score(1.0, "It is.")}).turns
        (0.5, 0.0, 1.0)
        """
        valued = [score.turns for score in self.components.values() if score.turns]
        if not valued or self.total is None:
            return None
        turns = [0.0] * max(map(len, valued))
        for name, added in self.weighted.items():
            own = self.components[name].turns or ()
            whole = sum(own)
            if whole:
                for turn, value in enumerate(own):
                    turns[turn] += added * value / whole
            else:
                turns[-1] += added
        return tuple(turns)

    @property
    def status(self) -> str:
        """The worst status of a component, by the order of `STATUSES`."""
        return _worst(tuple([score.status for score in self.components.values()]))

    @property
    def why(self) -> str:
        """What each component gave and why, in one line."""
        scores = self.components.items()
        reasons = (f"{name} {s.value}: {s.why.removesuffix('.')}" for name, s in scores)
        return " ".join("; ".join(reasons).split())

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        head = ["component", "value", "status", "answer", "gold", "why"]
        lines = [
            (name, one.value, one.status, one.answer, one.gold, one.why)
            for name, one in self.components.items()
        ]
        return html_table(f"total {self.total}, {self.status}", head, lines)


class RowScores(list[RowScore]):
    """What a batch got from a recipe: a list, which shows its rows as a table in a notebook."""

    def _repr_html_(self) -> str:
        names = list(self[0].components) if self else []
        shown = [
            [index, *(row.components[name].value for name in names), row.total, row.status, row.why]
            for index, row in enumerate(self[:_SHOWN])
        ]
        more = f"and {len(self) - _SHOWN:,} more" if len(self) > _SHOWN else ""
        many = f"{len(self):,} row{'' if len(self) == 1 else 's'}"
        return html_table(many, ["row", *names, "total", "status", "why"], shown, more)


@dataclass(frozen=True)
class ScoredBatch:
    """What the rows of a batch got from a recipe, by component, without an object for each row.

    components: the scores of each, in the recipe's order; their values are what counts
    weights: the weight of each component in the total
    """

    components: Mapping[str, list[Score]]
    weights: Mapping[str, float]

    @cached_property
    def totals(self) -> list[float | None]:
        """The total of each row: the weighted sum, without components that are None."""
        values = [[score.value for score in scores] for scores in self.components.values()]
        weights = list(self.weights.values())
        if any(None in column for column in values):
            return [weighted_total(row, weights) for row in zip(*values, strict=True)]
        weighted = [
            [weight * value for value in column if value is not None]
            for weight, column in zip(weights, values, strict=True)
        ]
        return [_sum(row) for row in zip(*weighted, strict=True)]

    @cached_property
    def statuses(self) -> list[str]:
        """The status of each row."""
        columns = [[score.status for score in scores] for scores in self.components.values()]
        return [_worst(row) for row in zip(*columns, strict=True)]

    @property
    def answers(self) -> list[str | None]:
        """The answer that was read in each row, by the first component that read one."""
        columns = [[score.answer for score in scores] for scores in self.components.values()]
        rows = zip(*columns, strict=True)
        first = (next((one for one in row if one is not None), None) for row in rows)
        return [None if one is None else str(one) for one in first]

    @cached_property
    def rows(self) -> RowScores:
        """The same, row by row."""
        each = zip(*self.components.values(), strict=True)
        return RowScores(
            RowScore(total, dict(zip(self.components, scores, strict=True)), self.weights)
            for total, scores in zip(self.totals, each, strict=True)
        )


def weighted_total(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Return the weighted sum of the values that are not None; None if all are."""
    weighted = [w * value for w, value in zip(weights, values, strict=True) if value is not None]
    return _sum(weighted) if weighted else None


def _sum(weighted: Sequence[float]) -> float:
    """Return the sum to 15 digits: 1.0 + 0.2 + 0.2 is 1.4, and not 1.4000000000000001."""
    return weighted[0] if len(weighted) == 1 else float(f"{sum(weighted):.15g}")


@lru_cache  # a batch has few different ones
def _worst(statuses: tuple[str, ...]) -> str:
    applicable = [status for status in statuses if status != NOT_APPLICABLE]
    if statuses and not applicable:
        return NOT_APPLICABLE
    return next((status for status in STATUSES if status in applicable), STATUSES[-1])


# --- what a status is worth -----------------------------------------------------------------------

MEAN = "mean"
SKIP, ZERO, KEEP = "skip", "zero", "keep"
Worth = str | float
# What the model caused is 0; what the machinery or the data caused is skipped.
DEFAULTS: Mapping[str, Worth] = {
    "error": SKIP,  # a worker, a sandbox or a request failed
    "timeout": SKIP,  # a deadline passed, which says nothing about the answer
    "limit": ZERO,  # an answer that explodes
    "bad_gold": SKIP,  # there is nothing to compare with
    "undecided": KEEP,  # 0 by `answers`; skipped if the grader failed
    "truncated": KEEP,  # the model wrote too much: what the reward gave
}
FAIL_ABOVE = 0.2  # the share of failed rows from which a run stops
ROWS = 128  # that are counted together, if batches are smaller
LEAST = 4  # rows: fewer are no sign of anything
ERRORS = 2.0  # standard errors that the share must be above: 2 of 8 may be chance, 5 of 10 are not

_NAMES = tuple(status for status in STATUSES if status not in ("scored", "not_applicable"))


def check_policy(on: object) -> None:
    """Raise ValueError unless it maps statuses to what they are worth."""
    if not isinstance(on, Mapping):
        raise ValueError(f"on must be a table, got {on!r:.80}")
    for status, worth in on.items():
        if status not in _NAMES:
            raise ValueError(
                f"on: there is no status {quoted(str(status))}; {did_you_mean(str(status), _NAMES)}"
            )
        is_number = isinstance(worth, int | float) and not isinstance(worth, bool)
        if worth not in (SKIP, ZERO, KEEP) and not (is_number and isfinite(worth)):
            raise ValueError(
                f'on: {status} must be "skip", "zero", "keep" or a finite number, got {worth!r:.80}'
            )


def check_fail_above(share: object) -> None:
    """Raise ValueError unless it is a share."""
    is_number = isinstance(share, int | float) and not isinstance(share, bool)
    if not is_number or not 0 <= share <= 1:  # type: ignore[operator]
        raise ValueError(f"fail_above must be a share from 0 to 1, got {share!r:.80}")


def with_policy(scores: list[Score], on: Mapping[str, Any]) -> list[Score]:
    """Return the scores, each worth what its status is worth by the recipe and the component."""
    policy = {**DEFAULTS, **on}
    if not any(score.status in policy for score in scores):
        return scores  # nearly every batch
    return [_worth(score, policy.get(score.status, KEEP)) for score in scores]


def _worth(score: Score, worth: Worth) -> Score:
    # Another rule found it right before the judge was stopped.
    decided = score.right is True and score.status != TRUNCATED
    if worth == KEEP or decided:
        return score
    value = None if worth == SKIP else 0.0 if worth == ZERO else float(worth)
    if value == score.value:
        return score
    instead = "The row is skipped" if value is None else f"It counts {value:g}"
    why = f"{instead}, as the recipe says for {score.status}. {score.why}"
    return replace(score, value=value, why=why)


def check_neutral(neutral: object) -> None:
    """Raise ValueError unless it is "mean" or a finite number."""
    is_number = isinstance(neutral, int | float) and not isinstance(neutral, bool)
    if neutral != MEAN and not (is_number and isfinite(neutral)):  # type: ignore[arg-type]
        raise ValueError(f'neutral must be "mean" or a finite number, got {neutral!r:.80}')


class TooManyFailuresError(RuntimeError):
    """More rows of a batch failed than `fail_above` allows: the run would train on noise.

    >>> issubclass(TooManyFailuresError, RuntimeError)
    True
    """


class FailureCount:
    """How many of the last rows had no value because something failed, for one component."""

    def __init__(self) -> None:
        self._batches: deque[tuple[int, int]] = deque()  # rows, and how many of them failed
        self._warned: set[str] = set()
        self._lock = threading.Lock()

    def add(self, name: str, scores: Sequence[Score], fail_above: float) -> None:
        """Count a batch; warn of the first failure of a kind; raise if there are too many.

        name: that of the component
        """
        failed = [one for one in scores if one.value is None and one.status in FAILED_STATUSES]
        with self._lock:
            self._batches.append((len(scores), len(failed)))
            while sum(rows for rows, _ in self._batches) - self._batches[0][0] >= ROWS:
                self._batches.popleft()
            rows, count = (sum(numbers) for numbers in zip(*self._batches, strict=True))
            new = {one.status: one for one in failed if one.status not in self._warned}
            self._warned |= set(new)
        for status, score in new.items():
            warnings.warn(
                f"plaudit: {name} skips rows with the status {status}, from now on without a "
                f"warning; the first: {score.why}",
                RuntimeWarning,
                stacklevel=2,
            )
        margin = ERRORS * sqrt(fail_above * (1 - fail_above) / max(rows, 1))
        if count >= LEAST and count / rows > fail_above + margin:
            self._batches.clear()
            kinds = Counter(one.status for one in failed).most_common()
            why = f"; the last: {failed[-1].why}" if failed else ""
            raise TooManyFailuresError(
                f"{name} failed on {count} of the last {rows} rows "
                f"({', '.join(f'{status} {many}' for status, many in kinds)}), and fail_above is "
                f"{fail_above:g}{why}"
            )


# --- the columns of a scored table ---------------------------------------------------------------


def scored_columns(
    components: Mapping[str, Sequence[Score]],
    totals: Sequence[float | None],
    statuses: Sequence[str],
    timed: bool = False,
) -> "dict[str, pa.Array]":
    """Return a column for each component, `total`, `status` and `explanation`.

    timed: whether an explanation also says how long it took, so that no two runs are the same
    """
    import pyarrow as pa  # not needed by trainers

    columns = {
        name: pa.array([score.value for score in scores], pa.float64())
        for name, scores in components.items()
    }
    columns["total"] = pa.array(totals, pa.float64())
    columns["status"] = text_array(statuses)
    columns["explanation"] = _explanation(components, timed)
    return columns


def free_names(added: Collection[str], taken: Collection[str]) -> dict[str, str]:
    """Return new names for added columns whose names the table has already."""
    renamed = {}
    for name in added:
        free = name
        while free in taken or (free != name and free in added):
            free = f"plaudit_{free}"
        if free != name:
            renamed[name] = free
    return renamed


def renamed_note(renamed: Mapping[str, str]) -> str:
    """Return a sentence about columns that were renamed."""
    kept, added = ", ".join(renamed), ", ".join(renamed.values())
    return f"the table keeps its own {kept}; what is added is called {added}"


def read_names(names: Iterable[str], renamed: Mapping[str, str]) -> dict[str, str]:
    """Map what readers of a scored table call its columns to what the table calls them.

    For readers, the columns that scoring added have their usual names, and a column of the input
    that has such a name is marked.
    """
    usual = {new: name for name, new in renamed.items()}
    return {usual.get(n, input_name(n, renamed)): n for n in names}


def renamed_in(run: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the columns that a run renamed, usual name -> column, by its `_run.json`."""
    renamed = run.get("renamed")
    return renamed if isinstance(renamed, dict) else {}


def input_name(name: str, renamed: Mapping[str, str]) -> str:
    """Return what readers of a scored table call a column of its input."""
    return f"{name} (input)" if name in renamed else name


def _explanation(components: Mapping[str, Sequence[Score]], timed: bool) -> "pa.Array":
    """Return lists of structs, built from columns, which is faster than from dictionaries."""
    import pyarrow as pa

    rows = list(zip(*components.values(), strict=True))
    flat = [score for scores in rows for score in scores]
    fields = {
        "component": pa.array(list(components) * len(rows), pa.string()),
        "value": pa.array([score.value for score in flat], pa.float64()),
        "status": text_array([score.status for score in flat]),
        "decided_by": text_array([score.decided_by for score in flat]),
        "answer": text_array([score.answer for score in flat]),
        "gold": text_array([score.gold for score in flat]),
        "why": text_array([score.why for score in flat]),
        "right": pa.array([score.right for score in flat], pa.bool_()),
        "ungated": pa.array([score.ungated for score in flat], pa.float64()),
        "partial_gold": pa.array([score.partial_gold for score in flat], pa.bool_()),
        "problem": text_array([score.problem for score in flat]),
    }
    if timed:
        fields["seconds"] = pa.array([score.seconds for score in flat], pa.float64())
    structs = pa.StructArray.from_arrays(list(fields.values()), list(fields))
    offsets = pa.array(range(0, len(flat) + 1, len(components)), pa.int32())
    return pa.ListArray.from_arrays(offsets, structs)


def text_array(texts: Sequence[object]) -> "pa.Array":
    """Return an array of texts; lone surrogates become question marks.

    What is no text, such as a number that a user's reward gives as its answer, becomes its text.
    """
    import pyarrow as pa

    try:
        return pa.array(texts, pa.string())
    except (UnicodeEncodeError, pa.ArrowTypeError, pa.ArrowInvalid):
        # `str` of a text that is a member of an enum may be its name
        as_texts = (t if t is None or isinstance(t, str) else str(t) for t in texts)
        return pa.array([valid_text(text) for text in as_texts], pa.string())


def valid_texts(texts: list[str | None]) -> list[str | None]:
    """Return texts that can be written as UTF-8; lone surrogates become question marks."""
    try:
        "".join(text for text in texts if text is not None).encode()
    except UnicodeEncodeError:
        return [valid_text(text) for text in texts]
    return texts


def valid_text(value: object) -> str | None:
    """Return text that can be written: a lone surrogate becomes a question mark."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None


def parquet_of(table: "pa.Table", added: "Mapping[str, pa.Array] | None" = None) -> bytes:
    """Return the bytes of a Parquet file with a table, and with more columns behind its own."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, array in (added or {}).items():
        table = table.append_column(name, array)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", row_group_size=max(len(table), 1))
    part: bytes = sink.getvalue().to_pybytes()
    return part
