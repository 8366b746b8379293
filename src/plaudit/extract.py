"""A text in, and out comes the part of it that counts: tags, fences, JSON, an option letter, a box.

Everything here takes time linear in the text.
"""

import json
import re
from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

# Possessive quantifiers (`++`, `*+`) never give back what they took: no pattern here backtracks.
INT_BOX = r"\[(\d++),\s*+(\d++),\s*+(\d++),\s*+(\d++)\]"

_INT_BOX = re.compile(INT_BOX)
_NO_MEANING = re.compile(r"\\(?:left|right)(?![a-z])|\\!|\^\{?\\circ\}?|\\[$%]|\s")
_LINE_END = re.compile(r"[\r\n]++")
_LINE_END_AFTER_SPACE = re.compile(r"(?<=\s)[\r\n]++")
_OPTION = re.compile(r"(?<![A-Z])[A-Z](?=[.,?!:;]|$)")
_WORDS_NEAR_AN_OPTION = (
    *("ANSWER", "CORRECT", "CHOOSE", "SELECT", "RIGHT", "THINK", "BELIEVE", "SHOULD"),
    *("答案", "选择", "正确", "是", "对", "认为", "应该", "觉得"),
)
_PUNCTUATION = tuple(".,?!:;。！，")
# What is still repaired of broken JSON: some 250 boxes, in a fraction of a second.
_REPAIR_CHARACTERS = 10_000
_REPAIR_ESCAPES = 100
_REPAIR_STEPS = 300_000


def first_tag(text: str, tag: str) -> str | None:
    """What stands in the first `<tag>…</tag>`, stripped.

    >>> first_tag("<answer> 4 </answer><answer>5</answer>", "answer")
    '4'
    """
    return next(_between(text, f"<{tag}>", f"</{tag}>"), None)


def last_tag(text: str, tag: str) -> str | None:
    """What stands in the last `<tag>…</tag>`, stripped.

    >>> last_tag("<answer> 4 </answer><answer>5</answer>", "answer")
    '5'
    """
    return _last(_between(text, f"<{tag}>", f"</{tag}>"))


def first_fence(text: str, language: str = "") -> str | None:
    """What stands in the first fenced block of a language, stripped.

    >>> first_fence("```json [1] ``` and ```json [2] ```", "json")
    '[1]'
    """
    return next(_between(text, f"```{language}", "```"), None)


def last_fence(text: str, language: str = "") -> str | None:
    """What stands in the last fenced block of a language, stripped.

    >>> last_fence("```json [1] ``` and ```json [2] ```", "json")
    '[2]'
    """
    return _last(_between(text, f"```{language}", "```"))


def _between(text: str, opening: str, closing: str) -> Iterator[str]:
    end = 0
    while (start := text.find(opening, end)) >= 0:
        start += len(opening)
        stop = text.find(closing, start)
        if stop < 0:
            return
        yield text[start:stop].strip()
        end = stop + len(closing)


def _last(found: Iterator[str]) -> str | None:
    # A queue of one keeps the last that went through it.
    return next(iter(deque(found, maxlen=1)), None)


def in_order(text: str, *patterns: str) -> bool:
    """Whether the patterns occur one after another, anything in between.

    >>> in_order("<think>a</think> <answer>b</answer>", "<think>", "</think>", "</answer>")
    True
    """
    return _end_in_order(text, 0, *patterns) is not None


def _end_in_order(text: str, end: int, *patterns: str) -> int | None:
    for pattern in patterns:
        found = re.compile(pattern).search(text, end)
        if found is None:
            return None
        end = found.end()
    return end


def only_tags(text: str, *tags: str) -> bool:
    """Whether the text is these tags in this order, white space between them, and nothing else.

    >>> only_tags("<think>a</think> <answer>b</answer>", "think", "answer")
    True
    >>> only_tags("<think>a</think> so <answer>b</answer>", "think", "answer")
    False
    """
    opening, closing = f"<{tags[0]}>", f"</{tags[-1]}>"
    seams = [f"</{left}>\\s*+<{right}>" for left, right in pairwise(tags)]
    if not text.startswith(opening) or not text.endswith(closing):
        return False
    end = _end_in_order(text, len(opening), *seams)
    return end is not None and end <= len(text) - len(closing)


def clean(text: str) -> str:
    """The last `<answer>` if there is one, on one line, without trailing dots, in lower case.

    >>> clean("<answer>A red\\nCar. </answer>")
    'a red car'
    """
    answer = last_tag(text, "answer")
    # That strips, and so does this function: the order makes no difference.
    text = text if answer is None else answer
    text = _LINE_END.sub(" ", _LINE_END_AFTER_SPACE.sub("", text))
    return text.strip().rstrip(".").lower()


