"""What a trainer hands over, as plain text.

A completion is a string, or a list of messages:

    [{"role": "assistant", "content": None, "tool_calls": [...]},
     {"role": "tool", "content": "42"},
     {"role": "assistant", "content": [{"type": "text", "text": "So it is 42."}]}]

Its text is what the last assistant message says: "So it is 42.".
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isfinite
from numbers import Integral, Real
from typing import Any

Message = Mapping[str, Any]
Completion = str | Message | Sequence[Message]
Solution = str | float | None


def texts_of(completions: Sequence[Completion]) -> list[str]:
    """The text of each completion.

    >>> texts_of(["plain", [{"role": "assistant", "content": "a message"}]])
    ['plain', 'a message']
    """
    if isinstance(completions, str | Mapping) or not isinstance(completions, Sequence):
        raise TypeError(
            f"completions must be a list with one entry a row, got {type(completions).__name__}"
        )
    return [
        completion if isinstance(completion, str) else text_of(completion, row)
        for row, completion in enumerate(completions)
    ]


def text_of(completion: Completion, row: int = 0) -> str:
    """The text of one completion; `row` is named in errors.

    >>> text_of([{"role": "tool", "content": "4"}, {"role": "assistant", "content": "It is 4."}])
    'It is 4.'
    >>> text_of(42, row=3)
    Traceback (most recent call last):
    ...
    TypeError: completion 3 must be text or a list of messages, got int: 42
    """
    if isinstance(completion, str):
        return completion
    messages = [completion] if isinstance(completion, Mapping) else completion
    if not isinstance(messages, Sequence) or not all(isinstance(m, Mapping) for m in messages):
        raise TypeError(
            f"completion {row} must be text or a list of messages, "
            f"got {type(completion).__name__}: {_short(completion)}"
        )
    spoken = [m for m in messages if m.get("role") == "assistant"]
    if not spoken and not any(m.get("role") for m in messages):
        spoken = list(messages)
    return _content_text(spoken[-1].get("content"), row) if spoken else ""


def _content_text(content: object, row: int) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence) and all(isinstance(part, Mapping) for part in content):
        return "".join(part.get("text") or "" for part in content if part.get("type") == "text")
    raise TypeError(
        f"completion {row}: a message's content must be text, a list of parts or None, "
        f"got {type(content).__name__}: {_short(content)}"
    )


def golds_of(solution: Sequence[Solution]) -> list[str | None]:
    """The text of each gold; None stays None: no gold.

    >>> golds_of(["<answer>4</answer>", 42, 1e-7, None])
    ['<answer>4</answer>', '42', '0.0000001', None]
    """
    return [
        gold if gold is None or isinstance(gold, str) else _number_text(gold, row)
        for row, gold in enumerate(solution)
    ]


def _number_text(gold: object, row: int) -> str:
    if isinstance(gold, Integral):
        return str(int(gold))
    if isinstance(gold, Real):
        number = float(gold)
        return format(Decimal(repr(number)), "f") if isfinite(number) else str(number)
    raise TypeError(
        f"solution {row} must be text, a number or None, got {type(gold).__name__}: {_short(gold)}"
    )


def same_length(completions: Sequence[Any], **columns: Sequence[Any]) -> None:
    """Raise where a column is not as long as `completions`.

    >>> same_length(["a", "b"], solution=["1"])
    Traceback (most recent call last):
    ...
    ValueError: solution has 1 entries, completions has 2: they must be equally long
    """
    for name, column in columns.items():
        if isinstance(column, str | Mapping) or not hasattr(column, "__len__"):
            raise TypeError(
                f"{name} must be a list with one entry a completion, got {type(column).__name__}"
            )
        if len(column) != len(completions):
            raise ValueError(
                f"{name} has {len(column)} entries, completions has {len(completions)}: "
                "they must be equally long"
            )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
