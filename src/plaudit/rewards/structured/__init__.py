"""Rewards for structured output: JSON by a schema or by fields, and YAML, TOML, XML and CSV.

    json_schema_reward(
        completions=['Here it is: {"city": "Porto", "population": 231800}'],
        schema={"type": "object", "required": ["city"]},
    )

What right means is in docs/tools.md, rule by rule.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from plaudit.answers import judge_answer, same_normal_text
from plaudit.inputs.columns import kind_of, plain, rows_of, same_length, shortened
from plaudit.inputs.completions import Completion, texts_of
from plaudit.inputs.parsing import JsonError, JsonLimitError, read_json
from plaudit.judge import Status
from plaudit.rewards.structured._parsers import (
    LANGUAGES,
    FormatError,
    blocks_of,
    has_path,
    json_of,
    parse,
)
from plaudit.scores import Score, reward
from plaudit.scores.score import logged

__all__ = ["fields_reward", "format_reward", "json_schema_reward"]


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
    made = _compiled(text, draft, formats)
    if isinstance(made, str):
        raise SchemaError(made)
    return made


@lru_cache(1024)
def _compiled(text: str, draft: str | None, formats: bool) -> Schema | str:
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


# --- the rewards ----------------------------------------------------------------------------------


NO_GOLD = Score(None, "There is no gold: the row is skipped.", status=Status.BAD_GOLD)


@reward(columns=("schema", "draft"))
def json_schema_reward(
    completions: Sequence[Completion],
    schema: Any,
    draft: str | Sequence[str | None] | None = None,
    formats: bool = True,
    repair: bool = False,
    partial: bool = False,
    empty: bool = True,
    **kwargs: Any,
) -> list[Score]:
    """1.0 if a completion gives JSON that is valid by its schema, 0.0 if not.

    The JSON is the last fenced block, the whole text after the thinking, or the only object or
    array in prose. A schema that cannot be used skips the row. It needs `plaudit[structured]`.

    completions: a text or a list of messages for each row
    schema: the JSON schema of each row, or one for all; nothing that it refers to is fetched
    draft: the draft of schemas without `$schema`: "4", "6", "7", "2019-09" or "2020-12"; a single
        text holds for every row. Default: 2020-12
    formats: whether `format`, such as "date", is checked. Default: True
    repair: whether comments and trailing commas are allowed. Default: False
    partial: whether JSON that is valid in part is worth something: the share of the required
        properties that are there and valid. Default: False
    empty: whether null, an empty object or an empty list may be right, if its schema allows it; in
        training, it is what a model learns first if nothing is required. Default: True

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    >>> json_schema_reward(['So: {"n": 1}', '{"n": "1"}'], schema)
    [1.0, 0.0]
    >>> json_schema_reward.scores(['{"n": "1"}'], schema)[0].why
    'n: "1" is not of type "integer".'
    """
    texts = texts_of(completions)
    schemas = _per_row(schema, "schema", completions, (Mapping, str, bool))
    drafts = _per_row(draft, "draft", completions, (str, type(None)))
    for one in dict.fromkeys(drafts):
        check_draft(one)
    made: dict[tuple[int, str | None], Schema | Score] = {}  # rows often share a schema
    scores = []
    for text, entry, one in zip(texts, schemas, drafts, strict=True):
        key = id(entry), one
        if key not in made:
            made[key] = _schema(plain(entry), one, formats)
        scores.append(_schema_score(text, made[key], repair, partial, empty))
    return logged(scores, kwargs)


def _per_row(given: Any, name: str, completions: Sequence[Any], one: Any) -> Sequence[Any]:
    """Return a column; a single entry holds for every row."""
    if isinstance(given, one):
        return [given] * len(completions)
    same_length(completions, **{name: given})
    return rows_of(given, name)


def _schema(entry: Any, draft: str | None, formats: bool) -> Schema | Score:
    """Return a schema, or the score of its rows if it cannot be used."""
    if entry is None:
        return Score(None, "There is no schema: the row is skipped.", status=Status.BAD_GOLD)
    try:
        return schema_of(entry, draft, formats)
    except SchemaError as error:
        why = f"The row is skipped: {error}."
        return Score(None, why, status=Status.BAD_GOLD, problem=str(error))


def schema_fault(entry: Any, gold: Any = None) -> tuple[str, str]:
    """Return why a schema cannot be used, and how a gold violates it; "" if all is well."""
    schema = _schema(plain(entry), None, True)
    if isinstance(schema, Score):
        return schema.problem or schema.why, ""
    if isinstance(gold, str):
        try:
            gold = read_json(gold)
        except JsonError:
            return "", ""  # it is not said to be JSON
    if not isinstance(gold, Mapping | list) or schema.is_valid(gold):
        return "", ""
    path, message = schema.faults(gold, 1)[0]
    return "", f"{path}: {message}" if path else message


def _is_empty(value: Any) -> bool:
    """Return whether a value is null, an empty object or list, or a list of such."""
    # Values of JSON that was read are nested at most 200 levels deep.
    return value is None or value == {} or (isinstance(value, list) and all(map(_is_empty, value)))


def _schema_score(
    text: str, schema: Schema | Score, repair: bool, partial: bool, empty: bool
) -> Score:
    if isinstance(schema, Score):
        return schema
    try:
        value = json_of(text, repair)
    except JsonError as error:
        return _unreadable(error)
    answer = shortened(value)
    if not empty and _is_empty(value):
        return Score(0.0, "There is nothing in it.", answer, None, "schema", right=False)
    if schema.is_valid(value):
        return Score(1.0, "It is valid by the schema.", answer, None, "schema", right=True)
    faults = schema.faults(value)
    path, message = faults[0] if faults else ("", "it is not valid")
    why = f"{path}: {message}." if path else f"{message}."
    worth = _share(schema, value, faults) if partial else 0.0
    return Score(worth, why[:300], answer, None, "schema", right=False)


def _unreadable(error: JsonError) -> Score:
    if isinstance(error, JsonLimitError):
        why = f"The JSON was not read: {error}."
        return Score(0.0, why, status=Status.LIMIT, right=False, problem=str(error))
    return Score(0.0, f"It is not JSON: {error}.", status=Status.NO_ANSWER, right=False)


def _share(schema: Schema, value: Any, faults: list[tuple[str, str]]) -> float:
    """Return the share of the schema's parts that are there and valid; never all."""
    if not isinstance(value, Mapping) or not schema.parts:
        return 0.0
    faulty = {path.partition(".")[0] for path, _ in faults}
    right = sum(part in value and part not in faulty for part in schema.parts)
    others = 1 if right == len(schema.parts) else 0  # what is wrong is not a required part
    return right / (len(schema.parts) + others)


