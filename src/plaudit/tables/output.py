"""The folder of a run: write it, resume it, read it again.

    part-00000.parquet …   one part for each chunk: row_id, group_id, the input's columns, a column
                           for each component, total, status, explanation
    _run.json              what the run is: inputs, recipe, columns; counts, once it has finished
    _rejected.jsonl        the rows that were not scored, in the input's order, once it has finished
    .progress/             until it has finished: the counts of each part, unfinished files

Programs that read the folder as one table, such as pandas, ignore names that begin with _. Each
file is there as a whole or not at all, and the counts of a part are written before the part is. So
a part that is there is complete, and a run that was killed at any moment can be resumed.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.recipes.row_score import read_names, renamed_in
from plaudit.runs.recording import recover
from plaudit.tables.errors import RESUME_HINT, InputError, StoppedError
from plaudit.tables.plan import Plan
from plaudit.tables.readers import Chunk
from plaudit.tables.score_chunk import FIRST, PartCounts, ScoredChunk, score_chunk
from plaudit.tables.storage import Folder, folder_at, local_path, url_in, why
from plaudit.tables.summary import RunCounts, ScoreSummary

PROGRESS = ".progress"
REQUESTS = 32  # files of remote storage that are read at the same time
RESULTS = (
    *("finished", "parts", "rows", "rejected", "statuses", "values", "golds_in_part"),
    *("reasons", "zeros"),
)
# What a run writes, and the folders of its reports.
WRITTEN = ("part-*.parquet", ".progress/part-*", "_run.json", "_rejected.jsonl")
REPORTS = ("_report/against-*", "_report")
PAGE = (
    *("index.html", "total.png", "component-*.png", "groups.png"),
    *("at-k.png", "length.png", "correlation.png", "statuses.png", "steps-*.png"),
)
AT_ONCE = 1024  # rows that are held in memory with their texts


class OutputFolder:
    """A folder that one run writes.

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
        self._known: dict[int, PartCounts] = {}  # the counts of parts without rejected rows

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
        """Take a lock that the system releases when the process ends, however it ends."""
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
        for pattern in (*WRITTEN, *(f"{report}/{name}" for report in REPORTS for name in PAGE)):
            self._folder.remove(pattern)
        for report in REPORTS if isinstance(self.path, Path) else ():
            for folder in Path(self.path).glob(report):
                with suppress(OSError):  # it holds something else
                    folder.rmdir()

    def _begin_or_resume(self) -> None:
        """Begin a run here, or resume the one that is here, if it is the same."""
        earlier = self._earlier_run()
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
        """Yield the numbers of the parts that are there; raise InputError for other parts."""
        for name in self._folder.names():
            if (number := _number_of(name)) is not None:
                yield number
            elif name.startswith("part-") and name.endswith(".parquet"):
                raise InputError(
                    f"{self.path} has parts of something else, such as {name}, perhaps of a "
                    "recorded run: choose another folder, or remove them with --overwrite"
                )

    def _earlier_run(self) -> dict[str, Any] | None:
        """Return what is known of the run that is here; None if there is none."""
        try:
            run = json.loads(self._folder.read("_run.json"))
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
            for number, counts in zip(numbers, pool.map(self.part_counts, numbers), strict=True):
                self._remember(number, counts)

    def _remember(self, number: int, counts: PartCounts) -> None:
        if not counts["rejected"]:  # rejected rows may be many, and are read again
            self._known[number] = counts

    @property
    def is_finished(self) -> bool:
        """Whether the run has finished before."""
        return bool(self._manifest.get("finished"))

    def has(self, number: int) -> bool:
        """Return whether a part is there."""
        return number in self._there

    def part_counts(self, number: int) -> PartCounts:
        """Return the counts of a part that is there."""
        if number in self._known:
            return self._known[number]
        counts: PartCounts = json.loads(self._folder.read(_counts_file(number)))
        return counts

    def add(self, scored: ScoredChunk) -> None:
        """Write a part, unless the worker that scored it has."""
        if scored.part is not None:
            write_part(self._folder, scored, f"{self.path}")
        self._remember(scored.number, scored.counts)

    def finish(self, parts: int) -> None:
        """Write the rejected rows and the counts of the whole run, whose parts are all there."""
        whole = RunCounts()
        lines = (
            (json.dumps(row) + "\n").encode()
            for number in range(parts)
            for row in whole.add(self.part_counts(number))
        )
        _write_safely(self._folder, "_rejected.jsonl", lines, f"{self.path}")
        self._manifest |= {"finished": True, "parts": parts, **whole.results()}
        _write_safely(self._folder, "_run.json", _json(self._manifest), f"{self.path}")

    def summary(self, seconds: float, was_finished: bool, rows_before: int) -> ScoreSummary:
        """Return the results of the run, which has finished."""
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
    return replace(scored, part=None)


