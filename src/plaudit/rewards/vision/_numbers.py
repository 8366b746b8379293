"""Rewards for how many there are, and for when something happens in a video."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from plaudit.answers import answer_text, count_in_words
from plaudit.inputs.columns import number_of, rows_of, same_length
from plaudit.inputs.completions import Completion, texts_of
from plaudit.rewards.vision._answers import (
    NO_GOLD,
    answer_of,
    bad_gold,
    failed,
    fault_of,
    gold_text,
    none_score,
    says_none,
)
from plaudit.scores import Score, reward

_DIGITS = r"\d{1,3}+(?:,\d{3})++(?:\.\d++)?|\d++\.?\d*+(?:[eE][+-]?\d{1,3})?"
_NUMBER = re.compile(rf"(?<![\w.])-?(?:{_DIGITS})(?![\d\w]*+\d)")
_WORD = re.compile(r"[a-z]++")
_HEDGE = re.compile(
    r"\bnot\b|n['’]t\b|\bat (?:least|most)\b|\bor (?:more|less|fewer)\b"
    r"|\b(?:more|less|fewer) than\b|\bbetween\b|\bup to\b|±|\+/-|(?<!\w)[<>≤≥~]=?\s*+\d|\d\+(?!\d)"
    r"|\bover \d|\bunder \d",
    re.IGNORECASE,
)
_TOTAL = re.compile(r"^\W*(?:(?:the |in |final )?(?:total|answer|count|sum|altogether))\b", re.I)
_LONGEST = 10_000  # characters of an answer in which a count or a time is looked for


@reward(columns=("solution",))
def count_reward(
    completions: Sequence[Completion],
    solution: Sequence[Any],
    reach: float | None = None,
    **kwargs: Any,
) -> list[Score]:
    """1.0 if the one number in the final answer is the gold; 0.0 for several numbers or a range.

    Words are read too: "three dogs" is 3, and "none" is 0.

    solution: the gold of each row: a whole number, or text with one; None skips the row
    reach: the share of the gold by which a number may be off until the value falls to 0.0, evenly;
        at least one. Default: only the gold itself is paid

    >>> count_reward(["There are three dogs.", "3 or 4", "about 5"], [3, 3, 4], reach=0.5)
    [1.0, 0.0, 0.5]
    """
    share = None if reach is None else number_of(reach, "reach")
    texts = texts_of(completions)
    same_length(completions, solution=solution)
    golds = rows_of(solution, "solution")
    return [_count_score(text, gold, share) for text, gold in zip(texts, golds, strict=True)]


def _count_score(text: str, gold: Any, reach: float | None) -> Score:
    written = gold_text(gold)
    if written is None:
        return NO_GOLD
    wanted = _counts(written)
    if len(wanted) != 1 or wanted[0] != int(wanted[0]):
        return bad_gold(written, "no whole number")
    shown = f"{wanted[0]:.0f}"
    answer = answer_text(text)
    found = _counts(answer[:_LONGEST])
    if len(found) > 1:
        lines = answer.strip().splitlines()
        last = _counts(lines[-1]) if _TOTAL.match(lines[-1]) else []
        found = last if len(last) == 1 else found
    if not found:
        return failed("The answer has no number.", "no_answer", answer, shown)
    # A number in words ends at the end of its text: remarks after it are in the way of no count.
    places = [one.span() for one in _NUMBER.finditer(answer)] or [(0, 0)]
    if fault := fault_of(answer, places, False, "number", one=False):
        return failed(*fault, answer, shown)
    if len(found) > 1 or _HEDGE.search(answer):
        return failed("The answer is not one number.", "several", answer, shown)
    off = abs(found[0] - wanted[0])
    value = float(off == 0)
    if reach and off:
        value = max(0.0, 1.0 - off / max(1.0, reach * abs(wanted[0])))
    verb = "is" if off == 0 else "is not"
    status = "equal" if off == 0 else "different"
    return Score(value, f"{found[0]:.6g} {verb} the gold {shown}.", answer[:300], shown, "count",
                 status=status, right=off == 0)  # fmt: skip


def _counts(text: str) -> list[float]:
    """Return the numbers of a text, in digits and in words."""
    if says_none(text) or text.strip(" .*").lower() in ("none", "no"):
        return [0.0]
    digits = [float(found.replace(",", "")) for found in _NUMBER.findall(text)]
    return digits + _spelled(text.lower())


def _spelled(text: str) -> list[float]:
    """Return the numbers that words spell, the longest runs first: "twenty-three" is one number."""
    words = _WORD.findall(text.replace("a dozen", "twelve"))
    numbers: list[float] = []
    start = 0
    while start < len(words):
        for end in range(min(len(words), start + 8), start, -1):
            number = count_in_words(words[start:end])
            if number is not None:
                numbers.append(float(number))
                start = end
                break
        else:
            start += 1
    return numbers


# -- Spans of time

_CLOCK = r"(?<![\d:.])(?:\d++:)?\d++:\d{2}(?:\.\d++|,\d{3}(?!\d))?(?![\d:])"
_TIME = rf"(?:{_CLOCK}|(?<![\w.])-?(?:\d++\.?\d*+|\.\d++)(?![\d.:]))"
_AFTER = r"[\"']?(?:\s*+(?:s|secs?|seconds?)\b)?[\"']?"
_UNTIL = r"(?:-{1,2}>|→|-|–|—|~|\bto\b|\buntil\b|\btill\b|\band\b)"
_IS = r"[\"']?(?:\s++(?:time|at|is))*+\s*+[:=]?\s*+[\"']?"
_PAIR = re.compile(
    rf"[\[(]\s*+[\"']?({_TIME}){_AFTER}\s*+,\s*+[\"']?({_TIME}){_AFTER}\s*+[\])]"
    rf"|\A({_TIME}){_AFTER}\s*+,\s*+({_TIME}){_AFTER}\.?\Z"
    rf"|(?:\bfrom\s++)?({_TIME}){_AFTER}\s*+{_UNTIL}\s*+({_TIME}){_AFTER}"
    rf"|\b(?:start|begin)\w*+{_IS}({_TIME}){_AFTER}"
    rf"[^\d]{{0,40}}?\b(?:end|finish|stop)\w*+{_IS}({_TIME})",
    re.IGNORECASE,
)
_SCALES = ("seconds", "unit", "frames")


class Span(NamedTuple):
    """A start and an end in seconds, and where the text that says so starts and ends."""

    start: float
    end: float
    place: tuple[int, int]


@reward(columns=("solution", "duration", "fps"))
def span_reward(
    completions: Sequence[Completion],
    solution: Sequence[Any],
    duration: Any = None,
    fps: Any = None,
    *,
    scale: str = "seconds",
    golds: str = "one",
    threshold: float | None = None,
    **kwargs: Any,
) -> list[Score]:
    """The IoU of the one span of time in the final answer with the gold; 0.0 for several spans.

    Read are `[12.5, 20]`, "12.5 to 20 seconds", "01:15 - 02:30", and objects with start and end.

    solution: the gold of each row in seconds: `[start, end]`, an object with `start` and `end`, or
        text; `[]` or "none" if it does not happen, which the answer has to say; None skips the row
    duration: the length of each video in seconds, for the scale "unit"
    fps: the frames of each video in a second, for the scale "frames"
    scale: what the numbers of an answer are: seconds, unit (from 0 to 1) or frames.
        Default: "seconds"
    golds: "any" if a list of golds holds alternatives. Default: "one"
    threshold: the IoU from which the value is 1.0, below it 0.0. Default: the IoU itself

    >>> span_reward(["It lasts from 10s to 20s."], [[15, 20]])
    [0.5]
    """
    if scale not in _SCALES:
        raise ValueError(f"scale must be one of {', '.join(_SCALES)}, got {scale!r:.80}")
    if golds not in ("one", "any"):
        raise ValueError(f'golds must be "one" or "any", got {golds!r:.80}')
    least = None if threshold is None else number_of(threshold, "threshold")
    texts = texts_of(completions)
    same_length(completions, solution=solution)
    factors = _factors(completions, scale, duration, fps)
    return [
        _span_score(text, gold_text(gold), factor, golds == "any", least)
        for text, gold, factor in zip(texts, rows_of(solution, "solution"), factors, strict=True)
    ]


def _factors(completions: Sequence[Any], scale: str, duration: Any, fps: Any) -> list[float]:
    """Return how many seconds one unit of an answer is, for each row."""
    if scale == "seconds":
        return [1.0] * len(completions)
    name, column = ("duration", duration) if scale == "unit" else ("fps", fps)
    if column is None:
        raise ValueError(f"the scale {scale!r} needs the column {name}")
    if isinstance(column, int | float):
        column = [column] * len(completions)
    same_length(completions, **{name: column})
    numbers = [number_of(one, f"{name} {row}") for row, one in enumerate(rows_of(column, name))]
    for row, number in enumerate(numbers):
        if number <= 0:
            raise ValueError(f"{name} {row} must be above 0, got {number}")
    return numbers if scale == "unit" else [1.0 / number for number in numbers]


def _span_score(
    text: str, gold: str | None, factor: float, takes_any: bool, threshold: float | None
) -> Score:
    if gold is None:
        return NO_GOLD
    answer, retracted = answer_of(text)
    found = _spans(answer[:_LONGEST], factor)
    if says_none(gold):
        return none_score(answer, len(found), retracted)
    wanted = _spans(gold, 1.0)
    if not wanted or (len(wanted) > 1 and not takes_any) or any(not _length(one) for one in wanted):
        return bad_gold(gold, "no span of time")
    shown = gold[:300]
    if fault := fault_of(answer, [span.place for span in found], retracted, "span of time"):
        return failed(*fault, answer, shown)
    if not _length(found[0]):
        return failed("The span of time has no length.", "no_answer", answer, shown)
    value = max(_span_iou(found[0], one) for one in wanted)
    why = f"{found[0].start:.6g} to {found[0].end:.6g} seconds: the IoU is {value:.3f}."
    right = value >= 0.5
    if threshold is not None:
        value = float(value >= threshold)
    return Score(value, why, answer[:300], shown, "IoU of spans", right=right)


def _spans(text: str, factor: float) -> list[Span]:
    spans = []
    for found in _PAIR.finditer(text):
        start, end = (one for one in found.groups() if one is not None)
        spans.append(Span(_seconds(start, factor), _seconds(end, factor), found.span()))
    return spans


def _seconds(written: str, factor: float) -> float:
    if ":" not in written:
        return float(written) * factor
    total = 0.0
    for part in written.split(":"):
        total = total * 60 + float(part.replace(",", "."))
    return total


def _length(span: Span) -> float:
    return max(0.0, span.end - span.start)


def _span_iou(a: Span, b: Span) -> float:
    both = max(0.0, min(a.end, b.end) - max(a.start, b.start))
    return both / (_length(a) + _length(b) - both)
