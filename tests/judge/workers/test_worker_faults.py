"""Every system call that the judge makes fails once, in turn, on either side of its sockets.

The call in which it fails ends with the right verdicts, or with an error that says why. The next
call has the right verdicts, nothing is left open, and no process is left behind. All of them take
minutes; `make test` has one fault of each kind: at the start of the fork server, of a worker, and
when something is sent or received. A thread that does not start is in test_judge.py.
"""

import errno
import itertools
import os
import selectors
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from running_processes import children_of, until

from plaudit import processes
from plaudit.judge import Judge, Pair, Settings
from plaudit.judge.workers import _fork_server

TROUBLES = ("EMFILE", "ENOMEM", "EPIPE", "EAGAIN")
RIGHT = ["equal"] * 3
DEADLINE = 30.0  # seconds
A_HANG = DEADLINE + 1


def trouble_of(name):
    number = getattr(errno, name)
    return OSError(number, os.strerror(number))


def symbolic(letters):
    return [Pair(rf"$\sin^2 {letter} + \cos^2 {letter}$", "1") for letter in letters]


def verdicts(judge, letters):
    """The statuses, or the error; but never nothing."""
    results = []

    def run():
        try:
            results.append([v.status.value for v in judge.judge(symbolic(letters))])
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(A_HANG)
    assert results, "it hangs"
    return results[0]


def descriptors():
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def fails_once(monkeypatch, owner, name, error, call):
    """Have a function raise at one of its calls."""
    real, calls, lock = getattr(owner, name), itertools.count(), threading.Lock()

    def wrapped(*arguments, **named):
        with lock:
            now = next(calls) == call
        if now:
            raise error
        return real(*arguments, **named)

    monkeypatch.setattr(owner, name, wrapped)
    return lambda: next(calls) > call


# What the trainer's process calls, and how often when it starts workers and judges.
HERE = [
    (socket, "socketpair", 4),
    (socket, "send_fds", 2),
    (socket.socket, "send", 2),
    (socket.socket, "sendall", 2),
    (socket.socket, "recv", 6),
    (socket.socket, "settimeout", 1),
    (socket.socket, "setblocking", 1),
    (_fork_server, "TemporaryFile", 1),
    (subprocess, "Popen", 1),
    (selectors, "DefaultSelector", 1),
    (selectors.DefaultSelector, "register", 4),
    (selectors.DefaultSelector, "select", 6),
    (time, "clock_gettime", 2),
]
QUICK_HERE = ("Popen", "sendall", "recv")
QUICK_THERE = ("os.fork", "socket.socket.recv")


def long_unless(quick):
    return [] if quick else [pytest.mark.long]


@pytest.mark.parametrize(
    ("owner", "name", "call", "trouble"),
    [
        pytest.param(
            *(owner, name, call % calls, TROUBLES[call % 4]),
            marks=long_unless(name in QUICK_HERE and call == 0),
        )
        for owner, name, calls in HERE
        for call in range(max(calls, 4))
    ],
)
def test_a_fault_in_the_trainers_process(monkeypatch, owner, name, call, trouble):
    before, children = descriptors(), children_of(os.getpid())
    judge = Judge(Settings(workers=2, deadline=DEADLINE))
    error = trouble_of(trouble)
    with monkeypatch.context() as patched:
        happened = fails_once(patched, owner, name, error, call)
        first = verdicts(judge, "xyz")
        assert happened()
    assert_ended_well(first, str(error))
    assert verdicts(judge, "xyzuvw") == 2 * RIGHT
    assert judge.trouble is None
    judge.close()
    until(lambda: (descriptors(), children_of(os.getpid())) == (before, children))


def assert_ended_well(result, why):
    if isinstance(result, Exception):
        assert isinstance(result, RuntimeError)
        assert str(result).startswith("the judge")
        assert why in str(result)
    else:
        assert result == RIGHT


