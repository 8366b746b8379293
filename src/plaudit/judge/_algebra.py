r"""Small algebra that is decided without a CAS, exactly as math-verify decides it.

Most answers that are not plain numbers are sums of products of numbers, letters, π and square
roots, or pairs, lists and equations of such. Their normal form is unique: a sum of monomials
with rational coefficients, each root split into a rational and a square-free part. Two of them are
equal if and only if their normal forms are.

What the grammar here does not know is undecided, and so is what math-verify reads in its own way:
`2(3)` as 5, `x(y)` as a function, `e` as a number.
"""

import re
from fractions import Fraction
from functools import lru_cache
from math import isqrt, pi, prod
from typing import NamedTuple

# A monomial is its letters (with "π" among them) and their powers, and a square-free number under
# the root: 3x²√2 is {((("x", 2),), 2): 3}.
Monomial = tuple[tuple[tuple[str, int], ...], int]
Sum = dict[Monomial, Fraction]

ONE: Monomial = ((), 1)
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
LARGEST_ROOT = 10**6
LARGEST_POWER = 8
LARGEST_BITS = 2_000
MOST_TERMS = 60
CLEARLY_APART = 1e-4
NEGLIGIBLE = 1e-9  # math-verify takes a difference that is too small for zero


class Shape(NamedTuple):
    """What an answer is: an expression, or something made of some.

    kind: "expression", "name", "equation", "list", "set", "tuple", or an interval's brackets
    name: a word or a lone letter; the letter that is said to equal, or to be in, what follows
    complex_letters: math-verify takes the letters for complex numbers, not for real ones
    """

    kind: str
    parts: tuple[Sum, ...]
    name: str = ""
    complex_letters: bool = False


class UndecidedError(Exception):
    """Not in the grammar."""


