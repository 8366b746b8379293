"""The page that follows runs: an ASGI application, and a server of it.

/                                      the page
/api/state?have=3,1                    what is new of each run, since these versions
/api/rows?run=0&step=12&order=worst    rows of a step; with by=1 or by=-1, of the next or last one
/api/prompt?prompt=5f0c…               one prompt's completions through time, in every run
"""

import json
import math
import socket
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from plaudit.reports import html_page, render_html
from plaudit.reports._scored_run import distinct_names
from plaudit.reports.watch._runs import WatchedRun
from plaudit.serve import LOOPBACK, host_in, listen

MOST = 400  # rows in one answer
USUAL = 60


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
    paths = [directory.absolute() for directory in directories]
    # `plaudit train` records into a folder `record` below that of its results.
    names = distinct_names([path.parent if path.name == "record" else path for path in paths])
    return [WatchedRun(path, name) for path, name in zip(paths, names, strict=True)]


def server_of(runs: Sequence[WatchedRun], hosts: Collection[str] | None) -> uvicorn.Server:
    """Return a server of the page of some runs; `hosts`: the names that requests may give it."""
    app = application(runs, hosts)
    settings = {"log_config": None, "access_log": False, "server_header": False}
    return uvicorn.Server(uvicorn.Config(app, **settings, ws="none", lifespan="off"))  # type: ignore[arg-type]


def address_of(listener: socket.socket) -> str:
    """Return the URL of a server that listens at a socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def application(runs: Sequence[WatchedRun], hosts: Collection[str] | None) -> ASGIApp:
    """Return the page of some runs, and what it asks for.

    hosts: the names that requests may have in their header Host; None: any
    """

    hosts = None if hosts is None else {host.lower() for host in hosts}

    def state(request: Request) -> Response:
        have = [_number(one, -1) for one in request.query_params.get("have", "").split(",")]
        have += [-1] * len(runs)
        return _json([run.state(version) for run, version in zip(runs, have, strict=False)])

    def rows(request: Request) -> Response:
        asked = dict(request.query_params)
        run = runs[min(max(_number(asked.get("run"), 0), 0), len(runs) - 1)]
        return _json(run.rows(asked, _most(asked.get("most"))))

    def prompt(request: Request) -> Response:
        asked = request.query_params
        found = [run.prompt(asked.get("prompt", ""), _most(asked.get("most"))) for run in runs]
        return _json(found)

    def page(request: Request) -> Response:
        return Response(_page(tuple(run.name for run in runs)), media_type="text/html")

    routes = [
        Route("/", page),
        Route("/api/state", state),
        Route("/api/rows", rows),
        Route("/api/prompt", prompt),
    ]
    app = Starlette(routes=routes)

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse requests that name another machine: another site's page may not read a run."""
        answer: ASGIApp = app
        if scope["type"] == "http" and hosts is not None and host_in(scope) not in hosts:
            why = "the header Host names another machine: use localhost or 127.0.0.1\n"
            answer = Response(why, 421, media_type="text/plain")
        await answer(scope, receive, send)

    return guard


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isdecimal() else default


def _most(asked: str | None) -> int:
    return min(_number(asked, USUAL), MOST)


def _json(content: Any) -> Response:
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    text = json.dumps(_finite(content), ensure_ascii=False, default=str)
    return Response(text.encode("utf-8", "replace"), 200, headers, "application/json")


def _finite(value: Any) -> Any:
    """Return the value without infinities, which JSON does not have: rewards may be any number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list) else value


@cache
def _page(names: tuple[str, ...]) -> bytes:
    body = render_html(_file("body.html.jinja"), names=names)
    return html_page(
        ", ".join(names),
        body,
        kind="plaudit watch",
        about=render_html('<p class="quiet" id="about">Reading the run …</p>'),
        sections={"alarms": "Alarms", "curves": "Curves", "rows": "Rows"},
        styles=[_file("watch.css")],
        scripts=[_file("charts.js"), _file("watch.js")],
        vega="",  # the page draws its lines itself: they move, and it opens at once
        fetches=True,
    ).encode("utf-8", "replace")


def _file(name: str) -> str:
    return files("plaudit.reports.watch").joinpath(name).read_text("utf-8")
