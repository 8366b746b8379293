"""The condition `when` of a component: the rows that it scores.

when = { task = "math" }                      # a column has a value
when = { task = ["math", "algebra"] }         # or one of several
when = "task == 'math' and level >= 3"        # or an expression over columns
"""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from plaudit.inputs.columns import kind_of, plain, rows_of, same_length

Row = Mapping[str, Any]
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda value, values: value in values,
    ast.NotIn: lambda value, values: value not in values,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ALLOWED = "columns, values, lists, ==, !=, <, <=, >, >=, in, is, and, or, not"


class Condition:
    """A condition over the columns of a row.

    columns: the columns that it reads
    """

    def __init__(self, when: str | Mapping[str, Any]) -> None:
        self.text = when if isinstance(when, str) else ", ".join(map(_shown, when, when.values()))
        if isinstance(when, str):
            self.columns, self._holds = _compiled(when)
        else:
            self.columns, self._holds = tuple(when), _equal(when)

    def rows(self, count: int, columns: Mapping[str, Any]) -> list[int]:
        """Return the indices of the rows for which it holds.

        count: how many rows there are
        columns: those of the batch
        """
        for name in self.columns:
            if name not in columns:
                raise ValueError(
                    f'when: there is no column "{name}"; there is {", ".join(columns)}'
                )
        same_length([None] * count, **{name: columns[name] for name in self.columns})
        lists = [rows_of(columns[name], name) for name in self.columns]
        rows = [
            dict(zip(self.columns, map(plain, row), strict=True))
            for row in zip(*lists, strict=True)
        ]
        return [
            index for index in range(count) if self._checked(index, rows[index] if rows else {})
        ]

    def _checked(self, index: int, row: Row) -> bool:
        try:
            return bool(self._holds(row))
        except TypeError as error:
            raise TypeError(f"when, row {index}: {error}") from error


def check_when(when: object) -> None:
    """Raise ValueError unless it is a condition."""
    if when is None:
        return
    if not isinstance(when, str | Mapping) or not when:
        wanted = "a table of columns and values, or an expression over columns"
        raise ValueError(f"when must be {wanted}, got {when!r:.80}")
    if isinstance(when, Mapping) and not all(isinstance(name, str) for name in when):
        raise ValueError(f"when must name columns, got {when!r:.80}")
    Condition(when)


def _shown(name: str, value: object) -> str:
    return f"{name} is {'one of ' if isinstance(value, list | tuple) else ''}{value!r}"


def _equal(when: Mapping[str, Any]) -> Callable[[Row], bool]:
    def holds(row: Row) -> bool:
        return all(
            row[name] in value if isinstance(value, list | tuple) else row[name] == value
            for name, value in when.items()
        )

    return holds


def _compiled(text: str) -> tuple[tuple[str, ...], Callable[[Row], Any]]:
    """Return the columns of an expression, and the function that evaluates it for a row."""
    try:
        body = ast.parse(text.strip(), mode="eval").body
        return tuple(dict.fromkeys(_names(body))), _function(body)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"when: {text!r:.80} is no expression: {error}") from error


def _names(body: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(body) if isinstance(node, ast.Name)]


def _function(node: ast.expr) -> Callable[[Row], Any]:
    match node:
        case ast.Constant(value=value):
            return lambda _: value
        case ast.Name(id=name):
            return lambda row: row[name]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            inner = [_function(item) for item in items]
            return lambda row: [item(row) for item in inner]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            negated = _function(operand)
            return lambda row: not negated(row)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return lambda _: -number
        case ast.BoolOp(op=kind, values=values):
            parts = [_function(value) for value in values]
            every = all if isinstance(kind, ast.And) else any
            return lambda row: every(part(row) for part in parts)
        case ast.Compare(left=left, ops=kinds, comparators=others):
            return _comparison([_function(one) for one in (left, *others)], kinds)
    raise SyntaxError(f"it may have {_ALLOWED}, and not {ast.unparse(node)!r:.40}")


def _comparison(sides: list[Callable[[Row], Any]], kinds: list[ast.cmpop]) -> Callable[[Row], Any]:
    def holds(row: Row) -> bool:
        values = [side(row) for side in sides]
        return all(
            _compare(kind, *pair) for kind, *pair in zip(kinds, values, values[1:], strict=False)
        )

    return holds


def _compare(kind: ast.cmpop, left: Any, right: Any) -> bool:
    if isinstance(kind, _ORDERED) and (left is None or right is None):
        return False  # a row that lacks the value is not above or below another
    try:
        return bool(_COMPARISONS[type(kind)](left, right))
    except TypeError as error:
        raise TypeError(f"{kind_of(left)} cannot be compared with {kind_of(right)}") from error
