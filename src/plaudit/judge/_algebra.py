r"""LaTeX in normal form -> a `MathObject`, and whether math-verify finds two of them equal.

Most answers that are not plain numbers are sums of products of numbers, letters, π and square
roots; or pairs, lists, equations and inequalities of such sums. Their trees become polynomials in
a normal form that is unique:

    3x²√2 + 1  is  {((("x", 2),), 2): 3, ((), 1): 1}

Each monomial has a rational coefficient, its letters with their powers, and a square-free number
under the root. Two polynomials are equal if and only if their normal forms are. What grows too
large, or has no such form, is undecided: it is for math-verify to say. A guess never is an answer.

The polynomials of `plaudit.answers` are others on purpose: they are quotients without roots, have
larger limits and count their steps, and follow no quirk of math-verify.
"""

import re
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import cos, exp, inf, isqrt, log, pi, prod, sin, sqrt, tan
from typing import NamedTuple

from plaudit.judge._latex_tokens import LatexError, UndecidedError
from plaudit.judge._latex_tree import Tree, tree_of

# Its letters (with "π" among them) and their powers, and the number under the root.
Monomial = tuple[tuple[tuple[str, int], ...], int]
Polynomial = dict[Monomial, Fraction]

ONE: Monomial = ((), 1)
LARGEST_ROOT = 10**6
LARGEST_BITS = 2_000
LARGEST_POWER = 8
LARGEST_POWER_OF_NUMBER = 40
LONGEST_NUMBER = 30  # digits
MOST_TERMS = 60
LONGEST = 200  # characters
NEGLIGIBLE = 1e-9  # math-verify takes a difference that is too small for zero
FAR_APART = 1e-4  # as a share of the value: no rounding makes up for as much

THOUSANDS = re.compile(r"\s*-?\d{1,3}(?:,\d{3})+(?:\.\d+)?\s*")  # one number, not a list
ALONE_I = re.compile(r"\bi\b")  # makes math-verify take every letter of the text for complex
WORD = re.compile(r"\\text\{([a-zA-Z]{2,20})\}")
GREEK = ("alpha", "beta", "theta", "lambda", "mu", "rho", "sigma", "phi", "omega")
# Not e and I, which are constants.
LETTERS = frozenset([*"abcdfghijklmnopqrstuvwxyz", *(f"\\{name}" for name in GREEK)])
INTERVALS = {"()", "[]", "(]", "[)"}
MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
INFINITY: Polynomial = {((("∞", 1),), 1): Fraction(1)}
MINUS_INFINITY: Polynomial = {((("∞", 1),), 1): Fraction(-1)}


class MathObject(NamedTuple):
    """What an answer is: an expression, or something made of some.

    kind: "expression", "name", "equation", "relation", "list", "set", "tuple", an interval's
        brackets, or "bracket" if letters decide whether it is a tuple or an interval; "value" for a
        number that is no polynomial, such as a sine
    name: a word or a lone letter; the letter that is said to equal, or to be in, what follows; the
        sign of a relation
    complex_letters: math-verify takes the letters for complex numbers, not for real ones
    decimal: a number in it is a decimal, which math-verify compares after rounding
    value: of a "value", what it is about
    """

    kind: str
    parts: tuple[Polynomial, ...]
    name: str = ""
    complex_letters: bool = False
    decimal: bool = False
    value: float = 0.0


def number_object(value: Fraction, decimal: bool) -> MathObject:
    """Return a plain number as an expression."""
    return MathObject("expression", ({ONE: value} if value else {},), decimal=decimal)


@lru_cache(maxsize=8192)
def math_object(text: str) -> MathObject | None:
    """Return what `text` is; None if that is for math-verify to say."""
    if len(text) > LONGEST or THOUSANDS.fullmatch(text):
        return None
    reader = _AlgebraReader()
    try:
        tree = tree_of(text)
        try:
            found = reader.answer(tree)
        except UndecidedError:
            found = MathObject("value", (), value=_approximate_answer(tree))
    except (LatexError, UndecidedError, RecursionError):  # a trainer may call from deep down
        return None
    return found._replace(complex_letters=ALONE_I.search(text) is not None, decimal=reader.decimal)


def parses(text: str) -> bool:
    """Whether math-verify is sure to parse a text: not all that has a tree has an object."""
    if math_object(text):
        return True
    try:
        return len(text) <= LONGEST and _has_object(tree_of(text))
    except (LatexError, UndecidedError, RecursionError):
        return False