def plain_latex(text: str) -> str:
    r"""A formula without what does not change its meaning: space, sizes, degrees, percent, units.

    >>> plain_latex(r"x = \dfrac12"), plain_latex(r"\left( .5, 90^\circ \right)")
    ('\\frac{1}{2}', '(0.5,90)')
    """
    text = _NO_MEANING.sub("", text.partition(r"\text{ ")[0])
    text = re.sub(r"\\[td]frac", r"\\frac", text)
    text = re.sub(r"(?<!\d)\.(?=\d)", "0.", text)
    name, equals, value = text.partition("=")
    text = value if equals and len(name) <= 2 and "=" not in value else text
    text = re.sub(r"\\(frac|sqrt)([^{\\\[])", r"\\\1{\2}", text)
    text = re.sub(r"\\frac(\{[^{}]*+\})([^{\\])", r"\\frac\1{\2}", text)
    text = re.sub(r"^(-?\d++)/(\d++)$", r"\\frac{\1}{\2}", text)
    return r"\frac{1}{2}" if text == "0.5" else text


def option_letter(text: str) -> str | None:
    """The option that a text picks: a capital that stands alone, before punctuation or at the end.

    >>> option_letter("It is not A, so the answer is B.")
    'B'
    >>> option_letter("no idea at all") is None
    True
    """
    text = re.sub(r"\s+", " ", text.upper())
    options = dict.fromkeys(_OPTION.findall(text))
    # The first of the best: `max` keeps the order of the text.
    return max(options, key=lambda option: _hints(text, option), default=None)


def _hints(text: str, option: str) -> int:
    at = text.find(option)
    near = text[max(0, at - 20) : at + 20]
    hints = sum(word in near for word in _WORDS_NEAR_AN_OPTION)
    hints += 2 * (at > 0.7 * len(text))
    return hints + (text[at + 1 : at + 2] in _PUNCTUATION)


def first_int_box(text: str) -> tuple[float, float, float, float] | None:
    """The first `[int, int, int, int]`.

    >>> first_int_box('{"bbox_2d": [10, 20, 30, 40]}')
    (10.0, 20.0, 30.0, 40.0)
    """
    found = _INT_BOX.search(text)
    if found is None:
        return None
    # As floats: Python's int refuses more than 4,300 digits.
    left, top, right, bottom = map(float, found.groups())
    return left, top, right, bottom


def json_items(text: str) -> list[Any] | None:
    """The items of a JSON list; a lone object is a list of one; None where it is neither.

    >>> json_items('[{"bbox_2d": [0, 0, 9, 9]}]'), json_items("[broken")
    ([{'bbox_2d': [0, 0, 9, 9]}], None)
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else None


def box_list(text: str) -> list[Any] | None:
    """The list of boxes that a text gives, fenced or not; broken JSON is repaired.

    >>> box_list('Here: [{"bbox_2d": [0, 0, 9, 9], "label": "cat"}] as asked')
    [{'bbox_2d': [0, 0, 9, 9], 'label': 'cat'}]
    """
    block = first_fence(text, "json")
    if block is None:
        block = first_fence(text) or _bare_box_list(text)
    value = _json_or_repaired(block) if block else None
    return value if isinstance(value, list) and value else None


def _bare_box_list(text: str) -> str | None:
    start = re.search(r"\[\s*+\{", text)
    if start is None:
        return None
    end = _end_in_order(text, start.end(), '"bbox_2d"', '"label"', r"\}\s*+\]")
    return None if end is None else text[start.start() : end]


def _json_or_repaired(text: str) -> Any:
    import json_repair

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if len(text) > _REPAIR_CHARACTERS or text.count("\\") > _REPAIR_ESCAPES:
            return None
    try:
        return json_repair.repair_json(_Metered(text), skip_json_loads=True, return_objects=True)
    except (ValueError, RecursionError, _TooManyStepsError):
        return None


class _TooManyStepsError(Exception):
    pass


class _Metered(str):
    """A text that can be read so many times and no more.

    json-repair takes time quadratic in the text (a minute for 50 KB of `["a" `). It reads its text
    through `[]`, so counting that bounds it, by the same count on every machine. It also cuts its
    text and glues it again with a bracket added: pieces count on the meter of the whole.
    """

    __slots__ = ("meter",)
    meter: list[int]

    def __new__(cls, text: str, meter: list[int] | None = None) -> "_Metered":
        metered = super().__new__(cls, text)
        metered.meter = [_REPAIR_STEPS] if meter is None else meter
        return metered

    def __getitem__(self, key: Any) -> str:
        read = super().__getitem__(key)
        self.meter[0] -= 1 + len(read)
        if self.meter[0] < 0:
            raise _TooManyStepsError
        return _Metered(read, self.meter) if isinstance(key, slice) else read

    def __add__(self, other: str) -> "_Metered":
        return _Metered(super().__add__(other), self.meter)
