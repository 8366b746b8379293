"""Every system call that scoring makes fails once, in turn.

A run ends with a clear error or finishes; the next one goes on, and ends with the same bytes.
"""

import errno
import fcntl
import io
import os
import socket
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from plaudit import processes
from plaudit.recipes import Component, Recipe
from plaudit.tables import InputError, StoppedError, score_table
from plaudit.tables import engines as local
from tables import content, jsonl

FORM = Recipe("form", (Component("form", "trl.think_format_reward"),))
LIMIT = 200  # calls of one kind that a run may make


class Fault:
    """Makes the call of this number fail; `broken` is what of a call is done before it fails."""

    def __init__(self, real, code, number, counts=lambda *_: True, broken=None):
        self.real, self.code, self.left = real, code, number
        self.counts, self.broken = counts, broken
        self.happened = False

    def __call__(self, *args, **kwargs):
        if not self.counts(*args):
            return self.real(*args, **kwargs)
        self.left -= 1
        if self.left != -1:
            return self.real(*args, **kwargs)
        self.happened = True
        if self.broken:
            self.broken(*args)
        raise OSError(self.code, os.strerror(self.code))


@pytest.fixture
def table(tmp_path):
    rows = [{"completion": f"<think>{n}</think>", "prompt": "p"} for n in range(300)]
    rows[7]["completion"] = None
    return jsonl(tmp_path / "a.jsonl", rows)


def failing(tmp_path, monkeypatch, table, whole, patch_of):
    """Runs with a fault at each call in turn, each followed by a run without; how many there were.

    patch_of: the number of the call -> what to patch, and with which fault
    """
    for number in range(LIMIT):
        out = tmp_path / f"out-{number}"
        with monkeypatch.context() as patch:
            fault = patch_of(patch, number, out)
            try:
                summary = score_table([table], FORM, out, workers=1)
                assert (summary.rows, summary.rejected) == (299, 1)
            except (InputError, StoppedError) as error:
                assert str(error)
        assert score_table([table], FORM, out, workers=1).rows == 299
        assert content(out) == whole
        if not fault.happened:
            return number
    raise AssertionError("a run makes more calls than that")


@pytest.fixture
def whole(tmp_path, table):
    """The bytes of a run that nothing disturbs."""
    score_table([table], FORM, tmp_path / "whole")
    return content(tmp_path / "whole")


FILES = [
    (os, "open", errno.EMFILE),
    (io, "open", errno.EMFILE),
    (io, "open", errno.ENOMEM),
    (os, "mkdir", errno.ENOSPC),
    (os, "stat", errno.ENOMEM),
    (os, "scandir", errno.EMFILE),
    (os, "fsync", errno.ENOSPC),
    (os, "replace", errno.ENOSPC),
    (os, "unlink", errno.EAGAIN),
    (os, "close", errno.EAGAIN),
    (fcntl, "flock", errno.EAGAIN),
    (fcntl, "flock", errno.ENOLCK),
]


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("module", "name", "code"), FILES, ids=[f"{n}-{errno.errorcode[c]}" for _, n, c in FILES]
)
def test_a_file_that_cannot_be_had_once(tmp_path, monkeypatch, table, whole, module, name, code):
    real = getattr(module, name)

    def patch_of(patch, number, out):
        def counts(*args):
            where = args[0] if args else ""
            return isinstance(where, int) or str(where).startswith(str(tmp_path))

        # A descriptor that is closed with an error is closed all the same.
        fault = Fault(real, code, number, counts, real if name == "close" else None)
        patch.setattr(module, name, fault)
        return fault

    many = failing(tmp_path, monkeypatch, table, whole, patch_of)
    assert many or name in ("unlink", "scandir")


@pytest.mark.usefixtures("in_process")
def test_a_disk_that_is_full_in_the_middle_of_a_file(tmp_path, monkeypatch, table, whole):
    real = io.open

    def patch_of(patch, number, out):
        writing = Fault(None, errno.ENOSPC, number)

        def opened(path, mode="r", *args, **kwargs):
            file = real(path, mode, *args, **kwargs)
            if "w" not in mode or not str(path).startswith(str(tmp_path)):
                return file
            return Full(file, writing)

        patch.setattr(io, "open", opened)
        return writing

    assert failing(tmp_path, monkeypatch, table, whole, patch_of) > 3


