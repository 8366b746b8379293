"""The final answer of a completion on an image, and the gold, as text that one reader takes."""

import json
import re
from collections.abc import Sequence
from typing import Any

from plaudit.answers import final_answer, is_retracted
from plaudit.inputs.columns import plain
from plaudit.inputs.extract import after_thinking
from plaudit.scores import Score

NO_GOLD = Score(None, "There is no gold: the row is skipped.", status="bad_gold")
_NOTHING = re.compile(
    r"(?:```(?:json)?\s*+)?[\[{(]?\s*+(?:none|null|nothing|\"none\"|\"null\")?\s*+[\]})]?\s*+\.?"
    r"(?:\s*+```)?",
    re.IGNORECASE,
)
_NULL_BOX = re.compile(
    r"[\"'](?:b?box(?:es)?|points?|objects|detections)(?:_2d)?[\"']\s*+:\s*+(?:null|None|\[\s*+\])"
)
_NO_OBJECT = re.compile(r"there (?:is|are) no\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:not|never|neither|cannot|anything\s++but)\b|n['’]t\b|\bthere(?:'s| is) no (?!doubt)",
    re.IGNORECASE,
)
# The apostrophe of "isn't" and "there's" ends no clause, that of a label does.
_CLAUSE = re.compile(r"[.!?;\n\"{}<>]|'(?![ts]\b)|(?<!not):|(?<!anything )\bbut\b", re.IGNORECASE)
# What only a remark on a shape says, beside what `is_retracted` knows of answers of every kind.
_DENIED_AFTER = re.compile(
    r"\A\W*+(?:(?:is|was)(?:n['’]t|\s++(?:\w++\s++)?(?:wrong|incorrect|not))|(?:no|nope)\b[,.!])"
    r"|(?:[.!\n]|\bhmm+,)\s*+(?:no|nope)\b[,.!]|\blet\s++me\s++correct\b|\b(?:edit|correction)\s*+:"
    r"|(?<!\bif )\b(?:that|this|it|(?:that|this|the|my)\s++(?:box|point|click|span|answer|one))"
    r"(?:['’]s|\s++is|\s++was)\s++(?:the\s++|a\s++)?(?:wrong|incorrect)\b",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"\A\s*+(?:</[^<>\n]{1,20}>|[}\\)\]$]++)")  # of a tag or a box
_QUOTED = re.compile(r"\"[^\"]*+\"")
_LONGEST_REMARK = 2000  # characters after an answer in which it may be taken back
_NEAR = 100  # characters before a shape in which a denial counts


def answer_of(text: str) -> tuple[str, bool]:
    r"""Return the last `<answer>` or `\boxed{…}`, else all text after the thinking.

    The second value says whether it was taken back.
    """
    final = final_answer(text)
    body = after_thinking(text)
    if final.where in ("box", "tag") or (final.where == "json" and says_none(final.text)):
        after = _CLOSING.sub("", body.rpartition(final.text)[2]) if final.text else ""
        return final.text, final.retracted or bool(_DENIED_AFTER.search(after[:_LONGEST_REMARK]))
    return body.strip(), False


def gold_text(gold: Any) -> str | None:
    """Return a gold as text; None if there is none."""
    value = plain(gold)
    if value is None or isinstance(value, str):
        return None if value is None or not value.strip() else answer_of(value)[0]
    return json.dumps(value, default=plain)


def says_none(text: str) -> bool:
    """Return whether a text says that there is no object, and does not only say nothing."""
    stripped = text.strip()
    if not stripped:
        return False
    return bool(
        _NOTHING.fullmatch(stripped) or _NULL_BOX.search(stripped) or _NO_OBJECT.match(stripped)
    )


def fault_of(
    answer: str, places: Sequence[tuple[int, int]], retracted: bool, noun: str, *, one: bool = True
) -> tuple[str, str] | None:
    """Return why an answer is worth nothing before it is compared, and its status.

    places: where each of what was found starts and ends in the answer
    noun: what is looked for, such as "box"
    one: whether there should be one
    """
    if retracted or (places and _is_taken_back(answer, places[-1][1])):
        return "The answer is taken back.", "retracted"
    if not places:
        says = "says that there is" if says_none(answer) else "has"
        return f"The answer {says} no {noun}.", "no_answer"
    if one and len(places) > 1:
        return f"The answer has {len(places)} of what should be one {noun}.", "several"
    if one and _is_denied(answer, places[0][0]):
        return f"The answer denies its {noun}.", "retracted"
    return None


def _is_denied(text: str, start: int) -> bool:
    """Return whether the clause before a shape denies it: "it is not at [1, 2, 3, 4]"."""
    clause = _CLAUSE.split(text[max(0, start - _NEAR) : start])[-1]
    return bool(_DENIAL.search(clause))


def _is_taken_back(text: str, end: int) -> bool:
    """Return whether what follows the end of an answer takes it back."""
    # A label may say "sorry" as well.
    after = _QUOTED.sub("", text[end : end + _LONGEST_REMARK])
    return bool(_DENIED_AFTER.search(after)) or is_retracted(after, "")


def failed(why: str, status: str, answer: str, gold: str | None) -> Score:
    """Return the score of an answer that is worth nothing."""
    return Score(0.0, why, answer[:300] or None, gold, status=status, right=False)


def bad_gold(gold: str, wanted: str) -> Score:
    """Return the score of a row whose gold cannot be used."""
    why = f"The gold {gold:.80} is {wanted}: the row is skipped."
    return Score(None, why, None, gold[:300], status="bad_gold")


def none_score(answer: str, shapes: int, retracted: bool) -> Score:
    """Return the score of an answer to a gold that says that there is no object."""
    if retracted or (not shapes and not says_none(answer)):
        return failed("The answer does not say that there is none.", "no_answer", answer, "none")
    right = shapes == 0
    why = "There is no object, and the answer says so." if right else (
        f"There is no object, and the answer has {shapes}."
    )  # fmt: skip
    status = "equal" if right else "different"
    return Score(float(right), why, answer[:300], "none", "none", status=status, right=right)
