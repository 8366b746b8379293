"""Batches in a session's spool -> parts of the record. It runs in a process of its own.

The process that trains writes a batch as Arrow, which takes a millisecond, and trains on. This
process makes Parquet of it. When a trainer is killed, this process lives on until it has written
what the trainer left. If the whole machine stops before that, the next process that is started for
the folder writes the rest.
"""

import errno
import fcntl
import json
import os
import select
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from plaudit.recording._sessions import RECORD, is_live, locked, sessions_of, spool_of
from plaudit.recording._statistics import statistics_of
from plaudit.scored_columns import parquet_of

COMPLETE, OPEN = ".arrow", ".open"  # a batch; batches of few rows, to which more may be added
LOCK = "writer.lock"
PATIENCE = 1.0  # seconds between two checks whether the trainer is still running
NICENESS = 5
ALARMS = 10.0  # seconds between two looks for alarms


def main(directory: str, session: int, wake_pipe: int, trainer: int) -> None:
    """Write what the spool of a session holds whenever a byte comes, until its trainer has ended.

    wake_pipe: the descriptor from which a byte is read for each batch that the trainer has added;
        it is at its end when the trainer has closed the other side
    trainer: the id of the trainer's process
    """
    folder, spool = Path(directory), spool_of(Path(directory), session)
    for number in (signal.SIGTERM, signal.SIGHUP):  # meant for the trainer: this ends after it
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):
        os.nice(NICENESS)
    sys.meta_path.insert(0, _WithoutPandas())
    pa.set_cpu_count(1)
    try:
        lock = _lock(spool)
    except FileNotFoundError:
        return  # the trainer was killed at once, and another process has written what it left
    try:
        components = components_of(folder)
        write_what_was_left(folder, components)
        alarms = _Alarms(folder, session)
        while _wait(wake_pipe, trainer):
            write_spool(folder, spool, components)
            alarms.tell()
        write_spool(folder, spool, components, is_over=True)
        _remove(spool)
        alarms.tell(at_once=True)
    except OSError as error:
        sys.exit(error.errno or errno.EIO)  # the trainer tells its user, by this number
    finally:
        os.close(lock)


class _Alarms:
    """Tells the trainer of each alarm of the whole run, once, by a line on standard output.

    The first process of a run does so, for all of them.
    """

    def __init__(self, folder: Path, session: int) -> None:
        from plaudit.recording._reading import RecordedRun  # which imports this module

        is_first = any(one.number == session and not one.process for one in sessions_of(folder))
        self._run = RecordedRun(folder) if is_first else None
        self._known: set[str] = set()
        self._next = 0.0

    def tell(self, *, at_once: bool = False) -> None:
        if self._run is None or (time.monotonic() < self._next and not at_once):
            return
        self._next = time.monotonic() + ALARMS
        with suppress(Exception):  # alarms are no reason to stop writing; the trainer may be gone
            self._run.refresh()
            for alarm in self._run.alarms:
                key = f"{alarm.kind} {alarm.about}"
                if not alarm.is_over and key not in self._known:
                    self._known.add(key)
                    text = f"{alarm.kind}, since step {alarm.first}: {' '.join(alarm.text.split())}"
                    os.write(1, json.dumps([key, text]).encode() + b"\n")


class _WithoutPandas:
    """Keeps pyarrow from importing pandas, which takes a second and is not needed here."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("no pandas in this process", name=name)


def _wait(wake_pipe: int, trainer: int) -> bool:
    """Wait for a batch; False where the trainer has ended."""
    while os.getppid() == trainer:
        ready, _, _ = select.select([wake_pipe], [], [], PATIENCE)
        if ready:
            return bool(os.read(wake_pipe, 1 << 16))
    return False


def _lock(spool: Path, how: int = 0) -> int:
    lock = os.open(spool / LOCK, os.O_CREAT | os.O_RDWR, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | how)
    except OSError:
        os.close(lock)
        raise
    return lock


def components_of(folder: Path) -> list[str]:
    """The names of the components that are recorded."""
    return list(json.loads((folder / "_run.json").read_bytes())["components"])


def write_what_was_left(folder: Path, components: Sequence[str]) -> None:
    """Write what is left in the spools of sessions whose trainer and writer have both ended."""
    sessions = folder / RECORD / "sessions"
    for spool in sorted((folder / RECORD / "spool").iterdir()):
        if is_live(sessions / f"{spool.name}.json"):
            continue
        try:
            lock = _lock(spool, fcntl.LOCK_NB)
        except (BlockingIOError, FileNotFoundError):
            continue  # another one is writing it, or has just done so
        try:
            write_spool(folder, spool, components, is_over=True)
            _remove(spool)
        finally:
            os.close(lock)


def _remove(spool: Path) -> None:
    with suppress(OSError):
        for file in (*spool.glob("*.unfinished"), spool / LOCK):
            file.unlink(missing_ok=True)
        spool.rmdir()


def write_spool(
    folder: Path, spool: Path, components: Sequence[str], *, is_over: bool = False
) -> None:
    """Write each file of a spool as a part.

    is_over: whether the session has ended; else files to which batches may still be added are left
    """
    suffixes = (COMPLETE, OPEN) if is_over else (COMPLETE,)
    for file in sorted(file for file in spool.glob("part-*") if file.suffix in suffixes):
        table = _table(file)
        if table is None:
            file.unlink(missing_ok=True)
            continue
        _write(folder, file, table, components)


def _table(file: Path) -> pa.Table | None:
    """The rows of a file, without a batch that was half written when the trainer was killed.

    None where there is no whole batch, or no file any more.
    """
    batches = []
    try:
        with pa.OSFile(str(file)) as source, pa.ipc.open_stream(source) as stream:
            try:
                batches.extend(stream)
            except (pa.ArrowInvalid, OSError) as error:
                if getattr(error, "errno", None):  # of the disk: what it cannot read now is kept
                    raise
            schema = stream.schema
    except (FileNotFoundError, pa.ArrowInvalid):  # the latter: killed before the first batch
        return None
    return pa.Table.from_batches(batches, schema) if batches else None


def _write(folder: Path, file: Path, table: pa.Table, components: Sequence[str]) -> None:
    name = f"{file.stem}.parquet"
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_bytes(parquet_of(table))
    lines = statistics_of(file.stem, table, components, round(time.time(), 3))
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    with locked(folder):
        if not file.exists():  # a resumed run has put it aside in the meantime
            unfinished.unlink(missing_ok=True)
            return
        statistics = folder / RECORD / "statistics" / f"{file.parent.name}.jsonl"
        with statistics.open("ab") as log:
            log.write(text.encode("utf-8", "replace"))
        unfinished.replace(folder / name)
        file.unlink()
