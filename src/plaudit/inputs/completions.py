"""What a trainer hands over, as plain Python: a text and a gold for each row.

A completion is a string, or a list of messages:

    [{"role": "assistant", "content": None, "tool_calls": [...]},
     {"role": "tool", "content": "42"},
     {"role": "assistant", "content": [{"type": "text", "text": "So it is 42."}]}]

Its text is what the last assistant message says: "So it is 42.". ShareGPT's messages, Gemini's and
OpenAI's responses are read as well. Whatever is of another shape is a TypeError that names the row
and shows what came: never a text of no characters.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isfinite, isnan
from numbers import Integral, Real
from typing import Any

from plaudit.inputs.columns import kind_of, plain, rows_of, shortened
from plaudit.inputs.golds import as_option, holds_gold, read_gold

__all__ = ["text_of"]

Message = Mapping[str, Any]
Completion = str | Message | Sequence[Message]
Solution = str | float | None

# Who speaks, as datasets and APIs write it in `role` or, ShareGPT, in `from`.
_MODEL = frozenset(("assistant", "model", "gpt", "chatgpt", "bot", "ai"))
_PERSON = frozenset(("user", "human"))
_OTHERS = frozenset(
    "system developer tool function ipython observation environment "
    "function_call function_response tool_call tool_response".split()
)
_SAID = ("content", "value", "text", "parts")  # where a message keeps what it says
_CALLS = ("tool_calls", "function_call")
_TEXT_PARTS = ("text", "output_text", "input_text")  # others are images, reasoning, calls of tools
_WRAPPED = ("messages", "conversations")


# --- completions and prompts ----------------------------------------------------------------------


def texts_of(completions: Any) -> list[str]:
    """Return the text of each completion."""
    return [
        completion if isinstance(completion, str) else text_of(completion, row)
        for row, completion in enumerate(rows_of(completions, "completions"))
    ]


def text_of(completion: Any, row: int = 0) -> str:
    """Return the text of one completion: what the model says last; `row` is named in errors.

    >>> text_of([{"role": "tool", "content": "4"}, {"role": "assistant", "content": "It is 4."}])
    'It is 4.'
    >>> text_of([{"from": "human", "value": "2 + 2?"}, {"from": "gpt", "value": "It is 4."}])
    'It is 4.'
    >>> text_of(42, row=3)
    Traceback (most recent call last):
    ...
    TypeError: completion 3 must be text or a list of messages, got int: 42
    """
    if isinstance(completion, str):
        return completion
    return _last_said(completion, _MODEL, f"completion {row}")


def model_messages(completion: Any, row: int = 0) -> list[Message]:
    """Return the messages of the model, its calls of tools too; text is one message."""
    if isinstance(completion, str):
        return [{"role": "assistant", "content": completion}]
    messages = _messages(completion, f"completion {row}")
    # An item of OpenAI's responses that is a call or text has no speaker.
    calls = ("", "function_call", "tool_call")
    return [said for said in messages if _speaker(said) in (*_MODEL, *calls)]


def prompt_text_of(prompt: Any, name: str, row: int = 0) -> str:
    """Return the text of one prompt: what the user says last."""
    return _last_said(prompt, _PERSON, f"{name} {row}")


def prompt_texts_of(prompt: Any, label: str) -> list[str]:
    """Return the text of each message of a prompt, for a protocol without roles."""
    if isinstance(prompt, str):
        return [prompt]
    messages = _messages(prompt, label)
    if any(_speaker(message) in _MODEL for message in messages):
        raise ValueError(f"{label} must have no message of the assistant: {shortened(prompt)}")
    return [_said(message, label) for message in messages]


def _last_said(said: Any, speakers: frozenset[str], label: str) -> str:
    if isinstance(said, str):
        return said
    if type(said) is list and len(said) == 1 and type(said[0]) is dict:  # what trainers hand over
        only = said[0]
        if only.get("role") in speakers and isinstance(only.get("content"), str):
            return str(only["content"])
    messages = _messages(said, label)
    spoken = [message for message in messages if _speaker(message) in speakers]
    if spoken:
        return _said(spoken[-1], label)
    roles = {_speaker(message) for message in messages}
    if roles == {""}:
        return _said(messages[-1], label)
    if unknown := roles - _MODEL - _PERSON - _OTHERS:
        names = " and ".join(repr(name) for name in sorted(unknown))
        raise TypeError(
            f"{label}: no message has the role {' or '.join(sorted(speakers))}, and plaudit does "
            f"not know whose role is {names}: {shortened(said)}"
        )
    return ""


def _messages(said: Any, label: str) -> list[Message]:
    """Return the messages that an object, a response of an API or a list holds."""
    held = _as_mapping(plain(said))
    if isinstance(held, Mapping):
        if held.get("choices") is not None:
            return [_only_choice(held["choices"], label)]
        inner = next((held[key] for key in _WRAPPED if held.get(key) is not None), None)
        return [held] if inner is None else _messages(inner, label)
    if isinstance(held, Sequence) and not isinstance(held, str | bytes | bytearray):
        messages = [_as_mapping(message) for message in held]
        if all(isinstance(message, Mapping) for message in messages):
            return messages
    raise TypeError(f"{label} must be text or a list of messages, got {kind_of(said)}")


def _only_choice(choices: Any, label: str) -> Message:
    """Return the message, or the text, of the one choice in a response of OpenAI's."""
    listed = [_as_mapping(choice) for choice in rows_of(choices, f"{label}: choices")]
    if len(listed) != 1 or not isinstance(listed[0], Mapping):
        raise TypeError(
            f"{label}: a response must have one choice, got {len(listed)}: "
            f"give each choice a row of its own; {shortened(choices)}"
        )
    return _messages(listed[0].get("message") or listed[0], label)[0]


