"""The folder of a run: scored chunks in, files out; and the same folder, read again.

    part-00000.parquet …   one part for each chunk: row_id, group_id, the input's columns, a column
                           for each component, total, status, explanation
    _run.json              what the run is: inputs, recipe, columns; counts, once it has finished
    _rejected.jsonl        the rows that were not scored, in the input's order, once it has finished
    .progress/             until it has finished: the counts of each part, unfinished files

Programs that read the folder as one table, such as pandas, ignore names that begin with _. Each
file is written under another name, made durable, and renamed. The counts of a part are written
before the part is, so a part that is there is complete: a run that was killed at any moment can be
resumed.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.scoring._errors import RESUME_HINT, InputError, StoppedError
from plaudit.scoring._score_chunk import ScoredChunk
from plaudit.scoring._summary import RunCounts, ScoreSummary

RESULTS = ("finished", "parts", "rows", "rejected", "statuses", "values", "golds_in_part")
AT_ONCE = 1024  # rows that are held in memory with their texts
# What a run writes, and the files of a report of it; earlier versions wrote the names without _.
WRITTEN = (
    *("part-*.parquet", ".progress/part-*"),
    *("_run.json", "_rejected.jsonl"),
    *("run.json", "rejected.jsonl"),
)
REPORTS = ("_report/against-*", "_report", "report")
PAGE = (
    *("index.html", "total.png", "component-*.png", "groups.png"),
    *("at-k.png", "length.png", "correlation.png", "statuses.png", "steps-*.png"),
)


class OutputFolder:
    """A folder that one run writes. `manifest` says what is scored, and how."""

    def __init__(self, path: Path, manifest: Mapping[str, Any], overwrite: bool) -> None:
        self.path = path
        self._progress = path / ".progress"
        self._manifest = dict(manifest)
        self._overwrite = overwrite
        self._lock = -1

    def __enter__(self) -> "OutputFolder":
        try:
            self._lock = self._locked()
            if self._overwrite:
                self._clear()
            self._begin_or_resume()
        except OSError as error:
            self.__exit__()
            raise InputError(f"cannot write to {self.path}: {error.strerror}") from error
        except InputError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock >= 0:
            try:
                if self.is_finished or not next(self._progress.glob("part-*"), None):
                    shutil.rmtree(self._progress, ignore_errors=True)
            finally:
                os.close(self._lock)

    def _locked(self) -> int:
        """A lock that the system releases when the process ends, however it ends."""
        self._progress.mkdir(parents=True, exist_ok=True)
        lock = os.open(self._progress / "lock", os.O_CREAT | os.O_RDWR)
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
            for file in self.path.glob(pattern):
                file.unlink()
        for report in REPORTS:
            for folder in self.path.glob(report):
                with suppress(OSError):  # it holds something else
                    folder.rmdir()

    def _begin_or_resume(self) -> None:
        """Begin a run here, or resume the one that is here, if it is the same."""
        earlier = self._earlier_run()
        has_parts = next(self.path.glob("part-*.parquet"), None) is not None
        if earlier is None and has_parts:
            raise InputError(
                f"{self.path} has part-*.parquet files but no _run.json: choose another folder, "
                "or replace them with --overwrite"
            )
        if earlier is None or not (has_parts or earlier.get("finished")):
            self._write("_run.json", _json({**self._manifest, "finished": False}))
            return
        if differing := _differing(earlier, self._manifest):
            raise InputError(
                f"{self.path} holds a different run: {', '.join(differing)} differ; "
                "choose another folder, or start over with --overwrite"
            )
        self._manifest = earlier
        for number in range(earlier.get("parts", 0)):
            if not self._part(number).exists():
                missing = f"{self._part(number)} is missing from a finished run"
                raise InputError(f"{missing}: start over with --overwrite")

    def _earlier_run(self) -> dict[str, Any] | None:
        try:
            run = json.loads((self.path / "_run.json").read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:
            run = {}
        return run if isinstance(run, dict) else {}

    @property
    def is_finished(self) -> bool:
        """Whether the run has finished before."""
        return bool(self._manifest.get("finished"))

    def has(self, number: int) -> bool:
        """Whether a part is there."""
        return self._part(number).exists() and self._counts_file(number).exists()

    def _part(self, number: int) -> Path:
        return self.path / f"part-{number:05}.parquet"

    def _counts_file(self, number: int) -> Path:
        return self._progress / f"part-{number:05}.json"

    def part_counts(self, number: int) -> dict[str, Any]:
        """The counts of a part that is there, and its rejected rows."""
        counts: dict[str, Any] = json.loads(self._counts_file(number).read_bytes())
        return counts

    def add(self, scored: ScoredChunk) -> None:
        """Write a part."""
        counts = {
            "rows": scored.rows,
            "statuses": scored.statuses,
            "values": scored.values,
            "golds_in_part": scored.golds_in_part,
            "rejected": [asdict(rejected) for rejected in scored.rejected],
        }
        self._write_safely(f".progress/{self._counts_file(scored.number).name}", _json(counts))
        self._write_safely(self._part(scored.number).name, scored.part)

    def finish(self, parts: int) -> None:
        """All parts are there: write the rejected rows, and the counts of the whole run."""
        whole = RunCounts()
        each = (self.part_counts(number) for number in range(parts))
        lines = (json.dumps(row) + "\n" for counts in each for row in whole.add(counts))
        self._write_safely("_rejected.jsonl", lines)
        self._manifest |= {"finished": True, "parts": parts, **whole.results()}
        self._write_safely("_run.json", _json(self._manifest))

    def summary(self, seconds: float, was_finished: bool) -> ScoreSummary:
        """The results of the run, which has finished; `was_finished`: before this call."""
        run = self._manifest
        values = {name: (value["rows"], value["mean"]) for name, value in run["values"].items()}
        counts = run["rows"], run["rejected"], run["parts"], run["statuses"]
        in_part = run["golds_in_part"]
        return ScoreSummary(self.path, *counts, values, seconds, in_part, was_finished)

    def _write_safely(self, name: str, content: bytes | Iterator[str]) -> None:
        try:
            self._write(name, content)
        except OSError as error:
            path = self.path / name
            raise StoppedError(f"cannot write {path}: {error.strerror}. {RESUME_HINT}") from error

    def _write(self, name: str, content: bytes | Iterator[str]) -> None:
        """Write a file that is there as a whole or not at all, even after a power cut."""
        unfinished = self._progress / f"{Path(name).name}.unfinished"
        try:
            with unfinished.open("wb") as file:
                if isinstance(content, bytes):
                    file.write(content)
                else:
                    file.writelines(line.encode() for line in content)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self.path / name)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise


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
    """What a run wrote. `run` is what _run.json holds.

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
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"there is no folder {path}")
    run = _run(path)
    components = run.get("components")
    if not isinstance(components, list) or not components:
        raise InputError(f"{path / '_run.json'} has no list of components")
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
