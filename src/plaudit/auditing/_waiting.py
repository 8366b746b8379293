"""How long a process waited for a processor: what a busy machine adds to every measurement."""

from pathlib import Path


def waiting_seconds(process: str) -> float:
    """The seconds that the first thread of a process could have run and did not; 0 off Linux.

    process: its id, or "thread-self"

    >>> waiting_seconds("thread-self") >= 0.0
    True
    """
    try:
        _, waited, _ = Path(f"/proc/{process}/schedstat").read_text().split()
    except (OSError, ValueError):
        return 0.0
    return int(waited) / 1e9
