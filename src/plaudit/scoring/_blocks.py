"""Records as they were read, a few at a time, before anyone has looked into them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pyarrow as pa


class UnreadableError(ValueError):
    """A file makes no sense from this line on."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


class Broken(NamedTuple):
    """Stands for a record that cannot be read: why, and how it begins."""

    reason: str
    start: str


# JSON not yet parsed, a row of a CSV file, or what cannot be read.
Record = bytes | dict[str, Any] | Broken


@dataclass(frozen=True, slots=True)
class Block:
    """Records of one file that follow one another.

    file: which of the inputs; numbers: each record's line, or its row in a file without lines
    records: a list, or a batch of Arrow; packed for another process, the bytes of that batch
    read: how many bytes of the file were read when it was read
    """

    file: int
    numbers: Sequence[int]
    records: list[Record] | pa.RecordBatch
    read: int

    def __len__(self) -> int:
        return len(self.numbers)

    def cut(self, start: int, end: int) -> "Block":
        """The records from one place to another."""
        if isinstance(self.records, list):
            records = self.records[start:end]
        else:
            records = self.records.slice(start, end - start)
        return replace(self, numbers=self.numbers[start:end], records=records)

    def sizes(self) -> list[int]:
        """About how many bytes each record has."""
        if isinstance(self.records, list):
            return [_size(record) for record in self.records]
        return [self.records.nbytes // len(self)] * len(self)

    def packed(self) -> "Block":
        """The same, ready for another process; a cut batch would take its whole memory along."""
        if isinstance(self.records, list):
            return self
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.records.schema) as stream:
            stream.write_batch(self.records)
        return replace(self, records=sink.getvalue().to_pybytes())

    def table(self) -> pa.Table:
        """The table of a packed batch."""
        return pa.ipc.open_stream(self.records).read_all()


def _size(record: Record) -> int:
    if isinstance(record, dict):
        return sum(map(len, record.values()))
    return len(record)
