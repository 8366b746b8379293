"""What came of a run, for a person and for a script."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from plaudit.scores import STATUSES

IN_PART = "one that was read in part: write golds as $…$, or put"
LATEX = 'golds = "latex" into the recipe'


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """What came of a run.

    rows: completions that were scored; rejected: those that were not, see `_rejected.jsonl`
    parts: how many files `part-….parquet` there are
    statuses: how many rows have each status
    values: for each component and the total, how many rows have a value, and the mean
    seconds: what this call took, which may have found parts that were there already
    golds_in_part: how many rows have a gold of which only a part was read

    >>> summary = ScoreSummary(
    ...     Path("scored"), 1200, 3, 2, {"timeout": 10, "no_answer": 390, "scored": 800},
    ...     {"accuracy_reward": (1188, 0.25), "total": (1188, 0.25)}, 2.0, golds_in_part=58,
    ... )
    >>> print(summary)
    scored: 1,200 rows in 2 parts; 3 rows rejected, see scored/_rejected.jsonl
      accuracy_reward  mean 0.250, 12 rows without a value
      total            mean 0.250, 12 rows without a value
      status           scored 800, no_answer 390, timeout 10
      golds            58 rows have one that was read in part: write golds as $…$, or put
                       golds = "latex" into the recipe
    """

    out: Path
    rows: int
    rejected: int
    parts: int
    statuses: Mapping[str, int]
    values: Mapping[str, tuple[int, float | None]]
    seconds: float
    golds_in_part: int = 0

    def __str__(self) -> str:
        wide = max(len(name) for name in [*self.values, "status"])
        lines = [self._first_line()]
        for name, (count, mean) in self.values.items():
            lines.append(f"  {name:<{wide}}  {self._value(count, mean)}")
        counts = {name: self.statuses[name] for name in reversed(STATUSES) if name in self.statuses}
        statuses = ", ".join(f"{status} {count:,}" for status, count in counts.items())
        lines.append(f"  {'status':<{wide}}  {statuses or 'none'}")
        if self.golds_in_part:
            have = "has" if self.golds_in_part == 1 else "have"
            lines.append(f"  {'golds':<{wide}}  {_rows(self.golds_in_part)} {have} {IN_PART}")
            lines.append(f"  {'':<{wide}}  {LATEX}")
        return "\n".join(lines)

    def _first_line(self) -> str:
        parts = f"{self.parts:,} part{'' if self.parts == 1 else 's'}"
        line = f"{self.out}: {_rows(self.rows)} in {parts}"
        if self.rejected:
            line += f"; {_rows(self.rejected)} rejected, see {self.out / '_rejected.jsonl'}"
        return line

    def _value(self, count: int, mean: float | None) -> str:
        said = "no values" if mean is None else f"mean {mean:.3f}"
        missing = self.rows - count
        return f"{said}, {_rows(missing)} without a value" if missing else said


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"
