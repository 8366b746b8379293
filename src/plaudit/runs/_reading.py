"""Read a recorded run: the statistics of its parts, and later those of new parts.

The statistics are in a few files of lines, next to the parts; a line counts if its part is there.
Parts without lines (a folder was copied without `.record`, or `plaudit score` wrote it) are read.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from plaudit.recipes.row_score import read_names, renamed_in
from plaudit.runs._writer import Line, components_of, statistics_of, write_what_was_left
from plaudit.runs.alarms import Alarm, AlarmLog, Step, step_of
from plaudit.runs.sessions import RECORD, is_live, prompt_key

BELOW = "record"  # where `plaudit train` records, below the folder of its results
_NEEDED = ("group_id", "step", "total", "status", "explanation", "completion", "tokens", "seconds")


def recover(folder: Path) -> None:
    """Write as Parquet what is left in the spools of processes that were killed with their writers.

    Ray does so when it shuts down. Nothing happens in a folder that cannot be written to.
    """
    if (folder / "_run.json").exists() and any((folder / RECORD / "spool").glob("*/part-*")):
        with suppress(OSError):
            write_what_was_left(folder, components_of(folder))


class RecordedRun:
    """A recorded run, as far as it has come.

    The folder may also be the one in which `plaudit train` puts its results.

    components: the names of its components, () until its first batch is there
    steps: what came of each step, in order
    alarms: what looks wrong, those that hold now first
    unreadable: the parts that cannot be read, and why: their rows are left out
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise ValueError(f"there is no folder {folder}")
        self.folder = folder
        self.components: tuple[str, ...] = ()
        self._renamed: Mapping[str, str] = {}
        self.unreadable: dict[str, str] = {}
        self._lines: dict[str, list[Line]] = {}  # of every part that is there
        self._early: dict[str, list[Line]] = {}  # of parts that are not there yet, or no more
        self._read: dict[Path, int] = {}  # how many bytes of each file of lines
        self.steps: list[Step] = []
        self.alarms: list[Alarm] = []
        self._alarm_log = AlarmLog()

    def refresh(self) -> set[int]:
        """Read what is new; return the steps of which something has changed."""
        if not (self.folder / "_run.json").exists() and (self.folder / BELOW).is_dir():
            self.folder = self.folder / BELOW
        self._read_manifest()
        recover(self.folder)
        there = {path.stem for path in self.folder.glob("part-*.parquet")}
        for line in self._new_lines():
            known = self._early.setdefault(line["part"], [])
            known[:] = [one for one in known if one["step"] != line["step"]] + [line]
        changed = set()
        for part in [part for part in self._lines if part not in there]:
            changed |= {line["step"] for line in self._lines.pop(part)}
            self.unreadable.pop(part, None)
        for part in sorted(there - self._lines.keys()):
            self._lines[part] = self._early.pop(part, []) or self._lines_of(part)
            changed |= {line["step"] for line in self._lines[part]}
        if changed:
            self._update(changed)
        return changed

    def _update(self, changed: set[int]) -> None:
        """Put the lines of the steps that have changed together, and look for alarms."""
        first = bisect_left(self.steps, min(changed), key=lambda step: step.step)
        by_step: dict[int, list[Line]] = {step: [] for step in changed}
        for part in sorted(self._lines):
            for line in self._lines[part]:
                if line["step"] in changed:
                    by_step[line["step"]].append(line)
        steps = {step.step: step for step in self.steps}
        steps |= {step: step_of(step, lines) for step, lines in by_step.items()}
        self.steps = [steps[number] for number in sorted(steps) if steps[number].rows]
        self.alarms = self._alarm_log.update(self.steps, first)

    @property
    def rows(self) -> int:
        """How many rows are recorded."""
        return sum(line["rows"] for lines in self._lines.values() for line in lines)

    def _read_manifest(self) -> None:
        try:
            run = json.loads((self.folder / "_run.json").read_bytes())
            self.components = tuple(map(str, run["components"]))
            self._renamed = renamed_in(run)
        except FileNotFoundError:
            return  # nothing is recorded yet
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{self.folder / '_run.json'} has no list of components") from error

    def _new_lines(self) -> Iterator[Line]:
        for file in sorted((self.folder / RECORD / "statistics").glob("*.jsonl")):
            with file.open("rb") as source:
                source.seek(self._read.get(file, 0))
                text = source.read()
            whole = text.rfind(b"\n") + 1  # what follows is being written
            self._read[file] = self._read.get(file, 0) + whole
            for line in text[:whole].splitlines():
                # If a process was killed while it wrote a line, the part is read instead.
                with suppress(ValueError):
                    yield json.loads(line)

    def _lines_of(self, part: str) -> list[Line]:
        path = self.folder / f"{part}.parquet"
        try:
            names = read_names(pq.read_schema(path).names, self._renamed)
            wanted = [name for name in (*_NEEDED, *self.components) if name in names]
            written = [names[name] for name in wanted]
            table = pq.read_table(path, columns=written).select(written).rename_columns(wanted)
            return statistics_of(part, table, self.components, path.stat().st_mtime)
        except FileNotFoundError:
            return []  # it was put aside just now
        except (OSError, KeyError, pa.ArrowException) as error:
            self.unreadable[part] = " ".join(str(error).split())
            return []

    def is_live(self) -> bool:
        """Return whether a process is recording into the folder.

        It holds a lock on the file of its session for as long as it runs.
        """
        return any(map(is_live, (self.folder / RECORD / "sessions").glob("*.json")))

    def step_rows(self, step: int) -> list[dict[str, Any]]:
        """Return all rows of a step."""
        parts = [p for p, lines in self._lines.items() if any(one["step"] == step for one in lines)]
        return self._rows(parts, "step", step)

    def prompt_rows(self, prompt: str, most: int) -> list[dict[str, Any]]:
        """Return the rows of a prompt through all steps, by its key; the last `most` of them."""
        found: list[dict[str, Any]] = []
        for part in sorted(self._lines, reverse=True) if prompt else ():
            groups = (group for line in self._lines[part] for group, *_ in line["groups"])
            if any(name.startswith(prompt) for name in groups):
                rows = self._rows([part], None, None)
                found += [r for r in rows if prompt_key(r["group_id"], r.get("step")) == prompt]
            if len(found) >= most:
                break
        return sorted(found, key=lambda row: row["row_id"])[-most:]

    def _rows(self, parts: Iterable[str], column: str | None, value: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for part in sorted(parts):
            try:
                table = pq.read_table(self.folder / f"{part}.parquet")
                table = table.rename_columns(list(read_names(table.column_names, self._renamed)))
            except FileNotFoundError:
                continue  # put aside just now
            if column in table.column_names:
                table = table.filter(pc.equal(table[column], value))
            found += table.to_pylist()
        return found
