"""What a trainer hands over, as plain Python: a text, a gold, a list of token ids for each row.

A completion is a string, or a list of messages:

    [{"role": "assistant", "content": None, "tool_calls": [...]},
     {"role": "tool", "content": "42"},
     {"role": "assistant", "content": [{"type": "text", "text": "So it is 42."}]}]

Its text is what the last assistant message says: "So it is 42.". ShareGPT's messages, Gemini's and
OpenAI's responses are read as well. Columns may be lists, arrays, tensors or Series. Whatever is of
another shape is a TypeError that names the row and shows what came: never a text of no characters.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from decimal import Decimal
from math import isfinite, isnan
from numbers import Integral, Real
from operator import index
from typing import Any

from plaudit.golds import holds_gold, is_missing, read_gold

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
_PLAIN = frozenset((str, int, bool, list, tuple, dict, type(None)))


# --- columns --------------------------------------------------------------------------------------


def rows_of(column: Any, name: str) -> Sequence[Any]:
    """A column as a sequence with one entry per row, whatever kind of array it is.

    >>> import numpy as np
    >>> rows_of(np.array([1, 2]), "level"), rows_of(("a", "b"), "level")
    ([1, 2], ('a', 'b'))
    >>> rows_of((text for text in "ab"), "level")
    Traceback (most recent call last):
    ...
    TypeError: level must be a list with one entry per completion, got generator: pass list(…) of it
    """
    _length(column, name)
    rows = _plain(column)
    return rows if isinstance(rows, Sequence) else list(rows)


def _length(column: Any, name: str) -> int:
    # A set has no order, and a dict has none that means rows.
    if not isinstance(column, str | bytes | bytearray | Mapping | Set) and not _is_table(column):
        try:
            return len(column)
        except TypeError:  # arrays of no dimension have a length that cannot be asked for
            pass
    raise TypeError(
        f"{name} must be a list with one entry per completion, got {type(column).__name__}"
        f"{_instead(column)}"
    )


def _is_table(value: Any) -> bool:
    """Whether it is a DataFrame, an Arrow table or a Dataset: many columns where one is meant."""
    return any(hasattr(value, name) for name in ("columns", "column_names"))


def _instead(column: Any) -> str:
    if _is_table(column):
        return ": pass one of its columns, or the whole table to plaudit.score(table, recipe)"
    return ": pass list(…) of it" if isinstance(column, Iterator) else ""


def same_length(completions: Any, **columns: Any) -> None:
    """Raise where a column is not as long as `completions`.

    >>> same_length(["a", "b"], solution=["1"])
    Traceback (most recent call last):
    ...
    ValueError: solution has 1 entries, completions has 2: they must be equally long
    """
    wanted = _length(completions, "completions")
    for name, column in columns.items():
        rows = _length(column, name)
        if rows != wanted:
            raise ValueError(
                f"{name} has {rows} entries, completions has {wanted}: they must be equally long"
            )


@contextmanager
def naming_row(row: int, file: str = "") -> Iterator[None]:
    """Name the row, and the file where it names one, in an error about what it holds.

    >>> with naming_row(3):
    ...     raise ValueError("there is no image")
    Traceback (most recent call last):
    ...
    ValueError: row 3: there is no image
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        place = f"row {row} ({file})" if file else f"row {row}"
        raise kind(f"{place}: {error}") from error


def _plain(value: Any) -> Any:
    """What is in an array, a tensor, a Series or a column of Arrow; anything else as it is."""
    if type(value) in _PLAIN:  # most of them: asking for the others' methods takes longer
        return value
    for name in ("tolist", "to_pylist", "to_list"):  # of numpy, pandas and torch; Arrow; polars
        if hasattr(value, name):
            return getattr(value, name)()
    return None if is_missing(value) else value


# --- completions and prompts ----------------------------------------------------------------------


def texts_of(completions: Any) -> list[str]:
    """The text of each completion.

    >>> texts_of(["plain", [{"role": "assistant", "content": "a message"}]])
    ['plain', 'a message']
    """
    return [
        completion if isinstance(completion, str) else text_of(completion, row)
        for row, completion in enumerate(rows_of(completions, "completions"))
    ]


