"""A file -> blocks of records, in order and never more than a few MiB at a time.

Where a file cannot be read any further, because it is cut off or damaged, an `UnreadableRecord`
takes the place of the rest.
"""

import csv
import errno
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from itertools import accumulate, chain, compress
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.scoring._inputs import Decompressed, InputFile
from plaudit.scoring._records import (
    PIECE,
    START,
    Block,
    Extent,
    Record,
    UnreadableError,
    UnreadableRecord,
    elements,
)
from plaudit.scoring._storage import open_arrow, open_input

# Errors of the machine, not of the file, which can be read later.
TRANSIENT = {
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOBUFS),
    *(errno.ESTALE, errno.ETIMEDOUT, errno.EINTR),
}
MAX_LINE_BYTES = 1 << 28  # a longer line is not a row: the file is of another kind

_BATCH_ROWS, _BATCH_BYTES = 1024, 8 << 20
_BLOCK = 256  # records of a JSON array or a CSV file that make a block
_BOM = b"\xef\xbb\xbf"

Read = Callable[[int], bytes]
Line = bytes | UnreadableRecord


class Found(NamedTuple):
    """Records, their lines or rows, and, in a file of lines, where they begin: see `Block`.

    lines: how many have been read, blank ones too
    """

    numbers: Sequence[int]
    records: Any
    path: str = ""
    starts: Sequence[int] = ()
    lines: int = 0

    def block(self, file: int, read: int) -> Block:
        return Block(file, self.numbers, self.records, read, self.path, self.starts)


def blocks_of(
    file: InputFile, number: int, extent: Extent | None = None
) -> Generator[Block, None, int]:
    """The records of a file, in blocks.

    number: the index of the file among the inputs
    extent: the piece of the file to read; default: all of it. In a file of lines, these are
        numbered from the beginning of the piece, and the generator returns how many there are

    >>> import tempfile
    >>> from pathlib import Path
    >>> from plaudit.scoring import find_inputs
    >>> path = Path(tempfile.mkdtemp(), "a.jsonl")
    >>> _ = path.write_text('{"solution": "4"}\\n\\n{"solution": "5"}\\n')
    >>> [list(block.numbers) for block in blocks_of(find_inputs([path])[0], 0)]
    [[1, 3]]
    """
    extent = extent or Extent(number)
    lines = 0
    with ExitStack() as stack:
        last = 0
        try:
            end = extent.end if file.format == "jsonl" else None
            raw = stack.enter_context(open_input(file.place, end))
            for found in _READERS[file.format](file, raw, extent):
                lines = found.lines
                if len(found.numbers):
                    last = found.numbers[-1]
                    yield found.block(number, _read(raw, file))
        except UnreadableError as error:
            yield _rest(number, error.line, str(error), file.size)
        except (OSError, pa.ArrowException) as error:
            if isinstance(error, MemoryError) or getattr(error, "errno", None) in TRANSIENT:
                raise  # not the fault of the file
            why = " ".join(str(error).split())
            reason = f"the file cannot be read from here on: {why}"
            yield _rest(number, last + 1, reason, file.size)
    return lines


def _read(raw: BinaryIO, file: InputFile) -> int:
    """How much of a file was read; a decompressor closes it at the end."""
    return file.size if raw.closed else min(raw.tell(), file.size)


def _rest(number: int, place: int, reason: str, size: int) -> Block:
    return Block(number, [place], [UnreadableRecord(reason, "")], size)


def _reader_of(file: InputFile, raw: BinaryIO) -> Read:
    return Decompressed(file, raw).read if file.codec else raw.read


def _json_lines(file: InputFile, raw: BinaryIO, extent: Extent) -> Iterator[Found]:
    if file.codec:
        return _filled(_lines(_reader_of(file, raw)))
    end = file.size if extent.end is None else extent.end
    first = _first_line(raw, extent.start, end)
    return _filled(_lines(_until(raw, first, end), start=first), file.place)


