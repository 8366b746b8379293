"""How many steps the values of one comparison may take together.

Two expressions are compared at hundreds of points, and a list element by element: what is harmless
once may take minutes. Steps are counted, not timed, so that a verdict is the same on every machine.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from plaudit.answers._tree import TooLargeError


class _Budget(threading.local):
    """The steps that are left to this thread; None where they are not counted."""

    left: int | None = None


_budget = _Budget()


@contextmanager
def limited_steps(most: int) -> Iterator[None]:
    """Raise `TooLargeError` where what is computed inside takes more steps than `most`.

    >>> with limited_steps(100):
    ...     for _ in range(3):
    ...         spend(40)
    Traceback (most recent call last):
    ...
    plaudit.answers._tree.TooLargeError: too many operations
    """
    _budget.left = most
    try:
        yield
    finally:
        _budget.left = None


def spend(steps: int) -> None:
    """Count steps that were taken; outside of `limited_steps` they are not counted.

    >>> spend(10**9)
    """
    if _budget.left is not None:
        _budget.left -= steps
        if _budget.left < 0:
            raise TooLargeError("too many operations")
