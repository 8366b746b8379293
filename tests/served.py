"""A server in a process of its own, as a person starts it, and batches to send to servers."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

# Neither is decided without a CAS: the one is quick, the other runs over every deadline.
SYMBOLIC = r"It is \boxed{{{n}y + \sin({n}x)}}."
SYMBOLIC_GOLD = r"$\sin({n}x) + {n}y$"
POISON = r"It is \boxed{{\sum_{{k=1}}^{{{n}}} k^{{k}}}}."


def symbolic(count, start=2):
    """A batch that needs the judge's workers; each answer is right."""
    numbers = range(start, start + count)
    golds = [SYMBOLIC_GOLD.format(n=n) for n in numbers]
    return {
        "completions": [SYMBOLIC.format(n=n) for n in numbers],
        "columns": {"solution": golds},
    }


def poison(count, start=90_000):
    """A batch of which each row takes all the time that the judge gives it."""
    completions = [POISON.format(n=n) for n in range(start, start + count)]
    return {"completions": completions, "columns": {"solution": [r"$\sin x + 1$"] * count}}


def all_but_one_long(cases):
    """Parameters of a test: one is tried by `make test`, all of them by `make test-long`."""
    first, *others = cases
    return [first, *(pytest.param(case, marks=pytest.mark.long) for case in others)]


class Served:
    """A process that serves: its address, its log, and how it ended."""

    def __init__(self, process, url, log):
        self.process, self.url, self._log = process, url, log

    def log(self):
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(timeout=60)

    def workers(self):
        """The judge's workers: the children of the fork server, which is the server's child."""
        return [pid for fork_server in children(self.process.pid) for pid in children(fork_server)]


def children(pid):
    found = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, listed.read_text().split())
    return found


@contextmanager
def served(folder, *arguments, recipe="trl-math", ready=True, descriptors=None, **environment):
    """`plaudit serve` on a free port; it is stopped with the block.

    descriptors: how many files the server may open
    """
    code = "import sys; from plaudit.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "serve", "--recipe", recipe, "--port", "0", *arguments]
    if descriptors:
        command = ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", *command]
    log = folder / "log.jsonl"
    with log.open("w") as stderr:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env={**os.environ, **environment},
        )
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, log.read_text()
        if ready:
            until(lambda: httpx.get(f"{found[0]}/readyz").status_code == 200)
        yield Served(process, found[0], log)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(timeout=60)
        process.stdout.close()


def until(condition, seconds=30.0):
    """What a condition gives once it gives anything true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.02)
    return found
