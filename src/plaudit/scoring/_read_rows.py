"""Files in, their records out, parsed: for whoever needs rows and no scores."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from plaudit.scoring._columns import python_rows
from plaudit.scoring._errors import InputError
from plaudit.scoring._inputs import find_inputs
from plaudit.scoring._readers import blocks_of
from plaudit.scoring._records import UnreadableRecord, parsed


def read_rows(paths: Sequence[Path], most: int | None = None) -> list[dict[str, Any]]:
    """The records of some tables; the first ones alone where `most` says how many.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "rows.jsonl")
    >>> _ = path.write_text('{"solution": "4"}\\n{"solution": "5"}\\n')
    >>> read_rows([path], most=1)
    [{'solution': '4'}]
    """
    rows: list[dict[str, Any]] = []
    for record in _records(paths):
        if len(rows) == most:
            break
        rows.append(record)
    if not rows:
        raise InputError(f"there is no row in {', '.join(map(str, paths))}")
    return rows


def _records(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for number, file in enumerate(find_inputs(paths, Path("/nonexistent"))):
        for block in blocks_of(file, number):
            if not isinstance(block.records, list):
                yield from python_rows(pa.Table.from_batches([block.records]))
                continue
            for record, line in zip(block.records, block.numbers, strict=True):
                row = parsed(record)
                if isinstance(row, UnreadableRecord):
                    raise InputError(f"{file.name}, line {line}: {row.reason}")
                yield row
