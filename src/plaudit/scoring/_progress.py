"""How far a run is: a bar in a terminal, a line now and then elsewhere."""

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any, TextIO

from plaudit.scores import TOLD

EVERY = 10.0  # seconds between lines, where there is no terminal


class Progress:
    """Shows how far a run is. `total` is in bytes of the input, which are known beforehand."""

    def __init__(self, out: TextIO | None, total: int) -> None:
        self._out = out
        self._total = max(total, 1)
        self._read = self._read_before = 0
        self._rows = self._rows_before = self._rejected = 0
        self._troubles: Counter[str] = Counter()
        self._start = self._said = time.monotonic()
        self._bar = _bar(out, self._total) if out is not None and out.isatty() else None

    def found(self, about: Mapping[str, Any], read: int) -> None:
        """Count a part in that was there already."""
        self._rows_before += about["rows"]
        self._read_before += read
        self._count(about["rows"], len(about["rejected"]), about["statuses"], read)
        self._start = time.monotonic()

    def scored(self, rows: int, rejected: int, statuses: Mapping[str, int], read: int) -> None:
        """Count a part in, and show it."""
        self._count(rows, rejected, statuses, read)
        if self._bar is not None:
            self._bar.n = self._read
            self._bar.set_description_str(self._text(), refresh=True)
        elif self._out is not None and time.monotonic() - self._said >= EVERY:
            self._said = time.monotonic()
            print(f"plaudit: {self._percent()}, {self._text()}", file=self._out, flush=True)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._bar is not None:
            self._bar.close()

    def _count(self, rows: int, rejected: int, statuses: Mapping[str, int], read: int) -> None:
        self._rows += rows
        self._rejected += rejected
        self._read += read
        self._troubles.update({name: statuses[name] for name in TOLD if name in statuses})

    def _percent(self) -> str:
        return f"{100 * self._read // self._total}%"

    def _text(self) -> str:
        """Rows, rate, time left, and what went wrong."""
        seconds = max(time.monotonic() - self._start, 1e-9)
        rate = (self._rows - self._rows_before) / seconds
        read = self._read - self._read_before
        left = (self._total - self._read) * seconds / read if read else 0.0
        facts = [f"{self._rows:,} rows", f"{rate:,.0f} rows/s", f"{_clock(left)} left"]
        troubles = {**self._troubles, "rejected": self._rejected}
        return ", ".join(facts + [f"{name} {count:,}" for name, count in troubles.items() if count])


def _bar(out: TextIO, total: int) -> Any:
    """A bar; None where tqdm is not installed, which nothing but the bar needs."""
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
