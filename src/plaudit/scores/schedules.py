"""Curves over the length of a completion."""

from math import cos, pi


def cosine(length: float, period: float, start: float, end: float) -> float:
    """Half a cosine: `start` at length 0, `end` at `period`.

    Beyond `period` it goes back towards `start`, and so on; clamp the length where that is not
    wanted.
    """
    return start - (start - end) * (1.0 - cos(pi * length / period)) / 2.0


def soft_overlong(length: float, longest: float, margin: float) -> float:
    """0 up to `longest - margin`, then falling to -1 at `longest`, and -1 beyond.

    length, longest, margin: all in the same unit, such as tokens
    """
    if length <= longest - margin:
        return 0.0
    return (longest - margin - length) / margin if length <= longest else -1.0
