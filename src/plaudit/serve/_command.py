"""Arguments in, an exit code out: `plaudit serve`, from its start to its end."""

import argparse
import logging
import os
import signal
import sys
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

from plaudit.processes import collect_garbage_seldom, keep_freed_memory
from plaudit.recipes import RECORD_VARIABLE, load
from plaudit.serve._admission import Limits
from plaudit.serve._application import application
from plaudit.serve._connection import raise_descriptor_limit
from plaudit.serve._log import log, log_to_stderr
from plaudit.serve._server import LOOPBACK, listen, server_of

WRONG = 2
VARIABLE = "PLAUDIT_TOKEN"
PORT = 8950

ABOUT = """\
Score completions over HTTP with a recipe. The front page shows the recipe and live figures;
/openapi.json describes the protocol. `plaudit.Client` is a reward function that asks this server.

By default it listens on this machine alone. On SIGTERM or Ctrl-C it accepts no more requests,
finishes those that it has, and ends.
"""

EXAMPLES = f"""\
examples:
  plaudit serve --recipe trl-math
  {VARIABLE}=$(cat secret) plaudit serve --recipe my.toml --host 0.0.0.0 --port 80
  PLAUDIT_DEADLINE=2 plaudit serve --recipe trl-math     # seconds the judge may take per answer

exit codes:
  0 stopped by a signal, all done    2 wrong usage, or the port is not available
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `plaudit serve` takes.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["--recipe", "trl-math"]).host
    '127.0.0.1'
    """
    usual = Limits()
    parser.description, parser.epilog = ABOUT, EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--recipe", metavar="R", required=True, help="a preset, or a TOML file")
    parser.add_argument(
        "--host", metavar="A", default="127.0.0.1", help="address to listen on; default: 127.0.0.1"
    )
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="another name that clients, or a proxy, may give in the header Host; can be repeated",
    )
    parser.add_argument(
        "--root-path",
        metavar="PATH",
        default="",
        help="the prefix under which a proxy offers the server, such as /rewards; default: none",
    )
    parser.add_argument(
        "--port",
        metavar="N",
        type=int,
        default=PORT,
        help=f"port to listen on, 0 for any that is free; default: {PORT}",
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        type=Path,
        help=f"clients must send the token in this file; default: that in {VARIABLE}, if it is set",
    )
    parser.add_argument(
        "--images",
        metavar="DIR",
        type=Path,
        help="the only folder from which images are read (image_path); default: no file is read",
    )
    for name, value, kind, about in (
        ("--max-body", usual.body, int, "bytes of a request's body"),
        ("--max-rows", usual.rows, int, "completions in flight, over all requests"),
        (
            "--sending",
            usual.sending,
            float,
            "seconds that a client has to send a whole request, and again to receive the whole "
            "answer; a slower one is cut off",
        ),
        ("--deadline", usual.deadline, float, "seconds that a request may take to be scored"),
        (
            "--held",
            0,
            int,
            "bytes of memory that all requests in flight may take together, with what is read from "
            "their bodies and with the answers; requests beyond that are told to try again; 0 is "
            "eight times --max-body",
        ),
        ("--connections", usual.connections, int, "connections that may be open"),
    ):
        shown = f"{value:g}" if isinstance(value, float) else value
        parser.add_argument(
            name, metavar="N", type=kind, default=value, help=f"{about}; default: {shown}"
        )
    parser.add_argument(
        "--log-level",
        choices=["debug", "info", "warning", "error"],
        default="info",
        help="which events are logged, as lines of JSON on standard error; default: info",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal comes, and give the exit code.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> run(parser.parse_args(["--recipe", "trl-math", "--max-rows", "0"]))
    2
    """
    try:
        recipe = load(arguments.recipe)
        limits = Limits(
            arguments.max_body,
            arguments.max_rows,
            arguments.sending,
            arguments.deadline,
            arguments.connections,
            arguments.held,
        )
        token = _token(arguments.token_file)
        images = _folder(arguments.images)
        listener = listen(arguments.host, arguments.port)
    except (ValueError, OSError, ImportError, OverflowError) as error:
        print(f"plaudit: {error}", file=sys.stderr)
        return WRONG
    log_to_stderr(arguments.log_level)
    raise_descriptor_limit()
    keep_freed_memory()
    collect_garbage_seldom()
    host, port = listener.getsockname()[:2]
    if token is None and not ip_address(host).is_loopback:
        why = f"anyone who reaches {host} can use this server: set {VARIABLE}, or --token-file"
        log("no token", logging.WARNING, why=why)
    if folder := os.environ.get(RECORD_VARIABLE):
        why = f"what a plaudit.Client asks for is not: set {RECORD_VARIABLE} where that runs"
        log("trainers' own paths are recorded", folder=folder, why=why)
    hosts = _hosts(arguments.host, host, arguments.allow_host)
    try:
        app = application(recipe, limits, token, images, hosts, arguments.root_path)
    except ValueError as error:
        print(f"plaudit: {error}", file=sys.stderr)
        return WRONG
    server = server_of(app, limits)

    def stop(*_: object) -> None:
        server.should_exit = True

    # uvicorn takes these over, and raises the signal again when it is done: then, nothing is left.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    shown = f"[{host}]" if ":" in host else host
    print(f"plaudit: {recipe.name} on http://{shown}:{port}", flush=True)
    log("listening", recipe=recipe.name, host=host, port=port, token=token is not None)
    server.run([listener])
    log("stopped")
    return 0


def _hosts(asked: str, host: str, names: Sequence[str]) -> list[str] | None:
    """The names that requests may give in Host; None, any, where others may give it names."""
    if not ip_address(host).is_loopback and not names:
        return None
    return [*LOOPBACK, asked, host, *names]


def _folder(images: Path | None) -> Path | None:
    if images is not None and not images.is_dir():
        raise ValueError(f"--images must be a folder, got {images}")
    return images


def _token(file: Path | None) -> str | None:
    """The token that clients must send; None if none is required."""
    if file is None:
        return _checked(os.environ[VARIABLE], VARIABLE) if VARIABLE in os.environ else None
    try:
        return _checked(file.read_text("utf-8"), str(file))
    except OSError as error:
        raise ValueError(f"cannot read the token in {file}: {error.strerror}") from error


def _checked(token: str, where: str) -> str:
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable():
        raise ValueError(f"{where} must hold a token of printable ASCII characters")
    return token
