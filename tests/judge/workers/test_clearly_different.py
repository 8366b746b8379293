"""What is said to be different by its kind or its values is different for math-verify itself.

Each rule is tried on pairs that are drawn to look alike, and has to reject a good part of them: one
that rejects nothing would agree with anybody.
"""

import pytest
import sympy
from drawn_kinds import KINDS, Drawing, pairs
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from math_verify import grader
from math_verify_reference import as_released, parse_latex, same

from examples import examples
from plaudit.judge.workers._numeric_values import clearly_different, differ_in_digits, never_equal
from plaudit.judge.workers._solutions import inequality_differs, sets_differ, solutions_differ
from plaudit.judge.workers._symbolic import _parse_piece

pytestmark = pytest.mark.filterwarnings("ignore:(?s).*non-Expr arguments in Mul")
SETS = ("interval", "union", "braces", "listed", "entries")
EQUATIONS = ("equation", "equation", "equation", "function", "assignment", "inequality")
DIGITS = 6, 15  # math-verify's float_rounding and numeric_precision


def parsed(seed, count, kinds):
    """Drawn pairs as they are parsed, without those that are not."""
    return [pair for pair in map(parsed_pair, pairs(seed, count, kinds)) if pair]


def parsed_pair(texts):
    """Two sympy objects; none where math-verify's parser gives up."""
    both = [_parse_piece(text, percent=False) for text in texts]
    return None if None in both else both


def as_sets(pair):
    return [each if isinstance(each, sympy.Set) else sympy.FiniteSet(each) for each in pair]


def no_error(compare, *arguments):
    """What math-verify makes of an exception: it is not equal."""
    try:
        with as_released():
            return bool(compare(*arguments))
    except Exception:
        return False


def equal(gold, answer):
    return no_error(grader.sympy_expr_eq, gold, answer, *DIGITS)


@pytest.mark.parametrize(
    ("kinds", "rule", "least"),
    [
        (("number", "expression"), clearly_different, 0.3),
        (("complex_number", "number"), clearly_different, 0.3),
        (("series", "expression"), clearly_different, 0.2),
        (("matrix",), clearly_different, 0.3),
        (("entries", "points", "interval", "word", "number"), never_equal, 0.3),
    ],
    ids=["expressions", "complex", "series", "matrices", "tuples"],
)
def test_what_differs_in_value_is_different(kinds, rule, least):
    drawn = parsed("values", examples(400), kinds)
    rejected = [pair for pair in drawn if rule(*pair)]
    assert len(rejected) >= least * len(drawn)
    assert not [pair for pair in rejected if equal(*pair)]


def test_what_has_no_value_in_floats_differs_in_digits():
    x = sympy.Symbol("x", real=True)
    for one, other, different in (
        (sympy.gamma(x), sympy.gamma(x) * x, True),
        (sympy.gamma(x + 1), sympy.gamma(x) * x, False),
        (sympy.Integral(x, x), x, False),
        (x, sympy.FiniteSet(x), False),
    ):
        assert differ_in_digits(one, other) is different


def test_sets_that_differ_have_something_between_them():
    drawn = [as_sets(pair) for pair in parsed("sets", examples(400), (*SETS, "number", "word"))]
    rejected = [pair for pair in drawn if sets_differ(*pair)]
    assert len(rejected) >= 0.3 * len(drawn)
    assert not [pair for pair in rejected if no_error(same_set, *pair)]


def same_set(one, other):
    return one.symmetric_difference(other).is_empty


def test_inequalities_that_differ_from_a_set_are_different():
    both = (Drawing(number).inequality_and_set() for number in range(examples(600)))
    drawn = [pair for pair in map(parsed_pair, both) if pair and isinstance(pair[1], sympy.Set)]
    rejected = [pair for pair in drawn if inequality_differs(*pair)]
    assert len(rejected) >= 0.4 * len(drawn)
    assert not [pair for pair in rejected if equal(*pair)]


