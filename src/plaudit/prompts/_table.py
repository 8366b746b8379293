"""A file's name, or rows in memory -> rows. An entry that a row lacks is an error that names it."""

from collections.abc import Iterable, Iterator, Mapping
from math import isnan
from os import PathLike
from typing import Any

from plaudit.golds import is_missing

Row = Mapping[str, Any]
Table = str | PathLike[str] | Iterable[Row]


def rows_in(table: Table) -> Iterator[tuple[int, Row]]:
    """The rows of a file, or of anything that can be looped over, with their numbers from 0 on.

    >>> list(rows_in([{"question": "Who?"}]))
    [(0, {'question': 'Who?'})]
    """
    if isinstance(table, str | PathLike):
        from plaudit.scoring import read_rows  # needs pyarrow, which rows in memory do not

        yield from enumerate(read_rows([table]))
        return
    for number, row in enumerate(table):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} must be a dict, got {type(row).__name__}: {row!r:.60}")
        yield number, row


def entry_of(row: Row, name: str, number: int) -> Any:
    """What a row has in a column; raises ValueError where it has nothing: None, NaN, pandas.NA.

    >>> entry_of({"question": "Who?"}, "answer", 3)
    Traceback (most recent call last):
    ...
    ValueError: row 3 has no "answer"; its columns are "question"
    """
    entry = row.get(name)
    if is_nothing(entry):
        names = ", ".join(f'"{key}"' for key in row) or "none"
        raise ValueError(f'row {number} has no "{name}"; its columns are {names}')
    return entry


def is_nothing(value: Any) -> bool:
    """Whether a value means that there is none: None, NaN, or what pandas writes in their place.

    >>> is_nothing(float("nan")), is_nothing("")
    (True, False)
    """
    return value is None or is_missing(value) or (isinstance(value, float) and isnan(value))
