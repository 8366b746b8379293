"""Bombs are held back, and only bombs."""

import pytest

from growth import exponent
from plaudit.judge._candidates import Arithmetic, Latex, Piece, WrittenNumber
from plaudit.judge._reading import read, too_large
from plaudit.judge._verdict import Rule


def box(content):
    return Latex((Piece(rf"\boxed{{{content}}}", bare=True),))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("9^{9^{9^{9}}}", "a power of more than a million digits"),
        ("9^{9^9}", "a power of more than a million digits"),
        ("10^{10000000}", "a power of more than a million digits"),
        ("2^(99999999)", "a power of more than a million digits"),
        ("2 ^ { 1" + "0" * 400 + "}", "a power of more than a million digits"),
        (
            r"\dfrac{5^{\left(5^{\left(5^{\left(5^5\right)}\right)}-4\right)}-5}{16}",
            None,  # `\left` hides it: a worker has to find out
        ),
        ("1000000!", "a factorial of six digits or more"),
        ("(1000000)!", "a factorial of six digits or more"),
        (r"\binom{10^8}{5\cdot 10^7}", "a binomial of six digits or more"),
        (r"\binom{100000000}{50000000}", "a binomial of six digits or more"),
        (r"\binom{5\cdot 10^7}{10}", "a binomial of six digits or more"),
        ("{" * 20 + "1" + "}" * 20, "braces in braces, with nothing else between them"),
        ("{(" * 12 + "1" + ")}" * 12, "braces in braces, with nothing else between them"),
        ("{" * 10_000 + "1" + "}" * 10_000, "longer than 20,000 characters"),
        ("(" * 500 + "1" + ")" * 500, "nested more than 150 deep"),
        (r"\frac{" * 200 + "1" + "}{2}" * 200, "nested more than 150 deep"),
        ("7" * 100_000, "longer than 20,000 characters"),
        ("7" * 5_000, "a number of more than 4,300 digits"),
    ],
)
def test_bombs_are_held_back(content, why):
    assert too_large(box(content)) == why


def test_bombs_in_plain_text_are_held_back():
    assert too_large(Arithmetic("9^9^9")) == "a power of more than a million digits"
    assert (
        too_large(WrittenNumber("7" * 5_000, percent=False)) == "a number of more than 4,300 digits"
    )
    assert read("The answer is 9^9^9.", Rule.ANYWHERE).limit is not None


@pytest.mark.parametrize(
    "content",
    [
        *("2^{10}", "10^{100}", "2^{1000}", "3^{2^{4}}", "2^{2^{10}}", "1^{10000000}", "1.5^{10}"),
        *("x^{1000000000}", "100!", "99999!", "n!", "x", "7" * 4_300, "(" * 70 + "1" + ")" * 70),
        "{" * 8 + "1" + "}" * 8,
        *(r"\binom{10}{3}", r"\binom{n}{k}", r"\binom{99999}{2}"),
        "+".join(f"{n}x^{{{n}}}" for n in range(400)),
    ],
)
def test_ordinary_answers_pass(content):
    assert too_large(box(content)) is None


def test_pieces_are_looked_at_together():
    assert too_large(Latex((Piece("1"), Piece("9^{9^9}")))) is not None


def test_a_small_power_in_a_binomial_passes():
    assert too_large(box(r"\binom{2^3}{2}")) is None


@pytest.mark.parametrize(
    "content",
    [
        lambda size: "9^" + " " * size,
        lambda size: r"\binom{1" + " " * size + "}{2}",
        lambda size: "!" + "1" * 4_000 + " " * size,
    ],
    ids=["power", "binomial", "factorial"],
)
def test_spaces_do_not_stop_a_gate(content):
    assert too_large(box(content(800))) is None
    assert exponent(lambda long: too_large(box(long)), content, short=1_900) < 1.6
