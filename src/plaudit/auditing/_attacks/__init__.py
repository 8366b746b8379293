"""The attacks, one file a class: a case goes in, completions that deserve nothing come out.

`cost` and `unstable` are measured in other ways: their files have the texts and the checks.
"""

from plaudit.auditing._attacks import (
    echo,
    empty,
    hedge,
    key,
    length,
    missed,
    neighbour,
    retract,
    structure,
    stuffing,
)
from plaudit.auditing._attacks._attack import (
    CLASSES,
    RAISES,
    Attack,
    Completions,
    attack,
    first_sentence,
)
from plaudit.auditing._attacks.cost import HOSTILE
from plaudit.auditing._attacks.unstable import CHECKS

__all__ = [
    "ATTACKS",
    "CHECKS",
    "CLASSES",
    "HOSTILE",
    "RAISES",
    "Attack",
    "Completions",
    "attack",
    "first_sentence",
]

_MODULES = (empty, structure, key, echo, hedge, neighbour, retract, stuffing, length, missed)
ATTACKS: tuple[Attack, ...] = tuple(
    thing for module in _MODULES for thing in vars(module).values() if isinstance(thing, Attack)
)
