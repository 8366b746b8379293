"""Read the records of files, and cut files into the chunks that workers score.

    b'{"completion": "4"}'   a record of a JSONL file, not parsed yet
    Block                    records of one file that follow one another
    Chunk                    what one worker gets, and one part of the output holds: a block, or a
                             range of a file that the worker reads by itself

Which records a chunk has depends on the file alone. The chunks of a file are small at first, so
that a small table keeps every core busy, and grow to some MiB.
"""

import csv
import errno
import io
import json
import re
import sys
import zlib
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from gzip import GzipFile
from itertools import chain, compress, islice
from os import PathLike
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.inputs.columns import python_values
from plaudit.tables.errors import InputError, StoppedError, StorageError
from plaudit.tables.inputs import InputFile, find_inputs
from plaudit.tables.storage import RemoteInput, open_input, raising_storage_errors

try:  # four times as quick as Python's own; what both can read, they read as the same
    import msgspec

    _quickly_parsed: Callable[[bytes], Any] = msgspec.json.Decoder().decode
    _NOT_QUICKLY: tuple[type[Exception], ...] = (
        *(msgspec.DecodeError, msgspec.ValidationError),
        *(UnicodeDecodeError, RecursionError),
    )
except ModuleNotFoundError:
    _quickly_parsed = json.loads
    _NOT_QUICKLY = (ValueError, RecursionError)

SMALLEST, LARGEST = 1 << 16, 1 << 22  # bytes of a file that make a chunk
GROWS_EVERY = 8  # chunks, to twice the bytes
MAX_LINE_BYTES = 1 << 28  # a longer line is not a row: the file is of another kind
FROM_FRONT = 1 << 20  # bytes to ask a store for, of a file that is read from front to back
PIECE = 1 << 16  # bytes that are read at once of a file that is not cut into ranges
START = 200  # characters of a rejected row that are kept
# Errors of the machine, not of the file, which can be read later.
TRANSIENT = {
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOBUFS),
    *(errno.ESTALE, errno.ETIMEDOUT, errno.EINTR),
}

_BATCH_ROWS, _BATCH_BYTES = 1024, 8 << 20
_BLOCK = 256  # records of a JSON array or a CSV file that make a block
_ROW_BYTES = 512  # of a row in Arrow, at least: encoded, it may take a few, but 100 times as many
# once it is decoded, and time to score
_BOM = b"\xef\xbb\xbf"
_DAMAGED = (OSError, EOFError, zlib.error)  # what a reader of a damaged file raises
# What pyarrow raises for a date or a time zone that Python cannot represent.
_UNKNOWN = (ValueError, OverflowError, KeyError)
# A whole string, or a character that opens, closes or separates; a quote alone begins a string
# whose end has not been read yet.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|["\[\]{},]', re.DOTALL)

Read = Callable[[int], bytes]


# --- records --------------------------------------------------------------------------------------


class UnreadableRecord(NamedTuple):
    """Stands for a record that cannot be read: the reason, and the record's beginning."""

    reason: str
    start: str


