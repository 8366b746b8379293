"""A tree in, and out comes a simpler one that says the same: no brackets, point names or units."""

from plaudit.answers._tree import EMPTY, Node, letters, number, symbol

NO_NUMBER = frozenset(
    "tuple set list rel cup cap setminus builder numbers matrix row base ratio empty name".split()
)


def simplified(node: Node) -> Node:
    """The tree without what only groups or names it; 2(1,3) is the tuple (2,6).

    >>> simplified(Node("group", (symbol("x"),)))
    Node(op='sym', args=(), val='x')
    """
    while node.op == "group":
        node = node.args[0]
    if node.op == "builder":
        node = _family_described(node)
    if node.op == "rel" and node.val == (r"\in",) and node.args[1].op in ("set", "empty"):
        node = node.args[1]
    if node.op == "set" and not node.args:
        return EMPTY
    if node.op == "mul" and node.args[-1].op == "tuple":
        return _scaled_tuple(node)
    return node


def _family_described(node: Node) -> Node:
    r"""The family that a set describes: \{x \mid x = k\pi, k \in \mathbb{Z}\} is x = k\pi."""
    what, condition = node.args
    first, *others = condition.args if condition.op == "list" else (condition,)
    integers = Node("numbers", (), "Z")
    is_family = (
        first.op == "rel"
        and first.val == ("=",)
        and first.args[0] == what
        and len(others) == 1
        and others[0].op == "rel"
        and others[0].args[-1] == integers
    )
    return first if is_family else node


def _scaled_tuple(node: Node) -> Node:
    *factors, entries = node.args
    if len(factors) == 1 and factors[0].op == "sym" and factors[0].val[:1].isupper():
        return entries  # a point's name
    if any(factor.op in NO_NUMBER for factor in factors):
        return node
    return entries._replace(args=tuple(Node("mul", (*factors, entry)) for entry in entries.args))


def with_binomial(gold: Node, answer: Node) -> Node:
    """C(n,2) as a binomial coefficient, where the gold is no tuple and no point."""
    node = answer
    if gold.op in NO_NUMBER or node.op != "mul" or len(node.args) != 2:
        return answer
    name, pair = node.args
    is_binomial = name == symbol("C") and pair.op == "tuple" and len(pair.args) == 2
    return Node("binom", pair.args) if is_binomial else answer


def spelt_out(equation: Node, other: Node) -> Node:
    """An equation whose left side reads as one name, PV, as a product of the other's letters."""
    first = equation.args[0]
    if first.op != "name" or not str(first.val).isalpha() or not set(first.val) <= letters(other):
        return equation
    product = Node("mul", tuple(symbol(letter) for letter in first.val))
    return equation._replace(args=(product, *equation.args[1:]))


def without_unit(node: Node) -> Node:
    """A quantity without its unit."""
    return node.args[0] if node.op == "unit" else node


def terms(node: Node) -> list[Node] | None:
    """The terms of a ratio; a number is a ratio to one. None where it is neither."""
    if node.op == "ratio":
        return list(node.args)
    if node.op in NO_NUMBER:
        return None
    return [node, number(1)]
