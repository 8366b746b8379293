"""A table in memory -> the values of its columns; and the same kind of table, with more columns.

    pandas.DataFrame, polars.DataFrame, pyarrow.Table, datasets.Dataset,
    [{"completion": "4", "solution": "4"}, …], {"completion": ["4", …], "solution": ["4", …]}

pandas, polars and datasets are not imported here: a caller who passes their tables has done so.
"""

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from plaudit.columns import rows_of
from plaudit.golds import is_missing, python_values
from plaudit.scoring._columns import python_rows
from plaudit.scoring._errors import InputError

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


class Table(Protocol):
    """A table of one kind.

    names: of its columns
    """

    names: list[str]

    def __len__(self) -> int: ...

    def values(self, name: str, start: int, end: int) -> list[Any]:
        """The values of a column, of some rows."""
        ...

    def chosen(
        self, places: Sequence[int], columns: Mapping[str, tuple[str, list[Any]]]
    ) -> "Table":
        """The rows at these places; `columns` replaces some: old name -> new name and values."""
        ...

    def with_columns(self, added: Added, texts: Collection[str]) -> Any:
        """The table that the caller gets: the same kind, with more columns.

        texts: the names of those that hold text; the others hold numbers
        """
        ...


def table_of(given: Any) -> Table:
    """The table that a caller passes; raises InputError where it is none.

    >>> table_of([{"completion": "4"}]).names
    ['completion']
    >>> table_of("rollouts.jsonl")
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.InputError: 'rollouts.jsonl' is the name of a file: score it with \
plaudit.scoring.score_table('rollouts.jsonl', recipe, 'scored'), or read it first, such as with \
pandas.read_json('rollouts.jsonl', lines=True)
    """
    for module, name, kind in _FOREIGN:
        if (package := sys.modules.get(module)) and isinstance(given, getattr(package, name, ())):
            found: Table = kind(given)
            return found
    if isinstance(given, Mapping):
        return _check_mapping(given)
    if isinstance(given, list | tuple):
        return _Dicts(given)
    raise InputError(_instead(given))


def _instead(given: Any) -> str:
    """The error for something that is not a table: what to pass instead."""
    if isinstance(given, str | Path):
        name = repr(str(given))
        suffix = Path(given).suffix.removeprefix(".").lower()
        reader = _READERS.get(suffix, f"read_{suffix}") if suffix else "read_json"
        more = ", lines=True" if suffix in ("jsonl", "ndjson", "") else ""
        return (
            f"{name} is the name of a file: score it with plaudit.scoring.score_table({name}, "
            f"recipe, 'scored'), or read it first, such as with pandas.{reader}({name}{more})"
        )
    kind = type(given).__name__
    if kind == "LazyFrame":
        return "a LazyFrame has no rows yet: pass table.collect()"
    if kind == "IterableDataset":
        return "an IterableDataset has no rows yet: pass datasets.Dataset.from_list(list(table))"
    if kind == "Series":
        return 'a Series is one column: pass the whole table, or series.to_frame("completion")'
    if isinstance(given, Iterator):
        return f"a {kind} can be read only once: pass list(…) of it"
    return f"a table is {KINDS}; got {kind}: {given!r:.80}"


def _check_mapping(given: Mapping[str, Any]) -> Table:
    if type(given).__name__.endswith("DatasetDict"):
        splits = ", ".join(map(repr, given))
        raise InputError(f"a DatasetDict has several tables, {splits}: pass one, table['train']")
    return _Lists(given)


class _Pandas:
    def __init__(self, table: Any) -> None:
        self._table = table
        self.names = _names(table.columns)

    def __len__(self) -> int:
        return len(self._table)

    def values(self, name: str, start: int, end: int) -> list[Any]:
        return _cells(python_values(self._table[name].iloc[start:end]))

    def chosen(self, places: Sequence[int], columns: Replaced) -> Table:
        table = self._table.iloc[list(places)].copy()
        for old, (_, values) in columns.items():
            table[old] = sys.modules["pandas"].Series(values, index=table.index, dtype=object)
        return _Pandas(table.rename(columns={old: new for old, (new, _) in columns.items()}))

    def with_columns(self, added: Added, texts: Collection[str]) -> Any:
        from numpy import array

        numbers = {n: array(values, float) for n, values in added.items() if n not in texts}
        return self._table.assign(**{**added, **numbers})


class _Polars:
    def __init__(self, table: Any) -> None:
        self._table = table
        self.names = list(table.columns)

    def __len__(self) -> int:
        return len(self._table)

    def values(self, name: str, start: int, end: int) -> list[Any]:
        column = self._table.get_column(name).slice(start, end - start)
        return list(python_values(column, "to_list"))

    def chosen(self, places: Sequence[int], columns: Replaced) -> Table:
        series = sys.modules["polars"].Series
        table = self._table[list(places)]
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


