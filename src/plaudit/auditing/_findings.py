"""What an audit finds: plain data, JSON, and a table for a person."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plaudit.notebook import html_table

LISTED, HOLE = 0.1, 0.5  # a finding is listed from the first on, and is a hole from the second on
TOTAL = "total"
MISSED = "missed"  # the class of right answers that are not paid, which is no hole
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
        """Whether what deserves nothing gets at least half of what an honest right answer gets."""
        return self.share >= HOLE and self.kind != MISSED

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


@dataclass(frozen=True, repr=False)
class Audit:
    """All that an audit found; printing it gives what `plaudit audit` prints.

    recipe: the name of what was audited
    rows: how many rows of the table were used
    findings: from a share of 0.1 on, the worst first; those of the class `missed` come last
    skipped: what was not tried, and why
    formats: the honest format of each component, with the pay of a right answer in it
    matrix: the share of every attack, for every component that it counts for
    wrong_share: the share of the total that a wrong answer in the right form gets
    blind: the components that pay a right answer and never read the gold
    guessed: the columns that were guessed, argument -> column

    >>> print(Audit("math", 64, (), (), {}, ()))
    math: 64 rows; nothing found
    """

    recipe: str
    rows: int
    findings: tuple[Finding, ...]
    skipped: tuple[str, ...]
    formats: Mapping[str, tuple[str, float]]
    matrix: tuple[Tried, ...]
    wrong_share: float | None = None
    blind: tuple[str, ...] = ()
    guessed: Mapping[str, str] = field(default_factory=dict)

    @property
    def worst(self) -> float:
        """The largest share that was found, without right answers that are not paid.

        >>> Audit("math", 64, (), (), {}, ()).worst
        0.0
        """
        return max(
            (finding.share for finding in self.findings if finding.kind != MISSED), default=0.0
        )

    def as_json(self) -> dict[str, Any]:
        """The findings and what was skipped, as plain data."""
        return {
            "findings": [finding.as_json() for finding in self.findings],
            "skipped": list(self.skipped),
        }

    def __repr__(self) -> str:
        lines = [f"{self.recipe}: {self.rows} rows; {self._count()}", *self._notes()]
        for component, (form, pay) in self.formats.items():
            lines.append(f"  {component}: a right answer gets {pay:g}, written as {_line(form)}")
        for title, findings in self._groups().items():
            lines += ["", f"{title}:"] if findings else []
            lines += _lines_of(findings)
        if self.skipped:
            lines += ["", "skipped:", *(f"  {what}" for what in self.skipped)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The findings as a table in a notebook."""
        head = ["share", "class", "attack", "component", "rows", "completion", "why", "advice"]
        lines = [
            [*_cells(one), one.example.completion, one.example.why, one.advice]
            for one in self.findings
        ]
        caption = f"{self.recipe}: {self.rows} rows; {self._count()}"
        return html_table(caption, head, lines, " ".join([*self._notes(), *self.skipped]))

    def _groups(self) -> dict[str, list[Finding]]:
        small = [one for one in self.findings if not one.is_hole and one.kind != MISSED]
        return {
            "holes": [one for one in self.findings if one.is_hole],
            "smaller findings": small,
            "right answers that are not paid": [f for f in self.findings if f.kind == MISSED],
        }

    def _count(self) -> str:
        counts = (f"{title}: {len(found)}" for title, found in self._groups().items() if found)
        components = {name for name in self.formats if name != TOTAL}
        never = ["the gold is never read"] if components and components == {*self.blind} else []
        return "; ".join([*counts, *never]) or "nothing found"

    def _notes(self) -> list[str]:
        notes = [f"{argument}: column {name}, a guess" for argument, name in self.guessed.items()]
        if self.wrong_share is not None:
            notes.append(
                f"A wrong answer in the right form gets {self.wrong_share:.0%} of the total."
            )
        if self.blind:
            reads = "reads" if len(self.blind) == 1 else "read"
            notes.append(f"{', '.join(self.blind)} never {reads} the gold.")
        return notes


def _lines_of(findings: Sequence[Finding]) -> list[str]:
    """A line for each finding, in columns, and below it an example and the advice."""
    rows = [_cells(finding) for finding in findings]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for cells, finding in zip(rows, findings, strict=True):
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        shown = finding.example
        lines += [
            "  ".join(padded).rstrip(),
            f"      row {shown.row}: {_line(shown.completion)}",
            f"      {shown.why}",
            f"      {finding.advice}",
        ]
    return lines


def _cells(finding: Finding) -> list[str]:
    rows = f"{finding.paid} of {finding.rows} rows"
    return [f"{finding.share:4.0%}", finding.kind, finding.attack, finding.component, rows]


def _line(text: str) -> str:
    """A text on one line, quoted, without what moves a cursor."""
    shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}…{text[-_SHOWN // 2 :]}"
    return json.dumps(shown, ensure_ascii=False)
