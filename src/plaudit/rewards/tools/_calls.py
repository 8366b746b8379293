"""The calls of tools that a completion makes, in whatever format it makes them.

    {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{\\"a\\": 1}"}}]}
    <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>
    [f(a=1)]

Calls of a message count before text, and marked text before unmarked: what stands next to them is
prose. Everything takes time linear in the text; nothing is evaluated.
"""

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from plaudit.inputs.completions import Message, model_messages, text_of
from plaudit.inputs.extract import after_thinking
from plaudit.inputs.parsing import JsonError, parse_expression, read_json, read_json_at

_NO_MARKDOWN = str.maketrans({"`": " ", "\n": " "})
_CONSTANTS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the function's name, and its arguments by name and by position.

    problem: why the call cannot be executed; "" if it can
    is_text: whether the format writes every value as text, to be read by its schema
    """

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    positional: tuple[Any, ...] = ()
    problem: str = ""
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that is no literal: a call, or code that only evaluation could tell."""

    text: str
    call: Call | None = None


def python_value(source: str) -> Any:
    """Return the value of a literal, calls in it as `Expression`; None if it is not Python.

    >>> python_value("[1, {'a': -2.5}]")
    [1, {'a': -2.5}]
    >>> python_value("f(a=1)").call.arguments
    {'a': 1}
    """
    # Once more without what Markdown adds, and without line breaks inside of quotes.
    for attempt in dict.fromkeys((source.strip(), source.strip().translate(_NO_MARKDOWN))):
        try:
            return _value(parse_expression(attempt))
        except (ValueError, RecursionError):
            pass
    return None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=str() | int() | float() | bool() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant(value=number)):
            if isinstance(number, int | float):
                return -number if isinstance(sign, ast.USub) else number
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values) if all(isinstance(k, ast.Constant) for k in keys):
            return {
                str(_value(key)): _value(value)
                for key, value in zip(keys, values, strict=True)
                if key is not None
            }
        case ast.Name(id=name):
            return _CONSTANTS.get(name, Expression(name))
        case ast.Call():
            return Expression(ast.unparse(node), _call(node))
        case _:
            pass
    return Expression(ast.unparse(node))


def _call(node: ast.Call) -> Call | None:
    name = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
    if name == "print" and len(node.args) == 1 and not node.keywords:  # Gemini's tool_code
        inner = _value(node.args[0])
        return inner.call if isinstance(inner, Expression) else None
    if not name or not name.replace(".", "").isidentifier():
        return None
    arguments = {word.arg: _argument(word.value) for word in node.keywords if word.arg}
    positional = tuple(_argument(one) for one in node.args)
    unpacked = any(word.arg is None for word in node.keywords)
    if unpacked or len(arguments) + unpacked < len(node.keywords):
        return Call(name, problem="its arguments are unpacked or repeated")
    return Call(name, arguments, positional)


def _argument(node: ast.expr) -> Any:
    """Return the value of an argument; a bare name is text, as models leave out the quotes."""
    value = _value(node)
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(value, Expression):
        return value.text
    return value


# --- the calls of a completion --------------------------------------------------------------------

MOST_CALLS = 100  # what a model writes beyond them is not read
_FAILED_READS = 20  # a text of nothing but open brackets would take quadratic time
_MOST_READS = 1000  # of brackets, most of which are no calls
_SHORT_CALL, _LONGEST_CALL = 2_000, 30_000  # characters
_LONGEST_TEXT = 300_000  # characters without marks; only the last so many are read


def calls_of(completion: Any, row: int, names: Collection[str], quotes: bool = False) -> list[Call]:
    """Return the calls that the assistant makes in a completion, in order.

    names: the functions that there are; empty if that is not known
    quotes: whether marked calls may be Python's literals, with single quotes, and not JSON
    """
    if isinstance(completion, str):
        found = _text_calls(after_thinking(completion), names, quotes)
    else:
        messages = model_messages(completion, row)
        found = [call for message in messages for call in _native_calls(message)]
        if not found:
            texts = (after_thinking(text_of(message, row)) for message in messages)
            found = [call for text in texts for call in _text_calls(text, names, quotes)]
    return [_known(call, names) for call in found if not _is_none(call, names)]


def _known(call: Call, names: Collection[str]) -> Call:
    """Return the call without the namespace that gpt-oss and Gemini write before its name."""
    space, _, bare = call.name.partition(".")
    if space not in ("functions", "default_api") or call.name in names:
        return call
    return replace(call, name=bare)


