"""What a reward and a person call right, in; how often they agree, and where they do not, out."""

from dataclasses import dataclass

import numpy as np

from plaudit.report._numbers import Numbers

LISTED = 10  # rows of each kind of disagreement that the page lists, at most
SHOWN = 1000  # rows of each kind that the page's table holds, at most


@dataclass(frozen=True, slots=True)
class Agreement:
    """The rows with a label that the reward decided, by what both say.

    wrongly_paid, wrongly_refused: the places of the rows that disagree: right by the reward and
        wrong by the label, and the other way round
    undecided: how many rows with a label the reward did not decide
    """

    label: str
    both_right: int
    both_wrong: int
    wrongly_paid: list[int]
    wrongly_refused: list[int]
    undecided: int

    @property
    def rows(self) -> int:
        """How many rows are compared."""
        return self.agreeing + len(self.wrongly_paid) + len(self.wrongly_refused)

    @property
    def agreeing(self) -> int:
        """How many rows both call right, or both wrong."""
        return self.both_right + self.both_wrong

    @property
    def precision(self) -> float:
        """Of the rows that the reward calls right, the share that the label calls right."""
        return _share(self.both_right, self.both_right + len(self.wrongly_paid))

    @property
    def recall(self) -> float:
        """Of the rows that the label calls right, the share that the reward calls right."""
        return _share(self.both_right, self.both_right + len(self.wrongly_refused))

    @property
    def kappa(self) -> float:
        """Cohen's kappa: 1 for full agreement, 0 for as much as chance would give."""
        paid, called = (
            self.both_right + len(wrong) for wrong in (self.wrongly_paid, self.wrongly_refused)
        )
        rows = self.rows
        chance = _share(paid * called + (rows - paid) * (rows - called), rows * rows)
        return _share(_share(self.agreeing, rows) - chance, 1 - chance)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def agreement_of(numbers: Numbers, label: str | None) -> Agreement | None:
    """How the reward agrees with the labels; None if there are none, or no row has both."""
    if numbers.labels is None or label is None:
        return None
    labelled, decided = ~np.isnan(numbers.labels), ~np.isnan(numbers.right)
    both = labelled & decided
    if not both.any():
        return None
    paid, called = numbers.right == 1, numbers.labels == 1
    return Agreement(
        label=label,
        both_right=int((both & paid & called).sum()),
        both_wrong=int((both & ~paid & ~called).sum()),
        wrongly_paid=np.flatnonzero(both & paid & ~called).tolist(),
        wrongly_refused=np.flatnonzero(both & ~paid & called).tolist(),
        undecided=int((labelled & ~decided).sum()),
    )
