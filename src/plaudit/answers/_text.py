"""Answers that are words: letter case, articles, punctuation, accents and spaces aside."""

import re
import unicodedata

from plaudit.answers._vocabulary import NUMBER_WORDS

_ARTICLES = frozenset(["a", "an", "the"])
_LATEX = re.compile(
    r"\\(?:text|mathrm|mathbf|textbf|textit|operatorname)(?![a-z])\s*+|\\[,;:! ]|[{}$~]|\\(?=[a-z])"
)
_POINT = re.compile(r"(?<=\d)[.,](?=\d)")
_MINUS = re.compile(r"(?<![\w)}])-\s?(?=\d)")
_FORMULA = re.compile(r"[\^=<>+*/|]")
_INDEX = re.compile(r"_\{?(\d++)\}?")  # H_2O
_DOTS = re.compile(r"(?<=\b[a-z])\.(?=[a-z]\b)")
_NO_WORD = re.compile(r"[^\w\s]++|_")
_NUMBER = {word: str(value) for word, value in NUMBER_WORDS.items()}
_LISTED = re.compile(r",?\s++(?:and|&)\s++|[,;]", re.IGNORECASE)
_FILLING = re.compile(
    r"^(?:so|thus|hence|therefore|well|it is|it's|that is|this is|they are|it was|answer"
    r"|final answer)\b[\s,:]*+"
)


def words_of(text: str) -> list[str]:
    r"""The words of a text as they are compared.

    >>> words_of(r"\text{The São Paulo}."), words_of("U.S.A.")
    (['sao', 'paulo'], ['usa'])
    """
    text = _LATEX.sub(" ", _INDEX.sub(r"\1", text))
    text = unicodedata.normalize("NFKD", text).lower()
    text = "".join(c for c in text if not unicodedata.combining(c))
    text = _MINUS.sub("minus ", _POINT.sub("point", text))
    text = _DOTS.sub("", text.replace("’", "'").replace("'s ", "s ").replace("'", ""))
    words = _NO_WORD.sub(" ", text).split()
    kept = [word for word in words if word not in _ARTICLES]
    return [_NUMBER.get(word, word) for word in kept or words]


def same_words(gold: str, answer: str) -> bool:
    """Whether two texts have the same words; how they are formatted does not count.

    >>> same_words("the equator", "Equator."), same_words("Niger", "Nigeria")
    (True, False)
    """
    mine, yours = words_of(gold), words_of(answer)
    if _FORMULA.search(gold + answer) or not any(map(_is_word, mine)):
        return _compact(gold) == _compact(answer) != ""
    return mine == yours or "".join(mine) == "".join(yours)


def same_list(gold: str, answer: str) -> bool:
    """Whether two texts list the same names, in any order: "red, blue" and "blue and red".

    >>> same_list("red, blue", "blue and red"), same_list("red, blue", "red, green")
    (True, False)
    """
    mine, yours = (sorted(map(words_of, _LISTED.split(text))) for text in (gold, answer))
    return len(mine) > 1 and mine == yours and [] not in mine


def _is_word(word: str) -> bool:
    return len(word) > 1 and any(map(str.isalpha, word))


def _compact(text: str) -> str:
    """A text that has no words: its signs count, its spaces and its final full stop do not."""
    return "".join(text.lower().split()).strip("$").rstrip(".")


def without_filling(text: str) -> str:
    """The text without the words that lead to an answer: "It is a rhombus".

    >>> without_filling("It is a rhombus")
    'a rhombus'
    """
    shown = text.strip()
    found = _FILLING.match(shown.lower())
    return shown[found.end() :] if found else shown
