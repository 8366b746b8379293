"""The folder that a run writes, so that a run that was killed at any moment can go on.

    part-00000.parquet …   a part a chunk
    _run.json              what the run is: inputs, recipe, columns; counts, once it has finished
    _rejected.jsonl        the rows that were not scored, in the input's order, once it has finished
    .progress/             until it has finished: what is to say of each part, files half written

Names that begin with _ are no part of the table to who reads the folder as one, such as pandas.
Each file is written under another name, made durable, and renamed. What is to say of a part is
there before the part is, so a part that is there needs nothing more.
"""

import fcntl
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plaudit.scores import STATUSES
from plaudit.scoring._errors import InputError, StoppedError
from plaudit.scoring._score_chunk import ScoredChunk
from plaudit.scoring._summary import ScoreSummary

RESULTS = ("finished", "parts", "rows", "rejected", "statuses", "values", "golds_in_part")
GO_ON = "What was written is kept: run the same command again, and it goes on."
AGAIN = (
    "When that is mended, run the same command again; "
    "with --overwrite, if parts were written by a reward that you have changed since."
)
# What a run writes, and the files of a report of it; the names without _ are those of old.
WRITTEN = (
    *("part-*.parquet", ".progress/part-*"),
    *("_run.json", "_rejected.jsonl"),
    *("run.json", "rejected.jsonl"),
)
REPORTS = ("_report", "report")
PAGE = (
    *("index.html", "total.png", "component-*.png", "groups.png"),
    *("at-k.png", "length.png", "correlation.png", "statuses.png"),
)


class OutputFolder:
    """A folder that one run writes. `manifest` says what the run is."""

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
            self._take()
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
        """A lock that the system takes back when the process ends, however it ends."""
        self._progress.mkdir(parents=True, exist_ok=True)
        lock = os.open(self._progress / "lock", os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            if isinstance(error, BlockingIOError):
                raise InputError(f"another run is writing to {self.path}") from error
            raise
        return lock

    def _clear(self) -> None:
        """Remove what plaudit wrote, and nothing else."""
        for pattern in (*WRITTEN, *(f"{report}/{name}" for report in REPORTS for name in PAGE)):
            for file in self.path.glob(pattern):
                file.unlink()
        for report in REPORTS:
            with suppress(OSError):  # it is not there, or holds something else
                (self.path / report).rmdir()

    def _take(self) -> None:
        """Begin a run here, or go on with the one that is here, if it is the same."""
        earlier = self._earlier()
        has_parts = next(self.path.glob("part-*.parquet"), None) is not None
        if earlier is None and has_parts:
            raise InputError(f"{self.path} holds parts of no run: choose another, or --overwrite")
        if earlier is None or not (has_parts or earlier.get("finished")):
            self._write("_run.json", _json({**self._manifest, "finished": False}))
            return
        if differing := _differing(earlier, self._manifest):
            raise InputError(
                f"{self.path} holds another run: {', '.join(differing)} differ; "
                "choose another folder, or start anew with --overwrite"
            )
        self._manifest = earlier
        for number in range(earlier.get("parts", 0)):
            if not self._part(number).exists():
                gone = f"{self._part(number)} is gone from a finished run"
                raise InputError(f"{gone}: start anew, with --overwrite")

    def _earlier(self) -> dict[str, Any] | None:
        try:
            run = json.loads((self.path / "_run.json").read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:
            run = {}
        return run if isinstance(run, dict) else {}

    @property
    def is_finished(self) -> bool:
        """Whether the run has ended before."""
        return bool(self._manifest.get("finished"))

    def has(self, number: int) -> bool:
        """Whether a part is there."""
        return self._part(number).exists() and self._about(number).exists()

    def _part(self, number: int) -> Path:
        return self.path / f"part-{number:05}.parquet"

    def _about(self, number: int) -> Path:
        return self._progress / f"part-{number:05}.json"

    def about(self, number: int) -> dict[str, Any]:
        """What there is to say of a part that is there."""
        about: dict[str, Any] = json.loads(self._about(number).read_bytes())
        return about

    def add(self, scored: ScoredChunk) -> None:
        """Write a part."""
        about = {
            "rows": scored.rows,
            "statuses": scored.statuses,
            "values": scored.values,
            "golds_in_part": scored.golds_in_part,
            "rejected": [asdict(rejected) for rejected in scored.rejected],
        }
        self._write_safely(f".progress/{self._about(scored.number).name}", _json(about))
        self._write_safely(self._part(scored.number).name, scored.part)

    def finish(self, parts: int) -> None:
        """All parts are there: write what is to say of the whole."""
        counts = _Counts()
        reports = (self.about(number) for number in range(parts))
        lines = (json.dumps(row) + "\n" for about in reports for row in counts.add(about))
        self._write_safely("_rejected.jsonl", lines)
        self._manifest |= {"finished": True, "parts": parts, **counts.results()}
        self._write_safely("_run.json", _json(self._manifest))

    def summary(self, seconds: float) -> ScoreSummary:
        """What came of the run, which has finished."""
        run = self._manifest
        values = {name: (value["rows"], value["mean"]) for name, value in run["values"].items()}
        counts = run["rows"], run["rejected"], run["parts"], run["statuses"]
        return ScoreSummary(self.path, *counts, values, seconds, run["golds_in_part"])

    def _write_safely(self, name: str, content: bytes | Iterator[str]) -> None:
        try:
            self._write(name, content)
        except OSError as error:
            path = self.path / name
            raise StoppedError(f"cannot write {path}: {error.strerror}. {GO_ON}") from error

    def _write(self, name: str, content: bytes | Iterator[str]) -> None:
        """Write a file that is there as a whole or not at all, even after a power cut."""
        half = self._progress / f"{Path(name).name}.half"
        try:
            with half.open("wb") as file:
                if isinstance(content, bytes):
                    file.write(content)
                else:
                    file.writelines(line.encode() for line in content)
                file.flush()
                os.fsync(file.fileno())
            half.replace(self.path / name)
        except OSError:
            half.unlink(missing_ok=True)
            raise


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _differing(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What two runs do not have in common; where the inputs lie does not matter."""

    def known(run: Mapping[str, Any]) -> dict[str, Any]:
        inputs = [{**one, "path": Path(one["path"]).name} for one in run.get("inputs", [])]
        return {name: v for name, v in {**run, "inputs": inputs}.items() if name not in RESULTS}

    was, is_now = known(earlier), known(json.loads(_json(now)))
    return [name for name in is_now if was.get(name) != is_now[name]]


class _Counts:
    """Sums over the parts, in their order: so that they are the same after any number of stops."""

    def __init__(self) -> None:
        self._rows = self._rejected = self._golds_in_part = 0
        self._statuses: Counter[str] = Counter()
        self._values: dict[str, tuple[int, float]] = {}

    def add(self, about: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Count a part in, and give its rejected rows."""
        rejected: list[dict[str, Any]] = about["rejected"]
        self._rows += about["rows"]
        self._rejected += len(rejected)
        self._golds_in_part += about["golds_in_part"]
        self._statuses.update(about["statuses"])
        for name, (count, total) in about["values"].items():
            so_far = self._values.get(name, (0, 0.0))
            self._values[name] = so_far[0] + count, so_far[1] + total
        return rejected

    def results(self) -> dict[str, Any]:
        means = {
            name: {"rows": count, "mean": total / count if count else None}
            for name, (count, total) in self._values.items()
        }
        return {
            "rows": self._rows,
            "rejected": self._rejected,
            "statuses": {name: self._statuses[name] for name in STATUSES if name in self._statuses},
            "values": means,
            "golds_in_part": self._golds_in_part,
        }
