r"""Times of day and dates, alone and in prose."""

import re
from functools import cache, lru_cache
from typing import NamedTuple

from plaudit.answers._languages import phrases
from plaudit.answers._number_words import in_digits, ordinals_in_digits
from plaudit.answers._tokens import NUMBER_WORDS

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
    (re.compile(r",?\s*+(?:in the|this|tomorrow) morning$", re.IGNORECASE), " a.m."),
    (
        re.compile(
            r",?\s*+(?:(?:in the|this|tomorrow) (?:afternoon|evening)|at night|tonight)$",
            re.IGNORECASE,
        ),
        " p.m.",
    ),
)
_MILITARY = re.compile(
    r"(?<![\d:.])([01]\d|2[0-4])([0-5]\d)\s?(?:hours|hrs|h)(?!\w)", re.IGNORECASE
)
_COLON = re.compile(r"\d{1,2}:\d{2}")
_ISO = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})")
_NUMERIC = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
_DAY_AND_MONTH = re.compile(r"(\d{1,2})/(\d{1,2})")
_WORDS = re.compile(r"[a-z]++|\d++")
_LONGEST_DATE = 60
_DATE_WORD = re.compile(
    rf"\b(?:{'|'.join(sorted({*MONTHS, *DAYS}, key=len, reverse=True))}"
    rf"|b\.?\s?c\.?\s?e?|a\.?\s?d|c\.?\s?e)\b",
    re.IGNORECASE,
)
_ORDINAL_END = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_ERA_DOTS = re.compile(r"\b([abc])\.\s?([cde])\.?(?:\s?e\.?)?(?![a-z])")
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


_LATEX = re.compile(r"\\(?:text|mathrm|mathbf|textbf|textit)(?![a-z])\s*+|[{}$~]|\\[,;! ]")


def _plain(text: str) -> str:
    return " ".join(_LATEX.sub(" ", text).replace("\\", "").split())


def read_clock(text: str) -> Clock | None:
    r"""The time of day that a text is; None if it is not one."""
    text = (
        re.sub(r"\s*+:\s*+", ":", _plain(text)).strip().rstrip(".") if ":" in text else _plain(text)
    )
    text = re.sub(r"^(?:at|about|around|by)\s++", "", text.strip(), flags=re.IGNORECASE)
    text = _MILITARY.sub(r"\1:\2", _clock_of_language(text))
    half_of_day = ""
    for part, half in _PARTS_OF_THE_DAY:
        if part.search(text):
            text, half_of_day = part.sub("", text), half
    text = re.sub(r"^12(?::00)?\s++(?=noon$|midnight$|midday$)", "", text, flags=re.IGNORECASE)
    if text.lower().rstrip(".") in _NAMED_TIMES:
        return Clock(_NAMED_TIMES[text.lower().rstrip(".")], True)
    full_hour = _HOUR.fullmatch(text.lower().rstrip("."))
    if full_hour and full_hour[1] in NUMBER_WORDS:
        text = f"{NUMBER_WORDS[full_hour[1]]} o'clock"
    spoken = _spoken_clock(text)
    if spoken is not None:
        seconds = spoken.seconds + 43200 * (half_of_day == " p.m.")
        return Clock(seconds, True) if half_of_day else spoken
    text = in_digits(text).rstrip(".") + half_of_day if half_of_day else text
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


def _clock_of_language(text: str) -> str:
    """Return a time such as 午後3時 or "15 Uhr 30" as 3:00 p.m. or 15:30."""
    found = _clock_words().search(text) if not text.isascii() or "Uhr" in text else None
    if found is None:
        return text
    minute = "30" if found["half"] else found["minute"] or found["after"] or "00"
    half = " p.m." if found["pm"] else " a.m." if found["am"] else ""
    return f"{found['hour']}:{minute:0>2}{half}"


@cache
def _clock_words() -> re.Pattern[str]:
    am, pm, hour, minute, half = (
        "|".join(map(re.escape, phrases(kind))) for kind in ("am", "pm", "hour", "minute", "half")
    )
    return re.compile(
        rf"(?:(?P<am>{am})|(?P<pm>{pm}))?\s?(?P<hour>\d{{1,2}})(?:[:.](?P<minute>\d{{2}}))?\s?"
        rf"(?:{hour})\s?(?:(?P<after>\d{{1,2}})\s?(?:{minute})?|(?P<half>{half}))?"
    )


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
    if not text.isascii() and _clock_words().search(text):
        return True
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
        or (
            _COLON.fullmatch(lowered)
            and re.match(r"\W*+(?:when|until when|at what)\b", question, re.I)
        )
    )


def same_clock(gold: Clock, answer: Clock) -> bool:
    """Whether two times agree; if one does not say its half of the day, either will do."""
    if gold.half and answer.half:
        return gold.seconds == answer.seconds
    return gold.seconds % 43200 == answer.seconds % 43200


