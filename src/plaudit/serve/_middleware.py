"""Around every request: an id, checks of host and token, a line in the log, metrics."""

import logging
import secrets
import time
from collections.abc import Collection
from hashlib import sha256
from hmac import compare_digest

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plaudit.serve._metrics import Metrics, log
from plaudit.serve._protocol import Problem, to_json
from plaudit.serve._scorer import Admission, HeldMemory

PUBLIC = ("/", "/healthz", "/readyz")  # these tell nothing that needs a token
LARGE = 64 << 10  # bytes of an answer that a client may not take at once
POLLED = ("/healthz", "/readyz", "/metrics", "/v1/figures")  # requested again and again


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
        scope["path"] = self._route(scope["path"])
        start, code = time.perf_counter(), 0
        state = scope.setdefault("state", {})
        state["id"] = secrets.token_hex(8)
        state["held"] = held = HeldMemory(self._admission)
        connection = state.get("connection", _NO_CONNECTION)
        connection.request_begins()
        unread = _has_body(Headers(scope=scope))
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
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = state["id"]
                headers["X-Content-Type-Options"] = "nosniff"
                if unread:  # what follows on this connection is not a request
                    connection.leave_unread()
                if unread or connection.connections.is_stopping:
                    headers["Connection"] = "close"
            if len(message.get("body", b"")) > LARGE:
                # The end is sent once the client has taken most of it: until then, it is held.
                await send({**message, "more_body": True})
                message = {**message, "body": b""}
            await send(message)

        try:
            if not self._is_expected_host(scope):
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

    def _route(self, path: str) -> str:
        """Return the path without the prefix, which a proxy may have removed already."""
        prefix = self._root_path
        is_below = bool(prefix) and (path == prefix or path.startswith(f"{prefix}/"))
        return (path[len(prefix) :] or "/") if is_below else path

    def _is_expected_host(self, scope: Scope) -> bool:
        """Whether the request is meant for this server: a page of another site names another."""
        return self._hosts is None or host_in(scope) in self._hosts

    def _is_allowed(self, scope: Scope) -> bool:
        if self._token is None or self._has_token(scope, self._token):
            scope["state"].get("connection", _NO_CONNECTION).authorize()
            return True
        return scope["path"] in PUBLIC

    def _has_token(self, scope: Scope, token: bytes) -> bool:
        kind, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        same = compare_digest(_digest(given.strip().encode("latin-1")), token)
        return same and kind.lower() == "bearer"

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


def problem(code: int, why: str, request: str, headers: dict[str, str] | None = None) -> Response:
    """Return an answer that says what is wrong."""
    content = to_json(Problem(why, request))
    return Response(content, code, headers, media_type="application/json")


def _wrong_host(scope: Scope) -> Response:
    host = host_in(scope)[:80]
    why = (
        f'the header Host names "{host}", which this server is not called: use localhost or '
        "127.0.0.1; behind a proxy, start the server with --allow-host NAME"
    )
    return problem(421, why, scope["state"]["id"])


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
    return problem(401, why, scope["state"]["id"], {"WWW-Authenticate": "Bearer"})


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


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
