"""What to score, step by step -> what the server says: the same steps serve both clients.

A step yields a `Request`, and is sent the reply or the error that came instead; or it yields a
`Pause`, and goes on after it. `Connection` runs the steps in a thread, `AsyncConnection` on an
event loop.
"""

import http.client
import logging
import os
import random
import time
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import httpx

from plaudit.client._advice import advice_on
from plaudit.client._payload import (
    Columns,
    RemoteRecipe,
    body_of,
    logs_wanted,
    number,
    read_answer,
    replay,
    rows_of,
)
from plaudit.recipes import RowScore
from plaudit.recording import Recording, environment_recording, recording_in
from plaudit.scores import Score

T = TypeVar("T")
VARIABLE = "PLAUDIT_TOKEN"
CONNECT_TIMEOUT = 5.0  # seconds: a server accepts a connection at once, however busy it is
RETRIED = (429, 502, 503, 504)
LOGGER = logging.getLogger("plaudit.client")
LOG_INTERVAL = 15.0  # seconds between two lines about a server that does not answer
LONGEST_PAUSE = 10.0  # seconds between two attempts, unless the server asks for more


@dataclass(frozen=True)
class Settings:
    """Where a server is, and how it is asked. See `Client` for what each setting means.

    >>> Settings("http://rewards:8950/")
    Settings(url='http://rewards:8950', patience=120.0, timeout=330.0, columns=None)
    >>> Settings("rewards:8950")
    Traceback (most recent call last):
    ...
    ValueError: the address of a server starts with http:// or https://, got 'rewards:8950'
    """

    url: str
    token: str | None = field(default=None, repr=False)
    patience: float = 120.0
    timeout: float = 330.0
    columns: Collection[str] | None = None

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(
                f"the address of a server starts with http:// or https://, got {self.url!r}"
            )
        object.__setattr__(self, "url", self.url.rstrip("/"))
        try:
            host = httpx.URL(self.url).host
        except httpx.InvalidURL as error:
            raise ValueError(f"{self.url!r} is not the address of a server: {error}") from None
        if not host:
            raise ValueError(f"{self.url!r} is not the address of a server: it names no host")
        if isinstance(self.columns, str):
            raise ValueError(f"columns must be a list of names: write [{self.columns!r}]")
        for name, least in (("patience", 0.0), ("timeout", 1e-3)):
            seconds = getattr(self, name)
            if not seconds >= least:  # NaN is neither
                raise ValueError(f"{name} must be a number of seconds, got {seconds!r}")
        if not isinstance(self.token, str | None):
            raise TypeError(f"the token must be text, got {type(self.token).__name__}")
        token = self._bearer()
        if not (token.isascii() and token.isprintable()):
            raise ValueError("the token has characters that no header can hold")

    @property
    def headers(self) -> dict[str, str]:
        """What stands above every request.

        >>> Settings("http://rewards:8950", token="secret").headers["Authorization"]
        'Bearer secret'
        """
        headers = {"Content-Type": "application/json", "User-Agent": "plaudit"}
        if token := self._bearer():
            headers["Authorization"] = f"Bearer {token}"
        return headers

    def _bearer(self) -> str:
        return (self.token or os.environ.get(VARIABLE, "")).strip()

    @property
    def token_source(self) -> str:
        """Where the token comes from, for messages.

        >>> Settings("http://rewards:8950", token="secret").token_source
        'the token of token=…'
        """
        if self.token:
            return "the token of token=…"
        if self._bearer():
            return f"the token of {VARIABLE}"
        return f"no token: pass token=…, or set {VARIABLE}"

    @property
    def timeouts(self) -> dict[str, float]:
        """How many seconds each part of a request may take.

        >>> Settings("http://rewards:8950").timeouts
        {'connect': 5.0, 'read': 330.0, 'write': 330.0, 'pool': 330.0}
        """
        connect = min(CONNECT_TIMEOUT, self.timeout)
        return {"connect": connect, **dict.fromkeys(("read", "write", "pool"), self.timeout)}


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be sent to the server."""

    method: str
    path: str
    body: bytes | None = None

    def for_httpx(self, settings: Settings) -> httpx.Request:
        """The same as `httpx.Client.build_request` makes it, which takes a tenth of a batch's time.

        >>> Request("GET", "/v1/recipe").for_httpx(Settings("http://rewards:8950"))
        <Request('GET', 'http://rewards:8950/v1/recipe')>
        """
        return httpx.Request(
            self.method,
            _parsed(settings.url + self.path),
            headers=settings.headers,
            content=self.body,
            extensions={"timeout": settings.timeouts},
        )


@lru_cache
def _parsed(url: str) -> httpx.URL:
    return httpx.URL(url)


@dataclass(frozen=True, slots=True)
class Pause:
    """Seconds to wait before the next attempt."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Response:
    """What the server answered; the names of its headers are in lower case.

    >>> Response.of(httpx.Response(429, headers={"Retry-After": "1"})).headers["retry-after"]
    '1'
    """

    status: int
    headers: Mapping[str, str]
    content: bytes

    @classmethod
    def of(cls, response: httpx.Response) -> "Response":
        """The same, as httpx gave it."""
        return cls(response.status_code, response.headers, response.content)


