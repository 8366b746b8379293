"""A reward's code, looked at and not run: the tags, the lengths and the texts that it names."""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

from plaudit.recipes import Component

_TAG = re.compile(r"</?([a-z][a-z_]{2,20})>")
_NOT_TAGS = {"context", "image", "eos", "pad", "unk", "bos"}


def constants_of(component: Component) -> Iterator[Any]:
    """The numbers and texts in a reward's code, its defaults and its parameters."""
    yield from component.params.values()
    function = inspect.unwrap(component.calling.function)
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is None:  # an object that is called
        yield from vars(function).values() if hasattr(function, "__dict__") else ()
        code = getattr(type(function).__call__, "__code__", None)
    yield from getattr(function, "__defaults__", None) or ()
    if code is not None:
        yield from _constants(code, getattr(function, "__globals__", {}))


def _constants(code: CodeType, named: Mapping[str, Any], depth: int = 0) -> Iterator[Any]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _constants(constant, named, depth)
        elif isinstance(constant, tuple | frozenset):
            yield from constant
        else:
            yield constant
    for name in code.co_names:
        value = named.get(name)
        if isinstance(value, re.Pattern):
            yield value.pattern
        elif isinstance(value, str | int | tuple | list):
            yield from [value] if isinstance(value, str | int) else value[:50]
        elif inspect.isfunction(value) and value.__globals__ is named and depth < 3:
            yield from _constants(value.__code__, named, depth + 1)


def tags_in(texts: Iterable[str]) -> tuple[str, ...]:
    """The tags that texts name, in the order in which they first occur.

    >>> tags_in(["Think inside <think></think>, then <answer></answer>."])
    ('think', 'answer')
    """
    found = [tag for text in texts for tag in _TAG.findall(text) if tag not in _NOT_TAGS]
    return tuple(dict.fromkeys(found))[:4]


def lengths_in(constants: Iterable[Any]) -> tuple[int, ...]:
    """The whole numbers that may be lengths, at most eight of them.

    >>> lengths_in([2048, 0.5, True, 3, 400])
    (400, 2048)
    """
    whole = {
        int(c)
        for c in constants
        if isinstance(c, int | float) and not isinstance(c, bool) and c == c and abs(c) < 1e9
    }
    return tuple(sorted(n for n in whole if 8 <= n <= 30_000)[:8])


def texts_in(constants: Iterable[Any]) -> list[str]:
    """The texts among constants, with what patterns escape put back.

    >>> texts_in([r"<answer>(.*?)<\\/answer>", 3])
    ['<answer>(.*?)</answer>']
    """
    return [c.replace("\\/", "/") for c in constants if isinstance(c, str)]
