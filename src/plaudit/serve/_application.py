"""The ASGI application of a recipe: its routes, the front page, and what is around a request."""

import asyncio
import logging
import re
import secrets
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from functools import cache
from hashlib import sha256
from hmac import compare_digest
from http import HTTPStatus
from importlib import import_module
from importlib.resources import files
from os import PathLike

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plaudit.judge import workers_kept
from plaudit.recipes import Recipe
from plaudit.serve._metrics import Metrics, log
from plaudit.serve._protocol import TRAINER_PATHS, openapi_of, problem_response
from plaudit.serve._request_body import CLIENT_GONE
from plaudit.serve._scorer import Admission, HeldMemory, ServerLimits
from plaudit.serve._service import Service, json_response

PUBLIC = ("/", "/healthz", "/readyz")  # these tell nothing that needs a token
LARGE = 64 << 10  # bytes of an answer that a client may not take at once
POLLED = ("/healthz", "/readyz", "/metrics", "/v1/figures")  # requested again and again
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def application(
    recipe: Recipe,
    limits: ServerLimits | None = None,
    token: str | None = None,
    images: str | PathLike[str] | None = None,
    hosts: Collection[str] | None = None,
    root_path: str = "",
) -> "Middleware":
    """Return the server as an ASGI application, for an ASGI server of your own choice.

    limits: how much it takes at once, such as `ServerLimits(rows=1000)`; default: `ServerLimits()`
    token: the token that clients must send; default: none is required
    images: the only folder from which images are read; default: no file is read
    hosts: the names that requests may have in their header Host, such as ["rewards"]; default: any
    root_path: the prefix under which a proxy offers the server, such as "/rewards"; default: none

    Requests with slow or oversized heads are the concern of that server; `plaudit serve` and
    `serving` deal with them.

    >>> from plaudit.recipes import load
    >>> app = application(load("trl-math"), ServerLimits(rows=1000))
    """
    if root_path and not re.fullmatch(r"(/[\w.~-]+)+", root_path):
        raise ValueError(f'root_path must be like "/rewards", got {root_path!r:.80}')
    service = Service(recipe, limits or ServerLimits(), images)
    batches = [
        Route("/v1/score", service.score, methods=["POST"]),
        Route("/v1/rewards", service.rewards, methods=["POST"]),
        *(_trainer_route(service, path) for path in TRAINER_PATHS),
    ]
    routes = [*_get_routes(service, bool(token), root_path), *batches]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        with workers_kept():
            warming = asyncio.create_task(service.warm_up())
            try:
                yield
            finally:
                warming.cancel()
                with suppress(asyncio.CancelledError):
                    await warming
                service.close()

    handlers = {HTTPException: _refuse, Exception: _fail}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    paths = {route.path: route in batches for route in routes}
    return Middleware(app, service.admission, service.metrics, paths, token, hosts, root_path)


def _trainer_route(service: Service, path: str) -> Route:
    name, reply, _ = TRAINER_PATHS[path]
    trainer = import_module(f"plaudit.trainers.{name}")
    batch_of, reply_of = trainer.batch_of, getattr(trainer, reply)

    async def endpoint(request: Request) -> Response:
        return await service.trainer_batch(request, batch_of, reply_of)

    return Route(path, endpoint, methods=["POST"])


def _get_routes(service: Service, guarded: bool, root_path: str) -> list[Route]:
    document = openapi_of(service.recipe, guarded, root_path)

    async def health(request: Request) -> Response:
        return json_response({"status": "ok"})

    async def readiness(request: Request) -> Response:
        if service.trouble is None:
            return json_response({"status": "ready"})
        return problem_response(503, service.trouble, request.state.id, {"Retry-After": "1"})

    async def metrics(request: Request) -> Response:
        return Response(service.metrics.text(), headers={"Content-Type": PROMETHEUS})

    async def openapi(request: Request) -> Response:
        return json_response(document)

    return [
        Route("/", front_page),
        Route("/healthz", health),
        Route("/readyz", readiness),
        Route("/metrics", metrics),
        Route("/openapi.json", openapi),
        Route("/v1/recipe", service.info),
        Route("/v1/figures", service.figures),
    ]


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    why, code = error.detail, error.status_code
    if code != CLIENT_GONE and why == HTTPStatus(code).phrase:
        why = f"{why}: {request.method} {request.url.path[:200]}"
    return problem_response(code, why, request.state.id, dict(error.headers or {}))


async def _fail(request: Request, error: Exception) -> Response:
    why = "the server failed: its log has the reason"
    return problem_response(500, why, request.state.id)


# --- the front page -------------------------------------------------------------------------------


