"""Where batches are scored: a thread with an event loop of its own."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
THREADS = 32  # for rewards that have no twin for event loops: most of the time they wait


class Scorer:
    """Runs coroutines beside the server, whose own loop stays free for answers and health.

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
        self._loop = asyncio.new_event_loop()
        self._threads = ThreadPoolExecutor(THREADS, "plaudit-rewards")
        self._loop.set_default_executor(self._threads)
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="plaudit-scorer", daemon=True
        )
        self._thread.start()

    async def run(self, rows: int, work: Callable[[], Awaitable[T]]) -> T:
        """What the work gives. Cancelled here, it is cancelled there."""
        begun = False

        def begin() -> None:
            nonlocal begun
            if not begun:
                begun = True
                self.waiting -= rows

        async def working() -> T:
            here.call_soon_threadsafe(begin)
            return await work()

        here = asyncio.get_running_loop()
        self.waiting += rows
        future = asyncio.run_coroutine_threadsafe(working(), self._loop)
        try:
            return await asyncio.wrap_future(future)
        finally:
            begin()

    def close(self) -> None:
        """Cancel what runs, and stop."""
        asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
