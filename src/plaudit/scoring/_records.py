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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import pyarrow as pa


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


@dataclass(frozen=True, slots=True)
class Block:
    """Records of one file that follow one another.

    file: the index of the input
    numbers: each record's line, or its row in a file without lines
    records: a list; an Arrow batch; once packed for another process, the bytes of that batch; or
        the columns of a table in memory, of which each record is made where it is scored
    read: how many bytes of the file had been read when the block had been read

    >>> len(Block(0, [1, 3], [b'{"solution": "4"}', b'{"solution": "5"}'], 40).cut(1, 2))
    1
    """

    file: int
    numbers: Sequence[int]
    records: list[Record] | pa.RecordBatch | Columns
    read: int

    def __len__(self) -> int:
        return len(self.numbers)

    def cut(self, start: int, end: int) -> "Block":
        """The records from one index to another."""
        records: Any
        if isinstance(self.records, list):
            records = self.records[start:end]
        elif isinstance(self.records, dict):
            records = {name: column[start:end] for name, column in self.records.items()}
        else:
            records = self.records.slice(start, end - start)
        return replace(self, numbers=self.numbers[start:end], records=records)

    def sizes(self) -> list[int]:
        """About how many bytes each record has."""
        if isinstance(self.records, list):
            return [_size(record) for record in self.records]
        if isinstance(self.records, dict):
            some = self.records_from(range(0, len(self), 1 + len(self) // _SAMPLE))
            return [sum(map(_size, some)) // len(some)] * len(self)
        return [self.records.nbytes // len(self)] * len(self)

    def packed(self) -> "Block":
        """The same, ready to be pickled; a slice would be pickled with the whole batch."""
        if isinstance(self.records, list | dict):
            return self
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.records.schema) as stream:
            stream.write_batch(self.records)
        return replace(self, records=sink.getvalue().to_pybytes())

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
        value = json.loads(record)
    except json.JSONDecodeError as error:
        return UnreadableRecord(f"not JSON: {error.msg} at column {error.colno}", start_of(record))
    except UnicodeDecodeError:
        return UnreadableRecord("not UTF-8", start_of(record))
    except (RecursionError, ValueError) as error:  # nested too deeply, or too long a number
        return UnreadableRecord(f"cannot be parsed: {error}", start_of(record))
    if not isinstance(value, dict):
        return UnreadableRecord(
            f"a row must be a JSON object, got {type(value).__name__}", start_of(record)
        )
    return value


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
    """Whether a value is a list of completions, not one; None if it is null or empty.

    >>> is_listed(["4", "5"]), is_listed([{"role": "assistant", "content": "4"}]), is_listed([])
    (True, False, None)
    """
    if value is None or value == []:
        return None
    return isinstance(value, list) and isinstance(value[0], str | list)


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
