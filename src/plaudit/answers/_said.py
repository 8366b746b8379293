"""Answers in words that stand for a formula: "no solution", "all real numbers", "twenty-one"."""

import re
from fractions import Fraction

from plaudit.answers._tree import EMPTY, INFINITY, CannotReadError, Node, number
from plaudit.answers._vocabulary import NUMBER_WORDS, PARTS, SCALES

REALS = Node("numbers", (), "R")
_SAID: dict[str, Node] = {
    "infinitely many": INFINITY,
    "infinite": INFINITY,
    "infinity": INFINITY,
    "infinitely many solutions": INFINITY,
    "all real numbers": REALS,
    "all reals": REALS,
    "real numbers": REALS,
    "the real numbers": REALS,
    "any real number": REALS,
    "the set of all real numbers": REALS,
    "all positive real numbers": Node("numbers", (), "R+"),
    "all integers": Node("numbers", (), "Z"),
    "all positive integers": Node("numbers", (), "N"),
} | dict.fromkeys(
    (
        "none|dne|no solution|no solutions|no real solution|no real solutions|no integer solutions"
        "|empty set|the empty set|null set|no answer|no value|no values|does not exist"
        "|no such number|no such numbers|no such integer|no such integers|there is no solution"
        "|there are no solutions|there is no such number"
    ).split("|"),
    EMPTY,
)
_ONE_WORD = re.compile(r"[A-Z][a-z]{2}|odd|red|yes|sum|tie|cat|dog|sun")
_SIGN = re.compile(r"[\\+=<>^_/*|]|(?<![a-z])-")
_PLAIN_WORDS = re.compile(r"[^a-z ]++")


_LEFT_OUT = re.compile(
    r"(?:(?:the set of )?all real(?: number)?s?|any real number)(?: x)?,?\s++"
    r"(?:except(?: for)?|but|other than|apart from|excluding)\s++(.++)",
    re.IGNORECASE,
)
_TEXT = re.compile(r"\\text\s*+\{([^{}]*+)\}")
_MINUS = ("negative ", "minus ")


def left_out_of_reals(text: str) -> str | None:
    """What "all real numbers except 1 and 2" leaves out; None where the text says something else.

    >>> left_out_of_reals("all real numbers except 1")
    '1'
    """
    found = _LEFT_OUT.match(" ".join(_TEXT.sub(r"\1", text).replace("$", "").split()))
    return found[1] if found else None


def said_in_words(text: str) -> Node | None:
    """The formula that a text in words stands for; None where it stands for none.

    >>> said_in_words("No solution.").op, said_in_words("x+1")
    ('empty', None)
    """
    if _ONE_WORD.fullmatch(text):
        raise CannotReadError("a word")
    words = re.sub(r"\\text\s*|[{}.]", " ", text).lower()
    if _SIGN.search(words) or any(c.isdigit() for c in words):
        return None
    words = " ".join(_PLAIN_WORDS.sub(" ", words).split())
    value = _number_in_words(words)
    return _SAID.get(words) if value is None else number(value)


def _number_in_words(words: str) -> Fraction | None:
    """The number that words spell: "negative four", "two thirds", "three hundred and five"."""
    if words.startswith(_MINUS):
        below = _number_in_words(words.partition(" ")[2])
        return None if below is None else -below
    *whole, last = words.split() or [""]
    if whole and last.removesuffix("s") in PARTS:
        count = _count_in_words(whole)
        return None if count is None else Fraction(count, PARTS[last.removesuffix("s")])
    count = _count_in_words(words.split())
    return None if count is None else Fraction(count)


def _count_in_words(words: list[str]) -> int | None:
    total, group = 0, 0
    smallest = 10**9  # each part is of a smaller kind than the one before it: twenty, then one
    for place, word in enumerate(words):
        value = NUMBER_WORDS.get(word)
        if word == "and" and 0 < place < len(words) - 1:
            continue
        if word == "hundred" and 0 < group < 10:
            group, smallest = group * 100, 100
        elif word in ("thousand", "million") and group and not total % SCALES[word]:
            total, group, smallest = total + group * SCALES[word], 0, 10**9
        elif value is None or value >= smallest:
            return None
        else:
            group += value
            smallest = 10 if value >= 20 else 0
    return total + group if words else None