class UnreadableError(ValueError):
    """A file cannot be read from this line on."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


# JSON that is not parsed yet, a row of a CSV file, or a record that cannot be read.
Record = bytes | dict[str, Any] | UnreadableRecord
Columns = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Block:
    """Records of one file that follow one another.

    file: the index of the input
    numbers: each record's line, or its row in a file without lines
    records: a list; an Arrow batch, which another process gets as bytes; or the columns of a table
        in memory
    read: how many bytes of the file had been read after this block
    lines: how many lines it has, if they are counted from its own first line
    """

    file: int
    numbers: Sequence[int]
    records: list[Record] | pa.RecordBatch | bytes | Columns
    read: int
    lines: int = 0

    def __len__(self) -> int:
        return len(self.numbers)

    def __reduce__(self) -> tuple[Any, ...]:
        records: Any = self.records
        if isinstance(records, pa.RecordBatch):  # a slice would be pickled with its whole batch
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, records.schema) as stream:
                stream.write_batch(records)
            records = sink.getvalue().to_pybytes()
        return Block, (self.file, self.numbers, records, self.read, self.lines)

    def first(self, most: int) -> "Block":
        """Return the block with its first records alone."""
        if most >= len(self):
            return self
        records: Any = self.records
        cut = records[:most] if isinstance(records, list) else records.slice(0, most)
        return replace(self, numbers=self.numbers[:most], records=cut)

    def records_from(self, indices: Sequence[int]) -> list[dict[str, Any]]:
        """Return some of the records of a table in memory."""
        columns = cast("Columns", self.records)
        return [{name: column[index] for name, column in columns.items()} for index in indices]

    def table(self) -> pa.Table:
        """Return the records of an Arrow batch as a table."""
        if isinstance(self.records, bytes):
            return pa.ipc.open_stream(self.records).read_all()
        return pa.Table.from_batches([self.records])

    @property
    def is_arrow(self) -> bool:
        """Whether the records are an Arrow batch."""
        return not isinstance(self.records, list | dict)


def records_in(
    block: Block, columns: Container[str] | None = None
) -> list[dict[str, Any] | UnreadableRecord]:
    """Return the records of a block, parsed; those of Arrow, with these columns alone."""
    if isinstance(block.records, dict):
        return [*block.records_from(range(len(block)))]
    if isinstance(block.records, list):
        return [parsed(record) for record in block.records]
    table = block.table()
    here = [name for name in table.column_names if columns is None or name in columns]
    return [*python_rows(table.select(here))]


def parsed(record: Record) -> dict[str, Any] | UnreadableRecord:
    """Return the dictionary that a record holds, or why it cannot be read."""
    if not isinstance(record, bytes):
        return record
    try:
        value = _quickly_parsed(record)
    except _NOT_QUICKLY:
        return _parsed_by_python(record)
    return value if type(value) is dict else _no_object(record, value)


def _parsed_by_python(record: bytes) -> dict[str, Any] | UnreadableRecord:
    """Parse what only Python reads (`NaN`, half a surrogate pair), and take its errors."""
    try:
        value = json.loads(record)
    except json.JSONDecodeError as error:
        return UnreadableRecord(f"not JSON: {error.msg} at column {error.colno}", start_of(record))
    except UnicodeDecodeError:
        return UnreadableRecord("not UTF-8", start_of(record))
    except (RecursionError, ValueError) as error:  # nested too deeply, or too long a number
        return UnreadableRecord(f"cannot be parsed: {error}", start_of(record))
    return value if isinstance(value, dict) else _no_object(record, value)


def _no_object(record: bytes, value: Any) -> UnreadableRecord:
    wrong = f"a row must be a JSON object, got {type(value).__name__}"
    return UnreadableRecord(wrong, start_of(record))


def start_of(record: Record) -> str:
    """Return the beginning of a record, so that a person can find it."""
    if isinstance(record, UnreadableRecord):
        return record.start
    if isinstance(record, bytes):
        return record[: 4 * START].decode("utf-8", "replace")[:START]
    return json.dumps(record, ensure_ascii=False, default=repr)[:START]


def is_listed(value: Any) -> bool | None:
    """Return whether a value is a list of completions, and not one; None if nobody can tell.

    A record holds one completion, "4" or [{"role": "assistant", "content": "4"}], or a list:
    ["4", "5"] or [[{"role": "assistant", "content": "4"}], …].
    """
    if not isinstance(value, list):
        return None if value is None else False
    first = next((one for one in value if one is not None), None)
    return None if first is None else isinstance(first, str | list)


def python_rows(table: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    """Return the rows of Arrow as dictionaries.

    Python has no nanoseconds and no year 10000: times are cut to microseconds, and what Python
    cannot represent becomes text.
    """
    columns = [_values(column) for column in table.columns]
    rows = zip(*columns, strict=True) if columns else [()] * len(table)
    return [dict(zip(table.schema.names, row, strict=True)) for row in rows]


def _values(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    if "[ns" not in str(column.type):  # with pandas installed, these would be pandas' own types
        try:
            return list(python_values(column, "to_pylist"))
        except _UNKNOWN:
            pass
    return [_value(one) for one in column]


def _value(one: pa.Scalar) -> Any:
    if not one.is_valid:
        return None
    if isinstance(one, pa.StructScalar):
        return {name: _value(one[name]) for name in one}
    if isinstance(one, pa.MapScalar):
        return [(_value(pair["key"]), _value(pair["value"])) for pair in one.values]
    if isinstance(one, pa.ListScalar):
        return [_value(entry) for entry in one.values]
    if isinstance(one, pa.DictionaryScalar):
        return _value(one.value)
    if not pa.types.is_temporal(one.type):
        return one.as_py()
    try:
        return one.cast(_with_microseconds(one.type), safe=False).as_py()
    except _UNKNOWN:
        return str(one.cast(pa.string()).as_py())


def _with_microseconds(kind: pa.DataType) -> pa.DataType:
    if getattr(kind, "unit", "") != "ns":
        return kind
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.duration("us") if pa.types.is_duration(kind) else pa.time64("us")


# --- files ----------------------------------------------------------------------------------------


Found = tuple[Sequence[int], Any]  # the numbers of some records, and the records


def blocks_of(file: InputFile, index: int) -> Iterator[Block]:
    """Yield the records of a file in order, never more than a few MiB at a time.

    If a file cannot be read any further, because it is cut off or damaged, an `UnreadableRecord`
    stands for the rest.
    """
    last = 0
    with ExitStack() as stack:
        try:
            raw = stack.enter_context(open_input(file.url or file.path, FROM_FRONT))
            for numbers, records in _READERS[file.format](file, raw):
                if len(numbers):
                    last = numbers[-1]
                    # A decompressor closes the file at its end.
                    read = file.size if raw.closed else min(raw.tell(), file.size)
                    yield Block(index, numbers, records, read)
        except UnreadableError as error:
            yield Block(index, [error.line], [UnreadableRecord(str(error), "")], file.size)
        except (*_DAMAGED, pa.ArrowException) as error:
            yield _rest(index, last + 1, error, file)


def _rest(index: int, number: int, error: Exception, file: InputFile) -> Block:
    """Return what stands for the rest of a damaged file; raise what is no fault of the file."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) in TRANSIENT:
        raise error
    reason = f"the file cannot be read from here on: {' '.join(str(error).split())}"
    return Block(index, [number], [UnreadableRecord(reason, "")], file.size)


