"""The share of repeated n-grams: the same as counting tuples in a set, only sooner."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from plaudit.scores import algorithms as ngrams
from plaudit.scores.algorithms import repeated_share


def counted(tokens, size):
    """The definition, word for word."""
    unique, total = set(), 0
    for gram in zip(*(tokens[start:] for start in range(size)), strict=False):
        unique.add(gram)
        total += 1
    return 1 - len(unique) / total if total else 0.0


def test_words_and_ids():
    assert repeated_share(["to", "be", "or", "not", "to", "be"], 2) == pytest.approx(1 / 5)
    assert repeated_share([7, 7, 7, 7], 2) == pytest.approx(2 / 3)


@pytest.mark.parametrize("tokens", [[], [1], [1, 2]])
def test_too_few_tokens_repeat_nothing(tokens):
    assert repeated_share(tokens, 3) == 0.0


tokens = st.one_of(
    st.lists(st.integers(0, 3)),
    st.lists(st.integers(-(2**70), 2**70)),
    st.lists(st.sampled_from([-5, 0, 2**31, 2**62, -(2**63), 2**63 - 1])),
    st.lists(st.sampled_from(["a", "b", "12", "012"])),
    st.lists(st.sampled_from([1, 1.0, 1.5, "1", True, None])),
)


@given(tokens, st.integers(1, 9), st.integers(1, 40))
@settings(max_examples=examples(300))
def test_arrays_count_as_sets_do(few, size, times):
    many = few * times
    total = len(many) - size + 1
    if total > 0:
        assert ngrams._unique_in_array(many, size) == ngrams._unique_in_set(many, size)


@pytest.mark.parametrize("vocabulary", [2, 2_000, 150_000])
@pytest.mark.parametrize("size", [1, 3, 6, 20])
def test_long_sequences(vocabulary, size):
    rng = random.Random(vocabulary + size)
    ids = [rng.randrange(vocabulary) for _ in range(5_000)]
    assert repeated_share(ids, size) == counted(ids, size)
    words = [f"w{number}" for number in ids]
    assert repeated_share(words, size) == counted(words, size)
