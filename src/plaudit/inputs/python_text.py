"""Python expressions that a model wrote -> syntax trees and values; nothing is evaluated."""

import ast
import re
from typing import Any

# Python warns of escapes that it does not know, and a later version will refuse them.
_UNKNOWN_ESCAPE = re.compile(r"\\(\\|[^\n'\"abfnrtvxuUN0-7])")


def parse_expression(text: str) -> ast.expr:
    r"""Return the syntax tree of an expression; raise ValueError if it is none.

    >>> ast.unparse(parse_expression(r"f(a='\d')"))
    "f(a='\\\\d')"
    """
    if "\\" in text:
        text = _UNKNOWN_ESCAPE.sub(lambda m: m[0] if m[1] == "\\" else f"\\\\{m[1]}", text)
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # too deep: its limits
        raise ValueError(f"it is no expression: {type(error).__name__}") from error


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
