"""Conversations in one shape, and rewards of them."""

import json

import pytest

from plaudit.inputs.messages import ChatMessage, ToolCall, messages_of
from plaudit.recipes import Component, Recipe
from plaudit.rewards.messages import no_repeat_reward, tool_use_reward, turn_limit_reward
from plaudit.scores import Score, reward
from plaudit.trainers import nemo_gym

CALL = {"name": "search", "arguments": {"q": "Rome"}}
OPENAI = [
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "I look.",
        "tool_calls": [
            {
                "id": "1",
                "type": "function",
                "function": {"name": "search", "arguments": json.dumps({"q": "Rome"})},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": "Error: no network"},
    {"role": "assistant", "content": "It failed."},
]
ANTHROPIC = [
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I look."},
            {"type": "tool_use", "id": "1", "name": "search", "input": {"q": "Rome"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "1",
                "content": [{"type": "text", "text": "Error: no network"}],
                "is_error": True,
            }
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "It failed."}]},
]
RESPONSES = [
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I look."}]},
    {
        "type": "function_call",
        "call_id": "1",
        "name": "search",
        "arguments": json.dumps({"q": "Rome"}),
    },
    {"type": "function_call_output", "call_id": "1", "output": "Error: no network"},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "It failed."}],
    },
]
SHAPE = [
    ChatMessage("assistant", "", "I look.", (ToolCall("search", {"q": "Rome"}, "1"),)),
    ChatMessage("tool", "Error: no network", answers="1", failed=True),
    ChatMessage("assistant", "It failed."),
]


@pytest.mark.parametrize("conversation", [OPENAI, ANTHROPIC, RESPONSES, {"messages": OPENAI}])
def test_conversations_of_apis_have_one_shape(conversation):
    assert messages_of(conversation) == SHAPE


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>",
        f"<tool_call>{json.dumps(CALL)}",
        '[search(q="Rome")]',
        "<think>I look.</think>\n[search(q='Rome')]\n",
    ],
)
def test_calls_that_a_model_writes_are_read(text):
    for form in (text, [{"role": "assistant", "content": text}], [{"from": "gpt", "value": text}]):
        [message] = messages_of(form)
        assert message.calls == (ToolCall("search", {"q": "Rome"}),)
        assert "search" not in message.text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<tool_call>{nonsense}</tool_call>", "the call is no JSON"),
        ("<tool_call>[1]</tool_call>", "the call is no object"),
        ('<tool_call>{"name": "f", "arguments": "{"}</tool_call>', "the arguments are no JSON"),
        ('<tool_call>{"name": "f", "arguments": [1]}</tool_call>', "the arguments are no object"),
        ("[f(x=open('/etc/passwd'))]", "malformed node"),
    ],
)
def test_calls_that_cannot_be_read_say_why(text, problem):
    [call] = messages_of(text)[0].calls
    assert call.arguments is None
    assert call.problem.startswith(problem)


@pytest.mark.parametrize(
    "text", ["[1, 2]", "[f(1)]", "[not python)]", "It is 4.", "[" * 9000 + ")]"]
)
def test_other_texts_call_nothing(text):
    assert messages_of(text) == [ChatMessage("assistant", text)]


def test_images_and_responses_of_hermes_are_read():
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    [asked] = messages_of([{"role": "user", "content": [{"type": "text", "text": "?"}, picture]}])
    assert (asked.text, asked.images) == ("?", (picture,))
    results = messages_of(
        [{"role": "user", "content": "<tool_response>4</tool_response><tool_response>5"}]
    )
    assert [(one.role, one.text) for one in results] == [("tool", "4"), ("tool", "5")]


@pytest.mark.parametrize("wrong", [42, [42], [{"role": "wizard", "content": ""}], None])
def test_what_is_no_conversation_is_refused_with_its_row(wrong):
    with pytest.raises(TypeError, match="completion 1"):
        tool_use_reward(["fine", wrong])


# --- rewards --------------------------------------------------------------------------------------


