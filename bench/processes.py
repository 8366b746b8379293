"""Processes in Linux's /proc: which descend from which, and how much memory each has."""

import os
import time
from collections.abc import Iterable
from pathlib import Path


def children(process: int) -> list[int]:
    """The processes that any thread of a process has started."""
    found: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += map(int, file.read_text().split())
        except OSError:  # it ended a moment ago
            continue
    return found


def descendants(process: int) -> list[int]:
    """Children, their children, and so on."""
    below = children(process)
    return below + [other for child in below for other in descendants(child)]


def alive(process: int) -> bool:
    """Whether it runs; one that has ended and waits for its parent to notice does not."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def left_after(processes: Iterable[int], patience: float) -> list[int]:
    """Those that still run when patience ends."""
    end = time.monotonic() + patience
    left = [process for process in processes if alive(process)]
    while left and time.monotonic() < end:
        time.sleep(0.05)
        left = [process for process in left if alive(process)]
    return left


def resident_mib(process: int | str = "self") -> float:
    """Memory that a process has now, in MiB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def descriptors() -> int:
    """How many files, sockets and pipes this process has open, but for one to look with."""
    return len(os.listdir("/proc/self/fd")) - 1  # noqa: PTH208 - the same, in one step
