"""The processes that record into a folder: a number for each, and what they replace.

    DIR/.record/lock                 held for a moment by whoever changes what is below
    DIR/.record/sessions/00003.json  {"launch": 2, "process": 0, "rank": 0}; locked while it records
    DIR/.record/spool/00003/         batches that are not Parquet yet
    DIR/.record/statistics/00003.jsonl   a line for each part, see `_statistics`
    DIR/.record/superseded/          parts of steps that a resumed run did once more

A *session* is one process that records. Those that run at the same time are one *launch*: all ranks
of a training run. When a run is resumed from a checkpoint, that is a new launch, and from its first
step on it replaces what earlier launches recorded; so does a rank that is started anew, for its own
rows. The system releases the lock of a session when its process ends, however it ends.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

RECORD = ".record"
KEY = 12  # characters of the digest of a prompt
RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")  # what launchers say


@dataclass(frozen=True, order=True, slots=True)
class RecordedPart:
    """The name of a part, without its suffix. In the order of names, row ids rise."""

    step: int
    process: int
    session: int
    number: int

    def __str__(self) -> str:
        return f"part-{self.step:08}-{self.process:05}-{self.session:05}-{self.number:06}"

    @staticmethod
    def of(name: str) -> "RecordedPart | None":
        """Return the part that a file's name means; None if it is another file."""
        words = name.partition(".")[0].split("-")
        if len(words) != 5 or words[0] != "part" or not all(map(str.isdecimal, words[1:])):
            return None
        return RecordedPart(*map(int, words[1:]))


@dataclass(frozen=True, slots=True)
class RecordSession:
    """One process that records into a folder. `lock` is the descriptor that says it is alive."""

    folder: Path
    number: int
    launch: int
    process: int
    is_ranked: bool
    lock: int = -1

    @property
    def spool(self) -> Path:
        """Where its batches are until they are Parquet."""
        return spool_of(self.folder, self.number)

    def close(self) -> None:
        """It records no more."""
        if self.lock >= 0:
            os.close(self.lock)


def spool_of(folder: Path, session: int) -> Path:
    """Return where the batches of a session are until they are Parquet."""
    return folder / RECORD / "spool" / f"{session:05}"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """While the block runs, no other process changes sessions or finishes parts."""
    (folder / RECORD).mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / RECORD / "lock", os.O_CREAT | os.O_RDWR, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def open_session(folder: Path, after: RecordSession | None = None) -> RecordSession:
    """Return a session for this process; `after`: its earlier one, if a run is begun anew."""
    with locked(folder):
        for name in ("sessions", "spool", "statistics"):
            (folder / RECORD / name).mkdir(exist_ok=True)
        known = sessions_of(folder)
        live = [one for one in known if is_live(_file(folder, one.number))]
        number = 1 + max((one.number for one in known), default=-1)
        launch = _launch(known, live, after)
        process, is_ranked = _process(known, live, launch)
        file = _file(folder, number)
        content = {"launch": launch, "process": process, "ranked": is_ranked, "pid": os.getpid()}
        file.write_text(json.dumps(content) + "\n", "utf-8")
        lock = os.open(file, os.O_RDWR)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        spool_of(folder, number).mkdir()
    return RecordSession(folder, number, launch, process, is_ranked, lock)


def _launch(
    known: list[RecordSession], live: list[RecordSession], after: RecordSession | None
) -> int:
    latest = max((one.launch for one in known), default=0)
    if after is not None:
        return latest if latest > after.launch else latest + 1
    return latest if any(one.launch == latest for one in live) else latest + 1


def _process(
    known: list[RecordSession], live: list[RecordSession], launch: int
) -> tuple[int, bool]:
    """Return the number of a process in its launch: its rank, or else one that no other has had."""
    rank = next((os.environ[name] for name in RANKS if os.environ.get(name, "").isdecimal()), None)
    recording = {one.process for one in live if one.launch == launch}
    if rank is not None and int(rank) not in recording:
        return int(rank), True
    taken = {one.process for one in known if one.launch == launch}
    return 1 + max(taken, default=-1), False


def sessions_of(folder: Path) -> list[RecordSession]:
    """Return every session that there has been, the first one first."""
    found = []
    for file in sorted((folder / RECORD / "sessions").glob("*.json")):
        try:
            said = json.loads(file.read_bytes())
            facts = int(said["launch"]), int(said["process"]), bool(said["ranked"])
            found.append(RecordSession(folder, int(file.stem), *facts))
        except (ValueError, TypeError, KeyError, OSError):
            continue  # its process was killed while it wrote this file: it recorded nothing
    return found


def _file(folder: Path, number: int) -> Path:
    return folder / RECORD / "sessions" / f"{number:05}.json"


def is_live(file: Path) -> bool:
    """Return whether a process holds the lock on a file, or that cannot be found out."""
    try:
        lock = os.open(file, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def last_step(session: RecordSession) -> int:
    """Return the last step that earlier launches, or its own rank, recorded; -1 if none did."""
    launches = {one.number: one.launch for one in sessions_of(session.folder)}
    parts = [RecordedPart.of(file.name) for file in _files(session.folder)]
    earlier = (part.step for part in parts if part and _is_earlier(part, session, launches))
    return max(earlier, default=-1)


def _files(folder: Path) -> list[Path]:
    """Return the parts, and what will become parts."""
    return [*folder.glob("part-*.parquet"), *(folder / RECORD / "spool").glob("*/part-*")]


def supersede(session: RecordSession, step: int) -> int:
    """Put aside what earlier launches, or the same rank before, recorded from a step on.

    Nothing is deleted: the parts are moved to `.record/superseded`. Returns how many were moved.
    """
    aside = session.folder / RECORD / "superseded"
    moved = 0
    with locked(session.folder):
        launches = {one.number: one.launch for one in sessions_of(session.folder)}
        for file in _files(session.folder):
            part = RecordedPart.of(file.name)
            if part is None or part.step < step or not _is_earlier(part, session, launches):
                continue
            aside.mkdir(exist_ok=True)
            file.replace(aside / file.name)
            moved += 1
    return moved


def _is_earlier(part: RecordedPart, session: RecordSession, launches: dict[int, int]) -> bool:
    launch = launches.get(part.session, 0)
    is_own = session.is_ranked and part.process == session.process and part.session < session.number
    return launch < session.launch or (launch == session.launch and is_own)


def prompt_key(group: object, step: object) -> str:
    """Return what is the same for the groups of a prompt: a group without its step and number."""
    name = str(group).removeprefix(f"{step}-")
    return name[:KEY] if len(name) > KEY and name[KEY] == "." and name[:KEY].isalnum() else name
