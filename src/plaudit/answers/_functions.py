r"""Functions and their arguments: `\sin^2 2x`, `\log_2 8`, `\gcd(12, 18)`."""

from typing import TYPE_CHECKING

from plaudit.answers._build import negative, times
from plaudit.answers._tree import CannotReadError, Node, number
from plaudit.answers._vocabulary import CANONICAL, FUNCTION_COMMANDS

if TYPE_CHECKING:
    from plaudit.answers._parser import Parser

_STARTS = frozenset(["(", "[", "{", r"\{", "|"])
_MULTI = frozenset([r"\gcd", r"\lcm", r"\max", r"\min"])
_LOGARITHMS = frozenset([r"\ln", r"\log", r"\lg"])
_INVERSES = {name: "arc" + name for name in "sin cos tan cot sec csc sinh cosh tanh".split()}


def read_call(parser: "Parser", name: str) -> Node:
    """The function of this name, applied to what follows."""
    function = CANONICAL.get(name, name[1:])
    base: Node | None = None
    exponent: Node | None = None
    for _ in range(2):
        if parser.peek().text == "_":
            parser.at += 1
            base = parser.argument()
        elif parser.peek().text == "^":
            parser.at += 1
            exponent = parser.exponent()
    args = _arguments(parser, name)
    if function == "log" and base is not None:
        call = Node("call", (*args, base), "log")
    elif base is not None:  # \sup_n a_n: a function that is known by its name alone, as f(x) is
        call = Node("app", (*args, base), f"{function}_")
    else:
        call = Node("call", tuple(args), function)
    return _raised_call(call, exponent)


def _arguments(parser: "Parser", name: str) -> list[Node]:
    if parser.peek().text == "(" or (parser.peek().text in ("[", r"\{") and name in _MULTI):
        opening = parser.next().text
        bars, parser.bars = parser.bars, 0
        inside = parser.items({"(": ")", "[": "]"}.get(opening, r"\}"))
        parser.bars = bars
        if name not in _MULTI and len(inside) != 1:
            raise CannotReadError(f"{name} takes one argument")
        if name in _LOGARITHMS and inside[0].op == "add" and parser.peek().text == "^":
            return [parser.power(Node("group", (inside[0],)))]  # \ln (x+1)^2
        return [parser.power(inside[0])] if parser.peek().text in ("!", "%") else inside
    if parser.accept("-"):
        return [negative(_bare_argument(parser))]
    return [_bare_argument(parser)]


def _bare_argument(parser: "Parser") -> Node:
    r"""The argument of a function without brackets: \sin 2x, \ln\frac{x}{2}."""
    argument = parser.power(parser.primary())
    while True:
        token = parser.peek()
        if not parser.begins_operand(token) or token.text in FUNCTION_COMMANDS:
            return argument
        if token.text in _STARTS or token.kind == "txt":
            return argument
        argument = times(argument, parser.power(parser.primary()))


def _raised_call(call: Node, exponent: Node | None) -> Node:
    if exponent is None:
        return call
    if exponent == number(-1) and call.val in _INVERSES:
        return call._replace(val=_INVERSES[call.val])
    return Node("pow", (call, exponent))
