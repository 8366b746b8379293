"""Values with names: `x = 5`, `f(x) = x^2`, `x = 1, y = 2`."""

import re
from itertools import permutations

from plaudit.answers._tree import Node, letters, renamed, symbol

NAME_OPS = frozenset(["sym", "name", "app"])
_MOST_ORDERED = 4
_ARGUMENT = re.compile(r"\(([a-z])\)$")


def named(items: list[Node]) -> dict[str, Node] | None:
    """The values of `x=1, y=2` by their names; None where not all have one of their own."""
    found: dict[str, Node] = {}
    for item in items:
        if item.op != "rel" or item.val != ("=",) or item.args[0].op not in NAME_OPS:
            return None
        left = item.args[0]
        name = str(left.val) if left.op != "app" else str(left)
        if name in found:
            return None
        found[name] = item.args[1]
    return found


def without_name(node: Node) -> Node:
    """The value of `x = 5`, and of a tuple of names: `(x,y) = (1,2)`."""
    if node.op == "rel" and len(node.args) > 1 and set(node.val) <= {"=", r"\approx"}:
        first = node.args[0]
        if is_name(first):
            rest = node.args[1:]
            return rest[0] if len(rest) == 1 else Node("rel", rest, node.val[1:])
    return node


def is_name(node: Node) -> bool:
    """Whether it stands for a value without saying it: a letter, f(x), (x,y), x:y:z."""
    if node.op in NAME_OPS:
        return True
    if node.op in ("tuple", "ratio"):
        return all(part.op in NAME_OPS or _is_applied(part) for part in node.args)
    if node.op == "matrix":
        return all(entry.op in NAME_OPS for row in node.args for entry in row.args)
    return node.op == "mul" and all(p.op == "sym" and p.val.isupper() for p in node.args)


def _is_applied(node: Node) -> bool:
    """P(x), which reads as a product of letters."""
    return node.op == "mul" and len(node.args) == 2 and all(p.op == "sym" for p in node.args)


def is_letter(node: Node) -> bool:
    """Whether it is one letter, or a letter applied to something."""
    return node.op in ("sym", "name", "app")


def names_agree(mine: Node, yours: Node) -> bool:
    """Whether the names before two values can be of the same thing."""
    if mine == yours or mine.op != "sym" or yours.op != "sym":
        return True
    return not {mine.val, yours.val} <= {"x", "y", "z"}


def names_differ(values: dict[str, Node]) -> bool:
    """Whether the names are of several things, and not x_1 and x_2 of one."""
    return len({name.partition("_")[0] for name in values}) == len(values)


def with_argument(value: Node, name: Node, wanted: Node) -> Node:
    """The value of f(x) = x with the letter of f(z) in place of its own."""
    mine, yours = _ARGUMENT.search(str(wanted.val)), _ARGUMENT.search(str(name.val))
    if name.op != "name" or wanted.op != "name" or not mine or not yours or mine[1] == yours[1]:
        return value
    return renamed(value, {yours[1]: symbol(mine[1])})


def are_equations(items: list[Node]) -> bool:
    """Whether a list is one of equations, and not of values with names."""
    return all(item.op == "rel" for item in items) and any(
        not is_name(item.args[0]) or letters(item.args[1]) for item in items
    )


def order_of(values: dict[str, Node], question: str) -> list[str]:
    """The order of named values: that of the question's tuple, or the alphabet's."""
    compact = question.replace(" ", "")
    names = sorted(values)
    orders = permutations(names) if len(names) <= _MOST_ORDERED else (names, list(values))
    for order in orders:
        listed = ",".join(order)
        if any(opening + listed in compact for opening in ("(", r"\left(", r"\langle")):
            return list(order)
    return names
