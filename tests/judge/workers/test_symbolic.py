"""The symbolic step says what the whole of math-verify says, as it was released."""

import pytest
from drawn_algebra import pairs as algebra
from drawn_texts import pairs as texts
from hard_pairs import HARD, LARGE
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from math_verify_reference import assert_as_math_verify, parse, same, verdict

from examples import examples
from plaudit.judge._candidates import Arithmetic, Latex, Piece, WrittenNumber, candidates
from plaudit.judge._reading import Normalised
from plaudit.judge._verdict import Rule, Status
from plaudit.judge.workers._symbolic import compare

pytestmark = pytest.mark.filterwarnings("ignore:(?s).*non-Expr arguments in Mul")


def judged(answer, gold, rule):
    return compare(list(candidates(answer, rule)), list(candidates(gold, Rule.ANYWHERE)), rule)


@settings(deadline=None, max_examples=examples(200), derandomize=True, database=None)
@given(texts(), st.sampled_from([Rule.ANYWHERE, Rule.LATEX]))
def test_texts_are_compared_as_math_verify_compares_them(pair, rule):
    assume(not any(map(LARGE.search, pair)))
    assert_as_math_verify(judged(*pair, rule), *pair, rule)


@settings(deadline=None, max_examples=examples(150), derandomize=True, database=None)
@given(algebra())
def test_latex_is_compared_as_math_verify_compares_it(pair):
    assume(not any(map(LARGE.search, pair)))
    gold, answer = ([Normalised(text, percent=False)] for text in pair)
    status, *_ = compare(answer, gold, Rule.LATEX)
    assert (status is Status.EQUAL) >= same(*pair)


def test_an_integer_that_python_does_not_read_is_none():
    long = WrittenNumber("7" * 4_301, percent=False)
    assert (
        compare([long], [WrittenNumber("7", percent=False)], Rule.ANYWHERE)[0] is Status.NO_ANSWER
    )
    assert parse("7" * 4_301) == []
    assert parse("-" + "7" * 4_300) != []


@pytest.mark.parametrize("rule", [Rule.ANYWHERE, Rule.LATEX])
@pytest.mark.parametrize(("answer", "gold"), HARD)
def test_what_only_a_cas_can_say(answer, gold, rule):
    status, *_ = judged(answer, gold, rule)
    assert status in (Status.EQUAL, Status.DIFFERENT)
    assert verdict(answer, gold, rule) is (status is Status.EQUAL)


def test_the_first_candidate_that_parses_is_taken_and_the_first_text():
    unreadable, readable = Latex((Piece(r"\frac{"),)), Arithmetic("1+2")
    three = [WrittenNumber("3", percent=False)]
    assert compare([unreadable, readable], three, Rule.ANYWHERE) == (Status.EQUAL, r"\frac{", "3")


def test_nothing_to_read():
    empty, three = Latex((Piece(" "),)), WrittenNumber("3", percent=False)
    assert compare([three], [empty], Rule.ANYWHERE) == (Status.BAD_GOLD, "", "")
    assert compare([empty], [three], Rule.ANYWHERE) == (Status.NO_ANSWER, "", "3")
    assert compare([], [], Rule.ANYWHERE)[0] is Status.BAD_GOLD


def test_a_percentage_is_a_hundredth_or_its_number():
    half, fifty = WrittenNumber("50", percent=True), WrittenNumber("50", percent=False)
    assert compare([half], [Arithmetic("1/2")], Rule.ANYWHERE)[0] is Status.EQUAL
    assert compare([half], [fifty], Rule.ANYWHERE)[0] is Status.EQUAL
    assert (
        compare([half], [WrittenNumber("0.49", percent=False)], Rule.ANYWHERE)[0]
        is Status.DIFFERENT
    )


def test_what_is_no_candidate_is_not_compared():
    with pytest.raises(TypeError):
        compare(["a poem"], ["a poem"], Rule.ANYWHERE)
