"""Around every request: its id, who may ask, its time, and what is logged of it."""

import logging
import secrets
import time
from hashlib import sha256
from hmac import compare_digest

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plaudit.serve._log import log
from plaudit.serve._metrics import Metrics
from plaudit.serve._protocol import Problem, written

OPEN = ("/", "/healthz", "/readyz")  # these say nothing that needs a token
QUIET = ("/healthz", "/readyz", "/metrics", "/v1/figures")  # asked again and again


class Watch:
    """An application, watched."""

    def __init__(
        self, app: ASGIApp, metrics: Metrics, token: str | None, paths: dict[str, bool]
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._token = None if token is None else _digest(token.encode())
        self._paths = paths  # each that there is, and whether it takes batches

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, and tell what became of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, code = time.perf_counter(), 0
        state = scope.setdefault("state", {})
        state["id"] = secrets.token_hex(8)
        unread = _has_body(Headers(scope=scope))

        async def heard() -> Message:
            nonlocal unread
            message = await receive()
            unread = unread and message.get("more_body", False)
            return message

        async def noted(message: Message) -> None:
            nonlocal code
            if message["type"] == "http.response.start":
                code = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = state["id"]
                headers["X-Content-Type-Options"] = "nosniff"
                if unread:  # what follows on this connection is no request
                    headers["Connection"] = "close"
            await send(message)

        try:
            if self._may_ask(scope):
                await self._app(scope, heard, noted)
            else:
                await _unauthorised(state["id"])(scope, heard, noted)
        except Exception as error:
            log("failed", logging.ERROR, error, request=state["id"])
        finally:
            self._tell(scope, code, time.perf_counter() - start)

    def _may_ask(self, scope: Scope) -> bool:
        if self._token is None or self._has_token(scope, self._token):
            scope["state"].get("let_in", _nothing)()
            return True
        return scope["path"] in OPEN

    def _has_token(self, scope: Scope, token: bytes) -> bool:
        kind, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        same = compare_digest(_digest(given.strip().encode("latin-1")), token)
        return same and kind.lower() == "bearer"

    def _tell(self, scope: Scope, code: int, seconds: float) -> None:
        path = scope["path"] if scope["path"] in self._paths else "other"
        self._metrics.requested(path, code, seconds, scoring=self._paths.get(path, False))
        log(
            "request",
            logging.DEBUG if path in QUIET else logging.INFO,
            request=scope["state"]["id"],
            method=scope["method"],
            path=path,
            code=code,
            seconds=round(seconds, 6),
            rows=scope["state"].get("rows"),
            client=(scope.get("client") or [None])[0],
        )


def problem(code: int, why: str, request: str, headers: dict[str, str] | None = None) -> Response:
    """An answer that says what is wrong.

    >>> problem(404, "there is nothing here", "5f0c").body
    b'{"error":"there is nothing here","request":"5f0c"}'
    """
    content = written(Problem(why, request))
    return Response(content, code, headers, media_type="application/json")


def _unauthorised(request: str) -> Response:
    why = "this server wants a token: send the header Authorization: Bearer TOKEN"
    return problem(401, why, request, {"WWW-Authenticate": "Bearer"})


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _nothing() -> None:
    """What a server other than plaudit's own hears of who was let in."""


def _digest(token: bytes) -> bytes:
    """Of one length for all tokens: how long it takes to compare says nothing."""
    return sha256(token).digest()
