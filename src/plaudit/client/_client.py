r"""A server as a reward function."""

import json
import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

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


class Client:
    r"""Asks a server for rewards; called, it is the reward function of the recipe's total.

    url: the server's address, such as "http://rewards:8950"
    token: what the server wants to see; unless given, what PLAUDIT_TOKEN says
    patience: seconds in which a request is tried again, where the server is busy or away
    timeout: seconds that one answer may take, above the server's own deadline; a connection may
        take 5
    columns: the only columns to send; unless given, every one that the recipe takes

    It can be pickled, and be called from any thread and after a fork. What it is given that is no
    column the recipe takes is left out; so is what JSON has no form for, unless the recipe needs
    it, which is an error.

    >>> from plaudit.recipes import load
    >>> from plaudit.serve import serving
    >>> with serving(load("trl-math")) as url, Client(url) as client:
    ...     client([r"So \boxed{2/4}.", r"So \boxed{3}."], solution=["1/2", "1/2"])
    ...     client.score([r"So \boxed{3}."], solution=["1/2"])[0].why
    [1.0, 0.0]
    'accuracy_reward 0.0: 3 is not equal to the gold 1/2'
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
        self._line = Line(Settings(url, token, patience, timeout, columns))

    @property
    def __name__(self) -> str:
        return self._line.recipe.name

    def __repr__(self) -> str:
        return f"Client({self._line.settings.url!r})"

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """The total of each completion; `log_metric` gets the means and the statuses."""
        answer = self._scored(completions, columns, reasons=False)
        log_total(self._line.recipe, answer, columns)
        return totals_of(answer)

    def score(self, completions: Sequence[Any], **columns: Any) -> list[RowScore]:
        """The total, each component's score and the reasons, for each completion."""
        return rows_of(self._scored(completions, columns, reasons=True))

    def reward_funcs(self) -> list[Callable[..., list[float | None]]]:
        """A reward function for each component, each with its name, for a trainer's metrics."""
        return [RemoteReward(self._line, name) for name in self._line.recipe.components]

    def reward_weights(self) -> list[float]:
        """The weight of each of `reward_funcs()`, in the same order."""
        return list(self._line.recipe.weights)

    def close(self) -> None:
        """Close the connections. The next call opens them again."""
        self._line.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _scored(
        self, completions: Sequence[Any], columns: dict[str, Any], reasons: bool
    ) -> dict[str, Any]:
        line, logs = self._line, logs_wanted(columns)
        only = line.settings.columns
        body = body_of(line.recipe, completions, columns, only, reasons=reasons, logs=logs)
        answer = line.post("/v1/score", body)
        replay(answer, columns)
        return answer


@dataclass(frozen=True)
class RemoteReward:
    """One component of the server's recipe, as a reward function."""

    line: "Line"
    component: str

    @property
    def __name__(self) -> str:
        return self.component

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        asked = {"component": self.component, "logs": logs_wanted(columns)}
        only = self.line.settings.columns
        body = body_of(self.line.recipe, completions, columns, only, **asked)
        answer = self.line.post("/v1/rewards", body)
        replay(answer, columns)
        return [number(reward) for reward in answer["rewards"]]


class Line:
    """The connections to a server, which neither a pickle nor a fork takes along."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._recipe: RemoteRecipe | None = None
        self._lock = threading.Lock()
        self._http: httpx.Client | None = None
        self._owner = 0

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @property
    def recipe(self) -> RemoteRecipe:
        """What the server scores with; it is asked once."""
        if self._recipe is None:
            self._recipe = RemoteRecipe.of(self._asked("GET", "/v1/recipe"))
        return self._recipe

    def post(self, path: str, body: bytes) -> dict[str, Any]:
        """The answer to a batch."""
        answer: dict[str, Any] = self._asked("POST", path, body)
        return answer

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            http, self._http = self._http, None
        if http is not None and self._owner == os.getpid():
            http.close()

    def _asked(self, method: str, path: str, body: bytes | None = None) -> Any:
        attempts = Attempts(self.settings)
        while True:
            answer: httpx.Response | httpx.TransportError
            try:
                answer = self._connected().request(method, path, content=body)
            except httpx.TransportError as error:
                answer = error
            pause = attempts.pause(answer)
            if pause is None and isinstance(answer, httpx.Response):
                return json.loads(answer.content)
            time.sleep(pause or 0.0)

    def _connected(self) -> httpx.Client:
        with self._lock:
            if self._http is None or self._owner != os.getpid():
                settings = self.settings
                self._owner = os.getpid()
                self._http = httpx.Client(
                    base_url=settings.url, headers=settings.headers, timeout=settings.timeouts
                )
            return self._http