@lru_cache(maxsize=8192)
def shape(text: str) -> Shape | None:
    r"""What `text` is; None where the grammar does not know it.

    >>> shape(r"2\sqrt{8}").parts[0]
    {((), 2): Fraction(4, 1)}
    >>> shape(r"\int_0^1 x dx")
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
        found = Parser(tokens).shape() if tokens else None
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

    def shape(self) -> Shape:
        if len(self._tokens) == 2 and self._next.startswith("\\text{"):
            return Shape("name", (), self._next[6:-1].lower())
        if len(self._tokens) == 2 and self._next.isalpha():
            letter = self._letter()
            return Shape("name", ({(((letter, 1),), 1): Fraction(1)},), letter)
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
        return Shape("list" if len(parts) > 1 else "expression", parts)

    def _membership(self) -> Shape:
        """A letter in an interval, which math-verify takes for the interval."""
        letter = self._letter()
        self._take("\\in")
        if self._next not in ("(", "["):
            raise UndecidedError
        interval = self._bracketed()
        if interval.kind not in INTERVALS:
            raise UndecidedError
        return interval._replace(name=letter)

    def _equation(self) -> Shape:
        assigned = self._next.lower() if self._tokens[1] == "=" else ""
        left = self._sum()
        self._take("=")
        right = self._sum()
        self._take("")
        return Shape("equation", (left, right), assigned if assigned in LETTERS else "")

    def _commas_inside(self) -> bool:
        """Whether the whole answer is one bracket with commas in it."""
        depth = 0
        for index, token in enumerate(self._tokens):
            depth += (token in ("(", "[")) - (token in (")", "]"))
            if depth == 0:
                inside = self._tokens[1:index]
                return self._tokens[index + 1] == "" and "," in inside
        raise UndecidedError

    def _bracketed(self) -> Shape:
        opening = self._take()
        parts = self._ends()
        closing = self._take(")", "]")
        self._take("")
        return _bracketed(opening, parts, closing)

    def _set(self) -> Shape:
        self._take("\\{")
        parts = self._comma_separated()
        self._take("\\}")
        self._take("")
        return Shape("set", parts)

    def _comma_separated(self) -> tuple[Sum, ...]:
        parts = [self._sum()]
        while self._next == ",":
            self._take()
            parts.append(self._sum())
        return tuple(parts)

    def _ends(self) -> tuple[Sum, ...]:
        """What stands in a bracket: an end may be infinite."""
        parts = [self._infinity() or self._sum()]
        while self._next == ",":
            self._take()
            parts.append(self._infinity() or self._sum())
        return tuple(parts)

    def _infinity(self) -> Sum | None:
        sign = self._next if self._next in ("+", "-") else ""
        if self._tokens[self._at + len(sign)] != "\\infty":
            return None
        self._at += len(sign) + 1
        if self._next not in (",", ")", "]"):
            raise UndecidedError
        return MINUS_INFINITY if sign == "-" else INFINITY

    def _sum(self) -> Sum:
        total = self._signed()
        while self._next in ("+", "-"):
            sign = self._take()
            if self._next in ("+", "-"):
                raise UndecidedError
            total = add(total, scale(self._product(), -1 if sign == "-" else 1))
        return total

    def _signed(self) -> Sum:
        if self._next != "-":
            return self._product()
        self._take()
        return scale(self._product(), -1)

    def _product(self) -> Sum:
        """Factors joined by signs; those that stand side by side bind first."""
        value = self._side_by_side()
        while self._next in ("*", "\\cdot", "\\times", "/"):
            sign = self._take()
            if self._next in ("+", "-"):
                raise UndecidedError
            factor = self._side_by_side()
            value = multiply(value, inverse(factor) if sign == "/" else factor)
        return value

    def _side_by_side(self) -> Sum:
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

    def _power(self) -> Sum:
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

    def _atom(self) -> Sum:
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

    def _zero(self) -> Sum:
        self._take()
        return {}

    def _letter(self) -> str:
        letter = self._take().lower()
        if letter not in LETTERS or self._next == "(":
            raise UndecidedError
        return letter

    def _braced(self) -> Sum:
        self._take("{")
        value = self._sum()
        self._take("}")
        return value


_JOINS = ("\\cdot", "\\times", "\\}")
INFINITY: Sum = {((("∞", 1),), 1): Fraction(1)}
MINUS_INFINITY: Sum = {((("∞", 1),), 1): Fraction(-1)}


def _bracketed(opening: str, parts: tuple[Sum, ...], closing: str) -> Shape:
    """Of two numbers that rise, math-verify makes an interval; of anything else in parentheses a
    tuple."""
    if INFINITY in parts or MINUS_INFINITY in parts:
        return _unbounded(opening, parts, closing)
    if len(parts) > 2:
        if (opening, closing) != ("(", ")"):
            raise UndecidedError
        return Shape("tuple", parts)
    if not all(is_number(part) for part in parts):
        raise UndecidedError
    low, high = (part.get(ONE, Fraction(0)) for part in parts)
    if low < high:
        return Shape(opening + closing, parts)
    if (opening, closing) == ("(", ")"):
        return Shape("tuple", parts)
    raise UndecidedError


def _unbounded(opening: str, parts: tuple[Sum, ...], closing: str) -> Shape:
    """An interval that is open where it has no end, however it is written."""
    low, *more = parts
    if len(more) != 1 or low == INFINITY or more[0] == MINUS_INFINITY:
        raise UndecidedError
    ends = [end for end in parts if end not in (INFINITY, MINUS_INFINITY)]
    if not all(map(is_number, ends)):
        raise UndecidedError
    opening = "(" if low == MINUS_INFINITY else opening
    closing = ")" if more[0] == INFINITY else closing
    return Shape(opening + closing, parts)


def add(left: Sum, right: Sum) -> Sum:
    """The sum in normal form."""
    total = dict(left)
    for monomial, factor in right.items():
        factor += total.pop(monomial, 0)
        if factor:
            total[monomial] = factor
    return total


def scale(value: Sum, factor: int | Fraction) -> Sum:
    """The multiple in normal form."""
    return {monomial: factor * f for monomial, f in value.items()}


def multiply(left: Sum, right: Sum) -> Sum:
    """The product in normal form."""
    if len(left) * len(right) > MOST_TERMS:
        raise UndecidedError
    total: Sum = {}
    for (letters, under), f in left.items():
        for (others, other), g in right.items():
            square, free = _split_root(under * other)
            factor = f * g * square
            if max(factor.numerator.bit_length(), factor.denominator.bit_length()) > LARGEST_BITS:
                raise UndecidedError
            total = add(total, {(_merge(letters, others), free): factor})
    return total


def _merge(
    left: tuple[tuple[str, int], ...], right: tuple[tuple[str, int], ...]
) -> tuple[tuple[str, int], ...]:
    powers = dict(left)
    for letter, power in right:
        powers[letter] = powers.get(letter, 0) + power
    return tuple(sorted((letter, power) for letter, power in powers.items() if power))


def inverse(value: Sum) -> Sum:
    """One over a product of numbers, roots, letters and π; nothing else."""
    if len(value) != 1:
        raise UndecidedError
    ((letters, under), factor) = next(iter(value.items()))
    flipped = tuple((letter, -power) for letter, power in letters)
    return {(flipped, under): 1 / (factor * under)}


def root(value: Sum) -> Sum:
    """The square root of a rational number that is not negative."""
    number = value.get(ONE, Fraction(0))
    if not is_number(value) or number < 0 or number.numerator * number.denominator > LARGEST_ROOT:
        raise UndecidedError
    square, free = _split_root(number.numerator * number.denominator)
    return {((), free): Fraction(square, number.denominator)} if number else {}


def _split_root(number: int) -> tuple[int, int]:
    """`square` and `free` with square² · free = number, and nothing squared left in `free`."""
    if number == 1:
        return 1, 1
    if number > LARGEST_ROOT**2:
        raise UndecidedError
    square, free, factor = 1, number, 2
    while factor * factor <= free:
        while free % (factor * factor) == 0:
            square, free = square * factor, free // (factor * factor)
        factor += 1
        if factor > 1000:
            whole = isqrt(free)
            if whole * whole == free:
                return square * whole, 1
            raise UndecidedError
    return square, free


def is_number(value: Sum) -> bool:
    """Whether it is a rational number.

    >>> is_number(shape("4/6").parts[0]), is_number(shape("x").parts[0])
    (True, False)
    """
    return not value or value.keys() == {ONE}


def approximate(value: Sum) -> float | None:
    """Its value as a float; None where it holds letters, or is too large for one."""
    try:
        parts = [_term(monomial, factor) for monomial, factor in value.items()]
    except OverflowError:
        return None
    return None if any(letters for _, letters in parts) else sum(part for part, _ in parts)


def _term(monomial: Monomial, factor: Fraction) -> tuple[float, bool]:
    """What a monomial's numbers come to, and whether it has letters besides."""
    letters, under = monomial
    numbers = prod(pi**power for letter, power in letters if letter == "π")
    return float(factor) * numbers * under**0.5, any(letter != "π" for letter, _ in letters)


