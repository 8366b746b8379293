"""A recipe as an ASGI application."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plaudit.judge import workers_kept
from plaudit.recipes import Recipe
from plaudit.serve._limits import Limits
from plaudit.serve._openapi import openapi_of
from plaudit.serve._page import front_page
from plaudit.serve._service import Service, answer
from plaudit.serve._shapes import shaped_routes
from plaudit.serve._watch import Watch, problem

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def application(
    recipe: Recipe,
    limits: Limits | None = None,
    token: str | None = None,
    images: Path | None = None,
    hosts: Collection[str] | None = None,
) -> Watch:
    """The server as an ASGI application, for a server of your own choice.

    token: what clients must send; unless given, nothing
    images: the only folder from which images are read; unless given, no image is
    hosts: the names that requests may have in their header Host; unless given, any

    Slow and oversized heads of requests are the affair of that server; `plaudit serve` and
    `serving` see to them.

    >>> from plaudit.recipes import load
    >>> app = application(load("trl-math"), Limits(rows=1000))
    """
    service = Service(recipe, limits or Limits(), images)
    batches = [
        Route("/v1/score", service.score, methods=["POST"]),
        Route("/v1/rewards", service.rewards, methods=["POST"]),
        *shaped_routes(service),
    ]
    routes = [*_reading(service, bool(token)), *batches]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        with workers_kept():
            warming = asyncio.create_task(service.warm())
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
    return Watch(app, service.desk, service.metrics, paths, token, hosts)


def _reading(service: Service, guarded: bool) -> list[Route]:
    """What can be looked at."""
    document = openapi_of(service.recipe, guarded)

    async def health(request: Request) -> Response:
        return answer({"status": "ok"})

    async def readiness(request: Request) -> Response:
        if service.trouble is None:
            return answer({"status": "ready"})
        return problem(503, service.trouble, request.state.id, {"Retry-After": "1"})

    async def metrics(request: Request) -> Response:
        return Response(service.metrics.text(), headers={"Content-Type": PROMETHEUS})

    async def openapi(request: Request) -> Response:
        return answer(document)

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
    why = error.detail
    if why == HTTPStatus(error.status_code if error.status_code != 499 else 400).phrase:
        why = f"{why}: {request.method} {request.url.path[:200]}"
    return problem(error.status_code, why, request.state.id, dict(error.headers or {}))


async def _failed(request: Request, error: Exception) -> Response:
    why = "the server failed: its log has the reason"
    return problem(500, why, request.state.id)
