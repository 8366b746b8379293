"""Compare a call with the expected one, by the schema of its tool: what is wrong with it, and how
much of it is right.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from unicodedata import normalize

from plaudit.inputs.columns import kind_of, plain
from plaudit.inputs.parsing import JsonError, read_json
from plaudit.rewards.tools._calls import Call, Expression, python_value

# What JSON schema and BFCL call the types of values.
TYPES = {
    "string": "string",
    "integer": "integer",
    "int": "integer",
    "long": "integer",
    "number": "number",
    "float": "number",
    "double": "number",
    "boolean": "boolean",
    "bool": "boolean",
    "array": "array",
    "list": "array",
    "tuple": "array",
    "object": "object",
    "dict": "object",
    "null": "null",
}
_LEFT_OUT = ""  # among the values that BFCL accepts: the argument may be left out


class GoldError(ValueError):
    """The gold or the tools of a row cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Tool:
    """The schema of one function: its arguments, and which of them are required.

    is_text: whether its values are written as text, since it is of Java or JavaScript
    """

    arguments: Mapping[str, Any]
    required: tuple[str, ...] = ()
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Expected:
    """One call of the gold: the accepted values of each argument, and which may be left out."""

    name: str
    accepted: Mapping[str, tuple[Any, ...]]
    optional: frozenset[str] = frozenset()
    is_nested: bool = False  # whether objects in the values list accepted values for each key


def tools_of(entry: Any, label: str) -> dict[str, Tool]:
    """Return the schema of each function by its name; of OpenAI, Anthropic, MCP or BFCL."""
    listed = _read(entry, label)
    if isinstance(listed, Mapping):
        listed = [listed]
    if not isinstance(listed, list | tuple):
        raise TypeError(f"{label} must be a list of schemas of functions, got {kind_of(entry)}")
    return dict(_tool(one, label) for one in listed)


def _tool(entry: Any, label: str) -> tuple[str, Tool]:
    held = entry.get("function") if isinstance(entry, Mapping) else None
    schema = held if isinstance(held, Mapping) else entry
    if not isinstance(schema, Mapping) or not isinstance(schema.get("name"), str):
        raise TypeError(f"{label} must be schemas of functions with a name, got {kind_of(entry)}")
    keys = ("parameters", "input_schema", "inputSchema")
    parameters: Any = next((schema[key] for key in keys if schema.get(key)), {})
    if not isinstance(parameters, Mapping):
        raise GoldError(f"the parameters of {schema['name']} are no schema")
    arguments = parameters.get("properties") or {}
    required = parameters.get("required") or ()
    if not isinstance(arguments, Mapping) or not isinstance(required, list | tuple):
        raise GoldError(f"the parameters of {schema['name']} are no schema of an object")
    is_text = any(isinstance(one, Mapping) and "x-type" in one for one in arguments.values())
    return schema["name"], Tool(arguments, tuple(required), is_text)


def expected_of(entry: Any, label: str) -> list[Expected] | None:
    """Return the calls that are expected; an empty list if none is, None if there is no gold."""
    listed = _read(entry, label)
    if listed is None:
        return None
    if isinstance(listed, Mapping):
        listed = listed.get("tool_calls", listed.get("ground_truth", [listed]))
    if not isinstance(listed, list | tuple):
        raise TypeError(f"{label} must be a list of calls, got {kind_of(entry)}")
    return [_expected(one, label) for one in listed]


def _expected(entry: Any, label: str) -> Expected:
    held = entry.get("function") if isinstance(entry, Mapping) else None
    call = held if isinstance(held, Mapping) else entry
    if not isinstance(call, Mapping) or not call:
        raise TypeError(
            f'{label} must be calls such as {{"name": "f", "arguments": {{"a": 1}}}} '
            f'or {{"f": {{"a": [1, 2]}}}}, got {kind_of(entry)}'
        )
    if isinstance(call.get("name"), str):
        keys = ("arguments", "parameters", "input", "args")
        arguments: Any = next((call[key] for key in keys if call.get(key) is not None), {})
        arguments = _read(arguments or {}, label)
        if not isinstance(arguments, Mapping):
            raise GoldError(f"the arguments of {call['name']} are not an object")
        return Expected(call["name"], {key: (value,) for key, value in arguments.items()})
    name, arguments = next(iter(call.items()))
    if len(call) > 1 or not isinstance(arguments, Mapping):
        raise GoldError(f"{name}: the accepted values of its arguments are not an object")
    wrong = [key for key, values in arguments.items() if not isinstance(values, list | tuple)]
    if wrong:
        raise GoldError(f"{name}: the accepted values of {wrong[0]} are not a list")
    optional = frozenset(key for key, values in arguments.items() if _LEFT_OUT in values)
    accepted = {key: tuple(values) for key, values in arguments.items()}
    return Expected(name, accepted, optional, is_nested=True)


