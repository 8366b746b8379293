"""Wherever two shapes are decided, math-verify says the same of the same two strings."""

from fractions import Fraction

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from math_verify_reference import same

from examples import examples
from plaudit.judge._algebra import clearly_apart, number_shape, same_shape, shape

numbers = st.one_of(
    st.sampled_from("0 1 1 2 2 3 4 5 6 8 9 10 12 18 25 50 100".split()),
    st.integers(0, 10**6).map(str),
)
letters = st.sampled_from("xxxxynabkfhiXNA")
powers = st.sampled_from(("", "", "", "", "^2", "^{2}", "^3", "^{3}", "^{1}", "^{8}"))
signs = st.sampled_from(("", "", "", "-"))
joins = st.sampled_from(("", "", "", " ", r"\cdot ", r" \times ", "*", "/"))
plus = st.sampled_from(("+", "-", " + ", " - "))


def over(tops, bottoms):
    return st.builds(r"\frac{{{}}}{{{}}}".format, tops, bottoms)


def roots(numbers):
    return st.builds(r"\sqrt{{{}}}".format, numbers)


def sums(atoms):
    """Sums of products of powers, as they are written."""
    factors = st.builds(str.__add__, atoms, powers)
    more = st.lists(st.builds(str.__add__, joins, factors), max_size=2).map("".join)
    products = st.builds(str.__add__, factors, more)
    rest = st.lists(st.builds(str.__add__, plus, products), max_size=2).map("".join)
    return st.builds("{}{}{}".format, signs, products, rest)


divisors = st.one_of(
    numbers, roots(numbers), st.just(r"\pi"), numbers.map(r"{}\pi".format), letters
)
simple = st.one_of(
    numbers,
    numbers,
    letters,
    letters,
    st.sampled_from((r"\pi", r"\pi", r"\theta ", r"\omega", r"\lambda", r"\alpha ")),
    roots(st.one_of(numbers, over(numbers, numbers))),
    over(numbers, divisors),
)
expressions = st.recursive(
    sums(simple),
    lambda inner: sums(st.one_of(simple, inner.map("({})".format), over(inner, divisors))),
    max_leaves=3,
)
parts = st.one_of(
    numbers, numbers.map("-{}".format), over(numbers, numbers), letters, sums(simple), expressions
)


@st.composite
def gathered(draw):
    """Several expressions in brackets, braces or none."""
    members = draw(st.lists(parts, min_size=1, max_size=4))
    opening = draw(st.sampled_from(("", "(", "(", "[", r"\{")))
    closing = {"": "", r"\{": r"\}"}.get(opening) or draw(st.sampled_from((")", ")", "]")))
    return opening + draw(st.sampled_from((",", ", "))).join(members) + (closing if opening else "")


ends = st.one_of(numbers, numbers.map("-{}".format), st.sampled_from((r"\infty", r"-\infty")))
intervals = st.builds("{}{}, {}{}".format, st.sampled_from("(["), ends, ends, st.sampled_from(")]"))
words = st.sampled_from(
    (r"\text{even}", r"\text{Even}", r"\text{ab}", r"\text{AB}", r"\text{pi}", "ab", "ba", "AB")
)
equal_signs = st.sampled_from(("=", " = "))
equations = st.builds(
    "{}{}{}".format, st.one_of(letters, letters, expressions), equal_signs, expressions
)
terms = st.builds(
    "{}{}".format, st.sampled_from(("", "2", "3", "-", "-2")), st.sampled_from("xyyz")
)
linear = st.builds("{}{}{}".format, terms, plus, st.one_of(terms, numbers))
linear_equations = st.builds(
    "{}{}{}".format, st.one_of(terms, linear), equal_signs, st.one_of(numbers, terms, linear)
)
answers = st.one_of(
    expressions,
    expressions,
    gathered(),
    gathered(),
    equations,
    linear_equations,
    letters,
    words,
    parts,
    intervals,
    st.builds(r"{} \in {}".format, letters, intervals),
)


