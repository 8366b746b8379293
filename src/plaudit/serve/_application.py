"""The ASGI application of a recipe: its routes, and the front page."""

import asyncio
import re
from base64 import b64encode
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from functools import cache
from hashlib import sha256
from http import HTTPStatus
from importlib import import_module
from importlib.resources import files
from os import PathLike

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plaudit.judge import workers_kept
from plaudit.recipes import Recipe
from plaudit.serve._middleware import Middleware, problem
from plaudit.serve._openapi import openapi_of
from plaudit.serve._protocol import TRAINER_PATHS
from plaudit.serve._request_body import CLIENT_GONE
from plaudit.serve._scorer import Limits
from plaudit.serve._service import Service, json_response

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def application(
    recipe: Recipe,
    limits: Limits | None = None,
    token: str | None = None,
    images: str | PathLike[str] | None = None,
    hosts: Collection[str] | None = None,
    root_path: str = "",
) -> Middleware:
    """Return the server as an ASGI application, for an ASGI server of your own choice.

    limits: how much it takes at once, such as `Limits(rows=1000)`; default: `Limits()`
    token: the token that clients must send; default: none is required
    images: the only folder from which images are read; default: no file is read
    hosts: the names that requests may have in their header Host, such as ["rewards"]; default: any
    root_path: the prefix under which a proxy offers the server, such as "/rewards"; default: none

    Requests with slow or oversized heads are the concern of that server; `plaudit serve` and
    `serving` deal with them.

    >>> from plaudit.recipes import load
    >>> app = application(load("trl-math"), Limits(rows=1000))
    """
    if root_path and not re.fullmatch(r"(/[\w.~-]+)+", root_path):
        raise ValueError(f'root_path must be like "/rewards", got {root_path!r:.80}')
    service = Service(recipe, limits or Limits(), images)
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

    handlers = {HTTPException: _refused, Exception: _failed}
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
        return problem(503, service.trouble, request.state.id, {"Retry-After": "1"})

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


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    why, code = error.detail, error.status_code
    if code != CLIENT_GONE and why == HTTPStatus(code).phrase:
        why = f"{why}: {request.method} {request.url.path[:200]}"
    return problem(code, why, request.state.id, dict(error.headers or {}))


async def _failed(request: Request, error: Exception) -> Response:
    why = "the server failed: its log has the reason"
    return problem(500, why, request.state.id)


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
    allowed = {kind: _hashes(page, kind) for kind in ("script", "style")}
    policy = (
        f"default-src 'none'; script-src {allowed['script']}; style-src {allowed['style']}; "
        "connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )
    return page, policy


def _hashes(page: str, tag: str) -> str:
    found = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
    digests = (b64encode(sha256(text.encode()).digest()).decode() for text in found)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
