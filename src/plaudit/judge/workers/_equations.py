"""Two relations -> whether math-verify's last resort, to solve both, is sure to find no match.

It has sympy solve each for all of its letters and compares what comes out, and takes anything that
is raised on the way for "different". For two equations in several letters it finds a match if both
have the same solutions, each a letter and its value; if either has one letter or none, only where
neither has any solution. Inequalities always end in an exception. So it need not be asked

- where one of them is no equation;
- where one is sure to have a solution, or to be too much for sympy, and has one letter or none;
- where one is sure to have a solution, and no value of any letter solves both at a place.
"""

import cmath
import re
from itertools import chain
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from plaudit.judge.workers._rejection import UNCLEAR, apart
from plaudit.judge.workers._values import ANY_NUMBERS, Place, UnclearError, Value, value_of

Polynomial = list[complex]  # coefficients, that of the highest power last
Quotient = tuple[Polynomial, Polynomial]

MOST_POWERS = 8
NEGLIGIBLE = 1e-5  # a coefficient below this share of the largest may be zero
NEARLY = 1e-9  # how well coefficients and roots are known
# What sympy rewrites in ways of its own before it solves an equation.
REWRITTEN = (
    *(sympy.Abs, sympy.Piecewise, sympy.Float, sympy.floor, sympy.ceiling, sympy.I, sympy.re),
    *(sympy.im, sympy.arg, sympy.conjugate, sympy.Max, sympy.Min, sympy.UnevaluatedExpr),
    *(sympy.Integral, sympy.Derivative, sympy.Sum, sympy.Product, sympy.Limit),
    *(sympy.factorial, sympy.binomial, sympy.sign, sympy.Mod, sympy.nan, sympy.zoo, sympy.oo),
)
PLAIN_NAME = re.compile(r"\\?[A-Za-z][A-Za-z0-9_{}\\]*")


def solutions_differ(gold: Any, answer: Any) -> bool:
    """Whether math-verify finds no match among the solutions of two relations, for certain.

    >>> x, y = sympy.symbols("x y", real=True)
    >>> solutions_differ(sympy.Eq(y, 2 * x), sympy.Eq(y, 3 * x))
    True
    >>> solutions_differ(sympy.Eq(y, 2 * x), sympy.Eq(y / 2, x))
    False
    """
    if not isinstance(gold, sympy.Eq) or not isinstance(answer, sympy.Eq):
        return True
    equations = gold, answer
    if not all(map(_is_plain, equations)):
        return False
    letters = [equation.free_symbols for equation in equations]
    if min(map(len, letters)) <= 1:
        return any(map(_is_solvable, equations)) or any(map(_is_hopeless, equations))
    if _may_look_alike(*letters):
        return False
    common = letters[0] & letters[1]
    return any(map(_is_solvable, equations)) and all(
        _no_common_root(gold, answer, letter, place) for letter in common for place in ANY_NUMBERS
    )


def _is_plain(equation: Any) -> bool:
    """Whether sympy solves it as it stands, for letters that are real numbers."""
    return (
        all(isinstance(side, sympy.Expr) for side in equation.args)
        and all(letter.is_real for letter in equation.free_symbols)
        and not equation.has(*REWRITTEN)
    )


def _may_look_alike(one: set[Any], other: set[Any]) -> bool:
    """Whether a name might be read as another, or as a product: math-verify takes those for equal.

    Solutions are compared as answers are: `ab` is equal to the product of a and b.
    """
    names = [{letter.name for letter in letters} for letters in (one, other)]
    for own, others in (names, reversed(names)):
        written = set("".join(others).lower()) | {"e"}
        for name in own - others:
            if not PLAIN_NAME.fullmatch(name) or (len(name) > 1 and set(name.lower()) <= written):
                return True
    return False


def _is_hopeless(equation: Any) -> bool:
    """Whether sympy gives up: `f(x) = x + 1`, to be solved for x where nothing is known of f."""
    left, right = equation.args
    if not isinstance(left, AppliedUndef) or len(left.args) != 1:
        return False
    (argument,) = left.args
    if not isinstance(argument, sympy.Symbol) or right.free_symbols != {argument}:
        return False
    return bool(right.is_polynomial(argument)) and not right.has(AppliedUndef)


def _is_solvable(equation: Any) -> bool:
    """Whether sympy finds a real solution: it is of the first or second degree in some letter."""
    return any(
        all(_has_real_roots(equation, letter, place) for place in ANY_NUMBERS)
        for letter in equation.free_symbols
    )