def text_of(completion: Any, row: int = 0) -> str:
    """The text of one completion: what the model says last; `row` is named in errors.

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


def prompt_text_of(prompt: Any, name: str, row: int = 0) -> str:
    """The text of one prompt: what the user says last; the column and the row are named in errors.

    >>> prompt = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}]
    >>> prompt_text_of(prompt, "problem")
    '2 + 2?'
    """
    return _last_said(prompt, _PERSON, f"{name} {row}")


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
            f"not know whose role is {names}: {_short(said)}"
        )
    return ""


def _messages(said: Any, label: str) -> list[Message]:
    """The messages that an object, a response of an API or a list holds."""
    held = _as_mapping(_plain(said))
    if isinstance(held, Mapping):
        if held.get("choices") is not None:
            return [_only_choice(held["choices"], label)]
        inner = next((held[key] for key in _WRAPPED if held.get(key) is not None), None)
        return [held] if inner is None else _messages(inner, label)
    if isinstance(held, Sequence) and not isinstance(held, str | bytes | bytearray):
        messages = [_as_mapping(message) for message in held]
        if all(isinstance(message, Mapping) for message in messages):
            return messages
    raise TypeError(f"{label} must be text or a list of messages, got {_kind(said)}")


def _only_choice(choices: Any, label: str) -> Message:
    """The message, or the text, of the one choice in a response of OpenAI's."""
    listed = [_as_mapping(choice) for choice in rows_of(choices, f"{label}: choices")]
    if len(listed) != 1 or not isinstance(listed[0], Mapping):
        raise TypeError(
            f"{label}: a response must have one choice, got {len(listed)}: "
            f"give each choice a row of its own; {_short(choices)}"
        )
    return _messages(listed[0].get("message") or listed[0], label)[0]


def _as_mapping(value: Any) -> Any:
    """The dict of an object such as OpenAI's clients give, anything else as it is."""
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
            f"got {_short(message)}"
        )
    return _content_text(said, label)


def _content_text(content: Any, label: str) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts = _plain(content)
    if isinstance(parts, Sequence) and all(isinstance(part, Mapping) for part in parts):
        return "".join(_part_text(part, label) for part in parts)
    raise TypeError(
        f"{label}: a message's content must be text, a list of parts or None, got {_kind(content)}"
    )


def _part_text(part: Message, label: str) -> str:
    kind = part.get("type") or ("text" if "text" in part else None)
    text = part.get("text") if kind in _TEXT_PARTS else ""
    if not isinstance(kind, str) or not isinstance(text, str | None):
        raise TypeError(
            f'{label}: a part of a message must be like {{"type": "text", "text": "…"}}, '
            f"got {_short(part)}"
        )
    return text or ""


# --- what the other columns hold ------------------------------------------------------------------


def gold_texts_of(solution: Any) -> list[str | None]:
    """The text of each gold; None and not a number are None: no gold.

    >>> gold_texts_of(["<answer>4</answer>", 42, 1e-7, None, ["4"], [10, 20, 30, 40]])
    ['<answer>4</answer>', '42', '0.0000001', None, '4', '[10, 20, 30, 40]']
    """
    return [
        gold if gold is None or isinstance(gold, str) else gold_text_of(gold, f"solution {row}")
        for row, gold in enumerate(rows_of(solution, "solution"))
    ]


def gold_text_of(gold: Any, label: str = "the gold") -> str | None:
    """The text of one gold; `label` is what to call it in errors.

    Text stays as it is. A list of one, a dict around a gold and a box, or several, are read as
    `plaudit.golds.gold_of` reads them.

    >>> gold_text_of(42), gold_text_of({"answer": 42}), gold_text_of(None)
    ('42', '42', None)
    >>> gold_text_of(["1/2", "0.5"], "solution 3")
    Traceback (most recent call last):
    ...
    ValueError: solution 3 is a list of 2 texts, and this reward takes one gold: write it as one \
text, or use a reward that takes alternatives, such as answers.answer_reward (the preset math)
    """
    value = _plain(gold)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return _decimal(float(value))
    if not holds_gold(value):
        raise TypeError(f"{label} must be text, a number or None, got {_kind(gold)}")
    held = read_gold(value, label)
    if isinstance(held, list):
        raise ValueError(
            f"{label} is a list of {len(held)} texts, and this reward takes one gold: write it as "
            "one text, or use a reward that takes alternatives, such as answers.answer_reward "
            "(the preset math)"
        )
    return gold_text_of(held, label)


