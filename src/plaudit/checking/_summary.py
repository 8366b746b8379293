"""Counts and first findings in, and out comes what is printed at the end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from plaudit.checking._findings import KINDS, Finding, shown

EXAMPLES = 3  # of each kind


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """What came of checking a table.

    rows: how many rows were checked
    failed: how many of them have a finding
    counts: how many findings of each kind there are
    first: the first findings of each kind, at most 200
    formats: how each component wants an answer, found by trying
    notes: what was not checked, and why
    seconds: how long it took
    out: the folder with `findings.parquet` and the page, if one was written
    dropped_to: the table without the rows that failed, if one was written
    left: how many rows that has

    >>> finding = Finding("missing_value", "a.jsonl", 2, 1, "solution", "", "solution is null.")
    >>> counts, first = {"missing_value": 1}, {"missing_value": [finding]}
    >>> print(CheckSummary(120, 1, counts, first, {"answer": "\\\\boxed{…}"}, (), 0.5))
    120 rows checked, 1 has findings
    answer compares answers written as \\boxed{…}
    <BLANKLINE>
    Rows without a prompt, or without a value that the recipe needs (missing_value): 1
      a.jsonl, line 2: solution is null.
    """

    rows: int
    failed: int
    counts: Mapping[str, int]
    first: Mapping[str, Sequence[Finding]]
    formats: Mapping[str, str]
    notes: Sequence[str]
    seconds: float
    out: Path | None = None
    dropped_to: Path | None = None
    left: int = 0

    def __str__(self) -> str:
        have = "has" if self.failed == 1 else "have"
        found = f"{self.failed:,} {have} findings" if self.failed else "no findings"
        lines = [f"{_rows(self.rows)} checked, {found}"]
        for name, written in self.formats.items():
            lines.append(f"{name} compares answers written as {written}")
        lines += [f"note: {note}" for note in self.notes]
        for kind, findings in self.first.items():
            lines += ["", f"{KINDS[kind].title} ({kind}): {self.counts[kind]:,}"]
            lines += [_line(finding) for finding in findings[:EXAMPLES]]
            if self.counts[kind] > EXAMPLES:
                lines.append(f"  … and {self.counts[kind] - EXAMPLES:,} more")
        if self.dropped_to is not None:
            lines += ["", f"{self.dropped_to}: {_rows(self.left)} without findings"]
        if self.out is not None:
            lines += ["", f"{self.out / 'index.html'}"]
        return "\n".join(lines)


def _line(finding: Finding) -> str:
    named = f"{finding.column} " if finding.column else ""
    value = f' {named}"{shown(finding.value, 60)}":' if finding.value else ""
    return f"  {finding.place}:{value} {shown(finding.why, 240)}"


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"
