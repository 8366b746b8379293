r"""The program in a completion: the last fenced block after the thinking, or the text itself."""

import re
from typing import NamedTuple

# The languages of fences that hold a program, and the names of those that hold something else.
LANGUAGES = {
    **dict.fromkeys(("", "python", "python3", "py", "python2", "ipython", "sage"), "python"),
    **dict.fromkeys(("c", "gcc"), "c"),
    **dict.fromkeys(("cpp", "c++", "cc", "cxx", "cplusplus", "g++"), "cpp"),
    **dict.fromkeys(("rust", "rs"), "rust"),
    **dict.fromkeys(("go", "golang"), "go"),
    "java": "java",
    **dict.fromkeys(("javascript", "js", "node", "nodejs"), "javascript"),
}
_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*(?P<tag>[^\s`~]*)[^\n`]*$", re.MULTILINE)
_TAGS = re.compile(r"</?(?:answer|code|solution)>")
_CODE = re.compile(
    r"^\s*(?:def|class|import|from|for|while|if|with|try|print|async|@|#)\b|\w\s*=[^=]|\w\(|#include",
    re.MULTILINE,
)


class Program(NamedTuple):
    """A program, and the language that its fence names; "" if there is none."""

    source: str
    language: str


def find_program(text: str, language: str = "") -> Program | None:
    """Return the program of a completion; None if it has none.

    language: which one is wanted. Default: the last block of any known language

    >>> find_program("So:\\n```python\\nprint(1)\\n```\\nRun it:\\n```bash\\npython a.py\\n```")
    Program(source='print(1)\\n', language='python')
    >>> find_program("I cannot solve this.") is None
    True
    """
    body = text.rpartition("</think>")[2].partition("<think>")[0]
    blocks = _blocks(body)
    known = [(source, LANGUAGES[tag]) for tag, source in blocks if tag in LANGUAGES]
    if language:
        named = [(source, kind) for source, kind in known if kind == language]
        known = named or [(source, language) for tag, source in blocks if not tag]
    if known:
        source, kind = known[-1]
        tagged = next(tag for tag, block in reversed(blocks) if block is source)
        return Program(source, kind if tagged else "") if source.strip() else None
    if blocks:
        return None
    source = _TAGS.sub("", body).strip("\n")
    return Program(source, "") if source.strip() and _CODE.search(source) else None


def _blocks(text: str) -> list[tuple[str, str]]:
    """Return the tag and the content of each fenced block; the last may have no closing fence."""
    blocks: list[tuple[str, str]] = []
    mark, tag, start = "", "", 0
    for fence in _FENCE.finditer(text):
        found = fence["mark"]
        if not mark:
            mark, tag, start = found, fence["tag"].lower(), fence.end() + 1
        elif found.startswith(mark) and not fence["tag"]:
            blocks.append((tag, text[start : fence.start()]))
            mark = ""
        elif found.startswith(mark) and fence["tag"].lower() in LANGUAGES:
            # A block that was never closed, and another one begins.
            blocks.append((tag, text[start : fence.start()]))
            mark, tag, start = found, fence["tag"].lower(), fence.end() + 1
    if mark:
        blocks.append((tag, text[start:]))
    return blocks
