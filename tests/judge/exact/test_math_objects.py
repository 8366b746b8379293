"""The small grammar reads what it knows, and says nothing of the rest."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from plaudit.judge.exact import math_object, number_object, same_object

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
            "e",
            "2e",
            "d",
            r"\sin x",
            "x^y",
            "x^{-1}",
            "x^9",
            r"\frac{1}{x+1}",
        ),
        *(r"\sqrt{-1}", r"\sqrt[3]{8}", "1,000", "1.5", "[2, 1]", "(0, x)", "x+", "((1)", "1)"),
        *(
            r"\frac{1}{0}",
            "x--1",
            "1 2",
            "x y = y = 1",
            "+x",
            "x" * 201,
            r"\text{a b}",
            "2^3^4",
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
def test_what_the_grammar_does_not_know_is_none(text):
    assert math_object(text) is None


def test_a_plain_number_is_the_same_as_its_text():
    assert number_object(Fraction(3, 4)) == math_object(r"\frac{6}{8}")
    assert number_object(Fraction(0)) == math_object("x - x")


def test_powers_of_powers_are_not_worked_out():
    tower = math_object("(((((9^8)^8)^8)^8)^8)")
    assert tower is None or tower.parts[0][(), 1].numerator.bit_length() < 5_000


def test_nested_parentheses_are_read_deep_in_a_stack():
    def deeper(frames):
        return deeper(frames - 1) if frames else math_object("(" * 99 + "x" + ")" * 99)

    assert deeper(500) in (None, math_object("(x)"))
