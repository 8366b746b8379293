"""Sentences, words, tokens, syllables, emoji and language of a text; the same every time.

Sentences and tokens are cut as nltk's English Punkt model and its word tokenizer cut them, since
that is what the references count; the rules are written out here and need no data.

The language is langdetect's guess with the seed 0, a dozen times as fast. langdetect draws n-grams
of a text at random until one of its 55 languages is all but certain, seven times, and adds up. What
it knows of the languages is read from its package, and the draws are the same, so that the guess
is; the arithmetic is numpy's.
"""

import json
import re
from array import array
from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import chain
from math import cos, log, pi, sin, sqrt
from pathlib import Path
from random import Random
from string import punctuation
from typing import Any, NamedTuple, TypeVar

import numpy as np

_SPACES_FOR_MARKS = {
    code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")
}
Key = TypeVar("Key")
Value = TypeVar("Value")
PUNCTUATION = str.maketrans("", "", punctuation)
STRIPPED = punctuation + " "
CLOSING_QUOTES = "\"'”’»)]*_"

# The abbreviations that Punkt's English model knows: what follows one is no new sentence, unless
# it is one of the words after it. It knows neither "e.g." nor "etc.".
_ABBREVIATIONS = frozenset(
    """c d e f g h k l m n p r s t v w a.a a.c a.d a.g a.h a.m a.s a.t adm ala ariz aug ave b.v
    bros c.v calif chg cie co col colo conn corp cos ct d.c d.h d.w dec dr e.f e.h e.l e.m f.g f.j
    feb fla fri ft g.d g.f g.k ga gen h.c h.f h.m ill inc j.b j.c j.j j.k j.p j.r jan jr kan ky l.a
    l.f l.p lt ltd m.b.a m.j maj messrs mg mich minn mr mrs ms n.c n.d n.h n.j n.m n.v n.y nev nov
    oct ok okla ore p.m pa ph.d prof r.a r.h r.i r.j r.k r.t rep reps s.a s.c s.g s.p.a s.s sen sep
    sept sr st sw t.j tenn tues u.k u.n u.s u.s.a u.s.s.r va vs vt w.c w.r w.va w.w wash wed wis
    yr""".split()
)
_SENTENCE_STARTERS = frozenset(
    """according although among both but despite even he however i if in indeed instead it many
    meanwhile moreover most nevertheless nonetheless nor separately similarly since so some the
    there these they this though thus under when while yet""".split()
)
_OPENING = "([{\"'`*#&@:;,-"
_ENDS = re.compile(r"[.?!](?=$|\s|[)\";}\]*:@'({\[!?])")
# Punkt cuts once in what has no plain white space in it: from the first mark to the white space.
_MARKED = re.compile(r"[.?!][^ \t\n\r\v\f]*")
_NEXT = re.compile(r"[ \t\n\r\v\f]*([^ \t\n\r\v\f]*)")
_HEADINGS = frozenset("abix")  # "A. Overview" is cut, "J. Smith" is not
_BEFORE_WORD = re.compile(r"[(\[{\"*:;,/?!]")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*")
_CLOSING = re.compile(r"[\"')\]}]+(?=\s|--|$)\s*")
_MOST_REMEMBERED = 50_000
_LONGEST = 40  # characters: around an end that is looked at, and of a word that is remembered
_MOST_SENTENCES = 10_000  # what follows is one more, so that a megabyte of periods takes no seconds


