"""Responses and golds, in whatever form a trainer hands them over."""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.inputs.golds import GOLD_KEYS
from plaudit.recipes import RowScore
from plaudit.scores import Score
from plaudit.trainers import gold_of, response_of
from plaudit.trainers._rows import (
    ENDS,
    STARTS,
    _overlap,
    columns_of,
    gold_in,
    metrics_of,
    responses_of,
    total_of,
)

ENDINGS = st.lists(st.sampled_from([*ENDS, " ", "\n"]), max_size=6).map("".join)
# A text whose end is plain: it ends neither in a token nor in a piece that one could complete.
PLAIN = st.text().map(lambda text: text + ".")


@given(PLAIN, ENDINGS, st.sampled_from(ENDS))
def test_special_tokens_at_the_end_go_and_nothing_else(text, ending, last):
    assert response_of(text + last + ending + last) == text


@given(st.text(), ENDINGS)
def test_only_special_tokens_and_whitespace_are_cut(text, ending):
    kept = response_of(text + ending)
    assert (text + ending).startswith(kept)
    cut = (text + ending)[len(kept) :]
    for token in ENDS:
        cut = cut.replace(token, "")
    assert not cut.strip()
    assert response_of(kept) == kept


@given(PLAIN, st.sampled_from(ENDS), PLAIN)
def test_a_token_in_the_middle_stays(before, token, after):
    assert response_of(before + token + after) == before + token + after


@pytest.mark.parametrize("text", [None, b"4</s>", ["4"], 4.0])
def test_a_response_that_is_not_text_is_named(text):
    with pytest.raises(TypeError, match=f"response 1 must be text, got {type(text).__name__}: "):
        responses_of(["4", text])


def test_whitespace_at_the_end_is_the_models_own():
    assert response_of("It is 4.\n") == "It is 4.\n"
    assert response_of("It is 4.\n</s>\n") == "It is 4.\n"


@given(st.text(), PLAIN, st.sampled_from(ENDS))
def test_a_prompt_in_front_is_cut_off(prompt, response, last):
    assert response_of(prompt + response + last, prompt) == response


@given(st.lists(st.sampled_from(["What", "is", "2", "+", "?"]), min_size=1), PLAIN)
def test_a_prompt_is_found_though_its_whitespace_differs(words, response):
    assert response_of("\n".join(words) + "|" + response, "  ".join(words)) == "|" + response


@pytest.mark.parametrize("start", STARTS)
def test_a_prompt_is_found_behind_the_token_that_starts_every_text(start):
    assert response_of(f"{start} What is 2?4</s>", "What is 2?") == "4"


@given(st.data(), PLAIN)
def test_a_prompt_that_lost_its_beginning_is_cut_off(data, response):
    words = [f"word{number}" for number in range(20)]
    lost = data.draw(st.integers(0, 10))
    assert response_of(" ".join(words[lost:]) + "|" + response, " ".join(words)) == "|" + response


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("<think>2</think> 4", "What is 2 + 2? <think>"),  # the prompt's end is not the prompt
        ("4", "What is 2 + 2?"),
        ("What is 3?", "What is 2 + 2?"),
        ("4", None),
        ("4", [{"role": "user", "content": "4"}]),
        ("", "What is 2 + 2?"),
        ("4", ""),
    ],
)
def test_without_the_prompt_in_front_nothing_is_cut(text, prompt):
    assert response_of(text, prompt) == text


@given(st.text(alphabet="ab ", max_size=40), st.text(alphabet="ab ", max_size=40))
def test_what_is_cut_off_is_an_end_of_the_prompt(text, prompt):
    kept = response_of(text, prompt)
    assert text.endswith(kept)
    cut = text[: len(text) - len(kept)]
    assert "".join(prompt.split()).endswith("".join(cut.split()))


@given(st.text(alphabet="ab", max_size=12), st.text(alphabet="ab", max_size=12))
def test_the_longest_overlap_is_found(ending, beginning):
    lengths = range(min(len(ending), len(beginning)) + 1)
    longest = max(n for n in lengths if ending[len(ending) - n :] == beginning[:n])
    assert _overlap(ending, beginning) == longest


def test_a_long_text_of_special_tokens_takes_no_time():
    assert response_of("4" + "<pad> " * 200_000) == "4"
    assert response_of("ab" * 100_000 + "c", "ab" * 99_000 + "b") == "ab" * 100_000 + "c"


PLAIN_GOLDS = st.one_of(st.text(st.characters(exclude_characters="{"), min_size=1), st.integers())


