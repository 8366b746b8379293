"""Serve the page that follows recorded runs."""

import socket
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

import uvicorn

from plaudit.reports.watch._application import application
from plaudit.reports.watch._runs import WatchedRun
from plaudit.serve import LOOPBACK, listen


@contextmanager
def watching(*directories: str | PathLike[str], port: int = 0) -> Iterator[str]:
    """Serve the page of some runs while the block runs; gives its address.

    directories: the folder of a recorded run, or of several to compare
    port: the port to listen on; default: 0, any that is free

    >>> import tempfile
    >>> from urllib.request import urlopen
    >>> with watching(tempfile.mkdtemp()) as address:
    ...     "plaudit watch" in urlopen(address).read().decode()
    True
    """
    server = server_of(runs_of([Path(directory) for directory in directories]), LOOPBACK)
    listener = listen("127.0.0.1", port)
    thread = threading.Thread(target=server.run, args=([listener],), name="plaudit-watch")
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.005)
        yield address_of(listener)
    finally:
        server.should_exit = True
        thread.join()


def runs_of(directories: Sequence[Path]) -> list[WatchedRun]:
    """Return the runs in some folders, with names that tell them apart."""
    full = [directory.absolute() for directory in directories]
    paths = [path.parent if path.name == "record" else path for path in full]
    names = [path.name or str(path) for path in paths]
    if len(set(names)) < len(names):
        names = [f"{path.parent.name}/{path.name}" for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in full]
    return [WatchedRun(path, name) for path, name in zip(full, names, strict=True)]


def server_of(runs: Sequence[WatchedRun], hosts: Collection[str] | None) -> uvicorn.Server:
    """Return a server of the page of some runs; `hosts`: the names that requests may give it."""
    app = application(runs, hosts)
    settings = {"log_config": None, "access_log": False, "server_header": False}
    return uvicorn.Server(uvicorn.Config(app, **settings, ws="none", lifespan="off"))  # type: ignore[arg-type]


def address_of(listener: socket.socket) -> str:
    """Return the URL of a server that listens at a socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
