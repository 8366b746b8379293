"""The symbolic step says what the whole of math-verify says, as it was released."""

import pytest
from drawn_algebra import pairs as algebra
from drawn_texts import pairs as texts
from hard_pairs import HARD, LARGE
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from math_verify_reference import parse, parse_latex, same, verdict

from examples import examples
from plaudit.judge._verdict import Rule, Status
from plaudit.judge.reading import Arithmetic, Latex, Normalised, Number, Piece, candidates
from plaudit.judge.workers._speedups import clearly_different
from plaudit.judge.workers._symbolic import compare

pytestmark = pytest.mark.filterwarnings("ignore:(?s).*non-Expr arguments in Mul")


def judged(answer, gold, rule):
    return compare(list(candidates(answer, rule)), list(candidates(gold, Rule.ANYWHERE)), rule)


@settings(deadline=None, max_examples=examples(200), derandomize=True, database=None)
@given(texts(), st.sampled_from(Rule))
def test_texts_are_compared_as_math_verify_compares_them(pair, rule):
    assume(not any(map(LARGE.search, pair)))
    status, answer, gold = judged(*pair, rule)
    if status is Status.BAD_GOLD:
        assert parse(pair[1]) == []
    elif status is Status.NO_ANSWER:
        assert parse(pair[0], rule) == []
    else:
        assert verdict(*pair, rule) is (status is Status.EQUAL)
        assert [parse(pair[0], rule)[-1], parse(pair[1])[-1]] == [answer, gold]


@settings(deadline=None, max_examples=examples(150), derandomize=True, database=None)
@given(algebra())
def test_latex_is_compared_as_math_verify_compares_it(pair):
    assume(not any(map(LARGE.search, pair)))
    gold, answer = ([Normalised(text, percent=False)] for text in pair)
    status, *_ = compare(answer, gold, Rule.LATEX)
    assert (status is Status.EQUAL) >= same(*pair)


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
        (r"f(x)", "x", False),
        (r"\int_0^1 x dx", "2", False),
        (r"\{1\}", r"\{2\}", False),
        (r"\frac{1}{0}", "2", False),
    ],
)
def test_what_is_clearly_different(one, other, different):
    assert clearly_different(*parse_latex(one), *parse_latex(other)) is different


def test_an_integer_that_python_does_not_read_is_none():
    long = Number("7" * 4_301, percent=False)
    assert compare([long], [Number("7", percent=False)], Rule.ANYWHERE)[0] is Status.NO_ANSWER
    assert parse("7" * 4_301) == []
    assert parse("-" + "7" * 4_300) != []


@pytest.mark.parametrize("rule", Rule)
@pytest.mark.parametrize(("answer", "gold"), HARD)
def test_what_only_a_cas_can_say(answer, gold, rule):
    status, *_ = judged(answer, gold, rule)
    assert status in (Status.EQUAL, Status.DIFFERENT)
    assert verdict(answer, gold, rule) is (status is Status.EQUAL)


def test_the_first_candidate_that_parses_is_taken_and_the_first_text():
    unreadable, readable = Latex((Piece(r"\frac{"),)), Arithmetic("1+2")
    three = [Number("3", percent=False)]
    assert compare([unreadable, readable], three, Rule.ANYWHERE) == (Status.EQUAL, r"\frac{", "3")


def test_nothing_to_read():
    empty, three = Latex((Piece(" "),)), Number("3", percent=False)
    assert compare([three], [empty], Rule.ANYWHERE) == (Status.BAD_GOLD, "", "")
    assert compare([empty], [three], Rule.ANYWHERE) == (Status.NO_ANSWER, "", "3")
    assert compare([], [], Rule.ANYWHERE)[0] is Status.BAD_GOLD


def test_a_percentage_is_a_hundredth_or_its_number():
    half, fifty = Number("50", percent=True), Number("50", percent=False)
    assert compare([half], [Arithmetic("1/2")], Rule.ANYWHERE)[0] is Status.EQUAL
    assert compare([half], [fifty], Rule.ANYWHERE)[0] is Status.EQUAL
    assert compare([half], [Number("0.49", percent=False)], Rule.ANYWHERE)[0] is Status.DIFFERENT


def test_what_is_no_candidate_is_not_compared():
    with pytest.raises(TypeError):
        compare(["a poem"], ["a poem"], Rule.ANYWHERE)
