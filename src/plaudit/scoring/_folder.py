"""The folder of a run: scored chunks in, files out; and the same folder, read again.

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.recording import recover
from plaudit.scoring._chunks import Chunk
from plaudit.scoring._errors import RESUME_HINT, InputError, StoppedError
from plaudit.scoring._plan import Plan
from plaudit.scoring._score_chunk import ScoredChunk, score_chunk
from plaudit.scoring._storage import Folder, folder_at, local_path, url_in, why
from plaudit.scoring._summary import RunCounts, ScoreSummary

PROGRESS = ".progress"
FIRST = 4  # parts: if all rows of these fail in the same way, so will the others
SHORT = 1000  # bytes of counts that are kept in memory
REQUESTS = 32  # files of remote storage that are read at the same time
RESULTS = ("finished", "parts", "rows", "rejected", "statuses", "values", "golds_in_part")
AT_ONCE = 1024  # rows that are held in memory with their texts
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
                f"{self.path} holds a different run: {', '.join(differing)} differ; "
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
        return ScoreSummary(self.path, *counts, values, seconds, in_part, was_finished, rows_before)


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
            "rejected": [asdict(rejected) for rejected in scored.rejected],
        }
    )


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _differing(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What two runs do not have in common; the folder that the inputs are in does not matter."""

    def known(run: Mapping[str, Any]) -> dict[str, Any]:
        inputs = [{**one, "path": Path(one["path"]).name} for one in run.get("inputs", [])]
        return {name: v for name, v in {**run, "inputs": inputs}.items() if name not in RESULTS}

    was, is_now = known(earlier), known(json.loads(_json(now)))
    return [name for name in is_now if was.get(name) != is_now[name]]


@dataclass(frozen=True, slots=True)
class ScoredFolder:
    """A folder that a run wrote, to be read again.

    parts: its files part-….parquet, in order
    components: the names of the rewards, each of which is a column
    run: what _run.json holds

    >>> import tempfile
    >>> from plaudit.recipes import load
    >>> from plaudit.scoring import score_table
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.jsonl").write_text('{"completion": "<think>Hm.</think>", "solution": "4"}')
    >>> _ = score_table([folder / "a.jsonl"], load("trl-reasoning"), folder / "scored")
    >>> scored = open_scored(folder / "scored")
    >>> scored.components
    ('reasoning_accuracy_reward', 'think_format_reward')
    >>> [batch.to_pylist() for _, batch in scored.batches(["row_id", "total"])]
    [[{'row_id': 0, 'total': 1.0}]]
    """

    path: Path
    parts: tuple[Path, ...]
    components: tuple[str, ...]
    run: Mapping[str, Any]

    def columns(self, *needed: str) -> list[str]:
        """The names of its columns; raises InputError if a part lacks one that is needed."""
        names: list[str] = []
        for part in self.parts:
            try:
                names = pq.read_schema(part).names
            except (OSError, pa.ArrowException) as error:
                raise _unreadable(part, error) from error
            for name in needed:
                if name not in names:
                    raise InputError(f"{part} has no column {name}: `plaudit score` writes one")
        return names

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Path, pa.RecordBatch]]:
        """Its rows in order, with these columns; each batch with the part that it comes from."""
        for part in self.parts:
            try:
                with pq.ParquetFile(part, pre_buffer=False) as file:
                    for batch in file.iter_batches(AT_ONCE, columns=list(columns)):
                        yield part, batch.select(columns)
            except (OSError, pa.ArrowException) as error:
                raise _unreadable(part, error) from error


def open_scored(folder: str | PathLike[str]) -> ScoredFolder:
    """The folder that a run wrote; raises InputError if it is not one.

    >>> open_scored("no-such-run")
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.InputError: there is no folder no-such-run
    """
    if url := url_in(fspath(folder)):
        raise InputError(
            f"{url} is not on this machine, and only local folders can be read here: copy it "
            f"first, such as with `aws s3 sync {url} scored`, and pass scored"
        )
    path = local_path(fspath(folder))
    if not path.is_dir():
        raise InputError(f"there is no folder {path}")
    run = _run(path)
    components = run.get("components")
    if not isinstance(components, list) or not components:
        raise InputError(f"{path / '_run.json'} has no list of components")
    if run.get("recorded"):
        recover(path)
    parts = tuple(sorted(path.glob("part-*.parquet")))
    return ScoredFolder(path, parts, tuple(map(str, components)), run)


def _run(path: Path) -> dict[str, Any]:
    file = path / "_run.json"
    try:
        run = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        is_old = (path / "run.json").exists()
        old = "an earlier version of plaudit wrote it: score the table again, with --overwrite"
        why = old if is_old else "it is not a folder that `plaudit score` wrote"
        raise InputError(f"{path} has no _run.json: {why}") from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {file}: {error}") from error
    if not isinstance(run, dict):
        raise InputError(f"{file} must hold an object, got {type(run).__name__}")
    return run


def _unreadable(part: Path, error: Exception) -> InputError:
    return InputError(f"cannot read {part}: {str(error).splitlines()[0]}")
