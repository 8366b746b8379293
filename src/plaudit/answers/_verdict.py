r"""The settings of a comparison, its result, and the verdict on an answer."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Outcome(StrEnum):
    """What came of comparing an answer with a gold.

    >>> Outcome("several")
    <Outcome.SEVERAL: 'several'>
    """

    EQUAL = "equal"
    DIFFERENT = "different"
    NO_ANSWER = "no_answer"  # the completion has no final answer
    BAD_GOLD = "bad_gold"  # there is no gold to compare with
    SEVERAL = "several"  # more than one answer, where the gold is one
    UNSOLVED = "unsolved"  # the question restated: 2+2 where the gold is 4
    RETRACTED = "retracted"  # the answer was taken back
    UNDECIDED = "undecided"  # no rule can tell
    TIMEOUT = "timeout"
    LIMIT = "limit"  # too large to compare
    ERROR = "error"


@dataclass(frozen=True)
class Rules:
    """The settings of a comparison.

    rounding: whether a correct rounding to three digits or more is equal to the exact value
    tolerance: how far a number may be off, as a share of the gold, such as 0.01; None: not at all
    unsolved: whether a calculation without its result, such as 2+2, is an answer
    kind: what the gold is, one of KINDS, where the dataset says so; None: it is read from the gold
    choices: the texts of the options of a multiple-choice question, A first
    question: the question, for what only it says, such as the order of coordinates

    >>> Rules(rounding=False).tolerance is None
    True
    """

    rounding: bool = True
    tolerance: float | None = None
    unsolved: bool = False
    kind: str | None = None
    choices: tuple[str, ...] = ()
    question: str = ""


class Found(NamedTuple):
    """An outcome, and what decided, for a person.

    >>> different("their units").equal
    False
    """

    outcome: Outcome
    how: str = ""

    @property
    def equal(self) -> bool:
        return self.outcome is Outcome.EQUAL


def equal(how: str) -> Found:
    """Equal, and what decided."""
    return Found(Outcome.EQUAL, how)


def different(how: str) -> Found:
    """Different, and what decided."""
    return Found(Outcome.DIFFERENT, how)


SAME = equal("the same text")


def deciding(found: list[Found]) -> Found:
    """The first equal result that was decided by more than the text; at least one must be equal.

    >>> deciding([SAME, equal("exact values"), SAME]).how
    'exact values'
    """
    results = [result for result in found if result.equal and result != SAME]
    return results[0] if results else equal("the text of each part")


# -- The verdict


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """What came of comparing the final answer of a completion with a gold.

    outcome: the status
    answer, gold: the final answer and the gold, as they stand
    kind: what the gold was read as, such as "number" or "interval"
    how: what decided, such as "exact values" or "values at 8 points to 50 digits"
    answer_read, gold_read: how each side was read, for a person; "" where that is as it stands
    symbolic: whether it is undecided, and a computer algebra system may be able to tell
    """

    outcome: Outcome
    answer: str
    gold: str
    kind: str = ""
    how: str = ""
    answer_read: str = ""
    gold_read: str = ""
    symbolic: bool = False

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.outcome is Outcome.EQUAL

    @property
    def why(self) -> str:
        """What it means, in a sentence for a person.

        >>> AnswerVerdict(Outcome.DIFFERENT, "5", "4", "number", "exact values").why
        '5 is not equal to the gold 4: decided by exact values.'
        """
        answer, gold = _shown(self.answer, self.answer_read), _shown(self.gold, self.gold_read)
        match self.outcome:
            case Outcome.EQUAL:
                return f"{answer} is equal to the gold {gold}: decided by {self.how}."
            case Outcome.DIFFERENT:
                return f"{answer} is not equal to the gold {gold}: decided by {self.how}."
            case Outcome.NO_ANSWER:
                return "The completion has no final answer: no box, no <answer>, nothing announced."
            case Outcome.BAD_GOLD:
                return "There is no gold to compare with."
            case Outcome.SEVERAL:
                return f"{answer} is more than one answer, the gold is {gold}."
            case Outcome.UNSOLVED:
                return f"{answer} is a calculation and no result: {self.how}."
            case Outcome.RETRACTED:
                return f"The answer {answer} was taken back after it was given."
            case Outcome.UNDECIDED:
                return f"No rule can tell whether {answer} says the same as the gold {gold}."
            case Outcome.TIMEOUT:
                return "Comparing was stopped at the deadline."
            case Outcome.LIMIT:
                return f"Too large to compare: {self.how}."
        return f"Comparing failed: {self.how}."


def _shown(text: str, read: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    short = text if len(text) <= 80 else text[:77] + "..."
    return f"{short} (read as {read})" if read else short
