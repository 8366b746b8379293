"""What goes into the judge, and what comes out."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Rule(StrEnum):
    """How an answer is found in its text. A gold is always read by math-verify's defaults."""

    ANYWHERE = "anywhere"  # math-verify's defaults: LaTeX or a plain expression, anchored or not
    LATEX = "latex"  # TRL's: LaTeX alone, boxed first, nothing without an anchor, first match


class Pair(NamedTuple):
    """An answer to judge against a gold, both as text.

    >>> Pair("It is 4", "4").rule
    <Rule.ANYWHERE: 'anywhere'>
    """

    answer: str
    gold: str
    rule: Rule = Rule.ANYWHERE


class Status(StrEnum):
    """What came of judging a pair."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NO_ANSWER = "no_answer"  # nothing in the text can be read as an answer
    BAD_GOLD = "bad_gold"  # nothing in the gold can be read as one
    TIMEOUT = "timeout"  # the deadline passed, and the worker was killed
    LIMIT = "limit"  # too large to try: digits, nesting, towers of powers, memory
    ERROR = "error"  # the worker died on it again and again


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge says of a pair.

    answer, gold: what was read as each; None where nothing was
    method: what decided, such as "same text" or "math-verify"
    seconds: how long deciding took; a verdict from the cache keeps its own
    """

    status: Status
    answer: str | None
    gold: str | None
    method: str
    seconds: float
