"""How much a server takes at once, and the thread with an event loop that scores it."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from functools import partial
from math import inf
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

from starlette.exceptions import HTTPException

RETRY = {"Retry-After": "1"}
LITTLE = 1 / 8  # of what is free


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """How much a server takes before it refuses.

    body: bytes of a request's body; default: 64 MiB
    rows: completions that may be in flight, over all requests
    io_timeout: seconds in which a client must have sent its request, and received its answer
    deadline: seconds in which a request must be scored, waiting included
    connections: connections that may be open; fewer if the process may not open as many files
    memory: bytes that all requests may take together: their bodies, the objects read from these,
        and the answers; default: eight times `body`

    >>> ServerLimits(body=1000).memory
    8000
    """

    body: int = 64 << 20
    rows: int = 16_384
    io_timeout: float = 30.0
    deadline: float = 300.0
    connections: int = 1024
    memory: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            is_right = isinstance(value, Integral if field.type is int else Real)
            if not is_right:
                wanted = "a whole number" if field.type is int else "a number"
                raise ValueError(f"{field.name} must be {wanted}, got {value!r:.80}")
            if field.name == "memory" and value == 0:
                object.__setattr__(self, "memory", 8 * self.body)
            elif not 0 < value < inf:
                raise ValueError(f"{field.name} must be above 0, got {value}")


class Admission:
    """Counts what is in flight: rows on the server's event loop, bytes in any thread."""

    def __init__(self, limits: ServerLimits) -> None:
        self.limits = limits
        self.rows = 0
        self.requests = 0
        self.held = 0
        self.lock = threading.Lock()

    @contextmanager
    def admit(self, rows: int) -> Iterator[None]:
        """Admit a batch for as long as the block lasts, or refuse it."""
        most = self.limits.rows
        if rows > most:
            raise HTTPException(
                413, f"{rows} completions in one request, this server takes at most {most}"
            )
        if self.rows + rows > most:
            raise HTTPException(
                429, f"{self.rows} rows are in flight, of at most {most}: try again", RETRY
            )
        self.rows += rows
        self.requests += 1
        try:
            yield
        finally:
            self.rows -= rows
            self.requests -= 1


class HeldMemory:
    """The memory that one request takes: its body, the objects read from it, and the answer.

    It is counted for as long as somebody uses it: the request, and each thread that works for it,
    which goes on when the client has gone away.
    """

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._users = 1
        self._bytes = 0

    def add(self, count: int) -> None:
        """Count more bytes, or refuse them."""
        admission, most = self._admission, self._admission.limits.memory
        with admission.lock:
            own, everyones = self._bytes + count, admission.held + count
            if everyones <= most:
                self._bytes, admission.held = own, everyones
                return
        if own > most:
            raise HTTPException(
                413, f"the request takes {own} bytes of memory, this server has {most} for all"
            )
        raise HTTPException(
            429,
            f"the requests in flight take {admission.held} bytes, of at most {most}: try again",
            RETRY,
        )

    def add_if_little(self, count: int) -> bool:
        """Count more bytes if they are little of what is free; says whether it did."""
        admission = self._admission
        with admission.lock:
            if count > (admission.limits.memory - admission.held) * LITTLE:
                return False
            self._bytes += count
            admission.held += count
            return True

    def add_answer(self, count: int) -> None:
        """Count the bytes of an answer: it is too late to refuse anything."""
        with self._admission.lock:
            self._bytes += count
            self._admission.held += count

    def share(self) -> None:
        """Count another user."""
        with self._admission.lock:
            self._users += 1

    def release(self) -> None:
        """One user is done; with the last, the memory is free."""
        with self._admission.lock:
            self._users -= 1
            if not self._users:
                self._admission.held -= self._bytes


P = ParamSpec("P")
T = TypeVar("T")
THREADS = 32  # for rewards that have no async form: most of the time they wait
WAKE_UP = 0.5  # seconds
CLOSE_TIMEOUT = 5.0  # seconds that what is cancelled has to end; its thread is a daemon

_held: ContextVar[HeldMemory | None] = ContextVar("plaudit_held", default=None)


