"""Arguments in, an exit code out: `plaudit watch`, from its start to its end."""

import argparse
import socket
import sys
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from os import PathLike
from pathlib import Path

import uvicorn

from plaudit.serve import LOOPBACK, listen
from plaudit.watch._application import application
from plaudit.watch._runs import WatchedRun

PORT = 8951
FAILED, WRONG = 1, 2
EVERY = 2.0  # seconds between two looks at a run that is not shown

ABOUT = """\
Follow a run that is being recorded (plaudit.record, or PLAUDIT_RECORD=DIR), or open one that is
over: curves over the steps, the rows of a step with their reasons, and what looks wrong, in words.
With several folders, the runs side by side. The page is for this machine alone, unless --host
says otherwise.
"""
EXAMPLES = """\
examples:
  plaudit watch runs/1
  plaudit watch runs/1 runs/2 runs/3 --port 9000
  plaudit watch runs/1 --fail-on alarm     # no page: wait for an alarm, or for the end of the run

exit codes:
  0 done    1 an alarm holds, with --fail-on alarm    2 wrong usage or nothing to read
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
        "directories",
        metavar="DIR",
        type=Path,
        nargs="+",
        help="a recorded run, or the output folder of plaudit train; several to compare",
    )
    parser.add_argument(
        "--host", metavar="A", default="127.0.0.1", help="address to listen on; default: 127.0.0.1"
    )
    parser.add_argument(
        "--port",
        metavar="N",
        type=int,
        default=PORT,
        help=f"port to listen on, 0 for any that is free; default: {PORT}",
    )
    parser.add_argument(
        "--fail-on",
        choices=["alarm"],
        help="show no page; exit with 1 as soon as an alarm holds, and with 0 once nothing records "
        "into the folders and none does",
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
        if arguments.fail_on:
            return _wait_for_alarm(runs)
        listener = listen(arguments.host, arguments.port)
    except (ValueError, OSError) as error:
        print(f"plaudit: {error}", file=sys.stderr)
        return WRONG
    except KeyboardInterrupt:
        return 0
    host = listener.getsockname()[0]
    is_local = ip_address(host).is_loopback
    if not is_local:
        print(f"plaudit: anyone who reaches {host} can read these runs", file=sys.stderr)
    print(f"plaudit: watching on {_address(listener)} (Ctrl-C ends it)", flush=True)
    with suppress(KeyboardInterrupt):  # uvicorn raises it once more when it is done
        _server(runs, [*LOOPBACK, arguments.host, host] if is_local else None).run([listener])
    return 0


def _wait_for_alarm(runs: Sequence[WatchedRun]) -> int:
    """Wait until an alarm holds or no run goes on; print the alarms, and return the exit code."""
    while True:
        is_live = [one.is_live for one in runs]  # before the last look, so that it misses nothing
        for one in runs:
            one.refresh()
        held = [(one, alarm) for one in runs for alarm in one.alarms if not alarm.is_over]
        if held or not any(is_live):
            break
        time.sleep(EVERY)
    for one in runs:
        if not one.version:
            raise ValueError(f"nothing is recorded in {one.name}")
    for one, alarm in held:
        print(f"{one.name}: {alarm.kind}, since step {alarm.first}: {alarm.text}")
    if not held:
        print("There is no alarm.")
    return FAILED if held else 0


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
    server = _server(runs_of([Path(directory) for directory in directories]), LOOPBACK)
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
    """The runs in some folders, with names that tell them apart.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> [run.name for run in runs_of([folder])] == [folder.name]
    True
    """
    full = [directory.absolute() for directory in directories]
    paths = [path.parent if path.name == "record" else path for path in full]
    names = [path.name or str(path) for path in paths]
    if len(set(names)) < len(names):
        names = [f"{path.parent.name}/{path.name}" for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in full]
    return [WatchedRun(path, name) for path, name in zip(full, names, strict=True)]


def _server(runs: Sequence[WatchedRun], hosts: Collection[str] | None) -> uvicorn.Server:
    app = application(runs, hosts)
    settings = {"log_config": None, "access_log": False, "server_header": False}
    return uvicorn.Server(uvicorn.Config(app, **settings, ws="none", lifespan="off"))  # type: ignore[arg-type]


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