@given(PLAIN_GOLDS.filter(lambda gold: str(gold).strip()), st.sampled_from(GOLD_KEYS))
def test_a_gold_is_found_wherever_it_is(gold, key):
    wrapped = {key: gold, "style": "rule"}
    for label in (gold, [gold], (gold,), wrapped, {key: [gold]}, {"ground_truth": wrapped}):
        assert gold_of(label) == gold
        if isinstance(label, dict):
            assert gold_of(json.dumps(label)) == gold


@pytest.mark.parametrize(
    "label",
    [None, "", " \n", float("nan"), np.nan, np.float32("nan"), [], [None], {"ground_truth": None}],
)
def test_no_gold(label):
    assert gold_of(label) is None


@pytest.mark.parametrize(
    ("label", "gold"),
    [
        (np.int64(4), 4),
        (np.float64(0.5), 0.5),
        (np.array(["4"], dtype=object), "4"),
        (np.array([1, 2]), "[1, 2]"),
        (np.str_("4"), "4"),
        (True, "True"),
        (Decimal("0.50"), "0.50"),
        (Fraction(1, 3), "1/3"),
        (0, 0),
        ("42", "42"),
        ("[0, 1]", "[0, 1]"),  # an interval, or a box: the rewards read it
        (r"\{1, 2\}", r"\{1, 2\}"),
        ('{"answer": ', '{"answer": '),
        ('{"bbox_2d": [1, 2]}', '{"bbox_2d": [1, 2]}'),
        ('{"x": "\\"answer\\" 1"}', '{"x": "\\"answer\\" 1"}'),
        ('{"x": {"answer": 1}}', '{"x": {"answer": 1}}'),
        ("[" * 100_000, "[" * 100_000),
        ('{"answer":' * 100_000, '{"answer":' * 100_000),
        (
            [{"bbox_2d": [1, 2], "label": "a"}] * 2,
            json.dumps([{"bbox_2d": [1, 2], "label": "a"}] * 2),
        ),
        ([{"bbox_2d": [1], "label": "a"}], '[{"bbox_2d": [1], "label": "a"}]'),
        ([[1, 2]], "[[1, 2]]"),
        ([{"answer": "4"}], "4"),
        (["UK", "Britain"], ["UK", "Britain"]),
        ({"answer": np.array(["UK", "Britain"])}, ["UK", "Britain"]),
        ({"bbox_2d": np.array([1, 2])}, '{"bbox_2d": [1, 2]}'),
        (["a", 1], '["a", 1]'),
        ({"target": "Paris", "answer": "Lyon"}, "Lyon"),
        ({"ground_truth": None, "answer": "4"}, "4"),
    ],
)
def test_golds_of_every_kind(label, gold):
    found = gold_of(label)
    assert found == gold
    assert type(found) is type(gold)


def test_a_gold_that_cannot_be_one_is_named():
    with pytest.raises(TypeError, match=r"label 1 must be text, a number.*got object"):
        gold_of(object(), row=1)
    deep = 4
    for _ in range(20):
        deep = {"answer": deep}
    with pytest.raises(ValueError, match="label 0 holds its gold more than 8 levels deep"):
        gold_of(deep)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(GOLD_KEYS), inner)
        ),
    )
)
def test_a_gold_is_text_a_number_alternatives_or_an_error_that_says_why(label):
    try:
        gold = gold_of(label)
    except ValueError as error:
        assert "label 0" in str(error)
    else:
        assert gold is None or isinstance(gold, str | int | float | list)
        assert gold_of(gold) == gold


def test_a_gold_is_found_among_the_fields_of_a_row():
    assert gold_in({"question": "2 + 2?", "ground_truth": None, "answer": [4]}) == 4
    assert gold_in({"question": "2 + 2?", "label": "4"}) == "4"
    assert gold_in({"question": "2 + 2?", "level": "4"}) is None


def test_columns_leave_out_what_means_something_else():
    rows = [{"completions": 1, "self": 2, "log_metric": 3, "problem": 4, 5: 6}, "text"]
    assert columns_of(rows) == {"problem": [4, None]}


def test_a_component_with_a_trainers_own_name_is_refused():
    row = RowScore(1.0, {"score": Score(1.0, "So.")})
    assert metrics_of(row)["score"] == 1.0
    with pytest.raises(ValueError, match='a component is called "score"'):
        metrics_of(row, taken=["score"])


def test_a_row_that_all_skip_is_worth_nothing():
    assert total_of(RowScore(None, {"a": Score(None, "No gold.")})) == 0.0
