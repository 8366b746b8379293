r"""Vectors by unit vectors: `2\mathbf i-3\mathbf j` is the tuple (2,-3)."""

from fractions import Fraction

from plaudit.answers._tree import I, Node, letters, number, renamed, symbol
from plaudit.answers._values import exact


def unit_vector(node: Node) -> Node | None:
    r"""The tuple of what stands before i, j and k; None where it is no such sum.

    >>> from plaudit.answers._grammar import read_tree
    >>> [str(part.val) for part in unit_vector(read_tree("2i-3j")[0]).args]
    ['2', '-3']
    """
    names = letters(node)
    if "j" not in names or not names <= {"j", "k"} or node.op not in ("add", "neg", "mul"):
        return None
    free = _with_letter(node)
    axes = ["i", "j", "k"] if "k" in names else ["i", "j"]
    if _at(free, dict.fromkeys(axes, 0)) != 0:
        return None
    parts = [_at(free, {name: int(name == axis) for name in axes}) for axis in axes]
    if any(part is None for part in parts):
        return None
    twice = _at(free, dict.fromkeys(axes, 2))
    known = [part for part in parts if part is not None]
    if twice != 2 * sum(known, Fraction(0)):
        return None
    return Node("tuple", tuple(number(part) for part in known), "()")


def _with_letter(node: Node) -> Node:
    if node == I:
        return symbol("i")
    return node._replace(args=tuple(_with_letter(part) for part in node.args))


def _at(node: Node, values: dict[str, int]) -> Fraction | None:
    return exact(renamed(node, {name: number(value) for name, value in values.items()}))