Reply = Response | httpx.TransportError
Steps = Generator[Request | Pause, Reply | None, T]


class Server:
    """What a server can be asked, as steps.

    >>> steps = Server(Settings("http://rewards:8950")).recipe()
    >>> next(steps)
    Request(method='GET', path='/v1/recipe', body=None)
    """

    def __init__(self, settings: Settings, recording: Recording | None = None) -> None:
        self.settings = settings
        self._recording = recording
        self._recipe: RemoteRecipe | None = None  # also in a pickle: a process must not see another

    def recipe(self) -> Steps[RemoteRecipe]:
        """What the server scores with; it is asked once."""
        if self._recipe is None:
            answer = yield from self._answer("GET", "/v1/recipe")
            try:
                self._recipe = RemoteRecipe.of(answer)
            except (KeyError, TypeError):
                raise ServerError(_other_server(self.settings.url)) from None
        return self._recipe

    def recording(self) -> Steps[Recording | None]:
        """Where to record what the server gives: by `plaudit.record`, or by the environment."""
        if self._recording is not None:
            return self._recording
        recipe = yield from self.recipe()
        return environment_recording(recipe.components, recipe.weights, recipe.toml)

    def recorded_in(self, directory: Path) -> Steps["Server"]:
        """The same server, whose rewards are recorded."""
        recipe = yield from self.recipe()
        recording = recording_in(directory, recipe.components, recipe.weights, recipe.toml)
        server = Server(self.settings, recording)
        server._recipe = recipe
        return server

    def rows(self, completions: Sequence[Any], columns: Columns) -> Steps[list[RowScore]]:
        """The total, the components' scores and the reasons, for each completion."""
        return (yield from self._recorded_rows("/v1/score", completions, columns))

    def rewards(
        self, completions: Sequence[Any], columns: Columns, component: str | None = None
    ) -> Steps[list[float | None]]:
        """The total of each completion, or what one component gives."""
        if component is None and (yield from self.recording()) is not None:
            rows = yield from self._recorded_rows("/v1/rewards", completions, columns)
            return [row.total for row in rows]
        answer = yield from self._batch("/v1/rewards", completions, columns, component=component)
        return [number(reward) for reward in answer["rewards"]]

    def scores(
        self, completions: Sequence[Any], columns: Columns, component: str
    ) -> Steps[list[Score]]:
        """What one component gives, with the reasons."""
        options = {"component": component, "reasons": True}
        answer = yield from self._batch("/v1/rewards", completions, columns, **options)
        rows = rows_of(answer, (yield from self.recipe()))
        return [row.components[component] for row in rows]

    def _recorded_rows(
        self, path: str, completions: Sequence[Any], columns: Columns
    ) -> Steps[list[RowScore]]:
        start = time.perf_counter()
        answer = yield from self._batch(path, completions, columns, reasons=True)
        rows = rows_of(answer, (yield from self.recipe()))
        if (recording := (yield from self.recording())) is not None:
            recording.add_rows(rows, completions, columns, time.perf_counter() - start)
        return rows

    def _batch(
        self, path: str, completions: Sequence[Any], columns: Columns, **options: Any
    ) -> Steps[dict[str, Any]]:
        recipe, options["logs"] = (yield from self.recipe()), logs_wanted(columns)
        body = body_of(recipe, completions, columns, self.settings.columns, **options)
        answer: dict[str, Any] = yield from self._answer("POST", path, body)
        replay(answer, columns)
        return answer

    def _answer(self, method: str, path: str, body: bytes | None = None) -> Steps[Any]:
        attempts = Attempts(self.settings, is_known=self._recipe is not None)
        while True:
            reply = yield Request(method, path, body)
            assert reply is not None
            outcome = attempts.outcome(reply)
            if isinstance(outcome, Response):
                self._check_fingerprint(outcome)
                try:
                    return read_answer(outcome.content)
                except ValueError:
                    raise ServerError(_other_server(self.settings.url)) from None
            yield outcome

    def _check_fingerprint(self, response: Response) -> None:
        """Raise if the server scores with another recipe than the one that the client knows."""
        found = response.headers.get("x-recipe-fingerprint", "")
        if self._recipe is not None and found != self._recipe.fingerprint:
            raise ServerError(
                f"{self.settings.url} scores with another recipe than before: its fingerprint was "
                f"{self._recipe.fingerprint or 'missing'}, and is {found or 'missing'}. Its "
                "rewards, weights, gates, parameters, or version of plaudit differ. Start the "
                "server with the recipe of before; or, for the rewards of the new one, make "
                "another Client"
            )


