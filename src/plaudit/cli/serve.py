"""`plaudit serve`."""

import logging
import os
import signal
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal

from plaudit.cli.arguments import fail
from plaudit.processes import collect_garbage_seldom, keep_freed_memory
from plaudit.recipes import Recipe, load
from plaudit.recipes.recipe import RECORD_VARIABLE
from plaudit.serve import (
    LOOPBACK,
    ServerLimits,
    application,
    listen,
    log,
    log_to_stderr,
    raise_descriptor_limit,
    server_of,
)

WRONG = 2
VARIABLE = "PLAUDIT_TOKEN"
PORT = 8950
USUAL = ServerLimits()


def run(
    *,
    recipe: Annotated[str, "R"],
    host: Annotated[str, "A"] = "127.0.0.1",
    allow_host: Annotated[Sequence[str], "NAME"] = (),
    root_path: Annotated[str, "PATH"] = "",
    port: int = PORT,
    token_file: Annotated[Path | None, "FILE"] = None,
    tasks: Annotated[str | None, "FILE"] = None,
    images: Annotated[Path | None, "DIR"] = None,
    max_body: int = USUAL.body,
    max_rows: int = USUAL.rows,
    io_timeout: float = USUAL.io_timeout,
    deadline: float = USUAL.deadline,
    max_memory: int = 0,
    connections: int = USUAL.connections,
    allow_code: bool = False,
    log_level: Literal["debug", "info", "warning", "error"] = "info",
) -> int:
    """Score completions over HTTP with a recipe. The front page shows the recipe and live figures;
    /openapi.json describes the protocol. `plaudit.Client` is a reward function that asks this
    server.

    By default it listens on this machine alone. On SIGTERM or Ctrl-C it accepts no more requests,
    finishes those that it has, and ends.

    recipe: a preset, or a TOML file
    host: address to listen on; default: %(default)s
    allow_host: another name that clients, or a proxy, may give in the header Host; can be repeated
    root_path: the prefix under which a proxy offers the server, such as /rewards; default: none
    port: port to listen on, 0 for any that is free; default: %(default)s
    token_file: clients must send the token in this file; default: that in PLAUDIT_TOKEN, if it is
        set
    tasks: a table with prompts and the columns that the recipe needs: the server then speaks the
        protocol of OpenReward, and TRL's OpenRewardSpec trains on it; needs the extra score
    images: the only folder from which images are read (image_path); default: no file is read
    max_body: bytes of a request's body; default: %(default)s
    max_rows: completions in flight, over all requests; default: %(default)s
    io_timeout: seconds that a client has to send a whole request, and again to receive the whole
        answer; a slower one is cut off; default: %(default)g
    deadline: seconds that a request may take to be scored; default: %(default)g
    max_memory: bytes of memory that all requests in flight may take together, with what is read
        from their bodies and with the answers; requests beyond that are refused with 429; 0 is
        eight times --max-body; default: %(default)s
    connections: connections that may be open; default: %(default)s
    allow_code: run programs that clients send, in the sandbox: needed for a recipe with a reward of
        code, so that no server does so by accident
    log_level: which events are logged, as lines of JSON on standard error; default: %(default)s

    examples:
      plaudit serve --recipe trl-math
      PLAUDIT_TOKEN=$(cat secret) plaudit serve --recipe my.toml --host 0.0.0.0 --port 80
      PLAUDIT_DEADLINE=2 plaudit serve --recipe trl-math     # seconds the judge may take per answer

    exit codes:
      0 stopped by a signal, all done    2 wrong usage, or the port is not available
    """
    try:
        loaded = load(recipe)
        _check_code(loaded, allow_code)
        limits = ServerLimits(max_body, max_rows, io_timeout, deadline, connections, max_memory)
        token = _token(token_file)
        if images is not None and not images.is_dir():
            raise ValueError(f"--images must be a folder, got {images}")
        rows = None if tasks is None else _rows_in(tasks)
        listener = listen(host, port)
        log_to_stderr(log_level)
        raise_descriptor_limit()
        address, port = listener.getsockname()[:2]
        _warn(address, has_token=token is not None)
        hosts = _hosts(host, address, allow_host)
        app = application(loaded, limits, token, images, hosts, root_path, rows)
    except (TypeError, ValueError, OSError, ImportError, OverflowError) as error:
        return fail(WRONG, error)
    keep_freed_memory()
    collect_garbage_seldom()
    server = server_of(app, limits)

    def stop(*_: object) -> None:
        server.should_exit = True

    # uvicorn takes these over, and raises the signal again when it is done: then, nothing is left.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    shown = f"[{address}]" if ":" in address else address
    print(f"plaudit: {loaded.name} on http://{shown}:{port}", flush=True)
    log("listening", recipe=loaded.name, host=address, port=port, token=token is not None)
    server.run([listener])
    log("stopped")
    return 0


def _rows_in(tasks: str) -> list[dict[str, Any]]:
    from plaudit.tables.readers import read_rows  # needs pyarrow

    return read_rows([tasks])


def _check_code(recipe: Recipe, allowed: bool) -> None:
    """Raise if a recipe runs programs and nobody said that the server may."""
    names = [one.name for one in recipe.components if one.reference.startswith("code.")]
    if names and not allowed:
        raise ValueError(
            f"{names[0]} runs the programs that clients send: start the server with --allow-code"
        )


def _warn(host: str, has_token: bool) -> None:
    """Log what the person who started the server may not expect."""
    if not has_token and not ip_address(host).is_loopback:
        why = f"anyone who reaches {host} can use this server: set {VARIABLE}, or --token-file"
        log("no token", logging.WARNING, why=why)
    if folder := os.environ.get(RECORD_VARIABLE):
        why = f"what a plaudit.Client asks for is not: set {RECORD_VARIABLE} where that runs"
        log("trainers' own paths are recorded", folder=folder, why=why)


def _hosts(asked: str, host: str, names: Sequence[str]) -> list[str] | None:
    """Return the names that requests may give in Host; None for any, if others may name it."""
    if not ip_address(host).is_loopback and not names:
        return None
    return [*LOOPBACK, asked, host, *names]


def _token(file: Path | None) -> str | None:
    """Return the token that clients must send; None if none is required."""
    if file is None:
        return _check_token(os.environ[VARIABLE], VARIABLE) if VARIABLE in os.environ else None
    try:
        return _check_token(file.read_text("utf-8"), str(file))
    except OSError as error:
        raise ValueError(f"cannot read the token in {file}: {error.strerror}") from error


def _check_token(token: str, where: str) -> str:
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable():
        raise ValueError(f"{where} must hold a token of printable ASCII characters")
    return token
