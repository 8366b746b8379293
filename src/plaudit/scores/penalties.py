"""What penalties compute: the share of n-grams that repeat another, and curves over a length."""

from array import array
from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import count
from math import cos, pi
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Ids = np.ndarray[Any, np.dtype[np.int64]]

# Below this many tokens, a set of tuples is faster than an array.
_FEW = 512


def repeated_share(tokens: Sequence[Hashable], size: int) -> float:
    """Return the share of n-grams that repeat another: 1 - unique / all; 0.0 if there is none."""
    total = len(tokens) - size + 1
    if total < 1:
        return 0.0
    unique = _unique_in_set(tokens, size) if len(tokens) < _FEW else _unique_in_array(tokens, size)
    return 1.0 - unique / total


def _unique_in_set(tokens: Sequence[Hashable], size: int) -> int:
    return len(set(zip(*(tokens[start:] for start in range(size)), strict=False)))


def _unique_in_array(tokens: Sequence[Hashable], size: int) -> int:
    """Number the n-grams exactly: two numbers make one as long as it fits in 63 bits."""
    ids = _numbered(tokens)
    base = limit = int(ids.max()) + 1
    grams, width = ids, 1
    while width < size:
        step = min(width, size - width)
        if limit * limit < 2**63:
            # A gram and the one `step` further, which may overlap it, make the longer one.
            grams, limit = grams[:-step] * limit + grams[step:], limit * limit
        elif limit * base < 2**63:
            step = 1
            grams, limit = grams[:-1] * base + ids[width:], limit * base
        else:
            step = 0
            grams = _dense(grams)
            limit = len(grams)
        width += step
    return _count_unique(grams)


def _numbered(tokens: Sequence[Hashable]) -> "Ids":
    """Equal tokens to equal numbers, from 0 on."""
    import numpy as np

    try:
        # Token ids are whole and small already: no need to number them anew.
        ids = np.frombuffer(array("q", tokens), np.int64)  # type: ignore[type-var]
    except (TypeError, OverflowError):
        number_of = defaultdict[Hashable, int](count().__next__)
        return np.fromiter(map(number_of.__getitem__, tokens), np.int64, len(tokens))
    return ids if ids.min() >= 0 and ids.max() < 2**31 else _dense(ids)


def _dense(ids: "Ids") -> "Ids":
    import numpy as np

    return np.unique(ids, return_inverse=True)[1].astype(np.int64, copy=False)


def _count_unique(grams: "Ids") -> int:
    import numpy as np

    ordered = np.sort(grams)
    return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))


def cosine(length: float, period: float, start: float, end: float) -> float:
    """Half a cosine: `start` at length 0, `end` at `period`.

    Beyond `period` it goes back towards `start`, and so on; clamp the length if that is not
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
