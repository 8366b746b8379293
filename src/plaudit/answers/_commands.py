r"""LaTeX commands that are not functions, and environments.

Fractions, roots, brackets, sums, integrals; `\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}`.
"""

from collections.abc import Callable

from plaudit.answers._parser import TreeParser, leaf
from plaudit.answers._tokens import Token
from plaudit.answers._tree import (
    EMPTY,
    CannotReadError,
    Node,
    number,
    renamed,
    symbol,
    walk,
    with_letter_i,
)


def _fraction(parser: TreeParser) -> Node:
    return Node("div", (parser.argument(), parser.argument()))


def _root(parser: TreeParser) -> Node:
    degree = number(2)
    if parser.accept("["):
        degree = parser.expression()
        parser.expect("]")
    if parser.peek().text == "(" and parser.peek(-1).text != "}":
        return Node("root", (parser.primary(), degree))
    return Node("root", (parser.argument(), degree))


def _plain_root(parser: TreeParser) -> Node:
    """The root sign or `sqrt`: it takes brackets, or one whole number or letter."""
    degree = number(2)
    if parser.accept("["):
        degree = parser.expression()
        parser.expect("]")
    if parser.peek().kind == "num":
        return Node("root", (leaf(parser.next()), degree))
    return Node("root", (parser.primary(), degree))


def _cube_root(parser: TreeParser) -> Node:
    return Node("root", (parser.primary(), number(3)))


def _binomial(parser: TreeParser) -> Node:
    return Node("binom", (parser.argument(), parser.argument()))


def _binomial_call(parser: TreeParser) -> Node:
    parser.expect("(")
    numbers = parser.items(")")
    if len(numbers) != 2:
        raise CannotReadError("a binomial takes two numbers")
    return Node("binom", tuple(numbers))


def _named(name: str, closing: str = ")") -> Callable[[TreeParser], Node]:
    def read(parser: TreeParser) -> Node:
        if closing == ")":
            parser.expect("(")
        inner = parser.expression()
        parser.expect(closing)
        return Node(name, (inner,))

    return read


def _angle_brackets(parser: TreeParser) -> Node:
    return Node("tuple", tuple(parser.items(r"\rangle")), "<>")


def _currency(parser: TreeParser) -> Node:
    raise CannotReadError("a currency is no operand")


def _number_set(parser: TreeParser) -> Node:
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


def _big(name: str) -> Callable[[TreeParser], Node]:
    def read(parser: TreeParser) -> Node:
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


def _bound(parser: TreeParser) -> tuple[str, Node]:
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


def _integral(parser: TreeParser, lower: Node, upper: Node) -> Node:
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
    body = renamed(with_letter_i(body) if letter == "i" else body, {letter: symbol(own)})
    return Node("big", (lower, upper, body), (name, own if letter else ""))


def _is_differential(parser: TreeParser, at: int) -> bool:
    following = parser.tokens[at + 1 : at + 2]
    return parser.tokens[at].text == "d" and bool(following) and following[0].kind in ("let", "cmd")


COMMANDS: dict[str, Callable[[TreeParser], Node]] = {
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


# -- Environments

_MATRICES = (
    "matrix",
    "array",
    "bmatrix",
    "pmatrix",
    "vmatrix",
    "Bmatrix",
    "smallmatrix",
    "psmallmatrix",
    "bsmallmatrix",
    "Vmatrix",
)
_MOST_ROWS_OF_DETERMINANT = 3
MOST_ENTRIES = 400


def read_environment(
    part: list[Token],
    read: Callable[[list[Token]], Node],
    read_side: Callable[[list[Token]], Node],
) -> Node:
    """The matrix among the tokens, with the number before it; `read` reads an entry."""
    start = next(index for index, token in enumerate(part) if token.text == r"\begin")
    name, after = _name(part, start + 1)
    if name.removesuffix("*") not in _MATRICES:
        raise CannotReadError(f"an environment {name}")
    end = next((p for p in range(after, len(part)) if part[p].text == r"\end"), -1)
    if end < 0:
        raise CannotReadError("an environment that does not end")
    if name == "array" and part[after].text == "{":
        _, after = _name(part[:end], after)  # which columns it has, {cc}
    matrix = _matrix(part[after:end], read)
    _, rest = _name(part, end + 1)
    before = part[:start]
    barred = name == "vmatrix"
    if before and before[-1].text in ("(", "[", r"\{", "|") and rest < len(part):
        barred |= before[-1].text == "|"
        before, rest = before[:-1], rest + 1
    if barred:
        if before or part[rest:]:
            raise CannotReadError("something beside a determinant")
        return _determinant([list(row.args) for row in matrix.args])
    if part[rest:]:
        return _raised(matrix, part[rest:])
    if not before:
        return matrix
    if before[-1].text in (r"\cdot", r"\times", "*"):
        before = before[:-1]
    if len(before) == 1 and before[0].text == "-":
        return scaled(Node("num", (), -1), matrix)
    return scaled(read_side(before), matrix)


def _name(part: list[Token], at: int) -> tuple[str, int]:
    """What stands in the braces from `at` on, and where they end."""
    close = next((p for p in range(at, len(part)) if part[p].text == "}"), -1)
    if close < 0 or part[at].text != "{":
        raise CannotReadError("an environment without a name")
    return "".join(token.text for token in part[at + 1 : close]), close + 1


def _raised(matrix: Node, rest: list[Token]) -> Node:
    if [token.text for token in rest] in (["^", "T"], ["^", "{", "T", "}"], ["^", r"\top"]):
        columns = zip(*(row.args for row in matrix.args), strict=True)
        return Node("matrix", tuple(Node("row", tuple(column)) for column in columns))
    raise CannotReadError("something after a matrix")


def _matrix(inside: list[Token], read: Callable[[list[Token]], Node]) -> Node:
    rows: list[list[list[Token]]] = [[[]]]
    depth = 0
    for token in inside:
        depth += (token.text in ("{", "(")) - (token.text in ("}", ")"))
        if depth == 0 and token.text == "\\\\":
            rows.append([[]])
        elif depth == 0 and token.text == "&":
            rows[-1].append([])
        else:
            rows[-1][-1].append(token)
    if rows[-1] == [[]]:
        rows.pop()
    if not rows or len({len(row) for row in rows}) > 1 or len(rows) * len(rows[0]) > MOST_ENTRIES:
        raise CannotReadError("rows of several lengths")
    return Node("matrix", tuple(Node("row", tuple(read(cell) for cell in row)) for row in rows))


def _determinant(rows: list[list[Node]]) -> Node:
    """The sum that a determinant is, by its first row."""
    if len(rows) != len(rows[0]) or len(rows) > _MOST_ROWS_OF_DETERMINANT:
        raise CannotReadError("a determinant that is not square, or large")
    if len(rows) == 1:
        return rows[0][0]
    found: list[Node] = []
    for column, entry in enumerate(rows[0]):
        minor = _determinant([row[:column] + row[column + 1 :] for row in rows[1:]])
        product = Node("mul", (entry, minor))
        found.append(Node("neg", (product,)) if column % 2 else product)
    return Node("add", tuple(found))


def scaled(factor: Node, matrix: Node) -> Node:
    """Each entry times a factor."""
    return Node(
        "matrix",
        tuple(
            Node("row", tuple(Node("mul", (factor, entry)) for entry in row.args))
            for row in matrix.args
        ),
    )
