"""YAML, TOML, XML and CSV -> plain data, by parsers that build no objects and expand no entities;
and the paths of a value in that data.
"""

import csv
import re
import tomllib
from collections.abc import Callable
from io import StringIO
from typing import Any
from xml.parsers import expat

_LONGEST = 200_000  # characters; YAML takes seconds for more
_DEEPEST = 100
_PATH = re.compile(r"`([^`]*+)`|\[(\d{1,9}|\*)\]|([^.\[\]`]++)")


class FormatError(ValueError):
    """A text is not in its format; the message says why."""


def parse(text: str, kind: str) -> Any:
    """Return the data of a text in a format."""
    if len(text) > _LONGEST:
        raise FormatError(f"it has more than {_LONGEST} characters")
    return _PARSERS[kind](text)


def _yaml(text: str) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise ImportError(
            "format_reward(kind=\"yaml\") needs PyYAML: pip install 'plaudit[structured]'"
        ) from error
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    try:
        # An alias repeats what its anchor holds: nine levels of ten make a billion.
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                raise FormatError("it has an alias, which could expand without end")
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise FormatError(f"it is nested more than {_DEEPEST} levels deep")
        return yaml.load(text, Loader=loader)
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as error:
        raise FormatError(str(error).replace("\n", " ")[:200]) from error


def _toml(text: str) -> Any:
    if max(text.count("["), text.count("{")) > 10_000:
        raise FormatError("it has too many brackets")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise FormatError(str(error)[:200]) from error


def _xml(text: str) -> Any:
    """Return the elements as dicts: attributes as `@name`, repeated children as a list."""
    reader = _XmlReader()
    parser = expat.ParserCreate()
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.write
    parser.StartDoctypeDeclHandler = _no_doctype
    try:
        parser.Parse(text.strip().encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise FormatError(str(error)) from error
    return reader.root


def _no_doctype(*_: Any) -> None:
    raise FormatError("it declares a document type, which could hold entities")


class _XmlReader:
    """Builds plain data from the events of a parser."""

    def __init__(self) -> None:
        self.root: dict[str, Any] = {}
        self.open: list[tuple[str, dict[str, Any], list[str]]] = [("", self.root, [])]

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.open) > _DEEPEST:
            raise FormatError(f"it is nested more than {_DEEPEST} levels deep")
        self.open.append((name, {f"@{key}": value for key, value in attributes.items()}, []))

    def write(self, text: str) -> None:
        self.open[-1][2].append(text)

    def end(self, name: str) -> None:
        _, made, texts = self.open.pop()
        text = "".join(texts).strip()
        value: Any = made if made else text or None
        if made and text:
            made["#text"] = text
        parent = self.open[-1][1]
        if name not in parent:
            parent[name] = value
        elif isinstance(parent[name], list):
            parent[name].append(value)
        else:
            parent[name] = [parent[name], value]


def _csv(text: str) -> Any:
    """Return the rows as dicts by the names of the header."""
    try:
        rows = [row for row in csv.reader(StringIO(text.strip()), strict=True) if row]
    except csv.Error as error:
        raise FormatError(str(error)) from error
    if not rows:
        raise FormatError("there are no rows")
    header = [name.strip() for name in rows[0]]
    wrong = next((at for at, row in enumerate(rows) if len(row) != len(header)), None)
    if wrong is not None:
        raise FormatError(f"row {wrong} has {len(rows[wrong])} fields, the header {len(header)}")
    return [dict(zip(header, row, strict=True)) for row in rows[1:]] or [dict.fromkeys(header)]


_PARSERS: dict[str, Callable[[str], Any]] = {
    "yaml": _yaml,
    "toml": _toml,
    "xml": _xml,
    "csv": _csv,
}


def has_path(data: Any, path: str) -> bool:
    """Return whether there is a value at a path such as `a.b[0].c`, `a.*.c` or `csv::column`."""
    if path.startswith("csv::"):
        name = path.removeprefix("csv::").partition("[")[0]
        return isinstance(data, list) and bool(data) and name in data[0]
    parts = [m[1] or m[2] or m[3] for m in _PATH.finditer(path)]
    indexes = [bool(m[2]) for m in _PATH.finditer(path)]
    return _follow([data], list(zip(parts, indexes, strict=True)))


def _follow(values: list[Any], parts: list[tuple[str, bool]]) -> bool:
    for part, is_index in parts:
        found: list[Any] = []
        for value in values:
            if part == "*":
                found += list(value.values()) if isinstance(value, dict) else []
                found += value if isinstance(value, list) else []
            elif isinstance(value, list) and (is_index or part.isdigit()):
                found += [value[int(part)]] if int(part) < len(value) else []
            elif isinstance(value, dict) and not is_index and part in value:
                found.append(value[part])
        if not found:
            return False
        values = found
    return True
