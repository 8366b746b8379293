"""The processes that run, as Linux shows them in /proc, and waiting for them to change."""

import time
from pathlib import Path


def children_of(process):
    """The process ids of what any thread of a process has forked."""
    listed = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for children in listed for child in children.read_text().split()]


def until(condition, seconds=60):
    """Wait for what must come true, and fail where it does not."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.02)


def alive(process):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):  # it may end while its file is read
        return False
