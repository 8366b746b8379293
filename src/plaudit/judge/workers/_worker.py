"""A worker: reads pairs from its socket, judges each with math-verify, sends back the result.

    in:  [(answers, golds, rule), ...]              a chunk of pairs: candidates as plain data
    out: its process id, once it has started; then
         (status, answer, gold, problem, seconds)   one frame per pair, as soon as it is judged

Its memory is limited. A failed allocation is not a safe sign: libraries catch MemoryError with
everything else, and make a verdict of it; and CPython itself may crash if it has no memory left to
make a call. So:

- The kernel's limit lies a little above the worker's. What is far too large for both, such as a
  power of a billion digits, is refused at once, and no library gets to catch the MemoryError.
- What grows bit by bit is noticed at the worker's own limit, while there is memory left to say so.
- Once a pair is done, the peak tells whether it went over its limit in between.

Workers are forked from the fork server, which has imported math-verify: that takes milliseconds,
while to start Python and sympy anew takes a second. It is started by exec, so it never sees the
trainer's `__main__`, threads or CUDA.

    in:  ("fork", number) with a socket attached; ("kill", number)
    out: ("died", number, "") for each worker that ends, ("not forked", number, why) for one that
         never began, or ("failed", 0, why) if math-verify cannot be imported
"""

import contextlib
import ctypes
import gc
import logging
import os
import resource
import select
import signal
import socket
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

from plaudit.judge._reading import PlainData, from_plain_data
from plaudit.judge._verdict import Rule, Status
from plaudit.judge._versions import math_verify_installed
from plaudit.judge.workers._fork_server import Frames, pack, receive
from plaudit.processes import die_with_parent

IDLE = 0.05  # seconds after which a worker that has nothing to do prepares for what may come
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
        """What a verdict says of a pair that needs more."""
        return f"it needs more than {self._memory >> 20:,} MiB of memory"

    @contextlib.contextmanager
    def enforced(self) -> Iterator[None]:
        """MemoryError if what is done in it goes over the limit, however that comes about."""
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
        address = id(order) + tuple.__basicsize__ + order.index(Exception) * tuple.__itemsize__
        ctypes.c_void_p.from_address(address).value = id(BaseException)
    assert not issubclass(MemoryError, Exception)


def work(connection: socket.socket, deadline: float, memory: int) -> None:
    """Serve pairs until the other side is gone, or one of them needs too much memory.

    A worker that ran out of memory ends: a library that was interrupted anywhere may have left its
    caches half done. If it had judged others before, it sends no result: those may have left too
    much behind, so the pair goes to a new worker, which has nothing else in its memory.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit, new = MemoryLimit(memory), True
    connection.sendall(pack(os.getpid()))
    while True:
        _prepare_until_asked(connection)
        try:
            pairs = receive(connection)
        except (EOFError, OSError):
            return
        for answers, golds, rule in pairs:
            _limit_cpu(2 * deadline + 1)
            result = judge_pair(answers, golds, rule, limit)
            enough = result[0] != Status.LIMIT
            if enough or new:
                connection.sendall(pack(result))
            if not enough:
                return
            new = False


def _prepare_until_asked(connection: socket.socket) -> None:
    """Fill the parser's tables while there is nothing to do; each time goes on with the next."""
    preparations = comparison().preparations
    while not select.select([connection], [], [], IDLE)[0]:
        if not next(preparations, False):
            return


def judge_pair(
    answers: PlainData, golds: PlainData, rule: str, limit: MemoryLimit | None = None
) -> tuple[str, str, str, str, float]:
    """One pair's result. Running out of memory is one; anything else unforeseen is too."""
    compare = comparison().compare
    leave_nothing_to_chance()
    start = time.perf_counter()
    answer = gold = problem = ""
    try:
        with limit.enforced() if limit else contextlib.nullcontext():
            status, answer, gold = compare(
                [from_plain_data(data) for data in answers],
                [from_plain_data(data) for data in golds],
                Rule(rule),
            )
    except MemoryError:
        status, answer, gold = Status.LIMIT, "", ""
        problem = limit.why if limit else "it needs more memory than there is"
    except Exception as error:
        status, problem = Status.ERROR, f"{type(error).__name__}: {error}"[:200]
    return status.value, answer, gold, problem, time.perf_counter() - start


