"""From a request to its answer."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from plaudit.images import only_below
from plaudit.judge import Pair, judge_async, shared_judge
from plaudit.recipes import Recipe, RowScore
from plaudit.serve._body import body_of
from plaudit.serve._desk import Desk, Held
from plaudit.serve._limits import Limits
from plaudit.serve._log import log
from plaudit.serve._metrics import Metrics
from plaudit.serve._protocol import (
    Logged,
    RewardsResponse,
    ScoreResponse,
    component_of,
    info_of,
    row_of,
    sayable,
    statuses_of,
    written,
)
from plaudit.serve._reading import Reader
from plaudit.serve._scorer import Scorer
from plaudit.serve._until_gone import until_gone
from plaudit.trainers import Batch

T = TypeVar("T")
Body = Mapping[str, Any]
LONGEST = 1_000  # characters of a complaint
# What is larger is read and written in a thread, that the server's loop stays free.
FEW_BYTES = 16 << 10
FEW_ROWS = 16
AGAIN = 1.0  # seconds after which a judge that cannot start is asked to start again


class Service:
    """One recipe, and everything that a server keeps for it.

    >>> from plaudit.recipes import load
    >>> service = Service(load("trl-math"), Limits())
    >>> service.ready
    False
    >>> service.close()
    """

    def __init__(self, recipe: Recipe, limits: Limits, images: Path | None = None) -> None:
        self.recipe = recipe
        self.limits = limits
        self._images = () if images is None else (images,)
        self.desk = Desk(limits)
        self.reader = Reader(recipe)
        self.scorer = Scorer()
        self.metrics = Metrics(self.desk, self.scorer)
        self._trouble: str | None = "the judge's workers are starting"

    @property
    def ready(self) -> bool:
        """Whether a batch would find workers."""
        return self.trouble is None

    @property
    def trouble(self) -> str | None:
        """Why the server is not ready; None where it is."""
        return self._trouble or shared_judge().trouble

    async def warm(self) -> None:
        """Start the judge's workers, and try for as long as it takes: no batch should wait."""
        self._trouble = "the judge's workers are starting"
        count = 4 * shared_judge().settings.workers
        pairs = [Pair(rf"$\cot({n} y) + z$", rf"$z - \cot(-{n} y)$") for n in range(2, 2 + count)]
        while self._trouble is not None:
            try:
                await self.scorer.run(0, lambda: judge_async(pairs))
            except Exception as error:
                self._trouble = str(error) or type(error).__name__
                log("not ready", logging.ERROR, error, why=self._trouble)
                await asyncio.sleep(AGAIN)
            else:
                self._trouble = None
        log("ready", recipe=self.recipe.name)

    def close(self) -> None:
        """Stop scoring."""
        self._trouble = "the server is stopping"
        self.scorer.close()

    async def info(self, request: Request) -> Response:
        """What the recipe is."""
        limits, deadline = self.limits, shared_judge().settings.deadline
        return answer(info_of(self.recipe, limits.rows, limits.body, deadline))

    async def figures(self, request: Request) -> Response:
        """How the server does."""
        return answer(self.metrics.figures(self.ready))

    async def score(self, request: Request) -> Response:
        """Score a batch with the whole recipe."""
        asked = await self._read(request, self.reader.score)
        logged = Logged([], [])
        columns = {**asked.columns, **_loggers(logged)} if asked.logs else asked.columns
        rows = await self._rows(request, Batch(asked.completions, columns))

        def response() -> ScoreResponse:
            said = [row_of(row, asked.reasons) for row in rows]
            return ScoreResponse(said, logged) if asked.logs else ScoreResponse(said)

        return await _answered(request, response, len(rows))

    async def rewards(self, request: Request) -> Response:
        """Score a batch with one component."""
        asked = await self._read(request, self.reader.rewards)
        try:
            function = component_of(self.recipe, asked.component)
        except ValueError as error:
            raise HTTPException(422, str(error)) from None
        logged = Logged([], [])
        columns = {**asked.columns, **_loggers(logged)}
        values = await self._scored(
            request, len(asked.completions), lambda: function(asked.completions, **columns)
        )
        self.metrics.counted(statuses_of(logged, asked.component, len(values)))

        def response() -> RewardsResponse:
            said = [sayable(value) for value in values]
            return RewardsResponse(said, logged) if asked.logs else RewardsResponse(said)

        return await _answered(request, response, len(values))

    async def shaped(
        self,
        request: Request,
        batch_of: Callable[[Body], Batch],
        reply_of: Callable[[list[RowScore], Body], Any],
    ) -> Response:
        """Score what comes in a trainer's own shape, and answer in it."""
        body = await self._read(request, self.reader.shaped)
        try:
            batch = batch_of(body)
            rows = await self._rows(request, batch)
            return await _answered(request, lambda: reply_of(rows, body), len(rows))
        except (TypeError, ValueError) as error:
            raise HTTPException(422, complaint(error)) from None

    async def _read(self, request: Request, reading: Callable[[bytearray, Held], T]) -> T:
        """What a request asks for, read off the loop where there is much of it."""
        body = await body_of(request, self.limits)
        try:
            return await _aside(lambda: reading(body, request.state.held), len(body) > FEW_BYTES)
        except (TypeError, ValueError) as error:
            raise HTTPException(422, str(error)[:LONGEST]) from None

    async def _rows(self, request: Request, batch: Batch) -> list[RowScore]:
        rows = await self._scored(
            request, len(batch.completions), lambda: batch.scores_async(self.recipe)
        )
        self.metrics.scored(rows)
        return rows

    async def _scored(self, request: Request, rows: int, work: Callable[[], Awaitable[T]]) -> T:
        """What the work gives, if there is room for its rows and the client waits for it."""
        request.state.rows = rows

        async def confined() -> T:
            with only_below(*self._images):
                return await work()

        with self.desk.admitted(rows):
            scoring = self.scorer.run(rows, confined, request.state.held)
            try:
                return await until_gone(request.receive, scoring, self.limits.deadline)
            except (TypeError, ValueError) as error:
                raise HTTPException(422, complaint(error)) from None
            except HTTPException:
                raise
            except Exception as error:
                log("failed", logging.ERROR, error, request=request.state.id)
                where = "; ".join(getattr(error, "__notes__", ()))
                why = f"a reward failed with {type(error).__name__} {where}".rstrip()
                raise HTTPException(500, f"{why}: the server's log has the reason") from None


def answer(content: Any) -> Response:
    """A response of JSON.

    >>> answer({"ok": True}).body
    b'{"ok":true}'
    """
    return Response(written(content), media_type="application/json")


def complaint(error: Exception) -> str:
    """What is wrong, and in which component.

    >>> error = ValueError("solution has 1 entries, completions has 2")
    >>> error.add_note("in accuracy (trl.accuracy_reward)")
    >>> complaint(error)
    'solution has 1 entries, completions has 2, in accuracy (trl.accuracy_reward)'
    """
    return ", ".join([str(error)[:LONGEST], *getattr(error, "__notes__", ())])


async def _answered(request: Request, response: Callable[[], Any], rows: int) -> Response:
    content = await _aside(lambda: written(response()), rows > FEW_ROWS)
    request.state.held.add_answer(len(content))
    return Response(content, media_type="application/json")


async def _aside(work: Callable[[], T], is_much: bool) -> T:
    return await asyncio.to_thread(work) if is_much else work()


def _loggers(logged: Logged) -> dict[str, Any]:
    return {"log_extra": logged.log_extra, "log_metric": logged.log_metric}
