"""Rewards of whole conversations: calls of tools, turns, repetitions.

    [[rewards]]
    reward = "messages.tool_use_reward"
    params = { tools = ["search", "calculate"], at_most = 5 }

A conversation is a list of messages in any form that `plaudit.inputs.messages` reads. Each score
also has the value of every turn of the assistant, for trainers that take rewards per turn.
"""

import json
from collections.abc import Sequence
from typing import Any

from plaudit.inputs.messages import ChatMessage, ToolCall
from plaudit.scores import Score, reward

__all__ = ["no_repeat_reward", "tool_use_reward", "turn_limit_reward"]

Conversation = Sequence[ChatMessage]


@reward(columns=(), reads="messages")
def tool_use_reward(
    completions: Sequence[Conversation],
    tools: Sequence[str] | None = None,
    at_least: int = 1,
    at_most: int | None = None,
    **kwargs: Any,
) -> list[Score]:
    """Return the share of calls of tools that worked; 0.0 for too few calls or too many.

    A call works if its arguments can be read, the tool is one of `tools`, and its result is no
    error. A result that is not there counts as none.

    tools: the names of the tools that may be called. Default: any
    at_least: how many calls there must be. Default: 1
    at_most: how many there may be. Default: any number

    >>> call = {"name": "add", "arguments": {"a": 2, "b": 2}}
    >>> asks = {"role": "assistant", "tool_calls": [{"id": "1", "function": call}]}
    >>> says = {"role": "tool", "tool_call_id": "1", "content": "4"}
    >>> tool_use_reward([[asks, says], [{"role": "assistant", "content": "4, I guess."}]])
    [1.0, 0.0]
    """
    _check_count("at_least", at_least)
    _check_count("at_most", at_most)
    return [_tool_use(messages, tools, at_least, at_most) for messages in completions]


def _tool_use(
    messages: Conversation, tools: Sequence[str] | None, at_least: int, at_most: int | None
) -> Score:
    turns = [
        [_problem(call, place, messages, tools) for call in message.calls]
        for place, message in enumerate(messages)
        if message.role == "assistant"
    ]
    problems = [problem for turn in turns for problem in turn]
    worked, count = problems.count(""), len(problems)
    each = tuple(turn.count("") / len(turn) if turn else 0.0 for turn in turns)
    if count < at_least or (at_most is not None and count > at_most):
        wanted = f"at least {at_least}" if count < at_least else f"at most {at_most}"
        return Score(
            0.0, f"There are {count} calls of tools, and there must be {wanted}.", turns=each
        )
    value = worked / count if count else 1.0
    first = next((problem for problem in problems if problem), "")
    why = f"{worked} of {count} calls of tools worked{f': {first}' if first else ''}."
    return Score(value, why, problem=first, turns=each)


def _problem(
    call: ToolCall, place: int, messages: Conversation, tools: Sequence[str] | None
) -> str:
    """Return why a call did not work; "" if it did."""
    if call.arguments is None:
        return call.problem
    if tools is not None and call.name not in tools:
        return f"there is no tool {call.name[:80]}"
    for later in messages[place + 1 :]:
        if later.role == "assistant" and not call.id:
            break
        if later.role == "tool" and later.answers in (call.id, ""):
            return f"{call.name[:80]} failed: {later.text[:80]}" if later.failed else ""
    return ""


@reward(columns=(), reads="messages")
def turn_limit_reward(
    completions: Sequence[Conversation], most: int = 8, **kwargs: Any
) -> list[Score]:
    """1.0 if the assistant speaks no more than `most` times, else 0.0.

    most: how many turns of the assistant there may be. Default: 8

    >>> turn = {"role": "assistant", "content": "Let me think."}
    >>> turn_limit_reward([[turn], [turn] * 3], most=2)
    [1.0, 0.0]
    """
    _check_count("most", most)
    scores = []
    for messages in completions:
        turns = sum(message.role == "assistant" for message in messages)
        within = tuple(float(turn < most) for turn in range(turns))
        why = f"The assistant speaks {turns} times, of at most {most}."
        scores.append(Score(float(turns <= most), why, turns=within))
    return scores


@reward(columns=(), reads="messages")
def no_repeat_reward(completions: Sequence[Conversation], **kwargs: Any) -> list[Score]:
    """Return the share of the assistant's turns that do not repeat an earlier one.

    A turn repeats another if it says the same and calls the same tools with the same arguments.
    White space and the order of arguments do not count.

    >>> turn = {"role": "assistant", "content": "Let me think."}
    >>> no_repeat_reward([[turn, {"role": "user", "content": "Well?"}, turn]])
    [0.5]
    """
    return [_no_repeat(messages) for messages in completions]


def _no_repeat(messages: Conversation) -> Score:
    seen: set[str] = set()
    turns: list[float] = []
    for message in messages:
        if message.role == "assistant":
            key = _key(message)
            turns.append(float(key not in seen))
            seen.add(key)
    repeats = turns.count(0.0)
    value = 1.0 - repeats / len(turns) if turns else 1.0
    why = f"{repeats} of {len(turns)} turns repeat an earlier one."
    return Score(value, why, turns=tuple(turns))


def _key(message: ChatMessage) -> str:
    calls = [
        (call.name, json.dumps(call.arguments, sort_keys=True, default=str))
        for call in message.calls
    ]
    return repr((" ".join(message.text.split()), calls))


def _check_count(name: str, value: object) -> None:
    if value is None and name == "at_most":
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} must be a whole number of 0 or more, got {value!r:.80}")
