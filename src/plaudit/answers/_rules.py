"""The settings of a comparison, and its result."""

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
