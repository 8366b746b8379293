r"""The reading of a text as data, for people who build datasets."""

from dataclasses import dataclass

from plaudit.answers._choices import read_choice
from plaudit.answers._dates import read_clock, read_date, says_time
from plaudit.answers._formatting import without_formatting
from plaudit.answers._grammar import read_tree
from plaudit.answers._kinds import check_kind, kind_of
from plaudit.answers._shown import shown
from plaudit.answers._text import words_of
from plaudit.answers._tree import CannotReadError, TooLargeError


@dataclass(frozen=True, slots=True)
class Reading:
    """How a text is read.

    kind: number, percent, quantity, angle, base, ratio, time, expression, equation, interval, list,
        tuple, matrix, choice or text
    value: the text without what only changes how it looks, such as `$…$` and `\\left`
    canonical: one text for everything that says the same, as far as reading alone can tell:
        `\\frac{2}{4}` and `0.5` are both "1/2"

    >>> read("0.5").canonical
    '1/2'
    """

    kind: str
    value: str
    canonical: str


def read(text: str, kind: str | None = None) -> Reading:
    r"""How a text is read as an answer; `kind` says what it is where the dataset knows.

    >>> read(r"$\dfrac{2}{4}$")
    Reading(kind='number', value='\\frac{2}{4}', canonical='1/2')
    >>> read("k < -5").kind, read(r"25\%").canonical, read("4:30 p.m.").canonical
    ('interval', '25%', '16:30')
    >>> read("a rhombus", kind="text").canonical
    'rhombus'
    """
    check_kind(kind)
    value = without_formatting(text)
    if kind == "choice":
        return Reading("choice", value, read_choice(text) or "")
    if kind != "text" and (kind == "time" or says_time(text)):
        clock = read_clock(text)
        if clock is not None:
            minutes, second = divmod(clock.seconds, 60)
            seconds = f":{second:02}" if second else ""
            return Reading("time", value, f"{minutes // 60:02}:{minutes % 60:02}{seconds}")
    if kind in (None, "text") and (date := read_date(text)) is not None:
        return Reading("text", value, "-".join(str(part) for part in date[:3] if part) or value)
    if kind != "text":
        try:
            tree, _ = read_tree(value, kind == "number")
            return Reading(kind or kind_of(tree), value, shown(tree))
        except (CannotReadError, TooLargeError, RecursionError):
            if kind is not None:
                return Reading(kind, value, "")
    return Reading("text", value, " ".join(words_of(text)))
