"""Quotients of polynomials in a normal form: an exact proof that two of them are the same.

x^2 - 1 is {(("x", 2),): 1, (): -1}: each product of letters with what it is multiplied by.
"""

from fractions import Fraction

from plaudit.answers._budget import spend
from plaudit.answers._tree import Node

Product = tuple[tuple[str, int], ...]
Polynomial = dict[Product, Fraction]
MOST_TERMS = 300
HIGHEST = 24
MOST_BITS = 2000


class _NoPolynomialError(Exception):
    """The tree is no quotient of polynomials, or a large one."""


def same_quotient(one: Node, other: Node) -> bool | None:
    r"""Whether two trees are the same quotient of polynomials; None where one is no such thing.

    >>> from plaudit.answers._grammar import read_tree
    >>> tree = lambda text: read_tree(text)[0]
    >>> same_quotient(tree("(x+1)^2"), tree("x^2+2x+1")), same_quotient(tree("x"), tree("y"))
    (True, False)
    >>> same_quotient(tree(r"\sin x"), tree("x")) is None
    True
    """
    try:
        (top, bottom), (other_top, other_bottom) = _quotient(one), _quotient(other)
        return _times(top, other_bottom) == _times(other_top, bottom)
    except _NoPolynomialError:
        return None


def _quotient(node: Node) -> tuple[Polynomial, Polynomial]:
    one: Polynomial = {(): Fraction(1)}
    match node.op:
        case "num":
            return _constant(node.val), one
        case "dec":
            return _constant(node.val.value), one
        case "sym":
            return {((node.val, 1),): Fraction(1)}, one
        case "group":
            return _quotient(node.args[0])
        case "neg":
            top, bottom = _quotient(node.args[0])
            return {product: -value for product, value in top.items()}, bottom
        case "add":
            total = _quotient(node.args[0])
            for part in node.args[1:]:
                total = _sum(total, _quotient(part))
            return total
        case "mul":
            total = _quotient(node.args[0])
            for part in node.args[1:]:
                top, bottom = _quotient(part)
                total = _times(total[0], top), _times(total[1], bottom)
            return total
        case "div":
            (top, bottom), (under, over) = map(_quotient, node.args)
            if not under:
                raise _NoPolynomialError
            return _times(top, over), _times(bottom, under)
        case "pow":
            return _power(node)
    raise _NoPolynomialError


def _constant(value: Fraction) -> Polynomial:
    if value.numerator.bit_length() + value.denominator.bit_length() > MOST_BITS:
        raise _NoPolynomialError
    return {(): value} if value else {}


def _power(node: Node) -> tuple[Polynomial, Polynomial]:
    base, exponent = node.args
    while exponent.op == "group":
        exponent = exponent.args[0]
    if exponent.op != "num" or exponent.val.denominator != 1 or abs(exponent.val) > HIGHEST:
        raise _NoPolynomialError
    top, bottom = _quotient(base)
    if exponent.val < 0:
        if not top:
            raise _NoPolynomialError
        top, bottom = bottom, top
    result: tuple[Polynomial, Polynomial] = {(): Fraction(1)}, {(): Fraction(1)}
    for _ in range(abs(int(exponent.val))):
        result = _times(result[0], top), _times(result[1], bottom)
    return result


def _sum(
    one: tuple[Polynomial, Polynomial], other: tuple[Polynomial, Polynomial]
) -> tuple[Polynomial, Polynomial]:
    total = _times(one[0], other[1])
    for product, value in _times(other[0], one[1]).items():
        total[product] = total.get(product, Fraction(0)) + value
    return {p: value for p, value in total.items() if value}, _times(one[1], other[1])


def _times(one: Polynomial, other: Polynomial) -> Polynomial:
    if len(one) * len(other) > 10 * MOST_TERMS:
        raise _NoPolynomialError
    spend(5 * len(one) * len(other))
    total: Polynomial = {}
    for left, value in one.items():
        for right, factor in other.items():
            powers = dict(left)
            for name, power in right:
                powers[name] = powers.get(name, 0) + power
            product = tuple(sorted(powers.items()))
            total[product] = _bounded(total.get(product, Fraction(0)) + value * factor)
    if len(total) > MOST_TERMS:
        raise _NoPolynomialError
    return {product: value for product, value in total.items() if value}


def _bounded(value: Fraction) -> Fraction:
    bits = value.numerator.bit_length() + value.denominator.bit_length()
    if bits > 10 * MOST_BITS:
        raise _NoPolynomialError
    spend(bits**2 >> 19)
    return value
