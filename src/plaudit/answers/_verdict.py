"""What an answer was judged to be, and why."""

from dataclasses import dataclass

from plaudit.answers._rules import Outcome


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
