"""JSON that a model wrote -> Python values, by RFC 8259 and within limits.

Python's own reader takes NaN, refuses whole numbers of more than 4,300 digits, and nests only as
deep as the stack of its caller allows. Of two equal keys, the last counts, as for most readers.
"""

import json
import re
import sys
from typing import Any

DEEPEST = 200  # levels of nesting
_LONGEST_INT = 4000  # digits; Python's own limit is 4,300
_LARGEST = sys.float_info.max
# Possessive quantifiers never give back what they took: linear time.
_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


class JsonError(ValueError):
    """A text is not JSON; the message says why."""


class JsonLimitError(JsonError):
    """A text is nested too deeply to be read."""


def read_json(text: str) -> Any:
    """Return the value of a text that is JSON and nothing else but white space.

    >>> read_json(' {"a": [1, 2.5, null]} ')
    {'a': [1, 2.5, None]}
    >>> read_json('{"a": NaN}')
    Traceback (most recent call last):
    ...
    plaudit.inputs.json_text.JsonError: NaN is not JSON
    """
    start = len(text) - len(text.lstrip(" \t\r\n"))
    value, end = read_json_at(text, start)
    rest = text[end:].strip(" \t\r\n")
    if rest:
        raise JsonError(f"after the value comes {rest[:40]!r}")
    return value


def read_json_at(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value that starts at a position, and where it ends."""
    if text.count("[", start) + text.count("{", start) > DEEPEST:
        _check_depth(text, start)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except JsonError:
        raise
    except ValueError as error:
        raise JsonError(str(error)) from error
    return value, end


def _check_depth(text: str, start: int) -> None:
    """Raise if the value that starts here nests too deeply: the reader would overflow the stack."""
    depth = 0
    for found in _BRACKET.finditer(text, start):
        bracket = found[0]
        if bracket in "[{":
            depth += 1
            if depth > DEEPEST:
                raise JsonLimitError(f"it is nested more than {DEEPEST} levels deep")
        elif bracket in "]}":
            depth -= 1
            if depth <= 0:
                return


def _int(digits: str) -> int:
    # The first digits say enough: no schema asks for more.
    return int(digits[:_LONGEST_INT])


def _float(digits: str) -> float:
    # JSON has no largest number: 1e400 is one, and infinity is not.
    return max(-_LARGEST, min(_LARGEST, float(digits)))


def _refuse(constant: str) -> Any:
    raise JsonError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_int=_int, parse_float=_float, parse_constant=_refuse)
