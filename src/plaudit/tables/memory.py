"""Score a table in memory, and return the same kind of table with the scores.

    pandas.DataFrame, polars.DataFrame, pyarrow.Table, datasets.Dataset,
    [{"completion": "4", "solution": "4"}, …], {"completion": ["4", …], "solution": ["4", …]}

The rows are scored by the same workers as those of `plaudit score`. What cannot be sent to another
process, such as a function of a notebook, is scored in this one. pandas, polars and datasets are
not imported here: a caller who passes their tables has done so.
"""

import pickle
import sys
import warnings
from bisect import bisect_right
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from plaudit.inputs.columns import is_missing, python_values, rows_of
from plaudit.judge import warn_of_untested_version
from plaudit.processes import cores
from plaudit.recipes import Recipe
from plaudit.recipes.recipe import as_recipe
from plaudit.recipes.row_score import free_names, renamed_note, valid_texts
from plaudit.tables.engines import score_locally
from plaudit.tables.errors import (
    RESUME_HINT,
    RETRY_HINT,
    InputError,
    RejectedRowError,
    StoppedError,
)
from plaudit.tables.plan import Head, Plan, check_numbers, is_read_by, plan_of, with_columns
from plaudit.tables.readers import Block, Chunk, python_rows
from plaudit.tables.score_chunk import (
    ROW_IDS,
    FirstParts,
    Rejected,
    ScoredChunk,
    completions_in,
    score_chunk,
)
from plaudit.tables.summary import IN_PART, LATEX, ReasonCounts, ScoreProgress, reason_lines

TEXTS = ("status", "extracted_answer", "why")  # what a table gets, besides numbers
REJECTED = "rejected"  # the status of a row that cannot be scored
HERE = 1024  # rows: for up to so many, starting workers takes longer than scoring
NAME = "the table"
HEAD = 2000  # rows that decide what the columns hold
FEWEST, MOST, GROWS_EVERY = 256, 4096, 8  # rows of a chunk; chunks, to twice the rows


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
    for argument, column in columns.items():
        if not isinstance(column, str):
            raise InputError(
                f"{argument} must be the name of a column, such as {argument}='gold', got "
                f"{type(column).__name__}: put the values into the table, as a column of it"
            )
    rows = table_of(table)
    chosen = with_columns(as_recipe(recipe), columns)
    if not len(rows):
        return _with_added(rows, _empty(chosen, rows))
    plan = _plan(rows, chosen)
    _warn_of_guesses(plan)
    run = _MemoryRun(rows, plan, workers, strict, progress)
    try:
        run.score()
    except StoppedError as error:
        message = str(error).replace(RESUME_HINT, "").replace(RETRY_HINT, "")  # they name a command
        raise StoppedError(message.rstrip()) from error
    return run.result()


def _empty(recipe: Recipe, table: "MemoryTable") -> dict[str, list[Any]]:
    """Return the columns to add to a table without rows; if it has columns, check them."""
    if table.names:
        _check(recipe.with_guessed_columns(table.names)[0], table)
    return {name: [] for name in _added_names(recipe)}


def _added_names(recipe: Recipe) -> list[str]:
    return [*(component.name for component in recipe.components), "total", *TEXTS]


def _with_added(table: "MemoryTable", added: Mapping[str, list[Any]]) -> Any:
    """Return the table with the added columns, renamed if the table has their names already."""
    renamed = free_names(added, table.names)
    if renamed:
        warnings.warn(renamed_note(renamed), UserWarning, stacklevel=4)
    columns = {renamed.get(name, name): values for name, values in added.items()}
    return table.with_columns(columns, [renamed.get(name, name) for name in TEXTS])


def _check(recipe: Recipe, table: "MemoryTable") -> None:
    try:
        recipe.check(table.names)
    except ValueError as error:
        raise InputError(f"{NAME}: {error}") from error


def _plan(table: "MemoryTable", recipe: Recipe) -> Plan:
    recipe, guessed = recipe.with_guessed_columns(table.names)
    _check(recipe, table)
    wanted = recipe.columns.get("completions")
    names = [
        name
        for name in table.names
        if name == wanted or name.startswith("completion") or is_read_by(name, recipe)
    ]
    first = table.block(names, 0, min(HEAD, len(table)))
    head = Head(NAME, first.records_from(range(len(first))), names, None, False, "")
    return plan_of([head], recipe, guessed=guessed, scores_only=True)


