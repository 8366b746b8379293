"""A text of an answer or a gold -> a `Reading`: its candidates, the best of them in normal form.

1. `_candidates`: what math-verify would try to parse, best first (`_latex`, `_plain_numbers`).
2. `_size_limits`: whether the best one is too large to try.
3. `_normalise`: LaTeX as math-verify writes it before it parses.
4. `_reading`: these together, and the value where `exact` knows it.
5. `_plain_data`: candidates as plain data, for a worker.
"""

from plaudit.judge.reading._candidates import Candidate, candidates
from plaudit.judge.reading._latex import Latex, Piece
from plaudit.judge.reading._normalise import normalise
from plaudit.judge.reading._plain_data import Normalised, PlainData, Text, from_plain_data
from plaudit.judge.reading._plain_numbers import Arithmetic, Number
from plaudit.judge.reading._reading import (
    Reading,
    best_candidate,
    read,
    reading_of,
    short_form,
    too_long,
)

__all__ = [
    "Arithmetic",
    "Candidate",
    "Latex",
    "Normalised",
    "Number",
    "Piece",
    "PlainData",
    "Reading",
    "Text",
    "best_candidate",
    "candidates",
    "from_plain_data",
    "normalise",
    "read",
    "reading_of",
    "short_form",
    "too_long",
]
