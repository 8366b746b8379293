"""Records as they were read from a file, and what they hold.

    b'{"completion": "4"}'   a record of a JSONL file, not parsed yet
    Block                    records of one file that follow one another
    {"completion": "4"}      a record that was parsed

A record holds one completion, or a list of them:

    {"completion": "4"}                                              one
    {"completion": [{"role": "assistant", "content": "4"}]}          one: messages
    {"completions": ["4", "5"]}                                      two
    {"completions": [[{"role": "assistant", "content": "4"}], …]}    a list of messages each
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import pyarrow as pa

from plaudit.scoring._errors import StoppedError
from plaudit.scoring._storage import read_bytes

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


PIECE = 1 << 20  # bytes of a file that are read at once
# A whole string, or a character that opens, closes or separates; a quote alone begins a string
# whose end has not been read yet.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|["\[\]{},]', re.DOTALL)


class UnreadableError(ValueError):
    """A file cannot be read from this line on."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


class UnreadableRecord(NamedTuple):
    """Takes the place of a record that cannot be read: the reason, and the record's beginning.

    >>> parsed(b'["4"]')
    UnreadableRecord(reason='a row must be a JSON object, got list', start='["4"]')
    """

    reason: str
    start: str


# JSON that is not parsed yet, a row of a CSV file, or a record that cannot be read.
Record = bytes | dict[str, Any] | UnreadableRecord
Columns = dict[str, list[Any]]


class Extent(NamedTuple):
    """A piece of a file that can be read without what precedes it.

    file: the index of the input
    start, end: in a file of lines, offsets in bytes: the lines that begin between them are meant.
        In a Parquet file, indices of row groups. An `end` of None is the end of the file
    """

    file: int
    start: int = 0
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Unread:
    """Lines of a file that another process reads by itself.

    start, end: offsets in bytes
    count: how many of the lines are not blank
    """

    path: str
    start: int
    end: int
    count: int

    def records(self, wanted: int) -> list[Record]:
        """The first lines that are not blank; raises StoppedError if the file was changed."""
        lines = read_bytes(self.path, self.start, self.end - self.start).split(b"\n")
        records: list[Record] = [line for line in lines if line and not line.isspace()]
        if len(records) != self.count:
            raise StoppedError(
                f"{self.path} was changed during the run: start over with --overwrite"
            )
        return records[:wanted]


