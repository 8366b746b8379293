"""A `Pair`, which goes into the judge, and the `Verdict` that comes out."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Rule(StrEnum):
    """How an answer is found in its text. A gold is always read by math-verify's defaults.

    >>> Rule("latex")
    <Rule.LATEX: 'latex'>
    """

    ANYWHERE = "anywhere"  # math-verify's defaults: LaTeX or a plain expression, anchored or not
    LATEX = "latex"  # TRL's: LaTeX alone, boxed first, nothing without an anchor, first match

    __hash__ = str.__hash__  # Enum's own, in Python, takes ten times as long


class Pair(NamedTuple):
    """An answer to judge against a gold, both as text.

    >>> Pair("It is 4", "4").rule
    <Rule.ANYWHERE: 'anywhere'>
    """

    answer: str
    gold: str
    rule: Rule = Rule.ANYWHERE


class Status(StrEnum):
    """What came of judging a pair, or an answer by the rules of `plaudit.answers`.

    >>> Status.TIMEOUT == "timeout"
    True
    """

    EQUAL = "equal"
    DIFFERENT = "different"
    NO_ANSWER = "no_answer"  # nothing in the text can be read as an answer
    BAD_GOLD = "bad_gold"  # nothing in the gold can be read as one
    TIMEOUT = "timeout"  # the deadline passed, and the worker was killed
    LIMIT = "limit"  # too large to try: digits, nesting, towers of powers, memory
    ERROR = "error"  # workers died on it again and again, or plaudit has a fault
    # Only the rules of `plaudit.answers` return these.
    SEVERAL = "several"  # more than one answer, but the gold is one
    UNSOLVED = "unsolved"  # a calculation without its result: 2+2 if the gold is 4
    RETRACTED = "retracted"  # the answer was taken back
    UNDECIDED = "undecided"  # no rule can tell

    __hash__ = str.__hash__


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge says of a pair.

    answer, gold: what was read as each; None where nothing was
    method: what decided, such as "same text" or "math-verify"
    seconds: how long deciding took; a verdict from the cache keeps its own
    problem: what went wrong, where something did: the status says what kind of thing
    """

    status: Status
    answer: str | None
    gold: str | None
    method: str
    seconds: float
    problem: str = ""

    @property
    def why(self) -> str:
        """What it means, in a sentence for a person.

        >>> Verdict(Status.DIFFERENT, "5", "4", "numbers", 0.0).why
        '5 is not equal to the gold 4.'
        """
        match self.status:
            case Status.EQUAL:
                return f"{_short(self.answer)} is equal to the gold {_short(self.gold)}."
            case Status.DIFFERENT:
                return f"{_short(self.answer)} is not equal to the gold {_short(self.gold)}."
            case Status.NO_ANSWER:
                return "Nothing in the text can be read as an answer."
            case Status.BAD_GOLD:
                problem = f": {self.problem}" if self.problem else ""
                return f"The gold cannot be read{problem}, so there is nothing to compare with."
            case Status.TIMEOUT:
                return f"Comparing was stopped after {self.seconds:g} s."
            case Status.LIMIT:
                return f"Too large to compare: {self.problem}."
        return f"Comparing failed: {self.problem}."


def _short(text: str | None) -> str:
    return "nothing" if text is None else text if len(text) <= 60 else text[:57] + "..."