def _other_server(url: str) -> str:
    return f"{url} does not answer as plaudit's server does: is there a proxy, or another server?"


class ServerError(RuntimeError):
    """The server refused, failed or could not be reached; the message says which.

    code: the status of its answer; None where there was none

    >>> ServerError("http://rewards:8950 answered 401: this server requires a token", 401).code
    401
    """

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type["ServerError"], tuple[str, int | None]]:
        return type(self), (str(self), self.code)


class Attempts:
    """The attempts of one request: whether there is another, and after how long.

    The pause doubles each time and is spread at random, so that clients that were refused together
    do not come back together. It is at least as long as the server asks for.

    >>> attempts = Attempts(Settings("http://rewards:8950", patience=60))
    >>> 0.9 < attempts.outcome(Response(429, {"retry-after": "1"}, b"")).seconds < 2.1
    True
    """

    def __init__(self, settings: Settings, is_known: bool = False) -> None:
        self._settings = settings
        self._is_known = is_known  # whether the server has answered before: its address is right
        self._start = self._logged = time.monotonic()
        self._count = 0

    def outcome(self, reply: Reply) -> Response | Pause:
        """A successful reply, or the pause until the next attempt; raises if there is neither."""
        if isinstance(reply, Response) and reply.status not in RETRIED:
            if 200 <= reply.status < 300:
                return reply
            raise self._error(reply)
        self._count += 1
        seconds: float = min(0.1 * 2**self._count, LONGEST_PAUSE) * random.uniform(0.5, 1.0)
        if isinstance(reply, Response):
            seconds = max(seconds, _retry_after(reply) * random.uniform(1.0, 1.5))
        elif not self._is_known and (advice := advice_on(reply, self._settings.url)):
            raise ServerError(f"{self._why(reply)}; {advice}")
        if time.monotonic() + seconds > self._start + self._settings.patience:
            raise self._error(reply)
        self._log_waiting(reply)
        return Pause(seconds)

    def _log_waiting(self, reply: Reply) -> None:
        """Log that the server is away: at once, and then now and then. A busy one is usual."""
        now = time.monotonic()
        is_away, since = not isinstance(reply, Response), now - self._logged
        if (is_away and self._count == 1) or since > LOG_INTERVAL:
            self._logged = now
            left = max(self._start + self._settings.patience - now, 0.0)
            LOGGER.warning("%s; trying again for %.0f s", self._why(reply), left)

    def _error(self, reply: Reply) -> ServerError:
        tries = f" (tried {self._count} times)" if self._count > 1 else ""
        code = reply.status if isinstance(reply, Response) else None
        hint = ""
        if code == 401:
            hint = f" (the client sent {self._settings.token_source})"
        return ServerError(f"{self._why(reply)}{hint}{tries}", code)

    def _why(self, reply: Reply) -> str:
        if isinstance(reply, Response):
            return f"{self._settings.url} answered {reply.status}: {_reason(reply)}"
        return f"cannot reach {self._settings.url}: {type(reply).__name__} {reply}".strip()


def _retry_after(reply: Response) -> float:
    """Seconds that the server asks for, at most 60; a date is not understood."""
    seconds = reply.headers.get("retry-after", "")
    return min(float(seconds), 60.0) if seconds.isdecimal() else 0.0


def _reason(reply: Response) -> str:
    try:
        return str(read_answer(reply.content)["error"])
    except (ValueError, KeyError, TypeError):
        if reply.status == 413:
            return "a proxy refuses a body of this size: nginx's client_max_body_size is its limit"
        text = reply.content.decode(errors="replace")
        return text[:200] or http.client.responses.get(reply.status, "")
