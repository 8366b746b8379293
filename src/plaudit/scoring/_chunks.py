"""Blocks of records in, chunks out. One task scores a chunk, and one part of the output holds it.

Which rows a chunk has depends on the input alone, never on the engine or on how many workers there
are. The first chunks are small, so that a small table keeps every core busy and the first parts
are written soon; they grow, so that a large table has few parts. A chunk does not go beyond its
range, a piece of the input of some MiB, so that the machines of a cluster can find the chunks of
many ranges at once.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from plaudit.scoring._columns import is_list
from plaudit.scoring._inputs import InputFile
from plaudit.scoring._readers import blocks_of, open_parquet
from plaudit.scoring._records import Block, Extent, UnreadableRecord, parsed
from plaudit.scoring._storage import is_url

MIN_ROWS, MAX_ROWS = 256, 4096
GROWS_EVERY = 8  # chunks, to twice the rows
MAX_BYTES = 16 << 20
RANGE_BYTES = 64 << 20
SIZES = {
    "from": MIN_ROWS,
    "to": MAX_ROWS,
    "doubled_every": GROWS_EVERY,
    "bytes": MAX_BYTES,
    "range_bytes": RANGE_BYTES,
}


class Counting(Protocol):
    """How to count the rows of a record: one for each completion, if a record has a list of them.

    listed: whether it has
    completions: the column that holds the list
    """

    @property
    def listed(self) -> bool: ...

    @property
    def completions(self) -> str: ...


class Within(NamedTuple):
    """Where to find a chunk for which its range must be read from the start.

    extents: those of the range
    is_first: whether the range is the first of the input
    place: the index of the chunk in the range
    records: how many records the chunk has, if a limit cuts it off
    """

    extents: tuple[Extent, ...]
    is_first: bool
    place: int
    records: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some records, and their place among all records.

    number: the number of the chunk, from 0, and of the part that is made from it
    first_row, first_record: the numbers of the first completion and of the first record
    rows: for each block, how many completions each of its records has; a record that cannot be read
        counts as one. () for a block in which each record has one
    read: how many bytes of the input the chunk is made from
    within: where to read its records, if its blocks do not say so

    >>> Chunk(0, 0, 0, (Block(0, [1], [b'{"solution": "4"}'], 18),), ((),), 18).packed().number
    0
    """

    number: int
    first_row: int
    first_record: int
    blocks: tuple[Block, ...]
    rows: tuple[Sequence[int], ...]
    read: int
    within: Within | None = None

    def counts(self) -> list[int]:
        """How many completions each record has."""
        each = zip(self.rows, self.blocks, strict=True)
        return [count for counts, block in each for count in counts or [1] * len(block)]

    def packed(self, to_read: bool | None = None) -> "Chunk":
        """The same chunk, ready to be sent to another process.

        to_read: whether that process reads files of lines by itself; else all records are sent.
            Default: it does if the files are on this machine
        """
        if to_read is None:
            to_read = not any(is_url(block.path) for block in self.blocks)
        blocks: list[Block] = []
        rows: list[Sequence[int]] = []
        for block, counts in zip(self.blocks, self.rows, strict=True):
            if to_read and blocks and blocks[-1].goes_on_with(block):  # one piece of a file
                blocks[-1], rows[-1] = blocks[-1].joined(block), [*rows[-1], *counts]
            else:
                blocks.append(block)
                rows.append(counts)
        return replace(self, blocks=tuple(one.packed(to_read) for one in blocks), rows=tuple(rows))

    def note(self, extents: tuple[Extent, ...], is_first: bool, place: int) -> "Chunk":
        """The same chunk without its records, but with what another process needs to find them."""
        if all(block.path for block in self.blocks):
            return self.packed(to_read=True)
        records = sum(map(len, self.blocks))
        blocks = tuple(block.emptied() for block in self.blocks)
        return replace(self, blocks=blocks, within=Within(extents, is_first, place, records))

    def first(self, records: int) -> "Chunk":
        """The chunk, cut off after so many records."""
        blocks: list[Block] = []
        rows: list[Sequence[int]] = []
        left = records
        for block, counts in zip(self.blocks, self.rows, strict=True):
            if left > 0:
                blocks.append(block.cut(0, min(left, len(block))))
                rows.append(counts[:left])
                left -= len(block)
        within = self.within._replace(records=records) if self.within else None
        return replace(self, blocks=tuple(blocks), rows=tuple(rows), within=within)


