r"""Metrics of documents, charts, questions on images and speech, on the final answer of each text.

    from plaudit.rewards.text import anls_reward

    anls_reward(["<answer>14 March 19s7</answer>"], ["14 March 1987"])   # [0.923…]

The final answer is what stands in a box or a tag, or is announced; else all text after the
thinking, since a transcript has many lines. An answer that is missing or taken back gets 0.0,
whatever a metric would say of an empty text. A gold may be a list of alternatives: the best counts.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from math import inf, nextafter
from typing import Any

from rapidfuzz.distance import Levenshtein

from plaudit.answers import answer_text
from plaudit.inputs import extract
from plaudit.inputs.columns import kind_of, number_of, plain, rows_of, same_length
from plaudit.inputs.completions import Completion, gold_alternatives_of, texts_of
from plaudit.judge import Status
from plaudit.scores import Score, reward
from plaudit.scores.algorithms import best_assignment
from plaudit.scores.score import logged

Gold = str | float | Sequence[str | float] | None

NO_GOLD = Score(None, "There is no gold: the row is skipped.", status="bad_gold")
# An answer that takes more comparisons, or is deeper, is not compared: it would take seconds.
MOST_PAIRS = 10_000
DEEPEST = 50


@reward(columns=("solution",), takes_alternatives=True)
def anls_reward(
    completions: Sequence[Completion],
    solution: Sequence[Any],
    threshold: float = 0.5,
    star: bool = False,
    **kwargs: Any,
) -> list[Score]:
    """ANLS: 1 less the edit distance as a share of the longer text; 0.0 below a threshold.

    Case does not count, and runs of white space are one space. The metric of DocVQA and
    InfographicVQA.

    solution: the gold of each row: text, a number, a list of alternatives, or None; with `star`,
        text, a list of which every item is asked for, in any order, or a dict
    threshold: the share of the distance from which the value is 0.0. Default: 0.5
    star: whether lists and dicts are compared item by item, as ANLS* does; the answer is then JSON.
        Default: False

    >>> anls_reward(["14 March 1987", "17 July"], [["14 march 1987", "14.3.87"], "14 March 1987"])
    [1.0, 0.0]
    >>> anls_reward(['["pears", "apples"]'], [["apples", "pears", "plums"]], star=True)
    [0.6666666666666666]
    """
    limit = number_of(threshold, "threshold")
    if star:
        return _star_scores(completions, solution, limit, kwargs)

    def measure(answer: str, gold: str) -> tuple[float, str]:
        value = _similarity(answer, gold, limit)
        return (value, f"{value:.0%} of the characters are those of the gold {gold:.60}.")

    return _best(completions, solution, measure, "ANLS", kwargs)


@reward(columns=("solution",), takes_alternatives=True)
def relaxed_accuracy_reward(
    completions: Sequence[Completion],
    solution: Sequence[Gold],
    tolerance: float = 0.05,
    years: str = "relaxed",
    **kwargs: Any,
) -> list[Score]:
    """1.0 if a number is within 5 % of the gold, or a text is the gold but for case.

    The metric of ChartQA. "25%" is 0.25. A gold of 0 is compared as text.

    tolerance: how far a number may be off, as a share of the gold. Default: 0.05
    years: "relaxed": as any number, so that 1950 is right for 2010; "exact": a gold of four digits
        from 1000 to 2999 must be met exactly. Default: "relaxed"

    >>> relaxed_accuracy_reward(["<answer>104</answer>", "Germany"], ["100", "germany"])
    [1.0, 1.0]
    """
    share = number_of(tolerance, "tolerance")
    if years not in ("relaxed", "exact"):
        raise ValueError(f'years must be "relaxed" or "exact", got {years!r:.80}')

    def measure(answer: str, gold: str) -> tuple[float, str]:
        numbers = _number(answer), _number(gold)
        is_year = years == "exact" and re.fullmatch(r"[12]\d{3}", gold)
        if None in numbers or not numbers[1] or is_year:
            same = answer.lower() == gold.lower()
            return (float(same), f"{answer:.60} {'is' if same else 'is not'} {gold:.60}.")
        off = abs(numbers[0] - numbers[1]) / abs(numbers[1])  # type: ignore[operator]
        why = f"{answer:.60} is {off:.1%} off the gold {gold:.60}; {share:.1%} are allowed."
        return (float(off <= share), why)

    return _best(completions, solution, measure, "relaxed accuracy", kwargs)


@reward(columns=("solution",))
def vqa_accuracy_reward(
    completions: Sequence[Completion], solution: Sequence[Sequence[str] | None], **kwargs: Any
) -> list[Score]:
    """How many people gave the answer: the metric of VQA, for ten golds or so of each row.

    For each gold: a third of how many others are the answer, at most 1; then the mean. Of ten,
    four that agree are enough for 1.0. Case, punctuation and articles do not count, and number
    words up to ten are digits.

    solution: for each row, the list of what people answered, at least two; or None

    >>> vqa_accuracy_reward(["Blue."], [["blue"] * 3 + ["navy"] * 7])
    [0.9]
    """
    texts = texts_of(completions)
    same_length(completions, solution=solution)
    golds = gold_alternatives_of(solution)
    for row, known in enumerate(golds):
        if len(known) == 1:
            raise ValueError(
                f"solution {row} has one answer, and VQA accuracy counts how many people agree: "
                "pass a list of several, or use anls_reward or answers.exact_match_reward"
            )
    scores = [
        _vqa_score(answer_text(text), known) for text, known in zip(texts, golds, strict=True)
    ]
    return logged(scores, kwargs)


@reward(columns=("solution",), takes_alternatives=True)
def wer_reward(
    completions: Sequence[Completion],
    solution: Sequence[Gold],
    normalizer: str = "none",
    **kwargs: Any,
) -> list[Score]:
    """1 less the word error rate of a transcript, at least 0.0.

    normalizer: what both sides go through first: "none"; "lower-punctuation": case and punctuation
        do not count; "whisper-basic" or "whisper-english", which need the extra `speech`.
        Default: "none"

    >>> wer_reward(["the train leaves at ten"], ["the train leaves at nine"])
    [0.8]
    """
    return _error_rates(completions, solution, normalizer, str.split, "word", kwargs)


@reward(columns=("solution",), takes_alternatives=True)
def cer_reward(
    completions: Sequence[Completion],
    solution: Sequence[Gold],
    normalizer: str = "none",
    **kwargs: Any,
) -> list[Score]:
    """1 less the character error rate of a transcript or of a text in an image, at least 0.0.

    normalizer: as of `wer_reward`

    >>> cer_reward(["ten"], ["tens"])
    [0.75]
    """
    return _error_rates(completions, solution, normalizer, list, "character", kwargs)


def _best(
    completions: Sequence[Completion],
    solution: Sequence[Gold],
    measure: Callable[[str, str], tuple[float, str]],
    method: str,
    columns: Mapping[str, Any],
) -> list[Score]:
    """Return the score of each row: that of the gold which the answer comes nearest to."""
    texts = texts_of(completions)
    same_length(completions, solution=solution)
    scores = []
    for text, known in zip(texts, gold_alternatives_of(solution), strict=True):
        golds = [gold.strip() for gold in known if gold.strip()]
        answer = answer_text(text).strip()
        if not golds:
            scores.append(NO_GOLD)
        elif not answer:
            scores.append(_no_answer(golds[0]))
        else:
            measured = [(measure(answer, gold), gold) for gold in golds]
            (value, why), gold = max(measured, key=lambda one: one[0][0])
            right = value == 1.0
            status = Status.EQUAL if right else Status.DIFFERENT
            scores.append(Score(value, why, answer[:300], gold, method, status, right))
    return logged(scores, columns)


def _no_answer(gold: str) -> Score:
    why = "The completion has no final answer."
    return Score(0.0, why, None, gold, status="no_answer", right=False)


# -- ANLS


def _similarity(answer: object, gold: object, threshold: float) -> float:
    a, b = (" ".join(str(text).lower().split()) for text in (answer, gold))
    longer = max(len(a), len(b))
    # What is farther is 0 anyway, and need not be computed.
    distance = Levenshtein.distance(a, b, score_cutoff=int(threshold * longer) + 1)
    share = distance / longer if longer else 0.0
    return 1.0 - share if share < threshold else 0.0


def _star_scores(
    completions: Sequence[Completion],
    solution: Sequence[Any],
    threshold: float,
    columns: Mapping[str, Any],
) -> list[Score]:
    texts = texts_of(completions)
    same_length(completions, solution=solution)
    golds = [plain(gold) for gold in rows_of(solution, "solution")]
    scores = [
        _star_score(answer_text(text), gold, threshold, row)
        for row, (text, gold) in enumerate(zip(texts, golds, strict=True))
    ]
    return logged(scores, columns)


def _star_score(text: str, gold: Any, threshold: float, row: int) -> Score:
    if gold is None or gold == "":
        return NO_GOLD
    if not isinstance(gold, str | int | float | list | dict):
        raise TypeError(
            f"solution {row} must be text, a number, a list or a dict, got {kind_of(gold)}"
        )
    shown = gold if isinstance(gold, str) else json.dumps(gold, ensure_ascii=False)
    if not text:
        return _no_answer(shown)
    answer = _json_or_text(text)
    # One text for a list is a list of one: it is not an alternative of many.
    answer = [answer] if isinstance(gold, list) and not isinstance(answer, list) else answer
    try:
        # ANLS* still pays a value that is exactly at the threshold, and ANLS does not.
        total, count = _Comparison(nextafter(threshold, inf)).values(answer, gold)
    except _TooManyPairsError:
        why = f"The answer is deeper than {DEEPEST} levels, or its lists are too long."
        return Score(0.0, why, text[:300], shown, "ANLS*", status="limit", right=False)
    value = total / count if count else 1.0
    why = f"{total:.2f} of {count} values are those of the gold."
    return Score(value, why, text[:300], shown, "ANLS*", right=value == 1.0)


def _json_or_text(text: str) -> Any:
    fenced = extract.last_fence(text, "json") or extract.last_fence(text)
    try:
        return json.loads(fenced or text)
    except (ValueError, RecursionError):
        return text


class _TooManyPairsError(Exception):
    """A comparison would take too long."""


class _Comparison:
    """Compares answers with golds item by item; lists in lists share one number of pairs."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._pairs = 0

    def values(self, answer: Any, gold: Any, depth: int = DEEPEST) -> tuple[float, int]:
        """Return the sum of the values of all leaves, and how many leaves both sides have."""
        if depth == 0:
            raise _TooManyPairsError
        if isinstance(gold, list) and isinstance(answer, list):
            return self._lists(answer, gold, depth - 1)
        if isinstance(gold, dict) and isinstance(answer, dict):
            parts = [self.values(answer.get(key), gold[key], depth - 1) for key in gold]
            # A key too many counts, even if it has no value.
            extra = [answer[key] for key in answer if key not in gold]
            parts += [(0.0, max(1, _leaves(value, depth))) for value in extra]
            return sum(part[0] for part in parts), sum(part[1] for part in parts)
        count = max(_leaves(answer, depth), _leaves(gold, depth))
        if gold is None:
            return float(answer in (None, "", [], {})), count
        if answer is None or isinstance(answer, list | dict) or isinstance(gold, list | dict):
            return 0.0, count
        return _similarity(answer, gold, self._threshold), count

    def _lists(self, answer: list[Any], gold: list[Any], depth: int) -> tuple[float, int]:
        self._pairs += len(answer) * len(gold)
        if self._pairs > MOST_PAIRS:
            raise _TooManyPairsError
        parts = [[self.values(item, wanted, depth) for item in answer] for wanted in gold]
        means = [[total / count if count else 1.0 for total, count in row] for row in parts]
        chosen = best_assignment(means)
        rows, columns = {row for row, _ in chosen}, {column for _, column in chosen}
        count = sum(parts[row][column][1] for row, column in chosen)
        count += sum(_leaves(item, depth) for row, item in enumerate(gold) if row not in rows)
        count += sum(_leaves(item, depth) for at, item in enumerate(answer) if at not in columns)
        return sum(parts[row][column][0] for row, column in chosen), count


