"""The ASGI application of a recipe: its routes, the front page, and how a request is answered."""

import asyncio
import logging
import re
import secrets
import time
from base64 import b64encode
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from hashlib import sha256
from hmac import compare_digest
from http import HTTPStatus
from importlib import import_module
from importlib.resources import files
from os import PathLike
from typing import Any, TypeVar

from msgspec import UNSET
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plaudit.inputs.completions import texts_of
from plaudit.inputs.images import only_below
from plaudit.judge import judge_async, shared_judge, warm_up_pairs, workers_kept
from plaudit.recipes import Recipe, RowScore
from plaudit.recipes.component import component_seconds
from plaudit.recipes.row_score import ScoredBatch
from plaudit.runs.recording import recorded
from plaudit.scores.score import log_means, log_statuses
from plaudit.serve._metrics import Metrics, log
from plaudit.serve._openreward import TaskEnvironment, Tasks
from plaudit.serve._protocol import HEADER as FINGERPRINT
from plaudit.serve._protocol import (
    TASK_PATHS,
    TRAINER_PATHS,
    Logged,
    RewardsRequest,
    RewardsResponse,
    ScoreRequest,
    ScoreResponse,
    component_of,
    info_of,
    json_number,
    openapi_of,
    problem_response,
    rows_of,
    to_json,
)
from plaudit.serve._request_body import CLIENT_GONE, BodyReader, body_of
from plaudit.serve._scorer import Admission, HeldMemory, Scorer, ServerLimits
from plaudit.trainers import Batch

T = TypeVar("T")
Body = Mapping[str, Any]
LONGEST = 1_000  # characters of an error message
# What is larger is read and written in a thread, so that the server's loop stays free.
FEW_BYTES = 512 << 10  # which takes about a millisecond, and a thread a quarter of one
FEW_ROWS = 512
UNWATCHED = 0.02  # seconds in which most batches are scored: it does not pay to watch the client
RETRY_AFTER = 1.0  # seconds after which a judge that cannot start is asked to start again


