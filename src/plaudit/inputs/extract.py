"""The part of a text that counts: tags, fences, JSON, an option letter, a box.

Everything here takes time linear in the text.
"""

import json
import re
from collections import deque
from collections.abc import Iterator
from functools import cache
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
# How models open and close their thinking, as regular expressions; a user may add a format.
THINKING = {
    r"<think>": r"</think>",
    r"<thinking>": r"</thinking>",
    r"<thought>": r"</thought>",
    r"<reasoning>": r"</reasoning>",
    r"<scratchpad>": r"</scratchpad>",
    r"<seed:think>": r"</seed:think>",  # Seed-OSS
    r"◁think▷": r"◁/think▷",  # Kimi
    r"\[THINK\]": r"\[/THINK\]",  # Magistral
    r"<\|begin_of_thought\|>": r"<\|end_of_thought\|>",
    r"<\|START_THINKING\|>": r"<\|END_THINKING\|>",  # Command A
    # gpt-oss, with its tokens and with the tokens stripped
    r"<\|channel\|>analysis": (
        r"<\|channel\|>final(?: [^<]*+)?<\|message\|>|(?=<\|channel\|>commentary)"
    ),
    r"\Aanalysis(?=[A-Z])": r"(?<=[.!?\d)])assistantfinal",
    r"\AHere is my thought process:": r"Here is my response:",  # Granite
    r"\AThinking\.\.\.": r"\.\.\.done thinking\.",  # Ollama
    r"\A[#* ]*+Thinking[*: ]*+\n": r"\n[#* ]*+Response[*: ]*+\n",
}
# What is still repaired of broken JSON: some 250 boxes, in a fraction of a second.
_REPAIR_CHARACTERS = 10_000
_REPAIR_ESCAPES = 100
_REPAIR_STEPS = 300_000


def _ends_of(text: str) -> tuple[str, ...]:
    """Return the ends to look for: one in plain words, such as "Response", needs its opening."""
    return tuple(
        end
        for opening, end in THINKING.items()
        if _may_occur(end, text) and (not opening.startswith(r"\A") or re.match(opening, text))
    )


def _openings_of(text: str) -> tuple[str, ...]:
    return tuple(opening for opening in THINKING if _may_occur(opening, text))


def _may_occur(pattern: str, text: str) -> bool:
    """Whether a text may have a pattern: it has the mark that the pattern begins with, if any.

    To look for every format takes a tenth of a second in a megabyte, and most texts have none.
    """
    if pattern.startswith(r"\A"):
        return re.match(pattern, text, re.IGNORECASE) is not None
    return _mark(pattern) in text


def _mark(pattern: str) -> str:
    """The sign that a pattern begins with; "" if it may begin with anything."""
    first = pattern[1] if pattern[0] == "\\" else pattern[0]
    return "" if first.isalnum() or (first == pattern[0] and first in "([.^$") else first


@cache
def _signs(formats: tuple[tuple[str, str], ...]) -> tuple[frozenset[str], re.Pattern[str]]:
    """The marks of the formats, of which most texts have none, and the openings at the start."""
    anchored = [opening for opening, _ in formats if opening.startswith(r"\A")]
    marked = [one for one in formats if one[0] not in anchored]
    marks = frozenset(_mark(pattern) for both in marked for pattern in both)
    return marks, _any_of((*anchored, "(?!)"))


def after_thinking(text: str) -> str:
    """Return the text after the thinking: what stands inside it does not count.

    THINKING has the formats. An end alone means that the prompt opened it; thinking that never ends
    is thinking.

    >>> after_thinking("◁think▷Is it 3?◁/think▷It is 4."), after_thinking("<thinking>It is 3.")
    ('It is 4.', '')
    """
    marks, anchored = _signs(tuple(THINKING.items()))
    if not any(mark in text for mark in marks) and not anchored.match(text):
        return text
    formats = _ends_of(text)
    ends = deque(_any_of(formats).finditer(text), maxlen=1) if formats else ()
    after = text[ends[0].end() :] if ends else text
    formats = _openings_of(after)
    opened = _any_of(formats).search(after) if formats else None
    return after[: opened.start()] if opened else after


@cache
def _any_of(formats: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(formats), re.IGNORECASE)


def first_tag(text: str, tag: str) -> str | None:
    """Return what stands in the first `<tag>…</tag>`, stripped."""
    return next(_between(text, f"<{tag}>", f"</{tag}>"), None)


def last_tag(text: str, tag: str) -> str | None:
    """Return what stands in the last `<tag>…</tag>`, stripped."""
    return _last(_between(text, f"<{tag}>", f"</{tag}>"))


def first_fence(text: str, language: str = "") -> str | None:
    """Return what stands in the first fenced block of a language, stripped."""
    return next(_between(text, f"```{language}", "```"), None)


def last_fence(text: str, language: str = "") -> str | None:
    """Return what stands in the last fenced block of a language, stripped."""
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
    """Return whether the patterns occur one after another, anything in between."""
    return _end_in_order(text, 0, *patterns) is not None


def _end_in_order(text: str, end: int, *patterns: str) -> int | None:
    for pattern in patterns:
        found = re.compile(pattern).search(text, end)
        if found is None:
            return None
        end = found.end()
    return end


def only_tags(text: str, *tags: str) -> bool:
    """Whether the text is these tags in this order, white space between them, and nothing else."""
    opening, closing = f"<{tags[0]}>", f"</{tags[-1]}>"
    seams = [f"</{left}>\\s*+<{right}>" for left, right in pairwise(tags)]
    if not text.startswith(opening) or not text.endswith(closing):
        return False
    end = _end_in_order(text, len(opening), *seams)
    return end is not None and end <= len(text) - len(closing)


def clean(text: str) -> str:
    """The last `<answer>` if there is one, on one line, without trailing dots, in lower case."""
    answer = last_tag(text, "answer")
    # That strips, and so does this function: the order makes no difference.
    text = text if answer is None else answer
    text = _LINE_END.sub(" ", _LINE_END_AFTER_SPACE.sub("", text))
    return text.strip().rstrip(".").lower()


def plain_latex(text: str) -> str:
    r"""Return a formula without space, sizes, degrees, percent and units."""
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
    """Return the option that a text picks: a single capital before punctuation or at the end."""
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
    """Return the first `[int, int, int, int]`."""
    found = _INT_BOX.search(text)
    if found is None:
        return None
    # As floats: Python's int refuses more than 4,300 digits.
    left, top, right, bottom = map(float, found.groups())
    return left, top, right, bottom


def json_items(text: str) -> list[Any] | None:
    """Return the items of a JSON list; a lone object is a list of one; None if it is neither."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else None


def box_list(text: str) -> list[Any] | None:
    """Return the list of boxes that a text gives, fenced or not; broken JSON is repaired."""
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
