r"""Answers that are not formulas: words, letters of options, times of day and dates."""

import re
import unicodedata
from typing import NamedTuple

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


def same_list(gold: str, answer: str) -> bool:
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


# -- Letters of options

_FORMATTING = re.compile(
    r"\\(?:text|textbf|mathrm|mathbf|boxed|textrm|rm|bf|mbox|operatorname)\b|[\\${}*~`\"]"
)
_LEAD = re.compile(
    r"^(?:it\s++is\s++|it's\s++|i\s++(?:choose|pick)\s++)?(?:the\s++)?(?:(?:correct|right|best|final)\s++)?(?:option|choice|answer|letter)s?\s*+"
    r"(?:is|:|=)?\s*+",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"^[(\[]?\s*+([A-Za-z])\s*+[)\]]?\s*+(?=$|[.:)\],;?!-]|\(|only$|because\b|since\b)"
)
_LETTER_ALONE = re.compile(r"^[(\[]?\s*+([A-Z])\s*+[)\]]\s*+(\S.*)?$", re.DOTALL)
# Two letters, with "and" or "or" between them, or at least one of , & / ; and space. Possessive, so
# that a long row of commas is read once.
_SEVERAL = re.compile(
    r"^\W*+([A-J])(?:\W*+(?:and|or)(?:[,&/;\s]*+(?:and|or))*+|(?=[^\w,&/;\s]*+[,&/;\s]))\W*+"
    r"([A-J])\b(?!\w)"
)
_BOTH = re.compile(r"\b(?:both|either|neither)\b", re.IGNORECASE)


def _plain_choice(text: str) -> str:
    return " ".join(_FORMATTING.sub(" ", text).split()).strip().rstrip(".").strip()


def read_choice(text: str) -> str | None:
    r"""The letter of an option that a text is; None if there is none, or more than one."""
    plain = _LEAD.sub("", _plain_choice(text))
    if several_choices(plain):
        return None
    if len(plain) == 1 and plain.isalpha():
        return plain.upper()
    found = _LETTER.match(plain) or _LETTER_ALONE.match(plain)
    if found is None or (found[1].islower() and plain[:1] != "("):
        return None
    return found[1].upper()


def several_choices(text: str) -> bool:
    """Whether a text picks more than one option."""
    plain = _plain_choice(text)
    found = _SEVERAL.match(_BOTH.sub("", plain))
    if found is None or found[1] == found[2]:
        return False
    between = plain[plain.index(found[1]) + 1 :].strip()
    # "A: B cells" is an option with its text.
    return not between.startswith((":", ".", ")")) or bool(_BOTH.search(plain))


_OPTION = re.compile(r"(?:^|\s)\(?([A-Z])[).:]\s*+")


def options_in(question: str) -> list[str]:
    """Return the texts of the options that a question lists, A first; empty if it lists none.

    >>> options_in("Which is it? A) red B) blue")
    ['red', 'blue']
    """
    found = list(_OPTION.finditer(question[:20_000]))
    start = next((at for at, one in enumerate(found) if one[1] == "A"), None)
    if start is None:
        return []
    options: list[str] = []
    for one, following in zip(found[start:], [*found[start + 1 :], None], strict=True):
        if ord(one[1]) != ord("A") + len(options):
            break
        end = following.start() if following else len(question)
        options.append(question[one.end() : end].strip(" \n,;"))
    return options if len(options) > 1 else []


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


# -- Times of day and dates