def is_negligible(difference: Sum) -> bool:
    """Whether a difference is so small that math-verify may take it for zero."""
    try:
        parts = [_term(monomial, factor) for monomial, factor in difference.items()]
    except OverflowError:
        return False
    constant = abs(sum(part for part, letters in parts if not letters))
    return max([constant, *(abs(part) for part, letters in parts if letters)]) < NEGLIGIBLE


def is_letter(value: Sum) -> bool:
    """Whether it comes down to one letter. math-verify compares those as names, as written."""
    if len(value) != 1:
        return False
    ((letters, under), factor) = next(iter(value.items()))
    return under == 1 and factor == 1 and len(letters) == 1 and letters[0][1] == 1


def same_shape(gold: Shape, answer: Shape) -> bool | None:
    r"""Whether math-verify finds them equal; None where that is for math-verify to say.

    >>> same_shape(shape("x^2+2x+1"), shape("(x+1)^2"))
    True
    >>> same_shape(shape("(1, 2)"), shape("(2, 1)"))
    False
    """
    if gold.complex_letters != answer.complex_letters:
        return None
    if gold.kind in INTERVALS and gold.name and answer.name:  # as equations, not as intervals
        return None
    kinds = {gold.kind, answer.kind}
    if kinds == {"equation"}:
        return _same_equation(gold, answer)
    if kinds == {"equation", "expression"}:  # the right side counts
        if gold.kind == "equation" and not gold.name:
            return None
        gold, answer = (Shape("expression", side.parts[-1:]) for side in (gold, answer))
        kinds = {"expression"}
    if kinds == {"expression"}:
        return _same_expression(gold.parts[0], answer.parts[0])
    if kinds == {"name"}:
        return gold.name == answer.name
    if kinds == {"name", "expression"}:
        return False if _is_plain(gold) or _is_plain(answer) else None
    if kinds <= {"list", "set", "expression"}:
        return _same_members(gold, answer)
    if kinds <= {"tuple", "()"} or (kinds <= INTERVALS and len(kinds) == 1):
        return _same_parts(gold, answer)
    if kinds <= INTERVALS:
        return False
    if "expression" in kinds and kinds & {*INTERVALS, "tuple"}:
        return False if _is_plain(gold) or _is_plain(answer) else None
    return None