@dataclass(frozen=True, slots=True)
class Block:
    """Records of one file that follow one another.

    file: the index of the input
    numbers: each record's line, or its row in a file without lines
    records: a list; an Arrow batch; or the columns of a table in memory, whose records are made
        where they are scored. Once packed for another process, a batch is bytes, and a list of
        lines may be where in the file they are
    read: how many bytes of the file had been read after this block
    path: that of a file of lines which any process can read from the middle; "" for other files
    starts: in such a file, the offset of each record, and the end of the last one

    >>> len(Block(0, [1, 3], [b'{"solution": "4"}', b'{"solution": "5"}'], 40).cut(1, 2))
    1
    """

    file: int
    numbers: Sequence[int]
    records: list[Record] | pa.RecordBatch | Columns | Unread
    read: int
    path: str = ""
    starts: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.numbers)

    def cut(self, start: int, end: int) -> "Block":
        """The records from one index to another; those that are not read yet, from the first on."""
        records: Any
        if isinstance(self.records, list):
            records = self.records[start:end]
        elif isinstance(self.records, dict):
            records = {name: column[start:end] for name, column in self.records.items()}
        elif isinstance(self.records, Unread):
            records = self.records
        else:
            records = cast("pa.RecordBatch", self.records).slice(start, end - start)
        starts = self.starts[start : end + 1]
        return replace(self, numbers=self.numbers[start:end], records=records, starts=starts)

    def sizes(self) -> list[int]:
        """About how many bytes each record has."""
        if self.path and isinstance(self.records, list):  # lines, all of them
            return list(map(len, self.records))
        if isinstance(self.records, list):
            return [_size(record) for record in self.records]
        if isinstance(self.records, dict):
            some = self.records_from(range(0, len(self), 1 + len(self) // _SAMPLE))
            return [sum(map(_size, some)) // len(some)] * len(self)
        return [cast("pa.RecordBatch", self.records).nbytes // len(self)] * len(self)

    def further(self, lines: int) -> "Block":
        """The same block, with its numbers moved on by so many lines."""
        if not lines:
            return self
        numbers = self.numbers
        moved: Sequence[int] = [number + lines for number in numbers]
        if isinstance(numbers, range):
            moved = range(numbers.start + lines, numbers.stop + lines)
        return replace(self, numbers=moved)

    def emptied(self) -> "Block":
        """The same block without its records."""
        return replace(self, records=[], path="", starts=())

    def goes_on_with(self, other: "Block") -> bool:
        """Whether another block follows directly in the same file of lines."""
        return bool(self.path) and self.path == other.path and self.starts[-1] == other.starts[0]

    def joined(self, other: "Block") -> "Block":
        """The records of both, which are not read yet."""
        numbers: Sequence[int] = [*self.numbers, *other.numbers]
        if numbers[-1] - numbers[0] == len(numbers) - 1:
            numbers = range(numbers[0], numbers[-1] + 1)
        starts = [self.starts[0], other.starts[-1]]
        return replace(other, numbers=numbers, records=[], starts=starts)

    def packed(self, to_read: bool) -> "Block":
        """The same block, ready to be pickled: a slice would be pickled with its whole batch.

        to_read: whether the other process reads a file of lines by itself
        """
        if self.path and to_read:
            unread = Unread(self.path, self.starts[0], self.starts[-1], len(self))
            return replace(self, records=unread, path="", starts=())
        records: Any = self.records
        if not isinstance(records, list | dict | Unread | bytes):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, records.schema) as stream:
                stream.write_batch(records)
            records = sink.getvalue().to_pybytes()
        return replace(self, records=records, path="", starts=())

    def records_from(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """Some of the records of a table in memory."""
        columns = cast("Columns", self.records)
        return [{name: column[place] for name, column in columns.items()} for place in places]

    def table(self) -> pa.Table:
        """The table of a packed batch."""
        return pa.ipc.open_stream(self.records).read_all()


_SAMPLE = 64  # records whose sizes stand for those of a block
_WORD = 8  # bytes of a value that is not text, about


def _size(record: Record) -> int:
    if isinstance(record, dict):
        return sum(len(value) if isinstance(value, str) else _WORD for value in record.values())
    return len(record)


START = 200  # characters of a rejected row that are kept


def parsed(record: Record) -> dict[str, Any] | UnreadableRecord:
    """The dictionary that a record holds, or why it cannot be read.

    >>> parsed(b'{"completion": "4"}')
    {'completion': '4'}
    >>> parsed(b'{"completion": "4"').reason
    "not JSON: Expecting ',' delimiter at column 19"
    """
    if not isinstance(record, bytes):
        return record
    try:
        value = _quickly_parsed(record)
    except _NOT_QUICKLY:
        return _parsed_by_python(record)
    return value if type(value) is dict else _no_object(record, value)


def _parsed_by_python(record: bytes) -> dict[str, Any] | UnreadableRecord:
    """The same, for what only Python reads (`NaN`, half a surrogate pair), and for its errors."""
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


def start_of(record: bytes | dict[str, Any] | UnreadableRecord) -> str:
    """The beginning of a record, so that a person can find it.

    >>> start_of(b'{"completion": "4"}')
    '{"completion": "4"}'
    """
    if isinstance(record, UnreadableRecord):
        return record.start
    if isinstance(record, bytes):
        return record[: 4 * START].decode("utf-8", "replace")[:START]
    return json.dumps(record, ensure_ascii=False, default=repr)[:START]


def is_listed(value: Any) -> bool | None:
    """Whether a value is a list of completions, not one; None if it is null or holds nothing else.

    >>> is_listed(["4", "5"]), is_listed([{"role": "assistant", "content": "4"}]), is_listed([])
    (True, False, None)
    """
    if not isinstance(value, list):
        return None if value is None else False
    first = next((one for one in value if one is not None), None)
    return None if first is None else isinstance(first, str | list)


def is_completion(value: Any) -> bool:
    """Whether a value is text, a message or a list of messages.

    >>> is_completion("4"), is_completion([{"content": "4"}]), is_completion(4)
    (True, True, False)
    """
    if isinstance(value, str | dict):
        return True
    return isinstance(value, list) and all(isinstance(message, dict) for message in value)


def completions_problem(column: str, value: Any, listed: bool) -> str:
    """What is wrong with a record's completions; "" if nothing is.

    >>> completions_problem("completions", "4", listed=True)
    'completions must be a list of completions, as in the first rows, got str'
    """
    if value is None:
        return f"{column} is null"
    if not listed:
        one = is_completion(value)
        return "" if one else f"{column} must be text or a list of messages, got {_kind(value)}"
    if not isinstance(value, list):
        expected = "a list of completions, as in the first rows"
        return f"{column} must be {expected}, got {type(value).__name__}"
    return "" if value else f"{column} is empty"


def _kind(value: Any) -> str:
    if not isinstance(value, list):
        return type(value).__name__
    odd = next(item for item in value if not isinstance(item, dict))
    return f"a list with {type(odd).__name__} in it"


def lengths_problem(record: dict[str, Any], column: str, others: Sequence[str]) -> str:
    """What is wrong with the columns that must have one entry per completion; "" if nothing is.

    >>> lengths_problem({"completions": ["4", "5"], "completion_ids": [[1]]}, "completions",
    ...     ["completion_ids"])
    'completion_ids must be a list of 2, one entry per completion'
    """
    many = len(record[column])
    for name in others:
        value = record.get(name)
        if not isinstance(value, list) or len(value) != many:
            return f"{name} must be a list of {many}, one entry per completion"
    return ""


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
                _check_end(mark, held[at:] + read(PIECE), line)
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
    """The line of the first character that is not a space, in a text that begins at a line."""
    return line + text.count(b"\n", 0, len(text) - len(text.lstrip()))


def _check_end(mark: bytes, rest: bytes, line: int) -> None:
    if mark != b"]":
        raise UnreadableError(line, "a } has no matching {")
    if rest.strip():
        raise UnreadableError(line, "there is more after the end of the array")
