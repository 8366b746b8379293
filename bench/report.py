"""What the benchmarks share: timing in turns, a judge that remembers nothing, Markdown tables."""

import argparse
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import plaudit
from plaudit.judge import Pair, judge
from plaudit.judge._algebra import math_object
from plaudit.judge._reading import _normalise

T = TypeVar("T")

# Seconds in which workers prepare themselves, as while a trainer generates: more than they need.
PREPARING = float(os.environ.get("BENCH_PREPARING", "5"))


@dataclass(frozen=True)
class Table:
    """One table of a report: a title, columns, rows, and a sentence on how to read it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    note: str = ""

    def markdown(self) -> str:
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        table = "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
        return "\n\n".join(part for part in (f"### {self.title}", self.note, table) if part)


def show(*tables: Table) -> None:
    """Print tables as Markdown, which is what goes into the documentation too."""
    for table in tables:
        print(table.markdown(), end="\n\n", flush=True)


def arguments(description: str | None) -> argparse.ArgumentParser:
    """A parser whose help is the docstring of the script."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def timed(run: Callable[[], T]) -> tuple[float, T]:
    """The seconds that a call takes, and what it gives."""
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def best_in_turns(runs: Mapping[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """The best of several times of each, in turns: a busy machine slows all alike."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(repeat):
        for name, run in runs.items():
            best[name] = min(best[name], timed(run)[0])
    return best


def fresh_judge(**settings: float) -> None:
    """A shared judge that remembers nothing, its workers started.

    Workers start once a run, not once a step; `start.py` measures that. What they have seen here
    does not occur in any benchmark.
    """
    plaudit.configure(**settings)  # type: ignore[arg-type]
    _normalise.cache_clear()
    math_object.cache_clear()
    judge([Pair(rf"$\tan({number} y) + z$", rf"$z - \tan(-{number} y)$") for number in range(64)])


def seconds(value: float) -> str:
    """Seconds for a table, with a unit that fits.

    >>> seconds(1.234), seconds(0.01234), seconds(0.0000123)
    ('1.23 s', '12.3 ms', '12.3 µs')
    """
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 1 or unit == "µs":
            return f"{value * factor:.3g} {unit}" if value * factor < 1000 else f"{value:.0f} s"
    raise AssertionError


def times(ratio: float) -> str:
    """How many times faster, for a table.

    >>> times(15.26), times(1234.5)
    ('15.3×', '1,234×')
    """
    return f"{ratio:.3g}×" if ratio < 100 else f"{ratio:,.0f}×"