def _first_line(raw: BinaryIO, start: int, end: int) -> int:
    """The offset of the first line that begins at `start` or later; at least `end` if none does."""
    if not start:
        return 0
    raw.seek(start - 1)
    while raw.tell() < end and (piece := raw.readline(PIECE)):
        if piece.endswith(b"\n"):
            break
    return raw.tell()


def _until(raw: BinaryIO, first: int, end: int) -> Read:
    """A function that reads the lines from `first` on that begin before `end`, the last whole."""
    raw.seek(first)
    at, is_open = first, first < end

    def read(size: int) -> bytes:
        nonlocal at, is_open
        if not is_open:
            return b""
        piece = raw.read(min(size, end - at)) if at < end else raw.readline(size)
        at += len(piece)
        is_open = bool(piece) and (at < end or not piece.endswith(b"\n"))
        return piece

    return read


def _filled(lines: Iterator[tuple[int, list[Line]]], path: str = "") -> Iterator[Found]:
    """The lines that are not blank, with their numbers; given a `path`, with their offsets too."""
    number = 1
    for start, some in lines:
        numbers: Sequence[int] = range(number, number + len(some))
        starts = list(accumulate([len(line) + 1 for line in some], initial=start)) if path else []
        kept, is_whole = some, set(map(type, some)) <= {bytes}
        if not is_whole or not all(some) or any(map(bytes.isspace, cast("list[bytes]", some))):
            is_row = [bool(one) and (type(one) is not bytes or not one.isspace()) for one in some]
            kept, numbers = list(compress(some, is_row)), list(compress(numbers, is_row))
            starts = [*compress(starts, is_row), starts[-1]] if path else []
        number += len(some)
        # The last piece is what follows the last newline: usually nothing.
        so_far = number - 1 - (some == [b""])
        yield Found(numbers, kept, path if is_whole else "", starts, so_far)


def _lines(read: Read, begun: bytes = b"", start: int = 0) -> Iterator[tuple[int, list[Line]]]:
    """Lines without their newlines, some at a time, and where the first of them begins.

    A line that is far too long is unreadable. `begun` was read already, `start` is its offset.
    """
    first = begun or read(PIECE)
    if not start and first.startswith(_BOM):
        start, first = len(_BOM), first.removeprefix(_BOM)
    unended: list[bytes] = []
    length = 0
    for piece in chain([first], iter(lambda: read(PIECE), b"")):
        head, *rest = piece.split(b"\n")
        length += len(head)
        unended.append(head if length <= MAX_LINE_BYTES else b"")
        if rest:
            ended: list[Line] = [*rest[:-1]]
            line = _line(unended, length)
            if isinstance(line, bytes):
                yield start, [line, *ended]
            else:  # in a block of its own, since it is not read again
                yield start, [line]
                yield start + length + 1, ended
            start += length + 1 + sum(map(len, ended)) + len(ended)
            unended, length = [rest[-1]], len(rest[-1])
    yield start, [_line(unended, length)]


def _line(pieces: list[bytes], length: int) -> bytes | UnreadableRecord:
    if length <= MAX_LINE_BYTES:
        return b"".join(pieces)
    start = pieces[0][: 4 * START].decode(errors="replace")[:START]
    return UnreadableRecord(f"the line is longer than {MAX_LINE_BYTES >> 20} MiB", start)


def _json(file: InputFile, raw: BinaryIO, _: Extent) -> Iterator[Found]:
    """An array of objects; files named .json with one object per line are common as well."""
    read = _reader_of(file, raw)
    begun = read(PIECE).removeprefix(_BOM)
    space = len(begun) - len(begun.lstrip())
    if begun[space : space + 1] != b"[":
        yield from _filled(_lines(read, begun))
        return
    line = 1 + begun.count(b"\n", 0, space)
    yield from _gathered(elements(read, begun[space + 1 :], line, MAX_LINE_BYTES))


