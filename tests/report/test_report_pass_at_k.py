"""pass@k and maj@k against every draw there is."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.reports import _summary
from plaudit.reports._summary import at_k, majority_at_k, pass_at_k

completions = st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=7)


def drawn_pass(right, k):
    draws = list(combinations(right, k))
    return Fraction(sum(any(draw) for draw in draws), len(draws))


def drawn_majority(right, answers, k):
    """By the definition: of each draw the most frequent answer; ties share evenly."""
    draws = list(combinations(range(len(right)), k))
    return sum(winner_share(right, answers, draw) for draw in draws) / len(draws)


def winner_share(right, answers, draw):
    votes = Counter(answers[i] for i in draw if answers[i] != _summary.NO_ANSWER)
    if not votes:
        return Fraction(0)
    winners = [answer for answer, count in votes.items() if count == max(votes.values())]
    shares = [share_right(right, answers, draw, answer) for answer in winners]
    return sum(shares, Fraction(0)) / len(winners)


def share_right(right, answers, draw, answer):
    of_it = [right[i] for i in draw if answers[i] == answer]
    return Fraction(sum(of_it), len(of_it))


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.data())
def test_pass_at_k_is_the_mean_over_all_draws(right, data):
    k = data.draw(st.integers(1, len(right)))
    assert pass_at_k(len(right), sum(right), k) == pytest.approx(float(drawn_pass(right, k)))


@given(completions, st.data())
def test_majority_at_k_is_the_mean_over_all_draws(rows, data):
    right, answers = zip(*rows, strict=True)
    k = data.draw(st.integers(1, len(right)))
    found = majority_at_k(np.array([right]), np.array([answers]), k)
    assert found[0] == pytest.approx(float(drawn_majority(right, answers, k)))


def test_where_the_draws_are_too_many_some_stand_for_all(monkeypatch):
    right = np.array([[True] * 5 + [False] * 11])
    answers = np.array([[1] * 5 + [2] * 4 + [3] * 3 + [4, 5, 6, 7]])
    some = majority_at_k(right, answers, 8)
    _summary._draws.cache_clear()
    assert (majority_at_k(right, answers, 8) == some).all()
    _summary._draws.cache_clear()
    monkeypatch.setattr(_summary, "_DRAWS", 20_000)
    every = majority_at_k(right, answers, 8)
    _summary._draws.cache_clear()
    assert every[0] != some[0]
    assert every[0] == pytest.approx(some[0], abs=0.04)


def test_groups_count_where_they_have_k_completions():
    groups = np.array([0, 0, 1, 1, 2])
    right = np.array([True, False, False, False, True])
    found = at_k(groups, right, np.array([1, 2, 3, 3, 1]))
    assert [(at.k, at.groups) for at in found] == [(1, 3), (2, 2)]
    assert found[0].passed == pytest.approx((0.5 + 0 + 1) / 3)
    assert found[1].passed == pytest.approx(0.5)
    assert found[1].majority == pytest.approx(0.25)


def test_the_order_of_rows_makes_no_difference():
    dice = np.random.default_rng(0)
    groups, right = dice.integers(0, 9, 60), dice.random(60) < 0.5
    answers = np.where(right, 1, dice.integers(2, 5, 60))
    order = dice.permutation(60)
    straight, shuffled = (
        at_k(groups, right, answers),
        at_k(groups[order], right[order], answers[order]),
    )
    assert [at.passed for at in straight] == pytest.approx([at.passed for at in shuffled])
    assert [at.majority for at in straight] == pytest.approx([at.majority for at in shuffled])


def test_without_any_answer_there_is_no_majority():
    found = at_k(np.array([0, 0]), np.array([True, False]), np.array([0, 0]))
    assert [at.majority for at in found] == [None, None]


def test_without_rows_there_is_nothing():
    assert at_k(np.zeros(0, int), np.zeros(0, bool), np.zeros(0, int)) == []


def test_one_huge_group_is_no_trouble():
    right = np.arange(5000) % 2 == 0
    found = at_k(np.zeros(5000, int), right, np.where(right, 1, 2))
    assert found[0].passed == pytest.approx(0.5)
    assert [at.k for at in found][-1] == 4096
    assert found[-1].majority is None
