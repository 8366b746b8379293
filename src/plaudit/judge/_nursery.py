"""The process that workers are forked from. It has math-verify imported, and does nothing else.

Forking from it takes milliseconds where starting Python and sympy anew takes a second, and shares
their memory. It is started by exec, so it never sees the trainer's `__main__`, threads or CUDA.

    in:  ("spawn", number) with a socket attached; ("kill", number)
    out: ("died", number, "") for each worker that ends, ("not forked", number, why) for one that
         never began, or ("failed", 0, why) where math-verify cannot be imported
"""

import contextlib
import ctypes
import gc
import logging
import os
import select
import signal
import socket
import sys
import warnings
from typing import Any

from plaudit.judge._wire import Frames, pack
from plaudit.judge._worker import work

ANTLR = (
    "the judge needs an antlr runtime: pip install 'plaudit[antlr4-13]', "
    "or 'plaudit[antlr4-9]' beside hydra, omegaconf and verl ({error})"
)
PR_SET_PDEATHSIG = 1


def main(descriptor: int, parent: int, deadline: float, memory: int) -> None:
    """Import, then fork and kill workers until the trainer's process is gone."""
    control = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.disable()
    warnings.simplefilter("ignore")
    try:
        from plaudit.judge._symbolic import warm_up
    except ImportError as error:
        control.sendall(pack(("failed", 0, ANTLR.format(error=error))))
        return
    warm_up()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    Nursery(control, parent, deadline, memory).run()


class Nursery:
    """Keeps the workers: forks them, kills them, says when one has died."""

    def __init__(self, control: socket.socket, parent: int, deadline: float, memory: int) -> None:
        self._control = control
        self._parent = parent
        self._deadline = deadline
        self._memory = memory
        self._workers: dict[int, int] = {}  # process id -> number
        self._frames = Frames()
        self._alarm, alarm = socket.socketpair()
        self._alarm.setblocking(False)
        alarm.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(alarm.fileno(), warn_on_full_buffer=False)
        self._alarm_sender = alarm

    def run(self) -> None:
        """Until the trainer closes the control socket, or is gone without closing it."""
        while os.getppid() == self._parent:
            ready, _, _ = select.select([self._control, self._alarm], [], [], 1.0)
            if self._alarm in ready:
                self._reap()
            if self._control in ready and not self._obey():
                break
        for process in self._workers:
            os.kill(process, signal.SIGKILL)

    def _obey(self) -> bool:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, 65536, 64)
        except OSError:
            return False
        for order, number in self._frames.feed(data):
            if order == "spawn":
                self._spawn(number, descriptors.pop() if descriptors else None)
            else:
                self._kill(number)
        return bool(data)

    def _spawn(self, number: int, descriptor: int | None) -> None:
        if descriptor is None:  # the kernel drops what does not fit
            self._say("not forked", number, "its socket did not arrive: too many open files")
            return
        try:
            process = os.fork()
        except OSError as error:
            os.close(descriptor)
            self._say("not forked", number, str(error))
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
        _die_with_parent()
        work(socket.socket(fileno=descriptor), self._deadline, self._memory)

    def _kill(self, number: int) -> None:
        for process, other in self._workers.items():
            if other == number:
                os.kill(process, signal.SIGKILL)

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._alarm.recv(4096)
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)[0]) > 0:
                self._say("died", self._workers.pop(ended), "")

    def _say(self, what: str, number: int, why: str) -> None:
        """If it does not get through: the worker's own socket is closed, and that says as much."""
        with contextlib.suppress(OSError):
            self._control.sendall(pack((what, number, why)))


def _die_with_parent() -> None:
    """On Linux the kernel kills a worker whose nursery is gone; elsewhere its CPU limit does."""
    if sys.platform == "linux":
        libc: Any = ctypes.CDLL(None)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
