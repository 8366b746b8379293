r"""The tree of a formula.

`\frac{x}{2} + 0.5` is

    Node("add", (Node("div", (symbol("x"), number(2))), Node("dec", (), Digits(1/2, 1, -1))))
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product
from typing import Any, NamedTuple

DEEPEST = 120
INEQUALITIES = frozenset(["<", ">", r"\le", r"\ge", r"\ne"])


class CannotReadError(Exception):
    """The text is not a formula that can be read."""


class TooLargeError(Exception):
    """It would take too long to read or to compute."""


class Node(NamedTuple):
    """One operation: its name, its arguments, and the value of a leaf."""

    op: str
    args: tuple["Node", ...] = ()
    val: Any = None


class Digits(NamedTuple):
    """A number that was written with a decimal point: its value, and how many digits are shown.

    exponent: the power of ten of the last digit: -2 for 0.25
    """

    value: Fraction
    significant: int
    exponent: int


class Conditions(NamedTuple):
    """What an answer says besides its value.

    integers: the letters that run over the integers, such as k in `k \\in \\mathbb{Z}`
    words: words that limit the answer further
    """

    integers: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()


def number(value: int | Fraction) -> Node:
    """A leaf that holds an exact number."""
    return Node("num", (), Fraction(value))


def symbol(name: str) -> Node:
    """A letter, with its index if it has one."""
    return Node("sym", (), name)


PI = Node("const", (), "pi")
E = Node("const", (), "e")
I = Node("const", (), "i")  # noqa: E741
INFINITY = Node("const", (), "inf")
EMPTY = Node("empty")


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(top.args)


def ops(node: Node) -> set[str]:
    """The names of all operations in a tree."""
    return {below.op for below in walk(node)}


def letters(node: Node) -> frozenset[str]:
    """The names of the free letters of a tree."""
    found: set[str] = set()
    stack = [node]
    while stack:
        top = stack.pop()
        if top.op == "sym":
            found.add(top.val)
        elif top.op == "big":
            found |= frozenset().union(*map(letters, top.args)) - {top.val[1]}
            continue
        elif top.op == "app":
            found.add(f"{top.val}()")
        stack += top.args
    return frozenset(found)


def renamed(node: Node, names: dict[str, Node]) -> Node:
    """The tree with letters replaced by other trees."""
    if node.op == "sym":
        return names.get(node.val, node)
    if not node.args:
        return node
    return node._replace(args=tuple(renamed(below, names) for below in node.args))


def with_letter_i(node: Node) -> Node:
    r"""The tree with i as a letter: the index of \sum_{i=1}^n i, the unit vector of 2i-3j."""
    if node == I:
        return symbol("i")
    return node._replace(args=tuple(map(with_letter_i, node.args))) if node.args else node


def check_depth(node: Node) -> None:
    """Raise if a tree is so deep that walking down it is not safe."""
    level, depth = [node], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise TooLargeError(f"nested more than {DEEPEST} deep")
        level = [below for one in level for below in one.args]


# -- Values with names: x = 5, f(x) = x^2, (x,y) = (1,2)

NAME_OPS = frozenset(["sym", "name", "app"])
_MOST_ORDERED = 4
_ARGUMENT = re.compile(r"\(([a-z])\)$")


def named_values(items: list[Node]) -> dict[str, Node] | None:
    """The values of `x=1, y=2` by their names; None if not all have one of their own."""
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
    """The value of f(x) = x with the letter of f(z) instead of its own."""
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


# -- Simpler trees with the same meaning

NO_NUMBER = frozenset(
    "tuple set list rel cup cap setminus builder numbers matrix row base ratio empty name".split()
)


def simplified(node: Node) -> Node:
    """The tree without what only groups or names it; 2(1,3) is the tuple (2,6)."""
    while node.op == "group":
        node = node.args[0]
    if node.op == "builder":
        node = _family_of_builder(node)
    if node.op == "rel" and node.val == (r"\in",) and node.args[1].op in ("set", "empty"):
        node = node.args[1]
    if node.op == "set" and not node.args:
        return EMPTY
    if node.op == "mul" and node.args[-1].op == "tuple":
        return _scaled_tuple(node)
    return node


def _family_of_builder(node: Node) -> Node:
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
    """C(n,2) as a binomial coefficient, if the gold is a number or an expression."""
    node = answer
    if gold.op in NO_NUMBER or node.op != "mul" or len(node.args) != 2:
        return answer
    name, pair = node.args
    is_binomial = name == symbol("C") and pair.op == "tuple" and len(pair.args) == 2
    return Node("binom", pair.args) if is_binomial else answer


def with_product_of_letters(equation: Node, other: Node) -> Node:
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
    """The terms of a ratio; a number is a ratio to one. None if it is neither."""
    if node.op == "ratio":
        return list(node.args)
    if node.op in NO_NUMBER:
        return None
    return [node, number(1)]


# -- Elements of lists and sets

MOST_ELEMENTS = 64


def expanded(node: Node) -> list[Node]:
    r"""The values that a value with plus-minus stands for, both signs of one value together."""
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
    """The elements of a list, a set or a value with plus-minus; None if it is anything else."""
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


# -- Vectors and matrices


def as_matrix(node: Node) -> Node | None:
    """The matrix that a list of lists is: [[1,2],[3,4]]."""
    if node.op != "tuple" or any(row.op != "tuple" for row in node.args):
        return None
    if len({len(row.args) for row in node.args}) > 1:
        return None
    return Node("matrix", tuple(Node("row", row.args) for row in node.args))


def as_vector(node: Node) -> Node | None:
    """The tuple that a matrix of one row or one column is."""
    if node.op != "matrix":
        return None
    if len(node.args) == 1:
        return Node("tuple", node.args[0].args, "()")
    if all(len(row.args) == 1 for row in node.args):
        return Node("tuple", tuple(row.args[0] for row in node.args), "()")
    return None
