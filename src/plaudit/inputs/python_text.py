"""Python that a model or a dataset wrote -> syntax trees and values; nothing is evaluated."""

import ast
import os
import re
import threading
from typing import Any

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
    """Return what `ast.parse` returns, in any thread; raise ValueError if it is no Python.

    >>> len(syntax_tree("a = 1; b = 2").body)
    2
    """
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
    r"""Return the syntax tree of an expression; raise ValueError if it is none.

    >>> ast.unparse(parse_expression(r"f(a='\d')"))
    "f(a='\\\\d')"
    """
    if "\\" in text:
        text = _UNKNOWN_ESCAPE.sub(lambda m: m[0] if m[1] == "\\" else f"\\\\{m[1]}", text)
    body: ast.expr = syntax_tree(text, "eval").body
    return body


def read_literal(text: str) -> Any:
    """Return the value of a literal; raise ValueError if it is none.

    >>> read_literal("{'answer': (1, None)}")
    {'answer': (1, None)}
    """
    return literal_value(parse_expression(text))


def literal_value(node: ast.expr) -> Any:
    """Return the value of the tree of a literal; raise ValueError if it is none."""
    try:
        return ast.literal_eval(node)
    except (TypeError, RecursionError, MemoryError) as error:  # such as a list as a key
        raise ValueError(f"it is no literal: {error}") from error
