"""What a gold is: number, percent, quantity, angle, interval, list, …"""

from difflib import get_close_matches

from plaudit.answers._intervals import says_interval
from plaudit.answers._lists import elements
from plaudit.answers._named import without_name
from plaudit.answers._tree import Node, letters

KINDS = (
    "number", "percent", "quantity", "angle", "base", "ratio", "time", "expression", "equation",
    "interval", "list", "tuple", "matrix", "choice", "text",
)  # fmt: skip
_BY_OP = {"pct": "percent", "unit": "quantity", "deg": "angle", "base": "base", "ratio": "ratio"}
_BY_OP |= {"tuple": "tuple", "matrix": "matrix", "empty": "text", "list": "list", "set": "list"}


def check_kind(kind: str | None) -> None:
    """Raise where a kind is not known.

    >>> check_kind("number")
    """
    if kind is None or kind in KINDS:
        return
    near = get_close_matches(str(kind), KINDS, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise ValueError(f"kind must be one of {', '.join(KINDS)} or None, got {kind!r}.{hint}")


def kind_of(node: Node) -> str:
    r"""The kind of a tree.

    >>> from plaudit.answers._grammar import read_tree
    >>> [kind_of(read_tree(text)[0]) for text in ("5", r"25\%", "(1,2]", "y=2x+1", r"\pm 3")]
    ['number', 'percent', 'interval', 'equation', 'list']
    """
    if says_interval(node):
        return "interval"
    if node.op == "group":
        return kind_of(node.args[0])
    if elements(node) is not None:
        return "list"
    if node.op == "rel":
        value = without_name(node)
        if value is not node and not letters(value):
            return kind_of(value)
        return "equation"
    return _BY_OP.get(node.op) or ("expression" if letters(node) else "number")
