"""The progress of a run, and its summary at the end, from the counts of its parts."""

import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from plaudit.scores.score import REPORTED_STATUSES, STATUSES, html_table

if TYPE_CHECKING:
    from plaudit.tables.score_chunk import PartCounts

IN_PART = "a gold that was read only in part: write golds as $…$,"
LATEX = 'or put golds = "latex" into the recipe'
_REASONS = 3  # that are shown
_DETAILS = re.compile(r"\d+|(?<=, got ).*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """The results of a run.

    out: the folder that was written: its path, or its URL
    rows: how many completions were scored
    rejected: how many were not; they are in `_rejected.jsonl`
    parts: how many files `part-….parquet` there are
    statuses: how many rows have each status
    values: for each component and the total, how many rows have a value, and the mean
    seconds: how long this call took; a resumed run does not count the time of earlier calls
    golds_in_part: how many rows have a gold that was read only in part
    was_finished: whether the run had finished before this call, which then scored nothing
    rows_before: how many of the rows earlier calls had scored, if this call resumed a run
    reasons: why rows were rejected, and how many for each reason
    zeros: for each component, how many rows have each status, of those whose total is 0 and whose
        value of the component is 0

    >>> summary = ScoreSummary(
    ...     Path("scored"), 1200, 3, 2, {"timeout": 10, "no_answer": 390, "scored": 800},
    ...     {"accuracy_reward": (1188, 0.25), "total": (1188, 0.25)}, 2.0, golds_in_part=58,
    ...     reasons={"the row has no column solution": 3},
    ...     zeros={"accuracy_reward": {"different": 501, "no_answer": 390}},
    ... )
    >>> print(summary)
    scored: 1,200 rows in 2 parts; 3 rows rejected, see scored/_rejected.jsonl
      rejected         3 rows: the row has no column solution
      accuracy_reward  mean 0.250, 12 rows without a value
      total            mean 0.250, 12 rows without a value
      status           scored 800, no_answer 390, timeout 10
      total 0          accuracy_reward: different 501, no_answer 390
      golds            58 rows have a gold that was read only in part: write golds as $…$,
                       or put golds = "latex" into the recipe
    """

    out: Path | str
    rows: int
    rejected: int
    parts: int
    statuses: Mapping[str, int]
    values: Mapping[str, tuple[int, float | None]]
    seconds: float
    golds_in_part: int = 0
    was_finished: bool = False
    rows_before: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    zeros: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def __str__(self) -> str:
        labels = {"status": True, "rejected": self.reasons, "total 0": self.zeros}
        names = [*self.values, *(label for label, is_shown in labels.items() if is_shown)]
        wide = max(map(len, names))
        lines = [self._first_line()]
        for label, line in zip_longest(["rejected"], reason_lines(self.reasons), fillvalue=""):
            lines += [f"  {label:<{wide}}  {line}"] if line else []
        for name, (count, mean) in self.values.items():
            lines.append(f"  {name:<{wide}}  {self._value(count, mean)}")
        counts = {name: self.statuses[name] for name in reversed(STATUSES) if name in self.statuses}
        lines.append(f"  {'status':<{wide}}  {_counts(counts) or 'none'}")
        if self.zeros:
            zeros = "; ".join(f"{name}: {_counts(counts)}" for name, counts in self.zeros.items())
            lines.append(f"  {'total 0':<{wide}}  {zeros}")
        if self.golds_in_part:
            have = "has" if self.golds_in_part == 1 else "have"
            lines.append(f"  {'golds':<{wide}}  {_rows(self.golds_in_part)} {have} {IN_PART}")
            lines.append(f"  {'':<{wide}}  {LATEX}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the summary for a notebook."""
        head = ["", "mean", "rows with a value"]
        lines = [(name, mean, f"{count:,}") for name, (count, mean) in self.values.items()]
        told = [f"status: {_counts(self.statuses) or 'none'}", *reason_lines(self.reasons)]
        return html_table(self._first_line(), head, lines, "; ".join(told))

    def _first_line(self) -> str:
        parts = f"{self.parts:,} part{'' if self.parts == 1 else 's'}"
        line = f"{self.out}: {_rows(self.rows)} in {parts}"
        if self.rejected:
            line += f"; {_rows(self.rejected)} rejected, see {self.out}/_rejected.jsonl"
        return line

    def _value(self, count: int, mean: float | None) -> str:
        said = "no values" if mean is None else f"mean {mean:.3f}"
        missing = self.rows - count
        return f"{said}, {_rows(missing)} without a value" if missing else said


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


class ReasonCounts:
    """Counts why rows were rejected.

    Reasons that differ only in numbers and in what was found in the row count as the first of them.
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def add(self, reasons: Iterable[str]) -> None:
        """Count the reasons of some rows."""
        for reason in reasons:
            self._counts[self._first.setdefault(_DETAILS.sub("", reason), reason)] += 1

    def most_common(self) -> dict[str, int]:
        """Return how many rows each reason holds for, the most common first."""
        return dict(self._counts.most_common())


def reason_lines(reasons: Mapping[str, int]) -> list[str]:
    """Return the most common reasons why rows were rejected, with their counts."""
    shown = [f"{_rows(count)}: {reason}" for reason, count in list(reasons.items())[:_REASONS]]
    more = sum(list(reasons.values())[_REASONS:])
    return [*shown, f"{_rows(more)}: other reasons"] if more else shown


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


FIRST, EVERY = 5.0, 10.0  # seconds to the first line, and between lines, if there is no bar


class ScoreProgress:
    """A bar in a terminal, else a line every 10 seconds.

    The time left is estimated from the seconds that the workers spent on the parts so far, each
    worker on one part at a time. So the time that they took to start does not count.

    out: where to show it, such as sys.stderr; None: nowhere
    total: the input's size, in bytes or rows
    workers: how many score at once. None: unknown, so the time left is estimated from the time
        since the first of them began
    bad: what to call the rows that are counted separately, such as those that were rejected
    """

    def __init__(
        self,
        out: TextIO | None,
        total: int,
        workers: int | None = None,
        bad: str = "rejected",
    ) -> None:
        self._bad = bad
        self._out = out
        self._workers = workers
        self._worked = 0.0
        self._total = max(total, 1)
        self._read = self._read_before = 0
        self._rows = self._rows_before = self._rejected = 0
        self._troubles: Counter[str] = Counter()
        self._start = time.monotonic()
        self._next_message = self._start + min(FIRST, EVERY)
        self._bar = _bar(out, self._total) if out is not None and out.isatty() else None

    def found(self, counts: "PartCounts", read: int) -> None:
        """Count a part that was there already."""
        self._rows_before += counts["rows"]
        self._read_before += read
        self._count(counts["rows"], len(counts["rejected"]), counts["statuses"], read)
        self._start = time.monotonic()

    def scored(
        self,
        rows: int,
        rejected: int,
        statuses: Mapping[str, int],
        read: int,
        seconds: float = 0.0,
    ) -> None:
        """Count a part that was scored, in so many seconds, and show the progress."""
        if seconds and not self._worked:  # the first: until it began, workers were starting
            self._start = max(self._start, time.monotonic() - seconds)
        self._worked += seconds
        self._count(rows, rejected, statuses, read)
        if self._bar is not None:
            self._bar.n = self._read
            self._bar.set_description_str(self._text(), refresh=True)
        elif self._out is not None and time.monotonic() >= self._next_message:
            self._next_message = time.monotonic() + EVERY
            print(f"plaudit: {self._percent()}, {self._text()}", file=self._out, flush=True)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()

    def _count(self, rows: int, rejected: int, statuses: Mapping[str, int], read: int) -> None:
        self._rows += rows
        self._rejected += rejected
        self._read += read
        self._troubles.update(
            {name: statuses[name] for name in REPORTED_STATUSES if name in statuses}
        )

    def _percent(self) -> str:
        return f"{100 * self._read // self._total}%"

    def _text(self) -> str:
        """Return rows, rate, time left, and what went wrong."""
        seconds = max(time.monotonic() - self._start, 1e-9)
        rate = (self._rows - self._rows_before) / seconds
        read = self._read - self._read_before
        taken = self._worked / self._workers if self._worked and self._workers else seconds
        left = (self._total - self._read) * taken / read if read else 0.0
        facts = [f"{self._rows:,} rows", f"{rate:,.0f} rows/s", f"{_clock(left)} left"]
        troubles = {**self._troubles, self._bad: self._rejected}
        return ", ".join(facts + [f"{name} {count:,}" for name, count in troubles.items() if count])


def _bar(out: TextIO, total: int) -> Any:
    """Return a bar; None if tqdm is not installed, which nothing but the bar needs."""
    try:
        from tqdm import tqdm
    except ModuleNotFoundError:
        return None

    layout = "{percentage:3.0f}% |{bar}| {desc}"
    return tqdm(total=total, file=out, bar_format=layout, dynamic_ncols=True, leave=False)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


_QUIET = {True: 2.0, False: 10.0}  # seconds until the first line, on a terminal or in a log
_PAUSE = {True: 0.3, False: 10.0}  # and from one line to the next


class ProgressLine:
    """Shows what is being done, if it takes longer than `quiet` seconds; by default 2, or 10."""

    def __init__(self, out: TextIO | None, quiet: float | None = None) -> None:
        self._out = out
        self._terminal = out is not None and out.isatty()
        self._next = time.monotonic() + (_QUIET[self._terminal] if quiet is None else quiet)
        self._width = 0

    def __call__(self, what: str, done: int = 0, total: int = 0) -> None:
        """Show what is being done, and how many rows of how many are done."""
        now = time.monotonic()
        if self._out is None or now < self._next:
            return
        self._next = now + _PAUSE[self._terminal]
        line = f"plaudit: {what}" + (f": {done:,} of {total:,} rows" if total else " …")
        if self._terminal:
            self._out.write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            self._out.write(line + "\n")
        self._out.flush()

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *raised: object) -> None:
        if self._out is not None and self._width:
            self._out.write("\r" + " " * self._width + "\r")
            self._out.flush()


class RunCounts:
    """Sums over the parts, in order, so that they are the same however often a run was resumed."""

    def __init__(self) -> None:
        self._sums: Counter[str] = Counter()
        self._lines: Counter[int] = Counter()  # of each file, so far
        self._statuses: Counter[str] = Counter()
        self._values: dict[str, tuple[int, float]] = {}
        self._reasons = ReasonCounts()
        self._zeros: dict[str, Counter[str]] = {}

    def add(self, counts: "PartCounts") -> list[dict[str, Any]]:
        """Add the counts of a part; return its rejected rows, with the lines of the whole file."""
        rejected = counts["rejected"]
        added = {"rows": counts["rows"], "rejected": len(rejected)}
        self._sums.update({**added, "golds_in_part": counts["golds_in_part"]})
        self._statuses.update(counts["statuses"])
        self._reasons.add(row["reason"] for row in rejected)
        for name, statuses in counts["zeros"].items():
            self._zeros.setdefault(name, Counter()).update(statuses)
        for name, (count, total) in counts["values"].items():
            so_far = self._values.get(name, (0, 0.0))
            self._values[name] = so_far[0] + count, so_far[1] + total
        before = self._lines[counts["file"]]
        self._lines[counts["file"]] += counts["lines"]
        return [{**row, "line": row["line"] + before} for row in rejected]

    def results(self) -> dict[str, Any]:
        means = {
            name: {"rows": count, "mean": total / count if count else None}
            for name, (count, total) in self._values.items()
        }
        return {
            "rows": self._sums["rows"],
            "rejected": self._sums["rejected"],
            "statuses": {name: self._statuses[name] for name in STATUSES if name in self._statuses},
            "values": means,
            "golds_in_part": self._sums["golds_in_part"],
            "reasons": self._reasons.most_common(),
            "zeros": {name: dict(own.most_common()) for name, own in self._zeros.items()},
        }
