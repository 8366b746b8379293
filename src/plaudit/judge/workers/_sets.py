"""Two sets of numbers, or an inequality and a set -> whether a point is in one of them alone.

math-verify subtracts sets from each other, and solves an inequality to have its set. Mostly a point
between their ends shows that they differ. What is not certain is False, as in `_rejection`.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import sympy
from latex2sympy2_extended.logic import And
from sympy.core.relational import (
    GreaterThan,
    LessThan,
    Relational,
    StrictGreaterThan,
    StrictLessThan,
)

from plaudit.judge.workers._rejection import UNCLEAR, clearly_different
from plaudit.judge.workers._values import ANY_NUMBERS, Place, UnclearError, Value, value_of

STRICT = (StrictGreaterThan, StrictLessThan)
INEQUALITIES = (GreaterThan, LessThan, *STRICT)
KINDS = (sympy.Expr, Relational, sympy.Tuple, sympy.Set)


class Point(NamedTuple):
    """A number on the line; written as what, where it is an end or an element of a set."""

    number: float
    error: float = 0.0
    written: Any = None


def sets_differ(one: Any, other: Any) -> bool:
    """Whether one of two sets holds what the other does not, for certain.

    >>> sets_differ(sympy.Interval(1, 2), sympy.FiniteSet(1, 2))
    True
    >>> sets_differ(sympy.Interval(1, 3), sympy.Interval(1, 2) + sympy.Interval(2, 3))
    False
    """
    if isinstance(one, sympy.FiniteSet) and isinstance(other, sympy.FiniteSet):
        return _has_another(one, other) or _has_another(other, one)
    return all(_point_in_one(one, other, place) is not None for place in ANY_NUMBERS)


def _has_another(one: Any, other: Any) -> bool:
    """Whether an element of one set is none of the other's."""
    return any(all(_differ(element, each) for each in other.args) for element in one.args)


def _differ(one: Any, other: Any) -> bool:
    kinds = [
        next((kind for kind in KINDS if isinstance(each, kind)), None) for each in (one, other)
    ]
    return (None not in kinds and kinds[0] is not kinds[1]) or clearly_different(one, other)


def inequality_differs(relation: Any, other: Any) -> bool:
    """Whether the numbers for which inequalities in one letter hold are not this set, for certain.

    >>> x = sympy.Symbol("x", real=True)
    >>> inequality_differs(x**2 < 4, sympy.Interval.open(-2, 3))
    True
    >>> inequality_differs(x**2 < 4, sympy.Interval.open(-2, 2))
    False
    """
    if not _is_inequality(relation) or other.free_symbols:
        return False
    if isinstance(other, sympy.FiniteSet) and len(other) == 2:
        return False  # math-verify takes two elements for the ends of an open interval
    letters = relation.free_symbols
    if len(letters) != 1 or not all(letter.is_real for letter in letters):
        return False
    if relation.has(sympy.core.function.AppliedUndef):
        return False
    place = ANY_NUMBERS[0]
    if _point_in_one(relation, other, place) is None:
        return False
    # If it held for two numbers alone, those might be the ends of an open interval, as above.
    return any(_holds(relation, point, place) for point in _points(relation, other, place))


def _is_inequality(relation: Any) -> bool:
    if isinstance(relation, And):
        return all(isinstance(part, INEQUALITIES) for part in relation._unsorted_args)
    return isinstance(relation, INEQUALITIES)


def _holds(relation: Any, point: Point, place: Place) -> bool:
    try:
        return point.written is None and _contains(relation, point, place)
    except (UnclearError, ArithmeticError, ValueError):
        return False


def _point_in_one(one: Any, other: Any, place: Place) -> Point | None:
    """A point that is in one of them alone."""
    for point in _points(one, other, place):
        try:
            if _contains(one, point, place) != _contains(other, point, place):
                return point
        except (UnclearError, ArithmeticError, ValueError):
            continue
    return None


def _points(one: Any, other: Any, place: Place) -> list[Point]:
    """Their ends and elements, and what lies between those and beyond."""
    try:
        ends = sorted([*_ends(one, place), *_ends(other, place)], key=lambda point: point.number)
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


