"""A file -> blocks of records, in order and never more than a few MiB at a time.

Where a file cannot be read any further, because it is cut off or damaged, a `Broken` record
stands for the rest of it.
"""

import csv
import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.scoring._blocks import Block, Broken, Record, UnreadableError
from plaudit.scoring._inputs import InputFile
from plaudit.scoring._json_array import elements
from plaudit.scoring._records import START
from plaudit.scoring._unpacked import Unpacked

# What the machine may lack for a moment: the file can be read later.
PASSING = {
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOBUFS),
    *(errno.ESTALE, errno.ETIMEDOUT, errno.EINTR),
}
LONGEST = 1 << 28  # bytes of a line: what is longer is no row, but a file of another kind

_PIECE = 1 << 20  # bytes read at once
_BATCH_ROWS, _BATCH_BYTES = 1024, 8 << 20
_BLOCK = 256  # records of a JSON array or a CSV file that make a block
_MARK = b"\xef\xbb\xbf"

Read = Callable[[int], bytes]


def blocks_of(file: InputFile, number: int) -> Iterator[Block]:
    """The records of a file, which is the input of this number."""
    with ExitStack() as stack:
        last = 0
        try:
            raw = stack.enter_context(file.path.open("rb"))
            for numbers, records in _READERS[file.format](file, raw):
                if len(numbers):
                    last = numbers[-1]
                    yield Block(number, numbers, records, _read(raw, file))
        except UnreadableError as error:
            yield _rest(number, error.line, str(error), file.size)
        except (OSError, pa.ArrowException) as error:
            if isinstance(error, MemoryError) or getattr(error, "errno", None) in PASSING:
                raise  # no fault of the file
            reason = " ".join(str(error).split())
            yield _rest(
                number, last + 1, f"the file cannot be read from here on: {reason}", file.size
            )


def _read(raw: BinaryIO, file: InputFile) -> int:
    """How much of a file was read; a decompressor that has come to the end closes it."""
    return file.size if raw.closed else min(raw.tell(), file.size)


def _rest(number: int, place: int, reason: str, size: int) -> Block:
    return Block(number, [place], [Broken(reason, "")], size)


def _reader_of(file: InputFile, raw: BinaryIO) -> Read:
    return Unpacked(file, raw).read if file.codec else raw.read


def _json_lines(file: InputFile, raw: BinaryIO) -> Iterator[tuple[list[int], list[Record]]]:
    return _filled(_lines(_reader_of(file, raw)))


def _filled(
    lines: Iterator[list[bytes | Broken]],
) -> Iterator[tuple[list[int], list[Record]]]:
    """The lines that are not blank, with their numbers."""
    number = 1
    for some in lines:
        kept = [
            (place, line)
            for place, line in enumerate(some, number)
            if line and (isinstance(line, Broken) or not line.isspace())
        ]
        number += len(some)
        yield [place for place, _ in kept], [line for _, line in kept]


def _lines(read: Read, begun: bytes = b"") -> Iterator[list[bytes | Broken]]:
    """Lines without their ends, some at a time; one that is far too long is broken."""
    first = (begun or read(_PIECE)).removeprefix(_MARK)
    unended: list[bytes] = []
    length = 0
    for piece in chain([first], iter(lambda: read(_PIECE), b"")):
        head, *rest = piece.split(b"\n")
        length += len(head)
        unended.append(head if length <= LONGEST else b"")
        if rest:
            yield [_line(unended, length), *rest[:-1]]
            unended, length = [rest[-1]], len(rest[-1])
    yield [_line(unended, length)]


def _line(pieces: list[bytes], length: int) -> bytes | Broken:
    if length <= LONGEST:
        return b"".join(pieces)
    start = pieces[0][: 4 * START].decode(errors="replace")[:START]
    return Broken(f"the line is longer than {LONGEST >> 20} MiB", start)


def _json(file: InputFile, raw: BinaryIO) -> Iterator[tuple[list[int], list[Record]]]:
    """An array of objects; a file of that name with an object a line is common, too."""
    read = _reader_of(file, raw)
    begun = read(_PIECE).removeprefix(_MARK)
    space = len(begun) - len(begun.lstrip())
    if begun[space : space + 1] != b"[":
        yield from _filled(_lines(read, begun))
        return
    line = 1 + begun.count(b"\n", 0, space)
    yield from _gathered(elements(read, begun[space + 1 :], line, LONGEST))


