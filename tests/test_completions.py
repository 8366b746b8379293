"""What a trainer hands over, as text."""

import numpy as np
import pytest

from plaudit.completions import golds_of, same_length, text_of, texts_of

SHAPES = {
    "text": "It is 4.",
    "one message": [{"role": "assistant", "content": "It is 4."}],
    "a bare message": {"role": "assistant", "content": "It is 4."},
    "a message without a role": [{"content": "It is 4."}],
    "parts": [{"role": "assistant", "content": [{"type": "text", "text": "It is 4."}]}],
    "parts of which some are no text": [
        {
            "role": "assistant",
            "content": [
                {"type": "image", "image": "…"},
                {"type": "text", "text": "It is "},
                {"type": "text", "text": "4."},
            ],
        }
    ],
    "a tool call, its result, the answer": [
        {"role": "assistant", "content": None, "tool_calls": [{"name": "add"}]},
        {"role": "tool", "content": "5"},
        {"role": "assistant", "content": "It is 4."},
    ],
    "a turn of the user after it": [
        {"role": "assistant", "content": "It is 4."},
        {"role": "user", "content": "Thanks!"},
    ],
}


@pytest.mark.parametrize("completion", SHAPES.values(), ids=SHAPES.keys())
def test_every_shape_says_the_same(completion):
    assert text_of(completion) == "It is 4."
    assert texts_of([completion]) == ["It is 4."]


@pytest.mark.parametrize(
    "completion",
    [[], [{"role": "assistant", "content": None}], [{"role": "tool", "content": "5"}], ""],
    ids=["no messages", "a tool call alone", "a tool's result alone", "no text"],
)
def test_a_model_that_said_nothing_has_no_text(completion):
    assert text_of(completion) == ""


@pytest.mark.parametrize(
    ("completion", "message"),
    [
        (4, "completion 1 must be text or a list of messages, got int: 4"),
        (None, "completion 1 must be text or a list of messages, got NoneType: None"),
        (["text"], r"completion 1 must be text or a list of messages, got list: \['text'\]"),
        ([{"role": "assistant", "content": 4}], "completion 1: a message's content must be text"),
        ([{"role": "assistant", "content": ["a"]}], "completion 1: a message's content must be"),
        ({1, 2}, "completion 1 must be text"),
    ],
)
def test_anything_else_is_an_error_that_says_what_arrived_and_where(completion, message):
    with pytest.raises(TypeError, match=message):
        texts_of(["fine", completion])


@pytest.mark.parametrize("completions", ["text", {"role": "assistant"}, 4, None])
def test_completions_must_be_a_list(completions):
    with pytest.raises(TypeError, match="completions must be a list with one entry a row, got"):
        texts_of(completions)


def test_golds_are_text_numbers_or_none():
    golds = ["4", 4, 4.0, 1e-7, 1e22, float("inf"), np.int64(4), np.float32(0.5), True, None]
    texts = ["4", "4", "4.0", "0.0000001", "1" + "0" * 22, "inf", "4", "0.5", "1", None]
    assert golds_of(golds) == texts


def test_any_other_gold_is_an_error():
    with pytest.raises(TypeError, match=r"solution 1 must be text, a number or None, got list"):
        golds_of(["4", ["4"]])


def test_a_long_culprit_is_shown_in_part():
    with pytest.raises(TypeError, match=r"got list: \[0, 1, 2.*\.\.\.$"):
        golds_of([list(range(100))])


def test_columns_must_be_as_long_as_the_completions():
    same_length(["a", "b"], solution=["1", "2"], ids=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="ids has 3 entries, completions has 2"):
        same_length(["a", "b"], solution=["1", "2"], ids=[1, 2, 3])


@pytest.mark.parametrize("column", ["ab", {"a": 1, "b": 2}, 5, None])
def test_a_column_must_be_a_list(column):
    with pytest.raises(TypeError, match="solution must be a list with one entry a completion"):
        same_length(["a", "b"], solution=column)
