"""A table in memory and a recipe in, the same kind of table with the scores out.

The rows are scored by the same workers as those of `plaudit score`. What cannot be sent to another
process, such as a function of a notebook, is scored in this one.
"""

import pickle
import warnings
from bisect import bisect_right
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, TextIO

from plaudit.judge import warn_of_untested_version
from plaudit.processes import cores
from plaudit.recipes import Recipe, as_recipe
from plaudit.scored_columns import free_names, renamed_note, valid_texts
from plaudit.scoring._chunks import Chunk, chunks_from
from plaudit.scoring._errors import InputError, RejectedRowError, StoppedError, without_hints
from plaudit.scoring._local import score_locally
from plaudit.scoring._plan import Head, Plan, is_read_by, plan_of
from plaudit.scoring._records import Block
from plaudit.scoring._rows import Rejected
from plaudit.scoring._score_chunk import ScoredChunk, score_chunk
from plaudit.scoring._score_table import FirstParts, check_numbers, with_columns
from plaudit.scoring._summary import IN_PART, LATEX, Progress, ReasonCounts, reason_lines
from plaudit.scoring._tables import Table, table_of

TEXTS = ("status", "extracted_answer", "why")  # what a table gets, besides numbers
REJECTED = "rejected"  # the status of a row that cannot be scored
HERE = 1024  # rows: for up to so many, starting workers takes longer than scoring
NAME = "the table"

_HEAD = 2000  # rows that decide what the columns hold
_BLOCK = 4096  # rows that are taken out of the table at once


def score(
    table: Any,
    recipe: Any,
    /,
    *,
    workers: int | None = None,
    strict: bool = False,
    progress: TextIO | None = None,
    **columns: str,
) -> Any:
    """Score the rows of a table, and return the same kind of table with the scores as columns.

    It adds a column for each reward, and `total`, `status`, `extracted_answer` (what the first
    reward that looks for an answer read as it) and `why`. Columns of the table stay as they are: if
    it has a `total` already, the one that is added is `plaudit_total`, and a warning says so.

    A row that cannot be scored has the status "rejected", no values, and the reason as its `why`; a
    warning says how many there are. If a row holds a list of completions, each completion gets a
    row of its own.

    table: a pandas or polars DataFrame, an Arrow table, a Hugging Face Dataset, a list of dicts or
        a dict of lists
    recipe: a Recipe, the name of a preset, a TOML file, a reward (a function, or its name), or a
        list of rewards
    workers: how many processes to use, such as 8; default: one per core, and none for up to 1,024
        rows, which are scored in this process
    strict: whether to raise RejectedRowError at the first row that cannot be scored; default: score
        the other rows
    progress: where to show progress, such as sys.stderr; default: nowhere
    columns: the column that an argument of the rewards is read from, such as solution="gold";
        completions="response" is the column with what the model wrote. Default: the recipe's
        choice, else the column that has the argument's name, else a guess, with a warning that
        names it

    >>> rows = [{"completion": r"So it is \\boxed{4}.", "gold": 4}]
    >>> for row in score(rows, "trl-math", solution="gold"):
    ...     print(row["total"], row["status"], row["why"])
    1.0 scored accuracy_reward 1.0: 4 is equal to the gold 4
    >>> def brief(completions, **kwargs):
    ...     return [float(len(text) < 9) for text in completions]
    >>> score({"completion": ["short", "rather long"]}, brief)["brief"]
    [1.0, 0.0]
    """
    check_numbers(workers=workers)
    _check_column_names(columns)
    given = table_of(table)
    chosen = with_columns(as_recipe(recipe), columns)
    if not len(given):
        return _with_added(given, _empty(chosen, given))
    plan = _plan(given, chosen)
    _tell_guesses(plan)
    run = _Run(given, plan, workers, strict, progress)
    try:
        run.score()
    except StoppedError as error:
        raise StoppedError(without_hints(str(error))) from error
    return run.result()