def _read(entry: Any, label: str) -> Any:
    value = plain(entry)
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        return read_json(value)
    except JsonError as error:
        raise GoldError(f"{label} is not JSON: {error}") from error


def types_of(schema: Any) -> frozenset[str]:
    """Return the types that a schema allows; empty if it allows any."""
    if not isinstance(schema, Mapping):
        return frozenset()
    named = schema.get("type")
    listed = named if isinstance(named, list | tuple) else [named]
    if named is None:
        branches = schema.get("anyOf") or schema.get("oneOf") or ()
        listed = [one.get("type") for one in branches if isinstance(one, Mapping)]
    known = [TYPES.get(one) if isinstance(one, str) else None for one in listed]
    return frozenset() if None in known else frozenset(one for one in known if one)


def enum_of(schema: Any) -> list[Any]:
    """Return the values that a schema lists; empty if it lists none."""
    listed = schema.get("enum") if isinstance(schema, Mapping) else None
    return list(listed) if isinstance(listed, list | tuple) else []


# --- comparing a call -----------------------------------------------------------------------------

_IGNORED = re.compile(r"[ ,./\-_*^]")  # as BFCL compares text
_MINUS = re.compile(r"(?<![^\s(\[])-(?=[\d.])")
_LONG = re.compile(r"-?\d{1,20}[lL]")
_LONGEST_CODE = 10_000  # characters of text that is read as a value
_NUMBER = re.compile(r"[-+]?\d++(?:\.\d++)?")


@dataclass(frozen=True, slots=True)
class ComparisonRules:
    """How values are compared.

    coerce: whether text that says a value of the right type is that value: "5" for 5
    is_bfcl: whether to compare as the Berkeley leaderboard does, in what it gets wrong as well
    is_text: whether values are code as text, since the function is of Java or JavaScript
    """

    coerce: bool = False
    is_bfcl: bool = False
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class CallMatch:
    """How far a call is an expected one.

    fault: what is wrong first; "" if it is right
    keys, values: how many arguments have the right name, and how many the right value too
    made, wanted: how many arguments the call has, and how many are expected
    """

    fault: str
    has_name: bool = True
    keys: int = 0
    values: int = 0
    made: int = 0
    wanted: int = 0
    is_broken: bool = False  # whether the call cannot be executed at all


def compare(call: Call, gold: Expected, tool: Tool | None, rules: ComparisonRules) -> CallMatch:
    """Compare a call with an expected one."""
    if call.name != gold.name:
        return CallMatch(f"{call.name or 'a call'} is called, expected {gold.name}", has_name=False)
    if call.problem:
        return CallMatch(f"{call.name}: {call.problem}", is_broken=True)
    arguments = arguments_of(call, tool, rules)
    if tool is not None and tool.is_text:
        rules = replace(rules, is_text=True)
    faults: list[str] = []
    keys = values = 0
    for name, value in arguments.items():
        schema = None if tool is None else tool.arguments.get(name)
        if name not in gold.accepted:
            if not _is_default(value, schema, rules):
                faults.append(f"{name} is an extra argument")
            continue
        keys += 1
        fault = _argument_fault(name, value, gold, schema, rules)
        values += not fault
        faults += [fault] if fault else []
    faults += _missing(arguments, gold, tool, rules)
    wanted = sum(name in arguments or name not in gold.optional for name in gold.accepted)
    fault = f"{call.name}: {faults[0]}" if faults else ""
    return CallMatch(fault, True, keys, values, len(arguments), wanted)


