"""A process that has programs, or tests, run for one caller, one after the other, and watches them.

    in:  {"do": "script", "source": …, "input": …}      -> an outcome, with its stdout
         {"do": "open", "source": …, "name": …}          -> {"kind": "ready", …}, then
         {"do": "call", "data": …}                        -> {"kind": …, "data": …}
         {"do": "command", "arguments": […], "input": …}  -> an outcome
         {"do": "serve", "source": …}                     -> an outcome, once the tests are done
         {"do": "tests", …}                               -> what the tests report, an outcome
         {"do": "wipe"}

It never sees what a result is compared with. The process that runs tests belongs to another box, so
that no program is forked from memory in which tests lie; it has the same files.

Boxes are forked from a server, which is started by exec, so it never sees the trainer's `__main__`,
threads, memory or CUDA. It has imported Python and the packages of programs. Each message asks for
one more pair of boxes, and has two sockets attached: one to the box that runs programs, one to the
box that runs tests. Both end when their socket is closed.

    server -> namespaces, file system -> box -> fork server, process 1 of a namespace -> programs
                                      -> box -> fork server, process 1 of another -> tests
"""

import gc
import importlib
import json
import logging
import math
import os
import select
import shutil
import signal
import socket
import struct
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from plaudit.processes import die_with_parent
from plaudit.sandbox import _child, _layers
from plaudit.sandbox._border import LENGTH
from plaudit.sandbox._fork_server import (
    ASK,
    CREDENTIALS,
    END,
    REQUEST,
    STARTED,
    USED,
    ProgramForkServer,
)

SLOW = 0.3  # seconds after which the caller hears that a run takes long
CHECK = 0.05  # seconds between two looks at the CPU time
IDLE = 0.1  # a run that uses less than this share of a core is waiting for something
BUSY_WALL = 4.0  # the wall clock may show this many times the deadline if a run is busy
ERRORS_KEPT = 4000
REPORT_KEPT = 1 << 20
NEXT, WORK, DONE = b"!", b".", b"d"  # notes: the next test begins, tests are at work, or done
NOTE_AFTER = 0.01  # seconds after which a box notes again that the next test begins
RUNNER_USES = 100  # tests that one process runs


class Gone(Exception):  # noqa: N818
    """The caller is gone."""


class WatchedProcess:
    """A process that was forked, what it wrote, and what it used."""

    def __init__(
        self, process: int, readers: dict[str, int], seconds: float, patience: float
    ) -> None:
        self.process = process
        self.patience = patience  # how many deadlines it may wait for something
        self.handle = os.pidfd_open(process) if hasattr(os, "pidfd_open") else -1
        self.readers = {descriptor: name for name, descriptor in readers.items()}
        self.written: dict[str, bytearray] = {name: bytearray() for name in readers}
        self.seconds = seconds
        self.start = time.monotonic()
        self.used_before = 0.0
        self.waits_since, self.waits_used = self.start, 0.0
        self.slow_at = self.start + SLOW
        self.why = ""

    def cpu(self) -> float:
        """Return the CPU seconds that it has used."""
        try:
            return time.clock_gettime(~self.process << 3 | 2)
        except OSError:
            return 0.0

    def restart_clock(self) -> None:
        """Count time from now on."""
        self.used_before, self.start = self.cpu(), time.monotonic()
        self.note_work()

    def note_work(self) -> None:
        """Count from now on how long it waits: what it waits for is at work."""
        self.waits_since, self.waits_used = time.monotonic(), self.cpu()

    def overdue(self) -> str:
        """Return which deadline has passed, if one has."""
        cpu, now = self.cpu(), time.monotonic()
        if cpu - self.used_before > self.seconds:
            return "time"
        waited = now - self.waits_since
        idle = cpu - self.waits_used < IDLE * waited and waited > self.patience * self.seconds + 1
        return "wall" if idle or now - self.start > BUSY_WALL * self.seconds + 1 else ""


