"""What can be set: by `plaudit.configure`, or in the environment before the first call."""

import os
from dataclasses import dataclass, fields
from typing import Any

# No limit in use comes near these; what lies above them is a slip, such as bytes for MiB.
MOST = {
    "deadline": 24 * 3600,
    "memory": 1 << 24,
    "workers": 1024,
    "cache": 10**9,
    "cache_memory": 1 << 24,
}


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Settings:
    """The judge's limits. Each may come from the environment: `PLAUDIT_DEADLINE=2`.

    deadline: seconds that an item may take, from when its work starts; a day at the most
    memory: MiB of memory that a worker may have; math-verify alone takes about 70
    workers: processes at the most; 1,024 of them, where that many are asked for
    cache: verdicts remembered at the most
    cache_memory: MiB of text that the remembered verdicts may hold

    >>> Settings(deadline=0)
    Traceback (most recent call last):
    ...
    ValueError: deadline must be above 0, got 0
    """

    deadline: float = 5.0
    memory: int = 1024
    workers: int = min(_cores(), 4)
    cache: int = 200_000
    cache_memory: int = 256

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            kind = int if field.type is int else int | float
            if isinstance(value, bool) or not isinstance(value, kind):
                whole = "a whole number" if field.type is int else "a number"
                raise TypeError(f"{field.name} must be {whole}, got {value!r}")
            if not value > 0:
                raise ValueError(f"{field.name} must be above 0, got {value}")
            if value > MOST[field.name]:
                most = f"{MOST[field.name]:,}"
                raise ValueError(f"{field.name} must be at most {most}, got {value}")

    @classmethod
    def from_environment(cls) -> "Settings":
        """The defaults, and what the environment says instead.

        >>> Settings.from_environment().deadline
        5.0
        """
        given: dict[str, Any] = {}
        for field in fields(cls):
            variable = f"PLAUDIT_{field.name.upper()}"
            if text := os.environ.get(variable):
                given[field.name] = _number(variable, text, whole=field.type is int)
        return cls(**given)


def _number(variable: str, text: str, whole: bool) -> float:
    try:
        return int(text) if whole else float(text)
    except ValueError:
        kind = "a whole number" if whole else "a number"
        raise ValueError(f"{variable} must be {kind}, got {text!r}") from None