def _has_object(tree: Tree) -> bool:
    match tree:
        case "elements", [elements]:
            return all(map(_has_object, elements))
        case (("number" | "symbol"), *_):
            return True
        case (("+" | "-" | "*" | "frac"), left, right):
            return _has_object(left) and _has_object(right)
        case "negative", value:
            return _has_object(value)
        case "relation", "=", left, right:
            return _has_object(left) and _has_object(right)
        case "side by side", factors:
            return all(map(_has_object, factors))
        case "call", _, argument, None:
            return bool(argument.isalnum())
    return False


class _AlgebraReader:
    """Folds the tree of one text into polynomials."""

    def __init__(self) -> None:
        self.decimal = False

    def answer(self, tree: Tree) -> MathObject:
        match tree:
            case "elements", [[element]]:
                return self._element(element)
            case "elements", [elements]:
                return MathObject("list", self._expressions(elements))
            case "is", (_, [symbol]), [[element]]:  # math-verify takes `\in` for `=`
                name = _lone_letter(symbol)
                if element[0] == "interval":
                    interval = self._element(element)
                    if name and interval.kind in INTERVALS:
                        return interval._replace(name=name)
                else:
                    return MathObject("equation", self._expressions([symbol, element]), name)
        raise UndecidedError

    def _element(self, tree: Tree) -> MathObject:
        match tree:
            case "tuple", [[element]]:
                return self._element(element)
            case "tuple", [elements]:
                return MathObject("tuple", self._expressions(elements))
            case "finite set", [elements]:
                return MathObject("set", self._expressions(elements))
            case "interval", low, high, left_open, right_open:
                ends = self._end(low), self._end(high)
                return _bracketed(ends, "[("[left_open], "])"[right_open])
            case "relation", "=", left, right:
                return MathObject("equation", self._expressions([left, right]))
            case "relation", ("<" | "<=" | ">" | ">=" | "!=") as sign, left, right:
                return MathObject("relation", self._expressions([left, right]), sign)
            case "symbol", name, "", None if word := WORD.fullmatch(name):
                return MathObject("name", (), word[1].lower())
        name = _lone_letter(tree)
        kind = "name" if name.isalpha() else "expression"
        return MathObject(kind, (self.polynomial(tree),), name if kind == "name" else "")

    def _expressions(self, trees: list[Tree]) -> tuple[Polynomial, ...]:
        found = [self._element(tree) for tree in trees]
        if any(each.kind not in ("expression", "name") or not each.parts for each in found):
            raise UndecidedError
        return tuple(each.parts[0] for each in found)

    def _end(self, tree: Tree) -> Polynomial:
        """The end of an interval, which may be infinite."""
        match tree:
            case ("infinity", _):
                return INFINITY
            case "negative", ("infinity", _):
                return MINUS_INFINITY
        return self.polynomial(tree)

    def polynomial(self, tree: Tree) -> Polynomial:
        match tree:
            case "number", text:
                return self._number(text)
            case "symbol", name, "", exponent:
                letter: Polynomial = {(((_letter(name), 1),), 1): Fraction(1)}
                return letter if exponent is None else self._power(letter, exponent)
            case "+", left, right:
                return add(self.polynomial(left), self.polynomial(right))
            case "-", left, right:
                return add(self.polynomial(left), scale(self.polynomial(right), -1))
            case "negative", value:
                return scale(self.polynomial(value), -1)
            case "*", left, right:
                return multiply(self.polynomial(left), self.polynomial(right))
            case (("/" | "frac"), left, right):
                return multiply(self.polynomial(left), inverse(self.polynomial(right)))
            case "side by side", factors:
                return self._side_by_side(factors)
            case "power", base, exponent:
                return self._power(self.polynomial(base), exponent)
            case "sqrt", value, None:
                return root(self.polynomial(value))
        raise UndecidedError

    def _number(self, text: str) -> Polynomial:
        if len(text) > LONGEST_NUMBER:
            raise UndecidedError
        self.decimal |= "." in text
        value = Fraction(text)
        return {ONE: value} if value else {}

    def _side_by_side(self, factors: list[Tree]) -> Polynomial:
        """A product, from the right; two numbers may be a mixed number, which math-verify adds."""
        *others, last = factors
        product = self.polynomial(last)
        is_root = last[0] == "sqrt"
        for factor in reversed(others):
            value = self.polynomial(factor)
            if is_number(value) and is_number(product) and not is_root:
                raise UndecidedError
            product = multiply(value, product)
            is_root = factor[0] == "sqrt"
        return product

    def _power(self, base: Polynomial, tree: Tree) -> Polynomial:
        match tree:
            case "number", text:
                sign = 1
            case "negative", ("number", text):
                sign = -1
            case _:
                raise UndecidedError
        most = LARGEST_POWER_OF_NUMBER if is_number(base) else LARGEST_POWER
        if not text.isdigit() or len(text) > 2 or not 0 < int(text) <= most:
            raise UndecidedError
        result = base
        for _ in range(int(text) - 1):
            result = multiply(result, base)
        return result if sign > 0 else inverse(result)


