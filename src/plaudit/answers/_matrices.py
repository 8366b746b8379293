r"""Matrices, and other environments: `\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}`."""

from collections.abc import Callable

from plaudit.answers._tokens import Token
from plaudit.answers._tree import CannotReadError, Node

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
    start = next(place for place, token in enumerate(part) if token.text == r"\begin")
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


def as_matrix(node: Node) -> Node | None:
    """The matrix that a list of lists is: [[1,2],[3,4]]."""
    if node.op != "tuple" or any(row.op != "tuple" for row in node.args):
        return None
    if len({len(row.args) for row in node.args}) > 1:
        return None
    return Node("matrix", tuple(Node("row", row.args) for row in node.args))


def scaled(factor: Node, matrix: Node) -> Node:
    """Each entry times a factor."""
    return Node(
        "matrix",
        tuple(
            Node("row", tuple(Node("mul", (factor, entry)) for entry in row.args))
            for row in matrix.args
        ),
    )


def as_vector(node: Node) -> Node | None:
    """The tuple that a matrix of one row or one column is."""
    if node.op != "matrix":
        return None
    if len(node.args) == 1:
        return Node("tuple", node.args[0].args, "()")
    if all(len(row.args) == 1 for row in node.args):
        return Node("tuple", tuple(row.args[0] for row in node.args), "()")
    return None
