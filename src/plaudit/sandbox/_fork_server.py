"""The process that programs, or tests, are forked from: process 1 of a namespace of its own.

It gives up what no program needs once, and then does as little as it can: a page that it or a
child writes to is copied. It never reads a program, its input or its output, so none of them lies
in the memory that the next program gets; a child reads its own job from a file.

    request: what it may use, and the descriptors of stdin, stdout, stderr, its job, and more
             -> its process id
    END      -> what it used; it and all that it started are gone
    ASK      -> whether it has ended, where no descriptor tells (macOS)
"""

import _signal  # type: ignore[import-not-found] # `signal` wraps it in enums
import ctypes
import gc
import json
import os
import random
import signal
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from plaudit.sandbox import _child, _layers

REQUEST = struct.Struct("=dQIB")  # CPU seconds, memory, processes, the number of the folder
STARTED = struct.Struct("=i")
CREDENTIALS = struct.Struct("=3i")  # process, user, group
USED = struct.Struct("=idQ")  # status, CPU seconds, memory
END, ASK = b"end", b"ask"
FIRST = 3  # the first descriptor that is received, since all others are closed
CONTROL, RULES = 200, 201
LINUX = sys.platform == "linux"

# `os.fork` runs hooks of threading, logging and random in the child, which copy 230 pages. A
# process with one thread, which holds no lock, needs none of them.
_libc: Any = ctypes.PyDLL(None)
_fork: Callable[[], int] = _libc.fork if LINUX else os.fork
_syscall: Any = _libc.syscall  # looked up once: each function is an object that ctypes makes


class ProgramForkServer:
    """Forks one process after the other; each has ended when the next begins."""

    def __init__(
        self, control: socket.socket, layers: list[str], folder: str, user: int | None, disk: int
    ) -> None:
        self._layers = layers
        self._folder = folder
        self._folder_number = -1  # a rule of Landlock holds for one folder
        self._user = user
        self._first = "namespaces" in layers
        self._process = 0
        self._used = USED.pack(0, 0.0, 0)
        self._readable = _layers.readable_paths()
        os.dup2(control.fileno(), CONTROL, inheritable=False)
        control.detach()
        os.closerange(FIRST, CONTROL)
        os.closerange(CONTROL + 1, 1 << 16)
        self._control = socket.socket(fileno=CONTROL)
        sys.path[:] = _python_path(folder)
        os.environ.clear()
        os.environ.update(PATH="/usr/local/bin:/usr/bin:/bin", HOME=folder, LANG="C.UTF-8")
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.umask(0o022)
        _layers.set_fixed_limits(disk)
        _layers.hide_memory()
        if LINUX:
            _layers.forbid_new_privileges()
        if self._first and "seccomp" in layers:
            _layers.filter_calls(_layers.seccomp_filter())
        gc.freeze()

    def run(self) -> None:
        """Do what the box asks for, until it is gone."""
        while True:
            request, details, _, _ = self._control.recvmsg(64, socket.CMSG_SPACE(64))
            if not request:
                return
            if request == END:
                self._control.sendall(self._end())
                continue
            if request == ASK:
                self._control.sendall(b"1" if self._has_ended() else b"0")
                continue
            *limits, number = REQUEST.unpack(request)
            if "landlock" in self._layers and number != self._folder_number:
                self._make_rules(number)
            self._process = _fork()
            if self._process < 0:  # to kill -1 would kill everything
                raise OSError("fork failed")
            if not self._process:
                self._run_job(limits, memoryview(details[0][2]).cast("i").tolist())
            os.closerange(FIRST, CONTROL)
            self._control.sendmsg([STARTED.pack(self._process)], self._credentials())

    def _credentials(self) -> list[tuple[int, int, bytes]]:
        """Return the process as the kernel translates it for a box outside of this namespace."""
        if not self._first:
            return []
        packed = CREDENTIALS.pack(self._process, os.getuid(), os.getgid())
        return [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, packed)]

    def _make_rules(self, number: int) -> None:
        rules = _layers.landlock_rules(self._readable, [self._folder], self._first)
        os.dup2(rules, RULES, inheritable=False)
        os.close(rules)
        self._folder_number = number

    def _run_job(self, limits: list[Any], descriptors: list[int]) -> NoReturn:
        """Give up the remainder, and do the job. The order matters."""
        code, is_restricted = 1, False
        try:
            for target in range(3):
                os.dup2(descriptors[target], target)
            job = _content(descriptors[3])
            _signal.signal(signal.SIGINT, signal.default_int_handler)
            os.setsid()
            self._restrict(*limits)
            is_restricted = True
            kept = descriptors[4:]
            os.closerange(FIRST, kept[0] if kept else CONTROL)
            os.closerange(kept[-1] + 1 if kept else CONTROL, RULES + 1)
            os.chdir(self._folder)
            random.seed()
            _child.do_job(json.loads(job), kept)
            code = 0
        except BaseException:
            if not is_restricted:  # a failure of the sandbox: no program has run that could fail
                self._control.shutdown(socket.SHUT_RDWR)
            _child.print_exception()
        finally:
            os._exit(code)

    def _restrict(self, seconds: float, memory: int, processes: int) -> None:
        if LINUX and not self._first:
            _libc.prctl(_layers.PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        _layers.set_limits(seconds, memory, processes)
        if LINUX:
            _layers.drop_privileges(self._user)
        # With plain numbers: to convert them would cost more than the call.
        if self._folder_number >= 0 and _syscall(_layers.LANDLOCK_RESTRICT, RULES, 0):
            raise OSError("landlock_restrict_self failed")
        if "seccomp" in self._layers and not self._first:
            _layers.filter_calls(_layers.seccomp_filter(os.getpid()))

    def _has_ended(self) -> bool:
        if self._process:
            self._collect(os.WNOHANG)
        return not self._process

    def _collect(self, options: int) -> None:
        """Wait for the process, and note what it used."""
        process, status, usage = os.wait4(self._process, options)
        if process:
            cpu = usage.ru_utime + usage.ru_stime
            self._used = USED.pack(status, cpu, usage.ru_maxrss << 10)
            self._process = 0

    def _end(self) -> bytes:
        """Kill every process that is left, and return what the last one used."""
        if self._process:
            os.kill(self._process, signal.SIGKILL)  # works if it has ended, until it is collected
            self._collect(0)
        if not self._first:
            _kill_children()
        with suppress(OSError):  # there is nobody to kill, or nobody to wait for
            if self._first:
                os.kill(-1, signal.SIGKILL)
            while os.waitpid(-1, 0 if self._first else os.WNOHANG)[0]:
                pass
        return self._used


def _content(descriptor: int) -> bytes:
    return os.read(descriptor, os.fstat(descriptor).st_size)


def _python_path(folder: str) -> list[str]:
    """Return where a program's imports are looked for."""
    readable = [os.path.realpath(path) for path in _layers.readable_paths()]
    path = [entry for entry in sys.path if os.path.realpath(entry).startswith(tuple(readable))]
    return [folder, *path]


def _kill_children() -> None:
    """Kill the children of this process until there are none, if it shares its namespace."""
    for _ in range(1000):
        try:
            with open(f"/proc/self/task/{os.getpid()}/children") as file:
                children = [int(word) for word in file.read().split()]
        except OSError:
            return
        if not children:
            return
        for child in children:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            for child in children:
                os.waitpid(child, 0)
