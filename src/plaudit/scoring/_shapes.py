"""What a record holds: one completion, or a list of them.

{"completion": "4"}                                              one
{"completion": [{"role": "assistant", "content": "4"}]}          one: messages
{"completions": ["4", "5"]}                                      two
{"completions": [[{"role": "assistant", "content": "4"}], …]}    a list of messages each
"""

from collections.abc import Sequence
from typing import Any


def is_listed(value: Any) -> bool | None:
    """Whether a value is a list of completions; None where it does not say.

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


def complaint(column: str, value: Any, listed: bool) -> str:
    """What is wrong with a record's completions; "" where nothing is.

    >>> complaint("completions", "4", listed=True)
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


def taken_apart(record: dict[str, Any], column: str, others: Sequence[str]) -> str:
    """What is wrong with the columns that hold something for each completion; "" where nothing is.

    >>> taken_apart({"completions": ["4", "5"], "completion_ids": [[1]]}, "completions",
    ...     ["completion_ids"])
    'completion_ids must be a list of 2, one a completion'
    """
    many = len(record[column])
    for name in others:
        value = record.get(name)
        if not isinstance(value, list) or len(value) != many:
            return f"{name} must be a list of {many}, one a completion"
    return ""
