"""The folder of a run in; what its page shows out, as data for JSON, while the run goes on."""

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plaudit.recording import open_recorded, prompt_key
from plaudit.report import completion_text, prompt_text
from plaudit.watch._alarms import Alarm, AlarmLog
from plaudit.watch._steps import Spread, Step, step_of

POINTS = 400  # of a curve; of a longer run, each point is the mean of several steps
FRESH = 0.5  # seconds: the folder is not read again sooner
LONGEST = 20_000  # characters of a text that are shown; of a longer one, the beginning and the end
KNOWN = (
    *("row_id", "group_id", "step", "process", "prompt", "completion", "tokens", "seconds"),
    *("total", "status", "explanation"),
)

Row = dict[str, Any]


class WatchedRun:
    """A run that is followed. `version` rises whenever something new was read."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.version = 0
        self._run = open_recorded(folder)
        self._steps: dict[int, Step] = {}
        self._order: list[int] = []
        self._alarms: list[Alarm] = []
        self._log = AlarmLog()
        self._lock = threading.Lock()
        self._looked = 0.0

    def refresh(self) -> None:
        """Read what is new."""
        with self._lock:
            if time.monotonic() - self._looked < FRESH:
                return
            unreadable = len(self._run.unreadable)
            changed = self._run.refresh()
            self._looked = time.monotonic()
            self.version += len(self._run.unreadable) != unreadable
            if not changed:
                return
            for step in changed:
                lines = self._run.lines(step)
                if lines:
                    self._steps[step] = step_of(step, lines)
                else:
                    self._steps.pop(step, None)
            self._order = sorted(self._steps)
            steps = [self._steps[step] for step in self._order]
            self._alarms = self._log.update(steps, bisect_left(self._order, min(changed)))
            self.version += 1

    def state(self, have: int) -> dict[str, Any]:
        """What the page shows of the run; the version alone where it has that already."""
        self.refresh()
        with self._lock:
            if have == self.version and self.version:
                return {"version": self.version}
            steps = [self._steps[step] for step in self._order]
            return {
                "version": self.version,
                "name": self.name,
                "folder": str(self._run.folder),
                "components": list(self._run.components),
                "rows": self._run.rows,
                "unreadable": [f"{part}: {why}" for part, why in self._run.unreadable.items()],
                "steps": len(steps),
                "first": self._order[0] if self._order else None,
                "last": self._order[-1] if self._order else None,
                "at": max((step.at for step in steps), default=None),
                "unit": steps[-1].unit if steps else "characters",
                "alarms": [asdict(alarm) for alarm in self._alarms],
                "curves": curves_of(steps),
            }

    def rows(self, asked: Mapping[str, str], most: int) -> dict[str, Any]:
        """The rows of a step that are asked for: by prompt, or in an order, or those of a kind."""
        step = self._step(asked)
        with self._lock:
            found = [] if step is None else self._run.step_rows(step)
        chosen = ordered(filtered(found, asked), asked)
        components = self._run.components
        return {
            "step": step,
            "count": len(chosen),
            "rows": [row_of(row, components) for row in chosen[:most]],
        }

    def prompt(self, prompt: str, most: int) -> dict[str, Any]:
        """The completions of one prompt through all steps."""
        self.refresh()
        with self._lock:
            found = self._run.prompt_rows(prompt, most)
        return {"name": self.name, "rows": [row_of(row, self._run.components) for row in found]}

    def _step(self, asked: Mapping[str, str]) -> int | None:
        """The step that is asked for, or the nearest after it; the last where none is.

        `by` of -1 or 1 asks for the recorded step before it, or after it.
        """
        self.refresh()
        order, step = self._order, asked.get("step", "")
        if not order:
            return None
        place = bisect_left(order, int(step)) if step.isdecimal() else len(order) - 1
        place = min(place, len(order) - 1) + {"-1": -1, "1": 1}.get(asked.get("by", ""), 0)
        return order[min(max(place, 0), len(order) - 1)]


def curves_of(steps: Sequence[Step]) -> dict[str, Any]:
    """The curves over the steps, of a limited number of points.

    >>> curves_of([])["step"]
    []
    """
    every = -(-len(steps) // POINTS) or 1
    bins = [steps[at : at + every] for at in range(0, len(steps), every)]
    names = list(steps[-1].values) if steps else []
    found = dict.fromkeys(status for step in steps for status in step.statuses)
    others = [status for status in found if status != "scored"]
    return {
        "step": [part[-1].step for part in bins],
        "values": {
            name: _curve(bins, lambda step, name=name: step.values[name])  # type: ignore[misc]
            for name in names
        },
        "length": _curve(bins, lambda step: step.length),
        "flat": [_share(part, lambda s: s.flat, lambda s: s.groups) for part in bins],
        "statuses": {
            status: [
                _share(part, lambda s, of=status: s.statuses.get(of, 0), lambda s: s.rows)  # type: ignore[misc]
                for part in bins
            ]
            for status in others
        },
        "seconds": [_rounded(sum(s.seconds for s in part) / len(part)) for part in bins],
    }


def _curve(bins: Sequence[Sequence[Step]], of: Callable[[Step], Spread]) -> dict[str, Any]:
    each = [[of(step) for step in part] for part in bins]
    quartiles = {
        edge: [_rounded(_weighted(part, edge)) for part in each]
        for edge in ("low", "middle", "high")
    }
    return {"mean": [_rounded(_weighted(part, "mean")) for part in each], **quartiles}


def _weighted(spreads: Sequence[Spread], edge: str) -> float | None:
    known = [(getattr(s, edge), s.rows) for s in spreads if getattr(s, edge) is not None]
    rows = sum(count for _, count in known)
    return sum(value * count for value, count in known) / rows if rows else None


def _share(
    steps: Sequence[Step], part: Callable[[Step], int], whole: Callable[[Step], int]
) -> float | None:
    of = sum(map(whole, steps))
    return _rounded(sum(map(part, steps)) / of) if of else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")


# --- rows -----------------------------------------------------------------------------------------


def filtered(rows: Iterable[Row], asked: Mapping[str, str]) -> list[Row]:
    """The rows with a status, a prompt, or an answer that a component read.

    >>> filtered([{"status": "scored"}, {"status": "timeout"}], {"status": "timeout"})
    [{'status': 'timeout'}]
    """
    status, prompt, answer = (asked.get(name) for name in ("status", "prompt", "answer"))
    return [
        row
        for row in rows
        if (not status or row["status"] == status)
        and (not prompt or _prompt_of(row) == prompt)
        and (answer is None or _answers(row, asked.get("component"), answer))
    ]


def _prompt_of(row: Row) -> str:
    return prompt_key(row["group_id"], row.get("step"))


def _answers(row: Row, component: str | None, answer: str) -> bool:
    return any(
        entry["component"] == component and (entry["answer"] or "").startswith(answer)
        for entry in row.get("explanation") or ()
        if entry["answer"] is not None
    )


def ordered(rows: list[Row], asked: Mapping[str, str]) -> list[Row]:
    """The rows in the order that is asked for: best, worst, longest, or by prompt.

    `high` and `low` name components: rows that are high by the one and low by the other lead.

    >>> [row["total"] for row in ordered([{"total": 0.0}, {"total": 1.0}], {"order": "best"})]
    [1.0, 0.0]
    """
    order, high, low = asked.get("order"), asked.get("high"), asked.get("low")
    if high and low:
        return sorted(rows, key=lambda row: _value(row, low) - _value(row, high))
    if order == "best":
        return sorted(rows, key=lambda row: -_value(row, "total"))
    if order == "worst":
        return sorted(rows, key=lambda row: _value(row, "total"))
    if order == "longest":
        return sorted(rows, key=lambda row: -_length(row))
    first: dict[str, int] = {}
    for place, row in enumerate(rows):
        first.setdefault(str(row.get("group_id")), place)
    return sorted(rows, key=lambda r: (first[str(r.get("group_id"))], -_value(r, "total")))


def _value(row: Row, name: str) -> float:
    value = row.get(name)
    return 0.0 if value is None else float(value)


def _length(row: Row) -> float:
    return float(row.get("tokens") or len(str(row.get("completion") or "")))


def row_of(row: Row, components: Sequence[str]) -> Row:
    """A row as the page shows it."""
    beside = {name: v for name, v in row.items() if name not in (*KNOWN, *components)}
    return {
        "id": str(row["row_id"]),
        "step": row.get("step"),
        "process": row.get("process"),
        "group": _prompt_of(row),
        "prompt": _shortened(prompt_text(row.get("prompt"))),
        "completion": _shortened(completion_text(row.get("completion"))),
        "tokens": row.get("tokens"),
        "total": row["total"],
        "status": row["status"],
        "values": {name: row.get(name) for name in components},
        "reasons": row.get("explanation") or [],
        "beside": {name: _shortened(str(v)) for name, v in beside.items() if v is not None},
    }


def _shortened(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n… {len(text) - LONGEST:,} characters are left out …\n{text[-half:]}"
