"""One record, as it was read -> a dictionary, or why it is none."""

import json
from typing import Any

from plaudit.scoring._blocks import Broken, Record

START = 200  # characters of a rejected row that are kept


def parsed(record: Record) -> dict[str, Any] | Broken:
    """The dictionary that a record holds, or why it holds none.

    >>> parsed(b'{"completion": "4"}')
    {'completion': '4'}
    >>> parsed(b'{"completion": "4"').reason
    "it is no JSON: Expecting ',' delimiter at column 19"
    """
    if not isinstance(record, bytes):
        return record
    try:
        value = json.loads(record)
    except json.JSONDecodeError as error:
        return Broken(f"it is no JSON: {error.msg} at column {error.colno}", start_of(record))
    except UnicodeDecodeError:
        return Broken("it is not UTF-8", start_of(record))
    except (RecursionError, ValueError) as error:  # nested too deeply, or an endless number
        return Broken(f"it cannot be read: {error}", start_of(record))
    if not isinstance(value, dict):
        return Broken(f"it must be an object, got {type(value).__name__}", start_of(record))
    return value


def start_of(record: bytes | dict[str, Any] | Broken) -> str:
    """How a record begins, for the person who looks for it.

    >>> start_of(b'{"completion": "4"}')
    '{"completion": "4"}'
    """
    if isinstance(record, Broken):
        return record.start
    if isinstance(record, bytes):
        return record[: 4 * START].decode("utf-8", "replace")[:START]
    return json.dumps(record, ensure_ascii=False, default=repr)[:START]