def _leaves(value: Any, depth: int) -> int:
    if not isinstance(value, list | dict):
        return 1
    if depth == 0:
        raise _TooManyPairsError
    items = value.values() if isinstance(value, dict) else value
    return sum(_leaves(item, depth - 1) for item in items)


# -- Relaxed accuracy

_NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d{1,4})?")


def _number(text: str) -> float | None:
    """Return a plain number, a percentage as a share; None if it is anything else."""
    digits = text.removesuffix("%").rstrip() if text.endswith("%") else text
    if len(digits) > 400 or not _NUMBER.fullmatch(digits):
        return None
    return float(digits) / (100 if text.endswith("%") else 1)


# -- VQA accuracy

_PUNCTUATION = ';/[]"{}()=+\\_-><@`,?!'
_DIGITS = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten".split())
} | {"none": "0"}
_ARTICLES = ("a", "an", "the")
_CONTRACTIONS = {
    word.replace("'", ""): word
    for word in """ain't aren't can't could've couldn't didn't doesn't don't hadn't hasn't haven't
    he'd he's how'd how'll how's isn't it'd it'll ma'am might've mightn't must've mustn't needn't
    not've o'clock oughtn't shan't should've shouldn't somebody'll somebody's someone'd someone'll
    someone's something'd something'll that's there'd there're there's they'd they'll they're
    they've 'twas wasn't we've weren't what'll what're what's what've when's where'd where's
    where've who'd who'll who's who've why'll why're why's won't would've wouldn't y'all you'd
    you'll you're you've""".split()
} | {
    # With two apostrophes, of which one is missing.
    spelt: f"{word}'{end}'ve"
    for word, end in (
        one.split("'")
        for one in """couldn't hadn't he'd it'd mightn't she'd shouldn't somebody'd someone'd
        something'd there'd they'd we'd who'd wouldn't you'd""".split()
    )
    for spelt in (f"{word}{end}'ve", f"{word}'{end}ve")
}