def _ends(numbers: Any, place: Place) -> Iterator[Point]:
    """The ends of intervals and the elements of finite sets; UnclearError where it is neither."""
    match numbers:
        case sympy.Interval():
            finite = (end for end in (numbers.start, numbers.end) if not end.is_infinite)
            yield from (_point(end, place) for end in finite)
        case sympy.FiniteSet():
            for element in numbers.args:
                if isinstance(element, sympy.Expr):
                    value = value_of(element, place, {})
                    if not isinstance(value.number, complex):
                        yield Point(value.real, value.error, element)
        case sympy.Union() | sympy.Complement() | sympy.Intersection():
            for part in numbers.args:
                yield from _ends(part, place)
        case Relational():
            if isinstance(numbers.lhs, sympy.Symbol) and not numbers.rhs.free_symbols:
                yield _point(numbers.rhs, place)
        case And():
            for part in numbers._unsorted_args:
                yield from _ends(part, place)
        case _ if numbers is not sympy.S.EmptySet:
            raise UnclearError


def _point(end: Any, place: Place) -> Point:
    value = value_of(end, place, {})
    return Point(value.real, value.error, end)


def _contains(numbers: Any, point: Point, place: Place) -> bool:
    match numbers:
        case sympy.Interval():
            return _side(point, numbers.start, place) >= bool(numbers.left_open) and (
                _side(point, numbers.end, place) <= -bool(numbers.right_open)
            )
        case sympy.FiniteSet():
            return _any(_is_at(point, element, place) for element in numbers.args)
        case sympy.Union():
            return _any(_contained(part, point, place) for part in numbers.args)
        case sympy.Intersection():
            return all(_contains(part, point, place) for part in numbers.args)
        case sympy.Complement():
            return _contains(numbers.args[0], point, place) and not _contains(
                numbers.args[1], point, place
            )
        case And():
            return all(_contains(part, point, place) for part in numbers._unsorted_args)
        case Relational():
            return _is_true(numbers, point, place)
    if numbers is sympy.S.EmptySet:
        return False
    raise UnclearError


def _any(answers: Iterator[bool | None]) -> bool:
    """Whether one is True; None is for what is not clear."""
    found = list(answers)
    if None in found and True not in found:
        raise UnclearError
    return True in found


def _contained(numbers: Any, point: Point, place: Place) -> bool | None:
    try:
        return _contains(numbers, point, place)
    except UnclearError:
        return None


def _is_at(point: Point, element: Any, place: Place) -> bool | None:
    if not isinstance(element, sympy.Expr):
        return False
    value = value_of(element, place, {})
    if isinstance(value.number, complex):
        return None if abs(value.number.imag) <= value.error + UNCLEAR else False
    try:
        return _side(point, element, place) == 0
    except UnclearError:
        return None


def _side(point: Point, end: Any, place: Place) -> int:
    """-1 where a point lies below an end, 1 where above, 0 where it is that end."""
    if end is sympy.oo or end is -sympy.oo:
        return -1 if end is sympy.oo else 1
    if point.written is not None and point.written == end:
        return 0
    value = value_of(end, place, {})
    return _sign(Value(point.number - value.real, point.error + value.error), abs(value.real))


def _sign(difference: Value, size: float) -> int:
    if abs(difference.real) <= difference.error + UNCLEAR * max(1.0, size):
        raise UnclearError
    return 1 if difference.real > 0 else -1


def _is_true(relation: Any, point: Point, place: Place) -> bool:
    """Whether an inequality holds for a number in the place of its letter."""
    if isinstance(relation.lhs, sympy.Symbol) and point.written == relation.rhs:
        return not isinstance(relation, STRICT)
    given = {letter: Value(point.number, point.error) for letter in relation.free_symbols}
    left, right = (value_of(side, place, given) for side in (relation.lhs, relation.rhs))
    difference = Value(left.real - right.real, left.error + right.error)
    above = _sign(difference, max(abs(left.real), abs(right.real))) > 0
    return above is isinstance(relation, (GreaterThan, StrictGreaterThan))
