"""Wherever two math objects are compared, math-verify says the same of the same two strings."""

from fractions import Fraction

import pytest
from drawn_algebra import expressions, pairs, signs
from hypothesis import event, given, settings
from hypothesis import strategies as st
from math_verify_reference import same

from examples import examples
from plaudit.judge.exact import clearly_apart, math_object, same_object


def decide(gold, answer):
    objects = math_object(gold), math_object(answer)
    return same_object(*objects) if all(objects) else None


@settings(deadline=None, max_examples=examples(700), derandomize=True, database=None)
@given(pairs())
def test_math_objects_are_decided_as_math_verify_decides_them(pair):
    decided = decide(*pair)
    event(f"decided: {decided}")
    if decided is not None:
        assert same(*pair) is decided


decimals = st.builds("{}{}.{}".format, signs, st.integers(0, 400), st.integers(0, 99_999))


@settings(deadline=None, max_examples=examples(200), derandomize=True, database=None)
@given(decimals, expressions)
def test_what_is_clearly_apart_is_different_for_math_verify(decimal, expression):
    other = math_object(expression)
    if other and clearly_apart(Fraction(decimal), other):
        assert same(decimal, expression) is False
        assert same(expression, decimal) is False


@pytest.mark.parametrize(
    ("gold", "answer", "decided"),
    [
        ("x^2+2x+1", "(x+1)^2", True),
        (r"2\sqrt{8}", r"4\sqrt{2}", True),
        (r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}", True),
        (r"\frac{\pi}{2}", r"\pi/2", True),
        (r"\pi", r"2\pi", False),
        (r"\mu", "mu", None),
        ("rho", r"\rho", None),
        (r"x=\sigma", "sigma", None),
        (r"(1, 2, \phi)", "(1, 2, phi)", None),
        (r"\mu", "2", False),
        (r"2\mu", "2mu", False),
        ("5", "x=5", True),
        ("x=5", "6", False),
        ("x=5", "y=5", False),
        ("x=5", "x=7", False),
        ("x=5", "5=x", True),
        ("x=5", "2x=10", False),
        ("y=2x+3", "2x-y+3=0", True),
        ("y=2x+3", "4x-2y=-6", True),
        ("y=2x+3", "y=3x+2", False),
        ("x^2=4", "x=2", None),
        ("1", "x^2+y^2=1", True),
        ("x^2=4", "4", None),
        (r"\frac{m}{n}", "2", False),
        (r"\frac{2\pi}{\omega}", r"2\pi/\omega", True),
        ("[1, 7)", r"x \in [1, 7)", True),
        ("[1, 7)", r"x \in (1, 7)", False),
        (r"x \in [1, 7)", "[1, 7)", True),
        (r"y \in [1, 7)", r"x \in [1, 7)", None),
        ("(1, 2)", "(2, 1)", False),
        ("(1, 2, x+1)", "(1, 2, 1+x)", True),
        ("(0, 1)", "[0, 1]", False),
        ("(1, 2)", "(1, 2, 3)", False),
        ("1, 2", r"\{2, 1\}", True),
        ("1, 2", "1, 3", False),
        (r"\text{Even}", r"\text{even}", True),
        (r"\text{even}", "4", False),
        ("x", "y", False),
        (r"(-\infty, 2]", r"[-\infty, 2]", True),
        (r"(-\infty, 2]", r"(-\infty, 2)", False),
        (r"[0, \infty)", r"(-\infty, 0]", False),
        ("1 + 2i", "2i + 1", True),
        ("1 + 2i", "1 - 2i", False),
        ("i x", "ix", None),
        ("2x - x", "x", None),
    ],
)
def test_small_algebra(gold, answer, decided):
    assert decide(gold, answer) is decided
    assert decided in (None, same(gold, answer))


def test_a_decimal_is_clearly_apart_from_what_no_rounding_makes_it():
    assert clearly_apart(Fraction("3.15"), math_object(r"\pi"))
    assert not clearly_apart(Fraction("3.14159"), math_object(r"\pi"))
    assert not clearly_apart(Fraction("3.15"), math_object("x"))
    assert not clearly_apart(Fraction("3.15"), math_object("3, 4"))


SMALL = r"10^8 \cdot 10^8 \cdot 10^8"


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        pytest.param(r"\pi", r"\text{pi}"),
        pytest.param("1, 1", "1"),
        pytest.param("1", "1, 1"),
        pytest.param(r"2\pi(3)", r"6\pi"),
        pytest.param(rf"\frac{{\pi}}{{{SMALL}}}", rf"\frac{{2\pi}}{{{SMALL}}}"),
    ],
)
def test_odd_ways_of_math_verify(gold, answer):
    assert decide(gold, answer) in (None, same(gold, answer))


LARGE = "9" * 30 + "^8"


def test_large_products_are_compared_with_decimals():
    assert clearly_apart(Fraction("0.5"), math_object(rf"{LARGE} \cdot {LARGE}")) in (True, False)
