"""Small trees out of tokens and smaller trees."""

from plaudit.answers._tokens import Token
from plaudit.answers._tree import CannotReadError, Digits, Node, number


def bracketed(opening: str, inside: list[Node], closing: str) -> Node:
    """What stands in round or square brackets: a group, a tuple, an interval."""
    if len(inside) == 1 and (opening, closing) in (("(", ")"), ("[", "]")):
        return inside[0] if inside[0].op != "add" else Node("group", (inside[0],))
    if not inside or (len(inside) != 2 and opening + closing not in ("()", "[]")):
        raise CannotReadError("brackets that do not match")
    return Node("tuple", tuple(inside), opening + closing)


def leaf(token: Token) -> Node:
    """The number that a token is."""
    if isinstance(token.value, Digits):
        return Node("dec", (), token.value)
    assert token.value is not None
    return number(token.value)


def negative(node: Node) -> Node:
    """Minus something."""
    if node.op == "num":
        return number(-node.val)
    return Node("neg", (node,))


def joined(total: Node, sign: str, term: Node) -> Node:
    """A sum with one term more."""
    if sign in (r"\pm", r"\mp"):
        return Node("pm", (total, term), sign == r"\mp")
    term = Node("neg", (term,)) if sign == "-" else term
    if total.op == "add":
        return Node("add", (*total.args, term))
    return Node("add", (total, term))


def times(left: Node, right: Node) -> Node:
    """A product with one factor more."""
    if left.op == "mul":
        return Node("mul", (*left.args, right))
    return Node("mul", (left, right))
