"""Two sets or relations -> whether they are different for certain, by a point in one of them alone.

math-verify subtracts sets from each other, and solves an inequality to have its set. Mostly a point
between their ends shows that they differ.

Two relations it has sympy solve, as a last resort, and takes anything that is raised on the way for
"different". For two equations in several letters it finds a match if both have the same solutions,
each a letter and its value; if either has one letter or none, only if neither has any solution.
Inequalities always end in an exception. So it need not be asked

- if one of them is no equation;
- if one is sure to have a solution, or to be too much for sympy, and has one letter or none;
- if one is sure to have a solution, and no value of any letter solves both at a point.

What is not certain is False, as in `_numeric_values`.
"""

import cmath
import re
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any, NamedTuple

import sympy
from latex2sympy2_extended.logic import And
from sympy.core.function import AppliedUndef
from sympy.core.relational import (
    GreaterThan,
    LessThan,
    Relational,
    StrictGreaterThan,
    StrictLessThan,
)

from plaudit.judge.workers._numeric_values import (
    ANY_NUMBERS,
    UNCLEAR,
    Assignment,
    UnclearError,
    Value,
    apart,
    clearly_different,
    fixed,
    value_of,
)

STRICT = (StrictGreaterThan, StrictLessThan)
INEQUALITIES = (GreaterThan, LessThan, *STRICT)
KINDS = (sympy.Expr, Relational, sympy.Tuple, sympy.Set)


class Point(NamedTuple):
    """A number on the line; written as what, where it is an end or an element of a set."""

    number: float
    error: float = 0.0
    written: Any = None


def sets_differ(one: Any, other: Any) -> bool:
    """Whether one of two sets holds what the other does not, for certain."""
    if isinstance(one, sympy.FiniteSet) and isinstance(other, sympy.FiniteSet):
        return _has_another(one, other) or _has_another(other, one)
    return all(_point_in_one(one, other, at) is not None for at in ANY_NUMBERS)


def _has_another(one: Any, other: Any) -> bool:
    """Whether an element of one set is none of the other's."""
    return any(all(_differ(element, each) for each in other.args) for element in one.args)


def _differ(one: Any, other: Any) -> bool:
    kinds = [
        next((kind for kind in KINDS if isinstance(each, kind)), None) for each in (one, other)
    ]
    return (None not in kinds and kinds[0] is not kinds[1]) or clearly_different(one, other)


def inequality_differs(relation: Any, other: Any) -> bool:
    """Whether inequalities in one letter hold for other numbers than this set's, for certain."""
    if not _is_inequality(relation) or other.free_symbols:
        return False
    if isinstance(other, sympy.FiniteSet) and len(other) == 2:
        return False  # math-verify takes two elements for the ends of an open interval
    letters = relation.free_symbols
    if len(letters) != 1 or not all(letter.is_real for letter in letters):
        return False
    if relation.has(sympy.core.function.AppliedUndef):
        return False
    at = ANY_NUMBERS[0]
    if _point_in_one(relation, other, at) is None:
        return False
    # If it held for two numbers alone, those might be the ends of an open interval, as above.
    return any(_holds(relation, point, at) for point in _points(relation, other, at))


def _is_inequality(relation: Any) -> bool:
    if isinstance(relation, And):
        return all(isinstance(part, INEQUALITIES) for part in relation._unsorted_args)
    return isinstance(relation, INEQUALITIES)


def _holds(relation: Any, point: Point, at: Assignment) -> bool:
    try:
        return point.written is None and _contains(relation, point, at)
    except (UnclearError, ArithmeticError, ValueError):
        return False


def _point_in_one(one: Any, other: Any, at: Assignment) -> Point | None:
    """A point that is in one of them alone."""
    for point in _points(one, other, at):
        try:
            if _contains(one, point, at) != _contains(other, point, at):
                return point
        except (UnclearError, ArithmeticError, ValueError):
            continue
    return None