class Full(io.BufferedWriter):
    """A file of which one write fails, after half of it."""

    def __init__(self, file, fault):
        super().__init__(file.detach())
        self.fault = fault

    def write(self, data):
        self.fault.real = super().write
        self.fault.broken = lambda data: self.raw.write(data[: len(data) // 2])
        return self.fault(data)


def half_sent(connection, data):
    os.write(connection.fileno(), bytes(data)[: len(data) // 2])


WORKERS = [
    (socket, "socketpair", errno.EMFILE, None),
    (subprocess, "Popen", errno.EAGAIN, None),
    (subprocess, "Popen", errno.ENOMEM, None),
    (Connection, "_send", errno.EPIPE, None),
    (Connection, "_send", errno.ENOMEM, half_sent),
    (Connection, "_recv", errno.EAGAIN, None),
    (local, "wait", errno.ENOMEM, None),
]


@pytest.mark.parametrize(
    ("owner", "name", "code", "broken"),
    [
        pytest.param(
            *(owner, name, code, broken),
            id=f"{name}-{errno.errorcode[code]}{'-half' if broken else ''}",
            marks=[] if name == "Popen" else [pytest.mark.long],
        )
        for owner, name, code, broken in WORKERS
    ],
)
def test_a_worker_that_cannot_be_started_or_reached_once(
    tmp_path, monkeypatch, table, whole, owner, name, code, broken
):
    real = getattr(owner, name)
    before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0

    def patch_of(patch, number, out):
        fault = Fault(real, code, number, broken=broken)
        # A method gets its object only through a function.
        patch.setattr(owner, name, lambda *args, **kwargs: fault(*args, **kwargs))
        return fault

    assert failing(tmp_path, monkeypatch, table, whole, patch_of) >= 1
    if before:
        assert len(list(Path("/proc/self/fd").iterdir())) <= before


IN_WORKER = """
import os
from multiprocessing.connection import Connection

def fails_once(owner, name, code, number):
    real, calls = getattr(owner, name), iter(range(number))
    def failing(*args, **kwargs):
        if next(calls, None) is None and not os.path.exists({mark!r}):
            open({mark!r}, "w").close()
            raise OSError(code, os.strerror(code))
        return real(*args, **kwargs)
    setattr(owner, name, failing)

fails_once({owner}, {name!r}, {code}, {number})
"""


class Mark:
    """Whether a fault has happened in another process."""

    def __init__(self, file):
        self.file = file

    @property
    def happened(self):
        return self.file.exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("owner", "name", "code"),
    [
        ("Connection", "_recv", errno.ENOMEM),
        ("Connection", "_send", errno.EPIPE),
        ("os", "dup2", errno.EMFILE),
    ],
)
def test_a_worker_whose_own_calls_fail_once(tmp_path, monkeypatch, table, whole, owner, name, code):
    real = processes.PROGRAM

    def patch_of(patch, number, out):
        mark = tmp_path / f"mark-{number}"
        settings = {"owner": owner, "name": name, "code": code, "number": number}
        start = IN_WORKER.format(mark=str(mark), **settings)
        path, *rest = real.partition("importlib.import_module")
        patch.setattr(processes, "PROGRAM", path + start + "".join(rest))
        return Mark(mark)

    assert failing(tmp_path, monkeypatch, table, whole, patch_of) >= 1


def test_too_little_memory_is_said(tmp_path, monkeypatch, table):
    def hungry(*_):
        raise MemoryError

    monkeypatch.setattr(Connection, "recv", hungry)
    with pytest.raises(StoppedError, match=r"there is too little memory\. What was written is"):
        score_table([table], FORM, tmp_path / "out", workers=1)


@pytest.mark.long
def test_a_run_out_of_descriptors_ends_and_is_resumed(tmp_path, table, whole):
    """With a real limit, which is too low for a worker, and then is not."""
    script = tmp_path / "run.py"
    script.write_text(
        "import resource, sys\n"
        "from plaudit.cli import main\n"
        "import plaudit.cli.score\n"
        "low, high = int(sys.argv.pop(1)), resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (low, high))\n"
        "sys.exit(main())\n"
    )
    recipe = tmp_path / "form.toml"
    recipe.write_text(FORM.to_toml())
    asked = ["score", table, "--recipe", recipe, "--out", tmp_path / "out", "--quiet"]
    codes = []
    # Tracing for coverage opens files of its own.
    untraced = {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE")}
    for limit in (*range(3, 14), 256):
        ended = subprocess.run(
            [sys.executable, script, str(limit), *map(str, asked)],
            capture_output=True,
            text=True,
            timeout=120,
            env=untraced,
        )
        codes.append(ended.returncode)
        assert "Traceback" not in ended.stderr, (limit, ended.stderr)
    assert codes[0] in (1, 2)
    assert codes[-1] == 3
    assert content(tmp_path / "out") == whole
