r"""LaTeX in normal form -> a `MathObject`: an expression, a pair, a list, an equation of such.

Most answers that are not plain numbers are sums of products of numbers, letters, π and square
roots, or made of such sums. What the grammar here does not know is left undecided, and so is what
math-verify reads in its own way: `2(3)` as 5, `x(y)` as a function, `e` as a number.
"""

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from plaudit.judge.exact._polynomials import (
    ONE,
    Polynomial,
    UndecidedError,
    add,
    inverse,
    is_number,
    multiply,
    root,
    scale,
)

GREEK = ("alpha", "beta", "theta", "lambda", "mu", "rho", "sigma", "phi", "omega")
TOKEN = re.compile(
    r" ?([0-9]{1,30}(?![\d.])|\\(?:frac|sqrt|pi|cdot|times|infty|in|"
    + "|".join(GREEK)
    + r")(?![a-zA-Z])"
    r"|\\text\{[a-zA-Z]{2,20}\}|\\[{}]|[a-zA-Z]|[-+*/^(){}\[\],=])"
)
THOUSANDS = re.compile(r"\s*-?\d{1,3}(?:,\d{3})+\s*")  # one number, not a list
LONGEST = 200
# Not d and e: differentials and a constant.
LETTERS = frozenset([*"abcfghijklmnopqrstuvwxyz", *(f"\\{name}" for name in GREEK)])
ALONE_I = re.compile(r"\bi\b")  # makes math-verify take every letter of the text for complex
LARGEST_POWER = 8
INTERVALS = {"()", "[]", "(]", "[)"}
INFINITY: Polynomial = {((("∞", 1),), 1): Fraction(1)}
MINUS_INFINITY: Polynomial = {((("∞", 1),), 1): Fraction(-1)}


class MathObject(NamedTuple):
    """What an answer is: an expression, or something made of some.

    kind: "expression", "name", "equation", "list", "set", "tuple", or an interval's brackets
    name: a word or a lone letter; the letter that is said to equal, or to be in, what follows
    complex_letters: math-verify takes the letters for complex numbers, not for real ones

    >>> math_object("x = 5").kind, math_object("x = 5").name
    ('equation', 'x')
    """

    kind: str
    parts: tuple[Polynomial, ...]
    name: str = ""
    complex_letters: bool = False


@lru_cache(maxsize=8192)
def math_object(text: str) -> MathObject | None:
    r"""What `text` is; None where the grammar does not know it.

    >>> math_object(r"2\sqrt{8}").parts[0]
    {((), 2): Fraction(4, 1)}
    >>> math_object(r"\int_0^1 x dx")
    """
    if len(text) > LONGEST or THOUSANDS.fullmatch(text):
        return None
    tokens: list[str] = []
    end = 0
    while end < len(text):
        token = TOKEN.match(text, end)
        if token is None:
            return None
        tokens.append(token[1])
        end = token.end()
    try:
        found = Parser(tokens).math_object() if tokens else None
    except (UndecidedError, RecursionError):  # a trainer may call from deep down the stack
        return None
    return found and found._replace(complex_letters=ALONE_I.search(text) is not None)