def arguments_of(call: Call, tool: Tool | None, rules: ComparisonRules) -> dict[str, Any]:
    """Return the arguments by name: those by position in the order of the schema.

    Null for an argument that has a default is left out.
    """
    arguments = dict(call.arguments)
    if call.positional and tool is not None and not rules.is_bfcl:
        names = list(tool.arguments)
        only = call.positional[0]
        is_only = len(call.positional) == 1 and not arguments and isinstance(only, dict)
        if is_only and (len(names) != 1 or names[0] in only):  # f({"a": 1}): all in one object
            return dict(only)
        for position, value in enumerate(call.positional):
            name = names[position] if position < len(names) else f"argument {position + 1}"
            arguments.setdefault(name, value)
    if tool is not None and not rules.is_bfcl:
        for name in [name for name, value in arguments.items() if value is None]:
            schema = tool.arguments.get(name)
            if isinstance(schema, Mapping) and "default" in schema and name not in tool.required:
                del arguments[name]
    if tool is not None and (call.is_text or tool.is_text or rules.coerce):
        return {name: coerced(value, tool.arguments.get(name)) for name, value in arguments.items()}
    return arguments


def _missing(
    arguments: Mapping[str, Any], gold: Expected, tool: Tool | None, rules: ComparisonRules
) -> list[str]:
    required = () if tool is None else tool.required
    missing = [name for name in required if name not in arguments]
    for name in gold.accepted:
        if name in arguments or name in missing or name in gold.optional:
            continue
        schema = None if tool is None else tool.arguments.get(name)
        default = schema.get("default") if isinstance(schema, Mapping) else None
        is_known = default is not None and not rules.is_bfcl and not gold.is_nested
        accepted = gold.accepted[name] if is_known else ()
        if not any(_same(default, one, schema, gold, rules) for one in accepted):
            missing.append(name)
    return [f"{name} is missing" for name in missing]


def _is_default(value: Any, schema: Any, rules: ComparisonRules) -> bool:
    if rules.is_bfcl or not isinstance(schema, Mapping) or schema.get("default") is None:
        return False
    return type(value) is type(schema["default"]) and bool(value == schema["default"])


def _argument_fault(
    name: str, value: Any, gold: Expected, schema: Any, rules: ComparisonRules
) -> str:
    """Return what is wrong with an argument; "" if it is right."""
    accepted = gold.accepted[name]
    # Code as text may name a variable: text for a list or an object.
    typed = [one for one in accepted if isinstance(one, str)] if rules.is_text else accepted
    if schema is not None and (fault := type_fault(value, schema, rules, typed)):
        return f"{name} {fault}"
    values = _readings(value, schema) if rules.is_text else [value]
    if any(_same(one, other, schema, gold, rules) for other in accepted for one in values):
        return ""
    if name in gold.optional and _is_default(value, schema, rules):
        return ""
    return f"{name} is {shown(value)}, expected {_expectation(gold, name)}"


def _expectation(gold: Expected, name: str) -> str:
    several = [one for one in gold.accepted[name] if one != "" or name not in gold.optional]
    texts = [shown(one) for one in several[:3]]
    if name in gold.optional:
        texts.append("no such argument")
    return " or ".join(texts)


def shown(value: Any) -> str:
    """Return a value as a reason shows it."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=lambda one: getattr(one, "text", "?"))
    except RecursionError:
        return "…"
    return text if len(text) <= 60 else f"{text[:57]}…"


# --- values ---------------------------------------------------------------------------------------


def type_fault(
    value: Any, schema: Any, rules: ComparisonRules, accepted: Sequence[Any] = ()
) -> str:
    """Return how a value is not of its schema's type, or not listed in its enum; "" if it is."""
    types = types_of(schema)
    if isinstance(value, Expression):
        return f"is {value.text[:60]}, which is not a literal"
    if types and not any(_is_of_type(value, one, rules) for one in types):
        # If the gold is of another type than its schema, the gold counts.
        if any(type(one) is type(value) for one in accepted if one != ""):
            return ""
        return f"is {shown(value)}, which is not of the type {' or '.join(sorted(types))}"
    listed = enum_of(schema)
    is_listed = value in listed or value in accepted or rules.is_bfcl
    if listed and isinstance(value, str) and not is_listed:
        return f"is {shown(value)}, which is not one of {shown(listed)}"
    if isinstance(value, list) and isinstance(items := schema.get("items"), Mapping):
        strict = rules.is_bfcl and types_of(items) == {"number"}
        for position, item in enumerate(value):
            if strict and type(item) is int:
                return f"has the whole number {item} in a list of floats"
            if fault := type_fault(item, items, rules):
                return f"has an item {position} that {fault}"
    return ""


