"""The languages in which answers are announced, affirmed and denied, besides English.

Each is a file in `languages/`: lists of phrases, and the words for numbers.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def languages() -> dict[str, dict[str, Any]]:
    """Return the data of each language by its code."""
    folder = files("plaudit.answers") / "languages"
    return {
        file.name.removesuffix(".toml"): tomllib.loads(file.read_text("utf-8"))
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".toml")
    }


@cache
def phrases(kind: str) -> tuple[str, ...]:
    """Return the phrases of a kind in every language, such as "yes", the longest first."""
    found = {phrase for data in languages().values() for phrase in data[kind]}
    return tuple(sorted(found, key=lambda phrase: (-len(phrase), phrase)))


@cache
def pattern(kind: str) -> re.Pattern[str]:
    """Return a pattern of the phrases of a kind; those of letters with spaces are whole words."""
    return re.compile("|".join(map(_bounded, phrases(kind))), re.IGNORECASE)


def _bounded(phrase: str) -> str:
    # Chinese, Japanese and Korean have no spaces between words.
    if re.search(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", phrase):
        return re.escape(phrase)
    start, end = (r"(?<!\w)", r"(?!\w)") if phrase[-1].isalpha() else (r"(?<!\w)", "")
    return f"{start}{re.escape(phrase)}{end}"


@cache
def number_words() -> dict[str, int]:
    """Return the words for numbers of every language that mean one number only."""
    found: dict[str, int] = {}
    unclear: set[str] = set()
    for data in languages().values():
        for word, number in data["numbers"].items():
            if found.setdefault(word, number) != number:
                unclear.add(word)
    return {word: number for word, number in found.items() if word not in unclear}
