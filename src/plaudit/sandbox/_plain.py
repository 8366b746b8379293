"""Plain data as bytes, for values that cross the border between processes.

A value is encoded by its exact type, never by what it says of itself. What subclasses list, dict
and the like is encoded as the base type has it, so that none of its own methods runs:

    {"a": (1, 2.5)}    ->  {"d":[["a",{"t":[1,2.5]}]]}

What arrives was written by a program of a model: it is JSON of limited size and depth, it makes
objects of these types alone, and anything else raises `NotPlain`.
"""

import base64
import binascii
import datetime
import json
import math
import struct
import sys
from collections import deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import PosixPath
from typing import Any

DEEPEST = 200
MOST_BYTES = 32 << 20
LARGE = 10**4000  # Python refuses to print much longer numbers
_SIMPLE = {int, float, str, bool, type(None)}

# The methods of the base types, so that those of a subclass do not run.
_ITEMS: dict[type, Callable[[Any], Any]] = {
    list: list.__iter__,
    tuple: tuple.__iter__,
    set: set.__iter__,
    frozenset: frozenset.__iter__,
}
_TAGS: dict[type, str] = {tuple: "t", set: "s", frozenset: "f"}
_DATES: dict[str, type] = {
    "date": datetime.date,
    "time": datetime.time,
    "datetime": datetime.datetime,
}
_NUMPY_KINDS = "biufcSUmM"


class NotPlain(ValueError):  # noqa: N818 - it is no fault, but an answer
    """A value, or what arrived for one, is not plain data."""


def encode(value: Any, other: Callable[[Any], Any] | None = None) -> bytes:
    """Return a value as bytes.

    other: makes JSON of what is not plain, such as a reference. Default: that raises NotPlain

    >>> encode([1, (True, {2})])
    b'[1,{"t":[true,{"s":[2]}]}]'
    """
    try:
        text = json.dumps(to_json(value, other), separators=(",", ":"))
    except (RecursionError, MemoryError) as error:
        raise NotPlain("it is nested too deeply, or too large") from error
    return text.encode("utf-8", "surrogatepass")


def decode(data: bytes, other: Callable[[Any], Any] | None = None) -> Any:
    """Return the value of such bytes, or raise NotPlain.

    >>> decode(b'{"d":[["a",{"t":[1]}]]}')
    {'a': (1,)}
    """
    if len(data) > MOST_BYTES:
        raise NotPlain(f"it is larger than {MOST_BYTES >> 20} MiB")
    try:
        return from_json(json.loads(data.decode("utf-8", "surrogatepass")), other)
    except NotPlain:
        raise
    except (
        *(ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError),
        *(RecursionError, MemoryError, OverflowError, struct.error, binascii.Error),
    ) as error:
        raise NotPlain(f"it is not plain data: {type(error).__name__}") from error


def to_json(value: Any, other: Callable[[Any], Any] | None = None, depth: int = 0) -> Any:
    """Return a value as what `json.dumps` takes."""
    kind = type(value)
    if value is None or kind is bool or kind is str or kind is float:
        return value
    if kind is int:
        return value if -LARGE < value < LARGE else {"i": hex(value)}
    if depth > DEEPEST:
        raise NotPlain("it is nested too deeply")
    if kind is list:
        kinds = set(map(type, value))
        if kinds <= _SIMPLE and (int not in kinds or _small(value)):
            return value
        return [to_json(item, other, depth + 1) for item in value]
    if kind is tuple or kind is set or kind is frozenset:
        return {_TAGS[kind]: [to_json(item, other, depth + 1) for item in value]}
    if kind is deque:
        return {"q": [[to_json(item, other, depth + 1) for item in value], value.maxlen]}
    if kind is dict:
        pairs = [
            [to_json(key, other, depth + 1), to_json(item, other, depth + 1)]
            for key, item in value.items()
        ]
        return {"d": pairs}
    made = _scalar(value, kind)
    if made is None:
        made = _of_base(value, kind, other, depth)
    if made is not None:
        return made
    if other is not None:
        return other(value)
    raise NotPlain(f"{kind.__name__} is not plain data")


def _small(numbers: list[Any]) -> bool:
    try:
        return bool(max(numbers) < LARGE and min(numbers) > -LARGE)
    except TypeError:  # texts among them
        return False


def _scalar(value: Any, kind: type) -> Any:
    if kind is bytes or kind is bytearray:
        tag = "b" if kind is bytes else "ba"
        return {tag: base64.b64encode(value).decode("ascii")}
    if kind is complex:
        return {"c": [value.real, value.imag]}
    if kind is Decimal:
        return {"D": Decimal.__str__(value)}
    if kind is Fraction:
        parts = [getattr(value, f"_{name}") for name in ("numerator", "denominator")]
        return {"F": [hex(part) for part in parts]} if all(type(p) is int for p in parts) else None
    if kind is datetime.timedelta:
        return {"delta": [value.days, value.seconds, value.microseconds]}
    if kind in _DATES.values() and getattr(value, "tzinfo", None) is None:
        return {kind.__name__: kind.isoformat(value)}  # type: ignore[attr-defined]
    if kind is PosixPath:
        return {"p": str(value)}
    if kind is range:
        return {"r": [value.start, value.stop, value.step]}
    return _numpy(value, kind)