def gold_alternatives_of(solution: Any) -> list[list[str]]:
    """The texts of each gold, of which every one is right; none where there is no gold.

    >>> gold_alternatives_of(["4", ["UK", "Britain"], {"answer": ["1/2", "0.5"]}, None])
    [['4'], ['UK', 'Britain'], ['1/2', '0.5'], []]
    """
    found: list[list[str]] = []
    for row, gold in enumerate(rows_of(solution, "solution")):
        label = f"solution {row}"
        value = _plain(gold)
        if isinstance(value, Mapping) and holds_gold(value):
            value = read_gold(value, label)
        several = value if isinstance(value, list | tuple) else [value]
        texts = [gold_text_of(one, label) for one in several]
        found.append([text for text in texts if text is not None])
    return found


def _decimal(number: float) -> str | None:
    if isnan(number):  # how tables of numbers write that there is none
        return None
    return format(Decimal(repr(number)), "f") if isfinite(number) else str(number)


def ids_of(completion_ids: Any) -> list[Sequence[int]]:
    """The token ids of each completion, from lists, arrays or tensors.

    >>> import numpy as np
    >>> ids_of([np.array([5, 6]), [7]])
    [array('q', [5, 6]), array('q', [7])]
    >>> ids_of(["[5, 6]"])
    Traceback (most recent call last):
    ...
    TypeError: completion_ids 0 must be a list of token ids, got text: '[5, 6]'; where a file \
holds it as text, read it with json.loads
    """
    return [
        whole_numbers(ids, f"completion_ids {row}", "a list of token ids")
        for row, ids in enumerate(rows_of(completion_ids, "completion_ids"))
    ]


def whole_numbers(entry: Any, label: str, wanted: str) -> Sequence[int]:
    """Whole numbers, as an array where they fit into one; errors name `label` and what is `wanted`.

    >>> whole_numbers((1, 5, 7), "image_grid_thw 0", "[frames, rows, columns]")
    array('q', [1, 5, 7])
    >>> whole_numbers((1, 5.0, 2**70), "image_grid_thw 0", "[frames, rows, columns]")
    [1, 5, 1180591620717411303424]
    """
    held = _plain(entry)
    if isinstance(held, str | bytes | bytearray):
        raise TypeError(
            f"{label} must be {wanted}, got text: {_short(entry)}; "
            "where a file holds it as text, read it with json.loads"
        )
    if not isinstance(held, Sequence):
        raise TypeError(f"{label} must be {wanted}, got {_kind(entry)}")
    try:
        return array("q", held)  # in C, since a batch has a million of them
    except (TypeError, OverflowError):
        return [_whole(number, label, wanted) for number in held]


def _whole(number: Any, label: str, wanted: str) -> int:
    try:
        is_whole = isinstance(number, float) and number.is_integer()
        return int(number) if is_whole else index(number)
    except TypeError as error:
        raise TypeError(f"{label} must be {wanted}, and has {_kind(number)} in it") from error


def number_of(value: Any, label: str) -> float:
    """A number; `label` is what to call it in errors.

    >>> number_of("0.9", "acc_reward")
    Traceback (most recent call last):
    ...
    TypeError: acc_reward must be a number, got str: '0.9'
    """
    if type(value) is float and not isnan(value):
        return value
    number = _plain(value)
    if not isinstance(number, Real) or isnan(number):
        raise TypeError(f"{label} must be a number, got {_kind(value)}")
    return float(number)


def _kind(value: object) -> str:
    return f"{type(value).__name__}: {_short(value)}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