class _Arrow:
    def __init__(self, table: Any) -> None:
        is_batch = isinstance(table, pa.RecordBatch)
        self._table = pa.Table.from_batches([table]) if is_batch else table
        self.names = _names(self._table.column_names)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def values(self, name: str, start: int, end: int) -> list[Any]:
        column = self._table.select([name]).slice(start, end - start)
        return [row[name] for row in python_rows(column)]

    def chosen(self, places: Sequence[int], columns: Replaced) -> Table:
        table = self._table.take(pa.array(places, pa.int64()))
        for old, (new, values) in columns.items():
            table = table.set_column(table.column_names.index(old), new, pa.array(values))
        return _Arrow(table)

    def with_columns(self, added: Added, texts: Collection[str]) -> Any:
        table = self._table
        for name, values in added.items():
            kind = pa.string() if name in texts else pa.float64()
            table = table.append_column(name, pa.array(values, kind))
        return table


class _Dataset:
    """A Hugging Face dataset."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self._plain = table.with_format(None)  # values as they are, not as tensors
        self._columns: dict[str, Any] = {}  # each alone, so that reading it decodes no other
        self.names = list(table.column_names)

    def __len__(self) -> int:
        return len(self._table)

    def values(self, name: str, start: int, end: int) -> list[Any]:
        if name not in self._columns:
            self._columns[name] = self._plain.select_columns([name])
        return list(self._columns[name][start:end][name])

    def chosen(self, places: Sequence[int], columns: Replaced) -> Table:
        table = self._table.select(list(places)).remove_columns(list(columns))
        return _Dataset(_Dataset(table)._joined(pa.table(dict(columns.values()))))

    def with_columns(self, added: Added, texts: Collection[str]) -> Any:
        rows = pa.nulls(len(self), pa.null())
        empty = _Arrow(pa.table({"": rows}))
        return self._joined(empty.with_columns(added, texts).drop_columns([""]))

    def _joined(self, more: pa.Table) -> Any:
        """The dataset with the columns of an Arrow table, in the format that it has."""
        datasets = sys.modules["datasets"]
        form = self._table.format
        both = datasets.concatenate_datasets([self._plain, datasets.Dataset(more)], axis=1)
        is_plain = form["type"] is None and form["columns"] == self._table.column_names
        return both if is_plain else both.with_format(form["type"], **form["format_kwargs"])


class _Dicts:
    """A list of dictionaries; some of them may lack a column."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        for place, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise InputError(
                    f"row {place} must be a dict such as {{'completion': '4', 'solution': '4'}}, "
                    f"got {type(row).__name__}: {row!r:.80}"
                )
        self._rows = rows
        self.names = _names(dict.fromkeys(name for row in rows for name in row))

    def __len__(self) -> int:
        return len(self._rows)

    def values(self, name: str, start: int, end: int) -> list[Any]:
        return _cells([row.get(name) for row in self._rows[start:end]])

    def chosen(self, places: Sequence[int], columns: Replaced) -> Table:
        rows = [dict(self._rows[place]) for place in places]
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
            for row, values in zip(self._rows, more, strict=True)
        ]


class _Lists:
    """A dictionary of columns."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = {name: rows_of(column, str(name)) for name, column in columns.items()}
        self.names = _names(self._columns)
        self._rows = _rows_in(self._columns)

    def __len__(self) -> int:
        return self._rows

    def values(self, name: str, start: int, end: int) -> list[Any]:
        return _cells(self._columns[name][start:end])

    def chosen(self, places: Sequence[int], columns: Replaced) -> Table:
        kept = {
            name: (name, [column[place] for place in places])
            for name, column in self._columns.items()
        }
        return _Lists(dict((kept | dict(columns)).values()))

    def with_columns(self, added: Added, texts: Collection[str]) -> Any:
        return {**self._columns, **added}


_FOREIGN: tuple[tuple[str, str, type[Any]], ...] = (
    ("pandas", "DataFrame", _Pandas),
    ("polars", "DataFrame", _Polars),
    ("pyarrow", "Table", _Arrow),
    ("pyarrow", "RecordBatch", _Arrow),
    ("datasets", "Dataset", _Dataset),
)


def _rows_in(columns: Mapping[str, Sequence[Any]]) -> int:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(f"the columns of a table must be equally long: {told}")
    return next(iter(lengths.values()), 0)


def _names(columns: Iterable[Any]) -> list[str]:
    """The columns that have a name which a reward could ask for, each once."""
    names = [name for name in columns if isinstance(name, str)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two columns are called {twice!r}: rename one of them")
    return names


def _cells(values: Sequence[Any]) -> list[Any]:
    return [value if type(value) is str else _cell(value) for value in values]


def _cell(value: Any) -> Any:
    """A value as Parquet would give it back: lists for arrays, None where there is nothing."""
    if hasattr(value, "tolist"):
        value = python_values(value)
    if isinstance(value, list | tuple):
        return _cells(value)
    if isinstance(value, dict):
        return {name: _cell(inner) for name, inner in value.items()}
    return None if is_missing(value) or value != value else value
