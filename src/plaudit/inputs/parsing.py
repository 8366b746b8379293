"""JSON and Python that a model or a dataset wrote -> values and syntax trees; nothing is evaluated.

JSON is read by RFC 8259 and within limits. Python's own reader takes NaN, refuses whole numbers of
more than 4,300 digits, and nests only as deep as the stack of its caller allows. Of two equal keys,
the last counts, as for most readers.
"""

import ast
import os
import re
import sys
import threading
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from json import JSONDecoder

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
    """Return the value of a text that is JSON and nothing else but white space."""
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
        value, end = _decoder().raw_decode(text, start)
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


@cache
def _decoder() -> "JSONDecoder":
    from json import JSONDecoder  # few rewards need it

    return JSONDecoder(parse_int=_int, parse_float=_float, parse_constant=_refuse)


# Python warns of escapes that it does not know, and a later version will refuse them.
_UNKNOWN_ESCAPE = re.compile(r"\\(\\|[^\n'\"abfnrtvxuUN0-7])")
# Python 3.11 was seen to raise SystemError ("AST constructor recursion depth mismatch") for a good
# text that was parsed in one of several threads. Threads of a user may parse as well: hence the
# further tries.
_parsing = threading.Lock()
_TRIES = 5


def _unlock_in_child() -> None:
    """Have a forked process a lock of its own: a thread of the parent may hold the other."""
    global _parsing
    _parsing = threading.Lock()


os.register_at_fork(after_in_child=_unlock_in_child)


def syntax_tree(text: str, mode: str = "exec") -> Any:
    """Return what `ast.parse` returns, in any thread; raise ValueError if it is no Python."""
    fault = ""
    for _ in range(_TRIES):
        try:
            with _parsing:
                return ast.parse(text, mode=mode)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ValueError(str(error) or type(error).__name__) from error
        except SystemError as error:
            fault = str(error)
    raise ValueError(f"it cannot be parsed: {fault}")


def parse_expression(text: str) -> ast.expr:
    r"""Return the syntax tree of an expression; raise ValueError if it is none."""
    if "\\" in text:
        text = _UNKNOWN_ESCAPE.sub(lambda m: m[0] if m[1] == "\\" else f"\\\\{m[1]}", text)
    body: ast.expr = syntax_tree(text, "eval").body
    return body


def read_literal(text: str) -> Any:
    """Return the value of a literal; raise ValueError if it is none."""
    return literal_value(parse_expression(text))


def literal_value(node: ast.expr) -> Any:
    """Return the value of the tree of a literal; raise ValueError if it is none."""
    try:
        return ast.literal_eval(node)
    except (TypeError, RecursionError, MemoryError) as error:  # such as a list as a key
        raise ValueError(f"it is no literal: {error}") from error
