"""A `Pair`, which is judged, and its `Verdict`: the same for the judge and for `answers`."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Rule(StrEnum):
    """How an answer is found in its text. By the first two, the gold is read by `ANYWHERE`.

    >>> Rule("latex")
    <Rule.LATEX: 'latex'>
    """

    ANYWHERE = "anywhere"  # math-verify's defaults: LaTeX or a plain expression, anchored or not
    LATEX = "latex"  # TRL's: LaTeX alone, boxed first, nothing without an anchor, first match
    FORMULA = "formula"  # answer and gold are LaTeX as they stand: nothing is looked for in them

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
    EXCEPTION = (
        "exception"  # of `plaudit.rewards.code` alone: the program raised or does not compile
    )

    __hash__ = str.__hash__


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge, or the rules of `plaudit.answers`, say of an answer and a gold.

    answer, gold: what was read as each; None if nothing was
    decided_by: what decided, such as "same text", "math-verify" or "exact values"
    seconds: how long deciding took; a verdict from the cache keeps its own
    problem: what went wrong, if something did: the status says what kind of thing

    The rules of `plaudit.answers` also say:

    kind: what the gold was read as, such as "number" or "interval"
    answer_read, gold_read: how each side was read, for a person; "" if that is as it stands
    symbolic: whether it is undecided, and the judge may be able to tell by `Rule.FORMULA`
    """

    status: Status
    answer: str | None = None
    gold: str | None = None
    decided_by: str = ""
    seconds: float = 0.0
    problem: str = ""
    kind: str = ""
    answer_read: str = ""
    gold_read: str = ""
    symbolic: bool = False

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.status is Status.EQUAL

    @property
    def why(self) -> str:
        """What it means, in a sentence for a person.

        >>> Verdict(Status.DIFFERENT, "5", "4", "numbers").why
        '5 is not equal to the gold 4.'
        """
        answer, gold = _quoted(self.answer, self.answer_read), _quoted(self.gold, self.gold_read)
        verb = {"equal": "is", "different": "is not"}.get(self.status)
        if verb is not None:
            # What decided is worth a word only if there are many rules, as in `plaudit.answers`.
            by = f": decided by {self.decided_by}" if self.kind else ""
            return f"{answer} {verb} equal to the gold {gold}{by}."
        problem = f": {self.problem}" if self.problem else ""
        match self.status:
            case Status.NO_ANSWER:
                return f"Nothing in the text can be read as an answer{problem}."
            case Status.BAD_GOLD:
                return f"The gold cannot be read{problem}, so there is nothing to compare with."
            case Status.TIMEOUT:
                return f"Comparing was stopped after {self.seconds:g} s."
            case Status.LIMIT:
                return f"Too large to compare{problem}."
            case Status.SEVERAL:
                return f"{answer} is more than one answer, the gold is {gold}."
            case Status.UNSOLVED:
                return f"{answer} is a calculation and no result: {self.decided_by}."
            case Status.RETRACTED:
                return f"The answer {answer} was taken back after it was given."
            case Status.UNDECIDED:
                return f"No rule can tell whether {answer} says the same as the gold {gold}."
        return f"Comparing failed{problem}."


def _quoted(text: str | None, read: str) -> str:
    if text is None:
        return "nothing"
    text = " ".join(text.split()).rstrip(".")
    short = text if len(text) <= 80 else text[:77] + "..."
    return f"{short} (read as {read})" if read else short
