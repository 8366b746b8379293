"""A conversation in one shape, whatever form a trainer, an API or a model gives it.

    [{"role": "assistant", "content": None, "reasoning_content": "I look it up.",
      "tool_calls": [{"id": "1", "function": {"name": "search", "arguments": {"q": "Rome"}}}]},
     {"role": "tool", "tool_call_id": "1", "content": "Error: no network"}]

becomes

    [ChatMessage("assistant", "", "I look it up.", (ToolCall("search", {"q": "Rome"}, "1"),)),
     ChatMessage("tool", "Error: no network", answers="1", failed=True)]

Read are OpenAI's messages and the items of its responses, Anthropic's blocks, ShareGPT's messages,
and calls that a model writes as text: `<tool_call>{…}</tool_call>` (Hermes, Qwen) and
`[search(q="Rome")]` (Llama). What is no conversation is a TypeError that names the row.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plaudit.inputs.columns import kind_of, plain, rows_of
from plaudit.inputs.parsing import literal_value, parse_expression

__all__ = ["ChatMessage", "ToolCall", "messages_of"]

LONGEST = 100_000  # characters in which calls are looked for: what is longer is no call
_ROLES = {
    **dict.fromkeys(("assistant", "model", "gpt", "chatgpt", "bot", "ai"), "assistant"),
    **dict.fromkeys(("function_call", "tool_call", "reasoning"), "assistant"),
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "ipython", "observation", "environment"), "tool"),
    **dict.fromkeys(("function_call_output", "tool_response", "function_response"), "tool"),
}
_REASONING = ("reasoning_content", "reasoning", "thinking")
_IMAGES = ("image", "image_url", "input_image")
_HERMES = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_RESPONSE = re.compile(r"<tool_response>(.*?)(?:</tool_response>|\Z)", re.DOTALL)
_FAILED = re.compile(r"\s*(?:error|exception|traceback)\b|\s*\{\s*\"error\"", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool.

    arguments: by name; None if they cannot be read
    id: what the result of the call names; "" if there is none
    problem: why the arguments cannot be read

    >>> ToolCall("add", {"a": 2}).name
    'add'
    """

    name: str
    arguments: Mapping[str, Any] | None
    id: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message.

    role: "system", "user", "assistant" or "tool"
    text: what it says, without reasoning fields and calls
    calls: the calls of tools that it makes
    images: as they were passed
    answers: of a tool's result, the id of the call; "" if it names none
    failed: of a tool's result, whether it is an error

    >>> ChatMessage("tool", "Error: no network", failed=True).role
    'tool'
    """

    role: str
    text: str
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    images: tuple[Any, ...] = ()
    answers: str = ""
    failed: bool = False


def conversations_of(completions: Any) -> list[list[ChatMessage]]:
    """Return the messages of each completion."""
    rows = rows_of(completions, "completions")
    return [messages_of(completion, row) for row, completion in enumerate(rows)]


def messages_of(completion: Any, row: int = 0) -> list[ChatMessage]:
    """Return the messages of one completion; `row` is named in errors.

    >>> [message] = messages_of('<tool_call>{"name": "add", "arguments": {"a": 2}}</tool_call>')
    >>> message.calls
    (ToolCall(name='add', arguments={'a': 2}, id='', problem=''),)
    """
    held = _as_mapping(plain(completion))
    if isinstance(held, str):
        return [_with_written_calls(ChatMessage("assistant", held))]
    if isinstance(held, Mapping):
        inner = next(
            (held[k] for k in ("messages", "conversations", "output") if held.get(k)), None
        )
        held = [held] if inner is None else plain(inner)
    if isinstance(held, ChatMessage) or not isinstance(held, Sequence) or isinstance(held, bytes):
        raise TypeError(f"completion {row} must be text or a list of messages, got {kind_of(held)}")
    read: list[ChatMessage] = []
    is_open = False  # whether OpenAI's responses list more of the last turn
    for item in map(_as_mapping, held):
        if isinstance(item, ChatMessage):
            read.append(item)
        elif isinstance(item, Mapping):
            found = _read(item, row)
            goes_on = is_open and found[0].role == "assistant"
            if goes_on and not (read[-1].calls and found[0].text):
                found = [_joined(read.pop(), found[0]), *found[1:]]
            read += found
            is_open = item.get("type") in ("reasoning", "function_call")
        else:
            raise TypeError(f"completion {row}: a message must be a dict, got {kind_of(item)}")
    return read


def _as_mapping(value: Any) -> Any:
    return value.model_dump() if hasattr(value, "model_dump") else value


def _read(item: Mapping[str, Any], row: int) -> list[ChatMessage]:
    kind, name = item.get("type"), item.get("role") or item.get("from") or item.get("type")
    role = _ROLES.get(str(name).lower())
    if role is None:
        raise TypeError(f"completion {row}: no message has the role {name!r:.40}")
    if kind == "function_call" or name in ("function_call", "tool_call"):
        return [ChatMessage("assistant", "", calls=(_item_call(item),))]
    if kind == "function_call_output":
        return [_result(_text(item.get("output")), str(item.get("call_id") or ""))]
    if kind == "reasoning":
        parts = item.get("content") or item.get("summary") or ()
        return [ChatMessage("assistant", "", reasoning=_text(parts))]
    return _of_message(role, item)


def _item_call(item: Mapping[str, Any]) -> ToolCall:
    """Return the call of an item of OpenAI's responses, or of ShareGPT's `function_call`."""
    if isinstance(written := item.get("value") or item.get("content"), str):
        return _json_call(written)
    return _call({**item, "id": item.get("call_id") or item.get("id")})


def _of_message(role: str, item: Mapping[str, Any]) -> list[ChatMessage]:
    content = plain(next((item[k] for k in ("content", "value", "text") if item.get(k)), ""))
    blocks = [] if isinstance(content, str) else [b for b in content if isinstance(b, Mapping)]
    reasoning = [str(item[key]) for key in _REASONING if isinstance(item.get(key), str)]
    reasoning += [str(b["thinking"]) for b in blocks if b.get("type") == "thinking"]
    listed = item.get("tool_calls")
    calls = [_call(one) for one in plain(listed) if isinstance(one, Mapping)] if listed else []
    calls += (
        [_call(item["function_call"])] if isinstance(item.get("function_call"), Mapping) else []
    )
    calls += [
        _call({**b, "arguments": b.get("input")}) for b in blocks if b.get("type") == "tool_use"
    ]
    images = tuple(b for b in blocks if b.get("type") in _IMAGES)
    results = [
        _result(_text(b.get("content")), str(b.get("tool_use_id") or ""), b.get("is_error"))
        for b in blocks
        if b.get("type") == "tool_result"
    ]
    text = _text(content)
    if role == "tool":
        return [_result(text, str(item.get("tool_call_id") or ""), item.get("is_error"))]
    if role == "user" and not results and "<tool_response>" in text[:LONGEST]:
        return [_result(found, "") for found in _RESPONSE.findall(text)]
    message = ChatMessage(role, text, "\n".join(reasoning), tuple(calls), images)
    if role == "assistant" and not calls:
        message = _with_written_calls(message)
    says = message.text or message.calls or message.images or message.reasoning
    return [*results, *([message] if says or not results else [])]


def _text(content: Any) -> str:
    """Return the text of a content: text, or a list of parts."""
    if isinstance(content, str):
        return content
    parts = plain(content)
    if isinstance(parts, Mapping):
        import json  # few messages need it

        return json.dumps(parts, default=str)
    if not isinstance(parts, Sequence):
        return "" if parts is None else str(parts)
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _result(text: str, answers: str, failed: object = None) -> ChatMessage:
    """Return the result of a call; whether it failed is said, or seen from its first word."""
    is_failed = bool(_FAILED.match(text)) if failed is None else bool(failed)
    return ChatMessage("tool", text, answers=answers, failed=is_failed)


def _joined(first: ChatMessage, second: ChatMessage) -> ChatMessage:
    """Put together what OpenAI's responses list apart: reasoning, a text and calls are one turn."""
    return replace(
        first,
        text=first.text + second.text,
        reasoning="\n".join(filter(None, (first.reasoning, second.reasoning))),
        calls=first.calls + second.calls,
        images=first.images + second.images,
    )