class Scorer:
    """Runs coroutines in a thread of their own.

    Its thread starts with the first of them, and again after `close` or in a forked process.
    """

    def __init__(self) -> None:
        self.waiting = 0  # rows of batches that have not been started
        self._lock = threading.Lock()
        self._loop: _ScoringLoop | None = None
        self._process = 0

    async def run(
        self, rows: int, work: Callable[[], Awaitable[T]], held: HeldMemory | None = None
    ) -> T:
        """Return the result of the work. Cancelled here, it is cancelled there.

        held: the memory that the work uses; threads that it starts go on using it
        """
        begun = False

        def begin() -> None:
            nonlocal begun
            with self._lock:  # not by a call on the server's loop: that would wake its thread
                if not begun:
                    begun = True
                    self.waiting -= rows

        async def working() -> T:
            begin()
            _held.set(held)
            return await work()

        there = self._start()
        with self._lock:
            self.waiting += rows
        future = asyncio.run_coroutine_threadsafe(working(), there.loop)
        try:
            return await asyncio.wrap_future(future)
        finally:
            begin()

    def close(self) -> None:
        """Cancel what runs, and stop."""
        running, self._loop = self._loop, None
        if running is not None and self._process == os.getpid():
            running.close()

    def _start(self) -> "_ScoringLoop":
        if self._loop is None or self._process != os.getpid():
            self._loop, self._process = _ScoringLoop(), os.getpid()
        return self._loop


class _ScoringLoop:
    """An event loop in a thread, and the threads that it may use."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._threads = DaemonThreads(THREADS, "plaudit-rewards", _held.get)
        self.loop.set_default_executor(self._threads)
        self.loop.call_soon(self._wake_up)
        self._thread = threading.Thread(
            target=self.loop.run_forever, name="plaudit-scorer", daemon=True
        )
        try:
            self._thread.start()
        except RuntimeError:  # the system cannot start a thread: the next request tries again
            self.loop.close()
            raise

    def _wake_up(self) -> None:
        """Wake the loop now and then.

        Other threads wake it by a byte in a socket. If that cannot be sent, for lack of memory,
        asyncio says nothing, and the loop would sleep although it has work to do.
        """
        self.loop.call_later(WAKE_UP, self._wake_up)

    def close(self) -> None:
        """Cancel what runs, and stop. Nobody waits long for a reward that blocks the loop."""
        cancelled = asyncio.run_coroutine_threadsafe(_cancel_others(), self.loop)
        cancelled.add_done_callback(lambda _: self.loop.call_soon_threadsafe(self.loop.stop))
        self._thread.join(CLOSE_TIMEOUT)
        self._threads.shutdown(wait=False)
        if not self._thread.is_alive():
            self.loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class DaemonThreads(ThreadPoolExecutor):
    """An executor whose threads keep no process from ending, even if a reward hangs in one.

    The memory that a job holds is counted until its thread is done with it: when a request has
    ended, at its deadline or because its client went away, its thread may go on.
    """

    def __init__(self, most: int, name: str, held: Callable[[], HeldMemory | None]) -> None:
        super().__init__(1)  # asyncio takes no other executor; this starts none of its threads
        self._slots, self._name, self._held = threading.Semaphore(most), name, held

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Have a thread call the function, once fewer than `most` functions are being called."""
        job = _Job(partial(fn, *args, **kwargs), self._held())
        thread = threading.Thread(target=self._work, args=(job,), name=self._name, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system cannot start a thread
            job.future.cancel()
            raise
        return job.future

    def _work(self, job: "_Job") -> None:
        with self._slots:
            job.run()


class _Job:
    def __init__(self, work: Callable[[], Any], held: HeldMemory | None) -> None:
        self.future: Future[Any] = Future()
        self._work: Callable[[], Any] | None = work
        self._held = held
        if held is not None:
            held.share()
        self.future.add_done_callback(self._release)

    def run(self) -> None:
        work = self._work
        if work is None or not self.future.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except BaseException as error:
            del work
            self._work = None
            self.future.set_exception(error)
        else:
            del work
            self._work = None
            self.future.set_result(result)

    def _release(self, _: "Future[Any]") -> None:
        """It is done, or was cancelled before it began: what waits in the queue is empty."""
        self._work = None
        if self._held is not None:
            self._held.release()
