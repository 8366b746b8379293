r"""What a formula says, as a tree.

`\frac{x}{2} + 0.5` is

    Node("add", (Node("div", (symbol("x"), number(2))), Node("dec", (), Decimal(1/2, 1 digit))))
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

DEEPEST = 120


class CannotReadError(Exception):
    """The text is no formula that can be read here; it may be a text, or broken."""


class TooLargeError(Exception):
    """A number that nobody should compute."""


class Node(NamedTuple):
    """One operation: its name, what it is applied to, and what a leaf or a name holds."""

    op: str
    args: tuple["Node", ...] = ()
    val: Any = None


class Digits(NamedTuple):
    """A number that was written with a decimal point: its value, and how many digits are shown.

    place: the exponent of the last digit: -2 for 0.25
    """

    value: Fraction
    significant: int
    place: int


def number(value: int | Fraction) -> Node:
    """A leaf that holds an exact number.

    >>> number(2).val
    Fraction(2, 1)
    """
    return Node("num", (), Fraction(value))


def symbol(name: str) -> Node:
    """A letter, with its index if it has one.

    >>> symbol("x_1")
    Node(op='sym', args=(), val='x_1')
    """
    return Node("sym", (), name)


PI = Node("const", (), "pi")
E = Node("const", (), "e")
I = Node("const", (), "i")  # noqa: E741
INFINITY = Node("const", (), "inf")
EMPTY = Node("empty")


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it.

    >>> [below.op for below in walk(Node("neg", (number(1),)))]
    ['neg', 'num']
    """
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(top.args)


def ops(node: Node) -> set[str]:
    """The names of all operations in a tree.

    >>> sorted(ops(Node("neg", (number(1),))))
    ['neg', 'num']
    """
    return {below.op for below in walk(node)}


def letters(node: Node) -> frozenset[str]:
    """The names of the free letters of a tree.

    >>> sorted(letters(Node("add", (symbol("x"), symbol("y")))))
    ['x', 'y']
    """
    found: set[str] = set()
    stack: list[tuple[Node, frozenset[str]]] = [(node, frozenset())]
    while stack:
        top, bound = stack.pop()
        if top.op == "sym" and top.val not in bound:
            found.add(top.val)
        elif top.op == "app":
            found.add(f"{top.val}()")
        if top.op == "big":
            bound = bound | {top.val[1]}
        stack.extend((below, bound) for below in top.args)
    return frozenset(found)


def renamed(node: Node, names: dict[str, Node]) -> Node:
    """The tree with letters put in for others.

    >>> renamed(symbol("x"), {"x": number(3)}).val
    Fraction(3, 1)
    """
    if node.op == "sym":
        return names.get(node.val, node)
    if not node.args:
        return node
    return node._replace(args=tuple(renamed(below, names) for below in node.args))


def check_depth(node: Node) -> None:
    """Raise where a tree is so deep that walking down it is not safe."""
    level, depth = [node], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise TooLargeError(f"nested more than {DEEPEST} deep")
        level = [below for one in level for below in one.args]