def _check_column_names(columns: Mapping[str, Any]) -> None:
    for argument, column in columns.items():
        if not isinstance(column, str):
            raise InputError(
                f"{argument} must be the name of a column, such as {argument}='gold', got "
                f"{type(column).__name__}: put the values into the table, as a column of it"
            )


def _empty(recipe: Recipe, given: Table) -> dict[str, list[Any]]:
    """The columns to add to a table without rows; if it has columns, they are checked."""
    if given.names:
        _check(recipe.with_guessed_columns(given.names)[0], given)
    return {name: [] for name in _added_names(recipe)}


def _added_names(recipe: Recipe) -> list[str]:
    return [*(component.name for component in recipe.components), "total", *TEXTS]


def _with_added(table: Table, added: Mapping[str, list[Any]]) -> Any:
    """The table with the added columns; one whose name the table has already gets another."""
    renamed = free_names(added, table.names)
    if renamed:
        warnings.warn(renamed_note(renamed), UserWarning, stacklevel=4)
    columns = {renamed.get(name, name): values for name, values in added.items()}
    return table.with_columns(columns, [renamed.get(name, name) for name in TEXTS])


def _check(recipe: Recipe, given: Table) -> None:
    try:
        recipe.check(given.names)
    except ValueError as error:
        raise InputError(f"{NAME}: {error}") from error


def _plan(given: Table, recipe: Recipe) -> Plan:
    recipe, guessed = recipe.with_guessed_columns(given.names)
    _check(recipe, given)
    wanted = recipe.columns.get("completions")
    names = [
        name
        for name in given.names
        if name == wanted or name.startswith("completion") or is_read_by(name, recipe)
    ]
    first = _block(given, names, 0, min(_HEAD, len(given)))
    head = Head(NAME, first.records_from(range(len(first))), names, None, False, "")
    return plan_of([head], recipe, guessed=guessed, scores_only=True)


def _block(given: Table, names: Sequence[str], start: int, end: int) -> Block:
    columns = {name: given.values(name, start, end) for name in names}
    return Block(0, range(start, end), columns, end)


def _tell_guesses(plan: Plan) -> None:
    if plan.guessed:
        told = ", ".join(f"{argument}: column {name}" for argument, name in plan.guessed.items())
        say = ", ".join(f"{argument}={name!r}" for argument, name in plan.guessed.items())
        warnings.warn(
            f"columns were guessed by their names: {told}. To choose them yourself, call "
            f"plaudit.score(table, recipe, {say})",
            UserWarning,
            stacklevel=3,
        )


