"""Wherever two plain numbers are decided, math-verify says the same of the same two strings."""

from fractions import Fraction

import pytest
from drawn_numbers import pairs
from hypothesis import event, given, settings
from math_verify_reference import same, same_percent

from examples import examples
from plaudit.judge import math_verify_installed
from plaudit.judge._exact_numbers import ExactNumber, exact_number, same_number


@settings(deadline=None, max_examples=examples(1500), derandomize=True, database=None)
@given(pairs())
def test_numbers_are_decided_as_math_verify_decides_them(pair):
    gold, answer = map(exact_number, pair)
    decided = same_number(gold, answer) if gold and answer else None
    event(f"decided: {decided}")
    if decided is not None:
        assert same(*pair) is decided


@settings(deadline=None, max_examples=examples(400), derandomize=True, database=None)
@given(pairs())
def test_numbers_with_a_percent_sign_behind_their_latex(pair):
    gold, answer = exact_number(pair[0]), exact_number(pair[1], percent=True)
    decided = same_number(gold, answer) if gold and answer else None
    if decided is not None:
        assert same_percent(*pair) is decided


HALF = ExactNumber(Fraction(1, 2))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3/6", HALF),
        (r"\frac{-1}{-2}", HALF),
        ("0.5", HALF._replace(decimal=True)),
        (".5", HALF._replace(decimal=True)),
        (r"50\%", ExactNumber(Fraction(50), percent=True)),
        ("1,234,567", ExactNumber(Fraction(1234567))),
        (r"-2\frac{1}{2}", ExactNumber(Fraction(-5, 2))),
        (r"90^\circ", ExactNumber(Fraction(90))),
    ],
)
def test_plain_numbers_are_known(text, number):
    assert exact_number(text) == number


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", ".", "x", "1/0", r"\frac{1}{0}", "1.", "1,23", "0,123", "--1", "1e5", "1 2"),
        *("9" * 301, r"\frac{1}{2}\%", r"1\frac{0}{5}", "1.2.3", "+1", "5%%", r"-5\%"),
    ],
)
def test_anything_else_is_not_called_a_number(text):
    assert exact_number(text) is None


@pytest.mark.parametrize(
    ("gold", "answer", "decided"),
    [
        ("0.5", "1/2", True),
        ("0.333", r"\frac{1}{3}", False),
        ("0.333333", r"\frac{1}{3}", True),
        ("0.8333333333333333", r"\frac{5}{6}", True),
        ("1.8333333333333333", "1.8333333333", True),
        ("0.5", "0.5000001", True),
        ("0.5", "0.5000005", None),
        ("5", "4.9999999", None),
        ("0.1", "0.09999996", None),
        ("0.0000012", "0.0000011", None),
        (r"9\%", "9", math_verify_installed().quirks.percent_is_its_number),
        (r"50\%", r"\frac{1}{2}", True),
        (r"0.5\%", "0.005", None),
        ("1,000", "1000", True),
        ("7", "-7", False),
    ],
)
def test_what_is_too_close_to_call_is_left_to_math_verify(gold, answer, decided):
    assert decided in (None, same(gold, answer))
    assert same_number(exact_number(gold), exact_number(answer)) is decided
    assert same_number(exact_number(answer), exact_number(gold)) is decided


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        pytest.param("1", r"01 \%"),
        pytest.param("1000", r"1,000^\circ"),
        pytest.param("3", "٣"),
    ],
)
def test_odd_ways_of_writing_numbers(gold, answer):
    numbers = exact_number(gold), exact_number(answer)
    decided = same_number(*numbers) if all(numbers) else None
    assert decided in (None, same(gold, answer))