def _points(one: Any, other: Any, at: Assignment) -> list[Point]:
    """Their ends and elements, and what lies between those and beyond."""
    try:
        ends = sorted([*_ends(one, at), *_ends(other, at)], key=lambda point: point.number)
    except (UnclearError, ArithmeticError, ValueError):
        return []
    if not ends:
        return [Point(0.4321)]
    between = [Point((a.number + b.number) / 2) for a, b in pairwise(ends)]
    beyond = [Point(ends[0].number - 1.0173), Point(ends[-1].number + 1.0173)]
    beside = [
        Point(end.number + step * (1 + abs(end.number))) for end in ends for step in (-0.001, 0.001)
    ]
    return [*beyond, *between, *beside, *ends]


def _ends(numbers: Any, at: Assignment) -> Iterator[Point]:
    """The ends of intervals and the elements of finite sets; UnclearError if it is neither."""
    match numbers:
        case sympy.Interval():
            finite = (end for end in (numbers.start, numbers.end) if not end.is_infinite)
            yield from (_point(end, at) for end in finite)
        case sympy.FiniteSet():
            for element in numbers.args:
                if isinstance(element, sympy.Expr):
                    value = value_of(element, at)
                    if not isinstance(value.number, complex):
                        yield Point(value.real, value.error, element)
        case sympy.Union() | sympy.Complement() | sympy.Intersection():
            for part in numbers.args:
                yield from _ends(part, at)
        case Relational():
            if isinstance(numbers.lhs, sympy.Symbol) and not numbers.rhs.free_symbols:
                yield _point(numbers.rhs, at)
        case And():
            for part in numbers._unsorted_args:
                yield from _ends(part, at)
        case _ if numbers is not sympy.S.EmptySet:
            raise UnclearError


def _point(end: Any, at: Assignment) -> Point:
    value = value_of(end, at)
    return Point(value.real, value.error, end)


def _contains(numbers: Any, point: Point, at: Assignment) -> bool:
    match numbers:
        case sympy.Interval():
            return _side(point, numbers.start, at) >= bool(numbers.left_open) and (
                _side(point, numbers.end, at) <= -bool(numbers.right_open)
            )
        case sympy.FiniteSet():
            return _any(_is_at(point, element, at) for element in numbers.args)
        case sympy.Union():
            return _any(_contained(part, point, at) for part in numbers.args)
        case sympy.Intersection():
            return all(_contains(part, point, at) for part in numbers.args)
        case sympy.Complement():
            return _contains(numbers.args[0], point, at) and not _contains(
                numbers.args[1], point, at
            )
        case And():
            return all(_contains(part, point, at) for part in numbers._unsorted_args)
        case Relational():
            return _is_true(numbers, point, at)
    if numbers is sympy.S.EmptySet:
        return False
    raise UnclearError


def _any(answers: Iterator[bool | None]) -> bool:
    """Whether one is True; None is for what is not clear."""
    found = list(answers)
    if None in found and True not in found:
        raise UnclearError
    return True in found


def _contained(numbers: Any, point: Point, at: Assignment) -> bool | None:
    try:
        return _contains(numbers, point, at)
    except UnclearError:
        return None


def _is_at(point: Point, element: Any, at: Assignment) -> bool | None:
    if not isinstance(element, sympy.Expr):
        return False
    value = value_of(element, at)
    if isinstance(value.number, complex):
        return None if abs(value.number.imag) <= value.error + UNCLEAR else False
    try:
        return _side(point, element, at) == 0
    except UnclearError:
        return None


def _side(point: Point, end: Any, at: Assignment) -> int:
    """-1 where a point lies below an end, 1 where above, 0 where it is that end."""
    if end is sympy.oo or end is -sympy.oo:
        return -1 if end is sympy.oo else 1
    if point.written is not None and point.written == end:
        return 0
    value = value_of(end, at)
    return _sign(Value(point.number - value.real, point.error + value.error), abs(value.real))


def _sign(difference: Value, size: float) -> int:
    if abs(difference.real) <= difference.error + UNCLEAR * max(1.0, size):
        raise UnclearError
    return 1 if difference.real > 0 else -1


