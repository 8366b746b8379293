"""Blocks of records in, chunks out: what one task scores, and one part of the output holds.

Which rows a chunk has depends on the input alone, never on the engine or on how many workers there
are. The first chunks are small, so that a small table keeps every core busy and the first parts
are written soon; they grow, so that a large table has few parts.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Protocol

import pyarrow.compute as pc

from plaudit.scoring._columns import is_list
from plaudit.scoring._inputs import InputFile
from plaudit.scoring._readers import blocks_of
from plaudit.scoring._records import Block, UnreadableRecord, parsed

MIN_ROWS, MAX_ROWS = 256, 4096
GROWS_EVERY = 8  # chunks, to twice the rows
MAX_BYTES = 16 << 20
SIZES = {"from": MIN_ROWS, "to": MAX_ROWS, "doubled_every": GROWS_EVERY, "bytes": MAX_BYTES}


class Counting(Protocol):
    """How many rows a record counts for: as many as it has completions, if these are listed."""

    @property
    def listed(self) -> bool: ...

    @property
    def completions(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some records, and their place among all.

    number: of the chunk, from 0, and of the part that is made from it
    first_row, first_record: the numbers of the first completion and of the first record
    rows: how many completions each record of each block has; one that cannot be read counts as one
    read: how many bytes of the input it is made from

    >>> Chunk(0, 0, 0, (Block(0, [1], [b'{"solution": "4"}'], 18),), ([1],), 18).packed().number
    0
    """

    number: int
    first_row: int
    first_record: int
    blocks: tuple[Block, ...]
    rows: tuple[Sequence[int], ...]
    read: int

    def packed(self) -> "Chunk":
        """The same, ready for another process."""
        return replace(self, blocks=tuple(block.packed() for block in self.blocks))


def max_rows(number: int) -> int:
    """How many rows the chunk of this number has at most.

    >>> [max_rows(number) for number in (0, 7, 8, 1000)]
    [256, 256, 512, 4096]
    """
    return min(MAX_ROWS, MIN_ROWS << min(number // GROWS_EVERY, 32))


def chunks_of(files: Sequence[InputFile], plan: Counting, limit: int | None) -> Iterator[Chunk]:
    """The chunks of the inputs, in order; of the first `limit` records, if that is given.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from types import SimpleNamespace
    >>> from plaudit.scoring import find_inputs
    >>> file = Path(tempfile.mkdtemp(), "a.jsonl")
    >>> _ = file.write_text('{"solution": "4"}\\n{"solution": "5"}')
    >>> plan = SimpleNamespace(listed=False, completions="")
    >>> [chunk.blocks[0].records for chunk in chunks_of(find_inputs([file]), plan, limit=1)]
    [[b'{"solution": "4"}']]
    """
    builder = _ChunkBuilder()
    for number, file in enumerate(files):
        blocks = _limited(blocks_of(file, number), limit, builder)
        read = yield from _filled(builder, blocks, plan)
        builder.read += file.size - read
    yield from builder.flush()


def chunks_from(blocks: Iterable[Block], plan: Counting) -> Iterator[Chunk]:
    """The chunks of some blocks, in order."""
    builder = _ChunkBuilder()
    yield from _filled(builder, blocks, plan)
    yield from builder.flush()


def _filled(
    builder: "_ChunkBuilder", blocks: Iterable[Block], plan: Counting
) -> Generator[Chunk, None, int]:
    """The chunks that the blocks of one input fill; returns how much of it was read."""
    read = 0
    for block in blocks:
        yield from builder.add(block, _completion_counts(block, plan), block.read - read)
        read = block.read
    return read


def _limited(
    blocks: Iterable[Block], limit: int | None, builder: "_ChunkBuilder"
) -> Iterator[Block]:
    for block in blocks:
        left = len(block) if limit is None else limit - builder.records
        if left <= 0:
            return
        yield block.cut(0, left) if left < len(block) else block


def _completion_counts(block: Block, plan: Counting) -> Sequence[int]:
    if not plan.listed:
        return [1] * len(block)
    if isinstance(block.records, list):
        return [_completions_in(parsed(record), plan.completions) for record in block.records]
    if isinstance(block.records, dict):
        return [_many(value) for value in block.records[plan.completions]]
    completions = block.records.column(plan.completions)
    if not is_list(completions.type):
        return [1] * len(block)
    lengths = pc.list_value_length(completions)
    return [max(1, length or 0) for length in lengths.to_pylist()]


def _completions_in(record: dict[str, Any] | UnreadableRecord, column: str) -> int:
    return _many(record.get(column) if isinstance(record, dict) else None)


def _many(value: Any) -> int:
    return max(1, len(value)) if isinstance(value, list) else 1


class _ChunkBuilder:
    """The chunk that is being filled."""

    def __init__(self) -> None:
        self.records = 0  # of all chunks so far
        self.read = 0
        self._number = self._first_row = self._first_record = 0
        self._blocks: list[Block] = []
        self._counts: list[Sequence[int]] = []
        self._rows = self._bytes = 0

    def add(self, block: Block, counts: Sequence[int], read: int) -> Iterator[Chunk]:
        """Add a block's records, and yield the chunks that they fill."""
        sizes = block.sizes()
        start = 0
        while start < len(block):
            end = self._end(counts, sizes, start)
            self._blocks.append(block.cut(start, end))
            self._counts.append(counts[start:end])
            self.records += end - start
            self.read += read * end // len(block) - read * start // len(block)
            start = end
            if self._is_full():
                yield from self.flush()

    def _end(self, counts: Sequence[int], sizes: Sequence[int], start: int) -> int:
        end = start
        while end < len(counts) and not self._is_full():
            self._rows += counts[end]
            self._bytes += sizes[end]
            end += 1
        return end

    def _is_full(self) -> bool:
        return self._rows >= max_rows(self._number) or self._bytes >= MAX_BYTES

    def flush(self) -> Iterator[Chunk]:
        """Yield the chunk as it is, if it has any records, and begin the next."""
        if not self._blocks:
            return
        yield Chunk(
            self._number,
            self._first_row,
            self._first_record,
            tuple(self._blocks),
            tuple(self._counts),
            self.read,
        )
        self._number += 1
        self._first_row += self._rows
        self._first_record = self.records
        self._blocks, self._counts = [], []
        self._rows = self._bytes = self.read = 0


def first_row_ids(chunk: Chunk) -> Iterator[list[int]]:
    """For each block, the number of each record's first completion among all completions."""
    start = chunk.first_row
    for counts in chunk.rows:
        yield list(accumulate(counts[:-1], initial=start))
        start += sum(counts)
