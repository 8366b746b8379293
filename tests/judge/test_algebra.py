"""Wherever two math objects are decided, math-verify says the same of the same two strings."""

from fractions import Fraction

import pytest
from drawn_algebra import expressions, pairs, signs
from hypothesis import event, given, settings
from hypothesis import strategies as st
from math_verify_reference import same

from examples import examples
from plaudit.judge._algebra import math_object, number_object, same_object


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
relations = st.builds(
    "{}{}{}".format,
    expressions,
    st.sampled_from(["<", ">", r"\leq ", r"\ge ", r"\ne "]),
    expressions,
)
brackets = st.builds(
    "{}{}, {}{}".format,
    st.sampled_from("(["),
    st.one_of(expressions, decimals),
    st.one_of(expressions, decimals),
    st.sampled_from(")]"),
)
functions = st.builds(
    r"{}\{}{{({})}}{}".format,
    st.sampled_from(["", "2", "-", r"\frac{1}{2}", "2 \\cdot ", r"1\frac{1}{2}"]),
    st.sampled_from(["sin", "cos", "tan", "ln", "sqrt"]),
    st.one_of(expressions, decimals, st.sampled_from([r"\frac{\pi}{6}", r"45^\circ", "2e"])),
    st.sampled_from(["", "^2", "+1", "/3", "e^{2}"]),
)
powers = st.builds(r"{}{} \times 10^{{{}}}".format, signs, decimals, st.integers(-20, 20).map(str))
anything = st.one_of(decimals, expressions, relations, brackets, powers, functions)


@settings(deadline=None, max_examples=examples(500), derandomize=True, database=None)
@given(anything, anything)
def test_decimals_relations_and_brackets_are_decided_as_math_verify_decides_them(gold, answer):
    decided = decide(gold, answer)
    event(f"decided: {decided}")
    if decided is not None:
        assert same(gold, answer) is decided


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
        ("2", "x > 2", False),
        ("x < 3", "3 > x", True),
        ("x < 3", "x > 3", False),
        ("x < 3", r"x \leq 3", False),
        (r"x \neq 3", r"x \neq 3 + 0", True),
        ("2", "(n, 1)", False),
        ("(n, 1)", "(n, 1)", None),
        ("AD", "113", False),
        ("40", "40_9", True),
        ("2:5", r"\frac{2}{5}", True),
        ("{2, 3}", r"\{3, 2\}", True),
        ("x^{-1}", r"\frac{1}{x}", True),
        (r"3 \times 10^{-2}", r"\frac{3}{100}", True),
        ("3.15", r"\pi", False),
        ("3.14159", r"\pi", None),
        ("7.0", r"\frac{m}{n}", False),
        ("0.5x", "0.6x", False),
        ("0.5x", r"\frac{x}{2}", None),
        ("1.2", "1, 4, 9", False),
        ("1.2", "1.2, 1.2", None),
        (r"2.97 \times 10^{-19}", "2.88", False),
        ("9.5", "x > 9", False),
        (r"\frac{9}{256}", r"\frac{3\sin(\frac{\pi}{9})\cos(\frac{\pi}{18})^2}{4}", False),
        ("0.5", r"\sin 30^\circ", False),
        (r"\frac{1}{2}", r"\sin \frac{\pi}{6}", None),
        (r"e^2", "7", False),
        (r"\ln 2", r"\ln 3", False),
        (r"2\sin(1) \frac{1}{2}", r"\sin 1", None),
        (r"\sin x", "2", None),
    ],
)
def test_small_algebra(gold, answer, decided):
    assert decide(gold, answer) is decided
    assert decided in (None, same(gold, answer))


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
    assert decide("0.5", rf"{LARGE} \cdot {LARGE}") in (None, False)


TOKENS = [
    *"0 1 12 x y e i - + * / ^ ( ) { } [ ] , = <".split(),
    *(
        r"\frac",
        r"\sqrt",
        r"\pi",
        r"\cdot",
        r"\times ",
        r"\infty",
        r"\in ",
        r"\theta ",
        r"\{",
        r"\}",
    ),
    *(" ", r"\text{ab}", r"\frac{1}{2}", "^{", "^{2", r"x \in (", r"\sqrt{"),
]


@settings(deadline=None, max_examples=examples(2000), derandomize=True, database=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=9).map("".join))
def test_whatever_comes_is_a_math_object_or_none(text):
    found = math_object(text)
    assert found is None or same_object(found, found) in (True, None)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "2^{2",
            "x^{",
            "x^",
            "2(3)",
            "x(y)",
            "ex",
            "2^e",
            "dx",
            r"\sin x",
            "x^y",
            "x^{-9}",
            "x^9",
            r"\frac{1}{x+1}",
        ),
        *(r"\sqrt{-1}", r"\sqrt[3]{8}", "1,000", "1,000.5", "[2, 1]", "I", "x+", "((1)", "1)"),
        *(
            r"\frac{1}{0}",
            "1 2",
            "x y = y = 1",
            "x" * 201,
            r"\text{a b}",
            "x_1",
        ),
        *(
            r"x \in \{1\}",
            r"x \in (2, 1)",
            r"\theta(x)",
            "x =",
            r"\{1",
            r"\infty",
            r"(\infty, 0)",
            r"(0, x, \infty)",
            r"(0, 2\infty)",
        ),
    ],
)
def test_what_has_no_polynomial_is_none(text):
    assert math_object(text) is None


def test_a_plain_number_is_the_same_as_its_text():
    assert number_object(Fraction(3, 4), decimal=False) == math_object(r"\frac{6}{8}")
    assert number_object(Fraction(0), decimal=False) == math_object("x - x")


def test_powers_of_powers_are_not_worked_out():
    tower = math_object("(((((9^8)^8)^8)^8)^8)")
    assert tower is None or tower.parts[0][(), 1].numerator.bit_length() < 5_000


def test_nested_parentheses_are_read_deep_in_a_stack():
    def deeper(frames):
        return deeper(frames - 1) if frames else math_object("(" * 99 + "x" + ")" * 99)

    assert deeper(500) in (None, math_object("(x)"))