@lru_cache(maxsize=4096)
def read_date(text: str, short: bool = False) -> Date | None:
    r"""The date that a text is; None if it is not one. `short`: 3/22 is one, and no fraction."""
    text = _plain(text).strip().rstrip(".")
    iso = _ISO.fullmatch(text)
    if iso:
        return _dated(int(iso[1]), int(iso[3]), int(iso[4]))
    numeric = _NUMERIC.fullmatch(text)
    if numeric and numeric[2] == ".":
        return _dated(int(numeric[4]), int(numeric[3]), int(numeric[1]))
    if numeric:
        return _slashed(int(numeric[1]), int(numeric[3]), int(numeric[4]))
    if short and (found := _DAY_AND_MONTH.fullmatch(text)):
        return _slashed(int(found[1]), int(found[2]), 0)
    # Most texts have no month, day or era: they are no dates.
    if len(text) > _LONGEST_DATE or not _DATE_WORD.search(text):
        return None
    lowered = _ORDINAL_END.sub("", ordinals_in_digits(text.lower()))
    lowered = _ERA_DOTS.sub(r"\1\2", lowered)
    lowered = lowered.replace("a.d.", "ad").replace("b.c.e.", "bc").replace("c.e.", "ad")
    parts = _WORDS.findall(lowered)
    if not parts or len(parts) > 7 or max(map(len, parts)) > _LONGEST_PART:
        return None
    if not re.fullmatch(r"[\w\s,.'-]*+", lowered):
        return None
    return _from_words(parts)


def _dated(year: int, month: int, day: int) -> Date | None:
    return Date(year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


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
    """Whether an answer says the date of the gold; it may say more, and leave out the weekday."""
    if gold.weekday >= 0 and answer.weekday >= 0 and gold.weekday != answer.weekday:
        return False
    if gold[:3] == (0, 0, 0) or answer[:3] == (0, 0, 0):
        return gold[:3] == answer[:3] and gold.weekday == answer.weekday
    return all(mine in (0, yours) for mine, yours in zip(gold[:3], answer[:3], strict=True))


# -- In prose

_MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\.?"
_DAY = "(?:" + "|".join(sorted(DAYS, key=len, reverse=True)) + r")\.?,?\s"
_TH = r"(?:st|nd|rd|th)?"
_ERA = r"(?:a\.?d\.?|b\.?c\.?(?:e\.?)?|c\.?e\.?)(?!\w)"
_DATES = re.compile(
    rf"(?<![\w./-])(?:(?:{_DAY})?(?:the\s)?\d{{1,2}}{_TH}\s(?:of\s)?{_MONTH}(?!\w)"
    rf"(?:,?\s(?:of\s)?\d{{3,4}}(?!\d))?(?:\s{_ERA})?"
    rf"|(?:{_DAY})?{_MONTH}\s(?:the\s)?\d{{1,2}}{_TH}(?!\d)(?:,?\s(?:of\s)?\d{{3,4}}(?!\d))?"
    rf"(?:\s{_ERA})?|{_MONTH},?\s(?:of\s)?\d{{4}}(?!\d)|\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}(?!\d)"
    rf"|\d{{1,2}}([-/.])\d{{1,2}}\2\d{{4}}(?!\d)|\d{{1,2}}/\d{{1,2}}(?![\d/])"
    rf"|{_ERA}\s\d{{1,4}}(?!\d)|\d{{1,4}}\s{_ERA})",
    re.IGNORECASE,
)
_CLOCKS = re.compile(
    r"(?<![\w:.])(?:\d{1,2}[:.]\d{2}(?::\d{2})?(?![\d:])(?:\s?[ap]\.?\s?m\b\.?)?"
    r"|\d{1,2}\s?[ap]\.?\s?m\b\.?|\d{4}\s?(?:hours|hrs)|(?:an?\s)?(?:half|quarter|[a-z]+|\d{1,2})"
    r"(?:\sminutes)?\s(?:past|to|after|before)\s(?:[a-z]+|\d{1,2})|(?:[a-z]+|\d{1,2})\so'?clock"
    r"|noon|midday|midnight)"
    r"(?:,?\s(?:in the|this) (?:morning|afternoon|evening)|\sat night)?",
    re.IGNORECASE,
)


def dates_in(text: str) -> list[Date]:
    """Return the dates that a text names.

    >>> dates_in("It ended on the eighth of May, 1945.")
    [Date(year=1945, month=5, day=8, weekday=-1)]
    """
    found = (read_date(one[0], short=True) for one in _DATES.finditer(ordinals_in_digits(text)))
    return [date for date in found if date is not None]


def clocks_in(text: str) -> list[Clock]:
    """Return the times of day that a text names.

    >>> [clock.seconds // 60 for clock in clocks_in("It arrives at a quarter to four.")]
    [225]
    """
    if not text.isascii() or "Uhr" in text:
        text = _clock_words().sub(lambda found: " " + _clock_of_language(found[0]) + " ", text)
    return [clock for one in _CLOCKS.finditer(text) if (clock := read_clock(one[0])) is not None]
