r"""Questions that ask for a form: an equal value in another form is not right.

"Factor", "expand", "simplify", "lowest terms", "scientific notation", "mixed number", "in words".
"""

import re
from collections.abc import Callable
from math import gcd

_FORMATTING = re.compile(r"[\s${}\\]|\\[,;! ]|left|right|[dt]?frac")
_MANTISSA = re.compile(
    r"-?(\d++(?:\.\d++)?)\s*+(?:\\times|×|\*|·|\\cdot|x)\s*+10|-?(\d++(?:\.\d++)?)[eE]"
)
_ROOT_BELOW = re.compile(
    r"/\s*+\(?[^()/]{0,40}?(?:√|\\sqrt|sqrt)|\\[dt]?frac\s*+\{(?:[^{}]|\{[^{}]*+\})*+\}\s*+\{[^{}]{0,40}\\sqrt"
)
_FRACTION = re.compile(
    r"-?\s*+(?:\\[dt]?frac\s*+\{(\d++)\}\s*+\{(\d++)\}|(\d{1,15})\s*+/\s*+(\d{1,15}))"
)
_MIXED = re.compile(
    r"-?\d++\s*+(?:\\[dt]?frac|\s\d++\s*+/|[¼-¾⅐-⅞]|\+\s*+\d++\s*+/|and\s)|^-?\d++$"
)
_MIXED_NUMBER = re.compile(r"\d\s++\d++\s*+/|\d\s*+\\[dt]?frac")
_SQUARE = re.compile(r"\)\s*+(?:\^\s*+\{?2\}?|²|\*\*2)|^[^()]*+$")
_SUM = re.compile(r"(?<=[\w)}²³\s])[+−–-](?=[\s\w({\\])")
_INSIDE = re.compile(r"\([^()]*+\)")
_POWER_OF_SUM = re.compile(r"\([^()]*[+−–-][^()]*\)")


def _is_scientific(answer: str, gold: str) -> bool:
    found = _MANTISSA.search(answer)
    return found is not None and 1 <= float((found[1] or found[2])[:15]) < 10


def _is_reduced(answer: str, gold: str) -> bool:
    found = _FRACTION.search(answer)
    if found is None:
        return True
    top, bottom = (int(part[:15]) for part in found.groups() if part)
    return gcd(top, bottom) == 1


def _is_factored(answer: str, gold: str) -> bool:
    """Whether no sum is left outside of brackets, if that is so of the gold."""
    return _has_outer_sum(gold) or not _has_outer_sum(answer)


def _is_expanded(answer: str, gold: str) -> bool:
    return bool(_POWER_OF_SUM.search(gold)) or not _POWER_OF_SUM.search(answer)


def _has_outer_sum(text: str) -> bool:
    plain = text.rpartition("=")[2].strip(" $.-−")
    for _ in range(4):
        plain = _INSIDE.sub("x", plain)
    return bool(_SUM.search(plain))


def _has_no_digit(answer: str, gold: str) -> bool:
    return not any(c.isdigit() for c in answer)


def _is_decimal(answer: str, gold: str) -> bool:
    return not _FRACTION.search(answer) and "%" not in answer


def _is_fraction(answer: str, gold: str) -> bool:
    if _MIXED_NUMBER.search(answer):
        return False
    return bool(_FRACTION.search(answer)) or not re.search(r"\d\.\d|%", answer)


def _is_percentage(answer: str, gold: str) -> bool:
    plain = answer.replace("\\", "").strip(" .$")
    return "%" in plain or "percent" in plain or plain == gold.replace("\\", "").strip(" .$%")


# What a question asks for, and whether an answer has that form.
_FORMS: tuple[tuple[re.Pattern[str], Callable[[str, str], bool]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), has_form)
    for pattern, has_form in (
        (r"\bscientific notation\b|\bstandard form\b", _is_scientific),
        (r"\brationali[sz]e\b", lambda answer, gold: not _ROOT_BELOW.search(answer)),
        (r"\blowest terms\b|\bsimplest form\b|\breduce the fraction\b|^\W*reduce\b", _is_reduced),
        (r"^\W*simplify (?:the fraction )?\W*(?:\\frac\{\d|\d++\s*+/)", _is_reduced),
        (r"\bmixed number\b", lambda answer, gold: bool(_MIXED.search(answer))),
        (r"\bcomplet\w+ the square\b|\bvertex form\b", lambda a, g: bool(_SQUARE.search(a))),
        (r"^\W*factor(?:i[sz]e)?\b(?! of)|\bin factored form\b", _is_factored),
        (r"^\W*expand\b|\bmultiply out\b|\bexpanded form\b", _is_expanded),
        (r"\bin words\b", _has_no_digit),
        (r"\bas a decimal\b|\bin decimal form\b", _is_decimal),
        (r"\bas an? (?:improper |common )?fraction\b", _is_fraction),
        (r"\bas a percent(?:age)?\b", _is_percentage),
    )
)
_ASKS_FOR_FORM = re.compile(
    r"\b(?:factor(?:i[sz]e|i[sz]ation)?|expand|simplif\w+|rationali[sz]e|scientific notation"
    r"|mixed number|in words|as an? (?:decimal|percent\w*|fraction|improper fraction)|lowest terms"
    r"|complete the square|roman numerals?|in base|binary|hexadecimal)\b",
    re.IGNORECASE,
)