def max_rows(number: int) -> int:
    """How many rows the chunk of this number has at most, in the first range.

    >>> [max_rows(number) for number in (0, 7, 8, 1000)]
    [256, 256, 512, 4096]
    """
    return min(MAX_ROWS, MIN_ROWS << min(number // GROWS_EVERY, 32))


def chunks_of(files: Sequence[InputFile], plan: Counting, limit: int | None) -> Iterator[Chunk]:
    """The chunks of the inputs, in order.

    files: the inputs, as `find_inputs` gives them
    plan: how to count the rows of a record
    limit: how many records to read, from the first on; None: all

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
    each = (Range(extents, not n, files, plan) for n, extents in enumerate(ranges_of(files)))
    return placed(((one, one) for one in each), limit)


def placed(
    ranges: Iterable[tuple[Iterable[Chunk], "Counted"]], limit: int | None
) -> Iterator[Chunk]:
    """The chunks of consecutive ranges, numbered over all of them.

    ranges: the chunks of each, and what counts the range's lines once its chunks were read
    """
    numbers = rows = records = 0
    lines: Counter[int] = Counter()  # of each file, before the range
    for chunks, counted in ranges:
        for chunk in chunks:
            if limit is not None and records >= limit:
                return
            blocks = tuple(block.further(lines[block.file]) for block in chunk.blocks)
            own = replace(
                chunk, number=numbers, first_row=rows, first_record=records, blocks=blocks
            )
            counts = chunk.counts()
            if limit is not None and len(counts) > limit - records:
                own = own.first(limit - records)
            yield own
            numbers, rows, records = numbers + 1, rows + sum(counts), records + len(counts)
        lines.update(counted.lines)


class Counted(Protocol):
    """How many lines of each file a range has, once its chunks were read."""

    @property
    def lines(self) -> Mapping[int, int]: ...


class Range:
    """Consecutive extents, and their chunks, which depend on these extents alone.

    Chunks are numbered from 0, and the lines of each file from 1: `placed` adds what precedes them.
    """

    def __init__(
        self,
        extents: tuple[Extent, ...],
        is_first: bool,
        files: Sequence[InputFile],
        plan: Counting,
    ) -> None:
        self.extents, self.is_first = extents, is_first
        self.lines: dict[int, int] = {}
        self._files, self._plan = files, plan

    def __iter__(self) -> Iterator[Chunk]:
        builder = _ChunkBuilder(grows=self.is_first)
        for extent in self.extents:
            yield from self._chunks(builder, extent)
        yield from builder.flush()

    def _chunks(self, builder: "_ChunkBuilder", extent: Extent) -> Iterator[Chunk]:
        file = self._files[extent.file]
        is_lines = file.format == "jsonl"
        start = extent.start if is_lines else 0
        end = extent.end if is_lines and extent.end is not None else file.size
        for block in self._blocks(extent):
            if extent.start and not start:  # what precedes its row groups is not its own
                start = block.read * (block.numbers[0] - 1) // block.numbers[-1]
            read = max(0, min(block.read, end) - start)
            yield from builder.add(block, _completion_counts(block, self._plan), read)
            start += read
        if extent.end is None or is_lines:
            builder.read += end - start

    def _blocks(self, extent: Extent) -> Iterator[Block]:
        own = blocks_of(self._files[extent.file], extent.file, extent)
        self.lines[extent.file] = yield from own


def ranges_of(files: Sequence[InputFile]) -> Iterator[tuple[Extent, ...]]:
    """The inputs, cut into ranges of about RANGE_BYTES, each of which can be read on its own.

    Files of lines are cut after so many bytes, Parquet files between row groups; any other file is
    kept whole. Small files share a range.
    """
    extents: list[Extent] = []
    size = 0
    for number, file in enumerate(files):
        for extent, own in _extents_of(file, number):
            if extents and size + own > RANGE_BYTES:
                yield tuple(extents)
                extents, size = [], 0
            extents.append(extent)
            size += own
    if extents:
        yield tuple(extents)


def _extents_of(file: InputFile, number: int) -> Iterator[tuple[Extent, int]]:
    """The extents of a file, and about how many bytes each has."""
    if file.format == "parquet":
        yield from _row_groups(file, number)
    elif file.format == "jsonl" and not file.codec and file.size > RANGE_BYTES:
        for start in range(0, file.size, RANGE_BYTES):
            end = min(start + RANGE_BYTES, file.size)
            yield Extent(number, start, end), end - start
    else:
        yield Extent(number), file.size


def _row_groups(file: InputFile, number: int) -> Iterator[tuple[Extent, int]]:
    try:
        with open_parquet(file) as table:
            metadata = table.metadata
            sizes = [metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)]
    except (OSError, pa.ArrowException):
        sizes = []  # the error is reported when the file is read
    if sum(sizes) <= RANGE_BYTES:
        yield Extent(number), sum(sizes)
        return
    start = 0
    for place in range(1, len(sizes) + 1):
        size = sum(sizes[start:place])
        if place == len(sizes) or size + sizes[place] > RANGE_BYTES:
            yield Extent(number, start, place), size
            start = place


def chunks_from(blocks: Iterable[Block], plan: Counting) -> Iterator[Chunk]:
    """The chunks of some blocks, in order."""
    builder = _ChunkBuilder()
    read = 0
    for block in blocks:
        yield from builder.add(block, _completion_counts(block, plan), block.read - read)
        read = block.read
    yield from builder.flush()


def _completion_counts(block: Block, plan: Counting) -> Sequence[int]:
    if not plan.listed:
        return ()
    if isinstance(block.records, list):
        return [_completions_in(parsed(record), plan.completions) for record in block.records]
    if isinstance(block.records, dict):
        return [_many(value) for value in block.records[plan.completions]]
    assert isinstance(block.records, pa.RecordBatch)
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
    """Fills chunks with the records of blocks. `grows`: whether the first chunks are smaller."""

    def __init__(self, grows: bool = True) -> None:
        self._grows = grows
        self.records = 0  # of all chunks so far
        self.read = 0
        self._number = self._first_row = self._first_record = 0
        self._blocks: list[Block] = []
        self._counts: list[Sequence[int]] = []
        self._rows = self._bytes = 0

    def add(self, block: Block, counts: Sequence[int], read: int) -> Iterator[Chunk]:
        """Add a block's records, and yield the chunks that they fill."""
        rows = _sums(counts) if counts else range(len(block) + 1)
        sizes = _sums(block.sizes())
        start = 0
        while start < len(block):
            end = self._end(rows, sizes, start)
            self._blocks.append(block.cut(start, end))
            self._counts.append(counts[start:end])
            self.records += end - start
            self.read += read * end // len(block) - read * start // len(block)
            start = end
            if self._is_full():
                yield from self.flush()

    def _end(self, rows: Sequence[int], sizes: Sequence[int], start: int) -> int:
        """Where the records of a block end that fit into the chunk.

        rows, sizes: the sums of the rows and of the bytes of the block's first 0, 1, 2, … records
        """
        fill_rows = rows[start] + self._max_rows() - self._rows
        fill_bytes = sizes[start] + MAX_BYTES - self._bytes
        full = min(bisect_left(rows, fill_rows), bisect_left(sizes, fill_bytes))
        end = min(max(full, start + 1), len(rows) - 1)
        self._rows += rows[end] - rows[start]
        self._bytes += sizes[end] - sizes[start]
        return end

    def _is_full(self) -> bool:
        return self._rows >= self._max_rows() or self._bytes >= MAX_BYTES

    def _max_rows(self) -> int:
        return max_rows(self._number) if self._grows else MAX_ROWS

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


def _sums(counts: Sequence[int]) -> list[int]:
    """The sums of the first 0, 1, 2, … counts."""
    return list(accumulate(counts, initial=0))


def first_row_ids(chunk: Chunk) -> Iterator[list[int]]:
    """For each block, the number of each record's first completion among all completions."""
    start = chunk.first_row
    for counts, block in zip(chunk.rows, chunk.blocks, strict=True):
        own = counts or [1] * len(block)
        yield list(accumulate(own[:-1], initial=start))
        start += sum(own)