def _reader_of(file: InputFile, raw: BinaryIO) -> Read:
    read: Read = raw.read
    if file.codec == "gzip":
        # In pieces as they are unpacked: of a file that is cut off, nothing before the cut is lost.
        read = GzipFile(fileobj=raw).read1
    elif file.codec:
        read = pa.CompressedInputStream(pa.PythonFile(raw, "r"), file.codec).read
    return read


def _lines(read: Read, begun: bytes = b"") -> Iterator[list[bytes | UnreadableRecord]]:
    """Yield lines without their newlines, some at a time; `begun` was read already.

    What was read before an error is yielded before the error is raised.
    """
    first = (begun or read(PIECE)).removeprefix(_BOM)
    unended: list[bytes] = []
    length = 0
    for piece in chain([first], iter(lambda: read(PIECE), b"")):
        head, *rest = piece.split(b"\n")
        length += len(head)
        unended.append(head if length <= MAX_LINE_BYTES else b"")
        if rest:
            yield [_line(unended, length), *rest[:-1]]
            unended, length = [rest[-1]], len(rest[-1])
    yield [_line(unended, length)]


def _line(pieces: list[bytes], length: int) -> bytes | UnreadableRecord:
    if length <= MAX_LINE_BYTES:
        return b"".join(pieces)
    start = start_of(pieces[0])
    return UnreadableRecord(f"the line is longer than {MAX_LINE_BYTES >> 20} MiB", start)


def _filled(lines: Iterator[Sequence[bytes | UnreadableRecord]]) -> Iterator[Found]:
    """Yield the lines that are not blank, with their numbers."""
    number = 1
    for some in lines:
        numbers: Sequence[int] = range(number, number + len(some))
        number += len(some)
        is_row = [bool(one) and (type(one) is not bytes or not one.isspace()) for one in some]
        if all(is_row):
            yield numbers, some
        else:
            yield list(compress(numbers, is_row)), list(compress(some, is_row))


