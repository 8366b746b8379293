"""Arguments in, an exit code out: `plaudit watch`, from its start to its end."""

import argparse
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

import uvicorn

from plaudit.serve import LOOPBACK, listen
from plaudit.watch._application import application
from plaudit.watch._runs import WatchedRun

PORT = 8951
WRONG = 2

ABOUT = """\
Follow a run that is being recorded (plaudit.record, or PLAUDIT_RECORD=DIR), or open one that is
over: curves over the steps, the rows of a step with their reasons, and what looks wrong, in words.
With two folders, two runs side by side. The page is for this machine alone.
"""
EXAMPLES = """\
examples:
  plaudit watch runs/1
  plaudit watch runs/1 runs/2 --port 9000
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `plaudit watch` takes.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["runs/1"]).port
    8951
    """
    parser.description, parser.epilog = ABOUT, EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "directories", metavar="DIR", type=Path, nargs="+", help="a recorded run; two to compare"
    )
    parser.add_argument(
        "--port",
        metavar="N",
        type=int,
        default=PORT,
        help=f"port to listen on, 0 for any that is free; default: {PORT}",
    )


def run(arguments: argparse.Namespace) -> int:
    """Show the page until Ctrl-C, and give the exit code.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> run(parser.parse_args(["no-such-run"]))
    2
    """
    try:
        runs = runs_of(arguments.directories)
        for one in runs:
            one.refresh()
        listener = listen("127.0.0.1", arguments.port)
    except (ValueError, OSError) as error:
        print(f"plaudit: {error}", file=sys.stderr)
        return WRONG
    print(f"plaudit: watching on {_address(listener)} (Ctrl-C ends it)", flush=True)
    with suppress(KeyboardInterrupt):  # uvicorn raises it once more when it is done
        _server(runs).run([listener])
    return 0


@contextmanager
def watching(*directories: str | PathLike[str], port: int = 0) -> Iterator[str]:
    """Serve the page of one run, or of two, while the block runs; gives its address.

    directories: the folder of a recorded run, or of two to compare
    port: the port to listen on; default: 0, any that is free

    >>> import tempfile
    >>> from urllib.request import urlopen
    >>> with watching(tempfile.mkdtemp()) as address:
    ...     "plaudit watch" in urlopen(address).read().decode()
    True
    """
    server = _server(runs_of([Path(directory) for directory in directories]))
    listener = listen("127.0.0.1", port)
    thread = threading.Thread(target=server.run, args=([listener],), name="plaudit-watch")
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.005)
        yield _address(listener)
    finally:
        server.should_exit = True
        thread.join()


def runs_of(directories: Sequence[Path]) -> list[WatchedRun]:
    """The runs in one or two folders, with names that tell them apart.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> [run.name for run in runs_of([folder])] == [folder.name]
    True
    """
    if len(directories) > 2:
        raise ValueError(
            f"at most two runs can be shown side by side, got {len(directories)} folders"
        )
    full = [directory.absolute() for directory in directories]
    names = [path.name or str(path) for path in full]
    if len(set(names)) < len(names):
        names = [f"{path.parent.name}/{path.name}" for path in full]
    if len(set(names)) < len(names):
        names = [str(path) for path in full]
    return [WatchedRun(path, name) for path, name in zip(full, names, strict=True)]


def _server(runs: Sequence[WatchedRun]) -> uvicorn.Server:
    app = application(runs, LOOPBACK)
    settings = {"log_config": None, "access_log": False, "server_header": False}
    return uvicorn.Server(uvicorn.Config(app, **settings, ws="none", lifespan="off"))  # type: ignore[arg-type]


def _address(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"
