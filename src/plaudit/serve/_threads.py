"""Threads for rewards that have no twin for event loops."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

from plaudit.serve._desk import Held

P = ParamSpec("P")
T = TypeVar("T")


class Threads(ThreadPoolExecutor):
    """An executor whose threads keep no process from ending, also where a reward hangs in one.

    What a job holds of memory is counted until its thread is done with it: when a request has
    ended, at its deadline or since its client went away, its thread has not.

    >>> threads = Threads(2, "example", held=lambda: None)
    >>> threads.submit(lambda: 42).result()
    42
    >>> threads.shutdown()
    """

    def __init__(self, most: int, name: str, held: Callable[[], Held | None]) -> None:
        super().__init__(most)  # asyncio takes no other executor; this starts none of its threads
        self._most, self._name, self._held = most, name, held
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._count = self._free = 0

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Have a thread call the function."""
        self._add_thread()
        job = _Job(partial(fn, *args, **kwargs), self._held())
        self._jobs.put(job)
        return job.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the threads end that have nothing to do; nobody waits for the others."""
        for _ in range(self._count):
            self._jobs.put(None)

    def _add_thread(self) -> None:
        with self._lock:
            if self._free > self._jobs.qsize() or self._count == self._most:
                return
            thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system has none to give: those that there are will do
                if not self._count:
                    raise
            else:
                self._count += 1
                self._free += 1

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            with self._lock:
                self._free -= 1
            job.run()
            del job
            with self._lock:
                self._free += 1


class _Job:
    def __init__(self, work: Callable[[], Any], held: Held | None) -> None:
        self.future: Future[Any] = Future()
        self._work: Callable[[], Any] | None = work
        self._held = held
        if held is not None:
            held.share()
        self.future.add_done_callback(self._forget)

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

    def _forget(self, _: "Future[Any]") -> None:
        """It is done, or was cancelled before it began: what waits in the queue is empty."""
        self._work = None
        if self._held is not None:
            self._held.drop()