def asks(name="search", arguments='{"q": 1}', number="1"):
    call = {"id": number, "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def result(content, number="1"):
    return {"role": "tool", "tool_call_id": number, "content": content}


DONE = {"role": "assistant", "content": "Done."}


@pytest.mark.parametrize(
    ("conversation", "settings", "value", "turns"),
    [
        ([asks(), result("4"), DONE], {}, 1.0, (1.0, 0.0)),
        ([asks(), result("Error: 4"), DONE], {}, 0.0, (0.0, 0.0)),
        ([asks(), result("4"), asks(number="2"), result("Traceback …", "2")], {}, 0.5, (1.0, 0.0)),
        ([asks(arguments="{")], {}, 0.0, (0.0,)),
        ([asks(name="delete")], {"tools": ["search"]}, 0.0, (0.0,)),
        ([DONE], {}, 0.0, (0.0,)),
        ([DONE], {"at_least": 0}, 1.0, (0.0,)),
        ([asks(), asks(number="2")], {"at_most": 1}, 0.0, (1.0, 1.0)),
        ([], {}, 0.0, ()),
    ],
)
def test_calls_of_tools_are_paid_if_they_work(conversation, settings, value, turns):
    [score] = tool_use_reward.scores([conversation], **settings)
    assert (score.value, score.turns) == (value, turns)
    assert score.why.endswith(".")


def test_turns_are_limited_and_repetitions_found():
    twice = [asks(), result("4"), asks(arguments='{ "q":1 }', number="2"), result("4", "2"), DONE]
    assert turn_limit_reward([twice], most=3) == [1.0]
    [score] = turn_limit_reward.scores([twice], most=2)
    assert (score.value, score.turns) == (0.0, (1.0, 1.0, 0.0))
    [score] = no_repeat_reward.scores([twice])
    assert (score.value, score.turns) == (pytest.approx(2 / 3), (1.0, 0.0, 1.0))


@pytest.mark.parametrize("most", [-1, 1.5, True, "2"])
def test_a_wrong_limit_is_refused(most):
    with pytest.raises(ValueError, match="most must be a whole number"):
        turn_limit_reward(["text"], most=most)


def test_an_adapter_passes_the_whole_conversation():
    body = {"responses_create_params": {"input": "?"}, "response": {"output": RESPONSES}}
    recipe = Recipe("tools", (Component("", "messages.tool_use_reward"),))
    [row] = nemo_gym.batch_of(body).scores(recipe)
    assert row.components["tool_use_reward"].why == (
        "0 of 1 calls of tools worked: search failed: Error: no network."
    )


# --- groups ---------------------------------------------------------------------------------------


@reward(scope="group")
def shortest_right(completions, solution, **kwargs):
    """A right answer by its length, relative to the shortest right one of its group."""
    lengths = [len(c) if g in c else None for c, g in zip(completions, solution, strict=True)]
    known = [length for length in lengths if length is not None]
    return [
        Score(0.0, "It is wrong.") if one is None else Score(min(known) / one, f"{one} characters.")
        for one in lengths
    ]


@reward(scope="group")
def rank(completions, **kwargs):
    order = sorted(range(len(completions)), key=lambda row: len(completions[row]))
    places = {row: place for place, row in enumerate(order)}
    return [Score(1 - places[row] / len(order), "Its rank.") for row in range(len(order))]


@reward(scope="group", reads="messages")
def unlike(completions, **kwargs):
    texts = [messages[-1].text for messages in completions]
    return [Score(1 / texts.count(text), "Diversity.") for text in texts]


class Trainer:
    num_generations = 2

    def log(self, name, value):
        pass


@pytest.mark.parametrize(
    "columns",
    [{"prompts": ["p", "p", "q", "q"]}, {"uid": [1, 1, 2, 2]}, {"log_metric": Trainer().log}],
)
def test_a_reward_of_groups_sees_the_completions_of_a_prompt_together(columns):
    batch = {
        "completions": ["4", "4.00", "It is 5", "6"],
        "solution": ["4", "4", "5", "5"],
        **columns,
    }
    assert shortest_right(**batch) == [1.0, 0.25, 1.0, 0.0]
    recipe = Recipe("groups", tuple(Component("", one) for one in (shortest_right, rank, unlike)))
    rows = recipe(**batch)
    assert [row.components["rank"].value for row in rows] == [1.0, 0.5, 0.5, 1.0]
    assert unlike(["a", "a", "b", "b"]) == [0.5, 0.5, 0.5, 0.5]


def test_a_reward_of_groups_gives_a_value_for_each_completion():
    @reward(scope="group")
    def too_few(completions, **kwargs):
        return [Score(1.0, "So.")]

    with pytest.raises(ValueError, match="too_few gave 1 values for the 2 completions of a group"):
        too_few(["a", "b"])
    with pytest.raises(ValueError, match='reads is "text" or "messages"'):
        reward(reads="tokens")(lambda completions: [])
