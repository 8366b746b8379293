"""Lists, sets and tuples: their elements, and what plus-minus stands for."""

from itertools import product

from plaudit.answers._named import NAME_OPS
from plaudit.answers._tree import Node, TooLargeError, ops

MOST_ELEMENTS = 64


def expanded(node: Node) -> list[Node]:
    r"""The values that a value with plus-minus stands for, both signs of one value together.

    >>> from plaudit.answers._grammar import read_tree
    >>> [len(expanded(read_tree(text)[0])) for text in (r"1\pm\sqrt{2}", r"(\pm1,\pm2)")]
    [2, 4]
    """
    if "pm" not in ops(node):
        return [node]
    if node.op in ("tuple", "list", "set"):
        choices = [expanded(part) for part in node.args]
        count = 1
        for choice in choices:
            count *= len(choice)
        if count > MOST_ELEMENTS:
            raise TooLargeError("too many signs")
        if node.op == "tuple":
            return [node._replace(args=parts) for parts in product(*choices)]
        flat = tuple(value for choice in choices for value in choice)
        return [node._replace(args=flat)]
    return [_signed(node, upper) for upper in (True, False)]


def _signed(node: Node, upper: bool) -> Node:
    args = tuple(_signed(part, upper) for part in node.args)
    if node.op != "pm":
        return node._replace(args=args)
    positive = upper != bool(node.val)
    if len(args) == 1:
        return args[0] if positive else Node("neg", args)
    return Node("add", (args[0], args[1] if positive else Node("neg", (args[1],))))


def elements(node: Node) -> list[Node] | None:
    """The elements of a list, a set or a value with plus-minus; None where it is anything else."""
    if node.op == "rel" and node.val == ("=",) and node.args[0].op in NAME_OPS:
        inner = elements(node.args[1])
        if inner is not None and "pm" in ops(node.args[1]):
            return [node._replace(args=(node.args[0], value)) for value in inner]
        return inner
    if node.op in ("list", "set"):
        if len(node.args) > MOST_ELEMENTS:
            raise TooLargeError(f"a list of more than {MOST_ELEMENTS} elements")
        found = [value for part in node.args for value in expanded(part)]
        if len(found) == 1 and found[0].op in ("list", "set"):
            return elements(found[0])
        return found
    values = expanded(node)
    return values if len(values) > 1 else None


def elements_of_equation(node: Node) -> list[Node]:
    """The equations that a list, or one with plus-minus, stands for."""
    if node.op == "list":
        return [branch for item in node.args for branch in elements_of_equation(item)]
    if node.op == "rel" and "pm" in ops(node):
        return [
            node._replace(args=tuple(_signed(side, upper) for side in node.args))
            for upper in (True, False)
        ]
    return [node]