async def front_page(request: Request) -> Response:
    """One file, which requests the server's own figures and nothing else, and holds none itself."""
    page, policy = _page()
    headers = {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"}
    return Response(page, headers=headers, media_type="text/html; charset=utf-8")


@cache
def _page() -> tuple[str, str]:
    """The page, and what a browser may do for it: run its own scripts, and ask this server."""
    page = files("plaudit.serve").joinpath("page.html").read_text("utf-8")
    allowed = {}
    for tag in ("script", "style"):
        found = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digests = (b64encode(sha256(text.encode()).digest()).decode() for text in found)
        allowed[tag] = " ".join(f"'sha256-{digest}'" for digest in digests)
    policy = (
        f"default-src 'none'; script-src {allowed['script']}; style-src {allowed['style']}; "
        "connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )
    return page, policy


# --- around every request -------------------------------------------------------------------------


class Middleware:
    """Around the application that answers requests."""

    def __init__(
        self,
        app: ASGIApp,
        admission: Admission,
        metrics: Metrics,
        paths: dict[str, bool],
        token: str | None,
        hosts: Collection[str] | None,
        root_path: str,
    ) -> None:
        self._app = app
        self._root_path = root_path
        self._admission = admission
        self.metrics = metrics
        self._hosts = None if hosts is None else {host.lower() for host in hosts}
        self._token = None if token is None else _digest(token.encode())
        self._paths = paths  # each that exists, and whether it takes batches

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, and record what became of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if f"{scope['path']}/".startswith(f"{self._root_path}/"):  # a proxy may have removed it
            scope["path"] = scope["path"].removeprefix(self._root_path) or "/"
        start, code = time.perf_counter(), 0
        state = scope.setdefault("state", {})
        state["id"] = secrets.token_hex(8)
        state["held"] = held = HeldMemory(self._admission)
        connection = state.get("connection", _NO_CONNECTION)
        connection.request_begins()
        headers = Headers(scope=scope)
        unread = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if not unread:
            connection.body_is_read()

        async def receive_noted() -> Message:
            nonlocal unread
            message = await receive()
            unread = unread and message.get("more_body", False)
            if not unread:
                connection.body_is_read()
            return message

        async def send_noted(message: Message) -> None:
            nonlocal code
            if message["type"] == "http.response.start":
                code = message["status"]
                sent = MutableHeaders(scope=message)
                sent["X-Request-ID"] = state["id"]
                sent["X-Content-Type-Options"] = "nosniff"
                if unread:  # what follows on this connection is not a request
                    connection.leave_unread()
                if unread or connection.connections.is_stopping:
                    sent["Connection"] = "close"
            if len(message.get("body", b"")) > LARGE:
                # The end is sent once the client has taken most of it: until then, it is held.
                await send({**message, "more_body": True})
                message = {**message, "body": b""}
            await send(message)

        try:
            # A page of another site names another machine.
            if self._hosts is not None and host_in(scope) not in self._hosts:
                await _wrong_host(scope)(scope, receive_noted, send_noted)
            elif not self._is_allowed(scope):
                await _unauthorized(scope)(scope, receive_noted, send_noted)
            else:
                await self._app(scope, receive_noted, send_noted)
        except Exception as error:
            log("failed", logging.ERROR, error, request=state["id"])
        finally:
            held.release()
            connection.request_ends()
            self._record(scope, code, time.perf_counter() - start)

    def _is_allowed(self, scope: Scope) -> bool:
        kind, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        same = self._token and compare_digest(_digest(token.strip().encode("latin-1")), self._token)
        if self._token is None or (same and kind.lower() == "bearer"):
            scope["state"].get("connection", _NO_CONNECTION).authorize()
            return True
        return scope["path"] in PUBLIC

    def _record(self, scope: Scope, code: int, seconds: float) -> None:
        path = scope["path"] if scope["path"] in self._paths else "other"
        self.metrics.add_request(path, code, seconds, scoring=self._paths.get(path, False))
        log(
            "request",
            logging.DEBUG if path in POLLED else logging.INFO,
            request=scope["state"]["id"],
            method=scope["method"],
            path=path,
            code=code,
            seconds=round(seconds, 6),
            rows=scope["state"].get("rows"),
            client=(scope.get("client") or [None])[0],
        )


def _wrong_host(scope: Scope) -> Response:
    host = host_in(scope)[:80]
    why = (
        f'the header Host names "{host}", which this server is not called: use localhost or '
        "127.0.0.1; behind a proxy, start the server with --allow-host NAME"
    )
    return problem_response(421, why, scope["state"]["id"])


def host_in(scope: Scope) -> str:
    """Return the name in the header Host of a request, without its port."""
    host = Headers(scope=scope).get("host", "").strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host if host.count(":") > 1 else host.partition(":")[0].removesuffix(".")


def _unauthorized(scope: Scope) -> Response:
    kind, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and token.strip():
        why = "the token is wrong: it is not the one that this server was started with"
    else:
        why = "this server requires a token: send the header Authorization: Bearer TOKEN"
    return problem_response(401, why, scope["state"]["id"], {"WWW-Authenticate": "Bearer"})


class _NoConnection:
    """The connection under a server other than plaudit's own, which counts none."""

    is_stopping = False

    @property
    def connections(self) -> "_NoConnection":
        return self

    def request_begins(self) -> None: ...
    def authorize(self) -> None: ...
    def body_is_read(self) -> None: ...
    def leave_unread(self) -> None: ...
    def request_ends(self) -> None: ...


_NO_CONNECTION = _NoConnection()


def _digest(token: bytes) -> bytes:
    """Of one length for all tokens: how long it takes to compare says nothing."""
    return sha256(token).digest()