def write_part(folder: Folder, scored: ScoredChunk, path: str) -> None:
    """Write the counts of a part, and then the part; `path` names the folder in errors."""
    _write_safely(folder, _counts_file(scored.number), _json(scored.counts), path)
    _write_safely(folder, _part(scored.number), scored.part or b"", path)


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
    """Return the number of the part that a file holds or counts; None for other files."""
    found = re.fullmatch(r"part-(\d{5,})\.(?:parquet|json)", name)
    return int(found[1]) if found else None


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _others(names: Iterable[str]) -> str:
    """Return what is not the same in another run, in words, by the keys of its manifest."""
    versions = {"plaudit": "version of plaudit", "math_verify": "version of math-verify"}
    called = (versions.get(name, name.replace("_", " ")) for name in names)
    return ", ".join(f"{'other' if name.endswith('s') else 'another'} {name}" for name in called)


def _differing(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return what two runs do not have in common; the inputs' folder does not matter."""

    def known(run: Mapping[str, Any]) -> dict[str, Any]:
        inputs = [{**one, "path": Path(one["path"]).name} for one in run.get("inputs", [])]
        return {name: v for name, v in {**run, "inputs": inputs}.items() if name not in RESULTS}

    was, is_now = known(earlier), known(json.loads(_json(now)))
    return [name for name in is_now if was.get(name) != is_now[name]]


# --- read again -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScoredFolder:
    """A folder that a run wrote, to be read again.

    Columns that were renamed because the input has their names are read by their usual names.
    """

    path: Path
    parts: tuple[Path, ...]  # its files part-….parquet, in order
    components: tuple[str, ...]  # the names of the rewards, each of which is a column
    run: Mapping[str, Any]  # what _run.json holds

    @property
    def renamed(self) -> Mapping[str, str]:
        """The added columns that are not called by their usual names, usual name -> column."""
        return renamed_in(self.run)

    def columns(self, *needed: str) -> list[str]:
        """Return the names of its columns; raise InputError if a part lacks one of `needed`."""
        names: list[str] = []
        for part in self.parts:
            try:
                names = self.schema(part).names
            except (OSError, pa.ArrowException) as error:
                raise _unreadable(part, error) from error
            for name in needed:
                if name not in names:
                    raise InputError(f"{part} has no column {name}: `plaudit score` writes one")
        return names

    def schema(self, part: Path) -> pa.Schema:
        """Return the columns of a part, and their types."""
        schema = pq.read_schema(part)
        named = read_names(schema.names, self.renamed)
        return pa.schema([schema.field(old).with_name(name) for name, old in named.items()])

    def batches(
        self, columns: Sequence[str], parts: Sequence[Path] | None = None
    ) -> Iterator[tuple[Path, pa.RecordBatch]]:
        """Yield its rows in order, with these columns; each batch with its part."""
        for part in self.parts if parts is None else parts:
            try:
                with pq.ParquetFile(part, pre_buffer=False) as file:
                    named = read_names(file.schema_arrow.names, self.renamed)
                    written = [named.get(name, name) for name in columns]
                    for batch in file.iter_batches(AT_ONCE, columns=written):
                        yield part, batch.select(written).rename_columns(list(columns))
            except (OSError, pa.ArrowException) as error:
                raise _unreadable(part, error) from error


def open_scored(folder: str | PathLike[str]) -> ScoredFolder:
    """Open the folder that a run wrote; raise InputError if it is not one.

    >>> open_scored("no-such-run")
    Traceback (most recent call last):
    ...
    plaudit.tables.errors.InputError: there is no folder no-such-run
    """
    if url := url_in(fspath(folder)):
        raise InputError(
            f"{url} is not on this machine, and only local folders can be read here: copy it "
            f"first, such as with `aws s3 sync {url} scored`, and pass scored"
        )
    path = local_path(fspath(folder))
    if path.is_file():
        raise InputError(
            f"{path} is a table, and not a folder of scores: score it first, with `plaudit score "
            f"{path} --recipe math --out scored`, and pass scored"
        )
    if not path.is_dir():
        raise InputError(f"there is no folder {path}")
    run = _run(path)
    components = run.get("components")
    if not isinstance(components, list) or not components:
        raise InputError(f"{path / '_run.json'} has no list of components")
    if run.get("recorded"):
        recover(path)
    # By length first: part-100000 follows part-99999.
    parts = tuple(sorted(path.glob("part-*.parquet"), key=lambda one: (len(one.name), one.name)))
    return ScoredFolder(path, parts, tuple(map(str, components)), run)


def _run(path: Path) -> dict[str, Any]:
    file = path / "_run.json"
    try:
        run = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        why = "it is not a folder that `plaudit score` wrote"
        raise InputError(f"{path} has no _run.json: {why}") from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {file}: {error}") from error
    if not isinstance(run, dict):
        raise InputError(f"{file} must hold an object, got {type(run).__name__}")
    return run


def _unreadable(part: Path, error: Exception) -> InputError:
    return InputError(f"cannot read {part}: {str(error).splitlines()[0]}")
