"""Two sympy objects -> whether they are different for certain, by their kinds and their values.

math-verify simplifies a difference to find that it is not zero. Mostly two values show as much.
What is said here is only ever "different", and only where math-verify would say so in the end; of
what is not certain it is False.
"""

from math import inf
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from plaudit.judge.workers._values import ANY_NUMBERS, WHOLE_NUMBERS, Place, Value, values_at

UNCLEAR = 1e-6  # a difference below this, or below this share of the two, is no proof
UP_TO_N = (sympy.Sum, sympy.Product)
UNFINISHED = (
    sympy.Integral, sympy.Derivative, sympy.Sum, sympy.Product, sympy.Limit, AppliedUndef,
)  # fmt: skip


def clearly_different(one: Any, other: Any) -> bool:
    """Whether no identity makes two expressions, or two matrices, equal: values are apart.

    >>> x = sympy.Symbol("x", real=True)
    >>> clearly_different(sympy.sin(x), sympy.cos(x))
    True
    >>> clearly_different(sympy.sin(x) ** 2 - 1, -(sympy.cos(x) ** 2))
    False
    >>> clearly_different(sympy.Matrix([1, x]), sympy.Matrix([1, 2 * x]))
    True
    """
    if isinstance(one, sympy.MatrixBase) and isinstance(other, sympy.MatrixBase):
        return one.shape != other.shape or any(map(clearly_different, one.flat(), other.flat()))
    if not isinstance(one, sympy.Expr) or not isinstance(other, sympy.Expr):
        return False
    return _apart_at(one, other, ANY_NUMBERS) or (
        (one.has(*UP_TO_N) or other.has(*UP_TO_N)) and _apart_at(one, other, WHOLE_NUMBERS)
    )


def _apart_at(one: Any, other: Any, places: tuple[Place, Place]) -> bool:
    left, right = values_at(one, places), values_at(other, places)
    return left is not None and right is not None and all(map(apart, left, right))


def apart(one: Value, other: Value) -> bool:
    """Whether two values are further apart than any rounding of math-verify's.

    >>> apart(Value(1.0, 0.0), Value(1.1, 0.0)), apart(Value(1.0, 0.0), Value(1.1, 0.2))
    (True, False)
    """
    between = abs(one.number - other.number) - one.error - other.error
    return between > UNCLEAR * max(1.0, abs(one.number), abs(other.number))


def differ_in_digits(one: Any, other: Any) -> bool:
    """The same of expressions that have no value in floats, by sympy's own digits, which take long.

    >>> x = sympy.Symbol("x", real=True)
    >>> differ_in_digits(sympy.gamma(x), x), differ_in_digits(sympy.sin(x), sympy.cos(x))
    (True, False)
    """
    if not isinstance(one, sympy.Expr) or not isinstance(other, sympy.Expr):
        return False
    if values_at(one, ANY_NUMBERS) and values_at(other, ANY_NUMBERS):
        return False  # they are known already, and were not apart
    if one.has(*UNFINISHED) or other.has(*UNFINISHED):
        return False
    letters = one.free_symbols | other.free_symbols
    try:
        return all(_differ_at(one, other, letters, place) for place in ANY_NUMBERS)
    except MemoryError:
        raise
    except Exception:  # no value there: it is for sympy to say
        return False


def _differ_at(one: Any, other: Any, letters: set[Any], place: Place) -> bool:
    at = {letter: sympy.Float(place(letter.name)) for letter in letters}
    left, right = (Value(complex(side.evalf(15, subs=at)), 0.0) for side in (one, other))
    return abs(left.number - right.number) < inf and apart(left, right)


def never_equal(gold: Any, answer: Any) -> bool:
    """Whether math-verify finds them different, by whichever of its rules for their kinds.

    >>> x = sympy.Symbol("x", real=True)
    >>> never_equal(x + 1, x + 2), never_equal(sympy.Tuple(1, x), sympy.Tuple(1, x, x))
    (True, True)

    A letter or a word may be equal to what only looks like it, such as `abc` to a product of three:

    >>> never_equal(sympy.Symbol("e"), sympy.E)
    False
    """
    if isinstance(gold, sympy.Symbol) or isinstance(answer, sympy.Symbol):
        return _word_and_number(gold, answer)
    if isinstance(gold, sympy.Tuple) and isinstance(answer, sympy.Tuple):
        return len(gold) != len(answer) or any(map(never_equal, gold.args, answer.args))
    if isinstance(gold, sympy.Interval) and isinstance(answer, sympy.Interval):
        return (
            gold.left_open != answer.left_open
            or gold.right_open != answer.right_open
            or never_equal(gold.start, answer.start)
            or never_equal(gold.end, answer.end)
        )
    return clearly_different(gold, answer)


def _word_and_number(one: Any, other: Any) -> bool:
    """A word is equal to a number only if it is written with the same digits."""
    word, number = (one, other) if isinstance(one, sympy.Symbol) else (other, one)
    return isinstance(number, sympy.Rational) and word.name != str(number)
