"""The length of a completion in, and out comes a value on a curve."""

from math import cos, pi


def cosine(length: float, period: float, start: float, end: float) -> float:
    """Half a cosine: `start` at length 0, `end` at `period`.

    Beyond `period` it goes back towards `start`, and so on; clamp the length where that is not
    wanted.

    >>> cosine(0, 1024, start=1.0, end=0.5), cosine(1024, 1024, start=1.0, end=0.5)
    (1.0, 0.5)
    >>> cosine(min(5000, 1024), 1024, start=1.0, end=0.5)
    0.5
    """
    return start - (start - end) * (1.0 - cos(pi * length / period)) / 2.0


def soft_overlong(length: float, longest: float, margin: float) -> float:
    """0 up to `longest - margin`, then falling to -1 at `longest`, and -1 beyond.

    length, longest, margin: all in the same unit, such as tokens

    >>> [soft_overlong(length, longest=100, margin=20) for length in (80, 90, 100, 101)]
    [0.0, -0.5, -1.0, -1.0]
    >>> soft_overlong(100, longest=100, margin=0), soft_overlong(101, longest=100, margin=0)
    (0.0, -1.0)
    """
    if length <= longest - margin:
        return 0.0
    return (longest - margin - length) / margin if length <= longest else -1.0
