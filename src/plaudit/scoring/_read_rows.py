"""Tables in, their records out, all at once: for tables that fit into memory."""

from collections.abc import Iterator, Sequence
from itertools import islice
from os import PathLike
from typing import Any

import pyarrow as pa

from plaudit.scoring._columns import python_rows
from plaudit.scoring._errors import InputError, StorageError
from plaudit.scoring._inputs import find_inputs
from plaudit.scoring._readers import blocks_of
from plaudit.scoring._records import UnreadableRecord, parsed


def read_rows(
    paths: Sequence[str | PathLike[str]], most: int | None = None
) -> list[dict[str, Any]]:
    """The records of some tables, as dictionaries; raises InputError where one cannot be read.

    paths: files, folders or URLs, as `plaudit score` takes them
    most: how many records to read, from the first on; default: all

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "rows.jsonl")
    >>> _ = path.write_text('{"solution": "4"}\\n{"solution": "5"}\\n')
    >>> read_rows([path], most=1)
    [{'solution': '4'}]
    """
    try:
        rows = list(islice(_records(paths), most))
    except StorageError as error:
        raise InputError(str(error)) from error
    if not rows:
        raise InputError(f"there is no row in {', '.join(map(str, paths))}")
    return rows


def names_files(table: Any) -> bool:
    """Whether an argument names files, as a path or a list of paths, and is no table in memory.

    >>> names_files("train.jsonl"), names_files([{"solution": "4"}])
    (True, False)
    """
    several = isinstance(table, list | tuple) and len(table) > 0
    return isinstance(table, str | PathLike) or (
        several and all(isinstance(one, str | PathLike) for one in table)
    )


def _records(paths: Sequence[str | PathLike[str]]) -> Iterator[dict[str, Any]]:
    for number, file in enumerate(find_inputs(paths)):
        for block in blocks_of(file, number):
            if not isinstance(block.records, list):
                yield from python_rows(pa.Table.from_batches([block.records]))
                continue
            for record, line in zip(block.records, block.numbers, strict=True):
                row = parsed(record)
                if isinstance(row, UnreadableRecord):
                    raise InputError(f"{file.name}, line {line}: {row.reason}")
                yield row
