"""A cache of bounded size: what was worked out before, by its key."""

from dataclasses import dataclass
from sys import getsizeof
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

ENTRY = 800  # bytes that an entry takes besides its text: the objects, and its place in the dict


class Cache(Generic[Key, Value]):
    """A cache that forgets what was not asked for lately, in two generations.

    entries: how many entries it holds at most
    size: how many bytes their texts may take together

    New and asked-for entries are young. When the young ones are half of what may be kept, they
    become the old ones, and the old ones are forgotten. That needs no lock and no list of uses: in
    any thread, a look-up is a look into a dict or two.

    >>> cache = Cache(entries=4, size=100_000)
    >>> for number in range(9):
    ...     cache.put(number, number**2)
    >>> cache.get(0), cache.get(8)
    (None, 64)
    """

    def __init__(self, entries: int, size: int) -> None:
        self._entries = max(entries // 2, 1)
        self._size = max(size // 2, 1)
        self._young: dict[Key, tuple[Value, int]] = {}
        self._old: dict[Key, tuple[Value, int]] = {}
        self._young_size = 0
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len({*self._young, *self._old})

    def get(self, key: Key) -> Value | None:
        """What is remembered of `key`, or None."""
        entry = self._young.get(key)
        if entry is None:
            entry = self._old.get(key)
            if entry is None:
                self.misses += 1
                return None
            self._keep(key, entry)
        self.hits += 1
        return entry[0]

    def put(self, key: Key, value: Value, *texts: str) -> None:
        """Remember it; `texts` are those that it keeps in memory."""
        self._keep(key, (value, ENTRY + sum(map(getsizeof, texts))))

    def _keep(self, key: Key, entry: tuple[Value, int]) -> None:
        size = entry[1]
        if size > self._size:
            return
        if len(self._young) >= self._entries or self._young_size + size > self._size:
            self._old, self._young, self._young_size = self._young, {}, 0
        self._young[key] = entry
        self._young_size += size


@dataclass(frozen=True, slots=True)
class CacheStats:
    """How often a verdict was known already."""

    hits: int
    misses: int
    entries: int

    @property
    def hit_rate(self) -> float:
        """The share of verdicts that were known.

        >>> CacheStats(hits=3, misses=1, entries=1).hit_rate
        0.75
        """
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0
