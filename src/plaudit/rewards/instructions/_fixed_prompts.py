"""Instructions of IFBench that are a whole task: CSV files, dates, countries, capitals."""

import csv
import re
import unicodedata
from datetime import date
from io import StringIO
from itertools import islice, pairwise

from plaudit.rewards.instructions._registry import Finding, instruction
from plaudit.rewards.instructions._text import PUNCTUATION, STRIPPED, sentences

# From north to south; Kyiv is missing in the reference's list.
_CAPITALS = """Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk Dublin
    Berlin Amsterdam Warsaw London Brussels Prague Luxembourg Paris Vienna Bratislava Budapest Vaduz
    Chisinau Bern Ljubljana Zagreb""".split()
_MULTIPLES = [str(number) for number in range(14, 51, 7)]


@instruction("custom:multiples", "The response prints the multiples of 7 from 10 to 50.")
def multiples(text: str) -> Finding:
    numbers = re.findall(r"\d+", text)
    return Finding(numbers == _MULTIPLES, f"the numbers are {', '.join(numbers[:9])}")


@instruction(
    "custom:mcq_count_length", "There are 4 questions with 5 options, each longer than the last."
)
def multiple_choice(text: str) -> Finding:
    if not text.startswith("Question"):
        return Finding(False, 'it does not start with "Question"')
    parts = [part.strip() for part in re.split(r"Question \d+[.|):;]?", text)]
    questions = [part for part in parts if part]
    if len(questions) != 4:
        return Finding(False, f"{len(questions)} questions, expected 4")
    lengths = []
    for question in questions:
        lines = [line.strip() for line in question.split("\n")]
        options = [n for n, line in enumerate(lines) if re.match(r"[A-Ea-e][.|)]\s*\w", line)]
        if len(options) != 5:
            return Finding(False, f"{len(options)} options, expected 5")
        lengths.append(len(" ".join(lines[: options[0]]).strip()))
    followed = all(before < after for before, after in pairwise(lengths))
    return Finding(followed, f"questions of {lengths} characters, expected more each time")


@instruction(
    "custom:reverse_newline", "The countries of Africa are listed in reverse order of the alphabet."
)
def reverse_newline(text: str) -> Finding:
    lines = [_ascii(line.strip(STRIPPED)) for line in text.split("\n") if line.strip(STRIPPED)]
    start = next((n for n, line in enumerate(lines) if "Zimbabwe" in line), len(lines))
    countries = lines[start:]
    if len(countries) < 52:
        return Finding(False, f"{len(countries)} lines from Zimbabwe on, expected at least 52")
    followed = countries == sorted(countries, reverse=True)
    return Finding(followed, f"{len(countries)} lines {'' if followed else 'not '}in order")


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


@instruction("custom:word_reverse", "The answer, the bald eagle, has its words in reverse order.")
def word_reverse(text: str) -> Finding:
    reverse = " ".join(text.lower().translate(PUNCTUATION).split()[::-1])
    followed = "bald eagle" in reverse
    return Finding(followed, f"read backwards it {'says' if followed else 'does not say'} so")


@instruction("custom:character_reverse", "The answer, the bald eagle, has its letters reversed.")
def character_reverse(text: str) -> Finding:
    followed = "elgae dlab" in text.lower()
    return Finding(followed, f"read backwards it {'says' if followed else 'does not say'} so")


@instruction("custom:sentence_alphabet", "26 sentences start with the letters of the alphabet.")
def sentence_alphabet(text: str) -> Finding:
    firsts = "".join(sentence[0].lower() for sentence in sentences(text))
    return Finding(
        firsts == "abcdefghijklmnopqrstuvwxyz",
        f'{len(firsts)} sentences start with "{firsts[:30]}", expected a to z',
    )


@instruction(
    "custom:european_capitals_sort", "The capitals of Europe north of 45° are listed by latitude."
)
def european_capitals(text: str, *, faithful: bool = False) -> Finding:
    capitals = [part.strip() for part in _ascii(text).split(",") if part.strip()]
    if not faithful and "Kyiv" in capitals[15:17]:
        capitals.remove("Kyiv")
    wrong = next(
        (f"{was:.60}" for was, name in zip(capitals, _CAPITALS, strict=False) if was != name), ""
    )
    said = f"{len(capitals)} capitals, expected {len(_CAPITALS)}"
    return Finding(capitals == _CAPITALS, f"{said}; the first of another order is {wrong!r}")


