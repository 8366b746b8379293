"""Each call to the system that a server makes fails once: the request ends, the next one works."""

import asyncio
import errno
import os
import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest

from plaudit.recipes import load
from plaudit.serve import ServerLimits, serving
from served import until

# Large enough to be read, and answered, in threads.
ROWS = 600
BATCH = {"completions": [r"\boxed{4}" + " " * 1_000] * ROWS, "columns": {"solution": ["4"] * ROWS}}
LOOPS = ("plaudit-serve", "plaudit-scorer")


class Fault:
    """Makes one call of a function fail, of those in the server's own threads."""

    def __init__(self, monkeypatch, owner, name, error):
        self._real, self._error = getattr(owner, name), error
        self._left, self.fired = None, False
        this = self

        def called(*args, **kwargs):
            if threading.current_thread().name.startswith(LOOPS) and this._falls():
                raise this._error
            return this._real(*args, **kwargs)

        monkeypatch.setattr(owner, name, called)

    def arm(self, after):
        """Fail the call after so many good ones."""
        self._left, self.fired = after, False

    def disarm(self):
        """Fail no more: the server may stop in peace."""
        self._left = None

    def _falls(self):
        if self._left is None:
            return False
        self._left -= 1
        if self._left >= 0:
            return False
        self._left, self.fired = None, True
        return True


def codes(*numbers):
    return [OSError(number, os.strerror(number)) for number in numbers]


NO_THREAD = RuntimeError("can't start new thread")
NUMBERS = {
    "accept": (
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ENOBUFS,
        errno.ECONNABORTED,
        errno.EAGAIN,
    ),
    "recv": (errno.ECONNRESET, errno.ENOMEM, errno.EAGAIN, errno.EINTR, errno.ETIMEDOUT),
    "send": (errno.EPIPE, errno.ECONNRESET, errno.EAGAIN, errno.ENOBUFS, errno.ENOMEM),
    "setsockopt": (errno.EINVAL, errno.ENOMEM),
    "shutdown": (errno.ENOTCONN,),
}
FAULTS = {
    f"{name} {errno.errorcode[number]}": (socket.socket, name, *codes(number))
    for name, numbers in NUMBERS.items()
    for number in numbers
}
FAULTS["start none"] = (threading.Thread, "start", NO_THREAD)
# `make test` tries one of each call, `make test-long` all.
BRIEF = {"start none", *(f"{name} {errno.errorcode[n[0]]}" for name, n in NUMBERS.items())}


def ask(url, timeout=30):
    """The totals, or None where the connection or the server failed."""
    try:
        answer = httpx.post(f"{url}/v1/score", json=BATCH, timeout=timeout)
    except httpx.ReadTimeout:
        raise
    except httpx.TransportError:
        return None
    if answer.status_code == 200:
        return [row["total"] for row in answer.json()["rows"]]
    assert answer.status_code >= 500
    assert answer.json()["request"]
    return None


def refuse(url):
    """A request whose body is never sent: its connection is closed by the server."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n")
        with suppress(ConnectionResetError):
            while connection.recv(65536):
                pass


@pytest.mark.parametrize(
    "fault",
    [name if name in BRIEF else pytest.param(name, marks=pytest.mark.long) for name in FAULTS],
)
def test_a_call_that_fails_costs_at_most_one_request(monkeypatch, fault):
    failing = Fault(monkeypatch, *FAULTS[fault])
    for after in range(3):
        with serving(load("trl-math"), ServerLimits(deadline=3, io_timeout=1)) as url:
            failing.arm(after)
            assert ask(url) in (None, [1.0] * ROWS)
            refuse(url)
            until(lambda: ask(url) == [1.0] * ROWS)
            assert failing.fired or after
            failing.disarm()


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("number", [errno.ENOBUFS, errno.ENOMEM])
def test_a_loop_whose_wake_up_fails_looks_for_work_all_the_same(monkeypatch, loop, number):
    """asyncio swallows it when a byte that should wake a loop cannot be sent.

    The server answers with what was scored, and not with 504 at the request's deadline.
    """
    real, failed = socket.socket.send, []

    def send(self, *args):
        wakes = self.family == socket.AF_UNIX and threading.current_thread().name == loop
        if wakes and armed.is_set() and not failed:
            failed.append(self)
            raise OSError(number, os.strerror(number))
        return real(self, *args)

    armed = threading.Event()
    monkeypatch.setattr(socket.socket, "send", send)
    with serving(load("trl-math"), ServerLimits(deadline=20)) as url:
        until(lambda: httpx.get(f"{url}/readyz", timeout=60).status_code == 200)
        armed.set()
        while not failed:  # a batch that is scored at once wakes nobody
            assert ask(url, timeout=60) == [1.0] * ROWS


def test_a_scorer_that_cannot_start_is_started_again(monkeypatch):
    failing = Fault(monkeypatch, asyncio, "new_event_loop", codes(errno.EMFILE)[0])
    failing.arm(0)
    with serving(load("trl-math")) as url:
        until(lambda: httpx.get(f"{url}/readyz", timeout=60).status_code == 200)
        assert failing.fired
        assert ask(url) == [1.0] * ROWS
