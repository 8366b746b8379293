"""A column, as a trainer or a table holds it -> a sequence with one entry per row.

Columns may be lists, arrays, tensors or Series. What is of another shape is a TypeError that names
the row and shows what came.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from math import isnan
from numbers import Real
from operator import index
from typing import Any

from plaudit.inputs.golds import is_missing, python_values

_PLAIN = frozenset((str, int, bool, list, tuple, dict, type(None)))


def rows_of(column: Any, name: str) -> Sequence[Any]:
    """Return a column as a sequence with one entry per row, whatever kind of array it is."""
    _length(column, name)
    rows = plain(column)
    return rows if isinstance(rows, Sequence) else list(rows)


def _length(column: Any, name: str) -> int:
    # A set has no order, and a dict has none that means rows.
    if not isinstance(column, str | bytes | bytearray | Mapping | Set) and not _is_table(column):
        try:
            return len(column)
        except TypeError:  # arrays of no dimension have a length that cannot be asked for
            pass
    raise TypeError(
        f"{name} must be a list with one entry per completion, got {type(column).__name__}"
        f"{_instead(column)}"
    )


def _is_table(value: Any) -> bool:
    """Whether it is a DataFrame, an Arrow table or a Dataset: many columns where one is meant."""
    return any(hasattr(value, name) for name in ("columns", "column_names"))


def _instead(column: Any) -> str:
    if _is_table(column):
        return ": pass one of its columns, or the whole table to plaudit.score(table, recipe)"
    return ": pass list(…) of it" if isinstance(column, Iterator) else ""


def same_length(completions: Any, **columns: Any) -> None:
    """Raise where a column is not as long as `completions`."""
    wanted = _length(completions, "completions")
    for name, column in columns.items():
        rows = _length(column, name)
        if rows != wanted:
            raise ValueError(
                f"{name} has {rows} entries, completions has {wanted}: they must be equally long"
            )


@contextmanager
def naming_row(row: int, file: str = "") -> Iterator[None]:
    """Name the row, and the file where it names one, in an error about what it holds."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        place = f"row {row} ({file})" if file else f"row {row}"
        raise kind(f"{place}: {error}") from error


def ids_of(completion_ids: Any) -> list[Sequence[int]]:
    """Return the token ids of each completion, from lists, arrays or tensors."""
    return [
        whole_numbers(ids, f"completion_ids {row}", "a list of token ids")
        for row, ids in enumerate(rows_of(completion_ids, "completion_ids"))
    ]


def whole_numbers(entry: Any, label: str, wanted: str) -> Sequence[int]:
    """Return whole numbers, as an array if they fit into one; errors name `label`."""
    held = plain(entry)
    if isinstance(held, str | bytes | bytearray):
        raise TypeError(
            f"{label} must be {wanted}, got text: {shortened(entry)}; "
            "where a file holds it as text, read it with json.loads"
        )
    if not isinstance(held, Sequence):
        raise TypeError(f"{label} must be {wanted}, got {kind_of(entry)}")
    try:
        return array("q", held)  # in C, since a batch has a million of them
    except (TypeError, OverflowError):
        return [_whole(number, label, wanted) for number in held]


def _whole(number: Any, label: str, wanted: str) -> int:
    try:
        is_whole = isinstance(number, float) and number.is_integer()
        return int(number) if is_whole else index(number)
    except TypeError as error:
        raise TypeError(f"{label} must be {wanted}, and has {kind_of(number)} in it") from error


def number_of(value: Any, label: str) -> float:
    """Return a number; `label` is what to call it in errors."""
    if type(value) is float and not isnan(value):
        return value
    number = plain(value)
    if not isinstance(number, Real) or isnan(number):
        raise TypeError(f"{label} must be a number, got {kind_of(value)}")
    return float(number)


def plain(value: Any) -> Any:
    """Return an array, a tensor, a Series or an Arrow column as Python values."""
    if type(value) in _PLAIN:  # most of them: asking for the others' methods takes longer
        return value
    for name in ("tolist", "to_pylist", "to_list"):  # of numpy, pandas and torch; Arrow; polars
        if hasattr(value, name):
            return python_values(value, name)
    return None if is_missing(value) else value


def kind_of(value: object) -> str:
    """Return what an error says of a value: its type, and the value itself."""
    return f"{type(value).__name__}: {shortened(value)}"


def shortened(value: object) -> str:
    """Return a value as an error shows it."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