@reward(columns=("solution",))
def fields_reward(
    completions: Sequence[Completion],
    solution: Sequence[Any],
    ordered: bool = False,
    repair: bool = False,
    **kwargs: Any,
) -> list[Score]:
    """The share of the gold object's fields that the JSON of a completion has right.

    Numbers, dates and text are compared as `answers` does, lists as sets, and objects field by
    field. A field that the gold does not have counts as a wrong one.

    completions: a text or a list of messages for each row
    solution: the gold object of each row, or its JSON
    ordered: whether the order of a list counts. Default: False
    repair: whether comments and trailing commas are allowed. Default: False

    >>> fields_reward(['{"name": "the Louvre", "rooms": 400}'], [{"name": "Louvre", "rooms": 403}])
    [0.5]
    """
    texts = texts_of(completions)
    same_length(completions, solution=solution)
    golds = enumerate(rows_of(solution, "solution"))
    scores = [
        _fields_score(text, gold, row, ordered, repair)
        for text, (row, gold) in zip(texts, golds, strict=True)
    ]
    return logged(scores, kwargs)


def _fields_score(text: str, entry: Any, row: int, ordered: bool, repair: bool) -> Score:
    gold = plain(entry)
    if isinstance(gold, str) and gold.strip():
        try:
            gold = read_json(gold)
        except JsonError as error:
            why = f"The row is skipped: the gold is not JSON: {error}."
            return Score(None, why, status=Status.BAD_GOLD, problem=str(error))
    if gold is None or gold == "":
        return NO_GOLD
    if not isinstance(gold, Mapping):
        raise TypeError(f"solution {row} must be an object or its JSON, got {kind_of(entry)}")
    try:
        value = json_of(text, repair)
    except JsonError as error:
        return _unreadable(error)
    if not isinstance(value, Mapping):
        return Score(0.0, f"It is {kind_of(value)}, expected an object.", right=False)
    right, wrong = _fields(value, gold, ordered, "")
    total = right + len(wrong)
    is_right = not wrong
    why = f"{right} of {total} fields are right" + (f": {wrong[0]}." if wrong else ".")
    status = Status.EQUAL if is_right else Status.DIFFERENT
    share = right / total if total else 1.0
    return Score(share, why, shortened(value), shortened(gold), "fields", status, is_right)


def _fields(
    value: Mapping[str, Any], gold: Mapping[str, Any], ordered: bool, path: str
) -> tuple[int, list[str]]:
    """Return how many fields are right, and what is wrong with each of the others."""
    right = 0
    wrong: list[str] = []
    for key in {**gold, **value}:
        name = f"{path}{key}"
        if key not in gold:
            wrong.append(f"{name} is not in the gold")
        elif key not in value:
            wrong += [f"{name} is missing"] * _leaves(gold[key])
        elif isinstance(gold[key], Mapping) and isinstance(value[key], Mapping) and gold[key]:
            inner, faults = _fields(value[key], gold[key], ordered, f"{name}.")
            right, wrong = right + inner, wrong + faults
        elif _same(value[key], gold[key], ordered):
            right += 1
        else:
            wrong += [f"{name} is {shortened(value[key])}, expected {shortened(gold[key])}"]
            wrong += wrong[-1:] * (_leaves(gold[key]) - 1)
    return right, wrong