class SandboxBox:
    """Serves one caller until that closes its socket.

    forks: leads to the process that forks programs, or tests
    """

    def __init__(
        self,
        caller: socket.socket,
        other: socket.socket,
        forks: socket.socket,
        details: dict[str, Any],
        for_programs: bool,
    ) -> None:
        self._caller = caller
        self._other = other
        self._forks = forks
        self._details = details
        self._layers: list[str] = details["layers"]
        self._for_programs = for_programs
        self._run: WatchedProcess | None = None
        self._calls: socket.socket | None = None
        self._dirty = False
        self._runner: WatchedProcess | None = None  # a process that runs tests, and may run more
        self._runner_uses = 0
        self._tasks = caller
        self._noted = 0.0  # when the other box was told that the next test begins
        self._folder = details["folder"]
        self._folders = 0  # how many folders there were, modulo 256
        _layers.hide_memory()

    def run(self) -> None:
        """Do what the caller asks for, until it is gone."""
        self._send({"started": os.getpid()})
        with suppress(Gone):
            while True:
                message = self._receive()
                getattr(self, f"_do_{message['do']}")(message)
        with suppress(OSError):
            self._forks.sendall(END)
            self._forks.recv(USED.size)

    # -- What a caller may ask for

    def _do_script(self, message: dict[str, Any]) -> None:
        job = {"do": "script", "source": message["source"]}
        self._run_alone(job, message)

    def _do_command(self, message: dict[str, Any]) -> None:
        """Run an installed program, such as a compiler, or one that was compiled."""
        for name, content in message.get("files", {}).items():
            path = os.path.join(self._folder, name)
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(content)
            os.chmod(path, 0o666)
        environment = {"PATH": message["path"], "HOME": self._folder, "TMPDIR": self._folder}
        environment |= message.get("environment", {})
        job = {"do": "command", "arguments": message["arguments"], "environment": environment}
        self._dirty = True
        self._run_alone(job, message)

    def _run_alone(self, job: dict[str, Any], message: dict[str, Any]) -> None:
        run = self._start(job, message, message["input"].encode("utf-8", "surrogatepass"))
        self._watch(run)
        self._send(self._finish(run))

    def _do_open(self, message: dict[str, Any]) -> None:
        here, there = socket.socketpair()
        job = {"do": "open", "source": message["source"], "name": message["name"]}
        self._run = self._start(job, message, b"", there.fileno())
        there.close()
        self._calls = here
        self._send(self._answer(self._run))

    def _do_call(self, message: dict[str, Any]) -> None:
        if self._run is None or self._calls is None:
            self._send({"kind": "ended", "outcome": None})
            return
        data = message["data"].encode("utf-8", "surrogatepass")
        self._run.restart_clock()
        self._calls.settimeout(self._run.seconds)
        with suppress(OSError):
            self._calls.sendall(LENGTH.pack(len(data)) + data)
        self._calls.settimeout(None)
        self._send(self._answer(self._run))

    def _do_serve(self, message: dict[str, Any]) -> None:
        """Start a program, pass a socket to it to the other box, and watch it meanwhile."""
        here, there = socket.socketpair()
        job = {"do": "serve", "source": message["source"]}
        run = self._start(job, message, b"", there.fileno())
        there.close()
        socket.send_fds(self._other, [bytes([self._folders])], [here.fileno()])
        here.close()
        notes = b""
        while DONE not in notes and not run.why:
            ready = self._wait(run, self._other)
            if self._other in ready:
                notes = self._take_notes()
                if NEXT in notes:
                    run.restart_clock()
                else:
                    run.note_work()
            if self._has_ended(run, ready):
                break
            run.why = run.why or run.overdue()
        outcome = self._finish(run)
        while DONE not in notes:
            notes = self._take_notes()
        self._send(outcome)
        self._do_wipe(message)

    def _do_tests(self, message: dict[str, Any]) -> None:
        note, descriptors, _, _ = socket.recv_fds(self._other, 1, 1)
        if not descriptors:
            raise Gone
        self._folders = note[0]
        outcome = self._outcome_of_tests(message, descriptors[0])
        self._other.sendall(DONE)
        self._send(outcome)

    def _outcome_of_tests(self, message: dict[str, Any], connection: int) -> dict[str, Any]:
        is_simple = _child.leaves_nothing(message["task"])
        if not is_simple or self._runner_uses >= RUNNER_USES:
            self._end_runner()
        run, self._runner = self._runner, None
        is_used = run is not None
        if run is None:
            run = self._start_runner(message)
        data = json.dumps(message["task"]).encode("ascii")
        with suppress(OSError):
            socket.send_fds(self._tasks, [LENGTH.pack(len(data))], [connection])
            self._tasks.sendall(data)
        os.close(connection)
        run.restart_clock()
        run.written["report"].clear()
        run.slow_at = run.start + SLOW
        done = self._watch(run, until=b'["done",""]\n')
        if done and is_simple:
            self._runner, self._runner_uses = run, self._runner_uses + 1
            used = {"cpu": run.cpu() - run.used_before, "seconds": time.monotonic() - run.start}
            return {"end": "exit", "report": _text(run.written["report"]), **used}
        outcome = self._finish(run)
        if is_used and not done:  # what it ran before may be why
            outcome["end"] = "again"
        return outcome | ({"end": "exit", "code": 0} if done else {})

    def _start_runner(self, message: dict[str, Any]) -> WatchedProcess:
        """Start a process that runs tests, one after the other if they leave nothing behind."""
        reader, writer = os.pipe()
        self._tasks, there = socket.socketpair()
        limits = message | {"patience": BUSY_WALL, "tests": message["tests"] + RUNNER_USES}
        run = self._start({"do": "tests"}, limits, b"", there.fileno(), writer)
        os.close(writer)
        there.close()
        run.readers[reader] = "report"
        run.written["report"] = bytearray()
        self._runner_uses = 0
        return run

    def _end_runner(self) -> None:
        run, self._runner = self._runner, None
        if run is not None:
            self._finish(run)

    def _do_wipe(self, message: dict[str, Any]) -> None:
        """End the program, and remove its files."""
        if self._run is not None:
            self._finish(self._run)
        if "namespaces" in self._layers:
            with suppress(OSError):
                if self._dirty or os.listdir(self._folder):
                    _layers.unmount_folder()
                    _layers.mount_folder(self._details["disk"])
                    self._folders = (self._folders + 1) % 256
        else:
            _remove_content(self._folder)
        self._dirty = False

    def _take_notes(self) -> bytes:
        """Read what the other box notes about its tests."""
        notes = self._other.recv(4096)
        if not notes:
            raise Gone
        return notes

    # -- Processes

    def _start(
        self, job: dict[str, Any], limits: dict[str, Any], text: bytes, *kept: int
    ) -> WatchedProcess:
        """Have a restricted process forked, and have it do a job."""
        pipes = {name: os.pipe() for name in ("stdout", "stderr")}
        theirs = [_file_with(text), *(writer for _, writer in pipes.values())]
        theirs.append(_file_with(json.dumps(job).encode("ascii")))
        request = REQUEST.pack(
            limits["seconds"] * limits.get("tests", 1),
            *(limits["memory"], limits["processes"], self._folders),
        )
        try:
            socket.send_fds(self._forks, [request], [*theirs, *kept])
            data, details, _, _ = self._forks.recvmsg(
                STARTED.size, socket.CMSG_SPACE(CREDENTIALS.size)
            )
            (process,) = STARTED.unpack(data)
        except (OSError, struct.error) as error:
            raise Gone from error
        if "namespaces" in self._layers:
            process = CREDENTIALS.unpack(details[0][2])[0]
        for one in theirs:
            os.close(one)
        readers = {name: reader for name, (reader, _) in pipes.items()}
        run = WatchedProcess(process, readers, limits["seconds"], limits.get("patience", 1.0))
        if self._for_programs:
            self._run = run
        return run

    def _wait(self, run: WatchedProcess, *others: Any) -> list[Any]:
        """Read what a process writes; return what else there is to read."""
        waiting = [*run.readers, self._caller, *others]
        waiting += [run.handle] if run.handle >= 0 else []
        ready, _, _ = select.select(waiting, [], [], CHECK)
        for descriptor in ready:
            if descriptor in run.readers:
                self._read(run, descriptor)
        if self._caller in ready:
            raise Gone
        return ready

    def _watch(self, run: WatchedProcess, until: bytes = b"") -> bool:
        """Read what a process writes until it ends, or until it meets a limit.

        until: what ends its report if it does not end itself; True if that came
        """
        used = run.cpu()
        while not run.why:
            if until and run.cpu() > used + IDLE * CHECK:
                used = run.cpu()
                self._note(WORK)
            ready = self._wait(run)
            if until and run.written["report"].endswith(until):
                return True
            if self._has_ended(run, ready):
                return False
            run.why = run.why or run.overdue()
            self._tell_if_slow(run)
        return False

    def _note(self, note: bytes) -> None:
        with suppress(OSError):
            self._other.send(note, socket.MSG_DONTWAIT)

    def _answer(self, run: WatchedProcess) -> dict[str, Any]:
        """Return what a program that is called sends, or why it sends nothing."""
        assert self._calls is not None
        data = bytearray()
        length = LENGTH.size
        while not run.why:
            ready = self._wait(run, self._calls)
            if self._calls in ready:
                part = self._calls.recv(min(1 << 20, length - len(data)))
                data += part
                if length == LENGTH.size == len(data):
                    length += LENGTH.unpack(data)[0]
                    if length > _child.MOST_ANSWER:
                        run.why = "output"
                        break
                if len(data) == length:
                    kind, _, body = bytes(data[LENGTH.size :]).partition(b"\n")
                    text = body.decode("utf-8", "surrogateescape")
                    used = {"cpu": run.cpu() - run.used_before}
                    return {"kind": kind.decode("ascii", "replace"), "data": text, **used}
                if part:
                    continue
                break
            if self._has_ended(run, ready):
                break
            run.why = run.why or run.overdue()
            self._tell_if_slow(run)
        return {"kind": "ended", "outcome": self._finish(run)}

    def _tell_if_slow(self, run: WatchedProcess) -> None:
        if time.monotonic() > run.slow_at:
            run.slow_at = math.inf
            self._send({"slow": True})

    def _has_ended(self, run: WatchedProcess, ready: list[Any]) -> bool:
        if run.handle >= 0:
            return run.handle in ready
        self._forks.sendall(ASK)
        return self._forks.recv(1) == b"1"

    def _read(self, run: WatchedProcess, descriptor: int) -> None:
        try:
            data = os.read(descriptor, 1 << 18)
        except OSError:
            data = b""
        name = run.readers[descriptor]
        if not data:
            os.close(descriptor)
            del run.readers[descriptor]
            return
        kept = run.written[name]
        kept += data
        if name == "report":
            run.restart_clock()
            if run.start > self._noted + NOTE_AFTER:
                self._noted = run.start
                self._note(NEXT)
        if name == "stderr":
            del kept[:-ERRORS_KEPT]
        elif len(kept) > (REPORT_KEPT if name == "report" else self._details["output"]):
            run.why = "output"

    def _finish(self, run: WatchedProcess) -> dict[str, Any]:
        """End a process and all that it started; return what is known of it."""
        seconds = time.monotonic() - run.start
        now = select.select([run.handle], [], [], 0)[0] if run.handle >= 0 else []
        if not run.why and self._has_ended(run, now):
            # What it wrote before it ended is still in the pipes.
            for descriptor in list(run.readers):
                os.set_blocking(descriptor, False)
                for _ in range(1000):
                    if (
                        descriptor not in run.readers
                        or not select.select([descriptor], [], [], 0)[0]
                    ):
                        break
                    self._read(run, descriptor)
        try:
            self._forks.sendall(END)
            status, cpu, memory = USED.unpack(self._forks.recv(USED.size))
        except (OSError, struct.error) as error:
            raise Gone from error
        for descriptor in run.readers:
            os.close(descriptor)
        if run.handle >= 0:
            os.close(run.handle)
        if self._calls is not None:
            self._calls.close()
        self._run = self._calls = None
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGXCPU:
            run.why = run.why or "time"
        return {
            "end": run.why or ("exit" if code >= 0 else "signal"),
            "code": code,
            **{name: _text(kept) for name, kept in run.written.items()},
            "cpu": cpu,
            "seconds": seconds,
            "memory": memory,
        }

    # -- Messages

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode("ascii")
        try:
            self._caller.sendall(LENGTH.pack(len(data)) + data)
        except OSError as error:
            raise Gone from error

    def _receive(self) -> dict[str, Any]:
        try:
            data = _child.receive(self._caller)
        except OSError as error:
            raise Gone from error
        if data is None:
            raise Gone
        message: dict[str, Any] = json.loads(data)
        return message


