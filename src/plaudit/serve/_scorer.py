"""Where batches are scored: a thread with an event loop of its own."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TypeVar

from plaudit.serve._desk import Held
from plaudit.serve._threads import Threads

T = TypeVar("T")
TICK = 0.5  # seconds
THREADS = 32  # for rewards that have no twin for event loops: most of the time they wait

_held: ContextVar[Held | None] = ContextVar("plaudit_held", default=None)


class Scorer:
    """Runs coroutines beside the server, whose own loop stays free for answers and health.

    Its thread starts with the first of them, and again after `close` or in a forked process.

    >>> async def double(number):
    ...     return 2 * number
    >>> async def ask():
    ...     return await scorer.run(1, lambda: double(21))
    >>> scorer = Scorer()
    >>> asyncio.run(ask())
    42
    >>> scorer.close()
    """

    def __init__(self) -> None:
        self.waiting = 0  # rows of batches that nobody has looked at yet
        self._running: _Running | None = None
        self._owner = 0

    async def run(self, rows: int, work: Callable[[], Awaitable[T]], held: Held | None = None) -> T:
        """What the work gives. Cancelled here, it is cancelled there.

        held: what the work uses the memory of; threads that it starts go on using it
        """
        begun = False

        def begin() -> None:
            nonlocal begun
            if not begun:
                begun = True
                self.waiting -= rows

        async def working() -> T:
            here.call_soon_threadsafe(begin)
            _held.set(held)
            return await work()

        here, running = asyncio.get_running_loop(), self._started()
        self.waiting += rows
        future = asyncio.run_coroutine_threadsafe(working(), running.loop)
        try:
            return await asyncio.wrap_future(future)
        finally:
            begin()

    def close(self) -> None:
        """Cancel what runs, and stop."""
        running, self._running = self._running, None
        if running is not None and self._owner == os.getpid():
            running.close()

    def _started(self) -> "_Running":
        if self._running is None or self._owner != os.getpid():
            self._running, self._owner = _Running(), os.getpid()
        return self._running


class _Running:
    """An event loop in a thread, and the threads that it may use."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._threads = Threads(THREADS, "plaudit-rewards", _held.get)
        self.loop.set_default_executor(self._threads)
        self.loop.call_soon(self._tick)
        self._thread = threading.Thread(
            target=self.loop.run_forever, name="plaudit-scorer", daemon=True
        )
        try:
            self._thread.start()
        except RuntimeError:  # the system has no thread to give: the next request tries again
            self.loop.close()
            raise

    def _tick(self) -> None:
        """Wake the loop now and then.

        What others hand to it wakes it by a byte in a socket. Where that cannot be sent, for want
        of memory, asyncio says nothing, and the loop would sleep on what it has to do.
        """
        self.loop.call_later(TICK, self._tick)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(_cancel_others(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self._threads.shutdown(wait=False)
        self.loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