# --- calls ----------------------------------------------------------------------------------------


def _call(call: Mapping[str, Any]) -> ToolCall:
    inner = call.get("function") if isinstance(call.get("function"), Mapping) else call
    assert isinstance(inner, Mapping)
    name, held = str(inner.get("name") or ""), inner.get("arguments", inner.get("parameters"))
    arguments, problem = _arguments(held)
    return ToolCall(name, arguments, str(call.get("id") or ""), problem)


def _arguments(held: Any) -> tuple[Mapping[str, Any] | None, str]:
    if isinstance(held, str):
        import json

        try:
            held = json.loads(held[:LONGEST]) if held.strip() else {}
        except (ValueError, RecursionError) as error:
            return None, f"the arguments are no JSON: {error}"
    if held is None or isinstance(held, Mapping):
        return held or {}, ""
    return None, f"the arguments are no object, but {kind_of(held)}"


def _json_call(text: str) -> ToolCall:
    import json

    try:
        held = json.loads(text)
    except (ValueError, RecursionError) as error:
        return ToolCall("", None, problem=f"the call is no JSON: {error}")
    if not isinstance(held, Mapping):
        return ToolCall("", None, problem=f"the call is no object, but {kind_of(held)}")
    return _call(held)


def _with_written_calls(message: ChatMessage) -> ChatMessage:
    """Return a message with the calls that its text has, and without them in its text."""
    text = message.text
    if len(text) > LONGEST:
        return message
    if "<tool_call>" in text:
        calls = tuple(_json_call(found) for found in _HERMES.findall(text))
        return replace(message, text=_HERMES.sub("", text).strip(), calls=calls)
    bare = text.rpartition("</think>")[2].strip()
    if bare.startswith("[") and bare.endswith(")]") and (calls := tuple(_pythonic(bare))):
        return replace(message, text=text[: len(text.rstrip()) - len(bare)].strip(), calls=calls)
    return message


def _pythonic(text: str) -> Iterator[ToolCall]:
    try:
        body = parse_expression(text)
    except ValueError:
        return
    calls = body.elts if isinstance(body, ast.List) else []
    if not all(isinstance(one, ast.Call) and not one.args for one in calls):
        return
    for one in calls:
        assert isinstance(one, ast.Call)
        try:
            values = {str(k.arg): literal_value(k.value) for k in one.keywords}
        except ValueError as error:
            yield ToolCall(ast.unparse(one.func), None, problem=f"{error}"[:200])
            continue
        yield ToolCall(ast.unparse(one.func), values)
