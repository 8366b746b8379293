r"""Whether a number is solved, or the question restated.

`\frac{2}{4}`, `2^3`, `5!/6^5` and `1+\sqrt2` are forms of a number; `2+2`, `12\cdot34`,
`\gcd(12,18)` and `\binom{10}{5}` are calculations that nobody carried out.
"""

from plaudit.answers._numbers import digits_shown
from plaudit.answers._tree import Node, ops, walk
from plaudit.answers._values import exact

LARGEST_FORM = 20
_RESTATED = frozenset(["gcd", "lcm", "max", "min"])
_IRRATIONAL = frozenset(["root", "const"])


def unsolved(node: Node) -> frozenset[str]:
    r"""The operations that were not carried out; empty for a solved number.

    >>> from plaudit.answers._grammar import read_tree
    >>> tree = lambda text: read_tree(text)[0]
    >>> sorted(unsolved(tree("2+2"))), sorted(unsolved(tree(r"\gcd(12,18)")))
    (['sum'], ['gcd'])
    >>> [sorted(unsolved(tree(text))) for text in (r"\frac{2}{4}", r"1+\sqrt2", r"2^3\cdot 3^2")]
    [[], [], []]
    """
    return frozenset(_found(node))


def _found(node: Node) -> set[str]:
    below: set[str] = set()
    for part in node.args:
        below |= _found(part)
    match node.op:
        case "add" if not _has_irrational(node):
            below.add("sum")
        case "mul" if all(_is_plain(factor) for factor in node.args) and not digits_shown(node):
            below.add("product")
        case "fact" if (n := exact(node.args[0])) is not None and n > LARGEST_FORM:
            below.add("factorial")
        case "call" if node.val in _RESTATED:
            below.add(node.val)
        case "big":
            below.add(node.val[0])
        case "binom" | "mod" | "dots" | "floor" | "ceil" | "abs" | "fact2":
            below.add(node.op)
    return below


def _has_irrational(node: Node) -> bool:
    if ops(node) & _IRRATIONAL:
        return True
    return any(part.op == "call" or (part.op == "pow" and _is_root(part)) for part in walk(node))


def _is_root(power: Node) -> bool:
    exponent = exact(power.args[1])
    return exponent is None or exponent.denominator != 1


def _is_plain(factor: Node) -> bool:
    """A plain number, which a product of makes a calculation."""
    if factor.op in ("neg", "group"):
        return _is_plain(factor.args[0])
    return factor.op == "dec" or (factor.op == "num" and factor.val.denominator == 1)
