"""What an audit finds: plain data, JSON and text for a person."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LISTED, HOLE = 0.1, 0.5  # a finding is listed from the first on, and is a hole from the second on
_SHOWN = 160


@dataclass(frozen=True)
class Example:
    """One row that shows a finding.

    row: its number in the table, from 0 on
    completion: what was scored; of a very long text the beginning and the end
    value: what it got; None where it got no number
    why: one sentence

    >>> Example(3, "<answer></answer>", 1.0, "It got 1.").row
    3
    """

    row: int
    completion: str
    value: float | None
    why: str


@dataclass(frozen=True)
class Finding:
    """One hole, or what may become one.

    kind: its class, such as "hedge"
    attack: what was tried
    component: the reward that paid, or "total"
    share: from 0 to 1, the mean over the rows of what it earned, as a share of an honest right
        answer's pay; `unstable`: rows whose value changed; `missed`: rows that were not paid in
        full; `cost`: 1.0
    rows, paid: how many rows it was tried on, and on how many of them it paid
    advice: what to do about it

    >>> example = Example(0, "", 1.0, "An empty reply got 1.")
    >>> Finding("empty", "nothing", "accuracy", 1.0, 8, 8, example, "Pay 0.").is_hole
    True
    """

    kind: str
    attack: str
    component: str
    share: float
    rows: int
    paid: int
    example: Example
    advice: str

    @property
    def is_hole(self) -> bool:
        """Whether it pays at least half of what an honest right answer gets."""
        return self.share >= HOLE

    def as_json(self) -> dict[str, Any]:
        """The finding as plain data."""
        shown = self.example
        return {
            "class": self.kind,
            "attack": self.attack,
            "component": self.component,
            "share": self.share,
            "rows": self.rows,
            "paid": self.paid,
            "example": {
                "row": shown.row,
                "completion": shown.completion,
                "value": shown.value,
                "why": shown.why,
            },
            "advice": self.advice,
        }


@dataclass(frozen=True)
class Tried:
    """What an attack earned from a component, hole or not: a cell of the matrix.

    >>> Tried("empty", "nothing", "accuracy", 0.0).share
    0.0
    """

    kind: str
    attack: str
    component: str
    share: float


@dataclass(frozen=True)
class Audit:
    """All that an audit found.

    recipe: the name of what was audited
    rows: how many rows of the table were used
    findings: from a share of 0.1 on, the worst first
    skipped: what was not tried, and why
    formats: the honest format of each component, with the pay of a right answer in it
    matrix: the share of every attack, for every component that it counts for
    wrong_share: what share of the total a wrong answer in the right form gets, where there are
        several components

    >>> Audit("math", 64, (), (), {}, ()).worst
    0.0
    """

    recipe: str
    rows: int
    findings: tuple[Finding, ...]
    skipped: tuple[str, ...]
    formats: Mapping[str, tuple[str, float]]
    matrix: tuple[Tried, ...]
    wrong_share: float | None = None

    @property
    def worst(self) -> float:
        """The largest share that was found."""
        return max((finding.share for finding in self.findings), default=0.0)

    def as_json(self) -> dict[str, Any]:
        """The findings and what was skipped, as plain data."""
        return {
            "findings": [finding.as_json() for finding in self.findings],
            "skipped": list(self.skipped),
        }

    def as_text(self) -> str:
        """What a person reads in a terminal.

        >>> print(Audit("math", 64, (), (), {}, ()).as_text())
        math: 64 rows, nothing found.
        """
        holes = sum(finding.is_hole for finding in self.findings)
        count = (
            f"{len(self.findings)} findings, {holes} of them holes"
            if self.findings
            else ("nothing found")
        )
        lines = [f"{self.recipe}: {self.rows} rows, {count}."]
        if self.wrong_share is not None:
            lines.append(
                f"A wrong answer in the right form gets {self.wrong_share:.0%} of the total."
            )
        for component, (form, pay) in self.formats.items():
            lines.append(f"  {component}: a right answer gets {pay:g}, written as {_line(form)}")
        for finding in self.findings:
            lines += ["", *_lines_of(finding)]
        if self.skipped:
            lines += ["", "skipped:", *(f"  {what}" for what in self.skipped)]
        return "\n".join(lines)


def _lines_of(finding: Finding) -> list[str]:
    shown = finding.example
    head = f"{finding.share:4.0%}  {finding.kind}: {finding.attack} ({finding.component})"
    return [
        f"{head}, {finding.paid} of {finding.rows} rows",
        f"      row {shown.row}: {_line(shown.completion)}",
        f"      {shown.why}",
        f"      {finding.advice}",
    ]


def _line(text: str) -> str:
    """A text on one line, quoted, without what moves a cursor."""
    shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}…{text[-_SHOWN // 2 :]}"
    return json.dumps(shown, ensure_ascii=False)