class Parser:
    """Recursive descent over the tokens of one answer."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*tokens, ""]
        self._at = 0

    @property
    def _next(self) -> str:
        return self._tokens[self._at]

    def _take(self, *expected: str) -> str:
        token = self._next
        if token not in expected if expected else not token:
            raise UndecidedError
        self._at += 1
        return token

    def math_object(self) -> MathObject:
        if len(self._tokens) == 2 and self._next.startswith("\\text{"):
            return MathObject("name", (), self._next[6:-1].lower())
        if len(self._tokens) == 2 and self._next.isalpha():
            letter = self._letter()
            return MathObject("name", ({(((letter, 1),), 1): Fraction(1)},), letter)
        if self._tokens[1] == "\\in":
            return self._membership()
        if "=" in self._tokens:
            return self._equation()
        if self._next in ("(", "[") and self._commas_inside():
            return self._bracketed()
        if self._next == "\\{":
            return self._set()
        parts = self._comma_separated()
        self._take("")
        return MathObject("list" if len(parts) > 1 else "expression", parts)

    def _membership(self) -> MathObject:
        """A letter in an interval, which math-verify takes for the interval."""
        letter = self._letter()
        self._take("\\in")
        if self._next not in ("(", "["):
            raise UndecidedError
        interval = self._bracketed()
        if interval.kind not in INTERVALS:
            raise UndecidedError
        return interval._replace(name=letter)

    def _equation(self) -> MathObject:
        assigned = self._next.lower() if self._tokens[1] == "=" else ""
        left = self._sum()
        self._take("=")
        right = self._sum()
        self._take("")
        return MathObject("equation", (left, right), assigned if assigned in LETTERS else "")

    def _commas_inside(self) -> bool:
        """Whether the whole answer is one bracket with commas in it."""
        depth = 0
        for index, token in enumerate(self._tokens):
            depth += (token in ("(", "[")) - (token in (")", "]"))
            if depth == 0:
                inside = self._tokens[1:index]
                return self._tokens[index + 1] == "" and "," in inside
        raise UndecidedError

    def _bracketed(self) -> MathObject:
        opening = self._take()
        parts = self._ends()
        closing = self._take(")", "]")
        self._take("")
        return _bracketed(opening, parts, closing)

    def _set(self) -> MathObject:
        self._take("\\{")
        parts = self._comma_separated()
        self._take("\\}")
        self._take("")
        return MathObject("set", parts)

    def _comma_separated(self) -> tuple[Polynomial, ...]:
        parts = [self._sum()]
        while self._next == ",":
            self._take()
            parts.append(self._sum())
        return tuple(parts)

    def _ends(self) -> tuple[Polynomial, ...]:
        """What stands in a bracket: an end may be infinite."""
        parts = [self._infinity() or self._sum()]
        while self._next == ",":
            self._take()
            parts.append(self._infinity() or self._sum())
        return tuple(parts)

    def _infinity(self) -> Polynomial | None:
        sign = self._next if self._next in ("+", "-") else ""
        if self._tokens[self._at + len(sign)] != "\\infty":
            return None
        self._at += len(sign) + 1
        if self._next not in (",", ")", "]"):
            raise UndecidedError
        return MINUS_INFINITY if sign == "-" else INFINITY

    def _sum(self) -> Polynomial:
        total = self._signed()
        while self._next in ("+", "-"):
            sign = self._take()
            if self._next in ("+", "-"):
                raise UndecidedError
            total = add(total, scale(self._product(), -1 if sign == "-" else 1))
        return total

    def _signed(self) -> Polynomial:
        if self._next != "-":
            return self._product()
        self._take()
        return scale(self._product(), -1)

    def _product(self) -> Polynomial:
        """Factors joined by signs; those that stand side by side bind first."""
        value = self._side_by_side()
        while self._next in ("*", "\\cdot", "\\times", "/"):
            sign = self._take()
            if self._next in ("+", "-"):
                raise UndecidedError
            factor = self._side_by_side()
            value = multiply(value, inverse(factor) if sign == "/" else factor)
        return value

    def _side_by_side(self) -> Polynomial:
        value = self._power()
        while self._next and self._next not in "+-*/,)]}=" and self._next not in _JOINS:
            if is_number(value) and (self._next.isdigit() or self._next in ("(", "\\frac")):
                factor = self._power()
                if is_number(factor):  # math-verify adds them: a mixed number
                    raise UndecidedError
            else:
                factor = self._power()
            value = multiply(value, factor)
        return value

    def _power(self) -> Polynomial:
        base = self._atom()
        if self._next != "^":
            return base
        self._take()
        exponent = self._exponent()
        if self._next == "^" or not 0 < exponent <= LARGEST_POWER:
            raise UndecidedError
        result = base
        for _ in range(exponent - 1):
            result = multiply(result, base)
        return result

    def _exponent(self) -> int:
        if self._next != "{":
            digit = self._take()
            if len(digit) != 1 or not digit.isdigit():
                raise UndecidedError
            return int(digit)
        self._take()
        number = self._take()
        self._take("}")
        if not number.isdigit():
            raise UndecidedError
        return int(number)

    def _atom(self) -> Polynomial:
        token = self._next
        if token.isdigit():
            return {ONE: Fraction(int(self._take()))} if token.strip("0") else self._zero()
        if token == "\\pi":
            self._take()
            if self._next == "(":
                raise UndecidedError
            return {((("π", 1),), 1): Fraction(1)}
        if token == "(":
            self._take()
            value = self._sum()
            self._take(")")
            return value
        if token == "\\frac":
            self._take()
            return multiply(self._braced(), inverse(self._braced()))
        if token == "\\sqrt":
            self._take()
            return root(self._braced())
        return {(((self._letter(), 1),), 1): Fraction(1)}

    def _zero(self) -> Polynomial:
        self._take()
        return {}

    def _letter(self) -> str:
        letter = self._take().lower()
        if letter not in LETTERS or self._next == "(":
            raise UndecidedError
        return letter

    def _braced(self) -> Polynomial:
        self._take("{")
        value = self._sum()
        self._take("}")
        return value


_JOINS = ("\\cdot", "\\times", "\\}")


def _bracketed(opening: str, parts: tuple[Polynomial, ...], closing: str) -> MathObject:
    """Two rising numbers are an interval for math-verify; anything else in parentheses a tuple."""
    if INFINITY in parts or MINUS_INFINITY in parts:
        return _unbounded(opening, parts, closing)
    if len(parts) > 2:
        if (opening, closing) != ("(", ")"):
            raise UndecidedError
        return MathObject("tuple", parts)
    if not all(is_number(part) for part in parts):
        raise UndecidedError
    low, high = (part.get(ONE, Fraction(0)) for part in parts)
    if low < high:
        return MathObject(opening + closing, parts)
    if (opening, closing) == ("(", ")"):
        return MathObject("tuple", parts)
    raise UndecidedError


def _unbounded(opening: str, parts: tuple[Polynomial, ...], closing: str) -> MathObject:
    """An interval that is open where it has no end, however it is written."""
    low, *more = parts
    if len(more) != 1 or low == INFINITY or more[0] == MINUS_INFINITY:
        raise UndecidedError
    ends = [end for end in parts if end not in (INFINITY, MINUS_INFINITY)]
    if not all(map(is_number, ends)):
        raise UndecidedError
    opening = "(" if low == MINUS_INFINITY else opening
    closing = ")" if more[0] == INFINITY else closing
    return MathObject(opening + closing, parts)


def number_object(value: Fraction) -> MathObject:
    """A plain number as an expression.

    >>> number_object(Fraction(1, 2)) == math_object("2/4")
    True
    """
    return MathObject("expression", ({ONE: value} if value else {},))