def _as_mapping(value: Any) -> Any:
    """Return the dict of an object such as OpenAI's clients give, anything else as it is."""
    return value.model_dump() if hasattr(value, "model_dump") else value


def _speaker(message: Message) -> str:
    speaker = message.get("role") or message.get("from") or ""
    return speaker.lower() if isinstance(speaker, str) else repr(speaker)


def _said(message: Message, label: str) -> str:
    # Tables write None for what a message has not, so the first that is something counts.
    said = next((message[key] for key in _SAID if message.get(key) is not None), None)
    if said is None and not any(key in message for key in (*_SAID, *_CALLS)):
        raise TypeError(
            f"{label}: a message must have `content`, or call a tool with `tool_calls`, "
            f"got {shortened(message)}"
        )
    return _content_text(said, label)


def _content_text(content: Any, label: str) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts = plain(content)
    if isinstance(parts, Sequence) and all(isinstance(part, Mapping) for part in parts):
        return "".join(_part_text(part, label) for part in parts)
    raise TypeError(
        f"{label}: a message's content must be text, a list of parts or None, "
        f"got {kind_of(content)}"
    )


def _part_text(part: Message, label: str) -> str:
    kind = part.get("type") or ("text" if "text" in part else None)
    text = part.get("text") if kind in _TEXT_PARTS else ""
    if not isinstance(kind, str) or not isinstance(text, str | None):
        raise TypeError(
            f'{label}: a part of a message must be like {{"type": "text", "text": "…"}}, '
            f"got {shortened(part)}"
        )
    return text or ""


# --- what the other columns hold ------------------------------------------------------------------


def gold_texts_of(solution: Any) -> list[str | None]:
    """Return the text of each gold; None and not a number are None: no gold."""
    return [
        gold if gold is None or isinstance(gold, str) else gold_text_of(gold, f"solution {row}")
        for row, gold in enumerate(rows_of(solution, "solution"))
    ]


def gold_text_of(gold: Any, label: str = "the gold") -> str | None:
    """Return the text of one gold; `label` is what to call it in errors.

    Text stays as it is. A list of one, a dict around a gold and a box, or several, are read as
    `plaudit.inputs.golds.gold_of` reads them.
    """
    value = plain(gold)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return _decimal(float(value))
    if not holds_gold(value):
        raise TypeError(f"{label} must be text, a number or None, got {kind_of(gold)}")
    held = read_gold(value, label)
    if isinstance(held, list):
        raise ValueError(
            f"{label} is a list of {len(held)} texts, and this reward takes one gold: write it as "
            "one text, or use a reward that takes alternatives, such as answers.answer_reward "
            "(the preset math)"
        )
    return gold_text_of(held, label)


def gold_alternatives_of(solution: Any, choices: Sequence[Any] | None = None) -> list[list[str]]:
    """Return the texts of each gold, of which every one is right; none if there is no gold.

    choices: the options of each row; a whole number is the index of one, see `golds.as_option`.
        Default: no row has options
    """
    found: list[list[str]] = []
    for row, gold in enumerate(rows_of(solution, "solution")):
        label = f"solution {row}"
        value = plain(gold)
        if isinstance(value, Mapping) and holds_gold(value):
            value = read_gold(value, label)
        several = value if isinstance(value, list | tuple) else [value]
        options = None if choices is None else choices[row]
        texts = [
            str(one) if isinstance(one, bool) else gold_text_of(as_option(one, options), label)
            for one in several
        ]
        found.append([text for text in texts if text is not None])
    return found


def _decimal(number: float) -> str | None:
    if isnan(number):  # how tables of numbers write that there is none
        return None
    return format(Decimal(repr(number)), "f") if isfinite(number) else str(number)
