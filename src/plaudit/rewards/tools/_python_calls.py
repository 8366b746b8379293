"""Calls as Python writes them, `f(a=1)`, read from the syntax tree: nothing is evaluated."""

import ast
from dataclasses import dataclass, field
from typing import Any

from plaudit.inputs.parsing import parse_expression

_NO_MARKDOWN = str.maketrans({"`": " ", "\n": " "})
_CONSTANTS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the function's name, and its arguments by name and by position.

    problem: why the call cannot be executed; "" if it can
    is_text: whether the format writes every value as text, to be read by its schema
    """

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    positional: tuple[Any, ...] = ()
    problem: str = ""
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that is no literal: a call, or code that only evaluation could tell."""

    text: str
    call: Call | None = None


def python_value(source: str) -> Any:
    """Return the value of a literal, calls in it as `Expression`; None if it is not Python.

    >>> python_value("[1, {'a': -2.5}]")
    [1, {'a': -2.5}]
    >>> python_value("f(a=1)").call.arguments
    {'a': 1}
    """
    # Once more without what Markdown adds, and without line breaks inside of quotes.
    for attempt in dict.fromkeys((source.strip(), source.strip().translate(_NO_MARKDOWN))):
        try:
            return _value(parse_expression(attempt))
        except (ValueError, RecursionError):
            pass
    return None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=str() | int() | float() | bool() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant(value=number)):
            if isinstance(number, int | float):
                return -number if isinstance(sign, ast.USub) else number
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values) if all(isinstance(k, ast.Constant) for k in keys):
            return {
                str(_value(key)): _value(value)
                for key, value in zip(keys, values, strict=True)
                if key is not None
            }
        case ast.Name(id=name):
            return _CONSTANTS.get(name, Expression(name))
        case ast.Call():
            return Expression(ast.unparse(node), _call(node))
        case _:
            pass
    return Expression(ast.unparse(node))


def _call(node: ast.Call) -> Call | None:
    name = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
    if name == "print" and len(node.args) == 1 and not node.keywords:  # Gemini's tool_code
        inner = _value(node.args[0])
        return inner.call if isinstance(inner, Expression) else None
    if not name or not name.replace(".", "").isidentifier():
        return None
    arguments = {word.arg: _argument(word.value) for word in node.keywords if word.arg}
    positional = tuple(_argument(one) for one in node.args)
    unpacked = any(word.arg is None for word in node.keywords)
    if unpacked or len(arguments) + unpacked < len(node.keywords):
        return Call(name, problem="its arguments are unpacked or repeated")
    return Call(name, arguments, positional)


def _argument(node: ast.expr) -> Any:
    """Return the value of an argument; a bare name is text, as models leave out the quotes."""
    value = _value(node)
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(value, Expression):
        return value.text
    return value
