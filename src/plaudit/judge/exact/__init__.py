"""Two answers as text in normal form -> equal, different, or undecided, without a CAS.

`exact_number` reads plain numbers, `math_object` small algebra: sums of products of numbers,
letters, π and square roots, and pairs, lists and equations of such. `same_number` and `same_object`
say of two whether math-verify would find them equal, and None where only math-verify can say:
undecided is always an answer here; a guess never is.
"""

from plaudit.judge.exact._comparison import clearly_apart, same_object
from plaudit.judge.exact._math_objects import MathObject, math_object, number_object
from plaudit.judge.exact._numbers import ExactNumber, exact_number, same_number

__all__ = [
    "ExactNumber",
    "MathObject",
    "clearly_apart",
    "exact_number",
    "math_object",
    "number_object",
    "same_number",
    "same_object",
]
