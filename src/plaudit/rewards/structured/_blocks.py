"""The structured part of a text: a fenced block, the whole text, or the only object in prose.

Everything takes time linear in the text.
"""

import re
from typing import Any

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
    """Return the JSON value that a completion gives; raise JsonError if it gives none.

    repair: whether comments and trailing commas are allowed
    """
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
        if not re.search(r"[\[{]", block) or block.lstrip()[:1] == '"':
            raise
    return _only_value(block)


def _only_value(prose: str) -> Any:
    """Return the only object or array in prose; empty ones, and brackets without data, are prose.

    What starts as an object and is not JSON ends the search: it was cut or is broken.
    """
    values: list[Any] = []
    start = 0
    while (found := re.compile(r"[\[{]").search(prose, start)) is not None:
        at = found.start()
        skipped = _EMPTY.match(prose, at) or _PROSE_BRACKET.match(prose, at)
        if skipped is not None and not _is_alone(prose):
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


def _is_alone(prose: str) -> bool:
    """Whether there is one bracket only, which must be the value then."""
    return prose.count("{") + prose.count("[") == 1
