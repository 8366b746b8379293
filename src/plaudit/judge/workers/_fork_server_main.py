"""The fork server itself: the process that workers are forked from, with math-verify imported.

Forking from it takes milliseconds where starting Python and sympy anew takes a second, and shares
their memory. It is started by exec, so it never sees the trainer's `__main__`, threads or CUDA.

    in:  ("fork", number) with a socket attached; ("kill", number)
    out: ("died", number, "") for each worker that ends, ("not forked", number, why) for one that
         never began, or ("failed", 0, why) where math-verify cannot be imported
"""

import contextlib
import gc
import logging
import os
import select
import signal
import socket
import warnings

from plaudit.judge.workers._fork_server import Frames, pack
from plaudit.judge.workers._worker import comparison, leave_nothing_to_chance, work
from plaudit.processes import die_with_parent

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