def reversed_sum(text):
    return "+".join(reversed(text.split("+")))


def other_brackets(text):
    return text.replace("(", "[").replace(")", "]")


def doubled(text):
    return text.replace("2", r"\frac{4}{2}", 1)


def swapped_sides(text):
    return "=".join(reversed(text.split("=")))


def twice(text):
    return " = ".join(f"2({side})" for side in text.split("="))


def all_on_one_side(text):
    left, _, right = text.partition("=")
    return f"{left} - ({right}) = 0" if right else text


REWRITINGS = (
    lambda text: text.replace("+", " + ").replace(",", ", "),
    lambda text: text.replace(" ", ""),
    lambda text: text.replace("^2", "^{2}").replace(r"\cdot ", r" \times "),
    lambda text: text.replace("2", "3", 1),
    lambda text: text.replace("-", "+", 1),
    lambda text: f"x={text}",
    lambda text: f"{text}+0",
    lambda text: f"1 \\cdot ({text})",
    lambda text: f"({text})^2",
    lambda text: text.split(",")[0],
    lambda text: f"{text}, {text}",
    lambda text: text.swapcase() if "\\" not in text else text,
    reversed_sum,
    other_brackets,
    doubled,
    swapped_sides,
    twice,
    all_on_one_side,
)


@st.composite
def pairs(draw):
    """Two answers of which one is mostly the other, rewritten or slightly changed."""
    one = draw(answers)
    other = draw(st.one_of(*[st.sampled_from(REWRITINGS)] * 3, st.none()))
    two = draw(answers) if other is None else other(one)
    return (one, two) if draw(st.booleans()) else (two, one)


def decide(gold, answer):
    shapes = shape(gold), shape(answer)
    return same_shape(*shapes) if all(shapes) else None


@settings(deadline=None, max_examples=examples(700), derandomize=True, database=None)
@given(pairs())
def test_shapes_are_decided_as_math_verify_decides_them(pair):
    decided = decide(*pair)
    event(f"decided: {decided}")
    if decided is not None:
        assert same(*pair) is decided


decimals = st.builds("{}{}.{}".format, signs, st.integers(0, 400), st.integers(0, 99_999))


@settings(deadline=None, max_examples=examples(200), derandomize=True, database=None)
@given(decimals, expressions)
def test_what_is_clearly_apart_is_different_for_math_verify(decimal, expression):
    other = shape(expression)
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
def test_whatever_comes_has_a_shape_or_none(text):
    assert shape(text) is None or same_shape(shape(text), shape(text)) in (True, None)


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
def test_what_the_grammar_does_not_know_has_no_shape(text):
    assert shape(text) is None


def test_a_plain_number_has_the_shape_of_its_text():
    assert number_shape(Fraction(3, 4)) == shape(r"\frac{6}{8}")
    assert number_shape(Fraction(0)) == shape("x - x")


def test_a_decimal_is_clearly_apart_from_what_no_rounding_makes_it():
    assert clearly_apart(Fraction("3.15"), shape(r"\pi"))
    assert not clearly_apart(Fraction("3.14159"), shape(r"\pi"))
    assert not clearly_apart(Fraction("3.15"), shape("x"))
    assert not clearly_apart(Fraction("3.15"), shape("3, 4"))


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
    assert clearly_apart(Fraction("0.5"), shape(rf"{LARGE} \cdot {LARGE}")) in (True, False)


def test_powers_of_powers_are_not_worked_out():
    tower = shape("(((((9^8)^8)^8)^8)^8)")
    assert tower is None or tower.parts[0][(), 1].numerator.bit_length() < 5_000


def test_nested_parentheses_are_read_deep_in_a_stack():
    def deeper(frames):
        return deeper(frames - 1) if frames else shape("(" * 99 + "x" + ")" * 99)

    assert deeper(500) in (None, shape("(x)"))