def _is_true(relation: Any, point: Point, at: Assignment) -> bool:
    """Whether an inequality in one letter holds for a number."""
    if isinstance(relation.lhs, sympy.Symbol) and point.written == relation.rhs:
        return not isinstance(relation, STRICT)
    for letter in relation.free_symbols:
        at = fixed(letter, Value(point.number, point.error), at)
    left, right = (value_of(side, at) for side in (relation.lhs, relation.rhs))
    difference = Value(left.real - right.real, left.error + right.error)
    above = _sign(difference, max(abs(left.real), abs(right.real))) > 0
    return above is isinstance(relation, (GreaterThan, StrictGreaterThan))


# -- Equations

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
    """Whether math-verify finds no match among the solutions of two relations, for certain."""
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
        _no_common_root(gold, answer, letter, at) for letter in common for at in ANY_NUMBERS
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
        all(_has_real_roots(equation, letter, at) for at in ANY_NUMBERS)
        for letter in equation.free_symbols
    )


def _has_real_roots(equation: Any, letter: Any, at: Assignment) -> bool:
    try:
        above, below = _difference(equation, letter, at)
        if len(above) - 1 not in (1, 2) or any(part.imag for part in chain(above, below)):
            return False
        roots = _roots(above)
        return all(
            abs(root.imag) == 0 and abs(_at(below, root)) > UNCLEAR * max(map(abs, below))
            for root in roots
        ) and (len(roots) == 1 or abs(roots[0] - roots[1]) > UNCLEAR)
    except (UnclearError, ArithmeticError, ValueError):
        return False


def _no_common_root(one: Any, other: Any, letter: Any, at: Assignment) -> bool:
    """Whether no value of a letter solves both at a point."""
    return any(
        _roots_of_one_fail(first, second, letter, at)
        for first, second in ((one, other), (other, one))
    )


def _roots_of_one_fail(one: Any, other: Any, letter: Any, at: Assignment) -> bool:
    try:
        above, _ = _difference(one, letter, at)
        if not 1 <= len(above) <= 3:
            return False
        for root in _roots(above):
            number = root if abs(root.imag) > 0 else root.real
            at_root = fixed(letter, Value(number, NEARLY * (1 + abs(number))), at)
            if not apart(*(value_of(side, at_root) for side in other.args)):
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


def _difference(equation: Any, letter: Any, at: Assignment) -> Quotient:
    """One side minus the other, as a quotient of polynomials in a letter."""
    (a, b), (c, d) = (_quotient(side, letter, at) for side in equation.args)
    return _trimmed(_plus(_times(a, d), [-part for part in _times(c, b)])), _times(b, d)


def _quotient(expression: Any, letter: Any, at: Assignment) -> Quotient:
    if expression == letter:
        return [0j, 1 + 0j], [1 + 0j]
    if not expression.has(letter):
        value = value_of(expression, at)
        if value.error > NEARLY * abs(value.number):
            raise UnclearError
        return [complex(value.number)], [1 + 0j]
    match expression:
        case sympy.Add():
            above, below = [0j], [1 + 0j]
            for part in expression.args:
                a, b = _quotient(part, letter, at)
                above, below = _plus(_times(above, b), _times(a, below)), _times(below, b)
            return above, below
        case sympy.Mul():
            above, below = [1 + 0j], [1 + 0j]
            for part in expression.args:
                a, b = _quotient(part, letter, at)
                above, below = _times(above, a), _times(below, b)
            return above, below
        case sympy.Pow(exp=sympy.Integer() as exponent) if abs(exponent) <= MOST_POWERS:
            a, b = _quotient(expression.base, letter, at)
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
    """Without leading zeros; UnclearError if a coefficient may be one for all that is known."""
    largest = max(map(abs, polynomial))
    while len(polynomial) > 1 and polynomial[-1] == 0:
        polynomial = polynomial[:-1]
    if abs(polynomial[-1]) <= NEGLIGIBLE * largest:
        raise UnclearError
    return polynomial