class Service:
    """One recipe, and everything that a server keeps for it."""

    def __init__(
        self, recipe: Recipe, limits: ServerLimits, images: str | PathLike[str] | None = None
    ) -> None:
        self.recipe = recipe
        self.limits = limits
        self._images = () if images is None else (images,)
        self.admission = Admission(limits)
        deadline = shared_judge().settings.deadline
        self._info = info_of(recipe, limits.rows, limits.body, deadline)
        # A client records what it asks for: it has the prompts, the steps and the lengths.
        self._recorded = recorded(recipe)
        self.reader = BodyReader(recipe)
        self.scorer = Scorer()
        self.metrics = Metrics(self.admission, self.scorer, self._info)
        self._trouble: str | None = "the judge's workers are starting"

    @property
    def ready(self) -> bool:
        """Whether a batch would find workers."""
        return self.trouble is None

    @property
    def trouble(self) -> str | None:
        """Why the server is not ready; None if it is."""
        return self._trouble or shared_judge().trouble

    async def warm_up(self) -> None:
        """Start the judge's workers, and try for as long as it takes: no batch should wait."""
        self._trouble = "the judge's workers are starting"
        pairs = warm_up_pairs(shared_judge().settings.workers)
        while self._trouble is not None:
            try:
                await self.scorer.run(0, lambda: judge_async(pairs))
            except Exception as error:
                self._trouble = str(error) or type(error).__name__
                log("not ready", logging.ERROR, error, why=self._trouble)
                await asyncio.sleep(RETRY_AFTER)
            else:
                self._trouble = None
        log("ready", recipe=self.recipe.name)

    def close(self) -> None:
        """Stop scoring."""
        self._trouble = "the server is stopping"
        self.scorer.close()

    async def info(self, request: Request) -> Response:
        """Return what the recipe is."""
        return json_response(self._info)

    async def figures(self, request: Request) -> Response:
        """Return how the server is doing."""
        return json_response(self.metrics.figures(self.ready))

    async def score(self, request: Request) -> Response:
        """Score a batch with the whole recipe."""
        asked = await self._read(request, self.reader.score)
        logged = Logged([], [])
        batch = await self._score(request, _batch_of(asked, logged))

        def response() -> ScoreResponse:
            logs = logged if asked.logs else UNSET
            return ScoreResponse(rows_of(batch, asked.reasons), logs)

        return await self._batch_response(request, response, len(asked.completions))

    async def rewards(self, request: Request) -> Response:
        """Score a batch as a reward function: by the recipe's total, or by one component."""
        asked = await self._read(request, self.reader.rewards)
        logged = Logged([], [])
        batch = await self._score(request, _batch_of(asked, logged), asked.component)
        if asked.logs:
            self._log(batch, asked, logged)

        def response() -> RewardsResponse:
            rewards = [json_number(value) for value in batch.totals]
            rows = rows_of(batch, reasons=True) if asked.reasons else UNSET
            return RewardsResponse(rewards, rows, logged if asked.logs else UNSET)

        return await self._batch_response(request, response, len(asked.completions))

    def _log(self, batch: ScoredBatch, asked: RewardsRequest, logged: Logged) -> None:
        """Log what the rewards alone hide. Who asks for the scores of a component has these."""
        if asked.component is None:
            values = {name: [one.value for one in s] for name, s in batch.components.items()}
            log_means(self.recipe.name, values, logged.log_metric)
            log_statuses(self.recipe.name, batch.statuses, logged.log_metric)
        elif not asked.reasons:
            log_statuses(asked.component, batch.statuses, logged.log_metric)

    async def trainer_batch(
        self,
        request: Request,
        batch_of: Callable[[Body], Batch],
        reply_of: Callable[[list[RowScore], Body], Any],
    ) -> Response:
        """Score a batch in the format of a trainer, and answer in it."""
        body = await self.read_object(request)
        try:
            batch = batch_of(body)
            scored = await self._score(request, batch, recipe=self._recorded)
            rows = batch.with_neutral(self.recipe, scored.rows)
            return await self._batch_response(request, lambda: reply_of(rows, body), len(rows))
        except (TypeError, ValueError) as error:
            raise HTTPException(422, error_message(error)) from None

    async def answer(self, request: Request, batch: Batch, recipe: Recipe) -> RowScore:
        """Score one answer, also if its client goes away: it may come back for the result."""
        held = request.state.held
        held.share()
        try:
            scored = await self._score(Request(request.scope, _never), batch, recipe=recipe)
            return scored.rows[0]
        finally:
            held.release()

    async def read_object(self, request: Request) -> dict[str, Any]:
        """Return the JSON object in the body of a request."""
        return await self._read(request, self.reader.any_object)

    async def _read(self, request: Request, read: Callable[[bytearray, HeldMemory], T]) -> T:
        """Return what a request asks for; a large one is read in a thread."""
        body = await body_of(request, self.limits)
        request.state.is_large = is_large = len(body) > FEW_BYTES
        try:
            return await _in_thread_if(is_large, lambda: read(body, request.state.held))
        except (TypeError, ValueError) as error:
            raise HTTPException(422, str(error)[:LONGEST]) from None

    async def _score(
        self,
        request: Request,
        batch: Batch,
        component: str | None = None,
        recipe: Recipe | None = None,
    ) -> ScoredBatch:
        """Return what the batch gets from the recipe, or from one of its components."""
        recipe = recipe or self.recipe
        try:
            scores_of = None if component is None else component_of(recipe, component)
        except ValueError as error:
            raise HTTPException(422, str(error)) from None

        seconds: dict[str, float] = {}

        async def scoring() -> ScoredBatch:
            nonlocal seconds
            with component_seconds() as seconds:
                if component is None or scores_of is None:
                    return await recipe.score_batch_async(batch.completions, **batch.columns)
                scores = await scores_of(batch.completions, **batch.columns)
                return ScoredBatch({component: scores}, {component: 1.0})

        scored = await self._admit_and_run(request, batch.completions, scoring)
        self.metrics.add_batch(scored, seconds)
        return scored

    async def _batch_response(
        self, request: Request, response: Callable[[], Any], rows: int
    ) -> Response:
        content = await _in_thread_if(rows > FEW_ROWS, lambda: to_json(response()))
        request.state.held.add_answer(len(content))
        headers = {FINGERPRINT: self._info.fingerprint}
        return Response(content, headers=headers, media_type="application/json")

    async def _admit_and_run(
        self, request: Request, completions: list[Any], work: Callable[[], Awaitable[T]]
    ) -> T:
        """Return the result of the work, if its rows are admit and the client waits for it."""
        request.state.rows = rows = len(completions)

        async def confine() -> T:
            with only_below(*self._images):
                return await work()

        with self.admission.admit(rows):
            scoring = self.scorer.run(rows, confine, request.state.held)
            try:
                return await run_while_connected(request.receive, scoring, self.limits.deadline)
            except HTTPException:
                raise
            except Exception as error:
                if wrong := malformed(completions):
                    raise HTTPException(422, wrong) from None
                if isinstance(error, TypeError | ValueError):
                    raise HTTPException(422, error_message(error)) from None
                log("failed", logging.ERROR, error, request=request.state.id)
                where = "; ".join(getattr(error, "__notes__", ()))
                why = f"a reward failed with {type(error).__name__} {where}".rstrip()
                raise HTTPException(500, f"{why}: the server's log has the reason") from None


def malformed(completions: list[Any]) -> str:
    """Return what is wrong with a batch's completions, if anything: rewards need not say it."""
    try:
        texts_of(completions)
    except TypeError as error:
        return str(error)
    return ""


