"""The body of a request, decoded from JSON, in; its entries, or an error that names one, out."""

from collections.abc import Mapping
from typing import Any


def text_in(body: object, name: str) -> str:
    """The text that a body holds under a name.

    >>> text_in({"response": "4"}, "response")
    '4'
    >>> text_in({"response": None}, "response")
    Traceback (most recent call last):
    ...
    TypeError: "response" must be text, got null
    """
    value = entry_in(body, name)
    if not isinstance(value, str):
        raise TypeError(f'"{name}" must be text, got {_kind(value)}')
    return value


def texts_in(body: object, name: str) -> list[str]:
    """The list of texts that a body holds under a name.

    >>> texts_in({"query": ["a", 3]}, "query")
    Traceback (most recent call last):
    ...
    TypeError: "query" must be a list of texts, entry 1 is a number
    """
    value = list_in(body, name)
    for place, entry in enumerate(value):
        if not isinstance(entry, str):
            raise TypeError(f'"{name}" must be a list of texts, entry {place} is {_kind(entry)}')
    return value


def list_in(body: object, name: str, rows: int | None = None) -> list[Any]:
    """The list that a body holds under a name; as long as `rows`, where that is given.

    >>> list_in({"labels": ["4"]}, "labels", rows=2)
    Traceback (most recent call last):
    ...
    ValueError: "labels" has 1 entries for 2 responses
    """
    value = entry_in(body, name)
    if not isinstance(value, list):
        raise TypeError(f'"{name}" must be a list, got {_kind(value)}')
    if rows is not None and len(value) != rows:
        raise ValueError(f'"{name}" has {len(value)} entries for {rows} responses')
    return value


def table_in(body: object, name: str) -> Mapping[str, Any]:
    """The object that a body holds under a name.

    >>> table_in({"response": []}, "response")
    Traceback (most recent call last):
    ...
    TypeError: "response" must be an object, got a list
    """
    value = entry_in(body, name)
    if not isinstance(value, Mapping):
        raise TypeError(f'"{name}" must be an object, got {_kind(value)}')
    return value


def entry_in(body: object, name: str) -> Any:
    """What a body holds under a name.

    >>> entry_in({"prompt": "2 + 2"}, "response")
    Traceback (most recent call last):
    ...
    ValueError: the body has no "response"; it has "prompt"
    """
    if not isinstance(body, Mapping):
        raise TypeError(f"the body must be a JSON object, got {_kind(body)}")
    if name not in body:
        has = ", ".join(f'"{key}"'[:40] for key in list(body)[:8]) or "nothing"
        raise ValueError(f'the body has no "{name}"; it has {has}')
    return body[name]


def _kind(value: object) -> str:
    """What JSON calls a value."""
    kinds = {str: "text", bool: "a boolean", int: "a number", float: "a number", list: "a list"}
    if value is None:
        return "null"
    return "an object" if isinstance(value, Mapping) else kinds.get(type(value), repr(type(value)))