def _table(text: str, delimiter: str = ",") -> list[list[str]] | str:
    """Return the first rows of a CSV, more than any task asks for, or what is wrong with it."""
    try:
        return list(islice(csv.reader(StringIO(text), delimiter=delimiter), 50))
    except csv.Error as error:
        return f"it is no CSV: {error}"


@instruction("custom:csv_city", "The response is a CSV of cities with 5 columns and 7 rows.")
def csv_city(text: str) -> Finding:
    table = _table(text)
    if isinstance(table, str):
        return Finding(False, table)
    if table[:1] != [["ID", "Country", "City", "Year", "Count"]]:
        return Finding(False, "the header is another")
    widths = {len(row) for row in table[1:]}
    followed = len(table) == 8 and widths == {5}
    return Finding(
        followed, f"{len(table) - 1} rows of {sorted(widths)[:9]} fields, expected 7 of 5"
    )


def _has_header(text: str, names: str, separator: str) -> bool:
    header = separator.join(f'(?:{name}|"{name}")' for name in names.split())
    return bool(re.fullmatch(header, text.split("\n", 1)[0].strip()))


def _quoted(text: str) -> str:
    """Return the text with its quotes as a part of its fields."""
    return text.replace('"', '"""')


@instruction(
    "custom:csv_special_character",
    "The response is a CSV of products with 14 rows and a quoted field with a special character.",
)
def csv_special_character(text: str) -> Finding:
    if not _has_header(text, "ProductID Category Brand Price Stock", r",[ \t]*"):
        return Finding(False, "the header is another")
    table = _table(_quoted(text))
    if isinstance(table, str):
        return Finding(False, table)
    if len(table) != 15:
        return Finding(False, f"{len(table) - 1} rows, expected 14")
    for row in table[1:]:
        if len(row) != 5:
            return Finding(False, f"a row has {len(row)} fields, expected 5")
        if any(re.match(r'"[^\n]*[^\w\s][^\n]*"', field[:1000]) for field in row):
            return Finding(True, "a quoted field has a special character")
    return Finding(False, "no quoted field has a special character")


@instruction(
    "custom:csv_quotes",
    "The response is a table of students between tabs, with 3 rows and every field in quotes.",
)
def csv_quotes(text: str, *, faithful: bool = False) -> Finding:
    if not _has_header(text, "StudentID Subject Grade Semester Score", r"\t *"):
        return Finding(False, "the header is another")
    table = _table(_quoted(text), "\t")
    if isinstance(table, str):
        return Finding(False, table)
    if len(table) != 4:
        return Finding(False, f"{len(table) - 1} rows, expected 3")
    for row in table:
        if len(row) != 5:
            return Finding(False, f"a row has {len(row)} fields, expected 5")
        for field in map(str.strip, row):
            if not field and faithful:
                return Finding(None, "the reference raises IndexError at an empty field")
            if field[:1] != '"' or field[-1:] != '"':
                return Finding(False, f"the field {field:.60} is not in quotes")
    return Finding(True, "every field is in quotes")


@instruction("custom:date_format_list", "The dates of Napoleon's battles are YYYY-MM-DD.")
def date_format_list(text: str, *, faithful: bool = False) -> Finding:
    for entry in map(str.strip, text.strip().split(",")):
        match = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", entry)
        if not match or not _is_date(*map(int, match.groups()), faithful=faithful):
            return Finding(False, f"{entry:.60} is no date from 1769 to 1821")
    return Finding(True, "all are dates")


def _is_date(year: int, month: int, day: int, *, faithful: bool) -> bool:
    if not 1769 <= year <= 1821 or month > 12:
        return False
    if faithful:  # it takes month 0 and day 0, and 29 February in every year
        return month == 0 or day <= (29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31)
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