def _gathered(
    records: Iterator[tuple[int, Record]],
) -> Iterator[tuple[list[int], list[Record]]]:
    """Records in blocks; what was read before an error is given before it is raised."""
    numbers: list[int] = []
    block: list[Record] = []
    try:
        for number, record in records:
            numbers.append(number)
            block.append(record)
            if len(block) == _BLOCK:
                yield numbers, block
                numbers, block = [], []
    except (UnreadableError, OSError):
        yield numbers, block
        raise
    yield numbers, block


def _csv(file: InputFile, raw: BinaryIO) -> Iterator[tuple[list[int], list[Record]]]:
    delimiter = "\t" if file.format == "tsv" else ","
    return _gathered(_csv_rows(_text_lines(_reader_of(file, raw)), delimiter))


def _text_lines(read: Read) -> Iterator[str]:
    for number, line in enumerate(chain.from_iterable(_lines(read)), 1):
        if isinstance(line, Broken):
            raise UnreadableError(number, line.reason)
        yield line.decode("utf-8", "surrogateescape") + "\n"


def _csv_rows(lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, Record]]:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        number = rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield number, Broken(f"it is no CSV: {error}", "")
            continue
        if not row:
            continue
        if header is None:
            header = _header(row, number)
        else:
            yield number, _csv_record(header, row)


def _header(row: list[str], number: int) -> list[str]:
    if twice := [name for name in row if row.count(name) > 1]:
        raise UnreadableError(number, f"two columns are called {twice[0]!r}")
    return row


def _csv_record(header: list[str], row: list[str]) -> Record:
    text = ",".join(row)
    if not text.isascii() and text.encode("utf-8", "replace").decode() != text:
        return Broken("it is not UTF-8", text[:START].encode("utf-8", "replace").decode())
    if len(row) != len(header):
        return Broken(f"it has {len(row)} cells, the header has {len(header)}", text[:START])
    return dict(zip(header, row, strict=True))


def _parquet(file: InputFile, raw: BinaryIO) -> Iterator[tuple[range, pa.RecordBatch]]:
    with pq.ParquetFile(file.path, pre_buffer=False) as table:
        groups = [table.metadata.row_group(i) for i in range(table.num_row_groups)]
        a_row = max(
            (group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0
        )
        rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(a_row, 1)))
        batches = table.iter_batches(rows, use_threads=False)
        yield from _numbered(batches, raw, file.size, table.metadata.num_rows)


def _arrow(file: InputFile, raw: BinaryIO) -> Iterator[tuple[range, pa.RecordBatch]]:
    """The stream that `datasets` writes, or a file of Arrow."""
    with pa.memory_map(str(file.path)) as mapped:
        try:
            stream = pa.ipc.open_stream(mapped)
        except pa.ArrowInvalid:
            whole = pa.ipc.open_file(mapped)
            stream = (whole.get_batch(i) for i in range(whole.num_record_batches))
        yield from _numbered(stream, raw, file.size, 0)


def _numbered(
    batches: Iterator[pa.RecordBatch], raw: BinaryIO, size: int, rows: int
) -> Iterator[tuple[range, pa.RecordBatch]]:
    """Batches with the numbers of their rows. `raw` is moved along, to show how far we are."""
    first = 1
    for batch in batches:
        end = first + len(batch)
        raw.seek(size * (end - 1) // rows if rows else min(raw.tell() + batch.nbytes, size))
        yield range(first, end), batch
        first = end


_READERS: dict[str, Callable[[InputFile, BinaryIO], Iterator[tuple[Sequence[int], Any]]]] = {
    "jsonl": _json_lines,
    "json": _json,
    "csv": _csv,
    "tsv": _csv,
    "parquet": _parquet,
    "arrow": _arrow,
}


def schema_of(file: InputFile) -> pa.Schema | None:
    """The schema of a file that has one; None of a file of text."""
    if file.format == "parquet":
        return pq.read_schema(file.path).remove_metadata()
    if file.format != "arrow":
        return None
    with pa.memory_map(str(file.path)) as mapped:
        try:
            schema = pa.ipc.open_stream(mapped).schema
        except pa.ArrowInvalid:
            schema = pa.ipc.open_file(mapped).schema
    return schema.remove_metadata()
