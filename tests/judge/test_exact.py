"""Wherever two plain numbers are decided, math-verify says the same of the same two strings."""

from fractions import Fraction

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from math_verify_reference import same, same_percent

from examples import examples
from plaudit.judge._exact import Exact, exact, same_number

CIRCLES = ("", "", "", r"^\circ", r"^{\circ}")
PERCENTS = ("", "", r"\%", "%")
FACTORS = (1, 1, 1, 1, -1, 100, Fraction(1, 100), 10, Fraction(99, 100))
WAYS = ("integer", "fraction", "slash", "decimal", "percent", "mixed", "grouped")

integers = st.one_of(
    st.sampled_from((0, 1, 2, 3, 5, 9, 10, 12, 50, 99, 100, 1000)),
    st.integers(0, 2000),
    st.integers(0, 10**20),
)
denominators = st.one_of(st.sampled_from((1, 1, 2, 3, 4, 5, 7, 8, 9, 25, 100)), st.integers(1, 999))
values = st.builds(
    lambda sign, top, bottom: sign * Fraction(top, bottom),
    st.sampled_from((1, 1, -1)),
    integers,
    denominators,
)
tiny = st.builds(
    lambda sign, k: Fraction(sign, 10**k), st.sampled_from((1, -1)), st.integers(1, 12)
)
nudges = st.one_of(st.just(0), tiny)


@st.composite
def written(draw, value):
    """A number in one of the ways in which people write it, rounded where that way rounds."""
    sign, size = ("-" if value < 0 else ""), abs(value)
    top, bottom = size.numerator, size.denominator
    padding = draw(st.sampled_from(("", "", "", "0", "00")))
    match draw(st.sampled_from(WAYS)):
        case "fraction":
            by = draw(st.sampled_from((1, 1, 2, 3, -1, 10)))
            return rf"{sign}\frac{{{padding if by > 0 else ''}{by * top}}}{{{by * bottom}}}"
        case "slash" if bottom > 1:
            return f"{sign}{top}/{padding}{bottom}"
        case "decimal":
            text = f"{float(size):.{draw(st.integers(1, 12))}f}"
            text = text.removeprefix("0") if draw(st.booleans()) else padding + text
            return sign + text + draw(st.sampled_from(PERCENTS + CIRCLES))
        case "percent":
            places, space = draw(st.integers(0, 8)), draw(st.sampled_from(("", " ")))
            return f"{sign}{float(size * 100):.{places}f}{space}" + draw(st.sampled_from(PERCENTS))
        case "mixed" if bottom > 1:
            return rf"{sign}{top // bottom}\frac{{{top % bottom}}}{{{bottom}}}"
        case "grouped":
            return f"{sign}{int(size):,}"
    return sign + padding + str(round(size)) + draw(st.sampled_from(PERCENTS + CIRCLES))


@st.composite
def pairs(draw):
    """Two numbers that are the same, or nearly, or a hundredth of one another; or any two."""
    value = draw(values)
    near = value * draw(st.sampled_from(FACTORS)) + draw(nudges)
    other = draw(st.one_of(st.just(near), st.just(near), st.just(near), values))
    return draw(written(value)), draw(written(other))


@settings(deadline=None, max_examples=examples(1500), derandomize=True, database=None)
@given(pairs())
def test_numbers_are_decided_as_math_verify_decides_them(pair):
    gold, answer = map(exact, pair)
    decided = same_number(gold, answer) if gold and answer else None
    event(f"decided: {decided}")
    if decided is not None:
        assert same(*pair) is decided


@settings(deadline=None, max_examples=examples(400), derandomize=True, database=None)
@given(pairs())
def test_numbers_with_a_percent_sign_behind_their_latex(pair):
    gold, answer = exact(pair[0]), exact(pair[1], percent=True)
    decided = same_number(gold, answer) if gold and answer else None
    if decided is not None:
        assert same_percent(*pair) is decided


HALF = Exact(Fraction(1, 2))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3/6", HALF),
        (r"\frac{-1}{-2}", HALF),
        ("0.5", HALF._replace(decimal=True)),
        (".5", HALF._replace(decimal=True)),
        (r"50\%", Exact(Fraction(50), percent=True)),
        ("1,234,567", Exact(Fraction(1234567))),
        (r"-2\frac{1}{2}", Exact(Fraction(-5, 2))),
        (r"90^\circ", Exact(Fraction(90))),
    ],
)
def test_plain_numbers_are_known(text, number):
    assert exact(text) == number


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", ".", "x", "1/0", r"\frac{1}{0}", "1.", "1,23", "0,123", "--1", "1e5", "1 2"),
        *("9" * 301, r"\frac{1}{2}\%", r"1\frac{0}{5}", "1.2.3", "+1", "5%%", r"-5\%"),
    ],
)
def test_anything_else_is_not_called_a_number(text):
    assert exact(text) is None


@pytest.mark.parametrize(
    ("gold", "answer", "decided"),
    [
        ("0.5", "1/2", True),
        ("0.333", r"\frac{1}{3}", False),
        ("0.333333", r"\frac{1}{3}", None),
        ("0.5", "0.5000001", None),
        (r"9\%", "9", True),
        (r"50\%", r"\frac{1}{2}", True),
        (r"0.5\%", "0.005", None),
        ("1,000", "1000", True),
        ("7", "-7", False),
    ],
)
def test_what_is_too_close_to_call_is_left_to_math_verify(gold, answer, decided):
    assert same_number(exact(gold), exact(answer)) is decided
    assert same_number(exact(answer), exact(gold)) is decided


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        pytest.param("1", r"01 \%"),
        pytest.param("1000", r"1,000^\circ"),
        pytest.param("3", "٣"),
    ],
)
def test_odd_ways_of_writing_numbers(gold, answer):
    numbers = exact(gold), exact(answer)
    decided = same_number(*numbers) if all(numbers) else None
    assert decided in (None, same(gold, answer))
