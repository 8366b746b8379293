"""Exact match and token F1, as benchmarks of question answering compute them."""

import re
import string
from collections import Counter

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normal_text(text: str) -> str:
    """The text in lower case, without punctuation, articles and extra white space.

    A text that is nothing but an article keeps it: the option A is not the same as no answer.

    >>> normal_text("The  Eiffel Tower!"), normal_text("A.")
    ('eiffel tower', 'a')
    """
    plain = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", plain).split() or plain.split())


def same_normal_text(answer: str, gold: str) -> bool:
    """Whether both are the same in normal form; as they stand, where a gold has no words in it.

    >>> same_normal_text("the Eiffel tower", "Eiffel Tower."), same_normal_text("", "?")
    (True, False)
    """
    mine = normal_text(gold)
    return mine == normal_text(answer) if mine else gold.strip() == answer.strip()


def shared_tokens(answer: str, gold: str) -> float:
    """The F1 of the tokens of both in normal form: 0.0 where they share none, 1.0 where all.

    >>> shared_tokens("the tall Eiffel tower", "Eiffel Tower")
    0.8
    """
    mine, yours = normal_text(gold).split(), normal_text(answer).split()
    if not mine or not yours:
        return float(same_normal_text(answer, gold))
    shared = (Counter(mine) & Counter(yours)).total()
    return 2 * shared / (len(mine) + len(yours))
