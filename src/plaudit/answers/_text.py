r"""Answers that are not formulas: words, codes, and golds that hold no answer."""

import re
import unicodedata
from functools import lru_cache

from plaudit.answers._number_words import ordinals_in_digits
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
    return list(_words_of(text))


@lru_cache(maxsize=4096)
def _words_of(text: str) -> tuple[str, ...]:
    text = _LATEX.sub(" ", _INDEX.sub(r"\1", text) if "_" in text else text)
    text = plain_letters(text).lower()
    text = _MINUS.sub("minus ", _POINT.sub("point", text))
    text = _DOTS.sub("", text.replace("’", "'").replace("'s ", "s ").replace("'", ""))
    words = _NO_WORD.sub(" ", text).split()
    kept = [word for word in words if word not in _ARTICLES]
    return tuple(_NUMBER.get(word, word) for word in kept or words)


def plain_letters(text: str) -> str:
    """Return a text without accents."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKD", text)
    return "".join(c for c in text if not unicodedata.combining(c))


def same_words(gold: str, answer: str) -> bool:
    """Whether two texts have the same words; how they are formatted does not count."""
    mine, yours = words_of(gold), words_of(answer)
    if mine != yours and len(answer) < 200:
        mine, yours = words_of(plain_name(gold)), words_of(plain_name(answer))
        if mine == yours and _ORDINAL_END.search(gold):
            return True
    if _FORMULA.search(gold + answer) or not any(map(_is_word, mine)):
        return _compact(gold) == _compact(answer) != ""
    if len(mine) == 2 and any(map(str.isdigit, mine)):  # Act V, the fifth act
        return sorted(mine) == sorted(yours)
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

_CAPITALS = re.compile(r"\b[A-Z][\w'’-]*+(?:\s(?:of|the|and|for|de|[A-Z][\w'’-]*+)){1,11}+")
_LONGEST_NAME = 12  # words
_SHORT_WORDS = frozenset("of the and for de".split())


def initials(text: str) -> str:
    """Return the first letters of the words of a name, without "of" and "the".

    >>> initials("United States of America")
    'USA'
    """
    words = re.findall(r"[^\W\d_][\w'’]*+", text)
    return "".join(word[0] for word in words if word.lower() not in _SHORT_WORDS)


def with_acronyms(text: str, gold: str) -> str:
    """Return a text with the gold in place of its acronym, or of the words of a gold that is one.

    >>> with_acronyms("It is in the U.A.E.", "United Arab Emirates")
    'It is in the United Arab Emirates'
    >>> with_acronyms("The World Health Organization", "WHO")
    'WHO'
    """
    plain = gold.replace(".", "").strip()
    if plain.isupper() and plain.isalpha() and 2 <= len(plain) <= 8:
        if plain not in text and _has_letters(plain, text):
            text = _dotted(plain).sub(plain, text)
        return _CAPITALS.sub(lambda run: _shortened(run[0], plain), text)
    short = initials(gold)
    is_name = len(short) > 1 and short.isupper() and len(gold.split()) <= 6
    is_name = is_name and not re.search(r"\b[A-Z]{2,}\b|\b[IVX]$", gold)  # not Volume IV
    return _dotted(short).sub(gold, text) if is_name and _has_letters(short, text) else text


def _has_letters(letters: str, text: str) -> bool:
    """Whether letters stand in a row in a text, perhaps with periods between them."""
    return letters in text.replace(".", "").replace(" ", "")


def _dotted(letters: str) -> re.Pattern[str]:
    return re.compile(r"\b" + r"\.?\s?".join(letters) + r"(?:\b\.?|\.)(?!\w)")


def _shortened(run: str, acronym: str) -> str:
    words = run.split()[-_LONGEST_NAME:]
    for start in range(len(words)):
        if initials(" ".join(words[start:])) == acronym:
            return " ".join([*words[:start], acronym])
    return run


# -- Names as they are written: Act II, the 9th, Ch., Mt.

_NUMERAL = r"(?=[IVXLC])(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})"
# After a name, and before "century": neither "by L. K. Advani" nor "but I" has one.
_ROMAN = re.compile(
    rf"\b([A-Z][a-z'’]++|chapter|act|part|volume|section|scene|type|class|phase|stage|war)(\s)"
    rf"({_NUMERAL})(?![\w'’]|\.\s?[A-Z])|\b({_NUMERAL})(?=\scentury)"
)
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_ABBREVIATIONS = {
    "ch": "chapter", "vol": "volume", "pp": "pages", "p": "page", "mt": "mount", "st": "saint",
    "ft": "fort", "no": "number", "fig": "figure", "sec": "section", "art": "article",
}  # fmt: skip
_ABBREVIATION = re.compile(
    r"\b(?:ch|vol|mt|st|ft|fig|art)\.\s?(?=\w)|\bpp?\.\s?(?=\d)", re.IGNORECASE
)
_DIGIT = re.compile(r"\d")
_ORDINAL_END = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_THE_NUMBER = re.compile(r"\bthe (?=\d)|\b(?:No|Nr)\.\s?(?=\d)|#(?=\d)")


@lru_cache(maxsize=4096)
def plain_name(text: str) -> str:
    """Return a text with its ordinals and Roman numerals as numbers, and abbreviations in full.

    >>> plain_name("Henry the Eighth"), plain_name("Ch. IX"), plain_name("Mt. Everest")
    ('Henry 8', 'chapter 9', 'mount Everest')
    """
    if "." in text:
        text = _ABBREVIATION.sub(_in_full, text)
    text = ordinals_in_digits(_ROMAN.sub(_with_number, text))
    if not _DIGIT.search(text):
        return text
    return _THE_NUMBER.sub("", _ORDINAL_END.sub("", text))


def _in_full(short: re.Match[str]) -> str:
    return _ABBREVIATIONS[short[0].lower().strip(". ")] + " "


def _with_number(found: re.Match[str]) -> str:
    """A name with its Roman numeral as a number; a century with its."""
    return f"{found[1]} {_roman(found[3])}" if found[3] else str(_roman(found[4]))


def _roman(text: str) -> int:
    values = [_ROMAN_DIGITS[letter] for letter in text]
    return sum(
        -value if any(later > value for later in values[at + 1 : at + 2]) else value
        for at, value in enumerate(values)
    )


_DIRECTIONS = {"N": "north", "S": "south", "E": "east", "W": "west"}


def is_direction(gold: str, answer: str) -> bool:
    """Whether a gold such as NE is the direction that the answer names in words, or the reverse."""
    short, long = sorted((gold.strip(" ."), answer.strip(" .")), key=len)
    words = "".join(_DIRECTIONS.get(letter, "?") for letter in short)
    return len(short) < 4 and words == "".join(words_of(long))


# -- Reactions of chemistry

_ARROW = re.compile(r"\s*+(?:->|-->|→|⟶|⇌|\\to\b|\\rightarrow|=)\s*+")


def same_reaction(gold: str, answer: str) -> bool | None:
    """Whether two reactions have the same sides; None if the gold is no reaction.

    >>> same_reaction("2H2 + O2 -> 2H2O", "O₂ + 2 H₂ = 2 H₂O")
    True
    """
    mine, yours = _sides(gold), _sides(answer)
    if len(mine) != 2 or not re.search(r"->|→|\\to\b|rightarrow|⇌", gold):
        return None
    return mine == yours


def _sides(text: str) -> list[list[str]]:
    plain = _code(text.replace("\\ce", ""))
    return [
        sorted("".join(part.split()) for part in re.split(r"\s*\+\s*", side))
        for side in _ARROW.split(plain)
    ]


# -- Words that look like products: WHO, H2O, XIV, ATG

_CODE = re.compile(
    r"[A-Za-z0-9]++(?:[-.'][A-Za-z0-9]++)*+'?|(?:[A-Z][a-z]?\d*+|\((?:[A-Z][a-z]?\d*+)++\)\d*+)++\d*+[+-]?"
    r"|[A-Z]['2]?+(?:\s[A-Z]['2]?+){2,}+"
)
_STRAND = re.compile(r"^5['′’]\s?-?\s?|\s?-?\s?3['′’]$")
_CODE_FORMATTING = re.compile(
    r"\\(?:ce|text|mathrm|mathbf|operatorname)\b|</?su[bp]>|[{}$_^]|(?<=\w)[.](?=\w|$)"
)
_ALGEBRA = re.compile(
    r"[=^+*]|\\|\b(?:simplify|expand|factor\w*|product|express\w*|formula for|in terms of"
    r"|area|volume|perimeter|variables?|solve|polynomial|coefficient|equation)\b|\b[a-z]\b(?<![ai])",
    re.IGNORECASE,
)
_IN_BASE = re.compile(r"^[0-9A-Fa-f]++_\{?\(?(?:1[1-9]|[23]\d)\)?\}?$")  # FF_{16}
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)


@lru_cache(maxsize=4096)
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
    if _ALGEBRA.search(question) or _IN_BASE.search(gold):
        return False
    if capitals:
        is_label = bool(question) and plain[-1].isupper()  # seat 14C
        return len(letters) >= 2 or plain[0].isupper() or is_label
    return len(letters) >= 3 and plain.isalpha() and bool(_VOWEL.search(plain))


def same_code(gold: str, answer: str) -> bool | None:
    """Whether two codes are the same; None if the answer is none.

    Case counts if there are digits, or small letters after a capital, as in Co and NaCl.
    """
    mine, yours = _code(gold), _code(answer)
    if yours.startswith("5") and yours.rstrip("'′’").endswith("3"):
        yours = _STRAND.sub("", yours)
    if not _CODE.fullmatch(yours):
        return None
    mine, yours = (re.sub(r"[-. ]", "", code) for code in (mine, yours))
    exact = any(map(str.isdigit, mine)) or (mine[:1].isupper() and len(mine) == 2)
    exact = exact or (not mine.isupper() and _is_compound(mine))
    return mine == yours if exact else mine.casefold() == yours.casefold()


def _is_compound(code: str) -> bool:
    """Whether a code is symbols of elements in a row: NaCl, but not PhD."""
    symbols = re.findall("[A-Z][a-z]?", code)
    return len(symbols) > 1 and "".join(symbols) == code and _ELEMENTS.issuperset(symbols)


_ELEMENTS = frozenset(
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br"
    " Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho"
    " Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu".split()
)


def _code(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).replace("−", "-")  # subscripts become digits
    return _CODE_FORMATTING.sub("", text).strip().strip(".").strip()


# -- Golds that hold no answer

_PLACEHOLDER = re.compile(
    r"n/?a|tb[dca]|(?:todo|fixme|tbd)\b.{0,60}|null|nan|x{3,}|no (?:answer|solution) (?:given"
    r"|provided|available)"
    r"|\(?(?:the )?(?:answer|solution|proof)\s(?:is\s)?(?:omitted|missing|pending|to follow|not"
    r" (?:given|available"
    r"|provided|shown)|unavailable|withheld)\)?\.?|not (?:given|available|provided)|\?+|-+|\.+"
    r"|#\w+[!?]?|[<\[(](?:missing|unknown|placeholder|empty)[>\])]"
    r"|\(?see [^()]{0,60}\)?|proof\.?|omitted\.?|to be (?:determined|done|added)\.?",
    re.IGNORECASE,
)


def is_placeholder(gold: str) -> bool:
    """Whether a gold stands for an answer that is missing, such as N/A or "see above"."""
    # "NA" may be an answer, and "Na" is sodium.
    plain = gold.strip()
    return plain not in ("NA", "Na", "na") and bool(_PLACEHOLDER.fullmatch(plain))
