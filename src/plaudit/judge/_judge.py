"""The judge: from cheap to expensive, each step decides what it can and hands on the rest."""

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from sys import getsizeof
from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import WeakSet

from plaudit.inputs.errors import describe_and_log
from plaudit.judge._algebra import same_object
from plaudit.judge._exact_numbers import same_number
from plaudit.judge._reading import (
    LONGEST,
    ReadText,
    best_candidate,
    read,
    reading_of,
    short_form,
    too_long,
)
from plaudit.judge._settings import Settings
from plaudit.judge._verdict import Pair, Rule, Status, Verdict
from plaudit.judge._versions import math_verify_installed, warn_of_untested_version

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from plaudit.judge.workers import PlainPair, WorkerPool, WorkerResult

Key = TypeVar("Key")
Value = TypeVar("Value")

LONG = 50_000  # characters that are read on an event loop; a thread reads the rest of a batch
SHORT_ENOUGH = min(LONGEST.values())  # characters that every rule reads

ENTRY = 800  # bytes that an entry takes besides its text: the objects, and a slot in the dict


class Cache(Generic[Key, Value]):
    """A cache that forgets what was not asked for lately, in two generations.

    entries: how many entries it holds at most
    size: how many bytes their texts may take together

    New and asked-for entries are young. When the young ones are half of what may be kept, they
    become the old ones, and the old ones are forgotten. That needs no lock and no list of uses: in
    any thread, a look-up is a look into a dict or two.
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
        """Return what is remembered of `key`, or None."""
        entry = self._young.get(key)
        if entry is None:
            entry = self._old.get(key)
            if entry is None:
                self.misses += 1
                return None
            self._keep(key, entry)
        self.hits += 1
        return entry[0]

    def put(self, key: Key, value: Value, size: int = 0) -> None:
        """Remember it; the texts that it keeps in memory have this many bytes."""
        self._keep(key, (value, ENTRY + size))

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


class Judge:
    r"""Compares answers with golds, in any thread, and never takes longer than a deadline per pair.

    settings: its limits; by default those of the environment, see `Settings`

    >>> judge = Judge()
    >>> [v.status.value for v in judge.judge([Pair("4", "2+2"), Pair("It is 5.", "4")])]
    ['equal', 'different']
    >>> judge.close()
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings.from_environment()
        entries, size = self.settings.cache, self.settings.cache_memory << 20
        self._texts: dict[Rule, Cache[tuple[str, str], Verdict]] = {
            rule: Cache(entries, size // 5) for rule in Rule
        }
        # By what is in the box, whether a percent sign follows it, and the gold.
        self._answers: Cache[tuple[str, bool, str], Verdict] = Cache(entries, size // 5)
        self._golds: Cache[tuple[str, Rule], ReadText] = Cache(entries, size // 5)
        self._compared: Cache[PlainPair, Verdict] = Cache(entries, size // 5)
        self._pool: WorkerPool | None = None
        self._trouble: str | None = None
        self._in_flight = 0  # calls
        self._closing = False  # the workers stop when the last call is done
        self._retired = False  # the workers stop after each call from now on
        self._lock = threading.Lock()
        math_verify_installed()  # now, and not where there is no descriptor left to look with
        JUDGES.add(self)

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """A verdict for each pair."""
        with self._holding_workers(), PendingCall(self, pairs) as call:
            call.read()
            return call.verdicts([future.result() for future in call.futures])

    async def judge_async(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """The same on an event loop: no thread is blocked while the workers work."""
        import asyncio  # a trainer that has no loop need not load it

        with self._holding_workers(), PendingCall(self, pairs) as call:
            if not call.read(LONG):
                await asyncio.wrap_future(READING_THREADS.get().submit(call.read))
            results = await asyncio.gather(*map(asyncio.wrap_future, call.futures))
            return call.verdicts(results)

    @property
    def cache(self) -> CacheStats:
        """How well it remembers: a pair that was judged before, by its text or by its answer."""
        by_answer = self._answers.hits + self._compared.hits
        hits = by_answer + sum(cache.hits for cache in self._texts.values())
        # What was known by its answer was looked for by its text first.
        misses = sum(cache.misses for cache in self._texts.values()) - by_answer
        entries = sum(map(len, (self._answers, self._compared, *self._texts.values())))
        return CacheStats(hits, misses, entries)

    @property
    def trouble(self) -> str | None:
        """Why a worker did not start; None once one starts, or another has judged something."""
        pool = self._pool
        return self._trouble if pool is None else pool.trouble

    def warm_up(self) -> None:
        """Start the workers in the background. If they do not start, the next call says so."""
        with contextlib.suppress(ImportError, RuntimeError), self._holding_workers():
            PendingCall(self, warm_up_pairs(self.settings.workers)).read()

    def check(self) -> str | None:
        """Have a worker judge something; return what went wrong, or None."""
        try:
            with self._holding_workers():
                tested = math_verify_installed().tested
                self._submit(CHECK if tested else _as_text(Pair("2", "2"))).result()
        except (ImportError, RuntimeError) as error:
            return str(error)
        return None

    def close(self) -> None:
        """Stop the workers, as soon as no call needs them. The next that does starts others."""
        with self._lock:
            self._closing = True
            pool = self._take_idle_pool()
        if pool is not None:
            pool.close()

    def retire(self) -> None:
        """Close, and keep no workers from now on: those that a later call starts stop with it."""
        self._retired = True
        self.close()

    @contextlib.contextmanager
    def _holding_workers(self) -> Iterator[None]:
        """While a call is in flight, the workers stay."""
        with self._lock:
            self._in_flight += 1
        try:
            yield
        finally:
            with self._lock:
                self._in_flight -= 1
                pool = self._take_idle_pool()
            if pool is not None:
                pool.close(wait=False)  # this may be an event loop

    def _take_idle_pool(self) -> "WorkerPool | None":
        """The pool, if it is to be closed now; the caller holds the lock."""
        if self._in_flight or not (self._closing or self._retired):
            return None
        self._closing = False
        pool, self._pool = self._pool, None
        return pool

    def _submit(self, pair: "PlainPair") -> "Future[WorkerResult]":
        from plaudit.judge.workers import WorkerPool  # most calls never need it

        with self._lock:
            if self._pool is None or self._pool.ended:
                self._trouble, ended, self._pool = self.trouble, self._pool, None
                if ended is not None:
                    ended.close(wait=False)
                try:
                    self._pool = WorkerPool(self.settings, self._trouble)
                except (OSError, RuntimeError) as error:  # no descriptors, no threads
                    self._trouble = f"the judge's workers do not start: {error}"
                    raise RuntimeError(self._trouble) from error
            return self._pool.submit(pair)

    def _stop(self) -> None:
        """Stop the workers at once: the process ends."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _after_fork(self) -> None:
        """In a forked process: the workers and the calls in flight stay the parent's."""
        pool, self._pool, self._lock = self._pool, None, threading.Lock()
        self._in_flight = 0
        if pool is not None:
            pool.abandon()

    def _gold(self, pair: Pair) -> ReadText:
        """The reading of a gold, which every completion of a group has."""
        key = pair.gold, Rule.FORMULA if pair.rule is Rule.FORMULA else Rule.ANYWHERE
        reading = self._golds.get(key)
        if reading is None:
            reading = read(*key)
            self._golds.put(key, reading, getsizeof(pair.gold))
        return reading


class PendingCall:
    """One call: the verdicts that are decided at once, and the distinct pairs that workers have."""

    def __init__(self, judge: Judge, pairs: Sequence[Pair]) -> None:
        self._judge = judge
        self._pairs = pairs
        self._tested = math_verify_installed().tested
        self._waiting: dict[PlainPair, tuple[Future[WorkerResult], list[int]]] = {}
        self._verdicts: list[Verdict | None] = []
        self._over = False

    def __enter__(self) -> "PendingCall":
        return self

    def __exit__(self, *_: object) -> None:
        """However the call ended, nobody waits for the workers any more."""
        self._over = True
        for future in self.futures:
            future.cancel()

    def read(self, most: float = inf) -> bool:
        """Decide what can be decided at once, and hand the rest to the workers.

        most: how many characters to read that were not judged before. False if there are more: the
            next call goes on from there.
        """
        warn_of_untested_version()
        for row in range(len(self._verdicts), len(self._pairs)):
            pair = self._pairs[row]
            if self._over:  # it was cancelled on the event loop while a thread reads
                return True
            if len(pair.answer) > most:
                return False
            verdict = self._known(pair)
            if verdict is None:
                verdict = self._decide_at_once(pair, row)
                most -= len(pair.answer)
            self._verdicts.append(verdict)
        return True

    @property
    def futures(self) -> "list[Future[WorkerResult]]":
        return [future for future, _ in self._waiting.values()]

    def verdicts(self, results: "Sequence[WorkerResult]") -> list[Verdict]:
        """Return all verdicts, with the results of the workers."""
        for (plain, (_, rows)), result in zip(self._waiting.items(), results, strict=True):
            verdict = _verdict(result)
            if result.cacheable:
                self._judge._compared.put(plain, verdict, getsizeof(str(plain)))
            for row in rows:
                self._verdicts[row] = verdict
                if result.cacheable:
                    self._remember(self._pairs[row], verdict)
        return [verdict for verdict in self._verdicts if verdict is not None]

    def _known(self, pair: Pair) -> Verdict | None:
        """The verdict of a pair that is too long, or was judged before."""
        answer, gold, rule = pair
        if len(answer) + len(gold) > SHORT_ENOUGH:
            if why := too_long(gold, Rule.ANYWHERE):
                return Verdict(Status.BAD_GOLD, None, None, "too long", 0.0, why)
            if why := too_long(answer, rule):
                return Verdict(Status.LIMIT, None, None, "too long", 0.0, why)
        return self._judge._texts[rule].get((answer, gold))

    def _decide_at_once(self, pair: Pair, row: int) -> Verdict | None:
        start = time.perf_counter()
        try:
            decided = self._decide_or_pack(pair, start)
        except Exception as error:  # it costs one pair, never the run
            seconds = time.perf_counter() - start
            problem = describe_and_log(error)
            return Verdict(Status.ERROR, None, None, "reading", seconds, problem)
        if isinstance(decided, Verdict):
            return self._remember(pair, decided)
        self._wait_for(decided, row)
        return None

    def _decide_or_pack(self, pair: Pair, start: float) -> "Verdict | PlainPair":
        """The verdict, or what a worker needs for it."""
        if not self._tested:  # it may read and compare in ways that nobody knows
            whole = _as_text(pair)
            return self._judge._compared.get(whole) or whole
        best = best_candidate(pair.answer, pair.rule)
        short = short_form(best) if pair.rule is Rule.LATEX else None
        if short is None:
            return self._compare(reading_of(best, pair.answer, pair.rule), pair, start)
        key = *short, pair.gold
        known = self._judge._answers.get(key)
        if known is not None:
            return known
        answer = reading_of(best, pair.answer, pair.rule)
        decided = self._compare(answer, pair, start)
        # An answer of which nothing is left to compare is shown with the text around it.
        if isinstance(decided, Verdict) and (answer.compared or best is None):
            self._judge._answers.put(key, decided, getsizeof(short[0]) + getsizeof(pair.gold))
        return decided

    def _compare(self, answer: ReadText, pair: Pair, start: float) -> "Verdict | PlainPair":
        """The verdict, or what a worker needs for it, of an answer that was read."""
        gold = self._judge._gold(pair)
        status, decided_by = _decide(answer, gold)
        if status is not None:
            seconds = time.perf_counter() - start
            problem = decided_by if status is Status.LIMIT else ""
            return Verdict(status, answer.shown, gold.shown, decided_by, seconds, problem)
        plain = answer.plain_data, gold.plain_data, pair.rule.value
        return self._judge._compared.get(plain) or plain

    def _wait_for(self, pair: "PlainPair", row: int) -> None:
        if pair not in self._waiting:
            self._waiting[pair] = self._judge._submit(pair), []
        self._waiting[pair][1].append(row)

    def _remember(self, pair: Pair, verdict: Verdict) -> Verdict:
        answer, gold, rule = pair
        size = getsizeof(answer) + getsizeof(gold)
        self._judge._texts[rule].put((answer, gold), verdict, size)
        return verdict


class ReadingThreads:
    """Threads in which long texts are read for event loops, started when first needed.

    The loop's own threads are not used: all of them may be busy with something that waits for this.
    """

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def get(self) -> "ThreadPoolExecutor":
        from concurrent.futures import ThreadPoolExecutor

        with self._lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(2, "plaudit-reading")
            return self._threads

    def forget(self) -> None:
        """In a forked process: no thread came along."""
        self._threads, self._lock = None, threading.Lock()


def _decide(answer: ReadText, gold: ReadText) -> tuple[Status | None, str]:
    """What can be said without a CAS exactly as math-verify would say it, and what decided."""
    if gold.best is None:
        return Status.BAD_GOLD, "nothing to read"
    if answer.best is None:
        known = gold.readable or gold.limit  # else math-verify may read nothing in the gold
        return (Status.NO_ANSWER, "nothing to read") if known else (None, "")
    if answer.compared == gold.compared and answer.readable and gold.readable:
        return Status.EQUAL, "same text"
    if answer.number and gold.number:
        same, decided_by = same_number(gold.number, answer.number), "numbers"
    elif answer.math_object and gold.math_object:
        same, decided_by = same_object(gold.math_object, answer.math_object), "algebra"
    else:
        same, decided_by = None, ""
    if same is not None:
        return Status.EQUAL if same else Status.DIFFERENT, decided_by
    limit = answer.limit or gold.limit
    return (Status.LIMIT, limit) if limit else (None, "")


def warm_up_pairs(workers: int) -> list[Pair]:
    """Return pairs that are for math-verify to compare: enough that each worker gets some."""
    counts = range(2, 2 + 4 * workers)
    return [Pair(rf"$\cot({n} y) + z$", rf"$z - \cot(-{n} y)$") for n in counts]


def _as_text(pair: Pair) -> "PlainPair":
    """What a worker needs that finds the answers itself."""
    answer, gold, rule = pair
    if rule is Rule.FORMULA:
        answer, gold, rule = f"${answer}$", f"${gold}$", Rule.ANYWHERE
    return (("text", answer),), (("text", gold),), rule.value


def _verdict(result: "WorkerResult") -> Verdict:
    status, answer, gold, problem, seconds, _ = result
    return Verdict(Status(status), answer or None, gold or None, "math-verify", seconds, problem)


CHECK: "PlainPair" = ((("number", "2", False),), (("number", "2", False),), Rule.LATEX.value)
JUDGES: WeakSet[Judge] = WeakSet()
READING_THREADS = ReadingThreads()


def _stop_all() -> None:
    for judge in list(JUDGES):
        judge._stop()


def _after_fork() -> None:
    READING_THREADS.forget()
    for judge in list(JUDGES):
        judge._after_fork()


atexit.register(_stop_all)
os.register_at_fork(after_in_child=_after_fork)
