"""From a request to its answer."""

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
from plaudit.serve._desk import Desk
from plaudit.serve._limits import Limits
from plaudit.serve._log import log
from plaudit.serve._metrics import Metrics
from plaudit.serve._protocol import (
    Logged,
    RewardsRequest,
    RewardsResponse,
    ScoreRequest,
    ScoreResponse,
    checked,
    component_of,
    info_of,
    read,
    row_of,
    sayable,
    statuses_of,
    written,
)
from plaudit.serve._scorer import Scorer
from plaudit.serve._until_gone import until_gone
from plaudit.trainers import Batch

T = TypeVar("T")
Body = Mapping[str, Any]
LONGEST = 1_000  # characters of a complaint


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
        self.scorer = Scorer()
        self.metrics = Metrics(self.desk, self.scorer)
        self.ready = False
        self.trouble = "the judge's workers are starting"

    async def warm(self) -> None:
        """Start the judge's workers: a first batch should not wait for them."""
        count = 4 * shared_judge().settings.workers
        pairs = [Pair(rf"$\cot({n} y) + z$", rf"$z - \cot(-{n} y)$") for n in range(2, 2 + count)]
        try:
            await self.scorer.run(0, lambda: judge_async(pairs))
        except Exception as error:
            self.trouble = str(error)
            log("not ready", logging.ERROR, error, why=self.trouble)
        else:
            self.ready = True
            log("ready", recipe=self.recipe.name)

    def close(self) -> None:
        """Stop scoring, and the workers."""
        self.ready, self.trouble = False, "the server is stopping"
        self.scorer.close()
        shared_judge().close()

    async def info(self, request: Request) -> Response:
        """What the recipe is."""
        limits, deadline = self.limits, shared_judge().settings.deadline
        return answer(info_of(self.recipe, limits.rows, limits.body, deadline))

    async def figures(self, request: Request) -> Response:
        """How the server does."""
        return answer(self.metrics.figures(self.ready))

    async def score(self, request: Request) -> Response:
        """Score a batch with the whole recipe."""
        asked = _read(await body_of(request, self.desk), ScoreRequest)
        logged = Logged([], [])
        columns = {**asked.columns, **_loggers(logged)} if asked.logs else asked.columns
        rows = await self._rows(request, Batch(asked.completions, columns))
        response = ScoreResponse([row_of(row, asked.reasons) for row in rows])
        if asked.logs:
            response.logs = logged
        return answer(response)

    async def rewards(self, request: Request) -> Response:
        """Score a batch with one component."""
        asked = _read(await body_of(request, self.desk), RewardsRequest)
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
        response = RewardsResponse([sayable(value) for value in values])
        if asked.logs:
            response.logs = logged
        return answer(response)

    async def shaped(
        self,
        request: Request,
        batch_of: Callable[[Body], Batch],
        reply_of: Callable[[list[RowScore], Body], Any],
    ) -> Response:
        """Score what comes in a trainer's own shape, and answer in it."""
        body = _read(await body_of(request, self.desk), dict[str, Any])
        try:
            batch = batch_of(body)
            return answer(reply_of(await self._rows(request, batch), body))
        except (TypeError, ValueError) as error:
            raise HTTPException(422, complaint(error)) from None

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
            scoring = self.scorer.run(rows, confined)
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


def _read(body: bytes, kind: type[T]) -> T:
    try:
        asked = read(body, kind)
        if isinstance(asked, ScoreRequest | RewardsRequest):
            checked(asked)
    except (TypeError, ValueError) as error:
        raise HTTPException(422, str(error)[:LONGEST]) from None
    return asked


def _loggers(logged: Logged) -> dict[str, Any]:
    return {"log_extra": logged.log_extra, "log_metric": logged.log_metric}
