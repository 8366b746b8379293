"""A running `plaudit serve`, for as long as a `with` block lasts."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from report import PREPARING

COMMAND = "import sys; from plaudit.cli import main; sys.exit(main(sys.argv[1:]))"


@dataclass(frozen=True)
class Server:
    """Where it listens, and which process it is."""

    url: str
    process: int


@contextmanager
def served(recipe: str, deadline: float | None = None) -> Iterator[Server]:
    """A server on a free port of this machine, its workers as ready as `fresh_judge` makes them."""
    arguments = ["serve", "--recipe", recipe, "--port", "0", "--log-level", "warning"]
    environment = {**os.environ} | ({"PLAUDIT_DEADLINE": f"{deadline:g}"} if deadline else {})
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        if found is None:
            sys.exit("the server did not start")
        while httpx.get(f"{found[0]}/readyz").status_code != 200:
            time.sleep(0.05)
        time.sleep(PREPARING)
        yield Server(found[0], process.pid)
    finally:
        process.terminate()
        process.wait(timeout=60)
        process.stdout.close()
