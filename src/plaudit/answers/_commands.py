"""The commands that are no functions: fractions, roots, brackets, sums, integrals."""

from collections.abc import Callable

from plaudit.answers._build import leaf
from plaudit.answers._parser import Parser
from plaudit.answers._tree import EMPTY, CannotReadError, I, Node, number, renamed, symbol, walk


def _fraction(parser: Parser) -> Node:
    return Node("div", (parser.argument(), parser.argument()))


def _root(parser: Parser) -> Node:
    degree = number(2)
    if parser.accept("["):
        degree = parser.expression()
        parser.expect("]")
    if parser.peek().text == "(" and parser.peek(-1).text != "}":
        return Node("root", (parser.primary(), degree))
    return Node("root", (parser.argument(), degree))


def _plain_root(parser: Parser) -> Node:
    """The root sign or `sqrt`: it takes brackets, or one whole number or letter."""
    degree = number(2)
    if parser.accept("["):
        degree = parser.expression()
        parser.expect("]")
    if parser.peek().kind == "num":
        return Node("root", (leaf(parser.next()), degree))
    return Node("root", (parser.primary(), degree))


def _cube_root(parser: Parser) -> Node:
    return Node("root", (parser.primary(), number(3)))


def _binomial(parser: Parser) -> Node:
    return Node("binom", (parser.argument(), parser.argument()))


def _binomial_call(parser: Parser) -> Node:
    parser.expect("(")
    numbers = parser.items(")")
    if len(numbers) != 2:
        raise CannotReadError("a binomial takes two numbers")
    return Node("binom", tuple(numbers))


def _named(name: str, closing: str = ")") -> Callable[[Parser], Node]:
    def read(parser: Parser) -> Node:
        if closing == ")":
            parser.expect("(")
        inner = parser.expression()
        parser.expect(closing)
        return Node(name, (inner,))

    return read


def _angle_brackets(parser: Parser) -> Node:
    return Node("tuple", tuple(parser.items(r"\rangle")), "<>")


def _currency(parser: Parser) -> Node:
    raise CannotReadError("a currency is no operand")


def _number_set(parser: Parser) -> Node:
    braced = parser.accept("{")
    name = parser.next().text
    if not name.isalpha():
        raise CannotReadError("no set of numbers")
    if braced:
        parser.expect("}")
    sign = ""
    if parser.peek().text in ("^", "_"):
        parser.at += 1
        grouped = parser.accept("{")
        while parser.peek().text in ("+", "-", "*", ">", "<", "0", r"\ge", r"\le", r"\ne"):
            sign += parser.next().text
        if grouped:
            parser.expect("}")
        if not sign:
            raise CannotReadError("a power of a set")
    return Node("numbers", (), name + sign)


def _big(name: str) -> Callable[[Parser], Node]:
    def read(parser: Parser) -> Node:
        lower, upper, variable = EMPTY, EMPTY, ""
        for _ in range(2):
            if parser.accept("_"):
                variable, lower = _bound(parser)
            elif parser.accept("^"):
                upper = parser.argument()
        if name != "int":
            return _bound_by(name, variable, lower, upper, parser.term())
        return _integral(parser, lower, upper)

    return read


def _bound(parser: Parser) -> tuple[str, Node]:
    """The lower limit: of a sum with its letter, k=1; of an integral without."""
    if parser.peek().text != "{":
        return "", parser.argument()
    parser.expect("{")
    variable = ""
    if parser.peek().kind == "let" and parser.peek(1).text in ("=", r"\to"):
        variable = parser.next().text
        parser.next()
    lower = parser.expression()
    parser.expect("}")
    return variable, lower


def _integral(parser: Parser, lower: Node, upper: Node) -> Node:
    end = parser.at
    while not (parser.tokens[end : end + 1] == [] or _is_differential(parser, end)):
        end += 1
    if end >= len(parser.tokens):
        raise CannotReadError("an integral without its letter")
    body = type(parser)([*parser.tokens[parser.at : end]])
    inner = body.expression() if body.tokens else number(1)
    if not body.done():
        raise CannotReadError("an integral that cannot be read")
    variable = parser.tokens[end + 1].text
    parser.at = end + 2
    return _bound_by("int", variable, lower, upper, inner)


def _bound_by(name: str, letter: str, lower: Node, upper: Node, body: Node) -> Node:
    """The operator with its letter renamed, so that its name makes no difference."""
    own = f"bound {sum(part.op == 'big' for part in walk(body))}"
    body = renamed(_with_letter_i(body) if letter == "i" else body, {letter: symbol(own)})
    return Node("big", (lower, upper, body), (name, own if letter else ""))


def _with_letter_i(node: Node) -> Node:
    r"""The tree with i as a letter: the index of \\sum_{i=1}^n i."""
    if node == I:
        return symbol("i")
    return node._replace(args=tuple(map(_with_letter_i, node.args))) if node.args else node


def _is_differential(parser: Parser, at: int) -> bool:
    following = parser.tokens[at + 1 : at + 2]
    return parser.tokens[at].text == "d" and bool(following) and following[0].kind in ("let", "cmd")


COMMANDS: dict[str, Callable[[Parser], Node]] = {
    r"\frac": _fraction,
    r"\sqrt": _root,
    r"\usqrt": _plain_root,
    r"\cbrt": _cube_root,
    r"\binom": _binomial,
    r"\binomial": _binomial_call,
    r"\abs": _named("abs"),
    r"\factorial": _named("fact"),
    r"\floor": _named("floor"),
    r"\ceil": _named("ceil"),
    r"\lfloor": _named("floor", r"\rfloor"),
    r"\lceil": _named("ceil", r"\rceil"),
    r"\langle": _angle_brackets,
    r"\mathbb": _number_set,
    r"\sum": _big("sum"),
    r"\prod": _big("prod"),
    r"\int": _big("int"),
    r"\lim": _big("lim"),
    r"\euro": _currency,
}