def _leaves(gold: Any) -> int:
    """Return how many fields an object has, those of objects in it counted."""
    if not isinstance(gold, Mapping) or not gold:
        return 1
    return sum(_leaves(inner) for inner in gold.values())


def _same(value: Any, gold: Any, ordered: bool) -> bool:
    if isinstance(gold, bool) or isinstance(value, bool) or gold is None or value is None:
        return value is gold
    if isinstance(gold, list):
        return isinstance(value, list) and _same_list(value, gold, ordered)
    if isinstance(gold, Mapping):
        return isinstance(value, Mapping) and not _fields(value, gold, ordered, "")[1]
    if isinstance(value, list | Mapping):
        return False
    return _same_scalar(value, gold)


def _same_list(value: list[Any], gold: list[Any], ordered: bool) -> bool:
    if len(value) != len(gold) or len(gold) > 1000:  # each may be compared with each
        return value == gold
    if ordered:
        return all(_same(one, other, ordered) for one, other in zip(value, gold, strict=True))
    rest = list(value)
    for other in gold:
        found = next((at for at, one in enumerate(rest) if _same(one, other, ordered)), None)
        if found is None:
            return False
        del rest[found]
    return True


def _same_scalar(value: Any, gold: Any) -> bool:
    if isinstance(value, int | float) and isinstance(gold, int | float):
        return value == gold
    said, meant = str(value), str(gold)
    if isinstance(gold, int | float):
        return judge_answer(rf"\boxed{{{said}}}", [meant]).status is Status.EQUAL
    if (day := _date(meant)) is not None and _date(said) is not None:
        return _date(said) == day
    return same_normal_text(said, meant)


def _date(text: str) -> datetime | None:
    for form in ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y", "%Y/%m/%d"):
        try:
            return datetime.strptime(text.strip()[:40], form)
        except ValueError:
            continue
    return None


@reward(columns=("paths",))
def format_reward(
    completions: Sequence[Completion],
    paths: Sequence[Sequence[str] | None] | None = None,
    kind: str = "yaml",
    **kwargs: Any,
) -> list[Score]:
    """1.0 if a completion gives data in a format that parses and has every path, 0.0 if not.

    The parsers build no objects and expand no entities. YAML needs `plaudit[structured]`.

    completions: a text or a list of messages for each row
    paths: what the data of each row must have: `a.b[0].c`, `a.*.c` for any item, `a.@id` for an
        attribute of XML, `csv::column` for a column. Default: nothing
    kind: "yaml", "toml", "xml" or "csv". Default: "yaml"

    >>> format_reward(["city: Porto", "city: [", "town: Porto"], [["city"]] * 3)
    [1.0, 0.0, 0.0]
    """
    if kind not in LANGUAGES or kind == "json":
        raise ValueError(f'kind must be "yaml", "toml", "xml" or "csv", got {kind!r:.80}')
    texts = texts_of(completions)
    wanted: Sequence[Any] = [None] * len(texts) if paths is None else rows_of(paths, "paths")
    same_length(completions, paths=wanted)
    scores = []
    for row, (text, listed) in enumerate(zip(texts, wanted, strict=True)):
        needed = plain(listed) or []
        if not isinstance(needed, list | tuple):
            raise TypeError(f"paths {row} must be a list of texts or None, got {kind_of(listed)}")
        scores.append(_format_score(text, list(needed), kind))
    return logged(scores, kwargs)


def _format_score(text: str, paths: list[str], kind: str) -> Score:
    """Return the score of the block, or of the same without prose around it if that is right."""
    blocks = blocks_of(text, kind)
    if not blocks:
        return Score(0.0, "There is no text.", status=Status.NO_ANSWER, right=False)
    first = _block_score(blocks[0], paths, kind)
    if first.right:
        return first
    others = (_block_score(block, paths, kind) for block in blocks[1:])
    return next((score for score in others if score.right), first)


def _block_score(block: str, paths: list[str], kind: str) -> Score:
    try:
        data = parse(block, kind)
    except FormatError as error:
        return Score(0.0, f"It is not {kind.upper()}: {error}.", right=False)
    if isinstance(data, str | int | float | None):  # any prose is YAML
        return Score(0.0, f"It is {kind_of(data)}, expected data with fields.", right=False)
    missing = [path for path in paths if not has_path(data, path)]
    if missing:
        return Score(0.0, f"{missing[0]} is missing.", shortened(data), right=False)
    return Score(1.0, f"It is {kind.upper()} and has every path.", shortened(data), right=True)
