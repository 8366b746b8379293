"""Text to the part of it that counts. Everything here takes time linear in the text."""

import re
from collections.abc import Iterator

WORDS_NEAR_A_CHOICE = (
    *("ANSWER", "CORRECT", "CHOOSE", "SELECT", "RIGHT", "THINK", "BELIEVE", "SHOULD"),
    *("答案", "选择", "正确", "是", "对", "认为", "应该", "觉得"),
)


def first_tag(text: str, tag: str) -> str | None:
    """What stands in the first `<tag>…</tag>`, stripped.

    >>> first_tag("<answer> 4 </answer><answer>5</answer>", "answer")
    '4'
    """
    return next(_tagged(text, tag), None)


def last_tag(text: str, tag: str) -> str | None:
    """What stands in the last `<tag>…</tag>`, stripped.

    >>> last_tag("<answer> 4 </answer><answer>5</answer>", "answer")
    '5'
    """
    last = None
    for last in _tagged(text, tag):
        pass
    return last


def _tagged(text: str, tag: str) -> Iterator[str]:
    opening, closing, end = f"<{tag}>", f"</{tag}>", 0
    while (start := text.find(opening, end)) >= 0:
        start += len(opening)
        stop = text.find(closing, start)
        if stop < 0:
            return
        yield text[start:stop].strip()
        end = stop + len(closing)


def in_order(text: str, *patterns: str) -> bool:
    """Whether the patterns occur one after another, anything in between.

    >>> in_order("<think>a</think> <answer>b</answer>", "<think>", "</think>", "</answer>")
    True
    """
    end = 0
    for pattern in patterns:
        found = re.compile(pattern).search(text, end)
        if found is None:
            return False
        end = found.end()
    return True
