"""What a trainer hands over, as text."""

import json

import numpy as np
import pytest

from plaudit.inputs.completions import gold_texts_of, prompt_text_of, text_of, texts_of
from test_columns import Tensor


class Dumped:
    """As the objects that OpenAI's clients give."""

    def __init__(self, **fields):
        self.fields = fields

    def model_dump(self):
        return self.fields


SAYS = {"role": "assistant", "content": "It is 4."}

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
    "ShareGPT": [{"from": "human", "value": "2 + 2?"}, {"from": "gpt", "value": "It is 4."}],
    "a row of ShareGPT": {"conversations": [{"from": "gpt", "value": "It is 4."}]},
    "a row of messages": {"messages": [{"role": "user", "content": "2 + 2?"}, SAYS]},
    "a bare text": {"text": "It is 4."},
    "the role of Gemini": [{"role": "model", "parts": [{"text": "It is "}, {"text": "4."}]}],
    "a role in capitals": [{"role": "Assistant", "content": "It is 4."}],
    "a chat response of OpenAI": {"choices": [{"index": 0, "message": SAYS}], "usage": {}},
    "a text response of OpenAI": {"choices": [{"index": 0, "text": "It is 4."}]},
    "a response as an object": Dumped(choices=[{"message": SAYS}]),
    "a message as an object": [Dumped(**SAYS)],
    "parts of a response": [
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "text": "Hm."},
                {"type": "output_text", "text": "It is 4."},
            ],
        }
    ],
    "a message out of a table": [
        {"role": "assistant", "content": "It is 4.", "text": None, "tool_calls": None}
    ],
    "a part out of a table": [
        {"role": "assistant", "content": [{"type": None, "text": "It is 4.", "image": None}]}
    ],
    "an array of messages": np.array([SAYS], dtype=object),
}


@pytest.mark.parametrize("completion", SHAPES.values(), ids=SHAPES.keys())
def test_every_shape_says_the_same(completion):
    assert text_of(completion) == "It is 4."
    assert texts_of([completion]) == ["It is 4."]


@pytest.mark.parametrize(
    "completion",
    [
        [],
        [{"role": "assistant", "content": None}],
        [{"role": "assistant", "content": None, "tool_calls": [{"name": "add"}]}],
        [{"role": "assistant", "tool_calls": [{"name": "add"}]}],
        [{"role": "assistant", "function_call": {"name": "add"}}],
        [{"role": "tool", "content": "5"}],
        [{"from": "human", "value": "2 + 2?"}],
        [{"role": "assistant", "content": [{"type": "image", "image": "…"}]}],
        "",
    ],
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
        (b"bytes", "completion 1 must be text or a list of messages, got bytes: b'bytes'"),
        ({}, r"completion 1: a message must have `content`, or call .* got \{\}"),
        ([{"role": "assistant"}], "completion 1: a message must have `content`.*'assistant'"),
        ({"generated": "4"}, "completion 1: a message must have `content`.*'generated': '4'"),
        ([{"role": "agent", "content": "4"}], "completion 1: no message has the role.*'agent'"),
        ([{"role": 3, "content": "4"}], "completion 1: no message has the role.*'3'"),
        (
            [{"role": "user", "content": "2 + 2?"}, {"content": "4"}],
            "completion 1: no message has the role.*''",
        ),
        ({"choices": []}, "completion 1: a response must have one choice, got 0"),
        ({"choices": [{"text": "4"}, {"text": "5"}]}, "one choice, got 2: give each choice a row"),
        ({"choices": [{"index": 0}]}, "completion 1: a message must have `content`"),
        ({"choices": 4}, "completion 1: choices must be a list"),
        (
            [{"role": "assistant", "content": [{}]}],
            r"completion 1: a part of a message .* got \{\}",
        ),
        ([{"role": "assistant", "content": [{"type": "text", "text": 4}]}], "completion 1: a part"),
        ([{"role": "assistant", "content": {"text": "4"}}], "completion 1: a message's content"),
    ],
)
def test_anything_else_is_an_error_that_says_what_arrived_and_where(completion, message):
    with pytest.raises(TypeError, match=message):
        texts_of(["fine", completion])


@pytest.mark.parametrize("completions", ["text", {"role": "assistant"}, 4, None])
def test_completions_must_be_a_list(completions):
    with pytest.raises(TypeError, match="completions must be a list with one entry per completion"):
        texts_of(completions)


def test_golds_are_text_numbers_or_none():
    golds = ["4", 4, 4.0, 1e-7, 1e22, float("inf"), np.int64(4), np.float32(0.5), True, None]
    texts = ["4", "4", "4.0", "0.0000001", "1" + "0" * 22, "inf", "4", "0.5", "1", None]
    assert gold_texts_of(golds) == texts
    assert gold_texts_of([np.bool_(True), Tensor(4), float("nan")]) == ["1", "4", None]
    assert gold_texts_of(np.array(["4", "5"])) == ["4", "5"]
    assert gold_texts_of((4, "5")) == ["4", "5"]


def test_any_other_gold_is_an_error():
    with pytest.raises(TypeError, match=r"solution 1 must be text, a number or None, got list"):
        gold_texts_of(["4", ["4", 4]])
    with pytest.raises(
        ValueError, match=r"solution 1 is a list of 2 texts.*answers\.answer_reward"
    ):
        gold_texts_of(["4", ["4", "four"]])


def test_a_gold_that_a_list_or_a_dict_holds_is_read_as_trainers_read_it():
    golds = [
        ["4"],
        (4,),
        {"answer": "4"},
        np.array(["4"]),
        [],
        [10, 20, 30, 40.5],
        np.array([1, 2]),
    ]
    texts = ["4", "4", "4", "4", None, "[10, 20, 30, 40.5]", "[1, 2]"]
    assert gold_texts_of(golds) == texts
    boxes = [{"bbox_2d": [1, 2, 3, 4], "label": "cup"}]
    assert gold_texts_of([boxes, boxes[0]]) == [json.dumps(boxes), json.dumps(boxes[0])]


def test_what_pandas_writes_where_there_is_nothing_is_no_gold():
    pandas = pytest.importorskip("pandas")
    golds = pandas.Series(["4", None, pandas.NA, float("nan")], dtype=object)
    assert gold_texts_of(golds) == ["4", None, None, None]


def test_a_long_culprit_is_shown_in_part():
    with pytest.raises(TypeError, match=r"got set: \{0, 1, 2.*\.\.\.$"):
        gold_texts_of([set(range(100))])


def test_completions_may_be_an_array():
    assert texts_of(np.array(["a", "b"])) == ["a", "b"]
    assert texts_of(np.array(["a", [SAYS]], dtype=object)) == ["a", "It is 4."]


@pytest.mark.parametrize(
    "prompt",
    [
        "2 + 2?",
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}],
        [{"from": "human", "value": "2 + 2?"}],
        [{"content": "2 + 2?"}],
    ],
)
def test_a_prompt_is_what_the_user_says(prompt):
    assert prompt_text_of(prompt, "problem") == "2 + 2?"
    with pytest.raises(TypeError, match="problem 3 must be text or a list of messages, got int"):
        prompt_text_of(4, "problem", 3)
