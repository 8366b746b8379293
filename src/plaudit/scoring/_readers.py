"""A file -> blocks of records, in order and never more than a few MiB at a time.

Where a file cannot be read any further, because it is cut off or damaged, an `UnreadableRecord`
takes the place of the rest.
"""

import csv
import errno
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.scoring._inputs import Decompressed, InputFile
from plaudit.scoring._records import START, Block, Record, UnreadableError, UnreadableRecord

# Errors of the machine, not of the file, which can be read later.
TRANSIENT = {
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOBUFS),
    *(errno.ESTALE, errno.ETIMEDOUT, errno.EINTR),
}
MAX_LINE_BYTES = 1 << 28  # a longer line is not a row: the file is of another kind

_PIECE = 1 << 20  # bytes read at once
_BATCH_ROWS, _BATCH_BYTES = 1024, 8 << 20
_BLOCK = 256  # records of a JSON array or a CSV file that make a block
_BOM = b"\xef\xbb\xbf"
# A whole string, or a character that opens, closes or separates; a quote alone begins a string
# whose end has not been read yet.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|["\[\]{},]', re.DOTALL)

Read = Callable[[int], bytes]


def blocks_of(file: InputFile, number: int) -> Iterator[Block]:
    """The records of a file; `number` is its index among the inputs.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from plaudit.scoring import find_inputs
    >>> path = Path(tempfile.mkdtemp(), "a.jsonl")
    >>> _ = path.write_text('{"solution": "4"}\\n\\n{"solution": "5"}\\n')
    >>> [list(block.numbers) for block in blocks_of(find_inputs([path])[0], 0)]
    [[1, 3]]
    """
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
            if isinstance(error, MemoryError) or getattr(error, "errno", None) in TRANSIENT:
                raise  # not the fault of the file
            reason = " ".join(str(error).split())
            yield _rest(
                number, last + 1, f"the file cannot be read from here on: {reason}", file.size
            )


def _read(raw: BinaryIO, file: InputFile) -> int:
    """How much of a file was read; a decompressor closes it at the end."""
    return file.size if raw.closed else min(raw.tell(), file.size)


def _rest(number: int, place: int, reason: str, size: int) -> Block:
    return Block(number, [place], [UnreadableRecord(reason, "")], size)


def _reader_of(file: InputFile, raw: BinaryIO) -> Read:
    return Decompressed(file, raw).read if file.codec else raw.read


def _json_lines(file: InputFile, raw: BinaryIO) -> Iterator[tuple[list[int], list[Record]]]:
    return _filled(_lines(_reader_of(file, raw)))


def _filled(
    lines: Iterator[list[bytes | UnreadableRecord]],
) -> Iterator[tuple[list[int], list[Record]]]:
    """The lines that are not blank, with their numbers."""
    number = 1
    for some in lines:
        kept = [
            (place, line)
            for place, line in enumerate(some, number)
            if line and (isinstance(line, UnreadableRecord) or not line.isspace())
        ]
        number += len(some)
        yield [place for place, _ in kept], [line for _, line in kept]


def _lines(read: Read, begun: bytes = b"") -> Iterator[list[bytes | UnreadableRecord]]:
    """Lines without their ends, some at a time; one that is far too long is unreadable."""
    first = (begun or read(_PIECE)).removeprefix(_BOM)
    unended: list[bytes] = []
    length = 0
    for piece in chain([first], iter(lambda: read(_PIECE), b"")):
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
    start = pieces[0][: 4 * START].decode(errors="replace")[:START]
    return UnreadableRecord(f"the line is longer than {MAX_LINE_BYTES >> 20} MiB", start)


def _json(file: InputFile, raw: BinaryIO) -> Iterator[tuple[list[int], list[Record]]]:
    """An array of objects; files named .json with one object per line are common as well."""
    read = _reader_of(file, raw)
    begun = read(_PIECE).removeprefix(_BOM)
    space = len(begun) - len(begun.lstrip())
    if begun[space : space + 1] != b"[":
        yield from _filled(_lines(read, begun))
        return
    line = 1 + begun.count(b"\n", 0, space)
    yield from _gathered(elements(read, begun[space + 1 :], line, MAX_LINE_BYTES))


def _gathered(
    records: Iterator[tuple[int, Record]],
) -> Iterator[tuple[list[int], list[Record]]]:
    """Records in blocks; those that were read before an error are yielded before it is raised."""
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
        if isinstance(line, UnreadableRecord):
            raise UnreadableError(number, line.reason)
        yield line.decode("utf-8", "surrogateescape") + "\n"


def _csv_rows(lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, Record]]:
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
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
        return UnreadableRecord("not UTF-8", text[:START].encode("utf-8", "replace").decode())
    if len(row) != len(header):
        return UnreadableRecord(
            f"the row has {len(row)} cells, the header has {len(header)}", text[:START]
        )
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
    """The stream that `datasets` writes, or a file in Arrow's file format."""
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
    """Batches with the numbers of their rows. The position of `raw` is moved, to show progress."""
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
    """The schema of a Parquet or Arrow file; None for a text file, which has none."""
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


def elements(
    read: Callable[[int], bytes], held: bytes, line: int, longest: int
) -> Iterator[tuple[int, bytes]]:
    r"""The line and text of each element of a JSON array, read a piece of the file at a time.

    Elements are told apart by their brackets and strings alone. Whether each is JSON is decided
    when it is parsed, so that one broken element does not cost another.

    held: what was read already, after the first `[`
    longest: how many bytes an element has at most

    >>> import io
    >>> list(elements(io.BytesIO(b'{"a": "]"},\n 2]').read, b"", 1, 100))
    [(1, b'{"a": "]"}'), (2, b'2')]
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
                _check_end(mark, held[at:] + read(_PIECE), line)
                return
        if len(held) - start > longest:
            reason = f"an element is longer than {longest >> 20} MiB"
            raise UnreadableError(_line_of(held[start:], line), reason)
        more = read(max(_PIECE, len(held) - start))  # as much again: linear in the end
        if not more:
            reason = "the file ends in the middle of the array"
            raise UnreadableError(_line_of(held[start:], line), reason)
        held, at, start = held[start:] + more, at - start, 0


def _line_of(text: bytes, line: int) -> int:
    """The line of the first character that is not a space, in a text that begins at a line."""
    return line + text.count(b"\n", 0, len(text) - len(text.lstrip()))


def _check_end(mark: bytes, rest: bytes, line: int) -> None:
    if mark != b"]":
        raise UnreadableError(line, "a } has no matching {")
    if rest.strip():
        raise UnreadableError(line, "there is more after the end of the array")