def _is_none(call: Call, names: Collection[str]) -> bool:
    """Whether it says that no function is called, as Granite and Raven do."""
    return call.name in ("no_function", "out_of_domain") and call.name not in names


# --- calls in messages ----------------------------------------------------------------------------


def _native_calls(message: Message) -> list[Call]:
    made = message.get("tool_calls")
    calls = list(made) if isinstance(made, list | tuple) else []
    if isinstance(message.get("function_call"), Mapping):
        calls.append(message["function_call"])
    if message.get("type") == "function_call":  # an item of OpenAI's responses
        calls.append(message)
    for part in _parts(message):
        inner = part.get("functionCall") or part.get("function_call")  # Gemini
        if part.get("type") == "tool_use" or isinstance(inner, Mapping):
            calls.append(inner or part)
    return [_native_call(call) for call in calls[:MOST_CALLS]]


def _parts(message: Message) -> list[Mapping[str, Any]]:
    parts = message.get("content") or message.get("parts")
    listed = parts if isinstance(parts, list | tuple) else []
    return [part for part in listed if isinstance(part, Mapping)]


def _native_call(call: Any) -> Call:
    held = call.get("function") if isinstance(call, Mapping) else None
    inner = held if isinstance(held, Mapping) else call
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str):
        return Call("", problem="the call has no name")
    key = next((key for key in _ARGUMENTS if inner.get(key) is not None), None)
    return _with_arguments(name, None if key is None else inner[key])


def _with_arguments(name: str, arguments: Any) -> Call:
    if isinstance(arguments, str) and arguments.strip():
        try:
            arguments = read_json(arguments)
        except JsonError as error:
            return Call(name, problem=f"the arguments are not JSON: {error}")
    if not arguments:
        return Call(name) if arguments in (None, "", {}) else _not_an_object(name)
    return Call(name, arguments) if isinstance(arguments, dict) else _not_an_object(name)


def _not_an_object(name: str) -> Call:
    return Call(name, problem="the arguments are not an object")


# --- calls in data: JSON, or Python's literals ----------------------------------------------------

_NAME = ("name", "tool_name", "tool", "function", "function_name", "action")
_ARGUMENTS = (
    *("arguments", "parameters", "params", "args", "input", "kwargs", "tool_input"),
    *("action_input", "function_arguments"),
)
_LISTS = ("tool_calls", "function_calls", "calls")
_CALLED = re.compile(r"[A-Za-z_][\w.-]*+")


def _data_calls(value: Any, names: Collection[str]) -> list[Call] | None:
    """Return the calls that a value describes; None if it describes something else."""
    if isinstance(value, Expression):
        return None if value.call is None else [value.call]
    if isinstance(value, str):
        return _quoted_calls(value)
    if isinstance(value, Mapping):
        return _object_calls(value, names)
    if not isinstance(value, list | tuple) or not value:
        return None
    if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], Mapping):
        return [_with_arguments(value[0], dict(value[1]))] if _is_name(value[0], names) else None
    found: list[Call] = []
    for item in value[:MOST_CALLS]:
        calls = _data_calls(item, names)
        if calls is None:
            return None
        found += calls
    return found


def _object_calls(value: Mapping[str, Any], names: Collection[str]) -> list[Call] | None:
    listed = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None)
    if listed is not None:
        return _data_calls(listed, names) or []
    if isinstance(value.get("function"), Mapping):
        return _object_calls(value["function"], names)
    name = next((value[key] for key in _NAME if isinstance(value.get(key), str)), None)
    if name is not None:
        key = next((key for key in _ARGUMENTS if key in value), None)
        if key is not None:
            held = value[key]
            is_schema = isinstance(held, Mapping) and {"type", "properties"} <= set(held)
            return None if is_schema else [_with_arguments(name, held)]
        if name in names:
            flat = "" if len(value) == 1 else "the arguments are not in an object of their own"
            return [Call(name, problem=flat)]
        return None
    if value and all(isinstance(v, Mapping) and _is_name(k, names) for k, v in value.items()):
        return [Call(name, dict(arguments)) for name, arguments in value.items()]
    return None


def _is_name(text: str, names: Collection[str]) -> bool:
    return text in names if names else _CALLED.fullmatch(text) is not None


