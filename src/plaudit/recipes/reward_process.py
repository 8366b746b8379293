"""A user's reward in a process of its own, which is killed if it hangs.

    parent -> process   the component, once; then a socket for each fork
    process -> parent   "" once the reward is imported, or why it cannot be
    parent -> fork      the arguments of a call
    fork -> parent      its process id, once; then what came of each call

The process is started by exec, so no lock that a thread of the trainer holds is locked in it. It
imports the reward, which may take a second, and forks, which takes milliseconds. The fork is called
and, if it hangs, killed. It writes the row that the reward reads into memory that the parent can
see: after a kill, that is most likely the row which hangs.
"""

import contextlib
import mmap
import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, SupportsIndex

from plaudit.processes import die_with_parent, start_python

if TYPE_CHECKING:
    from plaudit.recipes.component import Component

IMPORT_SECONDS = 60.0  # for a new process, before the clock of a batch starts
FORK_SECONDS = 10.0
NO_ROW = -1
_INDEX = 8  # bytes


@dataclass(frozen=True)
class Failure:
    """A call that gave nothing.

    status: of the rows that are to blame: "timeout", "limit" or "error"
    why: one sentence for a person
    row: the row that the reward read last; NO_ROW if that is not known
    """

    status: str
    why: str
    row: int


class RewardProcess:
    """The process of a component, and the fork of it that is called.

    memory: the MiB that a call may allocate; 0 for no limit
    """

    def __init__(self, component: "Component", memory: int) -> None:
        self._memory = memory
        self._is_ready = False
        self._fork: _Fork | None = None
        with TemporaryFile() as file:
            file.truncate(_INDEX)
            self._row = mmap.mmap(file.fileno(), _INDEX)
            self._control, there = socket.socketpair()
            with there:
                fds = [there.fileno(), file.fileno()]
                self._process = start_python(__name__, os.getpid(), *fds, memory, pass_fds=fds)
        self._messages = Connection(os.dup(self._control.fileno()))
        self._messages.send(component)

    def wait_until_ready(self) -> None:
        """Wait until the reward is imported; raise RuntimeError if it cannot be."""
        if self._is_ready:
            return
        try:
            is_there = self._messages.poll(IMPORT_SECONDS)
            problem = self._messages.recv() if is_there else "its module takes too long to import"
        except (EOFError, OSError):
            problem = f"the process ended with the code {self._process.wait()}"
        if problem:
            self.close()
            raise RuntimeError(f"the reward cannot be called in a process of its own: {problem}")
        self._is_ready = True

    def call(self, arguments: bytes, seconds: float) -> list[Any] | Failure:
        """Return what the reward returns; raise what it raises.

        arguments: pickled
        """
        try:
            fork = self._fork = self._fork or _Fork(self._control)
            self._row[:] = NO_ROW.to_bytes(_INDEX, "little", signed=True)
            fork.connection.send_bytes(arguments)
            if not fork.connection.poll(max(seconds, 0.0)):
                return self._failed("timeout", f"It was stopped after {max(seconds, 0.0):.3g} s.")
            kind, returned = fork.connection.recv()
        except (EOFError, OSError):
            return self._failed("error", "It ended its process.")
        if kind == "memory":
            return self._failed("limit", f"It needs more than {self._memory:,} MiB of memory.")
        if kind == "raised":
            raise returned
        values: list[Any] = returned
        return values

    def _failed(self, status: str, why: str) -> Failure:
        if self._fork is not None:
            self._fork.kill()
            self._fork = None
        return Failure(status, why, int.from_bytes(self._row[:], "little", signed=True))

    @property
    def has_ended(self) -> bool:
        """Whether it was closed, or has ended by itself."""
        return self._messages.closed or self._process.poll() is not None

    def close(self) -> None:
        """End the process, and what it started."""
        if self._fork is not None:
            self._fork.kill()
        with contextlib.suppress(OSError):  # it leads a session of its own
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self.abandon()

    def abandon(self) -> None:
        """Close what this process has open of it, which is all to do after a fork."""
        if self._fork is not None:
            self._fork.connection.close()
        self._messages.close()
        self._control.close()
        self._row.close()


class _Fork:
    """A fork of the process, as the parent sees it; EOFError or OSError if there is none."""

    def __init__(self, control: socket.socket) -> None:
        here, there = socket.socketpair()
        self.connection = Connection(here.detach())
        with there:
            socket.send_fds(control, [b"f"], [there.fileno()])
        if not self.connection.poll(FORK_SECONDS):
            raise OSError("it does not fork")
        self._pid: int = self.connection.recv()

    def kill(self) -> None:
        """Kill it, and what it started: it leads a group of its own."""
        self.connection.close()
        with contextlib.suppress(OSError):
            os.killpg(self._pid, signal.SIGKILL)


class WatchedRows(list[Any]):
    """A list that notes which of its entries was read last."""

    def __init__(self, rows: Sequence[Any], note: Any) -> None:
        super().__init__(rows)
        self._note = note

    def __iter__(self) -> Any:
        for row, entry in enumerate(super().__iter__()):
            self._note(row)
            yield entry

    def __getitem__(self, at: SupportsIndex | slice) -> Any:
        if not isinstance(at, slice):
            self._note(at.__index__() % max(len(self), 1))
        return super().__getitem__(at)

    def __reduce__(self) -> Any:
        return list, (list.copy(self),)


# --- what runs in the process ---------------------------------------------------------------------


def main(parent: int, descriptor: int, row: int, memory: int) -> None:
    """Receive a component and import its reward; then fork for each socket that comes."""
    control = socket.socket(fileno=descriptor)
    messages = Connection(os.dup(descriptor))
    die_with_parent(parent)
    shown = mmap.mmap(row, _INDEX)
    os.close(row)
    try:
        component = messages.recv()
        bound = component.bound  # imports the reward's module
    except Exception as error:
        messages.send(f"{type(error).__name__}: {error}"[:300])
        return
    messages.send("")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # forks leave no zombies
    process = os.getpid()
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not data:
            return
        if os.fork():
            os.close(descriptors[0])
            continue
        try:
            os.setpgid(0, 0)
            die_with_parent(process)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            messages.close()
            _limit_memory(memory)
            _serve(bound, Connection(descriptors[0]), shown)
        finally:
            os._exit(0)


def _serve(bound: Any, connection: Connection, shown: mmap.mmap) -> None:
    connection.send(os.getpid())
    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.send(_called(bound, connection.recv(), shown))


def _called(bound: Any, arguments: Mapping[str, Any], shown: mmap.mmap) -> tuple[str, Any]:
    def note(row: int) -> None:
        shown[:] = row.to_bytes(_INDEX, "little", signed=True)

    completions = arguments["completions"]
    try:
        given = {**arguments, "completions": WatchedRows(completions, note)}
        returned = bound.function(**given)
        plain = isinstance(returned, list) and all(type(one) is float for one in returned)
        # Numbers of another type and other faults are found here, as they would be in the caller.
        return "returned", returned if plain else bound.checked(len(completions), returned)
    except MemoryError:
        return "memory", None
    except BaseException as error:  # SystemExit too
        return "raised", _sendable(error)


def _sendable(error: BaseException) -> BaseException:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}"[:1000])
    return error


def _limit_memory(memory: int) -> None:
    """Have the kernel refuse what goes beyond the memory that the process has now."""
    if not memory or sys.platform != "linux":
        return
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = now + (memory << 20)
    if hard == resource.RLIM_INFINITY or wanted < hard:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
