"""The structured part of a text, and its data: JSON, YAML, TOML, XML and CSV -> plain data.

The part is a fenced block, the whole text, or the only object in prose, found in time linear in the
text. The parsers build no objects and expand no entities.
"""

import csv
import re
import tomllib
from collections.abc import Callable
from io import StringIO
from typing import Any
from xml.parsers import expat

from plaudit.inputs.extract import after_thinking
from plaudit.inputs.parsing import JsonError, read_json, read_json_at

LANGUAGES = {
    "json": ("json", "json5", "jsonc"),
    "yaml": ("yaml", "yml"),
    "toml": ("toml",),
    "xml": ("xml",),
    "csv": ("csv",),
}
_FENCE = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)[ \t]*+([\w+-]*+)[^\n`]*+$", re.MULTILINE)
_ANNOUNCEMENT = re.compile(r"[A-Z][^=\[\]{},\"]{0,200}:")
_SENTENCE = re.compile(r"[A-Z][^=\[\]{}:\"\n]{0,300}[.!?]")
_EMPTY = re.compile(r"\{\s*+\}|\[\s*+\]")
_PROSE_BRACKET = re.compile(r"\[[^\"{}\[\]:\n]*+\]|\{[^\"{}\[\]:\n]*+\}")
_OPENING = re.compile(r"[\[{]")
_CLOSING = re.compile(r"\s*+[}\]]")
# What `repair` removes: comments, and commas before a closing bracket. Texts stay as they are.
_REPAIRED = re.compile(
    r'("(?:[^"\\]++|\\.)*+")|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/|,(?=\s*+[}\]])', re.DOTALL
)


def block_of(text: str, kind: str) -> str:
    """Return the last fenced block of a language or of none; the text after the thinking if none.

    A fence of JSON that is never closed reaches to the end; data of another kind may have been cut.
    """
    body = after_thinking(text)
    found = None
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(body) if "```" in body or "~~~" in body else ():
        if opening is None:
            opening = fence
        elif not fence[2] and fence[1].startswith(opening[1]):
            found = _block(body, opening, fence.start(), kind) or found
            opening = None
    if opening is not None and kind == "json":
        found = _block(body, opening, len(body), kind) or found
    return body if found is None else found


def _block(body: str, opening: re.Match[str], end: int, kind: str) -> str | None:
    is_kind = opening[2].lower() in ("", *LANGUAGES[kind])
    return body[opening.end() : end] if is_kind else None


def blocks_of(text: str, kind: str) -> list[str]:
    """Return what may be the data of a text: its block, and the same without prose around it."""
    block = block_of(text, kind).strip()
    if kind == "xml":
        return [one for one in (block, block[block.find("<") : block.rfind(">") + 1]) if one]
    first, _, rest = block.partition("\n")
    bare = rest if _ANNOUNCEMENT.fullmatch(first) else block
    before, _, last = bare.rpartition("\n\n")
    bare = before if _SENTENCE.fullmatch(last) else bare
    return [one for one in dict.fromkeys((block, bare)) if one]


def json_of(text: str, repair: bool) -> Any:
    """Return the JSON value that a completion gives; raise JsonError if it gives none."""
    block = block_of(text, "json").lstrip("\ufeff")
    try:
        return _value(block)
    except JsonError:
        if not repair:
            raise
    return _value(_without_comments(block))


def _without_comments(block: str) -> str:
    # Twice: a comma may stand before a comment before a bracket.
    for _ in range(2):
        block = _REPAIRED.sub(lambda found: found[1] or "", block)
    return block


def _value(block: str) -> Any:
    try:
        return read_json(block)
    except JsonError:
        if not _OPENING.search(block) or block.lstrip()[:1] == '"':
            raise
    return _only_value(block)


def _only_value(prose: str) -> Any:
    """Return the only object or array in prose; empty ones, and brackets without data, are prose.

    What starts as an object and is not JSON ends the search: it was cut or is broken.
    """
    values: list[Any] = []
    start = 0
    is_alone = prose.count("{") + prose.count("[") == 1  # the only bracket must be the value
    while (found := _OPENING.search(prose, start)) is not None:
        at = found.start()
        skipped = _EMPTY.match(prose, at) or _PROSE_BRACKET.match(prose, at)
        if skipped is not None and not is_alone:
            start = skipped.end()
            continue
        value, start = read_json_at(prose, at)
        values.append(value)
        if _CLOSING.match(prose, start):
            raise JsonError("there is one bracket too many")
        if len(values) > 1:
            raise JsonError("there are several values, expected one")
    if not values:
        raise JsonError("there is no JSON in it")
    return values[0]


# --- parsing it -----------------------------------------------------------------------------------

_LONGEST = 200_000  # characters; YAML takes seconds for more
_DEEPEST = 100
# tomllib takes time quadratic in the parts of a key such as a.b.c, YAML in those of 1:30:00; and
# both in the digits of a number.
_TOO_LONG = re.compile(
    rf"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){{{_DEEPEST}}}"
    rf"|(?<!\d)(?:\d++:){{{_DEEPEST}}}|(?<!\w)[\dA-Fa-fx_]{{1000}}"
)
_PATH = re.compile(r"`([^`]*+)`|\[(\d{1,9}|\*)\]|([^.\[\]`]++)")


class FormatError(ValueError):
    """A text is not in its format; the message says why."""


def parse(text: str, kind: str) -> Any:
    """Return the data of a text in a format."""
    if len(text) > _LONGEST:
        raise FormatError(f"it has more than {_LONGEST} characters")
    if kind in ("toml", "yaml") and _TOO_LONG.search(text):
        raise FormatError("it has a number of 1000 digits, or a key of 100 parts")
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