async def run_while_connected(receive: Receive, work: Awaitable[T], seconds: float) -> T:
    """The result of the work; it is cancelled when the client disconnects, or the time is over."""
    try:
        async with asyncio.timeout(seconds) as limit:
            with _cancel_without_client(receive):
                return await work
    except TimeoutError:
        if not limit.expired():  # it is the work's own
            raise
        raise HTTPException(
            504, f"it was not scored within {seconds:g} s, the server's deadline for a request"
        ) from None


@contextmanager
def _cancel_without_client(receive: Receive) -> Iterator[None]:
    """Cancel what this task waits for when the client disconnects.

    The work needs no task of its own, which would take a tenth of a small batch's time.
    """
    task, leaving = asyncio.current_task(), None
    assert task is not None

    def watch() -> None:
        nonlocal leaving
        leaving = asyncio.ensure_future(_wait_for_disconnect(receive))
        leaving.add_done_callback(lambda gone: gone.cancelled() or task.cancel())

    timer = asyncio.get_running_loop().call_later(UNWATCHED, watch)
    try:
        yield
    except asyncio.CancelledError:
        if leaving is None or not leaving.done():
            raise
        task.uncancel()
        raise HTTPException(CLIENT_GONE, "the client went away") from None
    finally:
        timer.cancel()
        if leaving is not None:
            leaving.cancel()


async def _never() -> Message:
    """Receive nothing, not even that the client disconnects."""
    return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def json_response(content: Any) -> Response:
    """Return a response of JSON."""
    return Response(to_json(content), media_type="application/json")


def error_message(error: Exception) -> str:
    """Return what is wrong, and in which component."""
    return ", ".join([str(error)[:LONGEST], *getattr(error, "__notes__", ())])


async def _in_thread_if(is_large: bool, work: Callable[[], T]) -> T:
    return await asyncio.to_thread(work) if is_large else work()


def _batch_of(asked: ScoreRequest | RewardsRequest, logged: Logged) -> Batch:
    columns: dict[str, Any] = dict(asked.columns)
    if asked.logs:
        columns |= {"log_extra": logged.log_extra, "log_metric": logged.log_metric}
    return Batch(asked.completions, columns)


# --- routes ---------------------------------------------------------------------------------------

PUBLIC = ("/", "/healthz", "/readyz")  # these tell nothing that needs a token
LARGE = 64 << 10  # bytes of an answer that a client may not take at once
POLLED = ("/healthz", "/readyz", "/metrics", "/v1/figures", "/ping")  # requested again and again
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def application(
    recipe: Recipe,
    limits: ServerLimits | None = None,
    token: str | None = None,
    images: str | PathLike[str] | None = None,
    hosts: Collection[str] | None = None,
    root_path: str = "",
    tasks: Sequence[Mapping[str, Any]] | None = None,
) -> "Middleware":
    """Return the server as an ASGI application, for an ASGI server of your own choice.

    limits: how much it takes at once, such as `ServerLimits(rows=1000)`; default: `ServerLimits()`
    token: the token that clients must send; default: none is required
    images: the only folder from which images are read; default: no file is read
    hosts: the names that requests may have in their header Host, such as ["rewards"]; default: any
    root_path: the prefix under which a proxy offers the server, such as "/rewards"; default: none
    tasks: rows with a prompt and the columns that the recipe needs, such as
        `[{"prompt": "What is 2 + 2?", "solution": "4"}]`, which TRL's `OpenRewardSpec` trains on;
        default: none

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
    environment = _task_routes(service, tasks) if tasks is not None else []
    own = _get_routes(service, openapi_of(recipe, bool(token), root_path, bool(environment)))
    routes = [*own, *batches, *environment]

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
    paths = {route.path: route in batches or route.path == "/call" for route in routes}
    return Middleware(app, service.admission, service.metrics, paths, token, hosts, root_path)


def _trainer_route(service: Service, path: str) -> Route:
    name, reply, _ = TRAINER_PATHS[path]
    trainer = import_module(f"plaudit.trainers.{name}")
    batch_of, reply_of = trainer.batch_of, getattr(trainer, reply)

    async def endpoint(request: Request) -> Response:
        return await service.trainer_batch(request, batch_of, reply_of)

    return Route(path, endpoint, methods=["POST"])


def _task_routes(service: Service, tasks: Sequence[Mapping[str, Any]]) -> list[Route]:
    found = Tasks(service.recipe, tasks)
    environment = TaskEnvironment(found, service.read_object, service.answer, service.limits.rows)
    return [
        Route(path, getattr(environment, path[1:]), methods=[method])
        for path, (method, _) in TASK_PATHS.items()
    ]


def _get_routes(service: Service, document: dict[str, Any]) -> list[Route]:
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
        token = self._token
        if token is None or compare_digest(_digest(_token_in(scope).encode("latin-1")), token):
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


def _token_in(scope: Scope) -> str:
    """Return the token of a request: a bearer's, or the key that OpenReward's clients send."""
    headers = Headers(scope=scope)
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "").strip()


def _unauthorized(scope: Scope) -> Response:
    if _token_in(scope):
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