_MONTHS = "january february march april may june july august september october november december"
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
MONTHS = {month: index for index, month in enumerate(_MONTHS.split(), start=1)}
MONTHS |= {month[:3]: index for month, index in list(MONTHS.items())} | {"sept": 9}
DAYS = {day: index for index, day in enumerate(_DAYS.split())}
DAYS |= {day[:3]: index for day, index in list(DAYS.items())} | {"tues": 1, "thurs": 3, "thur": 3}
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2})(?:\s*+[:.]\s*+(?P<minute>\d{2})(?::(?P<second>\d{2}))?)?\s*+"
    r"(?P<half>[ap]\.?\s?m\b\.?|o'?clock(?:\s*+[ap]\.?\s?m\b\.?)?|h|hrs?|hours)?",
    re.IGNORECASE,
)
_HOUR = re.compile(r"([a-z]++) o'?clock")
_SPOKEN = re.compile(
    r"(?:an? )?(?P<minutes>[a-z]++|\d{1,2})(?: minutes?)? (?P<side>past|after|to|before)"
    r" (?P<hour>[a-z]++|\d{1,2})(?: o'?clock)?"
)
_NAMED_TIMES = {"noon": 12 * 3600, "midday": 12 * 3600, "midnight": 0}
_LAST_WORDS = [[word] for word in _NAMED_TIMES]
_PARTS_OF_THE_DAY = (
    (re.compile(r"\s*+in the morning$", re.IGNORECASE), " a.m."),
    (re.compile(r"\s*+(?:in the (?:afternoon|evening)|at night)$", re.IGNORECASE), " p.m."),
)
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_NUMERIC = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_WORDS = re.compile(r"[a-z]++|\d++")
_LONGEST_PART = 12  # letters or digits of a month, a day or a year


class Clock(NamedTuple):
    """A time of day in seconds; `half` is whether it is known to be before or after noon."""

    seconds: int
    half: bool


class Date(NamedTuple):
    """A date; what the text leaves out is 0, or -1 for the weekday. Years BC are negative."""

    year: int
    month: int
    day: int
    weekday: int = -1


def _plain(text: str) -> str:
    text = re.sub(r"\\(?:text|mathrm|mathbf|textbf|textit)(?![a-z])\s*+|[{}$~]|\\[,;! ]", " ", text)
    return " ".join(text.replace("\\", "").split())


def read_clock(text: str) -> Clock | None:
    r"""The time of day that a text is; None if it is not one."""
    text = (
        re.sub(r"\s*+:\s*+", ":", _plain(text)).strip().rstrip(".") if ":" in text else _plain(text)
    )
    text = re.sub(r"^(?:at|about|around)\s++", "", text.strip(), flags=re.IGNORECASE)
    for pattern, half in _PARTS_OF_THE_DAY:
        text = pattern.sub(half, text)
    text = re.sub(r"^12(?::00)?\s++(?=noon$|midnight$|midday$)", "", text, flags=re.IGNORECASE)
    if text.lower().rstrip(".") in _NAMED_TIMES:
        return Clock(_NAMED_TIMES[text.lower().rstrip(".")], True)
    full_hour = _HOUR.fullmatch(text.lower().rstrip("."))
    if full_hour and full_hour[1] in NUMBER_WORDS:
        text = f"{NUMBER_WORDS[full_hour[1]]} o'clock"
    spoken = _spoken_clock(text)
    if spoken is not None:
        return spoken
    found = _CLOCK.fullmatch(text) or _CLOCK.fullmatch(text.rstrip("."))
    if found is None or (found["minute"] is None and found["half"] is None):
        return None
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    second = int(found["second"] or 0)
    half = re.sub(
        r"[^apm]", "", (found["half"] or "").lower().replace("o'clock", "").replace("oclock", "")
    )
    if hour > 24 or minute > 59 or second > 59 or (half and not 1 <= hour <= 12):
        return None
    if found["half"] and found["half"].lower()[0] == "h" and not found["minute"]:
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    said = bool(half) or hour > 12 or hour == 0 or found["hour"][0] == "0"
    return Clock((hour % 24 * 60 + minute) * 60 + second, said)


def _spoken_clock(text: str) -> Clock | None:
    """A time such as "a quarter past four", "half past 3", "ten to six"."""
    found = _SPOKEN.fullmatch(text.lower().replace("-", " ").rstrip("."))
    if found is None:
        return None
    parts = {"quarter": 15, "half": 30}
    minutes = parts.get(found["minutes"]) or _counted(found["minutes"])
    hour = _counted(found["hour"])
    if minutes is None or hour is None or not 1 <= hour <= 12 or minutes > 59:
        return None
    signed = minutes if found["side"] in ("past", "after") else -minutes
    return Clock((hour * 60 + signed) * 60 % 43200, False)