def _warn_of_guesses(plan: Plan) -> None:
    if plan.guessed:
        guesses = ", ".join(f"{argument}: column {name}" for argument, name in plan.guessed.items())
        say = ", ".join(f"{argument}={name!r}" for argument, name in plan.guessed.items())
        warnings.warn(
            f"columns were guessed by their names: {guesses}. To choose them yourself, call "
            f"plaudit.score(table, recipe, {say})",
            UserWarning,
            stacklevel=3,
        )


class _MemoryRun:
    """Scores the rows of a table, and puts the parts together."""

    def __init__(
        self,
        table: "MemoryTable",
        plan: Plan,
        workers: int | None,
        strict: bool,
        progress: TextIO | None,
    ) -> None:
        self._table, self._plan, self._strict = table, plan, strict
        self._workers = workers
        self._is_here = _is_here(plan, len(table), workers)
        at_once = 1 if self._is_here else workers or cores()
        self._progress = ScoreProgress(progress, len(table), at_once)
        self._first_parts = FirstParts()
        self._parts: list[ScoredChunk] = []
        self._starts: list[int] = []  # how many completions precede each chunk
        self._counts: list[int] = []  # how many completions each record has
        self._read: dict[int, int] = {}

    def score(self) -> None:
        scored = self._scored()
        try:
            for part in scored:
                self._parts.append(part)
                self._first_parts.ready(part)
                counts = part.counts
                known = counts["rows"], len(counts["rejected"]), counts["statuses"]
                self._progress.scored(*known, self._read.pop(part.number), part.seconds)
        finally:
            scored.close()
            self._progress.close()
        self._first_parts.check()
        if self._strict and (first := next(iter(self._rejected()), None)):
            raise RejectedRowError(f"{NAME}, row {first['line']}: {first['reason']}")

    def _scored(self) -> Generator[ScoredChunk]:
        if self._is_here:
            return (score_chunk(chunk, self._plan) for chunk in self._chunks())
        warn_of_untested_version()  # here, and not in each of the workers
        return score_locally(self._chunks(), self._plan, self._workers)

    def _chunks(self) -> Iterator[Chunk]:
        plan, rows = self._plan, len(self._table)
        names = list(dict.fromkeys([plan.completions, *plan.exploded, *plan.reward_columns]))
        start = number = done = 0
        while start < rows:
            end = min(start + min(MOST, FEWEST << min(number // GROWS_EVERY, 32)), rows)
            block = self._table.block(names, start, end)
            records = block.records_from(range(len(block))) if plan.listed else [{}] * len(block)
            counts = [completions_in(one, plan) for one in records]
            self._starts.append(done)
            self._counts += counts
            self._read[number] = len(block)
            yield Chunk(number, block)
            if self._first_parts.all_failed or (self._strict and self._rejected()):
                return
            start, number, done = end, number + 1, done + sum(counts)

    def _rejected(self) -> list[Rejected]:
        found = (one for part in self._parts for one in part.counts["rejected"])
        return sorted(found, key=lambda one: one["row_id"])

    def result(self) -> Any:
        """Return the table that the caller gets."""
        self._warn()
        row_ids, added = self._added()
        return _with_added(self._rows(row_ids), added)

    def _added(self) -> tuple[list[int], dict[str, list[Any]]]:
        """Return the ids of the rows, in order, and the columns that they get."""
        names = ["row_id", *_added_names(self._plan.recipe)]
        rejected: dict[str, list[Any]] = {
            **{name: [None] * len(self._rejected()) for name in names},
            "row_id": [one["row_id"] for one in self._rejected()],
            "status": [REJECTED] * len(self._rejected()),
            "why": valid_texts([one["reason"] for one in self._rejected()]),
        }
        parts = [*(part.scores for part in self._parts), rejected]
        columns = {name: [v for part in parts for v in part[name]] for name in names}
        row_ids = columns.pop("row_id")
        order = sorted(range(len(row_ids)), key=row_ids.__getitem__)
        added = {name: [values[index] for index in order] for name, values in columns.items()}
        return [row_ids[index] for index in order], added

    def _rows(self, row_ids: Sequence[int]) -> "MemoryTable":
        """Return the rows of the input; one with a list, once for each completion."""
        if not self._plan.listed:
            return self._table
        firsts = list(accumulate(self._counts[:-1], initial=0))
        numbers = [self._starts[row_id // ROW_IDS] + row_id % ROW_IDS for row_id in row_ids]
        indices = [bisect_right(firsts, number) - 1 for number in numbers]
        entries = [n - firsts[index] for n, index in zip(numbers, indices, strict=True)]
        columns = {}
        for column in (one for one in self._plan.columns if one.exploded):
            lists = self._table.values(column.source, 0, len(self._table))
            each = zip(indices, entries, strict=True)
            columns[column.source] = column.name, [_entry(lists[i], entry) for i, entry in each]
        return self._table.chosen(indices, columns)

    def _warn(self) -> None:
        if rejected := self._rejected():
            first, reasons = rejected[0], ReasonCounts()
            reasons.add(one["reason"] for one in rejected)
            counts = f"In all, {'; '.join(reason_lines(reasons.most_common()))}"
            warnings.warn(
                f"{len(rejected):,} of {sum(self._counts):,} rows cannot be scored; their status "
                f"is {REJECTED!r}. The first is row {first['line']}: {first['reason']}. {counts}",
                UserWarning,
                stacklevel=4,
            )
        in_part = sum(part.counts["golds_in_part"] for part in self._parts)
        if in_part and not self._is_here:  # a process warns by itself, and workers are quiet
            warnings.warn(f"{in_part:,} rows have {IN_PART} {LATEX}", UserWarning, stacklevel=4)


def _entry(value: Any, index: int) -> Any:
    """Return an entry of a list; None for a rejected row that has no such entry."""
    return value[index] if isinstance(value, list) and index < len(value) else None


def _is_here(plan: Plan, rows: int, workers: int | None) -> bool:
    """Return whether to score in this process: few rows, or a reward that no other can import."""
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


# --- kinds of tables ------------------------------------------------------------------------------

KINDS = (
    "a pandas or polars DataFrame, an Arrow table, a Hugging Face Dataset, a list of dicts or a "
    "dict of lists"
)


# What reads a file, by its suffix, if it is not called read_csv for .csv, and so on.
_READERS = {"jsonl": "read_json", "ndjson": "read_json", "tsv": "read_table", "xlsx": "read_excel"}
_READERS |= {"arrow": "read_feather"}
Added = Mapping[str, list[Any]]
# What replaces a column: its new name, and a value for each row.
Replaced = Mapping[str, tuple[str, list[Any]]]


class MemoryTable:
    """A table of one kind; `names` are those of its columns."""

    _columns = "column_names"  # the attribute that has them

    def __init__(self, table: Any) -> None:
        self._table = table
        self.names = _names(getattr(table, self._columns))

    def __len__(self) -> int:
        return len(self._table)

    def values(self, name: str, start: int, end: int) -> list[Any]:
        """Return the values of a column, of some rows."""
        raise NotImplementedError

    def block(self, names: Sequence[str], start: int, end: int, first: int = 0) -> Block:
        """Return some of the rows with these columns; `first` is the number of the first row."""
        columns = {name: self.values(name, start, end) for name in names}
        return Block(0, range(start + first, end + first), columns, end)

    def chosen(self, indices: Sequence[int], columns: Replaced) -> "MemoryTable":
        """Return the rows at these indices; `columns` replaces some of their columns."""
        raise NotImplementedError

    def with_columns(self, added: Added, texts: Collection[str]) -> Any:
        """Return the same kind of table with more columns: numbers, but for those in `texts`."""
        raise NotImplementedError


def table_of(table: Any) -> MemoryTable:
    """Return the table that a caller passes; raise InputError if it is none."""
    for module, name, kind in _FOREIGN:
        if (package := sys.modules.get(module)) and isinstance(table, getattr(package, name, ())):
            return kind(table)
    if isinstance(table, Mapping):
        return _check_mapping(table)
    if isinstance(table, list | tuple):
        return _Dicts(table)
    raise InputError(_instead(table))


def _instead(table: Any) -> str:
    """Return the error for something that is not a table: what to pass instead."""
    if isinstance(table, str | Path):
        name = repr(str(table))
        suffix = Path(table).suffix.removeprefix(".").lower()
        reader = _READERS.get(suffix, f"read_{suffix}") if suffix else "read_json"
        more = ", lines=True" if suffix in ("jsonl", "ndjson", "") else ""
        return (
            f"{name} is the name of a file: score it with plaudit.tables.score_table({name}, "
            f"recipe, 'scored'), or read it first, such as with pandas.{reader}({name}{more})"
        )
    kind = type(table).__name__
    if kind == "LazyFrame":
        return "a LazyFrame has no rows yet: pass table.collect()"
    if kind == "IterableDataset":
        return "an IterableDataset has no rows yet: pass datasets.Dataset.from_list(list(table))"
    if kind == "Series":
        return 'a Series is one column: pass the whole table, or series.to_frame("completion")'
    if isinstance(table, Iterator):
        return f"a {kind} can be read only once: pass list(…) of it"
    return f"a table is {KINDS}; got {kind}: {table!r:.80}"


def _check_mapping(table: Mapping[str, Any]) -> MemoryTable:
    if type(table).__name__.endswith("DatasetDict"):
        splits = ", ".join(map(repr, table))
        raise InputError(f"a DatasetDict has several tables, {splits}: pass one, table['train']")
    return _Lists(table)


class _Pandas(MemoryTable):
    _columns = "columns"

    def values(self, name: str, start: int, end: int) -> list[Any]:
        return _cells(python_values(self._table[name].iloc[start:end]))

    def chosen(self, indices: Sequence[int], columns: Replaced) -> MemoryTable:
        table = self._table.iloc[list(indices)].copy()
        for old, (_, values) in columns.items():
            table[old] = sys.modules["pandas"].Series(values, index=table.index, dtype=object)
        return _Pandas(table.rename(columns={old: new for old, (new, _) in columns.items()}))

    def with_columns(self, added: Added, texts: Collection[str]) -> Any:
        from numpy import array

        numbers = {n: array(values, float) for n, values in added.items() if n not in texts}
        return self._table.assign(**{**added, **numbers})


class _Polars(MemoryTable):
    _columns = "columns"

    def values(self, name: str, start: int, end: int) -> list[Any]:
        column = self._table.get_column(name).slice(start, end - start)
        return list(python_values(column, "to_list"))

    def chosen(self, indices: Sequence[int], columns: Replaced) -> MemoryTable:
        series = sys.modules["polars"].Series
        table = self._table[list(indices)]
        table = table.with_columns([series(old, v) for old, (_, v) in columns.items()])
        return _Polars(table.rename({old: new for old, (new, _) in columns.items()}))

    def with_columns(self, added: Added, texts: Collection[str]) -> Any:
        polars = sys.modules["polars"]
        return self._table.with_columns(
            [
                polars.Series(n, values, polars.String if n in texts else polars.Float64)
                for n, values in added.items()
            ]
        )


class _Arrow(MemoryTable):
    def values(self, name: str, start: int, end: int) -> list[Any]:
        column = self._table.select([name]).slice(start, end - start)
        return [row[name] for row in python_rows(column)]

    def chosen(self, indices: Sequence[int], columns: Replaced) -> MemoryTable:
        table = self._table.take(pa.array(indices, pa.int64()))
        for old, (new, values) in columns.items():
            table = table.set_column(table.column_names.index(old), new, pa.array(values))
        return _Arrow(table)

    def with_columns(self, added: Added, texts: Collection[str]) -> Any:
        table = self._table
        for name, values in added.items():
            kind = pa.string() if name in texts else pa.float64()
            table = table.append_column(name, pa.array(values, kind))
        return table


class _Dataset(MemoryTable):
    """A Hugging Face dataset."""

    def __init__(self, table: Any) -> None:
        super().__init__(table)
        self._plain = table.with_format(None)  # values as they are, not as tensors
        self._alone: dict[str, Any] = {}  # each column, so that reading it decodes no other

    def values(self, name: str, start: int, end: int) -> list[Any]:
        if name not in self._alone:
            self._alone[name] = self._plain.select_columns([name])
        return list(self._alone[name][start:end][name])

    def chosen(self, indices: Sequence[int], columns: Replaced) -> MemoryTable:
        table = self._table.select(list(indices)).remove_columns(list(columns))
        return _Dataset(_Dataset(table)._joined(pa.table(dict(columns.values()))))

    def with_columns(self, added: Added, texts: Collection[str]) -> Any:
        rows = pa.nulls(len(self), pa.null())
        empty = _Arrow(pa.table({"": rows}))
        return self._joined(empty.with_columns(added, texts).drop_columns([""]))

    def _joined(self, more: pa.Table) -> Any:
        """Return the dataset with the columns of an Arrow table, in the format that it has."""
        datasets = sys.modules["datasets"]
        form = self._table.format
        both = datasets.concatenate_datasets([self._plain, datasets.Dataset(more)], axis=1)
        is_plain = form["type"] is None and form["columns"] == self._table.column_names
        return both if is_plain else both.with_format(form["type"], **form["format_kwargs"])


class _Dicts(MemoryTable):
    """A list of dictionaries; some of them may lack a column."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        for index, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise InputError(
                    f"row {index} must be a dict such as {{'completion': '4', 'solution': '4'}}, "
                    f"got {type(row).__name__}: {row!r:.80}"
                )
        self._table = rows
        self.names = _names(dict.fromkeys(name for row in rows for name in row))

    def values(self, name: str, start: int, end: int) -> list[Any]:
        return _cells([row.get(name) for row in self._table[start:end]])

    def chosen(self, indices: Sequence[int], columns: Replaced) -> MemoryTable:
        rows = [dict(self._table[index]) for index in indices]
        for old, (new, values) in columns.items():
            rows = [
                {new if name == old else name: v for name, v in {**row, old: value}.items()}
                for row, value in zip(rows, values, strict=True)
            ]
        return _Dicts(rows)

    def with_columns(self, added: Added, texts: Collection[str]) -> Any:
        more = zip(*added.values(), strict=True)
        return [
            {**row, **dict(zip(added, values, strict=True))}
            for row, values in zip(self._table, more, strict=True)
        ]


class _Lists(MemoryTable):
    """A dictionary of columns."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._table = {name: rows_of(column, str(name)) for name, column in columns.items()}
        self.names = _names(self._table)
        self._rows = _rows_in(self._table)

    def __len__(self) -> int:
        return self._rows

    def values(self, name: str, start: int, end: int) -> list[Any]:
        return _cells(self._table[name][start:end])

    def chosen(self, indices: Sequence[int], columns: Replaced) -> MemoryTable:
        kept = {
            name: (name, [column[index] for index in indices])
            for name, column in self._table.items()
        }
        return _Lists(dict((kept | dict(columns)).values()))

    def with_columns(self, added: Added, texts: Collection[str]) -> Any:
        return {**self._table, **added}


_FOREIGN: tuple[tuple[str, str, Callable[[Any], MemoryTable]], ...] = (
    ("pandas", "DataFrame", _Pandas),
    ("polars", "DataFrame", _Polars),
    ("pyarrow", "Table", _Arrow),
    ("pyarrow", "RecordBatch", lambda batch: _Arrow(pa.Table.from_batches([batch]))),
    ("datasets", "Dataset", _Dataset),
)


def _rows_in(columns: Mapping[str, Sequence[Any]]) -> int:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(f"the columns of a table must be equally long: {told}")
    return next(iter(lengths.values()), 0)


def _names(columns: Iterable[Any]) -> list[str]:
    """Return the columns that have a name which a reward could ask for, each once."""
    names = [name for name in columns if isinstance(name, str)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two columns are called {twice!r}: rename one of them")
    return names


def _cells(values: Sequence[Any]) -> list[Any]:
    return [value if type(value) is str else _cell(value) for value in values]


def _cell(value: Any) -> Any:
    """Return a value as Parquet would: lists for arrays, None if there is nothing."""
    if hasattr(value, "tolist"):
        value = python_values(value)
    if isinstance(value, list | tuple):
        return _cells(value)
    if isinstance(value, dict):
        return {name: _cell(inner) for name, inner in value.items()}
    return None if is_missing(value) or value != value else value
