r"""Answers that are not formulas: words, codes, and golds that hold no answer."""

import re
import unicodedata

from plaudit.answers._tokens import NUMBER_WORDS

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
    r"""The words of a text as they are compared."""
    text = _LATEX.sub(" ", _INDEX.sub(r"\1", text))
    text = unicodedata.normalize("NFKD", text).lower()
    text = "".join(c for c in text if not unicodedata.combining(c))
    text = _MINUS.sub("minus ", _POINT.sub("point", text))
    text = _DOTS.sub("", text.replace("’", "'").replace("'s ", "s ").replace("'", ""))
    words = _NO_WORD.sub(" ", text).split()
    kept = [word for word in words if word not in _ARTICLES]
    return [_NUMBER.get(word, word) for word in kept or words]


def same_words(gold: str, answer: str) -> bool:
    """Whether two texts have the same words; how they are formatted does not count."""
    mine, yours = words_of(gold), words_of(answer)
    if _FORMULA.search(gold + answer) or not any(map(_is_word, mine)):
        return _compact(gold) == _compact(answer) != ""
    return mine == yours or "".join(mine) == "".join(yours)


def same_names(gold: str, answer: str) -> bool:
    """Whether two texts list the same names, in any order: "red, blue" and "blue and red"."""
    mine, yours = (sorted(map(words_of, _LISTED.split(text))) for text in (gold, answer))
    return len(mine) > 1 and mine == yours and [] not in mine


def _is_word(word: str) -> bool:
    return len(word) > 1 and any(map(str.isalpha, word))


def _compact(text: str) -> str:
    """A text that has no words: its signs count, its spaces and its final full stop do not."""
    return "".join(text.lower().split()).strip("$").rstrip(".")


def without_filling(text: str) -> str:
    """The text without the words that lead to an answer: "It is a rhombus"."""
    shown = text.strip()
    found = _FILLING.match(shown.lower())
    return shown[found.end() :] if found else shown


# -- Acronyms

_CAPITALS = re.compile(r"\b[A-Z][\w'’-]*+(?:\s(?:of|the|and|for|de|[A-Z][\w'’-]*+))+")
_SHORT_WORDS = frozenset("of the and for de".split())


def initials(text: str) -> str:
    """Return the first letters of the words of a name, without "of" and "the".

    >>> initials("United States of America")
    'USA'
    """
    words = re.findall(r"[^\W\d_][\w'’]*+", text)
    return "".join(word[0] for word in words if word.lower() not in _SHORT_WORDS)


def with_acronyms(text: str, gold: str) -> str:
    """Return a text in which the acronym of a gold, or the words of a gold that is one, is the gold.

    >>> with_acronyms("It is in the U.A.E.", "United Arab Emirates")
    'It is in the United Arab Emirates'
    >>> with_acronyms("The World Health Organization", "WHO")
    'The WHO'
    """
    plain = gold.replace(".", "").strip()
    if plain.isupper() and plain.isalpha() and 2 <= len(plain) <= 8:
        if plain not in text:
            text = _dotted(plain).sub(plain, text)
        return _CAPITALS.sub(lambda run: _shortened(run[0], plain), text)
    short = initials(gold)
    is_name = len(short) > 1 and short.isupper() and len(gold.split()) <= 6
    return _dotted(short).sub(gold, text) if is_name else text


def _dotted(letters: str) -> re.Pattern[str]:
    return re.compile(r"\b" + r"\.?\s?".join(letters) + r"(?:\b\.?|\.)(?!\w)")


def _shortened(run: str, acronym: str) -> str:
    words = run.split()
    for start in range(len(words)):
        if initials(" ".join(words[start:])) == acronym:
            return " ".join([*words[:start], acronym])
    return run


# -- Words that look like products: WHO, H2O, XIV, ATG

_CODE = re.compile(r"[A-Za-z0-9]++(?:[-.'][A-Za-z0-9]++)*+'?")
_CODE_DRESS = re.compile(r"\\(?:ce|text|mathrm|mathbf|operatorname)\b|[{}$_]|(?<=\w)[.](?=\w|$)")
_ALGEBRA = re.compile(
    r"[=^+*]|\\|\b(?:simplify|expand|factor\w*|product|express\w*|formula for|in terms of"
    r"|area|volume|perimeter|variables?|solve|polynomial|coefficient|equation)\b|\b[a-z]\b(?<![ai])",
    re.IGNORECASE,
)
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)


def is_code(gold: str, question: str = "") -> bool:
    """Whether a gold is a word, an acronym, a formula of chemistry or a code, and no product.

    >>> is_code("WHO"), is_code("H2O"), is_code("lwh"), is_code("42"), is_code("2x")
    (True, True, False, False, False)
    """
    plain = _code(gold)
    if not _CODE.fullmatch(plain) or not any(map(str.isalpha, plain)) or len(plain) < 2:
        return False
    letters = [c for c in plain if c.isalpha()]
    capitals = sum(map(str.isupper, letters))
    if _ALGEBRA.search(question):
        return False
    if capitals:
        return len(plain.replace(" ", "")) >= 2 and (len(letters) >= 2 or plain[0].isupper())
    return len(letters) >= 3 and plain.isalpha() and bool(_VOWEL.search(plain))


def same_code(gold: str, answer: str) -> bool | None:
    """Whether two codes are the same; None if the answer is none.

    Case counts if there are digits, or small letters after a capital, as in Co and CO.
    """
    mine, yours = _code(gold), _code(answer)
    if not _CODE.fullmatch(yours):
        return None
    mine, yours = (re.sub(r"[-. ]", "", code) for code in (mine, yours))
    exact = any(map(str.isdigit, mine)) or (mine[:1].isupper() and len(mine) == 2)
    return mine == yours if exact else mine.casefold() == yours.casefold()


def _code(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)  # subscripts become digits
    return _CODE_DRESS.sub("", text).strip().strip(".").strip()


# -- Questions that ask for a form

_FORM = re.compile(
    r"\b(?:factor(?:i[sz]e|i[sz]ation)?|expand|simplif\w+|rationali[sz]e|scientific notation"
    r"|mixed number|in words|as an? (?:decimal|percent\w*|fraction|improper fraction)|lowest terms"
    r"|complete the square|roman numerals?|in base|binary|hexadecimal)\b",
    re.IGNORECASE,
)
_FORM_DRESS = re.compile(r"[\s${}\\]|\\[,;! ]|left|right|[dt]?frac")


def restates(answer: str, gold: str, question: str) -> bool:
    """Whether an answer only repeats the expression of a question that asks for another form."""
    if not _FORM.search(question):
        return False
    mine, wanted, asked = (_form_text(text) for text in (answer, gold, question))
    return mine != wanted and len(mine) > 1 and mine in asked


def _form_text(text: str) -> str:
    return _FORM_DRESS.sub("", text.replace("·", "*").replace("\\cdot", "*")).strip(".").lower()


# -- Golds that hold no answer

_PLACEHOLDER = re.compile(
    r"n/?a|tbd|todo|null|nan|\?+|-+|\.\.\.|#\w+[!?]?|[<\[(](?:missing|unknown|placeholder|empty)[>\])]"
    r"|\(?see [^()]{0,60}\)?|proof\.?|omitted\.?|to be (?:determined|done|added)\.?",
    re.IGNORECASE,
)


def is_placeholder(gold: str) -> bool:
    """Whether a gold stands for an answer that is missing, such as N/A or "see above"."""
    # "NA" may be an answer, and "Na" is sodium.
    plain = gold.strip()
    return plain not in ("NA", "Na", "na") and bool(_PLACEHOLDER.fullmatch(plain))