def has_asked_form(answer: str, gold: str, question: str) -> bool:
    """Whether an equal answer has the form that the question asks for.

    >>> has_asked_form("45e3", "4.5e4", "Write 45000 in scientific notation.")
    False
    """
    if not question or _plain(answer) == _plain(gold):
        return True
    if any(asked.search(question) and not has_form(answer, gold) for asked, has_form in _FORMS):
        return False
    return not (_ASKS_FOR_FORM.search(question) and _restates(answer, question))


def _restates(answer: str, question: str) -> bool:
    """Whether an answer only repeats the expression of a question."""
    mine = _plain(answer)
    return len(mine) > 1 and mine in _plain(question)


def _plain(text: str) -> str:
    text = text.replace("√", "sqrt")
    return _FORMATTING.sub("", text.replace("·", "*").replace("\\cdot", "*")).strip(".").lower()


# -- Names of values

# Of each, a question asks for one, and an answer that names another one answers something else.
_CONTRASTS = tuple(
    frozenset(words.split())
    for words in (
        "quotient remainder", "mean median mode range", "area perimeter volume circumference",
        "length width height depth", "sum product difference", "numerator denominator",
        "maximum minimum", "radius diameter", "speed distance", "profit revenue cost",
    )
)  # fmt: skip
_NAMED = re.compile(
    r"\W*(?:(?:so|hence|thus|then|therefore),?\s)?the\s([a-z]+)\s(?:is|was|=|equals)\s", re.I
)
# "Half of it is 6" is no statement of the value itself.
_DERIVED = re.compile(
    r"\b(square|cube|half|double|third|quarter|reciprocal|inverse|opposite|negative)(?: root)? of"
    r" (?:it|that|this|them|the (?:answer|number|result|value|solution|total)) (?:is|are|was|=)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+")


def names_another_value(answer: str, question: str) -> bool:
    """Whether a statement is on another value than the question's.

    >>> names_another_value("The quotient is 2.", "What is the remainder?")
    True
    """
    if not question or len(answer) >= _LONGEST_STATEMENT:
        return False
    derived = _DERIVED.search(answer)
    if derived and derived[1].lower() not in question.lower():
        return True
    found = _NAMED.match(answer)
    if found is None:
        return False
    asked, name = {*_WORD.findall(question.lower())}, found[1].lower()
    return name not in asked and any(name in group and group & asked for group in _CONTRASTS)


_LONGEST_STATEMENT = 60


# -- Prime factorizations

_FACTORIZATION = re.compile(r"\bprime factori[sz]ation\b|\bproduct of (?:its )?primes?\b", re.I)
_FACTOR = re.compile(r"(\d{1,9})(?:\s*+\^\s*+\{?(\d{1,2})\}?)?")
_TIMES = re.compile(r"\\(?:cdot|times)|[·×*⋅]|(?<=\d)\s*x\s*(?=\d)")


def same_factorization(gold: str, answer: str, question: str) -> bool | None:
    """Whether two products have the same prime factors; None if the question asks for none."""
    if not _FACTORIZATION.search(question):
        return None
    mine, yours = _factors(gold), _factors(answer)
    return None if mine is None else mine == yours


def _factors(text: str) -> list[int] | None:
    plain = text.rpartition("=")[2].replace("²", "^2").replace("³", "^3").strip(" .$")
    factors: list[int] = []
    for part in _TIMES.split(plain):
        found = _FACTOR.fullmatch(part.strip())
        if found is None or len(factors) > 200:
            return None
        factors += [int(found[1])] * int(found[2] or 1)
    return sorted(factors)


# -- Bases

_BASE = re.compile(r"\bbinary\b|\bbase[ -]\w+|\bhexadecimal\b|\boctal\b|\bhex\b", re.IGNORECASE)
_SUBSCRIPT = re.compile(r"_\{?\(?\w++\)?\}?$|\s*+\(?base \w++\)?$|^0[xbo]", re.IGNORECASE)


def asks_for_base(question: str) -> bool:
    """Whether a question says in which base the answer is."""
    return bool(_BASE.search(question))


def same_digits(answer: str, gold: str) -> bool:
    """Whether two numbers have the same digits, if one of them does not say its base."""
    mine, yours = (_SUBSCRIPT.sub("", text.strip(" $.")) for text in (gold, answer))
    return mine.lower() == yours.lower() and "_" not in answer
