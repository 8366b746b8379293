"""The languages in which answers are announced, affirmed and denied, besides English.

Each is a file in `languages/`: lists of phrases, and the words for numbers.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

# Chinese, Japanese and Korean have no spaces between words.
_NO_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


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
    if _NO_SPACES.search(phrase):
        return re.escape(phrase)
    start, end = (r"(?<!\w)", r"(?!\w)") if phrase[-1].isalpha() else (r"(?<!\w)", "")
    return f"{start}{re.escape(phrase)}{end}"


_RUN = re.compile(r"\w++")


def may_have(kind: str, text: str) -> bool:
    """Whether a text may have a phrase of a kind: it has the longest word of one.

    To look for every phrase takes long, and most texts have no word of any.
    """
    spaced, unspaced = _keys(kind)
    if not spaced.isdisjoint(words_in(text)):
        return True
    return not text.isascii() and any(phrase in text for phrase in unspaced)


@cache
def _keys(kind: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The longest word of each phrase of a kind, and the phrases without spaces."""
    unspaced = tuple(phrase for phrase in phrases(kind) if _NO_SPACES.search(phrase))
    spaced = [_RUN.findall(phrase.lower()) for phrase in phrases(kind) if phrase not in unspaced]
    return frozenset(max(words, key=len) for words in spaced), unspaced


@lru_cache(maxsize=512)
def words_in(text: str) -> frozenset[str]:
    """Return the words of a text in lower case."""
    return frozenset(_RUN.findall(text.lower()))


def find(kind: str, text: str) -> re.Match[str] | None:
    """Return the first phrase of a kind in a text; None if it has none."""
    return pattern(kind).search(text) if may_have(kind, text) else None


def find_all(kind: str, text: str, start: int = 0) -> Iterator[re.Match[str]]:
    """The phrases of a kind in a text, from a position on."""
    return pattern(kind).finditer(text, start) if may_have(kind, text) else iter(())


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


@cache
def unit_words() -> dict[str, str]:
    """Return the units of every language, each with its English word or sign."""
    return {word: unit for data in languages().values() for word, unit in data["units"].items()}


_LETTERS = re.compile(r"[^\W\d_]++")


@cache
def _unit_pattern() -> re.Pattern[str]:
    words = sorted(unit_words(), key=lambda word: (-len(word), word))
    spaced = [re.escape(word) for word in words if not _NO_SPACES.search(word)]
    unspaced = [re.escape(word) for word in words if _NO_SPACES.search(word)]
    return re.compile(rf"(?<=\d)\s?(?:({'|'.join(unspaced)})|({'|'.join(spaced)})(?!\w))")


def english_units(text: str) -> str:
    """Return a text whose units after numbers are English.

    >>> english_units("他一共走了2.4公里。")
    '他一共走了2.4 km。'
    """
    if text.isascii() and unit_words().keys().isdisjoint(_LETTERS.findall(text)):
        return text
    return _unit_pattern().sub(lambda unit: f" {unit_words()[unit[1] or unit[2]]}", text)


_HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
_HAN_TENS = {"十": 10, "百": 100, "千": 1000}
_HAN_SCALES = {"万": 10**4, "亿": 10**8, "億": 10**8}


def chinese_number(text: str) -> int | None:
    """Return the number that Chinese or Japanese numerals spell; None if they spell none.

    >>> chinese_number("一百零五"), chinese_number("三万二千")
    (105, 32000)
    """
    total = group = digit = 0
    for sign in text[:20]:
        if sign in _HAN_DIGITS:
            if digit:
                return None
            digit = _HAN_DIGITS[sign]
        elif sign in _HAN_TENS:
            group, digit = group + (digit or 1) * _HAN_TENS[sign], 0
        else:
            total, group, digit = (total + group + digit) * _HAN_SCALES[sign], 0, 0
    return total + group + digit
