"""math-verify's comparison of two sympy objects, with what is certain said first.

Each function here stands in for the one of the same arguments in `math_verify.grader`, which finds
it there in its turn, and gives the same result. What takes long is left out if `_numeric_values` or
`_solutions` show that it ends in "different".
"""

from collections.abc import Callable
from typing import Any

import sympy
from latex2sympy2_extended.logic import And
from math_verify import grader

from plaudit.judge.workers._numeric_values import clearly_different, differ_in_digits, never_equal
from plaudit.judge.workers._solutions import (
    INEQUALITIES,
    STRICT,
    inequality_differs,
    sets_differ,
    solutions_differ,
)

LISTED = (sympy.FiniteSet, sympy.Tuple)
DIGITS = 6  # to which math-verify rounds decimals by default: values that are apart are not equal

# As they were released, by their names in `math_verify.grader`.
RELEASED: dict[str, Callable[..., Any]] = {
    name: getattr(grader, name)
    for name in (
        "sympy_expr_eq",
        "sympy_compare_sets",
        "sympy_deep_compare_set_and_tuple",
        "sympy_solve_and_compare",
        "sympy_symbolic_eq",
    )
}


def expr_eq(
    gold: Any,
    answer: Any,
    float_rounding: int,
    numeric_precision: int,
    allow_set_relation_comp: bool = False,
    strict: bool = True,
) -> bool:
    """Whether two sympy objects are equal, by any of math-verify's rules."""
    if strict and float_rounding == DIGITS:
        if _are_expressions(gold, answer) and gold != answer and never_equal(gold, answer):
            return False
        if isinstance(answer, sympy.Set) and isinstance(gold, (And, *INEQUALITIES)):
            if inequality_differs(gold, answer):
                return False
            gold = _simple_inequality_as_set(gold)
    released = RELEASED["sympy_expr_eq"]
    return bool(
        released(gold, answer, float_rounding, numeric_precision, allow_set_relation_comp, strict)
    )


def _are_expressions(*both: Any) -> bool:
    return all(isinstance(each, (sympy.Expr, sympy.MatrixBase)) for each in both)


def _simple_inequality_as_set(relation: Any) -> Any:
    """The set of `x < 1` and `1 < x < 2`, as sympy would find it; others as they are."""
    parts = relation._unsorted_args if isinstance(relation, And) else [relation]
    rays = [_ray(part) for part in parts]
    if None in rays or len(relation.free_symbols) != 1:
        return relation
    return sympy.Intersection(*rays)


def _ray(relation: Any) -> Any:
    """The set of `x < 1`, where x is a real number; None for what is not as simple."""
    if not isinstance(relation, INEQUALITIES):
        return None
    low, high = relation.lts, relation.gts  # the less side, and the greater one
    is_open = isinstance(relation, STRICT)
    if _is_real_letter(low) and isinstance(high, sympy.Rational):
        return sympy.Interval(-sympy.oo, high, True, is_open)
    if _is_real_letter(high) and isinstance(low, sympy.Rational):
        return sympy.Interval(low, sympy.oo, is_open, True)
    return None


def _is_real_letter(side: Any) -> bool:
    return isinstance(side, sympy.Symbol) and bool(side.is_real)


def compare_sets(gold: Any, answer: Any, float_rounding: int, numeric_precision: int) -> bool:
    """Whether two sets or tuples are equal; anything else is the one element of a set."""
    one, other = (
        each if isinstance(each, (sympy.Set, sympy.Tuple)) else sympy.FiniteSet(each)
        for each in (gold, answer)
    )
    if isinstance(one, sympy.Interval) and isinstance(other, sympy.Interval):
        return bool(grader.sympy_compare_interval(one, other, float_rounding, numeric_precision))
    if one == other:
        return True
    # Elements are mostly quicker to compare than sets are to subtract, and either is enough.
    pairs = _as_members(one, other)
    if pairs is not None:
        try:
            if grader.sympy_deep_compare_set_and_tuple(*pairs, float_rounding, numeric_precision):
                return True
        except Exception:  # it is not equal by this rule, whatever was raised
            pass
    return _same_set(one, other)


def _as_members(one: Any, other: Any) -> tuple[Any, Any] | None:
    """What is compared member by member: finite sets, tuples, and open intervals as pairs."""
    if isinstance(one, LISTED) and isinstance(other, LISTED):
        return one, other
    if _is_open_interval(one) and isinstance(other, LISTED) and len(other) == 2:
        return sympy.Tuple(one.start, one.end), other
    if _is_open_interval(other) and isinstance(one, LISTED) and len(one) == 2:
        return one, sympy.Tuple(other.start, other.end)
    return None


def _is_open_interval(one: Any) -> bool:
    return isinstance(one, sympy.Interval) and bool(one.is_open)


def _same_set(one: Any, other: Any) -> bool:
    """Whether sympy finds nothing that is in one of them alone."""
    if not isinstance(one, sympy.Set) or not isinstance(other, sympy.Set):
        return False
    try:
        return not sets_differ(one, other) and bool(one.symmetric_difference(other).is_empty)
    except Exception:
        return False


def compare_members(gold: Any, answer: Any, float_rounding: int, numeric_precision: int) -> bool:
    """Whether the elements of two finite sets or tuples are equal, in the order that they get."""
    if len(gold) != len(answer):
        return False
    if float_rounding == DIGITS and any(
        all(never_equal(each, other) for other in answer.args) for each in gold.args
    ):
        return False
    released = RELEASED["sympy_deep_compare_set_and_tuple"]
    return bool(released(gold, answer, float_rounding, numeric_precision))


def solve_and_compare(gold: Any, answer: Any, float_rounding: int, numeric_precision: int) -> bool:
    """Whether two relations have the same solutions, as sympy gives them."""
    if solutions_differ(gold, answer):
        return False
    released = RELEASED["sympy_solve_and_compare"]
    return bool(released(gold, answer, float_rounding, numeric_precision))


def symbolic_eq(gold: Any, answer: Any) -> bool:
    """Whether sympy can show that their difference is zero."""
    if clearly_different(gold, answer) or differ_in_digits(gold, answer):
        return False
    return bool(RELEASED["sympy_symbolic_eq"](gold, answer))


FASTER: dict[str, Callable[..., Any]] = {
    "sympy_expr_eq": expr_eq,
    "sympy_compare_sets": compare_sets,
    "sympy_deep_compare_set_and_tuple": compare_members,
    "sympy_solve_and_compare": solve_and_compare,
    "sympy_symbolic_eq": symbolic_eq,
}


def compare_faster() -> None:
    """Put these functions in place of math-verify's own, in this process."""
    for name, function in FASTER.items():
        setattr(grader, name, function)