def _numpy(value: Any, kind: type) -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is None or kind.__module__ != "numpy":
        return None
    is_array = kind is numpy.ndarray
    if not is_array and kind is not numpy.dtype(kind).type if isinstance(kind, type) else True:
        return None
    array = value if is_array else numpy.asarray(value)
    if array.dtype.kind not in _NUMPY_KINDS:
        if array.dtype.kind == "O" and is_array:
            return {"no": [list(array.shape), to_json(array.ravel().tolist(), None)]}
        return None
    data = base64.b64encode(numpy.ascontiguousarray(array).tobytes()).decode("ascii")
    return {"n" if is_array else "ns": [array.dtype.str, list(array.shape), data]}


def _of_base(value: Any, kind: type, other: Callable[[Any], Any] | None, depth: int) -> Any:
    """Return a value of a subclass as its base type has it: a Counter as a dict."""
    order = type.__dict__["__mro__"].__get__(kind)
    for base in (bool, int, float, str, bytes, complex, list, tuple, dict, set, frozenset):
        if base not in order:
            continue
        make: Any = base
        plain: Any
        if base in _ITEMS:
            plain = make(list(_ITEMS[base](value)))
        elif base is dict:
            plain = dict(dict.items(value))
        elif base is int:
            plain = int.__index__(value)
        elif base is str:
            plain = str.__str__(value)
            plain = plain if type(plain) is str else "".join(str.__iter__(value))
        elif base is float:
            plain = float.__float__(value)
        elif base is complex:
            plain = complex(complex.real.__get__(value), complex.imag.__get__(value))
        else:
            plain = bytes.__getitem__(value, slice(None))
        made = to_json(plain, other, depth + 1)
        # A reference lets tests read the attributes of a named tuple or of an Enum's member.
        return {"sub": [made, other(value)]} if other is not None else made
    return None


def from_json(made: Any, other: Callable[[Any], Any] | None = None, depth: int = 0) -> Any:
    """Return the value that `to_json` made this of."""
    kind = type(made)
    if kind is not list and kind is not dict:
        return made
    if depth > DEEPEST:
        raise NotPlain("it is nested too deeply")
    if kind is list:
        if set(map(type, made)) <= _SIMPLE:
            return made
        return [from_json(item, other, depth + 1) for item in made]
    if len(made) != 1:
        raise NotPlain("it is not plain data")
    ((tag, body),) = made.items()
    if tag in ("t", "s", "f"):
        items = [from_json(item, other, depth + 1) for item in body]
        if tag == "s":  # in the order that a literal has: CPython makes it of a frozenset
            return set(frozenset(items))
        return tuple(items) if tag == "t" else frozenset(items)
    if tag == "d":
        return {
            from_json(key, other, depth + 1): from_json(item, other, depth + 1)
            for key, item in body
        }
    if tag == "q":
        items, most = body
        return deque((from_json(item, other, depth + 1) for item in items), most)
    if tag == "sub":
        plain, reference = body
        value = from_json(plain, other, depth + 1)
        return other({"sub": [value, reference]}) if other is not None else value
    if tag in _SCALARS:
        return _SCALARS[tag](body)
    if other is not None:
        return other(made)
    raise NotPlain("it is not plain data")


def _text(body: Any) -> str:
    if type(body) is not str:
        raise NotPlain("it is not plain data")
    return body


def _array(body: Any) -> Any:
    import numpy

    name, shape, data = body
    if numpy.dtype(_text(name)).kind not in _NUMPY_KINDS:
        raise NotPlain("an array of objects")
    content = base64.b64decode(data)
    array = numpy.frombuffer(content, dtype=numpy.dtype(name)).reshape([int(n) for n in shape])
    return array.copy()


def _object_array(body: Any) -> Any:
    import numpy

    shape, items = body
    array = numpy.empty(math.prod(int(n) for n in shape), dtype=object)
    array[:] = from_json(items)
    return array.reshape(shape)


_SCALARS: dict[str, Callable[[Any], Any]] = {
    "i": lambda body: int(_text(body), 16),
    "b": base64.b64decode,
    "ba": lambda body: bytearray(base64.b64decode(body)),
    "c": lambda body: complex(*body),
    "D": lambda body: Decimal(_text(body)),
    "F": lambda body: Fraction(*(int(part, 16) for part in body)),
    "delta": lambda body: datetime.timedelta(*body),
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "datetime": datetime.datetime.fromisoformat,
    "r": lambda body: range(*body),
    "p": lambda body: PosixPath(_text(body)),
    "n": _array,
    "no": _object_array,
    "ns": lambda body: _array(body)[()],
}