def _quoted_calls(text: str) -> list[Call] | None:
    """Return the calls of an item such as "f(a=1)" in a list of texts."""
    if "(" not in text or len(text) > _LONGEST_CALL:
        return None
    value = python_value(f"[{text}]")
    if not isinstance(value, list) or not value:
        return None
    calls = [item.call for item in value if isinstance(item, Expression) and item.call]
    return calls if len(calls) == len(value) else None


# --- calls in text --------------------------------------------------------------------------------

# What marks a call: Hermes and Qwen, Granite, Phi, Nemotron; Mistral; Llama; DeepSeek; Kimi;
# InternLM; LFM; Cohere; gpt-oss; Llama's and Qwen-Coder's XML, Anthropic's and MiniMax's XML.
_MARK = re.compile(
    r"<\|?tool_calls?\|?>|<function_calls?>|<TOOLCALL>|<\|tool_call_start\|>|\[TOOL_CALLS\]"
    r"|<\|python_tag\|>|<｜tool▁call▁begin｜>|<\|tool_call_begin\|>|<\|action_start\|>"
    r"|<\|START_ACTION\|>|\bto=(?=functions\.)|(?=<function=)|(?=<invoke name=)|functools(?=\[)"
)
_SIGNS = ("<", "[TOOL_CALLS]", "to=functions.", "functools[")
_CLOSING = re.compile(
    r"</\|?(?:tool_calls?|function_calls?|TOOLCALL|function|invoke)\|?>|<[|｜][^<>]{1,40}[|｜]>"
)
_SKIP = re.compile(r"(?:\s|[,;]|```(?:json)?|<\|plugin\|>|<｜tool▁sep｜>|</?\|?tool_calls?\|?>)*+")
_NAMED = re.compile(
    r"(?:function<｜tool▁sep｜>)?([A-Za-z_][\w.\-]*+)(?::\d+)?\s*+"
    r"(?:\[ARGS\]|<｜tool▁sep｜>|<\|tool_call_argument_begin\|>"
    r"|(?:\s*+<\|(?:channel|constrain)\|>(?:commentary|json)?+)*+\s*+(?:json)?+<\|message\|>)?+"
    r"\s*+(?:```json\s*+)?+(?=\{)"
)
_XML = re.compile(r"<function=([^<>\s]{1,200})>|<invoke name=\"([^\"<>]{1,200})\">")
_XML_END = re.compile(r"</function>|</invoke>|</tool_call>|(?=<function=)|(?=<invoke )")
_XML_KEY = re.compile(
    r"<parameter(?:=([^<>\s]{1,200})|\s{1,9}name=\"([^\"<>]{1,200})\"[^<>]{0,80})>"
)
_ARG_KEYS = re.compile(r"([A-Za-z_][\w.\-]*+)\s*+(?=<arg_key>)")
_ARG_KEY = re.compile(r"<arg_key>([^<>]{1,200})</arg_key>\s*+<arg_value>")
_CONSTANT = re.compile(r'"(?:[^"\\]++|\\.)*+"|\b(?:True|False|None)\b', re.DOTALL)
_JSON_CONSTANTS = {"True": "true", "False": "false", "None": "null"}


def _text_calls(text: str, names: Collection[str], quotes: bool) -> list[Call]:
    # Looking for these first makes a text without calls ten times as quick.
    mark = _MARK.search(text) if any(sign in text for sign in _SIGNS) else None
    if mark is None:
        if not any(bracket in text for bracket in "([{"):
            return []
        last = text[-_LONGEST_TEXT:].replace("\\_", "_")  # Mistral escapes underscores
        return _Unmarked(last, names).calls()
    found: list[Call] = []
    failed = 0
    while mark is not None and len(found) < MOST_CALLS and failed < _FAILED_READS:
        calls, end = _marked_calls(text, mark.end(), names, quotes)
        found += calls
        failed += any(call.problem for call in calls)
        # A mark may be of no width: always go on by a character.
        mark = _MARK.search(text, max(end, mark.end(), mark.start() + 1))
    return found


def _marked_calls(
    text: str, start: int, names: Collection[str], quotes: bool
) -> tuple[list[Call], int]:
    """Return the calls after a mark, and where they end."""
    start = _end(_SKIP, text, start)
    if start >= len(text) or (_MARK.match(text, start) and not _XML.match(text, start)):
        return [], start
    if (found := _XML.match(text, start)) is not None:
        return _xml_call(text, found)
    if (found := _ARG_KEYS.match(text, start)) is not None:
        return _arg_key_call(text, found)
    if (found := _NAMED.match(text, start)) is not None and found[1] != "json":
        value, end = _json_at(text, found.end(), quotes)
        return [_broken(found[1]) if end is None else _with_arguments(found[1], value)], (
            found.end() + 1 if end is None else end
        )
    if text[start] in "[{":
        return _json_calls(text, start, names, quotes)
    closing = _CLOSING.search(text, start)
    stop = len(text) if closing is None else closing.start()
    block = text[start:stop]
    calls = _quoted_calls(block.strip().removeprefix("[").removesuffix("]"))
    return (calls if calls is not None else [_broken()] if block.strip() else []), stop


