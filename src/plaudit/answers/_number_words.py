"""Numbers in words, and with the separators of other countries, as digits.

twenty-three            23
two and a half million  2500000
three quarters          3/4
12,34,567               1234567
21.499,50               21499.50
"""

import re
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

from plaudit.answers._languages import chinese_number, number_words, words_in
from plaudit.answers._tokens import NUMBER_WORDS, PARTS, SCALES

LONGEST = 6000  # characters that are read
_WORD = re.compile(
    r"[^\W\d_]++|(?<![\d.,])[0-9]{1,30}(?:,[0-9]{3}(?![0-9]))*+(?:\.[0-9]{1,30})?(?!\d)"
)
_DIGIT = re.compile(r"\d")
_FIGURES = frozenset("0123456789")
_ARTICLES = ("a", "an")
_SIGNS = ("minus", "negative")
_LARGE = ("thousand", "million", "billion", "trillion")
# "no one", "the one that", "one more than" count nothing.
_NOT_BEFORE_ONE = frozenset("no the this that each every any which some other another".split())
_NOT_AFTER_ONE = frozenset("more another who that which is was or".split())
# Words that are numbers in another language only.
_ENGLISH = frozenset(
    "once elf due cent set mil null um sei tre dos mille six dix cinquanta".split()
)
# Small words of other languages: they join numbers, and show that a text is not English.
_JOINERS = frozenset(
    "et y e und и il la le les es el los sono è ci son hay une una di der die".split()
)
_COUNTED = {"twice": "2 times", "thrice": "3 times"}
# One numeral alone is often a part of a word: 一共 is "in all".
_HAN_DIGIT = "零〇一二两三四五六七八九十百千万亿億"
_HAN = re.compile(
    f"[{_HAN_DIGIT}]{{2,}}+|(?:^|(?<=[是为為有得：:\\s]))[{_HAN_DIGIT}](?=$|[个個人只元公米岁歳本天次年名つ枚円。\\s])"
)
# Only what can be read in one way: 1.234 and 3,5 are left as they are.
_SEPARATED = (
    (re.compile(r"(?<![\d.,'’_])\d{1,3}(?:['’_]\d{3})++(?![\d'’_])"), "'’_", ""),
    (re.compile(r"(?<![\d.,])\d{1,2}(?:,\d{2}(?=,))++,\d{3}(?!\d|,\d)"), ",", ""),
    (re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}+(?![\d.,])"), ".", ""),
    (re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})++,\d{1,2}(?![\d.,])"), ".", ","),
    (re.compile(r"(?<![\d.,(\[{])(?:0|\d{4,}+),\d{1,9}(?![\d.,)\]}]|\s*+,)"), "", ","),
)
_SHORT_SCALE = re.compile(r"(?<=\d)\s?(?:(k)|(m|mn|mio)|(bn|b))(?![\w/.²³])", re.IGNORECASE)
_PRICE = re.compile(r"[$€£¥₹]\s?\d++(?:,\d{3})*+(?:\.\d++)?\s?(?:k|m|mn|mio|bn|b)(?![\w/])", re.I)


class _Number(NamedTuple):
    """A number in words, and how many words it takes."""

    value: Fraction
    words: int


@lru_cache(maxsize=4096)
def in_digits(text: str) -> str:
    """Return a text with its number words as digits, and its digits as English groups them.

    >>> in_digits("Fifteen hundred coins, two and a half litres, 0,75 and one eighth")
    '1500 coins, 2.5 litres, 0.75 and 1/8'
    """
    return _words_in_digits(plain_separators(text[-LONGEST:]))


def plain_separators(text: str) -> str:
    """Return a text whose numbers have no separators but a decimal point.

    >>> plain_separators("CHF 1'250.00, 12,34,567, 21.499,50")
    'CHF 1250.00, 1234567, 21499.50'
    """
    if not _DIGIT.search(text):
        return text
    for pattern, gone, point in _SEPARATED:
        if any(sign in text for sign in gone or point):
            text = pattern.sub(partial(_plain, gone=gone, point=point), text)
    return _PRICE.sub(_with_scale, text)


def _plain(found: re.Match[str], gone: str, point: str) -> str:
    digits = found[0]
    for sign in gone:
        digits = digits.replace(sign, "")
    return digits.replace(point, ".") if point else digits


def _with_scale(price: re.Match[str]) -> str:
    """A price such as $4.5M in full."""
    found = _SHORT_SCALE.search(price[0])
    assert found is not None
    scale = 10**3 if found[1] else 10**6 if found[2] else 10**9
    head = price[0][: found.start()]
    value = Fraction(re.sub(r"[^\d.]", "", head)) * scale
    return head[0] + written(value)