def sentences(text: str) -> list[str]:
    """Return the sentences of a text as Punkt cuts them: never at a mere line break.

    >>> sentences("Mr. Tan met her. (She left.) Why?")
    ['Mr. Tan met her.', '(She left.)', 'Why?']
    """
    found: list[str] = []
    start = 0
    for marked in _MARKED.finditer(text):
        if end := _sentence_end(text, *marked.span()):
            # Quotes and brackets that close belong to the sentence before them.
            closing = _CLOSING.match(text, end)
            stop = closing.end() if closing else end
            found.append(text[start:stop].strip())
            start = stop
            if len(found) == _MOST_SENTENCES:
                break
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def _sentence_end(text: str, first_mark: int, end: int) -> int:
    """Return where a sentence ends between a mark and the next white space, 0 if none does."""
    following = after = _NEXT.match(text, end)[1]  # type: ignore[index]
    last = end
    if not following or text[end - 1] not in ".?!":
        ends = [match.end() for match in _ENDS.finditer(text, first_mark, end)]
        last = next((one for one in reversed(ends) if following or one < end), 0)
        after = text[last : min(last + _LONGEST, end)].lstrip() or following
        if not last or not after:
            return 0
    before = text[max(0, last - 1 - _LONGEST) : last].split()[-1]
    return last if before[-1] != "." or _ends_at_period(before, after) else 0


def _ends_at_period(token: str, following: str) -> bool:
    if token.endswith(".."):
        return _starts_sentence(following)
    word = token[:-1].lstrip(_OPENING).lower()
    if not word.isalpha():
        word = _BEFORE_WORD.split(word)[-1]
    if not word:
        return True
    if len(word) == 1 and word.isalpha():
        if word in _ABBREVIATIONS or following[0].islower():
            return False
        is_initial = following[1:2] == "." or word not in _HEADINGS
        return not (following[0].isupper() and is_initial and not _starts_sentence(following))
    if word in _ABBREVIATIONS or word.rpartition("-")[2] in _ABBREVIATIONS:
        return _starts_sentence(following)
    return not (following[0].islower() and _NUMBER.fullmatch(word))


def _starts_sentence(token: str) -> bool:
    if not token[0].isupper():
        return False
    return re.split(r"[^\w-]", token, maxsplit=1)[0].lower() in _SENTENCE_STARTERS


class _Memory(dict[Key, Value]):
    """Remembers what a function returned; `functools.lru_cache` takes twice as long."""

    def __init__(self, function: Callable[[Key], Value]) -> None:
        self.function = function

    def __missing__(self, key: Key) -> Value:
        found = self.function(key)
        if not isinstance(key, str) or len(key) <= _LONGEST:  # others rarely come again
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[key] = found
        return found


def words(text: str) -> list[str]:
    """Return runs of letters, digits and underscores: "don't" is two words."""
    if text.isascii():  # three times as fast as a pattern
        return text.translate(_SPACES_FOR_MARKS).split()
    return re.findall(r"\w+", text)


_CLITICS = re.compile(r"(?<=[^' ])(?:'[sSmMdD]|'ll|'LL|'re|'RE|'ve|'VE|n't|N'T|')(?=\s|$)")
_COMPOUNDS = re.compile(
    r"(?i)\b(?:can(?=not\b)|gon(?=na\b)|wan(?=na\b)|got(?=ta\b)|gim(?=me\b)|lem(?=me\b))"
)
_MARKS = str.maketrans({mark: f" {mark} " for mark in ';@#$%&?!*()[]{}<>"«»“”‘’„‒–—―'})
_LONG_MARKS = re.compile(r"\.{2,}|--|''|``?|[:,](?!\d)")
_FINAL_PERIOD = re.compile(r"\.(?<=[^.]\.)(?=[\])}>\"'»”’ ]*$)")
_LONE_QUOTE = re.compile(r"(?<!\w)'(?=\w)(?!(?:re|ve|ll|m|t|s|d|n)\b)")


def tokens(text: str) -> list[str]:
    """Return words and marks as nltk's tokenizer cuts them: "don't" is "do" and "n't".

    >>> tokens("I don't know (yet).")
    ['I', 'do', "n't", 'know', '(', 'yet', ')', '.']
    """
    found: list[str] = []
    for sentence in sentences(text):
        its = _FINAL_PERIOD.sub(" . ", sentence).split()
        found += chain.from_iterable(map(_tokens_of_word.__getitem__, its))
    return found