def _letter(name: str) -> str:
    name = name.strip()
    if name == "\\pi":
        return "π"
    letter = name.lower()
    if letter not in LETTERS or name == "I" or (name != letter and name.startswith("\\")):
        raise UndecidedError
    return letter


def _lone_letter(tree: Tree) -> str:
    """The letter that a tree is, without scripts; "" if it is something else."""
    match tree:
        case "symbol", name, "", None if _letter(name) != "π":
            return _letter(name)
    return ""


def _bracketed(ends: tuple[Polynomial, Polynomial], opening: str, closing: str) -> MathObject:
    """Two rising numbers are an interval for math-verify; others in parentheses are a tuple."""
    if INFINITY in ends or MINUS_INFINITY in ends:
        return _unbounded(ends, opening, closing)
    if not all(is_number(end) for end in ends):
        return MathObject("bracket", ends)
    low, high = (end.get(ONE, Fraction(0)) for end in ends)
    if low < high:
        return MathObject(opening + closing, ends)
    if (opening, closing) == ("(", ")"):
        return MathObject("tuple", ends)
    raise UndecidedError


def _unbounded(ends: tuple[Polynomial, Polynomial], opening: str, closing: str) -> MathObject:
    """An interval that is open where it has no end, however it is written."""
    low, high = ends
    if low == INFINITY or high == MINUS_INFINITY:
        raise UndecidedError
    if not all(is_number(end) for end in ends if end not in (INFINITY, MINUS_INFINITY)):
        raise UndecidedError
    opening = "(" if low == MINUS_INFINITY else opening
    closing = ")" if high == INFINITY else closing
    return MathObject(opening + closing, ends)


# -- Values

FUNCTIONS = {"sin": sin, "cos": cos, "tan": tan, "exp": exp, "ln": log}
SMALLEST, LARGEST = 1e-4, 1e4  # of all values on the way: what floats lose is negligible then
EVALUATED = {"number", "negative", "frac", "/"}  # sympy makes a number of these at once


def _approximate_answer(tree: Tree) -> float:
    """The value of an answer that is a number, to ten digits or so; degrees are radians here."""
    match tree:
        case "elements", [[element]]:
            return _approximate(element)
    raise UndecidedError


def _approximate(tree: Tree) -> float:
    try:
        value = _value(tree)
    except (ArithmeticError, ValueError) as error:
        raise UndecidedError from error
    if value and not SMALLEST < abs(value) < LARGEST:
        raise UndecidedError
    return value


def _value(tree: Tree) -> float:
    match tree:
        case "number", text:
            return float(text)
        case "symbol", name, "", None if name.strip() == "\\pi":
            return pi
        case "e", None:
            return exp(1)
        case "e", exponent:
            return exp(_approximate(exponent))
        case "tuple", [[element]]:
            return _approximate(element)
        case "+", left, right:
            return _approximate(left) + _approximate(right)
        case "-", left, right:
            return _approximate(left) - _approximate(right)
        case "negative", value:
            return -_approximate(value)
        case "*", left, right:
            return _approximate(left) * _approximate(right)
        case (("/" | "frac"), left, right):
            return _approximate(left) / _approximate(right)
        case "side by side", factors:
            if any(one[0] in EVALUATED and two[0] in EVALUATED for one, two in pairwise(factors)):
                raise UndecidedError  # it may be a mixed number
            return prod(map(_approximate, factors))
        case "sqrt", value, None:
            return sqrt(_approximate(value))
        case "power", base, ("number", exponent) if exponent.isdigit() and len(exponent) < 3:
            return _approximate(base) ** int(exponent)
        case "function", ("sin" | "cos" | "tan" | "exp" | "ln") as name, argument, None, None:
            return FUNCTIONS[name](_approximate(argument))
    raise UndecidedError


