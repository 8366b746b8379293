"""Boxes as the caller's process sees them: started when needed, borrowed, and returned.

A thread borrows a box, has it do one thing after another, and waits for the results. One more runs
at a time than there are cores; a run that takes long no longer counts, so that programs that never
end do not hold up the others.
"""

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from plaudit.processes import cores, start_python
from plaudit.sandbox import _layers
from plaudit.sandbox._border import LENGTH

SLOW_RUNS = 8  # runs that take long and go on while others have the cores
START_SECONDS = 60.0
ANSWER_SECONDS = 60.0  # for what has no deadline of its own
MAIN = "plaudit.sandbox._box"


class SandboxError(RuntimeError):
    """The sandbox itself failed, or cannot be used here.

    >>> issubclass(SandboxError, RuntimeError)
    True
    """


@dataclass(frozen=True)
class Limits:
    """What a program may use.

    seconds: CPU seconds for each run; the wall clock may show twice as many
    memory: MiB of memory for each process
    processes: how many processes and threads a program may have
    disk: MiB that it may write
    output: MiB that it may print

    >>> Limits().seconds
    10.0
    """

    seconds: float = 10.0
    memory: int = 1024
    processes: int = 64
    disk: int = 64
    output: int = 16


@dataclass(frozen=True)
class Outcome:
    """What a run did.

    end: why it ended: "exit", "signal", or the limit that it met: "time", "wall", "output"
    code: its exit code; negative if a signal ended it
    stdout: what it printed
    stderr: the end of what it printed there
    report: what tests reported, a line of JSON for each
    cpu, seconds: the CPU time that it used, and the time that passed
    memory: the most memory that it had, in bytes

    >>> Outcome("exit", 0, "42\\n").stdout
    '42\\n'
    """

    end: str
    code: int = 0
    stdout: str = ""
    stderr: str = ""
    report: str = ""
    cpu: float = 0.0
    seconds: float = 0.0
    memory: int = 0


def starved(*outcomes: Outcome) -> bool:
    """Return whether the wall clock ended a run that was busy, but had too little CPU time."""
    cpu = sum(outcome.cpu for outcome in outcomes)
    ended = any(outcome.end == "wall" for outcome in outcomes)
    return ended and cpu > 0.1 * max(outcome.seconds for outcome in outcomes)


@cache
def isolation() -> dict[str, str]:
    """Return each layer with "" if it works here, or why it does not.

    >>> isolation()["limits"]
    ''
    """
    return _layers.working_layers()


def level(layers: list[str]) -> str:
    """Return the name of what keeps a program in, for a person.

    >>> level(["limits", "seccomp", "landlock"])
    'Landlock, seccomp, limits'
    """
    names = {"namespaces": "namespaces", "landlock": "Landlock", "seccomp": "seccomp"}
    return ", ".join([names[name] for name in names if name in layers] + ["limits"])


def layers_for(wanted: str) -> list[str]:
    """Return the layers to use, or raise if too few of them work here.

    wanted: "auto", or "none" if limits are enough
    """
    if wanted not in ("auto", "none"):
        raise ValueError(f'isolation must be "auto" or "none", got {wanted!r:.80}')
    works = isolation()
    found = [name for name, why in works.items() if not why]
    if wanted == "auto" and "namespaces" not in found and "landlock" not in found:
        raise SandboxError(
            f"programs cannot be isolated here: namespaces: {works['namespaces']}; Landlock: "
            f"{works['landlock']}. Allow unprivileged user namespaces "
            "(sysctl kernel.unprivileged_userns_clone=1, or docker run --security-opt "
            "seccomp=unconfined), use Linux 5.13 or newer with Landlock, or, if you trust every "
            'program, set isolation = "none"'
        )
    return found