def _has_real_roots(equation: Any, letter: Any, place: Place) -> bool:
    try:
        above, below = _difference(equation, letter, place)
        if len(above) - 1 not in (1, 2) or any(part.imag for part in chain(above, below)):
            return False
        roots = _roots(above)
        return all(
            abs(root.imag) == 0 and abs(_at(below, root)) > UNCLEAR * max(map(abs, below))
            for root in roots
        ) and (len(roots) == 1 or abs(roots[0] - roots[1]) > UNCLEAR)
    except (UnclearError, ArithmeticError, ValueError):
        return False


def _no_common_root(one: Any, other: Any, letter: Any, place: Place) -> bool:
    """Whether no value of a letter solves both at a place."""
    return any(
        _roots_of_one_fail(first, second, letter, place)
        for first, second in ((one, other), (other, one))
    )


def _roots_of_one_fail(one: Any, other: Any, letter: Any, place: Place) -> bool:
    try:
        above, _ = _difference(one, letter, place)
        if not 1 <= len(above) <= 3:
            return False
        for root in _roots(above):
            number = root if abs(root.imag) > 0 else root.real
            given = {letter: Value(number, NEARLY * (1 + abs(number)))}
            if not apart(*(value_of(side, place, given) for side in other.args)):
                return False
        return True
    except (UnclearError, ArithmeticError, ValueError):
        return False


def _roots(polynomial: Polynomial) -> list[complex]:
    if len(polynomial) <= 1:
        return []
    if len(polynomial) == 2:
        return [-polynomial[0] / polynomial[1]]
    constant, linear, square = polynomial
    under = linear * linear - 4 * square * constant
    if abs(under) <= UNCLEAR * (abs(linear) ** 2 + abs(4 * square * constant)):
        raise UnclearError  # two roots so near each other are not known well
    root = cmath.sqrt(under)
    larger = -(linear + root if (linear.conjugate() * root).real >= 0 else linear - root) / 2
    return [larger / square, constant / larger]


def _at(polynomial: Polynomial, number: complex) -> complex:
    total = 0j
    for coefficient in reversed(polynomial):
        total = total * number + coefficient
    return total


def _difference(equation: Any, letter: Any, place: Place) -> Quotient:
    """One side minus the other, as a quotient of polynomials in a letter."""
    (a, b), (c, d) = (_quotient(side, letter, place) for side in equation.args)
    return _trimmed(_plus(_times(a, d), [-part for part in _times(c, b)])), _times(b, d)


def _quotient(expression: Any, letter: Any, place: Place) -> Quotient:
    if expression == letter:
        return [0j, 1 + 0j], [1 + 0j]
    if not expression.has(letter):
        value = value_of(expression, place, {})
        if value.error > NEARLY * abs(value.number):
            raise UnclearError
        return [complex(value.number)], [1 + 0j]
    match expression:
        case sympy.Add():
            above, below = [0j], [1 + 0j]
            for part in expression.args:
                a, b = _quotient(part, letter, place)
                above, below = _plus(_times(above, b), _times(a, below)), _times(below, b)
            return above, below
        case sympy.Mul():
            above, below = [1 + 0j], [1 + 0j]
            for part in expression.args:
                a, b = _quotient(part, letter, place)
                above, below = _times(above, a), _times(below, b)
            return above, below
        case sympy.Pow(exp=sympy.Integer() as exponent) if abs(exponent) <= MOST_POWERS:
            a, b = _quotient(expression.base, letter, place)
            if exponent < 0:
                a, b = b, a
            above, below = [1 + 0j], [1 + 0j]
            for _ in range(abs(exponent)):
                above, below = _times(above, a), _times(below, b)
            return above, below
    raise UnclearError


def _plus(one: Polynomial, other: Polynomial) -> Polynomial:
    longer, shorter = sorted((one, other), key=len, reverse=True)
    return [
        part + (shorter[power] if power < len(shorter) else 0) for power, part in enumerate(longer)
    ]


def _times(one: Polynomial, other: Polynomial) -> Polynomial:
    if len(one) + len(other) > 2 * MOST_POWERS:
        raise UnclearError
    product = [0j] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            product[i + j] += a * b
    return product


def _trimmed(polynomial: Polynomial) -> Polynomial:
    """Without leading zeros; UnclearError where a coefficient may be one for all that is known."""
    largest = max(map(abs, polynomial))
    while len(polynomial) > 1 and polynomial[-1] == 0:
        polynomial = polynomial[:-1]
    if abs(polynomial[-1]) <= NEGLIGIBLE * largest:
        raise UnclearError
    return polynomial
