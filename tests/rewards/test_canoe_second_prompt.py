"""CANOE's second prompt is the first one, with what the model wrote in place of the context."""

import copy
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from plaudit.rewards.canoe import second_prompt

# What a regular expression, a template of one, or a format string would not leave alone.
TRICKY = st.sampled_from([r"\1", "\\", r"\g<0>", "{}", "{0}", "%s", "$1", "\n", "</context>", " "])
WORDS = st.lists(TRICKY | st.text(max_size=5), max_size=5).map("".join)
WRITTEN = WORDS.map(lambda text: text.replace("</long_answer>", "")).map(str.strip)
CONTEXT = WORDS.filter(lambda text: "</context>" not in text)


def asked(context):
    return f"Read this.\n<context>{context}</context>\nWho? <context>not this</context>"


def wrote(long_answer):
    return f"<think>t</think><long_answer>\n{long_answer} </long_answer><answer>a</answer>"


@settings(max_examples=examples(200), deadline=None)
@given(CONTEXT, WRITTEN)
def test_the_long_answer_stands_there_as_it_was_written(context, long_answer):
    expected = f"Read this.\n<context>{long_answer}</context>\nWho? <context>not this</context>"
    assert second_prompt(asked(context), wrote(long_answer)) == expected


@settings(max_examples=examples(50), deadline=None)
@given(CONTEXT, WRITTEN)
def test_messages_change_as_text_does_and_the_others_stay(context, long_answer):
    prompt = [
        {"role": "system", "content": "<context>of the system</context>"},
        {"role": "user", "content": "<context>an earlier turn</context>"},
        {"role": "assistant", "content": "<context>said</context>"},
        {"role": "user", "content": asked(context)},
    ]
    before = copy.deepcopy(prompt)
    completion = [{"role": "assistant", "content": wrote(long_answer)}]
    changed = second_prompt(prompt, completion)
    text = second_prompt(asked(context), wrote(long_answer))
    assert changed == [*before[:3], {"role": "user", "content": text}]
    assert prompt == before


def test_parts_beside_the_text_stay():
    image = {"type": "image", "image": object()}
    texts = [{"type": "text", "text": "Look."}, {"type": "text", "text": asked("old")}]
    prompt = [{"role": "user", "content": [texts[0], image, texts[1]]}]
    [message] = second_prompt(prompt, wrote("new"))
    assert message["content"] == [texts[0], image, {"type": "text", "text": asked("new")}]
    assert texts[1]["text"] == asked("old")


@pytest.mark.parametrize(
    "completion",
    ["", "<answer>a</answer>", "<long_answer>never closed", "</long_answer><long_answer>"],
)
def test_without_a_long_answer_there_is_no_second_prompt(completion):
    assert second_prompt(asked("old"), completion) is None
    assert second_prompt("no context", completion) is None


def test_a_long_answer_of_no_characters_is_one():
    assert second_prompt(asked("old"), wrote("")) == asked("")


def test_of_several_long_answers_the_first_counts():
    assert second_prompt(asked("old"), wrote("one") + wrote("two")) == asked("one")


@pytest.mark.parametrize(
    "prompt",
    ["Who?", "<context>open", "</context><context>", [{"role": "user", "content": "Who?"}]],
)
def test_a_prompt_without_a_context_is_an_error(prompt):
    with pytest.raises(ValueError, match=r"no <context>…</context>"):
        second_prompt(prompt, wrote("new"))


@settings(max_examples=examples(50), deadline=None)
@given(WRITTEN)
def test_as_the_original_it_is_escaped(long_answer):
    """As CANOE's trainer does it: `re.escape`, and then a substitution."""
    pattern = re.compile(r"<context>.*?</context>", re.DOTALL)
    replacement = f"<context>{re.escape(long_answer)}</context>"
    expected = pattern.sub(replacement, asked("old"), count=1)
    assert second_prompt(asked("old"), wrote(long_answer), as_original=True) == expected