class _Run:
    """Scores the rows of a table, and puts the parts together."""

    def __init__(
        self,
        given: Table,
        plan: Plan,
        workers: int | None,
        strict: bool,
        progress: TextIO | None,
    ) -> None:
        self._given, self._plan, self._strict = given, plan, strict
        self._workers = workers
        self._is_here = _is_here(plan, len(given), workers)
        at_once = 1 if self._is_here else workers or cores()
        self._progress = Progress(progress, len(given), at_once)
        self._first_parts = FirstParts()
        self._parts: list[ScoredChunk] = []
        self._counts: list[int] = []  # how many completions each record has
        self._read: dict[int, int] = {}

    def score(self) -> None:
        scored = self._scored()
        try:
            for part in scored:
                self._parts.append(part)
                self._first_parts.ready(part)
                counts = part.rows, len(part.rejected), part.statuses
                self._progress.scored(*counts, self._read.pop(part.number), part.seconds)
        finally:
            scored.close()
            self._progress.close()
        self._first_parts.check()
        if self._strict and (first := next(iter(self._rejected()), None)):
            raise RejectedRowError(f"{NAME}, row {first.line}: {first.reason}")

    def _scored(self) -> Generator[ScoredChunk]:
        if self._is_here:
            return (score_chunk(chunk, self._plan) for chunk in self._chunks())
        warn_of_untested_version()  # here, and not in each of the workers
        return score_locally(self._chunks(), self._plan, self._workers)

    def _chunks(self) -> Iterator[Chunk]:
        for chunk in chunks_from(self._blocks(), self._plan):
            self._counts += chunk.counts()
            self._read[chunk.number] = chunk.read
            yield chunk
            if self._first_parts.all_failed or (self._strict and self._rejected()):
                return

    def _blocks(self) -> Iterator[Block]:
        plan, rows = self._plan, len(self._given)
        names = list(dict.fromkeys([plan.completions, *plan.exploded, *plan.reward_columns]))
        for start in range(0, rows, _BLOCK):
            yield _block(self._given, names, start, min(start + _BLOCK, rows))

    def _rejected(self) -> list[Rejected]:
        found = (one for part in self._parts for one in part.rejected)
        return sorted(found, key=lambda one: one.row_id)

    def result(self) -> Any:
        """The table that the caller gets."""
        self._warn()
        row_ids, added = self._added()
        return _with_added(self._rows(row_ids), added)

    def _added(self) -> tuple[list[int], dict[str, list[Any]]]:
        """The ids of the rows, in order, and the columns that they get."""
        names = ["row_id", *_added_names(self._plan.recipe)]
        rejected: dict[str, list[Any]] = {
            **{name: [None] * len(self._rejected()) for name in names},
            "row_id": [one.row_id for one in self._rejected()],
            "status": [REJECTED] * len(self._rejected()),
            "why": valid_texts([one.reason for one in self._rejected()]),
        }
        parts = [*(part.scores for part in self._parts), rejected]
        columns = {name: [v for part in parts for v in part[name]] for name in names}
        row_ids = columns.pop("row_id")
        order = sorted(range(len(row_ids)), key=row_ids.__getitem__)
        added = {name: [values[place] for place in order] for name, values in columns.items()}
        return [row_ids[place] for place in order], added

    def _rows(self, row_ids: Sequence[int]) -> Table:
        """The rows of the input; a row with a list of completions, once for each completion."""
        if not self._plan.listed:
            return self._given
        starts = list(accumulate(self._counts[:-1], initial=0))
        places = [bisect_right(starts, row_id) - 1 for row_id in row_ids]
        items = [row_id - starts[place] for row_id, place in zip(row_ids, places, strict=True)]
        columns = {}
        for column in (one for one in self._plan.columns if one.exploded):
            lists = self._given.values(column.source, 0, len(self._given))
            entries = [_entry(lists[p], item) for p, item in zip(places, items, strict=True)]
            columns[column.source] = column.name, entries
        return self._given.chosen(places, columns)

    def _warn(self) -> None:
        if rejected := self._rejected():
            first, reasons = rejected[0], ReasonCounts()
            reasons.add(one.reason for one in rejected)
            told = f"In all, {'; '.join(reason_lines(reasons.most_common()))}"
            warnings.warn(
                f"{len(rejected):,} of {sum(self._counts):,} rows cannot be scored; their status "
                f"is {REJECTED!r}. The first is row {first.line}: {first.reason}. {told}",
                UserWarning,
                stacklevel=4,
            )
        in_part = sum(part.golds_in_part for part in self._parts)
        if in_part and not self._is_here:  # a process warns by itself, and workers are quiet
            warnings.warn(f"{in_part:,} rows have {IN_PART} {LATEX}", UserWarning, stacklevel=4)


def _entry(value: Any, item: int) -> Any:
    """An entry of a list; None for a rejected row that has no such entry."""
    return value[item] if isinstance(value, list) and item < len(value) else None


def _is_here(plan: Plan, rows: int, workers: int | None) -> bool:
    """Whether to score in this process: for few rows, or a reward that no other can import."""
    alone = [one for one in plan.recipe.components if not _can_be_sent(one)]
    if alone and workers is not None:
        raise InputError(
            f"workers={workers} has no effect: {alone[0].name} ({alone[0].reference}) cannot be "
            "sent to another process; put it into a module, such as my_rewards.py, and import it "
            "from there, or leave workers out"
        )
    return bool(alone) or (workers is None and rows <= HERE)


def _can_be_sent(thing: Any) -> bool:
    try:
        sent = pickle.dumps(thing)
    except Exception:  # whatever a user's object does when it is pickled
        return False
    return b"__main__" not in sent  # another process has a __main__ of its own
