"""The language of a text: langdetect's guess with the seed 0, ten times as fast.

langdetect draws n-grams of a text at random until one of its 55 languages is all but certain, seven
times, and adds up. What it knows of the languages is read from its package, and the draws are the
same, so that the guess is; the arithmetic is numpy's.
"""

import json
import re
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from plaudit.rewards.instructions._text import package

_MOST = 100_000  # characters: langdetect reads 10,000, but looks for URLs in all
_MOST_READ = 10_000
_TRIALS = 7
_STEPS = 1000
_CERTAIN = 0.99999
_SPACES = re.compile(" {2,}")
_LATIN = re.compile("[A-z]")


class _Languages(NamedTuple):
    """What langdetect knows: the codes, and how likely each n-gram is in each language."""

    codes: list[str]
    rows: dict[str, int]
    frequencies: "np.ndarray[Any, np.dtype[np.float64]]"
    normalize: Callable[[str], str]
    is_other_script: Callable[[str], bool]


def language_of(text: str) -> str | None:
    """Return the code of the language of a text, such as "en"; None if it has no letters."""
    known = _languages()
    rows = _rows_of(_cleaned(text[:_MOST], known), known)
    if not rows:
        return None
    random = Random(0)
    total = np.zeros(len(known.codes))
    for trial in range(_TRIALS):
        weight = (0.5 + random.gauss(0.0, 1.0) * 0.05) / 10_000
        chances = np.full(len(known.codes), 1 / len(known.codes))
        drawn = 1
        for step in range(0, _STEPS + 1, 5):
            picked = [random.choice(rows) for _ in range(drawn)]
            chances *= np.multiply.reduce(known.frequencies[picked] + weight, axis=0)
            chances /= chances.sum()
            if chances.max() > _CERTAIN or step == _STEPS:
                break
            drawn = 5
        total += chances / _TRIALS
        *_, second, first = np.sort(total)
        if first - second > (_TRIALS - trial - 1) / _TRIALS:
            break  # no other can overtake it
    best = int(total.argmax())
    return known.codes[best] if total[best] > 0.1 else "unknown"


def _cleaned(text: str, known: _Languages) -> str:
    """Leave out addresses, and Latin letters where most are of another script."""
    detector, ngram = (
        package("langdetect.detector").Detector,
        package("langdetect.utils.ngram").NGram,
    )
    text = ngram.normalize_vi(detector.MAIL_RE.sub(" ", detector.URL_RE.sub(" ", text)))
    text = _SPACES.sub(" ", text[:_MOST_READ])
    if not text.isascii():
        others = sum(map(known.is_other_script, text))
        if len(_LATIN.findall(text)) * 2 < others:
            return _LATIN.sub("", text)
    return text


def _rows_of(text: str, known: _Languages) -> list[int]:
    """Return the n-grams of a text that occur in some language, as rows of the frequencies."""
    *words, last = "".join(map(known.normalize, text)).split(" ")
    found: list[int] = []
    for word in words:
        if word:
            found += _rows_of_word(f"{word} ")
    return found + _rows_of_word(last)


@lru_cache(50_000)
def _rows_of_word(word: str) -> list[int]:
    """Return the n-grams of a word, and of the spaces around it.

    Those within capitals do not count, from the second letter on.
    """
    get = _languages().rows.get
    padded = f" {word}"
    found = []
    in_capitals = False
    for end in range(2, len(padded) + 1):
        is_upper = padded[end - 1].isupper()
        in_capitals = is_upper and (in_capitals or padded[end - 2].isupper())
        if not in_capitals:
            grams = (padded[max(0, start) : end] for start in range(end - 1, max(end - 4, -1), -1))
            found += [row for row in map(get, grams) if row is not None]
    return found


@cache
def _languages() -> _Languages:
    factory = package("langdetect.detector_factory")
    blocks = package("langdetect.utils.unicode_block")
    codes: list[str] = []
    rows: dict[str, int] = {}
    where: list[int] = []
    values: list[float] = []
    for path in sorted(Path(factory.PROFILES_DIRECTORY).iterdir()):
        profile = json.loads(path.read_text(encoding="utf-8"))
        counts = profile["n_words"]
        for gram, count in profile["freq"].items():
            if 1 <= len(gram) <= 3 and gram != " ":
                where.append(rows.setdefault(gram, len(rows)) * 64 + len(codes))
                values.append(count / counts[len(gram) - 1])
        codes.append(profile["name"])
    frequencies = np.zeros(len(rows) * 64)
    frequencies[where] = values
    return _Languages(
        codes,
        rows,
        np.ascontiguousarray(frequencies.reshape(-1, 64)[:, : len(codes)]),
        cache(package("langdetect.utils.ngram").NGram.normalize),
        cache(
            lambda one: one >= "\u0300" and blocks.unicode_block(one) != "Latin Extended Additional"
        ),
    )
