"""Candidates come out of plain data as they went in."""

import marshal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from plaudit.judge import Rule
from plaudit.judge._candidates import Arithmetic, Latex, Piece, WrittenNumber
from plaudit.judge._reading import Normalised, from_plain_data, to_plain_data

text = st.text(st.characters(codec=None), max_size=30)
pieces = st.builds(Piece, text, st.booleans(), st.booleans())
several = st.lists(pieces, min_size=2, max_size=6).map(tuple).map(Latex)
candidates = st.one_of(
    several, st.builds(WrittenNumber, text, st.booleans()), st.builds(Arithmetic, text)
)


@settings(deadline=None, max_examples=examples(150), derandomize=True, database=None)
@given(candidates, st.sampled_from(Rule))
def test_candidates_come_out_as_they_went_in(candidate, rule):
    data = to_plain_data(candidate, rule)
    assert from_plain_data(marshal.loads(marshal.dumps(data))) == candidate


def test_one_environment_is_normalised_before_it_is_sent():
    one = Latex((Piece(r"\boxed{\dfrac{1}{2}}", percent=True, bare=True),))
    assert from_plain_data(to_plain_data(one, Rule.LATEX)) == Normalised(
        r"\frac{1}{2}", percent=True
    )


def test_a_long_environment_is_sent_as_it_stands():
    one = Latex((Piece("x+" * 1_000 + "1"),))
    assert from_plain_data(to_plain_data(one, Rule.LATEX)) == one


def test_what_is_no_candidate_is_not_taken_for_one():
    with pytest.raises(ValueError, match="not a candidate: "):
        from_plain_data(("poem", "roses are red"))