def _counted(word: str) -> int | None:
    return int(word) if word.isdigit() else NUMBER_WORDS.get(word)


def says_time(text: str, question: str = "") -> bool:
    """Whether a text or its question says that a:b is a time of day."""
    lowered = _plain(text).lower()
    if (
        re.search(r"\d\s*+(?:[ap]\.?\s?m\b|o'?clock)", lowered)
        or lowered.rstrip(".").split()[-1:] in _LAST_WORDS
    ):
        return True
    return bool(question) and bool(
        re.search(
            r"\btime of day\b|\bwhat time\b|\bclock\b|\bo'clock\b|\bat which time\b",
            question,
            re.IGNORECASE,
        )
    )


def same_clock(gold: Clock, answer: Clock) -> bool:
    """Whether two times agree; if one does not say its half of the day, either will do."""
    if gold.half and answer.half:
        return gold.seconds == answer.seconds
    return gold.seconds % 43200 == answer.seconds % 43200


def read_date(text: str) -> Date | None:
    r"""The date that a text is; None if it is not one."""
    text = _plain(text).strip().rstrip(".")
    iso = _ISO.fullmatch(text)
    if iso:
        return Date(int(iso[1]), int(iso[2]), int(iso[3]))
    slashed = _NUMERIC.fullmatch(text)
    if slashed:
        return _slashed(*map(int, slashed.groups()))
    lowered = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", text.lower())
    lowered = re.sub(r"\b([abc])\.\s?([cde])\.?(?:\s?e\.?)?(?![a-z])", r"\1\2", lowered)
    lowered = lowered.replace("a.d.", "ad").replace("b.c.e.", "bc").replace("c.e.", "ad")
    parts = _WORDS.findall(lowered)
    if not parts or len(parts) > 7 or max(map(len, parts)) > _LONGEST_PART:
        return None
    if not re.fullmatch(r"[\w\s,.'-]*+", lowered):
        return None
    return _from_words(parts)


def _slashed(first: int, second: int, year: int) -> Date | None:
    """14/03/2015 or 03/14/2015; None if either could be the month."""
    if first > 12 >= second or first == second:
        return Date(year, second, first)
    return Date(year, first, second) if second > 12 >= first else None


def _from_words(parts: list[str]) -> Date | None:
    month = day = year = 0
    weekday, era = -1, 1
    numbers: list[str] = []
    for part in parts:
        if part.isdigit():
            numbers.append(part)
        elif part in MONTHS and not month:
            month = MONTHS[part]
        elif part in DAYS and weekday < 0:
            weekday = DAYS[part]
        elif part in ("bc", "bce"):
            era = -1
        elif part in ("ad", "ce"):
            era = 1 if era == 1 else era
        elif part not in ("of", "the", "in", "on", "year"):
            return None
    has_era = any(part in ("bc", "bce", "ad", "ce") for part in parts)
    if not month and not has_era:
        return Date(0, 0, 0, weekday) if weekday >= 0 and not numbers else None
    if len(numbers) > 2 or (not numbers and weekday < 0):
        return Date(0, month, 0) if month and len(parts) == 1 else None
    for index, digits in enumerate(numbers):
        value = int(digits)
        if (
            month
            and not day
            and 1 <= value <= 31
            and len(digits) < 3
            and not (index == 1 and not day and len(numbers) == 2 and int(numbers[0]) <= 31)
        ):
            day = value
        elif not year:
            year = value
        else:
            return None
    return Date(era * year, month, day, weekday)


def same_date(gold: Date, answer: Date) -> bool:
    """Whether two dates agree; a weekday that one does not say is left aside."""
    if gold.weekday >= 0 and answer.weekday >= 0 and gold.weekday != answer.weekday:
        return False
    if gold[:3] == (0, 0, 0) or answer[:3] == (0, 0, 0):
        return gold[:3] == answer[:3] and gold.weekday == answer.weekday
    return gold[:3] == answer[:3]