def _text(data: bytearray) -> str:
    return data.decode("utf-8", "surrogateescape")


def _file_with(content: bytes) -> int:
    """Return a descriptor from which the content can be read."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("input")
    else:
        import tempfile

        descriptor, path = tempfile.mkstemp()
        os.unlink(path)
    while content:
        content = content[os.write(descriptor, content) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _remove_content(folder: str) -> None:
    import shutil

    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                with suppress(OSError):
                    os.unlink(entry.path)


# --- the server -----------------------------------------------------------------------------------

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main(descriptor: int, parent: int, settings: str) -> None:
    """Import, then make boxes until the caller is gone."""
    control = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # boxes that end are not waited for
    die_with_parent(parent)
    os.environ.clear()
    os.environ.update(dict.fromkeys(THREADS, "1"))  # a thread of BLAS would be lost in a fork
    details = json.loads(settings)
    logging.disable()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _child.warm_up()
        for name in details["packages"]:
            with suppress(ImportError):
                importlib.import_module(name)
    logging.disable(logging.NOTSET)
    gc.collect()
    gc.freeze()
    control.sendall(b"!")
    while True:
        try:
            data, descriptors, _, _ = socket.recv_fds(control, 1, 2)
        except OSError:
            return
        if not data:
            return
        if len(descriptors) == 2:
            _fork(_make_box, control, details, descriptors)
        for one in descriptors:
            os.close(one)


def _fork(function: Any, *arguments: Any) -> int:
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        function(*arguments)
        code = 0
    finally:
        os._exit(code)


def _make_box(control: socket.socket, details: dict[str, Any], descriptors: list[int]) -> None:
    """Set up what the two processes of a box share, and wait until they end."""
    control.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    server = os.getppid()
    _layers.die_with(lambda: os.getppid() != server)
    layers: list[str] = details["layers"]
    # The process itself, as long as it lives, is what makes its user id unlike any other's.
    user = _layers.UNUSED_USER + os.getpid() if os.getuid() == 0 else None
    try:
        if "namespaces" in layers:
            _layers.enter_namespaces()
            _layers.build_root(details["disk"])
            details["folder"] = _layers.FOLDER
        else:
            if user is not None and not _readable_by_others():
                user = None
            details["folder"] = os.path.join(details["folder"], str(os.getpid()))
            os.mkdir(details["folder"])
            os.chmod(details["folder"], 0o777)  # the user of its programs is another
    except OSError as error:
        _refuse(descriptors, str(error))
        return
    to_program, to_tests = socket.socketpair()
    roles = [(descriptors[0], to_tests), (descriptors[1], to_program)]
    ended = [
        _fork(_run_box, details, user, descriptor, other, role == 0, descriptors)
        for role, (descriptor, other) in enumerate(roles)
    ]
    for one in descriptors:
        os.close(one)
    to_program.close()
    to_tests.close()
    for process in ended:
        os.waitpid(process, 0)
    if "namespaces" not in layers:
        shutil.rmtree(details["folder"], ignore_errors=True)


def _run_box(
    details: dict[str, Any],
    user: int | None,
    descriptor: int,
    other: socket.socket,
    for_programs: bool,
    descriptors: list[int],
) -> None:
    """Fork a process that forks others, in a namespace of its own if there are some."""
    caller = socket.socket(fileno=os.dup(descriptor))
    for one in descriptors:
        os.close(one)
    parent = os.getppid()
    _layers.die_with(lambda: os.getppid() != parent)
    layers: list[str] = details["layers"]
    forks, theirs = socket.socketpair()
    if "namespaces" in layers:
        _layers.enter_process_namespace()
        forks.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    _fork(_serve_forks, theirs, details, user, for_programs)
    theirs.close()
    SandboxBox(caller, other, forks, details, for_programs).run()


def _serve_forks(
    control: socket.socket, details: dict[str, Any], user: int | None, for_programs: bool
) -> None:
    _layers.die_with(lambda: False)
    if "namespaces" not in details["layers"]:
        _layers.adopt_orphans()
    elif for_programs:
        _layers.mount_processes()
    ProgramForkServer(control, details["layers"], details["folder"], user, details["disk"]).run()


def _readable_by_others() -> bool:
    """Whether a user that owns nothing can read Python and its packages."""
    for path in _layers.readable_paths(languages=False):
        for part in [Path(path), *Path(path).parents]:
            with suppress(OSError):
                if not part.stat().st_mode & 0o005:
                    return False
    return True


def _refuse(descriptors: list[int], why: str) -> None:
    for descriptor in descriptors:
        with socket.socket(fileno=descriptor) as connection, suppress(OSError):
            data = json.dumps({"failed": why}).encode()
            connection.sendall(LENGTH.pack(len(data)) + data)
