"""The first parts of a run, held back until one shows that the rewards work.

A reward with a bug in it fails on every row. Such a run stops, and leaves no part behind that a
later run would take for done.
"""

from plaudit.scoring._errors import StoppedError
from plaudit.scoring._failures import Failure
from plaudit.scoring._folder import AGAIN
from plaudit.scoring._score_chunk import ScoredChunk

FIRST = 4  # parts: if all rows of these fail in the same way, so will the others


class FirstParts:
    """Decides by the first parts whether the rewards work at all; the order of arrival is nothing.

    >>> first = FirstParts()
    >>> failed = ScoredChunk(0, b"", 0, [], {}, {}, failure=Failure("KeyError", "'x'"))
    >>> first.ready(failed)
    []
    >>> [part.number for part in first.ready(ScoredChunk(1, b"", 9, [], {}, {}))]
    [0, 1]
    """

    def __init__(self) -> None:
        self._works = False
        self._held: list[ScoredChunk] = []

    def found(self, number: int) -> None:
        """A part is there already: the run that wrote it had decided."""
        self._works = self._works or number < FIRST

    def ready(self, scored: ScoredChunk) -> list[ScoredChunk]:
        """What may be written, now that this part is here."""
        if self._works or (scored.failure is None and scored.number >= FIRST):
            return [scored]
        self._held.append(scored)
        first = self._failures()
        if all(first) and len({one.kind for one in first if one}) < 2:
            return []
        self._works = True
        held, self._held = self._held, []
        return held

    def _failures(self) -> list[Failure | None]:
        return [part.failure for part in self._held if part.number < FIRST]

    @property
    def all_failed(self) -> bool:
        """Whether there is no need to score any more."""
        return len(self._failures()) == FIRST

    def check(self) -> None:
        """Raise where the run has ended, and every row of its first parts failed."""
        if failure := next(filter(None, self._failures()), None):
            raise StoppedError(
                f"every row fails in the same way, the first with\n{failure.told}\n{AGAIN}"
            )
