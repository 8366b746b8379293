"""How much a server takes, and for how long."""

from dataclasses import dataclass, fields
from math import isfinite


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server takes before it refuses.

    body: bytes of a request's body
    rows: completions that may be in flight, over all requests
    sending: seconds in which a client must have sent its request, and taken its answer
    deadline: seconds in which a request must be scored, waiting included
    connections: that may be open; fewer where the process may not open so many files
    held: bytes of memory that all requests may take: their bodies, what these become, and the
        answers; unless given, eight times `body`

    >>> Limits(rows=0)
    Traceback (most recent call last):
    ...
    ValueError: rows must be above 0, got 0
    >>> Limits(body=1000).held
    8000
    """

    body: int = 64 << 20
    rows: int = 16_384
    sending: float = 30.0
    deadline: float = 300.0
    connections: int = 1024
    held: int = 0

    def __post_init__(self) -> None:
        if self.held == 0:
            object.__setattr__(self, "held", 8 * self.body)
        for field in fields(self):
            value = getattr(self, field.name)
            if not (value > 0 and isfinite(value)):
                raise ValueError(f"{field.name} must be above 0, got {value}")
