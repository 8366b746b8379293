"""The folder of a run: scored chunks in, files out.

    part-00000.parquet …   one part for each chunk: row_id, group_id, the input's columns, a column
                           for each component, total, status, explanation
    _run.json              what the run is: inputs, recipe, columns; counts, once it has finished
    _rejected.jsonl        the rows that were not scored, in the input's order, once it has finished
    .progress/             until it has finished: the counts of each part, unfinished files

Programs that read the folder as one table, such as pandas, ignore names that begin with _. Each
file is there as a whole or not at all (`_storage/`), and the counts of a part are written
before the part is. So a part that is there is complete, and a run that was killed at any moment can
be resumed.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from plaudit.scoring._chunks import Chunk
from plaudit.scoring._errors import RESUME_HINT, InputError, StoppedError
from plaudit.scoring._plan import Plan
from plaudit.scoring._score_chunk import ScoredChunk, score_chunk
from plaudit.scoring._storage import Folder, folder_at, why
from plaudit.scoring._summary import RunCounts, ScoreSummary

PROGRESS = ".progress"
FIRST = 4  # parts: if all rows of these fail in the same way, so will the others
SHORT = 1000  # bytes of counts that are kept in memory
REQUESTS = 32  # files of remote storage that are read at the same time
RESULTS = (
    *("finished", "parts", "rows", "rejected", "statuses", "values", "golds_in_part"),
    *("reasons", "zeros"),
)
# What a run writes, and the folders of its reports.
WRITTEN = ("part-*.parquet", ".progress/part-*", "_run.json", "_rejected.jsonl")
REPORTS = ("_report/against-*", "_report")
# The same in earlier versions. Other programs write files of these names, too.
OLD_WRITTEN, OLD_REPORTS = ("run.json", "rejected.jsonl"), ("report",)
PAGE = (
    *("index.html", "total.png", "component-*.png", "groups.png"),
    *("at-k.png", "length.png", "correlation.png", "statuses.png", "steps-*.png"),
)


class OutputFolder:
    """A folder that one run writes.

    path: a path of this machine, or the URL of a folder in the storage of a cluster
    manifest: what is scored, and how: a run that is resumed has the same
    overwrite: whether to remove an earlier run; else it is resumed, or an error if it differs
    """

    def __init__(self, path: Path | str, manifest: Mapping[str, Any], overwrite: bool) -> None:
        self.path = path
        self._folder = folder_at(path, PROGRESS)
        self._manifest = dict(manifest)
        self._overwrite = overwrite
        self._lock = -1
        self._there: set[int] = set()  # the parts that are there, with their counts
        self._known: dict[int, bytes] = {}  # the counts of parts, where they are short

    def __enter__(self) -> "OutputFolder":
        try:
            if isinstance(self.path, Path):
                self._lock = self._locked(self.path / PROGRESS)
            if self._overwrite:
                self._clear()
            self._begin_or_resume()
        except OSError as error:
            self.__exit__()
            raise InputError(f"cannot write to {self.path}: {why(error)}") from error
        except InputError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._lock >= 0 or not isinstance(self.path, Path):
                self._remove_progress()
        finally:
            if self._lock >= 0:
                os.close(self._lock)

    def _remove_progress(self) -> None:
        """Remove the folder of unfinished files, once the run is finished or if none is there."""
        with suppress(OSError, InputError):
            parts = (name.startswith("part-") for name in self._folder.names(PROGRESS))
            if self.is_finished or not any(parts):
                self._folder.remove_folder(PROGRESS)

    def _locked(self, progress: Path) -> int:
        """A lock that the system releases when the process ends, however it ends."""
        progress.mkdir(parents=True, exist_ok=True)
        lock = os.open(progress / "lock", os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            if isinstance(error, BlockingIOError):
                raise InputError(f"another run is writing to {self.path} right now") from error
            raise
        return lock

    def _clear(self) -> None:
        """Remove what plaudit wrote, and nothing else."""
        is_old = "plaudit" in (self._run_in("run.json") or {})
        written = [*WRITTEN, *(OLD_WRITTEN if is_old else ())]
        reports = [*REPORTS, *(OLD_REPORTS if is_old else ())]
        for pattern in (*written, *(f"{report}/{name}" for report in reports for name in PAGE)):
            self._folder.remove(pattern)
        for report in reports if isinstance(self.path, Path) else ():
            for folder in Path(self.path).glob(report):
                with suppress(OSError):  # it holds something else
                    folder.rmdir()

    def _begin_or_resume(self) -> None:
        """Begin a run here, or resume the one that is here, if it is the same."""
        earlier = self._run_in("_run.json")
        parts = set(self._part_numbers())
        if earlier is None and parts:
            raise InputError(
                f"{self.path} has part-*.parquet files but no _run.json: choose another folder, "
                "or replace them with --overwrite"
            )
        if earlier is None or not (parts or earlier.get("finished")):
            self._folder.write("_run.json", _json({**self._manifest, "finished": False}))
            return
        if differing := _differing(earlier, self._manifest):
            raise InputError(
                f"{self.path} has the results of another run: it has {_others(differing)}; "
                "choose another folder, or start over with --overwrite"
            )
        self._manifest = earlier
        for number in range(earlier.get("parts", 0)):
            if number not in parts:
                missing = f"{self.path}/{_part(number)} is missing from a finished run"
                raise InputError(f"{missing}: start over with --overwrite")
        if not self.is_finished:
            counted = {_number_of(name) for name in self._folder.names(PROGRESS)}
            self._there = {number for number in counted if number in parts}
            self._read_counts()

    def _part_numbers(self) -> Iterator[int]:
        """The numbers of the parts in the folder; raises InputError for parts of another kind."""
        for name in self._folder.names():
            if (number := _number_of(name)) is not None:
                yield number
            elif name.startswith("part-") and name.endswith(".parquet"):
                raise InputError(
                    f"{self.path} has parts of something else, such as {name}, perhaps of a "
                    "recorded run: choose another folder, or remove them with --overwrite"
                )

    def _run_in(self, name: str) -> dict[str, Any] | None:
        """What a file says of the run that is here; None if there is no such file."""
        try:
            run = json.loads(self._folder.read(name))
        except (FileNotFoundError, IsADirectoryError):
            return None
        except ValueError:
            run = {}
        return run if isinstance(run, dict) else {}

    def _read_counts(self) -> None:
        """Read the counts of all parts at once, if each takes a request to remote storage."""
        if isinstance(self.path, Path):
            return
        numbers = sorted(self._there)
        with ThreadPoolExecutor(REQUESTS) as pool:
            for number, counts in zip(numbers, pool.map(self._counts, numbers), strict=True):
                self._remember(number, counts)

    def _counts(self, number: int) -> bytes:
        return self._folder.read(_counts_file(number))

    def _remember(self, number: int, counts: bytes) -> None:
        if len(counts) <= SHORT:  # rejected rows may be many, and are read again
            self._known[number] = counts

    @property
    def is_finished(self) -> bool:
        """Whether the run has finished before."""
        return bool(self._manifest.get("finished"))

    def has(self, number: int) -> bool:
        """Whether a part is there."""
        return number in self._there

    def part_counts(self, number: int) -> dict[str, Any]:
        """The counts of a part that is there, and its rejected rows."""
        known = self._known.get(number)
        counts: dict[str, Any] = json.loads(known or self._counts(number))
        return counts

    def add(self, scored: ScoredChunk) -> None:
        """Write a part, unless the worker that scored it has."""
        counts = _counts_of(scored)
        if not scored.is_written:
            write_part(self._folder, scored, f"{self.path}")
        self._remember(scored.number, counts)

    def finish(self, parts: int) -> None:
        """All parts are there: write the rejected rows, and the counts of the whole run."""
        whole = RunCounts()
        each = (self.part_counts(number) for number in range(parts))
        lines = ((json.dumps(row) + "\n").encode() for one in each for row in whole.add(one))
        _write_safely(self._folder, "_rejected.jsonl", lines, f"{self.path}")
        self._manifest |= {"finished": True, "parts": parts, **whole.results()}
        _write_safely(self._folder, "_run.json", _json(self._manifest), f"{self.path}")

    def summary(self, seconds: float, was_finished: bool, rows_before: int) -> ScoreSummary:
        """The results of the run, which has finished; see `ScoreSummary` for the parameters."""
        run = self._manifest
        values = {name: (value["rows"], value["mean"]) for name, value in run["values"].items()}
        counts = run["rows"], run["rejected"], run["parts"], run["statuses"]
        in_part = run["golds_in_part"]
        return ScoreSummary(
            *(self.path, *counts, values, seconds, in_part, was_finished, rows_before),
            reasons=run.get("reasons", {}),
            zeros=run.get("zeros", {}),
        )


def score_and_write(chunk: Chunk, plan: Plan) -> ScoredChunk:
    """Score a chunk, and write the part too if the plan says where; what a worker does.

    Some parts it leaves to the process that hands out chunks, which may hold them back: the first
    ones, and those in which every row failed.
    """
    scored = score_chunk(chunk, plan)
    if not plan.out or scored.number < FIRST or scored.failure is not None:
        return scored
    write_part(folder_at(plan.out, PROGRESS), scored, plan.out)
    return replace(scored, part=b"", is_written=True)


def write_part(folder: Folder, scored: ScoredChunk, path: str) -> None:
    """Write the counts of a part, and then the part; `path` names the folder in errors."""
    _write_safely(folder, _counts_file(scored.number), _counts_of(scored), path)
    _write_safely(folder, _part(scored.number), scored.part, path)


def _write_safely(folder: Folder, name: str, content: bytes | Iterable[bytes], path: str) -> None:
    try:
        folder.write(name, content)
    except OSError as error:
        raise StoppedError(f"cannot write {path}/{name}: {why(error)}. {RESUME_HINT}") from error


def _part(number: int) -> str:
    return f"part-{number:05}.parquet"


def _counts_file(number: int) -> str:
    return f"{PROGRESS}/part-{number:05}.json"


def _number_of(name: str) -> int | None:
    """The number of the part that a file holds, or whose counts it holds; None for other files."""
    found = re.fullmatch(r"part-(\d{5,})\.(?:parquet|json)", name)
    return int(found[1]) if found else None


def _counts_of(scored: ScoredChunk) -> bytes:
    return _json(
        {
            "rows": scored.rows,
            "statuses": scored.statuses,
            "values": scored.values,
            "golds_in_part": scored.golds_in_part,
            "zeros": scored.zeros,
            "rejected": [asdict(rejected) for rejected in scored.rejected],
        }
    )


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _others(names: Iterable[str]) -> str:
    """What is not the same in another run, in words, by the keys of its manifest."""
    versions = {"plaudit": "version of plaudit", "math_verify": "version of math-verify"}
    called = (versions.get(name, name.replace("_", " ")) for name in names)
    return ", ".join(f"{'other' if name.endswith('s') else 'another'} {name}" for name in called)


def _differing(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What two runs do not have in common; the folder that the inputs are in does not matter."""

    def known(run: Mapping[str, Any]) -> dict[str, Any]:
        inputs = [{**one, "path": Path(one["path"]).name} for one in run.get("inputs", [])]
        return {name: v for name, v in {**run, "inputs": inputs}.items() if name not in RESULTS}

    was, is_now = known(earlier), known(json.loads(_json(now)))
    return [name for name in is_now if was.get(name) != is_now[name]]