@_Memory
def _tokens_of_word(word: str) -> list[str]:
    spaced = _LONG_MARKS.sub(r" \g<0> ", _LONE_QUOTE.sub("' ", word)).translate(_MARKS)
    if "'" in spaced:
        spaced = _CLITICS.sub(r" \g<0> ", spaced)
    return _COMPOUNDS.sub(r"\g<0> ", spaced).split()


def is_emoji(character: str) -> bool:
    """Whether a character is an emoji by itself."""
    return bool(package("emoji").is_emoji(character))


def syllables(word: str) -> int:
    """Return how many syllables an English word has."""
    return int(package("syllapy").count(word))


@cache
def package(name: str) -> Any:
    """Import a module of a package that comes with the extra `instructions`."""
    try:
        return import_module(name)
    except ImportError as error:
        needed = "pip install 'plaudit[instructions]'"
        missing = name.partition(".")[0]
        raise ImportError(f"this instruction needs the package {missing}: {needed}") from error


# --- the language ---------------------------------------------------------------------------------

_MOST = 100_000  # characters: langdetect reads 10,000, but looks for URLs in all
_MOST_READ = 10_000
_TRIALS = 7
_STEPS = 200  # of a trial, of five n-grams each
_STEPS_AT_ONCE = 20
_NUMBERS = 32_768  # seven trials draw 7,007 n-grams, and skip less than half of the numbers
_FEW_NUMBERS = 512  # enough for most texts
_CERTAIN = 0.99999
_SCALE = 2048.0  # of the frequencies, so that the product of 100 is neither 0 nor infinite
_SPACES = re.compile(" {2,}")
_LATIN = re.compile("[A-z]")
_BEYOND_LATIN = re.compile("[\u0300-\U0010ffff]")
Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[Any]]


class _Languages(NamedTuple):
    """What langdetect knows: the codes, and how likely each n-gram is in each language."""

    codes: list[str]
    rows: dict[str, int]
    frequencies: Floats
    normalized: _Memory[int, str]
    is_other_script: Callable[[str], bool]


def language_of(text: str) -> str | None:
    """Return the code of the language of a text, such as "en"; None if it has no letters."""
    known = _languages()
    rows = _rows_of(_cleaned(text[:_MOST], known), known)
    if not len(rows):
        return None
    draws = _Draws(rows)
    total = np.zeros(len(known.codes))
    for trial in range(_TRIALS):
        total += _chances(known.frequencies, draws) / _TRIALS
        if trial >= _TRIALS // 2:
            second, first = np.partition(total, -2)[-2:]
            if first - second > (_TRIALS - trial - 1) / _TRIALS:
                break  # no other can overtake it
    best = int(total.argmax())
    return known.codes[best] if total[best] > 0.1 else "unknown"


class _Draws:
    """What `Random(0)` draws of some rows, in the order of its calls: `gauss` and `choice`.

    It computes many draws at once, out of the numbers of 32 bits that are the same every time.
    """

    def __init__(self, rows: Integers) -> None:
        self.rows = rows
        self.taken = 0
        self.weights: list[float] = []
        self._compute(_FEW_NUMBERS)

    def _compute(self, count: int) -> None:
        numbers = _random_numbers()[:count] >> (32 - len(self.rows).bit_length())
        self.used = np.flatnonzero(numbers < len(self.rows))  # `choice` skips the others
        self.drawn = self.rows[numbers[self.used]]

    def next(self, count: int) -> Integers:
        """Return the next rows; `taken` says how many of them the caller takes."""
        if self.taken + count > len(self.drawn):
            self._compute(_NUMBERS)
        rows: Integers = self.drawn[self.taken : self.taken + count]
        return rows

    def weight(self) -> float:
        """Return the weight of a trial; `gauss` makes two of four numbers."""
        if not self.weights:
            start = int(self.used[self.taken - 1]) + 1 if self.taken else 0
            self.taken = int(self.used.searchsorted(start + 4))
            a, b, c, d = _random_numbers()[start : start + 4].tolist()
            angle, length = ((one >> 5 << 26) + (two >> 6) for one, two in ((a, b), (c, d)))
            radius = sqrt(-2 * log(1 - length / 2**53))
            self.weights = [turn(angle / 2**53 * 2 * pi) * radius for turn in (cos, sin)]
        return (0.5 + self.weights.pop(0) * 0.05) / 10_000 * _SCALE