def test_relations_whose_solutions_differ_have_no_match():
    drawn = [
        pair
        for pair in parsed("relations", examples(700), EQUATIONS)
        if all(isinstance(each, sympy.core.relational.Relational) for each in pair)
    ]
    rejected = [pair for pair in drawn if solutions_differ(*pair)]
    assert len(rejected) >= 0.4 * len(drawn)
    solve = grader.sympy_solve_and_compare
    assert not [pair for pair in rejected if no_error(solve, *pair, *DIGITS)]


def test_every_kind_is_compared_as_math_verify_compares_it():
    drawn = parsed("every kind", examples(500), KINDS)
    assert all(map(same_verdict, drawn))


def same_verdict(pair):
    try:
        ours = bool(grader.sympy_expr_eq(*pair, *DIGITS))
    except Exception:
        ours = False
    return ours is equal(*pair)


FUNCTIONS = (
    *(r"\sin(%s)", r"\cos(%s)", r"\tan(%s)", r"\ln(%s)", r"\sqrt{%s}", r"e^{%s}", r"2^{%s}"),
    *(r"\sin^2(%s)", r"\cos^2(%s)", r"|%s|", r"\frac{1}{%s}", r"(%s)^2", r"\arctan(%s)", "%s!"),
    *(r"\log_2(%s)", r"\sqrt[3]{%s}", r"(%s)^{\frac{3}{2}}", r"\lfloor %s \rfloor"),
)
arguments = st.sampled_from(("x", "2x", "x+1", "-x", r"\frac{x}{2}", "xy", r"\pi", "2", "x^2", "y"))
applied = st.builds(str.__mod__, st.sampled_from(FUNCTIONS), arguments)
composed = st.builds(
    "{}{}{}".format,
    applied,
    st.sampled_from((" + ", " - ", r" \cdot ")),
    st.one_of(applied, arguments),
)
IDENTITIES = (
    *(r"%s", r"-(-(%s))", r"%s + \sin^2 x + \cos^2 x - 1", r"\frac{2(%s)}{2}", r"\sqrt{(%s)^2}"),
    *(
        r"\ln(e^{%s})",
        r"e^{\ln(%s)}",
        r"%s + \tan(x) - \frac{\sin(x)}{\cos(x)}",
        r"\sin(\arcsin(%s))",
    ),
    *(
        r"\frac{(%s)^2}{%s}",
        r"|%s|",
        r"%s + \ln(2x) - \ln 2 - \ln x",
        r"(%s)(\sqrt{x})^2/x",
        r"%s + 1",
    ),
    *(r"%s + \ln(x^2) - 2\ln x", r"\arctan(\tan(%s))", r"%s + \cos(2x) - 2\cos^2 x + 1"),
)


@st.composite
def functions(draw):
    """Two expressions with functions in them, of which one is mostly the other in disguise."""
    one = draw(composed)
    disguise = draw(st.sampled_from(IDENTITIES))
    other = disguise.replace("%s", one) if draw(st.integers(0, 3)) else draw(composed)
    return (one, other) if draw(st.booleans()) else (other, one)


@settings(deadline=None, max_examples=examples(150), derandomize=True, database=None)
@given(functions())
def test_what_is_clearly_different_is_different_for_math_verify(pair):
    parsed = [parse_latex(text) for text in pair]
    assume(all(parsed))
    different = clearly_different(parsed[0][0], parsed[1][0])
    event(f"clearly different: {different}")
    if different:
        assert same(*pair) is False


@pytest.mark.parametrize(
    ("one", "other", "different"),
    [
        (r"\sin x", r"\cos x", True),
        (r"\sin^2 x", r"1 - \cos^2 x", False),
        (r"\sqrt{x^2}", "x", False),
        (r"\frac{x}{10^{12}}", "0", False),
        (r"f(x)", "x", True),
        (r"f(x+1)", "f(1+x)", False),
        (r"\prod_{k=1}^n k", "n^2 + n", True),
        (r"\int_0^1 x dx", "2", False),
        (r"\{1\}", r"\{2\}", False),
        (r"\frac{1}{0}", "2", False),
    ],
)
def test_what_is_clearly_different(one, other, different):
    assert clearly_different(*parse_latex(one), *parse_latex(other)) is different
