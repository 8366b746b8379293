r"""Numbers whose last digits repeat: `0.1\overline{6}`."""

from fractions import Fraction
from typing import TYPE_CHECKING

from plaudit.answers._build import leaf
from plaudit.answers._tokens import Token
from plaudit.answers._tree import CannotReadError, Digits, Node, number

if TYPE_CHECKING:
    from plaudit.answers._parser import Parser


def read_number(parser: "Parser", token: Token) -> Node:
    r"""A number, also one whose last digits repeat: 0.1\overline{6}."""
    if parser.peek().text in (r"\overline", r"\bar", r"\dot") and (
        "." in token.text or parser.tokens[parser.at - 1].end < len(token.text)
    ):
        return _with_repeating(parser, token)
    if parser.peek().text == "." and parser.peek(1).text in (r"\overline", r"\bar", r"\dot"):
        parser.at += 1
        return _with_repeating(parser, token)
    return leaf(token)


def _with_repeating(parser: "Parser", token: Token) -> Node:
    digits = ""
    while parser.accept(r"\overline", r"\bar", r"\dot"):
        grouped = parser.accept("{")
        if parser.peek().kind != "num" or not parser.peek().text.isdigit():
            raise CannotReadError("no digits that repeat")
        digits += parser.next().text
        if grouped:
            parser.expect("}")
    _, _, fixed = token.text.partition(".")
    scale = Fraction(1, 10 ** len(fixed))
    value = token.value.value if isinstance(token.value, Digits) else token.value
    assert value is not None
    return number(value + scale * Fraction(int(digits), 10 ** len(digits) - 1))