@cache
def _random_numbers() -> Integers:
    drawn = Random(0).getrandbits(32 * _NUMBERS)
    return np.frombuffer(drawn.to_bytes(4 * _NUMBERS, "little"), np.dtype("<u4"))


def _chances(frequencies: Floats, draws: _Draws) -> Floats:
    """Return how likely each language is once one is all but certain, or a trial is over."""
    weight = draws.weight()
    chances: Floats = frequencies[draws.next(1)[0]] + weight
    draws.taken += 1
    for _ in range(0, _STEPS, _STEPS_AT_ONCE):
        rows = draws.next(5 * _STEPS_AT_ONCE).reshape(_STEPS_AT_ONCE, 5)
        likely = frequencies.take(rows.T, axis=0)
        likely += weight
        steps = np.multiply.reduce(likely, axis=0)
        steps[0] *= chances
        np.multiply.accumulate(steps, out=steps)
        sums = np.add.reduce(steps, axis=1)
        is_certain = np.maximum.reduce(steps, axis=1) > _CERTAIN * sums
        last = int(is_certain.argmax())
        is_over = bool(is_certain[last])
        last = last if is_over else _STEPS_AT_ONCE - 1
        draws.taken += 5 * last + 5
        chances = steps[last] / sums[last]
        if is_over:
            break
    return chances


def _cleaned(text: str, known: _Languages) -> str:
    """Leave out addresses, and Latin letters where most are of another script."""
    if "http" in text:
        text = package("langdetect.detector").Detector.URL_RE.sub(" ", text)
    if "@" in text:
        text = package("langdetect.detector").Detector.MAIL_RE.sub(" ", text)
    if not text.isascii():
        text = package("langdetect.utils.ngram").NGram.normalize_vi(text)
    text = text[:_MOST_READ]
    if "  " in text:
        text = _SPACES.sub(" ", text)
    if not text.isascii():
        latin = len(_LATIN.findall(text))
        beyond = _BEYOND_LATIN.findall(text)
        if latin * 2 < len(beyond) and latin * 2 < sum(map(known.is_other_script, beyond)):
            return _LATIN.sub("", text)
    return text


def _rows_of(text: str, known: _Languages) -> Integers:
    """Return the n-grams of a text that occur in some language, as rows of the frequencies."""
    *words, last = text.translate(known.normalized).split(" ")
    found = b"".join(map(_rows_of_word.__getitem__, words)) + _rows_within(f" {last}")
    return np.frombuffer(found, np.intc)


@_Memory
def _rows_of_word(word: str) -> bytes:
    return _rows_within(f" {word} ") if word else b""


def _rows_within(padded: str) -> bytes:
    """Return the n-grams of a word, and of the spaces around it.

    Those within capitals do not count, from the second letter on.
    """
    get = _languages().rows.get
    found = array("i")
    in_capitals = False
    for end in range(2, len(padded) + 1):
        is_upper = padded[end - 1].isupper()
        in_capitals = is_upper and (in_capitals or padded[end - 2].isupper())
        if not in_capitals:
            grams = (padded[max(0, start) : end] for start in range(end - 1, max(end - 4, -1), -1))
            found.extend(row for row in map(get, grams) if row is not None)
    return found.tobytes()


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
        frequencies.reshape(-1, 64)[:, : len(codes)] * _SCALE,
        _Memory(lambda code: str(package("langdetect.utils.ngram").NGram.normalize(chr(code)))),
        cache(lambda one: blocks.unicode_block(one) != "Latin Extended Additional"),
    )
