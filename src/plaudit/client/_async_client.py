r"""A server as a reward function for event loops."""

import asyncio
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import httpx

from plaudit.client._settings import Settings
from plaudit.client._trying import Attempts
from plaudit.client._wire import (
    RemoteRecipe,
    body_of,
    log_total,
    logs_wanted,
    number,
    replay,
    rows_of,
    totals_of,
)
from plaudit.recipes import RowScore
from plaudit.scores import as_coroutine_functions


@as_coroutine_functions
class AsyncClient:
    r"""`Client` for event loops: called, it is a coroutine of each completion's total.

    Trainers tell asynchronous rewards from others by `inspect.iscoroutinefunction`, which says yes
    to what has a function's attributes: so this has them, and its `reward_funcs()` too.

    >>> from plaudit.recipes import load
    >>> from plaudit.serve import serving
    >>> async def ask(url):
    ...     async with AsyncClient(url) as client:
    ...         return await client([r"So \boxed{2/4}."], solution=["1/2"])
    >>> with serving(load("trl-math")) as url:
    ...     asyncio.run(ask(url))
    [1.0]
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        patience: float = 120.0,
        timeout: float = 330.0,
        columns: Collection[str] | None = None,
    ) -> None:
        self._line = AsyncLine(Settings(url, token, patience, timeout, columns))

    @property
    def __name__(self) -> str:
        return self._line.recipe.name

    def __repr__(self) -> str:
        return f"AsyncClient({self._line.settings.url!r})"

    async def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """The total of each completion; `log_metric` gets the means and the statuses."""
        answer = await _scored(self._line, completions, columns, reasons=False)
        log_total(self._line.recipe, answer, columns)
        return totals_of(answer)

    async def score(self, completions: Sequence[Any], **columns: Any) -> list[RowScore]:
        """The total, each component's score and the reasons, for each completion."""
        return rows_of(await _scored(self._line, completions, columns, reasons=True))

    def reward_funcs(self) -> list[Callable[..., Any]]:
        """A coroutine function for each component, each with its name."""
        return [AsyncRemoteReward(self._line, name) for name in self._line.recipe.components]

    def reward_weights(self) -> list[float]:
        """The weight of each of `reward_funcs()`, in the same order."""
        return list(self._line.recipe.weights)

    async def close(self) -> None:
        """Close the connections of this event loop."""
        await self._line.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


@as_coroutine_functions
@dataclass(frozen=True)
class AsyncRemoteReward:
    """One component of the server's recipe, as a coroutine function."""

    line: "AsyncLine"
    component: str

    @property
    def __name__(self) -> str:
        return self.component

    async def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        asked = {"component": self.component, "logs": logs_wanted(columns)}
        recipe, only = await self.line.known_recipe(), self.line.settings.columns
        body = body_of(recipe, completions, columns, only, **asked)
        answer = await self.line.asked("POST", "/v1/rewards", body)
        replay(answer, columns)
        return [number(reward) for reward in answer["rewards"]]


async def _scored(
    line: "AsyncLine", completions: Sequence[Any], columns: dict[str, Any], reasons: bool
) -> Any:
    asked = {"reasons": reasons, "logs": logs_wanted(columns)}
    recipe = await line.known_recipe()
    body = body_of(recipe, completions, columns, line.settings.columns, **asked)
    answer = await line.asked("POST", "/v1/score", body)
    replay(answer, columns)
    return answer


class AsyncLine:
    """The connections to a server: those of each event loop are its own."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._recipe: RemoteRecipe | None = None
        self._https: WeakKeyDictionary[Any, httpx.AsyncClient] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @property
    def recipe(self) -> RemoteRecipe:
        """What the server scores with, for those who ask outside of any event loop."""
        if self._recipe is None:
            from plaudit.client._client import Line

            line = Line(self.settings)
            self._recipe = line.recipe
            line.close()
        return self._recipe

    async def known_recipe(self) -> RemoteRecipe:
        """What the server scores with; it is asked once."""
        if self._recipe is None:
            self._recipe = RemoteRecipe.of(await self.asked("GET", "/v1/recipe"))
        return self._recipe

    async def asked(self, method: str, path: str, body: bytes | None = None) -> Any:
        """The answer to a request."""
        attempts = Attempts(self.settings)
        while True:
            answer: httpx.Response | httpx.TransportError
            try:
                answer = await self._connected().request(method, path, content=body)
            except httpx.TransportError as error:
                answer = error
            pause = attempts.pause(answer)
            if pause is None and isinstance(answer, httpx.Response):
                return json.loads(answer.content)
            await asyncio.sleep(pause or 0.0)

    async def close(self) -> None:
        """Close the connections of this event loop."""
        http = self._https.pop(asyncio.get_running_loop(), None)
        if http is not None:
            await http.aclose()

    def _connected(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if loop not in self._https:
            settings = self.settings
            self._https[loop] = httpx.AsyncClient(
                base_url=settings.url, headers=settings.headers, timeout=settings.timeouts
            )
        return self._https[loop]
