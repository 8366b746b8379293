"""How many steps judging one answer may take.

Two expressions are compared at hundreds of points, and lists element by element, all of it in the
trainer's own process: what is harmless once may take minutes. Every operation is paid for by the
size of its numbers before it is carried out. A step stands for about a microsecond. Steps are
counted, not timed, so that a verdict is the same on every machine.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from plaudit.answers._tree import TooLargeError

# The slowest of 3,870 real answers takes 53,000. On a busy machine a step takes 2 microseconds.
MOST_STEPS = 65_000


class _Budget(threading.local):
    """The steps that are left to this thread; None if they are not counted."""

    left: int | None = None


_budget = _Budget()


@contextmanager
def limited_steps(most: int) -> Iterator[None]:
    """Raise `TooLargeError` if what is computed inside takes more steps than `most`.

    A limit inside another one is a limit of its own: what it spends is not counted outside.

    >>> with limited_steps(100):
    ...     for _ in range(3):
    ...         spend(40)
    Traceback (most recent call last):
    ...
    plaudit.answers._tree.TooLargeError: too many operations
    """
    outside, _budget.left = _budget.left, most
    try:
        yield
    finally:
        _budget.left = outside


def spend(steps: int) -> None:
    """Pay for steps; outside of `limited_steps` they are not counted.

    >>> spend(10**9)
    """
    if _budget.left is not None:
        _budget.left -= steps
        if _budget.left < 0:
            raise TooLargeError("too many operations")
