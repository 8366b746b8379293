"""A limit in bytes -> MemoryError from all that goes over it, also where a library caught it.

A failed allocation is not a safe sign. Libraries catch MemoryError with everything else, and
make a verdict of it; and CPython itself may crash where it has no memory left to make a call. So:

- The kernel's limit lies a little above the worker's. What is far too large for both, such as a
  power of a billion digits, is refused at once, and no library gets to catch the MemoryError.
- What grows bit by bit is noticed at the worker's own limit, while there is memory left to say so.
- Once an item is done, the peak tells whether it went over its limit in between.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys
from collections.abc import Iterator

RESERVE = 64 << 20  # bytes between the worker's limit and the kernel's
CHECK_SECONDS = 0.02  # of work between two looks at the memory
STATUS = "/proc/self/status"


class MemoryLimit:
    """A limit on this process's address space, in bytes; on Linux alone, as others enforce none."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._at_work = False
        self._status = os.open(STATUS, os.O_RDONLY) if sys.platform == "linux" else -1
        ceiling = max(memory, self._now("VmSize")) + RESERVE
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard == resource.RLIM_INFINITY or ceiling < hard:  # else the system's is the stricter
            resource.setrlimit(resource.RLIMIT_AS, (ceiling, ceiling))
        let_memory_errors_through()
        signal.signal(signal.SIGPROF, self._check)

    @property
    def why(self) -> str:
        """What is told of an item that needs more."""
        return f"it needs more than {self._memory >> 20:,} MiB of memory"

    @contextlib.contextmanager
    def enforced(self) -> Iterator[None]:
        """MemoryError where what is done in it goes over the limit, however that comes about."""
        signal.setitimer(signal.ITIMER_PROF, CHECK_SECONDS, CHECK_SECONDS)
        self._at_work = True
        try:
            yield
        finally:
            self._at_work = False
            signal.setitimer(signal.ITIMER_PROF, 0)
        if self._now("VmPeak") > self._memory:
            raise MemoryError

    def _check(self, *_: object) -> None:
        if self._at_work and self._now("VmSize") > self._memory:
            raise MemoryError

    def _now(self, name: str) -> int:
        """What the kernel says of this process, in bytes; 0 where it says nothing.

        The file stays open: this is called in the midst of anything, so it may need no descriptor,
        and raises nothing that a library could make a verdict of.
        """
        try:
            text = os.pread(self._status, 4096, 0).decode()
        except OSError:
            return 0
        return int(text.partition(f"{name}:")[2].split(maxsplit=1)[0]) << 10


def let_memory_errors_through() -> None:
    """Have `except Exception` catch no MemoryError in this process, in whatever library it stands.

    A class is an Exception if that stands in its method resolution order, which is all that
    `except` looks at. Python has no way to write to it, so this writes where CPython keeps the
    entries of a tuple.
    """
    order = MemoryError.__mro__
    if Exception in order:
        place = id(order) + tuple.__basicsize__ + order.index(Exception) * tuple.__itemsize__
        ctypes.c_void_p.from_address(place).value = id(BaseException)
    assert not issubclass(MemoryError, Exception)