def written(value: Fraction) -> str:
    """Return a number as digits, with a decimal point if it ends, else as a fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    for places in range(1, 4):
        shifted = value * 10**places
        if shifted.denominator == 1:
            whole, rest = divmod(abs(shifted.numerator), 10**places)
            return f"{'-' if value < 0 else ''}{whole}.{rest:0{places}}"
    return f"{value.numerator}/{value.denominator}"


def _words_in_digits(text: str) -> str:
    found = list(_WORD.finditer(text))
    words = [one[0].lower() for one in found]
    known = number_words()
    if not any(
        word in _STARTS or word in known or (word[0] in _FIGURES and _may_start(words, at))
        for at, word in enumerate(words)
    ):
        return text if text.isascii() else _HAN.sub(_chinese, text)
    pieces: list[str] = []
    end = at = 0
    while at < len(words):
        number = _number_at(words, at) if _may_start(words, at) else None
        if number is None or (number.words == 1 and words[at][0] in _FIGURES):
            at += 1
            continue
        last = at + number.words - 1
        if not _joined(text, found[at : last + 1]):
            at += 1
            continue
        pieces += [text[end : found[at].start()], _shown(words[at : last + 1], number.value)]
        end = found[last].end()
        at = last + 1
    text = "".join(pieces) + text[end:]
    return text if text.isascii() else _HAN.sub(_chinese, text)


def _chinese(found: re.Match[str]) -> str:
    value = chinese_number(found[0])
    return found[0] if value is None else str(value)


def _shown(words: list[str], value: Fraction) -> str:
    if words[0] in _COUNTED:
        return _COUNTED[words[0]]
    # "one eighth" stays a fraction, "two and a half" has a point.
    is_part = words[-1].removesuffix("s") in PARTS and "and" not in words
    return f"{value.numerator}/{value.denominator}" if is_part else written(value)


_STARTS = frozenset([*NUMBER_WORDS, *SCALES, *_SIGNS, *_ARTICLES, *_COUNTED, "half", "quarter"])


_AFTER_FIGURES = frozenset([*SCALES, *PARTS, *(f"{part}s" for part in PARTS), "and"])


def _may_start(words: list[str], at: int) -> bool:
    word = words[at]
    if word[0] in _FIGURES:
        return at + 1 < len(words) and words[at + 1] in _AFTER_FIGURES
    return word in _STARTS or word in number_words()


def _joined(text: str, found: list[re.Match[str]]) -> bool:
    """Whether only spaces and hyphens are between the words."""
    return all(
        text[one.end() : other.start()].strip(" -\n\u2011") == "" for one, other in pairwise(found)
    )


def _number_at(words: list[str], at: int) -> _Number | None:
    word = words[at]
    if word in _COUNTED:
        return _Number(Fraction(_COUNTED[word][0]), 1)
    if word in _SIGNS:
        inner = _number_at(words, at + 1) if at + 1 < len(words) else None
        return inner and _Number(-inner.value, inner.words + 1)
    if word == "one" and _is_pronoun(words, at):
        return None
    part = _part_of_scale(words, at)
    if part is not None:
        return part
    count = _count(words, at)
    return _of_language(words, at) if count is None else _with_half(words, at, count)


def _of_language(words: list[str], at: int) -> _Number | None:
    """A number of another language: "vingt-quatre", "treinta y cinco"."""
    known = number_words()
    value = known.get(words[at])
    if value is None or (words[at] in _ENGLISH and not _JOINERS & {*words}):
        return None
    used = 1
    if value == 4 and words[at + 1 : at + 2] in (["vingt"], ["vingts"]):
        value, used = 80, 2  # quatre-vingts
    if value % 10 == 0 and 20 <= value <= 90:
        joiner = words[at + used : at + used + 1]
        skipped = used + (bool(joiner) and joiner[0] in _JOINERS)
        unit = known.get(words[at + skipped]) if at + skipped < len(words) else None
        most = 19 if value in (60, 80) else 9  # soixante-dix
        if unit is not None and 0 < unit <= most:
            teen = known.get(words[at + skipped + 1], 0) if at + skipped + 1 < len(words) else 0
            if unit == 10 and 7 <= teen <= 9:  # dix-sept
                return _Number(Fraction(value + unit + teen), skipped + 2)
            return _Number(Fraction(value + unit), skipped + 1)
    return _Number(Fraction(value), used)


def _is_pronoun(words: list[str], at: int) -> bool:
    before = words[at - 1] if at else ""
    after = words[at + 1] if at + 1 < len(words) else ""
    return before in _NOT_BEFORE_ONE or after in _NOT_AFTER_ONE


def _part_of_scale(words: list[str], at: int) -> _Number | None:
    """A part of something large: "half a dozen", "a quarter of a million", "half a minute"."""
    rest = words[at : at + 6]
    if at and words[at - 1] == "and":
        return None  # an hour and a half
    added = 1 if rest[0] == "half" else 0
    if added:
        rest = ["one", *rest]
    elif rest[0] in _ARTICLES:
        rest = ["one", *rest[1:]]
    count = NUMBER_WORDS.get(rest[0])
    divisor = PARTS.get(rest[1].removesuffix("s")) if len(rest) > 1 else None
    if count is None or divisor is None:
        return None
    value = Fraction(count, divisor)
    of = 2 + (rest[2:3] == ["of"])
    used = of + (rest[of : of + 1] in (["a"], ["an"]))
    if rest[used : used + 1] and rest[used] in SCALES:
        return _Number(value * SCALES[rest[used]], used + 1 - added)
    if rest[1] == "half" and used == of + 1:
        return _Number(value, used - added)  # half a minute, half of an hour
    if used > of > 2:
        return _Number(value, used - added)  # a quarter of a litre
    if not added and (len(rest) == 2 or rest[2] == "of") and rest[1] not in ("second", "seconds"):
        return _Number(value, 2)  # a quarter, two thirds of it
    return None


def _count(words: list[str], at: int) -> _Number | None:
    """The whole number that the words from `at` on spell, as far as they do."""
    rest = words[at : at + 12]
    if rest[0] in _ARTICLES:
        return _count(["one", *rest[1:]], 0) if rest[1:2] and rest[1] in SCALES else None
    best: _Number | None = None
    total, group = Fraction(0), Fraction(0)
    # Each part is of a smaller kind than the one before it: twenty, then one.
    below, smallest = 10**15, 10**9
    for index, word in enumerate(rest):
        if word == "and" and best is not None and best.words == index:
            continue
        if word[0] in _FIGURES:
            value = Fraction(word.replace(",", ""))
            if group or value >= below:
                break
            group, smallest = value, 0
        elif word == "hundred" and 0 < group < 100:
            group, smallest = group * 100, 100
        elif word in _LARGE and group and SCALES[word] < below:
            total, below = total + group * SCALES[word], SCALES[word]
            group, smallest = Fraction(0), 10**9
        elif word == "dozen" and group and not total:
            return _Number(group * 12, index + 1)
        elif word in NUMBER_WORDS and NUMBER_WORDS[word] < smallest:
            group += NUMBER_WORDS[word]
            smallest = 10 if NUMBER_WORDS[word] >= 20 else 0
        else:
            break
        best = _Number(total + group, index + 1)
    return best


def _with_half(words: list[str], at: int, count: _Number) -> _Number:
    """A count with what follows it: thirds, "and a half", a scale."""
    end = at + count.words
    if words[end : end + 1] and (divisor := PARTS.get(words[end].removesuffix("s"))):
        return _Number(count.value / divisor, count.words + 1)
    rest = words[end : end + 4]
    if count.value.denominator > 1 or len(rest) < 3 or rest[0] != "and":
        return count
    parts = 1 if rest[1] in _ARTICLES else NUMBER_WORDS.get(rest[1], 0)
    divisor = PARTS.get(rest[2].removesuffix("s"))
    if not parts or not divisor:
        return count
    scale = SCALES.get(rest[3], 0) if len(rest) > 3 else 0
    # "a million and a half" is 1.5 million.
    value = count.value + Fraction(parts, divisor) * SCALES.get(words[end - 1], 1)
    return _Number(value * (scale or 1), count.words + 3 + bool(scale))


def count_in_words(words: list[str]) -> int | None:
    """Return the whole number that words spell, such as "twenty" and "three"; else None."""
    if not words or words[0] in _ARTICLES or any(word[0] in _FIGURES for word in words):
        return None
    found = _count(words, 0)
    return int(found.value) if found is not None and found.words == len(words) else None


# -- Ordinals

_UNITS = "first second third fourth fifth sixth seventh eighth ninth".split()
_TEENS = "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = {word: value for value, word in enumerate([*_UNITS, *_TEENS.split(), "nineteenth"], 1)}
ORDINALS |= {f"{tens[:-1]}ieth": 10 * value for value, tens in enumerate(_TENS, 2)}
ORDINALS |= {"hundredth": 100, "thousandth": 1000, "millionth": 10**6}
_COMPOUND = re.compile(rf"\b({'|'.join(_TENS)})[- ]({'|'.join(_UNITS)})\b", re.IGNORECASE)
_ORDINAL = re.compile(
    rf"\b(?:{'|'.join(sorted(ORDINALS, key=len, reverse=True))})\b", re.IGNORECASE
)


def ordinals_in_digits(text: str) -> str:
    """Return a text with its ordinals in digits.

    >>> ordinals_in_digits("the twenty-first century")
    'the 21st century'
    """
    if words_in(text).isdisjoint(ORDINALS):
        return text
    text = _COMPOUND.sub(
        lambda found: _ordinal(NUMBER_WORDS[found[1].lower()] + ORDINALS[found[2].lower()]), text
    )
    return _ORDINAL.sub(lambda found: _ordinal(ORDINALS[found[0].lower()]), text)


def _ordinal(value: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{'th' if value % 100 in (11, 12, 13) else ending}"
