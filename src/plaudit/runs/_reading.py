"""Read a recorded run: the statistics of its parts, and later those of new parts.

The statistics are in a few files of lines, next to the parts; a line counts if its part is there.
Parts without lines (a folder was copied without `.record`, or `plaudit score` wrote it) are read.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from plaudit.recipes.scored_columns import read_names, renamed_in
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
        self.rows = 0
        self._renamed: Mapping[str, str] = {}
        self.unreadable: dict[str, str] = {}
        self._lines: dict[str, list[Line]] = {}  # of every part that is there
        self._early: dict[str, list[Line]] = {}  # of parts that are not there yet, or no more
        self._read: dict[Path, int] = {}  # how many bytes of each file of lines
        self.steps: list[Step] = []
        self.alarms: list[Alarm] = []
        self._alarm_log = AlarmLog()
        self._by_step: dict[int, set[str]] = {}
        self._by_prompt: dict[str, set[str]] = {}

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
            changed |= self._remove(part)
        for part in sorted(there - self._lines.keys()):
            lines = self._early.pop(part, None) or self._lines_of(part)
            changed |= self._add(part, lines)
        if changed:
            first = bisect_left(self.steps, min(changed), key=lambda step: step.step)
            steps = {step.step: step for step in self.steps}
            for number in changed:
                parts = sorted(self._by_step.get(number, ()))
                lines = [line for part in parts for line in self._lines[part]]
                steps[number] = step_of(number, [one for one in lines if one["step"] == number])
            self.steps = sorted(
                (step for step in steps.values() if step.rows), key=lambda step: step.step
            )
            self.alarms = self._alarm_log.update(self.steps, first)
        return changed

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
                try:
                    found = json.loads(line)
                except ValueError:
                    continue  # its process was killed while it wrote it: the part is read instead
                if "least" in found["length"]:  # else an earlier version wrote it: likewise
                    yield found

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

    def _add(self, part: str, lines: Sequence[Line]) -> set[int]:
        self._lines[part] = list(lines)
        self.rows += sum(line["rows"] for line in lines)
        for line in lines:
            self._by_step.setdefault(line["step"], set()).add(part)
            for group, *_ in line["groups"]:
                self._by_prompt.setdefault(prompt_key(group, None), set()).add(part)
        return {line["step"] for line in lines}

    def _remove(self, part: str) -> set[int]:
        lines = self._lines.pop(part)
        self.unreadable.pop(part, None)
        self.rows -= sum(line["rows"] for line in lines)
        for line in lines:
            self._by_step[line["step"]].discard(part)
            for group, *_ in line["groups"]:
                self._by_prompt[prompt_key(group, None)].discard(part)
        return {line["step"] for line in lines}

    def is_live(self) -> bool:
        """Return whether a process is recording into the folder.

        It holds a lock on the file of its session for as long as it runs.
        """
        return any(map(is_live, (self.folder / RECORD / "sessions").glob("*.json")))

    def step_rows(self, step: int) -> list[dict[str, Any]]:
        """Return all rows of a step."""
        return self._rows(self._by_step.get(step, ()), "step", step)

    def prompt_rows(self, prompt: str, most: int) -> list[dict[str, Any]]:
        """Return the rows of a prompt through all steps, by its key; the last `most` of them."""
        found: list[dict[str, Any]] = []
        for part in sorted(self._by_prompt.get(prompt, ()), reverse=True):
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
