"""The process that turns the spool of a session into Parquet files and statistics of each part."""

import errno
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from plaudit.processes import leave_pandas_alone, start_python
from plaudit.recipes.row_score import parquet_of
from plaudit.runs.sessions import RECORD, RecordSession, is_live, locked, sessions_of, spool_of

TOP = 3  # answers that are named, and golds
LONGEST = 120  # characters of an answer

Line: TypeAlias = dict[str, Any]


def statistics_of(part: str, table: pa.Table, components: Sequence[str], at: float) -> list[Line]:
    """Return a line for each step of a part."""
    return [
        {"part": part, "step": step, "at": at, **_of_step(step, rows, components)}
        for step, rows in _by_step(table)
    ]


def _by_step(table: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    if "step" not in table.column_names:
        yield 0, table
        return
    steps = table["step"].cast(pa.int64(), safe=False).fill_null(0)
    for step in sorted(steps.unique().to_pylist()):
        yield step, table.filter(pc.equal(steps, step))


def _of_step(step: int, table: pa.Table, components: Sequence[str]) -> Line:
    names = table.column_names
    tokens = _floats(table["tokens"]) if "tokens" in names else np.full(len(table), np.nan)
    by_tokens = bool(np.isfinite(tokens).any())
    answers = _answers(table) if "explanation" in names else {"right": {}, "answers": {}}
    answers["rewards"] = _seconds_of_rewards(table) if "explanation" in names else {}
    seconds = _floats(table["seconds"]) if "seconds" in names else np.zeros(0)
    return {
        "rows": len(table),
        "seconds": round(float(np.nansum(seconds)), 6),
        "values": {name: distribution(_floats(table[name])) for name in ("total", *components)},
        "length": distribution(tokens if by_tokens else _characters(table)),
        "unit": "tokens" if by_tokens else "characters",
        "statuses": _counts(table["status"]),
        "groups": _groups(step, table),
        **answers,
    }


def distribution(values: NDArray[Any]) -> Line:
    """Return how many values there are, their sum and that of their squares, least and most."""
    values = values[np.isfinite(values)]
    found = {"sum": values.sum(), "squares": (values**2).sum()}
    if len(values):
        found |= {"least": values.min(), "most": values.max()}
    numbers = {name: _short(float(value)) for name, value in found.items()}
    return {"rows": len(values), "least": None, "most": None, **numbers}


def _short(value: float) -> float:
    """Return the value in few digits, for a file that is read at once."""
    return float(f"{value:.6g}")


def _floats(column: pa.ChunkedArray) -> NDArray[Any]:
    values: NDArray[Any] = column.cast(pa.float64()).to_numpy()
    return values


def _characters(table: pa.Table) -> NDArray[Any]:
    if "completion" not in table.column_names or not pa.types.is_string(table["completion"].type):
        return np.zeros(0)
    return _floats(pc.utf8_length(table["completion"]))


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    found = column.value_counts().to_pylist()
    return {str(one["values"]): one["counts"] for one in found}


def _groups(step: int, table: pa.Table) -> list[list[Any]]:
    """Return of each group its name without the step, how many totals it has, least and most."""
    totals = table.select(["group_id", "total"]).filter(pc.is_finite(table["total"]))
    found = totals.group_by("group_id").aggregate(
        [("total", "count"), ("total", "min"), ("total", "max")]
    )
    return [
        [
            str(one["group_id"]).removeprefix(f"{step}-"),
            one["total_count"],
            _short(one["total_min"]),
            _short(one["total_max"]),
        ]
        for one in found.to_pylist()
    ]


def _answers(table: pa.Table) -> Line:
    column = table["explanation"].combine_chunks()
    rows, entries = pc.list_parent_indices(column), pc.list_flatten(column)
    names = [pc.struct_field(entries, name) for name in ("component", "right", "answer", "gold")]
    flat = pa.table(
        [table["group_id"].take(rows), *names], ["group", "by", "right", "answer", "gold"]
    )
    right: dict[str, list[int]] = {}
    answers: Line = {}
    for name in flat["by"].unique().to_pylist():
        mine = flat.filter(pc.equal(flat["by"], name))
        decided = mine["right"].drop_null()
        if len(decided):
            right[name] = [len(decided), int(pc.sum(decided).as_py())]
        if mine["answer"].null_count < len(mine):
            answers[name] = _top(mine)
    return {"right": right, "answers": answers}


def _seconds_of_rewards(table: pa.Table) -> dict[str, float]:
    """How long each component took, as far as its rows took a millisecond or more."""
    entries = pc.list_flatten(table["explanation"].combine_chunks())
    if entries.type.get_field_index("seconds") < 0:  # it was recorded by an earlier version
        return {}
    pair = [pc.struct_field(entries, name) for name in ("component", "seconds")]
    found = pa.table(pair, ["by", "seconds"]).group_by("by").aggregate([("seconds", "sum")])
    return {one["by"]: _short(one["seconds_sum"] or 0.0) for one in found.to_pylist()}


def _top(rows: pa.Table) -> Line:
    """Return the most frequent answers, each with its rows and groups, and the usual golds."""
    answered = rows.filter(pc.is_valid(rows["answer"]))
    found = answered.group_by("answer").aggregate([([], "count_all"), ("group", "count_distinct")])
    top = found.sort_by([("count_all", "descending"), ("answer", "ascending")]).slice(0, TOP)
    golds = rows["gold"].drop_null()
    common = sorted(golds.value_counts().to_pylist(), key=lambda one: -one["counts"])[:TOP]
    return {
        "rows": len(answered),
        "top": [
            [one["answer"][:LONGEST], one["count_all"], one["group_count_distinct"]]
            for one in top.to_pylist()
        ],
        "gold": [[one["values"][:LONGEST], one["counts"]] for one in common],
    }


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
    leave_pandas_alone()
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
            alarms.report()
        write_spool(folder, spool, components, is_over=True)
        _remove(spool)
        alarms.report(at_once=True)
    except OSError as error:
        sys.exit(error.errno or errno.EIO)  # the trainer warns its user, by this number
    finally:
        os.close(lock)


class _Alarms:
    """Reports each alarm of the whole run to the trainer, once, by a line on standard output.

    The first process of a run does so, for all of them.
    """

    def __init__(self, folder: Path, session: int) -> None:
        from plaudit.runs._reading import RecordedRun  # which imports this module

        is_first = any(one.number == session and not one.process for one in sessions_of(folder))
        self._run = RecordedRun(folder) if is_first else None
        self._known: set[str] = set()
        self._next = 0.0

    def report(self, *, at_once: bool = False) -> None:
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


def _wait(wake_pipe: int, trainer: int) -> bool:
    """Wait for a batch; False if the trainer has ended."""
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
    """Return the names of the components that are recorded."""
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
    """Return the rows of a file, without a batch that was half written when the trainer was killed.

    None if there is no whole batch, or no file any more.
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


RESTARTS = 3  # of the process, before recording is given up
ENDING = 60.0  # seconds to wait for it at the end


class WriterProcess:
    """The process that makes Parquet of what is in a session's spool."""

    def __init__(self, session: RecordSession) -> None:
        self._session = session
        self._starts = 0
        self._wake_pipe = -1  # -1: closed
        self._output = b""
        self._reported: set[str] = set()
        self._start()

    def _start(self) -> None:
        self._starts += 1
        theirs, self._wake_pipe = os.pipe()
        os.set_blocking(self._wake_pipe, False)
        try:
            self._child = start_python(
                "plaudit.runs._writer",
                *(str(self._session.folder.absolute()), self._session.number),
                *(theirs, os.getpid()),
                pass_fds=[theirs],
                stdout=subprocess.PIPE,
            )
            os.set_blocking(self._stdout, False)
        except BaseException:
            self.abandon()
            raise
        finally:
            os.close(theirs)

    @property
    def _stdout(self) -> int:
        assert self._child.stdout
        return self._child.stdout.fileno()

    def alarms(self) -> list[str]:
        """Return the alarms since the last call, each in words; none of them twice."""
        with suppress(OSError):
            while got := os.read(self._stdout, 1 << 16):
                self._output += got
        *lines, self._output = self._output.split(b"\n")
        found = dict(map(json.loads, lines))
        new = [text for key, text in found.items() if key not in self._reported]
        self._reported |= found.keys()  # a process that was started again repeats them
        return new

    def wake(self) -> None:
        """Tell it that there is something to write."""
        with suppress(BlockingIOError):  # it has not come to read the last ones
            try:
                os.write(self._wake_pipe, b".")
            except BrokenPipeError:
                self._restart()

    def _restart(self) -> None:
        self.abandon()
        self._start_after(self._child.wait())
        self.wake()

    def _start_after(self, code: int) -> None:
        """Start it again after it ended with this exit code; raises if that does not help."""
        if code > 1:  # an error of the system, such as a full disk
            raise OSError(code, os.strerror(code))
        if self._starts > RESTARTS:
            raise RuntimeError("the process that writes the record ended several times")
        self._start()

    def _has_work(self) -> bool:
        return next(self._session.spool.glob("part-*"), None) is not None

    def wait_for_spool(self) -> bool:
        """Wait until it has written everything; False if that takes more than ENDING seconds."""
        end = time.monotonic() + ENDING
        while self._has_work():
            if time.monotonic() > end:
                return False
            if self._child.poll() is not None:
                self._restart()
            time.sleep(0.01)
        return True

    def end(self) -> None:
        """Let it write what is left, and end."""
        self.abandon()
        try:
            # One that was killed, for want of memory perhaps, has left something.
            while (code := self._child.wait(ENDING)) and self._has_work():
                self._start_after(code)
                self.abandon()
        except subprocess.TimeoutExpired:
            return  # it goes on by itself

    def abandon(self) -> None:
        """Close the pipe to it, once: it writes what is left, and ends by itself."""
        pipe, self._wake_pipe = self._wake_pipe, -1
        if pipe >= 0:
            os.close(pipe)