def _json_calls(
    text: str, start: int, names: Collection[str], quotes: bool
) -> tuple[list[Call], int]:
    """Return the calls of one JSON value after another."""
    found: list[Call] = []
    while start < len(text) and text[start] in "[{" and len(found) < MOST_CALLS:
        value, end = _json_at(text, start, quotes)
        calls = None if end is None else _data_calls(value, names)
        if end is None:  # Python's calls in the marks of JSON: LFM
            value, end = python_at(text, start)
            is_calls = isinstance(value, list) and any(isinstance(v, Expression) for v in value)
            calls = _data_calls(value, names) if is_calls else None
        found += [_broken()] if calls is None else calls
        if end is None:
            return found, start + 1
        start = _end(_SEPARATOR, text, end)
    return found, start


_OPENS = re.compile(r"[\[\s]*+\{\s*+\"")
_SEPARATOR = re.compile(r"[\s;,]*+")


def _json_at(text: str, start: int, quotes: bool) -> tuple[Any, int | None]:
    """Return the JSON value at a position and its end, None if there is none.

    Python's True, False and None are read as well: models write them. So are single quotes, as
    Hermes' own parser does it: as double ones, inside an object that starts as JSON does.

    quotes: whether an object may have single quotes from its start on
    """
    for window in (_SHORT_CALL, _LONGEST_CALL):  # most calls are short
        written = text[start : start + window]
        for attempt in _mended(written, quotes):
            try:
                value, end = read_json_at(attempt, 0)
            except JsonError:
                continue
            return value, start + end  # what was mended has the same length
        if len(written) < window:
            break
    return None, None


def _mended(written: str, quotes: bool) -> Iterator[str]:
    yield written
    if any(constant in written for constant in _JSON_CONSTANTS):
        yield _CONSTANT.sub(lambda m: _JSON_CONSTANTS.get(m[0], m[0]), written)
    if "'" in written and (quotes or _OPENS.match(written)):
        yield written.replace("'", '"')


def _xml_call(text: str, opening: re.Match[str]) -> tuple[list[Call], int]:
    name = opening[1] or opening[2]
    start = opening.end()
    inside = _end(_SEPARATOR, text, start)
    if text[inside : inside + 1] == "{":
        value, end = _json_at(text, inside, False)
        return [_broken(name) if end is None else _with_arguments(name, value)], end or inside + 1
    closing = _XML_END.search(text, start)
    stop = len(text) if closing is None else closing.start()
    values = _tagged(_XML_KEY, "</parameter>", text, start, stop)
    problem = "the call is not closed" if closing is None else ""
    end = stop if closing is None else closing.end()
    return [Call(name, values, problem=problem, is_text=True)], end


def _arg_key_call(text: str, opening: re.Match[str]) -> tuple[list[Call], int]:
    closing = _CLOSING.search(text, opening.end())
    stop = len(text) if closing is None else closing.start()
    values = _tagged(_ARG_KEY, "</arg_value>", text, opening.end(), stop)
    return [Call(opening[1], values, is_text=True)], stop


def _tagged(key: re.Pattern[str], closing: str, text: str, start: int, stop: int) -> dict[str, str]:
    """Return the values between each key's tag and the closing tag after it."""
    values: dict[str, str] = {}
    while (found := key.search(text, start, stop)) is not None:
        end = text.find(closing, found.end(), stop)
        if end < 0:
            break
        values[str(found[found.lastindex or 0]).strip()] = text[found.end() : end].strip()
        start = end
    return values


def _broken(name: str = "") -> Call:
    return Call(name, problem="the call cannot be read")


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return start if found is None else found.end()


# --- calls in text without marks ------------------------------------------------------------------

