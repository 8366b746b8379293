"""Answers in words that stand for a formula: "no solution", "all real numbers", "twenty-one"."""

import re

from plaudit.answers._tree import EMPTY, INFINITY, CannotReadError, Node, number
from plaudit.answers._vocabulary import NUMBER_WORDS

_REALS = Node("numbers", (), "R")
_SAID: dict[str, Node] = {
    "infinitely many": INFINITY,
    "infinite": INFINITY,
    "infinity": INFINITY,
    "infinitely many solutions": INFINITY,
    "all real numbers": _REALS,
    "all reals": _REALS,
    "real numbers": _REALS,
    "the real numbers": _REALS,
    "any real number": _REALS,
    "the set of all real numbers": _REALS,
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


def said_in_words(text: str) -> Node | None:
    """What a text in words stands for; None where it is no such text.

    >>> said_in_words("No solution.").op, said_in_words("x+1")
    ('empty', None)
    """
    if _ONE_WORD.fullmatch(text):
        raise CannotReadError("a word")
    words = re.sub(r"\\text\s*|[{}.]", " ", text).lower()
    if _SIGN.search(words) or any(c.isdigit() for c in words):
        return None
    words = " ".join(_PLAIN_WORDS.sub(" ", words).split())
    if words in NUMBER_WORDS:
        return number(NUMBER_WORDS[words])
    first, _, second = words.partition(" ")
    if first in NUMBER_WORDS and second in NUMBER_WORDS and NUMBER_WORDS[first] >= 20:
        return number(NUMBER_WORDS[first] + NUMBER_WORDS[second])
    return _SAID.get(words)
