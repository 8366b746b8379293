"""JSON schemas -> validators, which are kept; and what is wrong with a schema."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from plaudit.inputs.parsing import JsonError, read_json

_DRAFTS = {
    "4": "http://json-schema.org/draft-04/schema#",
    "6": "http://json-schema.org/draft-06/schema#",
    "7": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
_BACKTRACKS = 100_000  # steps of a regular expression, some milliseconds
_MOST_BRANCHES = 10_000  # of a schema at one value; more take seconds
_LONE_SURROGATE = re.compile(
    r"(?<!\\)((?:\\\\)*+)(?:\\ud[89ab]..(?!\\ud[c-f]..)|(?<!\\ud[89ab]..)\\ud[c-f]..)",
    re.IGNORECASE,
)
_IN_PLACE = ("allOf", "anyOf", "oneOf")
_IN_PLACE_ONE = ("not", "if", "then", "else")


class SchemaError(ValueError):
    """A schema cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema that is ready to validate.

    parts: its required properties, or all if none is required
    branches: the most alternatives for one value, if it has references; else 1
    """

    validator: Any
    parts: tuple[str, ...]
    branches: int = 1

    def is_valid(self, value: Any) -> bool:
        try:
            return bool(self.validator.is_valid(value))
        except UnicodeEncodeError:  # half of a pair of surrogates is valid JSON, but no text
            return bool(self.validator.is_valid(_without_surrogates(value)))

    def faults(self, value: Any, most: int = 50) -> list[tuple[str, str]]:
        """Return where and how a value violates the schema, the first so many.

        None if that could take for ever: unlike the verdict, errors of alternatives are collected
        again for each level of a value.
        """
        if self.branches > 1 and self.branches ** min(_depth(value), 60) > _MOST_BRANCHES:
            return []
        try:
            errors = self.validator.iter_errors(value)
            found = []
            for error in errors:
                path = ".".join(map(str, error.instance_path))
                found.append((path, str(error.message)))
                if len(found) >= most:
                    break
        except UnicodeEncodeError:
            return self.faults(_without_surrogates(value), most)
        return found


def schema_of(entry: Any, draft: str | None, formats: bool) -> Schema:
    """Return the validator of a schema, from a cache; raise SchemaError if it cannot be used."""
    try:
        text = entry if isinstance(entry, str) else json.dumps(entry)
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"the schema is not JSON: {error}") from error
    made = _schema(text, draft, formats)
    if isinstance(made, str):
        raise SchemaError(made)
    return made


@lru_cache(1024)
def _schema(text: str, draft: str | None, formats: bool) -> Schema | str:
    """Return the schema of a text, or why it cannot be used."""
    rs = _library()
    try:
        schema = read_json(text)
    except JsonError as error:
        return f"the schema is not JSON: {error}"
    if draft is not None and isinstance(schema, dict):
        schema = {**schema, "$schema": schema.get("$schema", _DRAFTS[draft])}
    if problem := _endless(schema):
        return problem
    try:
        validator = rs.validator_for(
            schema,
            validate_formats=formats,
            ignore_unknown_formats=True,
            retriever=_refuse,
            pattern_options=rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS),
        )
    except (rs.ValidationError, rs.ReferencingError, ValueError) as error:
        return f"the schema is not valid: {str(error).splitlines()[0][:200]}"
    own = schema if isinstance(schema, Mapping) else {}
    parts = tuple(own.get("required") or own.get("properties") or ())
    return Schema(validator, parts, _alternatives(schema))


def _alternatives(schema: Any) -> int:
    """Return the most alternatives for one value, if a schema has references; else 1."""
    nodes = list(_nodes(schema))
    if not any(key in node for node in nodes for key in ("$ref", "$dynamicRef", "$recursiveRef")):
        return 1
    listed = [node.get(key) for node in nodes for key in _IN_PLACE]
    return max((len(one) for one in listed if isinstance(one, list)), default=1)


def _depth(value: Any) -> int:
    """Return how deeply a value is nested."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inner), default=0)


def _library() -> Any:
    try:
        import jsonschema_rs
    except ImportError as error:
        raise ImportError(
            "json_schema_reward needs jsonschema-rs: pip install 'plaudit[structured]'"
        ) from error
    return jsonschema_rs


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is another document: nothing is fetched")


def check_draft(draft: str | None) -> None:
    """Raise if there is no such draft."""
    if draft is not None and draft not in _DRAFTS:
        raise ValueError(f"draft must be one of {', '.join(_DRAFTS)} or None, got {draft!r:.80}")


def _without_surrogates(value: Any) -> Any:
    return json.loads(_LONE_SURROGATE.sub(r"\1\\ufffd", json.dumps(value)))


# --- schemas without end --------------------------------------------------------------------------


def _endless(schema: Any) -> str:
    """Return why a schema would never come to an end at one value; "" if it would."""
    counts: dict[int, int] = {}
    for node in _nodes(schema):
        try:
            if _branches(node, schema, counts, set()) > _MOST_BRANCHES:
                return f"the schema has more than {_MOST_BRANCHES} branches for one value"
        except _EndlessError as error:
            return f"the schema refers to itself without end: {error}"
        except RecursionError:
            return "the schema is nested too deeply"
    return ""


class _EndlessError(Exception):
    pass


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in a schema."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            stack += node.values()
        elif isinstance(node, list):
            stack += node


def _branches(node: Any, root: Any, counts: dict[int, int], above: set[int]) -> int:
    """Return how many schemas apply to the same value as this one, itself counted."""
    if not isinstance(node, dict):
        return 1
    key = id(node)
    if key in above:
        raise _EndlessError(str(node.get("$ref", "allOf"))[:80])
    if key not in counts:
        inner = above | {key}
        counts[key] = 1 + sum(_branches(n, root, counts, inner) for n in _same_value(node, root))
    return counts[key]


def _same_value(node: dict[str, Any], root: Any) -> Iterator[Any]:
    reference = node.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        yield _target(reference[1:], root)
    for key in _IN_PLACE:
        listed = node.get(key)
        yield from listed if isinstance(listed, list) else ()
    for key in _IN_PLACE_ONE:
        yield node.get(key)


def _target(pointer: str, root: Any) -> Any:
    """Return what a JSON pointer points to; None if nothing, or if it is a name."""
    if pointer and not pointer.startswith("/"):
        return None
    node = root
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~").replace("%25", "%").replace("%22", '"')
        if isinstance(node, dict):
            node = node.get(part)
        elif isinstance(node, list) and part.isdigit() and int(part) < len(node):
            node = node[int(part)]
        else:
            return None
    return node
