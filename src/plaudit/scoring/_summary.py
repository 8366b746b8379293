"""What came of a run, for a person and for a script."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """What came of a run.

    rows: completions that were scored; rejected: those that were not, see `_rejected.jsonl`
    parts: how many files `part-….parquet` there are
    statuses: how many rows have each status
    values: for each component and the total, how many rows have a value, and the mean
    seconds: what this call took, which may have found parts that were there already

    >>> summary = ScoreSummary(
    ...     Path("scored"), 1200, 3, 2, {"scored": 1190, "timeout": 10},
    ...     {"accuracy_reward": (1188, 0.25), "total": (1188, 0.25)}, seconds=2.0,
    ... )
    >>> print(summary)
    scored: 1,200 rows in 2 parts; 3 rows rejected, see scored/_rejected.jsonl
      accuracy_reward  mean 0.250, 12 rows without a value
      total            mean 0.250, 12 rows without a value
      status           scored 1,190, timeout 10
    """

    out: Path
    rows: int
    rejected: int
    parts: int
    statuses: Mapping[str, int]
    values: Mapping[str, tuple[int, float | None]]
    seconds: float

    def __str__(self) -> str:
        wide = max(len(name) for name in [*self.values, "status"])
        lines = [self._first_line()]
        for name, (count, mean) in self.values.items():
            lines.append(f"  {name:<{wide}}  {self._value(count, mean)}")
        statuses = ", ".join(f"{status} {count:,}" for status, count in self.statuses.items())
        return "\n".join([*lines, f"  {'status':<{wide}}  {statuses or 'none'}"])

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
