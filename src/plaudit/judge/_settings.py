"""What can be set: by `plaudit.configure`, or in the environment before the first call."""

import os
from dataclasses import dataclass, fields
from typing import Any

from plaudit.processes import cores

# No sensible limit comes near these; a greater one is a mistake, such as bytes for MiB.
MOST = {
    "deadline": 24 * 3600,
    "memory": 1 << 24,
    "workers": 1024,
    "cache": 10**9,
    "cache_memory": 1 << 24,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The judge's limits. Each may come from the environment: `PLAUDIT_DEADLINE=2`.

    deadline: float, seconds that an item may take from when a worker begins with it, such as 2 or
        0.5; at most a day (default: 5)
    memory: int, MiB of memory that a worker may have, such as 512; math-verify alone takes about 70
        (default: 1024)
    workers: int, most worker processes at a time; at most 1,024 (default: the cores that this
        process may use, at most 4)
    cache: int, most verdicts that are remembered (default: 200,000)
    cache_memory: int, MiB of text that the remembered verdicts may hold (default: 256)

    >>> Settings(deadline=0)
    Traceback (most recent call last):
    ...
    ValueError: deadline must be above 0, got 0
    """

    deadline: float = 5.0
    memory: int = 1024
    workers: int = min(cores(), 4)
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
        """The defaults, or what the environment says instead.

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
