"""The judge: from cheap to dear, each step decides what it can and hands the rest on."""

import atexit
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakSet

from plaudit.judge._algebra import clearly_apart, same_shape
from plaudit.judge._cache import Cache
from plaudit.judge._exact import same_number
from plaudit.judge._reading import Reading, read
from plaudit.judge._settings import Settings
from plaudit.judge._verdict import Pair, Rule, Status, Verdict

if TYPE_CHECKING:
    from concurrent.futures import Future

    from plaudit.judge._pool import Item, Outcome, Pool


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


class Judge:
    r"""Compares answers with golds, in any thread, never longer than a deadline an item.

    >>> judge = Judge()
    >>> [v.status.value for v in judge.judge([Pair("4", "2+2"), Pair("It is 5.", "4")])]
    ['equal', 'different']
    >>> judge.close()
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings.from_environment()
        entries, size = self.settings.cache, self.settings.cache_memory << 20
        self._texts: dict[Rule, Cache[tuple[str, str], Verdict]] = {
            rule: Cache(entries, size // 4) for rule in Rule
        }
        self._golds: Cache[str, Reading] = Cache(entries, size // 4)
        self._items: Cache[Item, Verdict] = Cache(entries, size // 4)
        self._pool: Pool | None = None
        self._lock = threading.Lock()
        JUDGES.add(self)

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """A verdict for each pair."""
        session = Session(self, pairs)
        try:
            return session.verdicts([future.result() for future in session.futures])
        except BaseException:
            session.cancel()
            raise

    async def judge_async(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """The same on an event loop: no thread is blocked while the workers work."""
        import asyncio  # a trainer that has no loop need not load it

        session = Session(self, pairs)
        outcomes = await asyncio.gather(*map(asyncio.wrap_future, session.futures))
        return session.verdicts(outcomes)

    @property
    def cache(self) -> CacheStats:
        """How well it remembers: a pair that was judged before, by its text or by its answer."""
        hits = self._items.hits + sum(cache.hits for cache in self._texts.values())
        entries = len(self._items) + sum(len(cache) for cache in self._texts.values())
        return CacheStats(hits, sum(cache.misses for cache in self._texts.values()), entries)

    def close(self) -> None:
        """Stop the workers. The next call that needs them starts them again."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _submit(self, item: "Item") -> "Future[Outcome]":
        from plaudit.judge._pool import Pool  # most calls never need it

        with self._lock:
            if self._pool is None:
                self._pool = Pool(self.settings)
            return self._pool.submit(item)

    def _after_fork(self) -> None:
        """In a forked process: the workers stay the parent's, this process gets its own."""
        pool, self._pool, self._lock = self._pool, None, threading.Lock()
        if pool is not None:
            pool.abandon()

    def _gold(self, text: str) -> Reading:
        """The reading of a gold, which every completion of a group has."""
        reading = self._golds.get(text)
        if reading is None:
            reading = read(text, Rule.ANYWHERE)
            self._golds.put(text, reading, text)
        return reading


class Session:
    """One call: what is decided at once, and the unique items that workers have by then."""

    def __init__(self, judge: Judge, pairs: Sequence[Pair]) -> None:
        self._judge = judge
        self._pairs = pairs
        self._waiting: dict[Item, tuple[Future[Outcome], list[int]]] = {}
        self._verdicts = [self._quick(pair, row) for row, pair in enumerate(pairs)]

    @property
    def futures(self) -> "list[Future[Outcome]]":
        return [future for future, _ in self._waiting.values()]

    def cancel(self) -> None:
        """Nobody waits for the workers any more."""
        for future in self.futures:
            future.cancel()

    def verdicts(self, outcomes: "Sequence[Outcome]") -> list[Verdict]:
        """All verdicts, with what the workers said of the items."""
        for (item, (_, rows)), outcome in zip(self._waiting.items(), outcomes, strict=True):
            verdict = _verdict(outcome)
            self._judge._items.put(item, verdict, str(item))
            for row in rows:
                self._verdicts[row] = self._remember(self._pairs[row], verdict)
        return [verdict for verdict in self._verdicts if verdict is not None]

    def _quick(self, pair: Pair, row: int) -> Verdict | None:
        known = self._judge._texts[pair.rule].get((pair.answer, pair.gold))
        if known is not None:
            return known
        start = time.perf_counter()
        try:
            decided = self._without_a_worker(pair, start)
        except Exception as error:  # a fault of plaudit's costs one item, never the run
            what = f"{type(error).__name__}: {error}"[:200]
            decided = Verdict(Status.ERROR, what, None, "reading", time.perf_counter() - start)
        if isinstance(decided, Verdict):
            return self._remember(pair, decided)
        self._wait_for(decided, row)
        return None

    def _without_a_worker(self, pair: Pair, start: float) -> "Verdict | Item":
        """The verdict, or what a worker needs for it."""
        gold, answer = self._judge._gold(pair.gold), read(pair.answer, pair.rule)
        status, method = _decide(answer, gold)
        if status is not None:
            seconds = time.perf_counter() - start
            return Verdict(status, answer.shown, gold.shown, method, seconds)
        item = answer.wire, gold.wire, pair.rule.value
        return self._judge._items.get(item) or item

    def _wait_for(self, item: "Item", row: int) -> None:
        if item not in self._waiting:
            self._waiting[item] = self._judge._submit(item), []
        self._waiting[item][1].append(row)

    def _remember(self, pair: Pair, verdict: Verdict) -> Verdict:
        key = pair.answer, pair.gold
        self._judge._texts[pair.rule].put(key, verdict, *key)
        return verdict


def _decide(answer: Reading, gold: Reading) -> tuple[Status | None, str]:
    """What can be said without a CAS exactly as math-verify would say it, and how."""
    if gold.best is None:
        return Status.BAD_GOLD, "nothing to read"
    if answer.best is None:
        return Status.NO_ANSWER, "nothing to read"
    if answer.compared and answer.compared == gold.compared:
        return Status.EQUAL, "same text"
    same, method = _same(answer, gold)
    if same is not None:
        return Status.EQUAL if same else Status.DIFFERENT, method
    limit = answer.limit or gold.limit
    return (Status.LIMIT, limit) if limit else (None, "")


def _same(answer: Reading, gold: Reading) -> tuple[bool | None, str]:
    if answer.number and gold.number:
        return same_number(gold.number, answer.number), "numbers"
    if answer.shape and gold.shape:
        return same_shape(gold.shape, answer.shape), "algebra"
    for one, other in ((answer, gold), (gold, answer)):
        if one.number and one.number.decimal and not one.number.percent and other.shape:
            return False if clearly_apart(one.number.value, other.shape) else None, "algebra"
    return None, ""


def _verdict(outcome: "Outcome") -> Verdict:
    status, answer, gold, seconds = outcome
    return Verdict(Status(status), answer or None, gold or None, "math-verify", seconds)


JUDGES: WeakSet[Judge] = WeakSet()


def _close_all() -> None:
    for judge in list(JUDGES):
        judge.close()


def _after_fork() -> None:
    for judge in list(JUDGES):
        judge._after_fork()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork)
