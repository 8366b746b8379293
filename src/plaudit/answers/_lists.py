"""Lists, sets and tuples: their elements, what plus-minus stands for, and names."""

from itertools import product

from plaudit.answers._tree import Node, TooLargeError, ops

MOST_ELEMENTS = 64
_NAME_OPS = frozenset(["sym", "name", "app"])


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
    """The elements of what is a list, a set, or a value with plus-minus; None of anything else."""
    if node.op == "rel" and node.val == ("=",) and node.args[0].op in _NAME_OPS:
        inner = elements(node.args[1])
        if inner is not None and "pm" in ops(node.args[1]):
            return [node._replace(args=(node.args[0], value)) for value in inner]
        return inner
    if node.op == "rel" and node.val == (r"\in",) and node.args[1].op == "set":
        return elements(node.args[1])
    if node.op in ("list", "set"):
        if len(node.args) > MOST_ELEMENTS:
            raise TooLargeError(f"a list of more than {MOST_ELEMENTS} elements")
        found = [value for part in node.args for value in expanded(part)]
        if len(found) == 1 and found[0].op in ("list", "set"):
            return elements(found[0])
        return found
    values = expanded(node)
    return values if len(values) > 1 else None


def named(items: list[Node]) -> dict[str, Node] | None:
    """The values of `x=1, y=2` by their names; None where not all have one of their own."""
    found: dict[str, Node] = {}
    for item in items:
        if item.op != "rel" or item.val != ("=",) or item.args[0].op not in _NAME_OPS:
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
    if node.op in _NAME_OPS:
        return True
    if node.op in ("tuple", "ratio"):
        return all(part.op in _NAME_OPS or _is_applied(part) for part in node.args)
    return node.op == "mul" and all(p.op == "sym" and p.val.isupper() for p in node.args)


def _is_applied(node: Node) -> bool:
    """P(x), which reads as a product of letters."""
    return node.op == "mul" and len(node.args) == 2 and all(p.op == "sym" for p in node.args)