# A bracket anywhere, or at the start of a line, or after a list, a call or a name (of GLM).
_START = re.compile(
    r"[\[{]|(?:^[ \t>*`'\"•-]*+(?:\d++[.)][ \t]*+)?+|(?<=\]),\s*+)(?:print\()?+"
    r"(?P<name>[A-Za-z_][\w.]*+)(?P<open>\(|[ \t]*+\n\{)",
    re.MULTILINE,
)
_NEXT = re.compile(r"[\s,;]*+(?P<name>[A-Za-z_][\w.]*+)(?P<open>\()")
_LINE_REST = re.compile(r"[ \t)`'\";,*]*+(?:#[^\n]*+)?(?:\n|\Z|```)")
_QUOTED_OR_BRACKET = re.compile(
    r"\"\"\".*?\"\"\"|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|[()\[\]{}]", re.DOTALL
)


_FENCE = re.compile(r"```\w*+")
_WORD = re.compile(r"[^\W\d_]{2}")


class _Unmarked:
    """Finds the calls in a text that no format marks.

    Such text is written for a reader: code that is repeated after some words counts once.
    """

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text, self.names = text, names
        self.failed = 0
        self.found: list[Call] = []
        self.end = 0  # of what was found last
        self.is_all = True  # whether there are no words before and between the calls

    def _add(self, calls: list[Call], start: int, end: int, is_code: bool = True) -> None:
        """Add calls, unless they are only repeated."""
        before = _FENCE.sub("", self.text[self.end : start])
        is_repeated = _WORD.search(before) and all(call in self.found for call in calls)
        if not (is_code and is_repeated):
            self.found += calls
        self.is_all = self.is_all and not _WORD.search(before)
        self.end = end

    def _are_meant(self) -> bool:
        """Whether a function is among the tools, or there is nothing else than the calls."""
        if not self.names or any(call.name in self.names for call in self.found):
            return True
        return self.is_all and not _WORD.search(_FENCE.sub("", self.text[self.end :]))

    def calls(self) -> list[Call]:
        start = 0
        reads = 0
        while len(self.found) < MOST_CALLS and self.failed < _FAILED_READS and reads < _MOST_READS:
            reads += 1
            match = _START.search(self.text, start)
            if match is None:
                break
            if match["open"] is None:
                start = self._bracket(match.start())
            elif match["open"] == "(":
                start = self._line(match)
            else:
                start = self._named_json(match)
        return self.found if self._are_meant() else []

    def _bracket(self, start: int) -> int:
        """Read JSON, or a list of Python's calls, at a bracket; return where to go on."""
        value, end = _json_at(self.text, start, quotes=False)
        if end is None:
            value, end = python_at(self.text, start)
        if end is None:
            self.failed += 1
            return start + 1
        calls = _data_calls(value, self.names)
        if calls and self.text[end : end + 1] not in ("(", "["):  # not a link, not an expression
            items = value if isinstance(value, list) else [value]
            is_code = not any(isinstance(item, Mapping) for item in items)
            self._add(calls, start, end, is_code)
        return end

    def _line(self, match: re.Match[str]) -> int:
        """Read calls that fill a line: `f(a=1)`, `f(a=1); g(b=2)` or `print(f(a=1))`."""
        calls: list[Call] = []
        following: re.Match[str] | None = match
        end = match.end()
        while following is not None:
            value, stop = python_at(self.text, following.start("name"), following.end("name"))
            if stop is None or not isinstance(value, Expression) or value.call is None:
                self.failed += stop is None
                return match.end()
            calls.append(value.call)
            end = stop
            following = _NEXT.match(self.text, end) if len(calls) < MOST_CALLS else None
        if _LINE_REST.match(self.text, end):
            self._add(calls, match.start(), end)
        return end

    def _named_json(self, match: re.Match[str]) -> int:
        """Read `name`, a line break and the JSON of its arguments, as GLM writes a call."""
        value, end = _json_at(self.text, match.end() - 1, quotes=False)
        if end is None or not _is_name(match["name"], self.names):
            return match.end() - 1
        self._add([_with_arguments(match["name"], value)], match.start(), end)
        return end


def python_at(text: str, start: int, bracket: int | None = None) -> tuple[Any, int | None]:
    """Return Python's value at a position and its end, None if there is none.

    bracket: where its first bracket is. Default: at the position itself
    """
    depth = 0
    limit = min(len(text), start + _LONGEST_CALL)
    for found in _QUOTED_OR_BRACKET.finditer(text, start if bracket is None else bracket, limit):
        token = found[0]
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
            if depth == 0:
                value = python_value(text[start : found.end()])
                return (None, None) if value is None else (value, found.end())
    return None, None
