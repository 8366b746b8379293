r"""The settings of a comparison, its result, and the verdict on an answer."""

from dataclasses import dataclass
from typing import NamedTuple

from plaudit.judge import Status


@dataclass(frozen=True)
class Rules:
    """The settings of a comparison.

    rounding: whether a correct rounding to three digits or more is equal to the exact value
    tolerance: how far a number may be off, as a share of the gold, such as 0.01; None: not at all
    unsolved: whether a calculation without its result, such as 2+2, is an answer
    kind: what the gold is, one of KINDS, if the dataset says so; None: it is read from the gold
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


class Decision(NamedTuple):
    """The result of one comparison: its status, and what decided, for a person.

    >>> different("their units").equal
    False
    """

    status: Status
    decided_by: str = ""

    @property
    def equal(self) -> bool:
        return self.status is Status.EQUAL


def equal(decided_by: str) -> Decision:
    """Equal, and what decided."""
    return Decision(Status.EQUAL, decided_by)


def different(decided_by: str) -> Decision:
    """Different, and what decided."""
    return Decision(Status.DIFFERENT, decided_by)


SAME = equal("the same text")


def deciding(found: list[Decision]) -> Decision:
    """The first equal result that was decided by more than the text; at least one must be equal.

    >>> deciding([SAME, equal("exact values"), SAME]).decided_by
    'exact values'
    """
    results = [result for result in found if result.equal and result != SAME]
    return results[0] if results else equal("the text of each part")


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """The verdict on the final answer of a completion, by a gold.

    status: what came of it
    answer, gold: the final answer and the gold, as they stand
    kind: what the gold was read as, such as "number" or "interval"
    decided_by: what decided, such as "exact values" or "values at 8 points to 50 digits"
    answer_read, gold_read: how each side was read, for a person; "" if that is as it stands
    symbolic: whether it is undecided, and a computer algebra system may be able to tell
    """

    status: Status
    answer: str
    gold: str
    kind: str = ""
    decided_by: str = ""
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

        >>> AnswerVerdict(Status.DIFFERENT, "5", "4", "number", "exact values").why
        '5 is not equal to the gold 4: decided by exact values.'
        """
        answer, gold = _quoted(self.answer, self.answer_read), _quoted(self.gold, self.gold_read)
        match self.status:
            case Status.EQUAL:
                return f"{answer} is equal to the gold {gold}: decided by {self.decided_by}."
            case Status.DIFFERENT:
                return f"{answer} is not equal to the gold {gold}: decided by {self.decided_by}."
            case Status.NO_ANSWER:
                return "The completion has no final answer: no box, no <answer>, nothing announced."
            case Status.BAD_GOLD:
                return "There is no gold to compare with."
            case Status.SEVERAL:
                return f"{answer} is more than one answer, the gold is {gold}."
            case Status.UNSOLVED:
                return f"{answer} is a calculation and no result: {self.decided_by}."
            case Status.RETRACTED:
                return f"The answer {answer} was taken back after it was given."
            case Status.UNDECIDED:
                return f"No rule can tell whether {answer} says the same as the gold {gold}."
            case Status.TIMEOUT:
                return "Comparing was stopped at the deadline."
            case Status.LIMIT:
                return f"Too large to compare: {self.decided_by}."
        return f"Comparing failed: {self.decided_by}."


def _quoted(text: str, read: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    short = text if len(text) <= 80 else text[:77] + "..."
    return f"{short} (read as {read})" if read else short