# -- Comparison


def same_object(gold: MathObject, answer: MathObject) -> bool | None:
    """Return whether math-verify finds them equal; None if that is for math-verify to say."""
    if gold.complex_letters != answer.complex_letters:
        return None
    if gold.kind in INTERVALS and gold.name and answer.name:  # as equations, not as intervals
        return None
    kinds = {gold.kind, answer.kind}
    if kinds == {"equation", "expression"}:  # the right side counts
        if gold.kind == "equation" and not gold.name:
            return None
        gold, answer = (
            side._replace(kind="expression", parts=side.parts[-1:]) for side in (gold, answer)
        )
        kinds = {"expression"}
    if "value" in kinds:
        return _same_value(gold, answer)
    if gold.decimal or answer.decimal:
        return _same_with_decimals(gold, answer, kinds)
    if kinds == {"equation"}:
        return _same_equation(gold, answer)
    if kinds == {"relation"}:
        return _same_relation(gold, answer)
    if kinds == {"expression"}:
        return _same_expression(gold.parts[0], answer.parts[0])
    if kinds == {"name"}:
        return gold.name == answer.name
    if kinds <= {"list", "set", "expression"}:
        return _same_members(gold, answer)
    if kinds <= {"tuple", "()"} or (kinds <= INTERVALS and len(kinds) == 1):
        return _same_parts(gold, answer)
    if kinds <= INTERVALS or _is_number_and_other(gold, answer, kinds):
        return False
    return None


def _is_number_and_other(gold: MathObject, answer: MathObject, kinds: set[str]) -> bool:
    """Whether one is a rational number, and the other nothing that could be equal to one."""
    others = {*INTERVALS, "tuple", "bracket", "name", "relation"}
    return bool(kinds & others) and any(
        side.kind == "expression" and is_number(side.parts[0]) for side in (gold, answer)
    )


def _same_value(gold: MathObject, answer: MathObject) -> bool | None:
    """False if both are numbers and far apart, else None."""
    values = []
    for side in (gold, answer):
        if side.kind == "value":
            values.append(side.value)
        elif side.kind == "expression" and not letters_of(side.parts[0]) - {"π"}:
            values.append(_size(side.parts[0]))
    if len(values) < 2:
        return None
    apart = abs(values[0] - values[1])
    return False if apart > FAR_APART * max(1.0, *map(abs, values)) else None


def _same_with_decimals(gold: MathObject, answer: MathObject, kinds: set[str]) -> bool | None:
    """False if no rounding makes them meet, else None."""
    if kinds == {"expression"}:
        return False if _are_far_apart(gold.parts[0], answer.parts[0]) else None
    if kinds <= {"list", "set", "expression"} and "expression" in kinds:
        (members,) = (side.parts for side in (gold, answer) if side.kind != "expression")
        numbers = all(map(is_number, members))
        return False if numbers and len({part.get(ONE) for part in members}) > 1 else None
    return False if _is_number_and_other(gold, answer, kinds) else None


def _are_far_apart(one: Polynomial, other: Polynomial) -> bool:
    difference = add(one, scale(other, -1))
    try:
        apart = max(map(abs, _sums(difference)))
        size = max(1.0, *map(abs, (*_sums(one), *_sums(other))))
    except OverflowError:
        return False
    return apart > FAR_APART * size


def _same_expression(gold: Polynomial, answer: Polynomial) -> bool | None:
    if gold == answer:
        return None if is_letter(gold) else True
    if _may_be_spelt_out(gold, answer) or _may_be_spelt_out(answer, gold):
        return None
    return None if is_negligible(add(gold, scale(answer, -1))) else False


def _may_be_spelt_out(one: Polynomial, other: Polynomial) -> bool:
    r"""Whether math-verify may find a letter equal to the letters of its name, as `\mu` to `mu`."""
    return is_letter(one) and len(next(iter(letters_of(one)))) > 1 and not is_number(other)


def _same_relation(gold: MathObject, answer: MathObject) -> bool | None:
    """Inequalities are equal if their differences are; math-verify solves none of them."""
    one, other = (add(side.parts[0], scale(side.parts[1], -1)) for side in (gold, answer))
    if gold.name == answer.name:
        return _same_expression(one, other)
    if MIRRORED.get(gold.name) == answer.name:
        return _same_expression(one, scale(other, -1))
    return False


