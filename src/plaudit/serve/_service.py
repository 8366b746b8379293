"""Answer a request: reading, admission, scoring, and the client that may go away."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import Any, TypeVar

from msgspec import UNSET
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive

from plaudit.inputs.completions import texts_of
from plaudit.inputs.images import only_below
from plaudit.judge import judge_async, shared_judge, warm_up_pairs
from plaudit.recipes import Recipe, RowScore
from plaudit.recipes.component import component_seconds
from plaudit.recipes.row_score import ScoredBatch
from plaudit.runs.recording import recorded
from plaudit.scores.score import log_means, log_statuses
from plaudit.serve._metrics import Metrics, log
from plaudit.serve._protocol import HEADER as FINGERPRINT
from plaudit.serve._protocol import (
    Logged,
    RewardsRequest,
    RewardsResponse,
    ScoreRequest,
    ScoreResponse,
    component_of,
    info_of,
    json_number,
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
        body = await self._read(request, self.reader.any_object)
        try:
            batch = batch_of(body)
            scored = await self._score(request, batch, recipe=self._recorded)
            rows = batch.with_neutral(self.recipe, scored.rows)
            return await self._batch_response(request, lambda: reply_of(rows, body), len(rows))
        except (TypeError, ValueError) as error:
            raise HTTPException(422, error_message(error)) from None

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
