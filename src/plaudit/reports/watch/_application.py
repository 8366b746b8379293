"""The ASGI application of the page that follows runs.

/                                      the page
/api/state?have=3,1                    what is new of each run, since these versions
/api/rows?run=0&step=12&order=worst    rows of a step; with by=1 or by=-1, of the one beside it
/api/prompt?prompt=5f0c…               one prompt's completions through time, in every run
"""

import json
import math
from collections.abc import Collection, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from plaudit.reports import html_page, render_html
from plaudit.reports.watch._runs import WatchedRun
from plaudit.serve import host_in

MOST = 400  # rows in one answer
USUAL = 60


def application(runs: Sequence[WatchedRun], hosts: Collection[str] | None) -> ASGIApp:
    """Return the page of some runs, and what it asks for.

    hosts: the names that requests may have in their header Host; None: any
    """

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
    return _Guard(Starlette(routes=routes), hosts)


class _Guard:
    """Refuses requests that name another machine: a page of another site may not read a run."""

    def __init__(self, app: ASGIApp, hosts: Collection[str] | None) -> None:
        self._app = app
        self._hosts = None if hosts is None else {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, if it is meant for this server."""
        if (
            scope["type"] == "http"
            and self._hosts is not None
            and host_in(scope) not in self._hosts
        ):
            why = "the header Host names another machine: use localhost or 127.0.0.1\n"
            await Response(why, 421, media_type="text/plain")(scope, receive, send)
            return
        await self._app(scope, receive, send)


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
