"""Exact match and token F1, as benchmarks of question answering compute them."""

import re
import string
from collections import Counter

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normal_text(text: str) -> str:
    """The text in lower case, without punctuation, articles and extra white space.

    >>> normal_text("The  Eiffel Tower!")
    'eiffel tower'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def same_normal_text(answer: str, gold: str) -> bool:
    """Whether both are the same in normal form.

    >>> same_normal_text("the Eiffel tower", "Eiffel Tower.")
    True
    """
    return normal_text(answer) == normal_text(gold)


def shared_tokens(answer: str, gold: str) -> float:
    """The harmonic mean of how much of each is in the other, in tokens of the normal form.

    >>> shared_tokens("the tall Eiffel tower", "Eiffel Tower")
    0.8
    """
    mine, yours = normal_text(gold).split(), normal_text(answer).split()
    if not mine or not yours:
        return float(mine == yours)
    shared = (Counter(mine) & Counter(yours)).total()
    return 2 * shared / (len(mine) + len(yours))
