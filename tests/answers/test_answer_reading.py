"""Readings as data."""

import pytest

from plaudit.answers import read


@pytest.mark.parametrize(
    ("text", "kind", "canonical"),
    [
        (r"\frac{2}{4}", "number", "1/2"),
        ("0.5", "number", "1/2"),
        ("1,234", "number", "1234"),
        (r"25\%", "percent", "25%"),
        (r"5\text{ m}", "quantity", "5 m"),
        (r"45^\circ", "angle", "45°"),
        ("1010_2", "base", "1010 in base 2"),
        ("2:1", "ratio", "2:1"),
        ("4:30 p.m.", "time", "16:30"),
        ("4:30:15 p.m.", "time", "16:30:15"),
        ("x^2+1", "expression", "x^2 + 1"),
        ("y=2x", "equation", "y = 2*x"),
        ("x=5", "number", "x = 5"),
        ("k<-5", "interval", "k < -5"),
        ("1, 2", "list", "1, 2"),
        ("(1,2)", "tuple", "(1, 2)"),
        (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "matrix", "[1, 2; 3, 4]"),
        ("July 4, 1776", "text", "1776-7-4"),
        ("the Moon", "text", "moon"),
        (r"\emptyset", "text", "the empty set"),
    ],
)
def test_a_text_is_read(text: str, kind: str, canonical: str) -> None:
    reading = read(text)
    assert (reading.kind, reading.canonical) == (kind, canonical)


def test_the_kind_may_be_said() -> None:
    assert read("C. 42", kind="choice").canonical == "C"
    assert read("4:30", kind="time").canonical == "04:30"
    assert read("12", kind="text").kind == "text"
    assert read("not a formula at all", kind="number").canonical == ""
    with pytest.raises(ValueError, match="kind must be one of"):
        read("4", kind="numbr")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("(xy)^2", "xy^2"),
        ("(-x)^2", "-x^2"),
        ("(x^2)^3", "x^{2^3}"),
        ("2^{xy}", "2^x y"),
        ("x^{1/2}", "x^1/2"),
        (r"(1/2)^x", "1/2^x"),
        (r"\sqrt[3]{a+b}", r"a+\sqrt[3]{b}"),
        (r"\frac{a}{bc}", r"\frac{a}{b}c"),
        (r"\frac{a}{\frac{b}{c}}", r"\frac{\frac{a}{b}}{c}"),
        (r"\frac{1}{2}x", r"\frac{1}{2x}"),
        ("a-(b-c)", "a-b-c"),
        (r"(x+1)\%", r"x+1\%"),
    ],
)
def test_what_says_something_else_has_another_canonical_text(one: str, other: str) -> None:
    assert read(one).canonical != read(other).canonical