def _gathered(records: Iterator[tuple[int, Record]]) -> Iterator[Found]:
    """Records in blocks; those that were read before an error are yielded before it is raised."""
    numbers: list[int] = []
    block: list[Record] = []
    try:
        for number, record in records:
            numbers.append(number)
            block.append(record)
            if len(block) == _BLOCK:
                yield Found(numbers, block)
                numbers, block = [], []
    except (UnreadableError, OSError):
        yield Found(numbers, block)
        raise
    yield Found(numbers, block)


def _csv(file: InputFile, raw: BinaryIO, _: Extent) -> Iterator[Found]:
    delimiter = "\t" if file.format == "tsv" else ","
    return _gathered(_csv_rows(_text_lines(_reader_of(file, raw)), delimiter))


def _text_lines(read: Read) -> Iterator[str]:
    for number, line in enumerate((line for _, some in _lines(read) for line in some), 1):
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
        if not row:
            continue
        if header is None:
            _check_names(row, number)
            header = row
        else:
            yield number, _csv_record(header, row)


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


def _parquet(file: InputFile, raw: BinaryIO, extent: Extent) -> Iterator[Found]:
    with open_parquet(file) as table:
        groups = [table.metadata.row_group(i) for i in range(table.num_row_groups)]
        sizes = (group.total_byte_size // max(group.num_rows, 1) for group in groups)
        a_row = max(sizes, default=0)
        rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(a_row, 1)))
        first = sum(group.num_rows for group in groups[: extent.start])
        wanted = range(len(groups))[extent.start : extent.end]
        # One at a time: what was read of the others would be kept in memory until the last.
        batches = (
            batch
            for group in wanted
            for batch in table.iter_batches(rows, row_groups=[group], use_threads=False)
        )
        yield from _numbered(batches, raw, file.size, table.metadata.num_rows, first + 1)


def _arrow(file: InputFile, raw: BinaryIO, _: Extent) -> Iterator[Found]:
    """The stream that `datasets` writes, or a file in Arrow's file format."""
    with _mapped(file) as mapped:
        try:
            stream = pa.ipc.open_stream(mapped)
        except pa.ArrowInvalid:
            whole = pa.ipc.open_file(mapped)
            stream = (whole.get_batch(i) for i in range(whole.num_record_batches))
        yield from _numbered(stream, raw, file.size, 0)


def _mapped(file: InputFile) -> Any:
    """An Arrow file, opened; a remote one is read from front to back, in large requests."""
    if file.url:
        return pa.PythonFile(open_input(file.url), "r")
    return pa.memory_map(str(file.path))


def _numbered(
    batches: Iterator[pa.RecordBatch], raw: BinaryIO, size: int, rows: int, first: int = 1
) -> Iterator[Found]:
    """Batches with the numbers of their rows. The position of `raw` is moved, to show progress."""
    for batch in batches:
        _check_names(batch.schema.names, first)
        end = first + len(batch)
        raw.seek(size * (end - 1) // rows if rows else min(raw.tell() + batch.nbytes, size))
        yield Found(range(first, end), batch)
        first = end


_READERS: dict[str, Callable[[InputFile, BinaryIO, Extent], Iterator[Found]]] = {
    "jsonl": _json_lines,
    "json": _json,
    "csv": _csv,
    "tsv": _csv,
    "parquet": _parquet,
    "arrow": _arrow,
}


def open_parquet(file: InputFile) -> pq.ParquetFile:
    """A Parquet file, opened; a remote one is read with few requests."""
    if file.url:
        return pq.ParquetFile(open_arrow(file.url), pre_buffer=True)
    return pq.ParquetFile(file.path, pre_buffer=False)


def schema_of(file: InputFile) -> pa.Schema | None:
    """The schema of a Parquet or Arrow file; None for a text file, which has none."""
    if file.format == "parquet":
        with open_parquet(file) as table:
            return table.schema_arrow.remove_metadata()
    if file.format != "arrow":
        return None
    with _mapped(file) as mapped:
        try:
            schema = pa.ipc.open_stream(mapped).schema
        except pa.ArrowInvalid:
            schema = pa.ipc.open_file(mapped).schema
    return schema.remove_metadata()