# The same in the fork server, and in the workers that are forked from it: once in all of them.
THERE = [
    ("os.fork", 2),
    ("os.close", 1),
    ("os.dup2", 1),
    ("os.open", 1),
    ("os.pread", 3),
    ("os.waitpid", 1),
    ("socket.recv_fds", 2),
    ("socket.socketpair", 1),
    ("socket.socket.recv", 2),
    ("socket.socket.sendall", 3),
    ("select.select", 3),
    ("resource.setrlimit", 2),
    ("signal.setitimer", 2),
]
IN_THE_FORK_SERVER = """
import os, resource, select, signal, socket
real, calls, marker = {path}, [], os.open

def first(marked=os.open, done=os.close):
    try:
        done(marked({marker!r}, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    return True

def wrapped(*arguments, **named):
    calls.append(1)
    if len(calls) > {call} and first():
        raise OSError({number}, os.strerror({number}))
    return real(*arguments, **named)

{path} = wrapped
"""


@pytest.mark.parametrize(
    ("path", "call", "trouble"),
    [
        pytest.param(
            *(path, call % calls, TROUBLES[call % 4]),
            marks=long_unless(path in QUICK_THERE and call == 0),
        )
        for path, calls in THERE
        for call in range(max(calls, 4))
    ],
)
def test_a_fault_in_the_fork_server_or_a_worker(monkeypatch, tmp_path, path, call, trouble):
    before, children = descriptors(), children_of(os.getpid())
    marker, error = tmp_path / "it failed", trouble_of(trouble)
    wrapping = IN_THE_FORK_SERVER.format(
        path=path, call=call, marker=str(marker), number=error.errno
    )
    monkeypatch.setattr(processes, "PROGRAM", wrapping + processes.PROGRAM)
    judge = Judge(Settings(workers=2, deadline=DEADLINE))
    first = verdicts(judge, "xyz")
    if path == "os.waitpid":  # it is called once a worker has ended
        os.kill(next(iter(judge._pool._dispatcher._workers.values())).process, 9)
        until(marker.exists)
    assert marker.exists()
    if first != RIGHT and isinstance(first, list):
        assert set(first) == {"equal", "error"}
    else:
        assert_ended_well(first, str(error))
    assert verdicts(judge, "xyzuvw") == 2 * RIGHT
    assert judge.trouble is None
    judge.close()
    until(lambda: (descriptors(), children_of(os.getpid())) == (before, children))


OUT_OF_DESCRIPTORS = r"""
import faulthandler, os, resource
faulthandler.dump_traceback_later(90, exit=True)
from plaudit.judge import Judge, Pair, Settings

def statuses(letters):
    pairs = [Pair(rf"$\sin^2 {letter} + \cos^2 {letter}$", "1") for letter in letters]
    try:
        return [verdict.status.value for verdict in judge.judge(pairs)]
    except RuntimeError as error:
        return str(error)

judge, (most, hard) = Judge(Settings(workers=2)), resource.getrlimit(resource.RLIMIT_NOFILE)
if STARTED:
    print(statuses("x"))
taken = len(os.listdir("/proc/self/fd")) - 1
for spare in range(12):
    resource.setrlimit(resource.RLIMIT_NOFILE, (taken + spare, hard))
    told = statuses("uvw")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    # Where not even a module can be read, each row is an error that says so.
    print("Too many open files" in told or {*told} <= {"equal", "error"} or told, flush=True)
    print(statuses("uvw"), judge.trouble)
    if not STARTED:
        judge.close()
"""


@pytest.mark.long
@pytest.mark.parametrize("started", [False, True])
def test_a_process_that_has_no_descriptors_left(started):
    """From none to a dozen of them are left; then they are back."""
    script = f"STARTED = {started}\n{OUT_OF_DESCRIPTORS}"
    environment = {name: value for name, value in os.environ.items() if "COV" not in name}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment)
    assert done.returncode == 0, done.stderr
    # The log has the traceback of a row that is an error, and nothing else.
    assert not done.stderr or done.stderr.startswith("An error in plaudit: the row has no value")
    lines = done.stdout.splitlines()
    assert lines[started:] == ["True", "['equal', 'equal', 'equal'] None"] * 12