def _is_of_type(value: Any, wanted: str, rules: ComparisonRules) -> bool:
    match wanted:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            if isinstance(value, float):
                return value.is_integer() and not rules.is_bfcl
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "array":
            return isinstance(value, list | tuple)
        case "object":
            return isinstance(value, Mapping)
        case _:
            return value is None


def _same(value: Any, gold: Any, schema: Any, expected: Expected, rules: ComparisonRules) -> bool:
    """Whether a value is an accepted one."""
    if isinstance(value, bool) or isinstance(gold, bool):
        return value is gold
    if isinstance(value, int | float) and isinstance(gold, int | float):
        return value == gold
    if isinstance(value, str) and isinstance(gold, str):
        return _same_text(value, gold, rules)
    inner = schema if isinstance(schema, Mapping) else {}
    if isinstance(value, list | tuple) and isinstance(gold, list | tuple):
        items = inner.get("items")
        return len(value) == len(gold) and all(
            _same(one, other, items, expected, rules)
            for one, other in zip(value, gold, strict=True)
        )
    if isinstance(value, Mapping) and isinstance(gold, Mapping):
        return _same_object(value, gold, inner.get("properties") or {}, expected, rules)
    return value is None and gold is None


def _same_object(
    value: Mapping[str, Any],
    gold: Mapping[str, Any],
    schemas: Mapping[str, Any],
    expected: Expected,
    rules: ComparisonRules,
) -> bool:
    for key in {**value, **gold}:
        several = gold.get(key, ())
        nested = expected.is_nested and isinstance(several, list | tuple)
        accepted = several if nested else [several]
        if key not in gold:
            return False
        if key not in value:
            if not (nested and "" in accepted):
                return False
            continue
        if not any(_same(value[key], one, schemas.get(key), expected, rules) for one in accepted):
            return False
    return True


def _same_text(value: str, gold: str, rules: ComparisonRules) -> bool:
    if value == gold:
        return True
    if rules.is_bfcl:
        return _bare(value) == _bare(gold)
    value, gold = normalize("NFC", value).strip(), normalize("NFC", gold).strip()
    if _NUMBER.fullmatch(value) and _NUMBER.fullmatch(gold):
        return float(value) == float(gold)  # "-987654" is not "987654", "3.5" is not "35"
    signs = len(_MINUS.findall(value)) == len(_MINUS.findall(gold))
    return signs and _bare(value) == _bare(gold)


def _bare(text: str) -> str:
    return _IGNORED.sub("", text).lower().replace("'", '"')


def _readings(value: Any, schema: Any) -> list[Any]:
    """Return a value, and what its text says as code: true, 5, 'text', ["a", "b"], Java's 5L."""
    if not isinstance(value, str) or len(value) > _LONGEST_CODE:
        return [value]
    kind = schema.get("x-type") if isinstance(schema, Mapping) else None
    if kind in ("long", "HashMap"):  # Java writes them in its own way
        return [value, int(value[:-1])] if _LONG.fullmatch(value) else [value]
    read = {"true": True, "false": False}.get(value.strip())
    read = python_value(value) if read is None else read
    return [value] if read is None or isinstance(read, Expression) else [value, read]


def coerced(value: Any, schema: Any) -> Any:
    """Return what a text says, if its schema asks for another type than text."""
    types = types_of(schema)
    if not isinstance(value, str) or not types or "string" in types:
        return value
    text = value.strip()
    if text.lower() in ("true", "false") and "boolean" in types:
        return text.lower() == "true"
    try:
        read = read_json(text)
    except JsonError:
        read = python_value(text) if len(text) <= _LONGEST_CODE else None
    rules = ComparisonRules()
    is_right = read is not None and any(_is_of_type(read, one, rules) for one in types)
    return read if is_right else value