def leave_nothing_to_chance() -> None:
    """Have sympy come to the same result for a pair in every process, whatever was judged before.

    It checks facts about an expression in random order, and where its rules contradict each other,
    the order decides; and it tries random numbers.
    """
    from sympy.core.random import seed

    sys.modules["sympy.core.assumptions"].shuffle = list.sort  # type: ignore[attr-defined]
    seed(0)


def comparison() -> Any:
    """Return the module that compares: `_symbolic` for a tested version, else `_public_api`."""
    if math_verify_installed().tested:
        from plaudit.judge.workers import _symbolic

        return _symbolic
    from plaudit.judge.workers import _public_api

    return _public_api


def _limit_cpu(seconds: float) -> None:
    """A last resort where nobody is left to kill this worker: the kernel ends it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime + seconds) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))


# --- the fork server ------------------------------------------------------------------------------

PACKAGES = ("math_verify", "latex2sympy2_extended", "sympy", "mpmath")
MATH_VERIFY = "the judge needs math-verify: pip install 'math-verify>=0.8' ({error})"
ANTLR = (
    "the judge needs an antlr runtime: pip install 'plaudit[antlr4-13]', "
    "or 'plaudit[antlr4-9]' beside hydra, omegaconf and verl ({error})"
)


def main(descriptor: int, parent: int, deadline: float, memory: int) -> None:
    """Import, then fork and kill workers until the trainer's process is gone."""
    control = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # next to nothing of what is imported is garbage: looking for it takes a sixth
    logging.disable()
    warnings.simplefilter("ignore")
    try:
        warm_up = comparison().warm_up
    except ImportError as error:
        missing = MATH_VERIFY if error.name in PACKAGES else ANTLR
        control.sendall(pack(("failed", 0, missing.format(error=error))))
        return
    leave_nothing_to_chance()
    warm_up()
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 20)
    WorkerForker(control, parent, deadline, memory).run()


class WorkerForker:
    """Forks workers, kills them, and reports those that have died."""

    def __init__(self, control: socket.socket, parent: int, deadline: float, memory: int) -> None:
        self._control = control
        self._parent = parent
        self._process = os.getpid()
        self._deadline = deadline
        self._memory = memory
        self._workers: dict[int, int] = {}  # process id -> number
        self._frames = Frames()
        self._wake_up, self._wake_up_sender = socket.socketpair()
        self._wake_up.setblocking(False)
        self._wake_up_sender.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake_up_sender.fileno(), warn_on_full_buffer=False)

    def run(self) -> None:
        """Until the trainer closes the control socket, or is gone without closing it."""
        while os.getppid() == self._parent:
            ready, _, _ = select.select([self._control, self._wake_up], [], [], 1.0)
            if self._wake_up in ready:
                self._reap()
            if self._control in ready and not self._handle_messages():
                break
        for process in self._workers:
            os.kill(process, signal.SIGKILL)

    def _handle_messages(self) -> bool:
        """Do what the control messages ask for; False if there will be no more of them."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, 65536, 64)
        except OSError:
            return False
        for message, number in self._frames.feed(data):
            if message == "fork":
                self._fork(number, descriptors.pop() if descriptors else None)
            else:
                self._kill(number)
        return bool(data)

    def _fork(self, number: int, descriptor: int | None) -> None:
        if descriptor is None:  # the kernel drops what does not fit
            self._report("not forked", number, "its socket did not arrive: too many open files")
            return
        try:
            process = os.fork()
        except OSError as error:
            os.close(descriptor)
            self._report("not forked", number, str(error))
            return
        if process:
            os.close(descriptor)
            self._workers[process] = number
            return
        code = 1
        try:
            self._become_worker(descriptor)
            code = 0
        finally:
            os._exit(code)

    def _become_worker(self, descriptor: int) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._control.close()
        os.dup2(1, 2)  # nothing that a worker prints is kept: what is on 1 goes nowhere
        die_with_parent(self._process)
        work(socket.socket(fileno=descriptor), self._deadline, self._memory)

    def _kill(self, number: int) -> None:
        for process, other in self._workers.items():
            if other == number:
                os.kill(process, signal.SIGKILL)

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._wake_up.recv(4096)
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)[0]) > 0:
                self._report("died", self._workers.pop(ended), "")

    def _report(self, what: str, number: int, why: str) -> None:
        """If this does not get through, the worker's own socket is closed, which says as much."""
        with contextlib.suppress(OSError):
            self._control.sendall(pack((what, number, why)))
