"""What the columns of a row say: the schemas of its tools, and the calls that are expected."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plaudit.inputs.columns import kind_of, plain
from plaudit.inputs.parsing import JsonError, read_json

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