def _json(file: InputFile, raw: BinaryIO) -> Iterator[Found]:
    """Read an array of objects; files named .json with one object per line are common as well."""
    read = _reader_of(file, raw)
    begun = read(PIECE).removeprefix(_BOM)
    space = len(begun) - len(begun.lstrip())
    if begun[space : space + 1] != b"[":
        return _filled(_lines(read, begun))
    line = 1 + begun.count(b"\n", 0, space)
    return _gathered(elements(read, begun[space + 1 :], line, MAX_LINE_BYTES))


def _gathered(records: Iterator[tuple[int, Record]]) -> Iterator[Found]:
    """Yield records in blocks; those that were read before an error, before it is raised."""
    numbers: list[int] = []
    block: list[Record] = []
    try:
        for number, record in records:
            numbers.append(number)
            block.append(record)
            if len(block) == _BLOCK:
                yield numbers, block
                numbers, block = [], []
    except (UnreadableError, *_DAMAGED):
        yield numbers, block
        raise
    yield numbers, block


def elements(read: Read, held: bytes, line: int, longest: int) -> Iterator[tuple[int, bytes]]:
    """Yield the line and the text of each element of a JSON array.

    Elements are told apart by their brackets and strings alone. Whether each is JSON is decided
    when it is parsed, so that one broken element does not cost another.

    held: what was read already, after the first `[`
    longest: how many bytes an element has at most
    """
    start, at, depth = 0, 0, 0
    while True:
        for token in _TOKEN.finditer(held, at):
            mark = token[0]
            if mark == b'"':
                at = token.start()
                break
            at = token.end()
            depth += (mark in b"[{") - (mark in b"]}")
            if depth < 0 or (depth == 0 and mark == b","):
                text = held[start : token.start()]
                if element := text.strip():
                    yield _line_of(text, line), element
                line += text.count(b"\n")
                start = at
            if depth < 0:
                if mark != b"]":
                    raise UnreadableError(line, "a } has no matching {")
                if (held[at:] + read(PIECE)).strip():
                    raise UnreadableError(line, "there is more after the end of the array")
                return
        if len(held) - start > longest:
            reason = f"an element is longer than {longest >> 20} MiB"
            raise UnreadableError(_line_of(held[start:], line), reason)
        more = read(max(PIECE, len(held) - start))  # as much again: linear in the end
        if not more:
            reason = "the file ends in the middle of the array"
            raise UnreadableError(_line_of(held[start:], line), reason)
        held, at, start = held[start:] + more, at - start, 0


def _line_of(text: bytes, line: int) -> int:
    """Return the line of the first character that is not a space; the text begins at `line`."""
    return line + text.count(b"\n", 0, len(text) - len(text.lstrip()))


def _csv(file: InputFile, raw: BinaryIO) -> Iterator[Found]:
    delimiter = "\t" if file.format == "tsv" else ","
    return _gathered(_csv_rows(_text_lines(_reader_of(file, raw)), delimiter))


def _text_lines(read: Read) -> Iterator[str]:
    for number, line in enumerate((line for some in _lines(read) for line in some), 1):
        if isinstance(line, UnreadableRecord):
            raise UnreadableError(number, line.reason)
        yield line.decode("utf-8", "surrogateescape") + "\n"


