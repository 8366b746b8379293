"""Polynomials of letters, π and square roots, in a normal form that is unique.

    3x²√2 + 1  is  {((("x", 2),), 2): 3, ((), 1): 1}

Each monomial has a rational coefficient, its letters with their powers, and a square-free number
under the root; what is squared under a root stands outside. Two polynomials are equal if and only
if their normal forms are. What grows too large, or has no such form, raises `UndecidedError`.
"""

from fractions import Fraction
from math import isqrt, pi, prod

# Its letters (with "π" among them) and their powers, and the number under the root.
Monomial = tuple[tuple[tuple[str, int], ...], int]
Polynomial = dict[Monomial, Fraction]

ONE: Monomial = ((), 1)
LARGEST_ROOT = 10**6
LARGEST_BITS = 2_000
MOST_TERMS = 60
NEGLIGIBLE = 1e-9  # math-verify takes a difference that is too small for zero


class UndecidedError(Exception):
    """It is for math-verify to say what this is."""


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
    """Whether it is a rational number.

    >>> is_number({ONE: Fraction(2, 3)}), is_number({((('x', 1),), 1): Fraction(1)})
    (True, False)
    """
    return not value or value.keys() == {ONE}


def approximate(value: Polynomial) -> float | None:
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


def is_negligible(difference: Polynomial) -> bool:
    """Whether a difference is so small that math-verify may take it for zero."""
    try:
        parts = [_term(monomial, factor) for monomial, factor in difference.items()]
    except OverflowError:
        return False
    constant = abs(sum(part for part, letters in parts if not letters))
    return max([constant, *(abs(part) for part, letters in parts if letters)]) < NEGLIGIBLE


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