INTERVALS = {"()", "[]", "(]", "[)"}


def _is_plain(one: Shape) -> bool:
    """Whether it is a rational number."""
    return one.kind == "expression" and is_number(one.parts[0])


def _same_expression(gold: Sum, answer: Sum) -> bool | None:
    if gold != answer:
        return None if is_negligible(add(gold, scale(answer, -1))) else False
    return None if is_letter(gold) else True


def _same_equation(gold: Shape, answer: Shape) -> bool | None:
    """Linear equations alone: math-verify solves what is not the same up to its sign."""
    one, other = (_all_on_one_side(side) for side in (gold, answer))
    if one is None or other is None:
        return None
    for sign in (1, -1):
        same = _same_expression(one, scale(other, sign))
        if same is not False:
            return same
    if not all(_is_linear(side) for side in (one, other)):
        return None
    if min(len(_letters_of(side)) for side in (one, other)) < 2:
        return False  # solutions that are numbers are never compared
    return _same_expression(_monic(one), _monic(other))


def _all_on_one_side(equation: Shape) -> Sum | None:
    """Left minus right; None where a letter is gone, or little is left."""
    left, right = equation.parts
    difference = add(left, scale(right, -1))
    letters = _letters_of(left) | _letters_of(right)
    return difference if len(difference) > 1 and _letters_of(difference) == letters else None


def _letters_of(value: Sum) -> set[str]:
    return {letter for letters, _ in value for letter, _ in letters}


def _is_linear(value: Sum) -> bool:
    """Whether each term is a rational number or one of a letter."""
    return all(
        under == 1
        and (not letters or (len(letters) == 1 and letters[0][0] != "π" and letters[0][1] == 1))
        for letters, under in value
    )


def _monic(value: Sum) -> Sum:
    """The multiple that begins with a letter alone."""
    first = max(value)
    return scale(value, 1 / value[first])


def _same_parts(gold: Shape, answer: Shape) -> bool | None:
    if len(gold.parts) != len(answer.parts):
        return False
    same = [_same_expression(g, a) for g, a in zip(gold.parts, answer.parts, strict=True)]
    return False if False in same else None if None in same else True


def _same_members(gold: Shape, answer: Shape) -> bool | None:
    if not all(is_number(part) for part in (*gold.parts, *answer.parts)):
        return None
    members = [{part.get(ONE, Fraction(0)) for part in side.parts} for side in (gold, answer)]
    return members[0] == members[1]


def number_shape(value: Fraction) -> Shape:
    """The shape of a plain number."""
    return Shape("expression", ({ONE: value} if value else {},))


def clearly_apart(decimal: Fraction, other: Shape) -> bool:
    """Whether a decimal is too far from an expression for any rounding to make them meet."""
    if other.kind != "expression":
        return False
    value = approximate(other.parts[0])
    return value is not None and abs(value - float(decimal)) > CLEARLY_APART * max(1.0, abs(value))