def _csv_rows(lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, Record]]:
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    first = next(lines, "")
    if delimiter == "," and "," not in first and ";" in first:
        delimiter = ";"  # as Excel writes CSV in many countries
    rows = csv.reader(chain([first] if first else [], lines), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        number = rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield number, UnreadableRecord(f"not CSV: {error}", "")
            continue
        if row and header is None:
            _check_names(row, number)
            header = row
        elif row:
            yield number, _csv_record(cast("list[str]", header), row)


def _check_names(names: Sequence[str], line: int) -> None:
    """Raise if two columns have the same name: a row would keep only one of their values."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UnreadableError(line, f"two columns are called {twice!r}")


def _csv_record(header: list[str], row: list[str]) -> Record:
    text = ",".join(row)
    if not text.isascii() and text.encode("utf-8", "replace").decode() != text:
        return UnreadableRecord("not UTF-8", text[:START].encode("utf-8", "replace").decode())
    if len(row) != len(header):
        return UnreadableRecord(
            f"the row has {len(row)} cells, the header has {len(header)}", text[:START]
        )
    return dict(zip(header, row, strict=True))


def _parquet(file: InputFile, raw: BinaryIO) -> Iterator[Found]:
    with open_parquet(file) as table:
        groups = range(table.num_row_groups)
        yield from _numbered(_batches(table, groups), raw, file.size, table.metadata.num_rows)


def _batches(table: pq.ParquetFile, groups: Sequence[int]) -> Iterator[pa.RecordBatch]:
    about = [table.metadata.row_group(group) for group in groups]
    largest = max((one.total_byte_size // max(one.num_rows, 1) for one in about), default=0)
    rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(largest, 1)))
    for group in groups:
        # One at a time: what was read of the others would be kept in memory until the last.
        yield from table.iter_batches(rows, row_groups=[group], use_threads=False)


def _arrow(file: InputFile, raw: BinaryIO) -> Iterator[Found]:
    with _mapped(file) as mapped:
        _, batches = open_arrow(mapped)
        cut = (b.slice(at, _BATCH_ROWS) for b in batches for at in range(0, len(b), _BATCH_ROWS))
        yield from _numbered(cut, raw, file.size, 0)


def open_arrow(source: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Open the stream that `datasets` writes, or a file in Arrow's file format."""
    try:
        stream = pa.ipc.open_stream(source)
    except pa.ArrowInvalid:
        whole = pa.ipc.open_file(source)
        return whole.schema, (whole.get_batch(i) for i in range(whole.num_record_batches))
    return stream.schema, iter(stream)


def _mapped(file: InputFile) -> Any:
    """Open an Arrow file; a remote one is read from front to back."""
    return pa.PythonFile(open_input(file.url), "r") if file.url else pa.memory_map(str(file.path))


def _numbered(
    batches: Iterator[pa.RecordBatch], raw: BinaryIO, size: int, rows: int
) -> Iterator[Found]:
    """Yield batches with the numbers of their rows; move the position of `raw`, for progress."""
    first = 1
    for batch in batches:
        _check_names(batch.schema.names, first)
        end = first + len(batch)
        raw.seek(size * (end - 1) // rows if rows else min(raw.tell() + batch.nbytes, size))
        yield range(first, end), batch
        first = end


_READERS: dict[str, Callable[[InputFile, BinaryIO], Iterator[Found]]] = {
    "jsonl": lambda file, raw: _filled(_lines(_reader_of(file, raw))),
    "json": _json,
    "csv": _csv,
    "tsv": _csv,
    "parquet": _parquet,
    "arrow": _arrow,
}


def open_parquet(file: InputFile) -> pq.ParquetFile:
    """Open a Parquet file; a remote one is read with few requests."""
    if file.url:
        return pq.ParquetFile(pa.PythonFile(RemoteInput(file.url), "r"), pre_buffer=True)
    return pq.ParquetFile(file.path, pre_buffer=False)


def schema_of(file: InputFile) -> pa.Schema | None:
    """Return the schema of a Parquet or Arrow file; None for a text file, which has none."""
    if file.format == "parquet":
        with open_parquet(file) as table:
            return table.schema_arrow.remove_metadata()
    if file.format != "arrow":
        return None
    with _mapped(file) as mapped:
        schema: pa.Schema = open_arrow(mapped)[0]
    return schema.remove_metadata()


# --- ranges and chunks ----------------------------------------------------------------------------


class FileRange(NamedTuple):
    """A piece of a file that can be read without what precedes it.

    file: the index of the input
    start, end: in a file of lines, offsets in bytes: the lines that begin between them are meant.
        In a Parquet file, indices of row groups
    size: about how many bytes of the file it has
    """

    file: int
    start: int
    end: int
    size: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one worker gets at once."""

    number: int  # the number of the chunk, from 0, and of the part that is made from it
    block: Block | None  # its records; None if the worker reads them
    first_record: int = 0  # the number of its first record, if all records before it were read
    read: int = 0  # how many bytes of the input it is made from
    range: FileRange | None = None  # where to read its records

    @property
    def records(self) -> Block:
        """Its records, once they were read."""
        assert self.block is not None
        return self.block

    def loaded(self, files: Sequence[InputFile]) -> "Chunk":
        """Return the chunk with its records, which are read here if need be."""
        if self.range is None:
            return self
        return replace(self, block=read_range(files[self.range.file], self.range), range=None)


def chunk_bytes(number: int) -> int:
    """Return how many bytes the chunk of this number has, in its file."""
    return min(LARGEST, SMALLEST << min(number // GROWS_EVERY, 32))


def chunks_of(
    files: Sequence[InputFile], limit: int | None = None, ranges: bool = False
) -> Iterator[Chunk]:
    """Yield the chunks of the inputs, in order, with their first `limit` records, or all.

    ranges: whether files of lines and of small row groups may be cut into ranges, which workers
        read. Any other file is read here, and so are all files if there is a limit
    """
    number = records = 0
    for index, file in enumerate(files):
        cut = ranges_of(file, index) if ranges and limit is None else None
        for one in cut or ():
            yield Chunk(number, None, read=one.size, range=one)
            number += 1
        if cut is None:
            for block, read in _joined_blocks(file, index, (limit or sys.maxsize) - records):
                yield Chunk(number, block, records, read)
                number, records = number + 1, records + len(block)


def _joined_blocks(file: InputFile, index: int, limit: int) -> Iterator[tuple[Block, int]]:
    """Read a file in order, and yield blocks of the size of chunks, and how much was read."""
    number = size = read = 0
    held: list[Block] = []
    for block in _first(blocks_of(file, index), limit):
        is_rest = bool(held) and block.is_arrow != held[-1].is_arrow  # of a damaged file
        if is_rest or size >= chunk_bytes(number):
            yield _joined(held), held[-1].read - read
            number, size, read, held = number + 1, 0, held[-1].read, []
        held.append(block)
        size += _size(block)
    if held:
        yield _joined(held), held[-1].read - read


def _first(blocks: Iterator[Block], left: int) -> Iterator[Block]:
    """Yield blocks with so many records in all."""
    while left > 0 and (block := next(blocks, None)) is not None:
        yield block.first(left)
        left -= len(block)


def _size(block: Block) -> int:
    records: Any = block.records
    if block.is_arrow:
        return max(int(records.nbytes), _ROW_BYTES * len(block))
    return sum(
        sum(map(len, one.values())) if isinstance(one, dict) else len(one) for one in records
    )


def _joined(blocks: Sequence[Block]) -> Block:
    """Return consecutive blocks of a file as one; Arrow batches, unless one cannot be read."""
    first, last = blocks[0], blocks[-1]
    numbers: Sequence[int] = range(first.numbers[0], last.numbers[-1] + 1)
    if len(numbers) != sum(map(len, blocks)):
        numbers = [number for block in blocks for number in block.numbers]
    if first.is_arrow:
        records: Any = pa.Table.from_batches([block.records for block in blocks])
        records = records.combine_chunks().to_batches()[0]
    else:
        records = [record for block in blocks for record in cast("list[Record]", block.records)]
    return replace(last, numbers=numbers, records=records)


def ranges_of(file: InputFile, index: int) -> list[FileRange] | None:
    """Return the ranges of a file; None if it has to be read from front to back."""
    if file.format == "jsonl" and not file.codec:
        return _ranges_of_lines(file.size, index)
    return _ranges_of_row_groups(file, index) if file.format == "parquet" else None


def _ranges_of_lines(size: int, index: int) -> list[FileRange]:
    ranges: list[FileRange] = []
    start = 0
    while start < size:
        end = min(start + chunk_bytes(len(ranges)), size)
        ranges.append(FileRange(index, start, end, end - start))
        start = end
    return ranges


def _ranges_of_row_groups(file: InputFile, index: int) -> list[FileRange] | None:
    """Return ranges of row groups; None if a row group is too large for one worker."""
    try:
        with open_parquet(file) as table:
            about = table.metadata
            groups = [about.row_group(group) for group in range(about.num_row_groups)]
    except (OSError, pa.ArrowException):
        return None  # the error is reported when the file is read
    sizes = [max(group.total_byte_size, _ROW_BYTES * group.num_rows) for group in groups]
    if max(sizes, default=0) > 2 * LARGEST:
        return None
    ranges: list[FileRange] = []
    start = held = 0
    for end, size in enumerate(sizes, 1):
        held += size
        if held >= chunk_bytes(len(ranges)) or end == len(sizes):
            share = file.size * held // sum(sizes)
            ranges.append(FileRange(index, start, end, share))
            start, held = end, 0
    return ranges


def read_range(file: InputFile, wanted: FileRange) -> Block:
    """Read the records of a range."""
    if file.format == "jsonl":
        with raising_storage_errors(file.name), open_input(file.url or file.path) as raw:
            if raw.seek(0, io.SEEK_END) != file.size:
                raise StoppedError(
                    f"{file.name} was changed during the run: start over with --overwrite"
                )
            return _lines_from(raw, wanted)
    first = 1
    try:
        with open_parquet(file) as table:
            before = range(wanted.start)
            first += sum(table.metadata.row_group(group).num_rows for group in before)
            batches = list(_batches(table, range(wanted.start, wanted.end)))
            _check_names(table.schema_arrow.names, first)
    except UnreadableError as error:
        record = UnreadableRecord(str(error), "")
        return Block(wanted.file, [error.line], [record], file.size)
    except (OSError, pa.ArrowException) as error:
        return _rest(wanted.file, first, error, file)
    records = pa.Table.from_batches(batches).combine_chunks().to_batches()
    rows = sum(map(len, records))
    return Block(wanted.file, range(first, first + rows), records[0] if rows else [], file.size)


def _lines_from(raw: BinaryIO, wanted: FileRange) -> Block:
    """Read the lines that begin in a range, the last of them whole; they are counted from 1."""
    start = max(wanted.start - 1, 0)  # a newline there ends a line of the range before
    raw.seek(start)
    text = raw.read(wanted.end - start)
    if not wanted.start:
        text = text.removeprefix(_BOM)
    else:
        _, newline, text = text.partition(b"\n")
        if not newline or not text:
            return Block(wanted.file, [], [], wanted.end)
    pieces = [text]
    length = len(text) - text.rfind(b"\n") - 1
    while not pieces[-1].endswith(b"\n") and length <= MAX_LINE_BYTES:
        if not (more := raw.readline(PIECE)):
            break
        length += len(more)
        pieces.append(more)
    whole = b"".join(pieces)
    lines: list[bytes | UnreadableRecord] = [*whole.removesuffix(b"\n").split(b"\n")]
    if length > MAX_LINE_BYTES:
        lines[-1] = _line([cast("bytes", lines[-1])], length)
    [(numbers, records)] = _filled(iter([lines]))
    return Block(wanted.file, numbers, records, wanted.end, len(lines))


# --- tables that fit into memory ------------------------------------------------------------------


def read_rows(
    paths: Sequence[str | PathLike[str]], most: int | None = None
) -> list[dict[str, Any]]:
    """Return the first records of some tables; raise InputError if one cannot be read."""
    try:
        rows = list(islice(_all_records(paths), most))
    except StorageError as error:
        raise InputError(str(error)) from error
    if not rows:
        raise InputError(f"there is no row in {', '.join(map(str, paths))}")
    return rows


def _all_records(paths: Sequence[str | PathLike[str]]) -> Iterator[dict[str, Any]]:
    for index, file in enumerate(find_inputs(paths)):
        for block in blocks_of(file, index):
            for record, line in zip(records_in(block), block.numbers, strict=True):
                if isinstance(record, UnreadableRecord):
                    raise InputError(f"{file.name}, line {line}: {record.reason}")
                yield record


def names_files(table: Any) -> bool:
    """Return whether an argument names files, as a path or a list of paths."""
    several = isinstance(table, list | tuple) and len(table) > 0
    return isinstance(table, str | PathLike) or (
        several and all(isinstance(one, str | PathLike) for one in table)
    )