def _same_equation(gold: MathObject, answer: MathObject) -> bool | None:
    """Linear equations alone: math-verify solves what is not the same up to its sign."""
    one, other = (_all_on_one_side(side) for side in (gold, answer))
    if one is None or other is None:
        return None
    for sign in (1, -1):
        same = _same_expression(one, scale(other, sign))
        if same is not False:
            return same
    if not all(is_linear(side) for side in (one, other)):
        return None
    if min(len(letters_of(side)) for side in (one, other)) < 2:
        return False  # solutions that are numbers are never compared
    return _same_expression(monic(one), monic(other))


def _all_on_one_side(equation: MathObject) -> Polynomial | None:
    """Left minus right; None if a letter is gone, or little is left."""
    left, right = equation.parts
    difference = add(left, scale(right, -1))
    letters = letters_of(left) | letters_of(right)
    return difference if len(difference) > 1 and letters_of(difference) == letters else None


def _same_parts(gold: MathObject, answer: MathObject) -> bool | None:
    if len(gold.parts) != len(answer.parts):
        return False
    same = [_same_expression(g, a) for g, a in zip(gold.parts, answer.parts, strict=True)]
    return False if False in same else None if None in same else True


def _same_members(gold: MathObject, answer: MathObject) -> bool | None:
    if not all(is_number(part) for part in (*gold.parts, *answer.parts)):
        return None
    members = [{part.get(ONE, Fraction(0)) for part in side.parts} for side in (gold, answer)]
    return members[0] == members[1]


# -- Polynomials


def add(left: Polynomial, right: Polynomial) -> Polynomial:
    """The sum in normal form."""
    total = dict(left)
    for monomial, factor in right.items():
        factor += total.pop(monomial, 0)
        if factor:
            total[monomial] = factor
    return total


def scale(value: Polynomial, factor: int | Fraction) -> Polynomial:
    """The multiple in normal form."""
    return {monomial: factor * f for monomial, f in value.items()}


def multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    """The product in normal form."""
    if len(left) * len(right) > MOST_TERMS:
        raise UndecidedError
    total: Polynomial = {}
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


def inverse(value: Polynomial) -> Polynomial:
    """One over a product of numbers, roots, letters and π; nothing else."""
    if len(value) != 1:
        raise UndecidedError
    ((letters, under), factor) = next(iter(value.items()))
    flipped = tuple((letter, -power) for letter, power in letters)
    return {(flipped, under): 1 / (factor * under)}


def root(value: Polynomial) -> Polynomial:
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


def is_number(value: Polynomial) -> bool:
    """Whether it is a rational number."""
    return not value or value.keys() == {ONE}


def is_negligible(difference: Polynomial) -> bool:
    """Whether a difference is so small that math-verify may take it for zero."""
    try:
        return max(map(abs, _sums(difference))) < NEGLIGIBLE
    except OverflowError:
        return False


def _size(value: Polynomial) -> float:
    """What a polynomial without letters comes to; infinity if that is too large for floats."""
    try:
        return _sums(value)[0]
    except OverflowError:
        return inf


def _sums(value: Polynomial) -> list[float]:
    """What the numbers come to: of the terms without letters together, and of each other term."""
    constant, others = 0.0, []
    for (letters, under), factor in value.items():
        numbers = prod(pi**power for letter, power in letters if letter == "π")
        size = float(factor) * numbers * under**0.5
        if all(letter == "π" for letter, _ in letters):
            constant += size
        else:
            others.append(size)
    return [constant, *others]


def is_letter(value: Polynomial) -> bool:
    """Whether it comes down to one letter. math-verify compares those as names, as written."""
    if len(value) != 1:
        return False
    ((letters, under), factor) = next(iter(value.items()))
    return under == 1 and factor == 1 and len(letters) == 1 and letters[0][1] == 1


def letters_of(value: Polynomial) -> set[str]:
    """The letters in it, π among them."""
    return {letter for letters, _ in value for letter, _ in letters}


def is_linear(value: Polynomial) -> bool:
    """Whether each term is a rational number or one of a letter."""
    return all(
        under == 1
        and (not letters or (len(letters) == 1 and letters[0][0] != "π" and letters[0][1] == 1))
        for letters, under in value
    )


def monic(value: Polynomial) -> Polynomial:
    """The multiple that begins with a letter alone."""
    first = max(value)
    return scale(value, 1 / value[first])