def _vqa_score(answer: str, golds: list[str]) -> Score:
    if not golds:
        return NO_GOLD
    if not answer.strip():
        return _no_answer(golds[0])
    said = _vqa_normal(answer)
    same = [_vqa_normal(gold) == said for gold in golds]
    agree = sum(same)
    values = [min(1.0, (agree - own) / 3) for own in same]
    value = round(sum(values) / len(values), 12)  # 0.9, not 0.8999…
    why = f"{agree} of {len(golds)} people gave this answer."
    return Score(value, why, answer[:300], golds[same.index(True)] if agree else golds[0],
                 "VQA accuracy", right=value == 1.0)  # fmt: skip


@lru_cache(maxsize=4096)  # ten people mostly give a few answers
def _vqa_normal(text: str) -> str:
    """Return a text as VQA compares it: without case, punctuation and articles."""
    text = " ".join(text.split())
    cleaned = text
    has_comma = re.search(r"\d,\d", text)
    for mark in _PUNCTUATION:
        # Next to a space, and in a text with a number such as 1,000, a mark is dropped.
        dropped = f"{mark} " in text or f" {mark}" in text or has_comma
        cleaned = cleaned.replace(mark, "" if dropped else " ")
    cleaned = re.sub(r"\.(?!\d)", "", cleaned)
    words = (_DIGITS.get(word, word) for word in cleaned.lower().split())
    return " ".join(_CONTRACTIONS.get(word, word) for word in words if word not in _ARTICLES)