class Session:
    """A box that was borrowed: sends it one message after another."""

    def __init__(self, limits: Limits, pool: "Pool") -> None:
        self.limits = limits
        self._pool = pool
        self._core = _Core(None)
        self._gives_back = True
        programs, their_programs = socket.socketpair()
        tests, their_tests = socket.socketpair()
        self._connections = (programs, tests)
        with their_programs, their_tests:
            pool.send_box(their_programs, their_tests)
        for connection in self._connections:
            connection.settimeout(START_SECONDS)
            self._receive(connection)

    def script(self, source: str, stdin: str) -> Outcome:
        """Run a program with an input."""
        return self._outcome({"do": "script", "source": source, "input": stdin})

    def command(
        self,
        arguments: list[str],
        stdin: str = "",
        files: dict[str, str] | None = None,
        seconds: float | None = None,
        memory: int | None = None,
    ) -> Outcome:
        """Run an installed or compiled program in the folder."""
        message: dict[str, Any] = {"do": "command", "arguments": arguments, "input": stdin}
        message |= {"files": files or {}, "path": os.environ.get("PATH", os.defpath)}
        if seconds is not None:
            message["seconds"] = seconds
        if memory is not None:
            message["memory"] = memory << 20
        return self._outcome(message)

    def open(self, source: str, name: str) -> tuple[str, str, Outcome | None]:
        """Load a program, and find the function that is to be called."""
        return self._answer({"do": "open", "source": source, "name": name})

    def call(self, data: bytes) -> tuple[str, str, Outcome | None]:
        """Call the function; return what came of it, a text, and an outcome if it ended."""
        return self._answer({"do": "call", "data": data.decode("utf-8", "surrogatepass")})

    def tests(self, source: str, task: dict[str, Any]) -> tuple[Outcome, Outcome]:
        """Run tests against a program; return what came of the tests, and of the program."""
        ran, program = self._tests(source, task)
        if ran.end == "again":
            ran, program = self._tests(source, task)
        return ran, program

    def _tests(self, source: str, task: dict[str, Any]) -> tuple[Outcome, Outcome]:
        """Have both boxes start at once; the one with the program also removes its files."""
        programs, tests = self._connections
        self._request(programs, {"do": "serve", "source": source, "tests": task["count"]})
        self._request(tests, {"do": "tests", "task": task, "tests": task["count"]})
        ran = self._answer_from(tests)
        return Outcome(**ran), Outcome(**self._answer_from(programs))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Run with a core of its own: for a run that was starved before."""
        core, self._core = self._core, self._pool.wait_for_core()
        keeps, self._gives_back = self._gives_back, False
        try:
            yield
        finally:
            self._core.give_back()
            self._core, self._gives_back = core, keeps

    def wipe(self) -> None:
        """End every process, and remove the files."""
        self._send(self._connections[0], {"do": "wipe"})

    def close(self) -> None:
        """Close its sockets, so that its processes end."""
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    # -- Messages

    def _outcome(self, message: dict[str, Any]) -> Outcome:
        return Outcome(**self._ask(self._connections[0], message))

    def _answer(self, message: dict[str, Any]) -> tuple[str, str, Outcome | None]:
        made = self._ask(self._connections[0], message)
        outcome = Outcome(**made["outcome"]) if made.get("outcome") else None
        return made["kind"], made.get("data", ""), outcome

    def _ask(self, connection: socket.socket, message: dict[str, Any]) -> dict[str, Any]:
        self._request(connection, message)
        return self._answer_from(connection)

    def _request(self, connection: socket.socket, message: dict[str, Any]) -> None:
        limits = {"seconds": self.limits.seconds, "processes": self.limits.processes}
        self._send(connection, limits | {"memory": self.limits.memory << 20} | message)
        seconds = message.get("seconds", self.limits.seconds) * message.get("tests", 1)
        connection.settimeout(4 * seconds + ANSWER_SECONDS)

    def _answer_from(self, connection: socket.socket) -> dict[str, Any]:
        answer = self._receive(connection)
        while "slow" in answer:
            if self._gives_back:
                self._core.give_back()
            answer = self._receive(connection)
        return answer

    def _send(self, connection: socket.socket, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode("ascii")
        try:
            connection.sendall(LENGTH.pack(len(data)) + data)
        except OSError as error:
            raise SandboxError(f"a box ended: {error}") from error

    def _receive(self, connection: socket.socket) -> dict[str, Any]:
        try:
            header = _exactly(connection, LENGTH.size)
            data = _exactly(connection, LENGTH.unpack(header)[0])
        except (OSError, EOFError) as error:
            raise SandboxError(f"a box ended: {type(error).__name__} {error}") from error
        message: dict[str, Any] = json.loads(data)
        if "failed" in message:
            raise SandboxError(f"a box did not start: {message['failed']}")
        return message


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = connection.recv(min(count - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


class Pool:
    """The server and its boxes, for one set of packages, layers and sizes.

    packages: modules that are imported once, before programs are forked
    """

    def __init__(self, layers: list[str], packages: tuple[str, ...], limits: Limits) -> None:
        self.layers = layers
        self._process = os.getpid()
        self._idle: list[Session] = []
        self._busy: set[Session] = set()
        self._lock = threading.Lock()
        # One more than there are cores, since a program and its tests wait for one another.
        self._cores = threading.Semaphore(cores() + 1)
        self._limits = limits
        self._folder = "" if "namespaces" in layers else tempfile.mkdtemp(prefix="plaudit-")
        self._control, theirs = socket.socketpair()
        settings = {
            "packages": packages,
            "layers": layers,
            "folder": self._folder,
            "disk": limits.disk << 20,
            "output": limits.output << 20,
        }
        if self._folder:
            os.chmod(self._folder, 0o777)
        with theirs:
            self._server = start_python(
                *(MAIN, theirs.fileno(), os.getpid(), json.dumps(settings)),
                lean=True,  # every program is forked from what it has in memory
                pass_fds=[theirs.fileno()],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        self._control.settimeout(START_SECONDS)
        self._started = False

    def send_box(self, programs: socket.socket, tests: socket.socket) -> None:
        """Have the server make one more box."""
        with self._lock:
            try:
                if not self._started:
                    if not self._control.recv(1):
                        raise EOFError("its server ended")
                    self._started = True
                socket.send_fds(self._control, [b"!"], [programs.fileno(), tests.fileno()])
            except (OSError, EOFError) as error:
                raise SandboxError(f"the sandbox does not start: {error}") from error

    @contextmanager
    def session(self, limits: Limits) -> Iterator[Session]:
        """Borrow a box; one that failed is not used again."""
        holds = self.wait_for_core()
        session = None
        try:
            with self._lock:
                session = self._idle.pop() if self._idle else None
            session = session or Session(limits, self)
            session.limits = limits
            session._core = holds
            with self._lock:
                self._busy.add(session)
            yield session
            session.wipe()
        except BaseException:
            if session is not None:
                session.close()
                with self._lock:
                    self._busy.discard(session)
            raise
        finally:
            holds.give_back()
        with self._lock:
            self._busy.discard(session)
            self._idle.append(session)

    def wait_for_core(self) -> "_Core":
        """Return the right to use a core, once there is one."""
        self._cores.acquire()
        return _Core(self._cores)

    @property
    def usable(self) -> bool:
        """Whether it belongs to this process, and its server runs."""
        return self._process == os.getpid() and self._server.poll() is None

    def stop_runs(self) -> None:
        """End what runs now; whoever waits for it gets an error."""
        with self._lock:
            for session in self._busy:
                session.close()

    def close(self) -> None:
        """End the server and all boxes."""
        with suppress(OSError):
            self._control.close()
        for session in [*self._idle, *self._busy]:
            session.close()
        if self._process == os.getpid():
            with suppress(subprocess.TimeoutExpired):
                self._server.wait(timeout=2)
            self._server.kill()
            self._server.wait()
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)


class _Core:
    """The right to use a core, which is returned once."""

    def __init__(self, cores: threading.Semaphore | None) -> None:
        self._cores = cores
        self._lock = threading.Lock()

    def give_back(self) -> None:
        with self._lock:
            held, self._cores = self._cores, None
        if held is not None:
            held.release()


_pools: dict[Any, Pool] = {}
_pools_lock = threading.Lock()


def pool_for(isolation: str, packages: tuple[str, ...], limits: Limits) -> Pool:
    """Return the pool of these settings; a new one if there is none, or if its server died."""
    layers = layers_for(isolation)
    key = (tuple(layers), packages, limits.disk, limits.output)
    with _pools_lock:
        pool = _pools.get(key)
        if pool is None or not pool.usable:
            if pool is not None:
                pool.close()
            pool = _pools[key] = Pool(layers, packages, limits)
        return pool


def close_pools() -> None:
    """End every process of every sandbox."""
    with _pools_lock:
        for pool in _pools.values():
            pool.close()
        _pools.clear()


def _after_fork() -> None:
    """Forget the pools of the process that this one was forked from: they are not ours."""
    global _pools_lock
    _pools_lock = threading.Lock()
    for pool in _pools.values():
        for session in [*pool._idle, *pool._busy]:
            for connection in session._connections:
                connection.close()
        pool._control.close()
    _pools.clear()


atexit.register(close_pools)
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_after_fork)