# -- Error rates


def _error_rates(
    completions: Sequence[Completion],
    solution: Sequence[Gold],
    normalizer: str,
    split: Callable[[str], Sequence[str]],
    unit: str,
    columns: Mapping[str, Any],
) -> list[Score]:
    normalize = _normalizer(normalizer)

    def measure(answer: str, gold: str) -> tuple[float, str]:
        said, wanted = (split(normalize(text).strip()) for text in (answer, gold))
        if not wanted:  # nothing but punctuation, say
            return (float(not said), f"The gold has no {unit}.")
        if len(said) >= 2 * len(wanted):  # at least as many errors as the gold has units
            errors = len(said) - len(wanted)
            at_least = "at least "
        else:
            errors, at_least = Levenshtein.distance(said, wanted), ""
        why = f"{at_least}{errors} errors in a gold of {len(wanted)} {unit}s.".capitalize()
        return (max(0.0, 1.0 - errors / len(wanted)), why)

    return _best(completions, solution, measure, f"{unit} error rate", columns)


@cache
def _normalizer(name: str) -> Callable[[str], str]:
    if name == "none":
        return str
    if name == "lower-punctuation":
        return _lower_without_punctuation
    if name not in ("whisper-basic", "whisper-english"):
        known = "none, lower-punctuation, whisper-basic or whisper-english"
        raise ValueError(f"normalizer must be {known}, got {name!r:.80}")
    try:
        from whisper_normalizer.basic import BasicTextNormalizer
        from whisper_normalizer.english import EnglishTextNormalizer
    except ImportError as error:
        needed = "pip install 'plaudit[speech]'"
        raise ImportError(f"normalizer = {name!r} needs whisper-normalizer: {needed}") from error
    kind = BasicTextNormalizer if name == "whisper-basic" else EnglishTextNormalizer
    normalize: Callable[[str], str] = kind()
    return normalize


def _lower_without_punctuation(text: str) -> str:
    kept = (c for c in text.lower() if not unicodedata.category(c).startswith("P"))
    return re.sub(r"\s\s+", " ", "".join(kept)).strip()
