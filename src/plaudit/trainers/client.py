"""Clients of a server: `plaudit serve` scores, a trainer asks.

    from plaudit import Client
    from trl import GRPOTrainer

    client = Client("http://rewards:8950")
    GRPOTrainer(..., reward_funcs=client.reward_funcs())   # or reward_funcs=client: the total

The rewards are those of the recipe, called directly. `AsyncClient` is the same for event loops.

A request is a generator, which serves both: it yields a `Request` and receives the response, or the
error that came instead; or it yields a `Pause`, and goes on after it. `ServerConnection` runs it in
a thread, and `AsyncServerConnection` on an event loop.
"""

import asyncio
import http.client
import json
import logging
import os
import random
import ssl
import threading
import time
import warnings
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from socket import gaierror
from typing import Any, Self, TypeVar, get_args, get_type_hints
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

import httpx
import msgspec

from plaudit.inputs.columns import TRUNCATION, python_values, same_length, truncated_rows
from plaudit.inputs.columns import rows_of as rows_in
from plaudit.inputs.images import is_decoded
from plaudit.recipes import RowScore
from plaudit.runs.recording import (
    Recording,
    environment_recording,
    recorded_functions,
    recording_in,
)
from plaudit.scores import Score
from plaudit.scores.decorators import HOOKS, as_coroutine_functions

__all__ = ["AsyncClient", "Client", "ServerError"]


T = TypeVar("T")
VARIABLE = "PLAUDIT_TOKEN"
CONNECT_TIMEOUT = 5.0  # seconds: a server accepts a connection at once, however busy it is
RETRIED = (429, 502, 503, 504)
LOGGER = logging.getLogger("plaudit.trainers.client")
LOG_INTERVAL = 15.0  # seconds between two lines about a server that does not answer
LONGEST_PAUSE = 10.0  # seconds between two attempts, unless the server asks for more
Columns = Mapping[str, Any]
Texts = list[str | list[dict[str, str]]]  # completions as most trainers pass them
FIELDS = get_type_hints(Score)
NUMBERS = [name for name, kind in FIELDS.items() if float in get_args(kind)]


@dataclass(frozen=True)
class ClientSettings:
    """The settings of a client; see `Client` for what each means."""

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
        """The headers of every request."""
        headers = {"Content-Type": "application/json", "User-Agent": "plaudit"}
        if token := self._bearer():
            headers["Authorization"] = f"Bearer {token}"
        return headers

    def _bearer(self) -> str:
        return (self.token or os.environ.get(VARIABLE, "")).strip()

    @property
    def token_source(self) -> str:
        """Where the token comes from, for messages."""
        if self.token:
            return "the token of token=…"
        if self._bearer():
            return f"the token of {VARIABLE}"
        return f"no token: pass token=…, or set {VARIABLE}"

    @property
    def timeouts(self) -> httpx.Timeout:
        """Seconds that each part of a request may take."""
        return httpx.Timeout(self.timeout, connect=min(CONNECT_TIMEOUT, self.timeout))


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the server."""

    method: str
    path: str
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """Seconds to wait before the next attempt."""

    seconds: float


Reply = httpx.Response | httpx.TransportError
ClientSteps = Generator[Request | Pause, Reply | None, T]


@dataclass(frozen=True)
class RemoteRecipe:
    """The recipe of a server, as far as a client needs it."""

    name: str
    components: tuple[str, ...]
    weights: tuple[float, ...]
    needs: frozenset[str]
    takes: frozenset[str]
    takes_any: bool
    fingerprint: str = ""  # differs if the rewards may differ
    toml: str = ""  # the recipe as a file

    @classmethod
    def of(cls, info: Mapping[str, Any]) -> "RemoteRecipe":
        """Return the recipe that the server describes."""
        components = info["components"]
        return cls(
            name=info["name"],
            components=tuple(component["name"] for component in components),
            weights=tuple(component["weight"] for component in components),
            needs=frozenset([*info["needs"], *info["needs"].values()]),
            takes=frozenset(info["takes"]),
            takes_any=bool(info.get("takes_any")),
            fingerprint=str(info.get("fingerprint", "")),
            toml=str(info.get("toml", "")),
        )


class RemoteServer:
    """The requests that a server answers."""

    def __init__(self, settings: ClientSettings, recording: Recording | None = None) -> None:
        self.settings = settings
        self._recording = recording
        self._recipe: RemoteRecipe | None = None  # also in a pickle: a process must not see another

    def recipe(self) -> ClientSteps[RemoteRecipe]:
        """Return the server's recipe; it is asked for once."""
        if self._recipe is None:
            answer = yield from self._answer("GET", "/v1/recipe")
            try:
                self._recipe = RemoteRecipe.of(answer)
            except (KeyError, TypeError):
                raise ServerError(_other_server(self.settings.url)) from None
        return self._recipe

    def recording(self) -> ClientSteps[Recording | None]:
        """Return where to record rewards: by `plaudit.record`, or by the environment."""
        if self._recording is not None:
            return self._recording
        recipe = yield from self.recipe()
        return environment_recording(recipe.components, recipe.weights, recipe.toml)

    def recorded_in(self, directory: Path) -> ClientSteps["RemoteServer"]:
        """Return the same server, whose rewards are recorded."""
        recipe = yield from self.recipe()
        recording = recording_in(directory, recipe.components, recipe.weights, recipe.toml)
        server = RemoteServer(self.settings, recording)
        server._recipe = recipe
        return server

    def rewards(
        self, completions: Sequence[Any], columns: Columns, component: str | None = None
    ) -> ClientSteps[list[float | None]]:
        """Return the total of each completion, or the value of one component."""
        if component is None and (yield from self.recording()) is not None:
            rows = yield from self.rows(completions, columns, "/v1/rewards")
            return [row.total for row in rows]
        answer = yield from self._batch("/v1/rewards", completions, columns, component=component)
        return [number(reward) for reward in answer["rewards"]]

    def scores(
        self, completions: Sequence[Any], columns: Columns, component: str
    ) -> ClientSteps[list[Score]]:
        """Return the scores of one component."""
        options = {"component": component, "reasons": True}
        answer = yield from self._batch("/v1/rewards", completions, columns, **options)
        rows = rows_of(answer, (yield from self.recipe()))
        return [row.components[component] for row in rows]

    def rows(
        self, completions: Sequence[Any], columns: Columns, path: str = "/v1/score"
    ) -> ClientSteps[list[RowScore]]:
        """Return the total, the components' scores and the reasons, and record them."""
        start = time.perf_counter()
        answer = yield from self._batch(path, completions, columns, reasons=True)
        rows = rows_of(answer, (yield from self.recipe()))
        if (recording := (yield from self.recording())) is not None:
            recording.add_rows(rows, completions, columns, time.perf_counter() - start)
        return rows

    def _batch(
        self, path: str, completions: Sequence[Any], columns: Columns, **options: Any
    ) -> ClientSteps[dict[str, Any]]:
        recipe = yield from self.recipe()
        options["logs"] = any(callable(columns.get(name)) for name in ("log_extra", "log_metric"))
        body = body_of(recipe, completions, columns, self.settings.columns, **options)
        answer: dict[str, Any] = yield from self._answer("POST", path, body)
        replay(answer, columns)
        return answer

    def _answer(self, method: str, path: str, body: bytes | None = None) -> ClientSteps[Any]:
        attempts = Attempts(self.settings, is_known=self._recipe is not None)
        while True:
            reply = yield Request(method, path, body)
            assert reply is not None
            outcome = attempts.outcome(reply)
            if isinstance(outcome, httpx.Response):
                self._check_fingerprint(outcome)
                try:
                    return read_answer(outcome.content)
                except ValueError:
                    raise ServerError(_other_server(self.settings.url)) from None
            yield outcome

    def _check_fingerprint(self, response: httpx.Response) -> None:
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

    code: the status of its answer; None if there was none

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
    """

    def __init__(self, settings: ClientSettings, is_known: bool = False) -> None:
        self._settings = settings
        self._is_known = is_known  # whether the server has answered before: its address is right
        self._start = self._logged = time.monotonic()
        self._count = 0

    def outcome(self, reply: Reply) -> httpx.Response | Pause:
        """Return a successful reply, or the pause until the next attempt; else raise."""
        if isinstance(reply, httpx.Response) and reply.status_code not in RETRIED:
            if 200 <= reply.status_code < 300:
                return reply
            raise self._error(reply)
        self._count += 1
        seconds: float = min(0.1 * 2**self._count, LONGEST_PAUSE) * random.uniform(0.5, 1.0)
        if isinstance(reply, httpx.Response):
            # The seconds that the server asks for, at most 60; a date is not understood.
            asked = reply.headers.get("retry-after", "")
            least = min(float(asked), 60.0) if asked.isdecimal() else 0.0
            seconds = max(seconds, least * random.uniform(1.0, 1.5))
        elif not self._is_known and (advice := advice_on(reply, self._settings.url)):
            raise ServerError(f"{self._why(reply)}; {advice}")
        if time.monotonic() + seconds > self._start + self._settings.patience:
            raise self._error(reply)
        self._log_waiting(reply)
        return Pause(seconds)

    def _log_waiting(self, reply: Reply) -> None:
        """Log that the server is away: at once, and then now and then. A busy one is usual."""
        now = time.monotonic()
        is_away, since = not isinstance(reply, httpx.Response), now - self._logged
        if (is_away and self._count == 1) or since > LOG_INTERVAL:
            self._logged = now
            left = max(self._start + self._settings.patience - now, 0.0)
            LOGGER.warning("%s; trying again for %.0f s", self._why(reply), left)

    def _error(self, reply: Reply) -> ServerError:
        tries = f" (tried {self._count} times)" if self._count > 1 else ""
        code = reply.status_code if isinstance(reply, httpx.Response) else None
        hint = ""
        if code == 401:
            hint = f" (the client sent {self._settings.token_source})"
        return ServerError(f"{self._why(reply)}{hint}{tries}", code)

    def _why(self, reply: Reply) -> str:
        if isinstance(reply, httpx.Response):
            return f"{self._settings.url} answered {reply.status_code}: {_reason(reply)}"
        return f"cannot reach {self._settings.url}: {type(reply).__name__} {reply}".strip()


def _reason(reply: httpx.Response) -> str:
    try:
        return str(read_answer(reply.content)["error"])
    except (ValueError, KeyError, TypeError):
        if reply.status_code == 413:
            return "a proxy refuses a body of this size: nginx's client_max_body_size is its limit"
        text = reply.content.decode(errors="replace")
        return text[:200] or http.client.responses.get(reply.status_code, "")


def advice_on(error: Exception, url: str) -> str:
    """Say what is wrong with the address of a server; "" if it may just be away."""
    address = httpx.URL(url)
    for cause in _causes(error):
        if isinstance(cause, gaierror):
            return (
                f"no address is known for the host {address.host}: check its spelling, and DNS on "
                "this machine"
            )
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                "its certificate is not trusted: use the host name that it was issued for, and set "
                "SSL_CERT_FILE to the certificate of the authority that issued it"
            )
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError):
            return f"TLS failed: if the server has none, its address is http://{_host(address)}"
        if "illegal" in str(cause):  # h11: the first line is not HTTP
            return f"it does not answer in HTTP: if it has TLS, its address is https://{_host(address)}"
    return ""


def _host(address: httpx.URL) -> str:
    return address.netloc.decode("ascii")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


# --- bodies and responses -------------------------------------------------------------------------


def body_of(
    recipe: RemoteRecipe,
    completions: Sequence[Any],
    columns: Columns,
    only: Collection[str] | None = None,
    **options: Any,
) -> bytes:
    """Return the body of a request, with the columns that the recipe takes and JSON can represent.

    A column that JSON cannot represent is left out with a warning, unless the recipe needs it.
    """
    sent: dict[str, Any] = {}
    for name in _names(recipe, columns, only):
        column = columns[name]
        # An array of several dimensions, such as images, has too many numbers to send.
        is_listed = isinstance(column, list | tuple) or hasattr(column, "to_list")
        is_column = is_listed or getattr(column, "ndim", 2) == 1
        if not (name in recipe.needs or name in _SHORTER or is_column):
            continue
        if name in recipe.needs | recipe.takes:
            same_length(completions, **{name: column})
        elif len(column) != len(completions):
            continue
        try:
            sent[name] = _sendable(name, column)
        except TypeError as error:
            if name in recipe.needs:
                raise TypeError(f"{error}, and the recipe needs it") from None
            if name in recipe.takes:
                warnings.warn(f"{error}: the server scores without it", stacklevel=2)
    # The server does not see the trainer, which knows what was cut off.
    cut = {*truncated_rows(columns, len(completions))}
    if cut and not any(name in sent for name in TRUNCATION):
        sent["truncated"] = [row in cut for row in range(len(completions))]
    body = {"completions": _sendable("completions", completions), "columns": sent, **options}
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:  # half of a surrogate pair: only Python's own JSON escapes it
        return json.dumps(body, default=_parse_raw).encode()


def _names(recipe: RemoteRecipe, columns: Columns, only: Collection[str] | None) -> list[str]:
    passed = [name for name, column in columns.items() if column is not None]
    wanted = set(passed) if recipe.takes_any else recipe.takes | recipe.needs
    if only is not None:
        wanted &= {*only, *recipe.needs}
    return [name for name in passed if name in wanted and name not in HOOKS]


def _sendable(name: str, column: Sequence[Any]) -> Texts | msgspec.Raw:
    """Texts and messages as they are, which are written fast; anything else as JSON."""
    plain = _SHORTER.get(name, _plain)
    rows = list(rows_in(column, name))
    with suppress(msgspec.ValidationError, TypeError):
        return msgspec.convert(rows, Texts)
    try:
        return msgspec.Raw(json.dumps(rows, default=plain).encode())
    except (TypeError, ValueError, RecursionError):
        row, value = next((row, one) for row, one in enumerate(column) if not _is_json(one, plain))
        raise TypeError(
            f"{name} cannot be sent to the server, since row {row} is an object of type "
            f"{type(value).__name__}, which JSON cannot represent"
        ) from None


def _parse_raw(part: msgspec.Raw) -> Any:
    return json.loads(bytes(part))


def _is_json(value: Any, plain: Callable[[Any], Any]) -> bool:
    try:
        json.dumps(value, default=plain)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _plain(value: Any) -> Any:
    """A numpy number is a number, a row of them a list; a larger array or an image is not sent."""
    if hasattr(value, "tolist") and len(getattr(value, "shape", (0, 0))) <= 1:
        return python_values(value)
    raise TypeError(type(value).__name__)


def _size(value: Any) -> Any:
    """Return the size of an image, which is all that a reward needs of it."""
    return list(value.size) if is_decoded(value) else _plain(value)


_SHORTER = {"image": _size, "images": _size, "image_path": _size, "image_grid_thw": _plain}


def read_answer(content: bytes) -> Any:
    """Return what a response of the server says."""
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError:  # strict JSON has no half of a surrogate pair
        return json.loads(content)


def rows_of(answer: Mapping[str, Any], recipe: RemoteRecipe) -> list[RowScore]:
    """Return the rows of a response, as the recipe itself would give them."""
    weights = dict(zip(recipe.components, recipe.weights, strict=True))
    return [
        RowScore(
            number(row["total"]),
            {name: _score(one) for name, one in row["components"].items()},
            weights,
        )
        for row in answer["rows"]
    ]


def _score(sent: Mapping[str, Any]) -> Score:
    fields = {name: sent[name] for name in FIELDS if name in sent}
    fields |= {name: number(fields[name]) for name in NUMBERS if name in fields}
    if fields.get("turns") is not None:
        fields["turns"] = tuple(fields["turns"])
    return Score(**{"why": "", **fields})


def number(value: float | str | None) -> float | None:
    """Return a number as the server writes it: an infinite one as text."""
    return None if value is None else float(value)


def replay(answer: Mapping[str, Any], columns: Columns) -> None:
    """Log with the trainer what the rewards logged on the server."""
    logs = answer.get("logs", {})
    log_extra, log_metric = columns.get("log_extra"), columns.get("log_metric")
    if callable(log_extra):
        for name, values in logs.get("extra", ()):
            log_extra(name, values)
    if callable(log_metric):
        for name, value in logs.get("metrics", ()):
            log_metric(name, number(value))


# --- the clients, and their connections -----------------------------------------------------------


class Client:
    r"""Asks a server for rewards; called, it is the reward function of the recipe's total.

    url: the server's address, such as "http://rewards:8950"
    token: the token that the server requires; default: that of the variable PLAUDIT_TOKEN, if any
    patience: seconds in which a request is tried again while the server is busy or cannot be
        reached; 0 never tries again
    timeout: seconds that one answer may take, more than the server's own deadline of 300; a
        connection may take 5
    columns: the only columns to send, such as ["solution"], besides those that the recipe needs;
        default: every column that the recipe takes

    If the server is started with another recipe, the next call raises a `ServerError`. What the
    client scores can be recorded, by `plaudit.record` or PLAUDIT_RECORD, as with a recipe.

    It can be pickled, and be called from any thread and after a fork. Arguments that are not
    columns of the recipe are left out; so are those that JSON cannot represent, such as an image.
    If the recipe needs such a column, that is an error.

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
        settings = ClientSettings(url, token, patience, timeout, columns)
        self._server, self._connection = RemoteServer(settings), ServerConnection(settings)

    @property
    def __name__(self) -> str:
        return self._recipe.name

    def __repr__(self) -> str:
        return f"Client({self._server.settings.url!r})"

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """Return the total of each completion; `log_metric` gets the means and the statuses."""
        return self._connection.run(self._server.rewards(completions, columns))

    def score(self, completions: Sequence[Any], **columns: Any) -> list[RowScore]:
        """Return the total, each component's score and the reasons, for each completion."""
        return self._connection.run(self._server.rows(completions, columns))

    def reward_funcs(self) -> list[Callable[..., list[float | None]]]:
        """Return a reward function for each component, each with its name."""
        functions = [
            RemoteReward(self._server, self._connection, name) for name in self._recipe.components
        ]
        recording = self._connection.run(self._server.recording())
        return recorded_functions(functions, recording) if recording else list(functions)

    def reward_weights(self) -> list[float]:
        """Return the weight of each of `reward_funcs()`, in the same order."""
        return list(self._recipe.weights)

    def recorded_in(self, directory: Path) -> Self:
        """Return the same client, which records what it scores; `plaudit.record` calls it."""
        client = copy(self)
        client._server = self._connection.run(self._server.recorded_in(directory))
        return client

    def close(self) -> None:
        """Close the connections. The next call opens others."""
        self._connection.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _recipe(self) -> RemoteRecipe:
        return self._connection.run(self._server.recipe())


@dataclass(frozen=True)
class RemoteReward:
    """One component of the server's recipe, as a reward function."""

    server: RemoteServer
    connection: Any  # a ServerConnection, or an AsyncServerConnection, which returns coroutines
    component: str

    @property
    def __name__(self) -> str:
        return self.component

    def __call__(self, completions: Sequence[Any], **columns: Any) -> Any:
        return self.connection.run(self.server.rewards(completions, columns, self.component))

    def scores(self, completions: Sequence[Any], **columns: Any) -> Any:
        """Return the same with the reasons, which a recorded run keeps."""
        return self.connection.run(self.server.scores(completions, columns, self.component))


@as_coroutine_functions
@dataclass(frozen=True)
class AsyncRemoteReward(RemoteReward):
    """One component of the server's recipe, as a coroutine function."""

    async def __call__(self, completions: Sequence[Any], **columns: Any) -> Any:
        return await super().__call__(completions, **columns)


@as_coroutine_functions
class AsyncClient:
    r"""`Client` for event loops: called, it is a coroutine of each completion's total.

    Trainers recognise asynchronous rewards by `inspect.iscoroutinefunction`, which is true
    for objects with a function's attributes: so this has them, and its `reward_funcs()` too.

    >>> import asyncio
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
        settings = ClientSettings(url, token, patience, timeout, columns)
        self._server, self._connection = RemoteServer(settings), AsyncServerConnection(settings)

    @property
    def __name__(self) -> str:
        return self._recipe.name

    def __repr__(self) -> str:
        return f"AsyncClient({self._server.settings.url!r})"

    async def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """Return the total of each completion; `log_metric` gets the means and the statuses."""
        return await self._connection.run(self._server.rewards(completions, columns))

    async def score(self, completions: Sequence[Any], **columns: Any) -> list[RowScore]:
        """Return the total, each component's score and the reasons, for each completion."""
        return await self._connection.run(self._server.rows(completions, columns))

    def reward_funcs(self) -> list[Callable[..., Any]]:
        """Return a coroutine function for each component, each with its name."""
        functions = [
            AsyncRemoteReward(self._server, self._connection, name)
            for name in self._recipe.components
        ]
        recording = self._ask(self._server.recording())
        return recorded_functions(functions, recording) if recording else list(functions)

    def reward_weights(self) -> list[float]:
        """Return the weight of each of `reward_funcs()`, in the same order."""
        return list(self._recipe.weights)

    def recorded_in(self, directory: Path) -> Self:
        """Return the same client, which records what it scores; `plaudit.record` calls it."""
        client = copy(self)
        client._server = self._ask(self._server.recorded_in(directory))
        return client

    async def close(self) -> None:
        """Close the connections of this event loop."""
        await self._connection.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def _recipe(self) -> RemoteRecipe:
        return self._ask(self._server.recipe())

    def _ask(self, steps: ClientSteps[T]) -> T:
        """Return the result of steps, also outside of any event loop."""
        connection = ServerConnection(self._server.settings)
        try:
            return connection.run(steps)
        finally:
            connection.close()


# --- connections ----------------------------------------------------------------------------------


class ServerConnection:
    """The connections of a process to a server: neither a pickle nor a fork takes them along."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._http: httpx.Client | None = None
        self._process = 0  # that opened them

    def __reduce__(self) -> tuple[type["ServerConnection"], tuple[ClientSettings]]:
        return ServerConnection, (self._settings,)

    def run(self, steps: ClientSteps[T]) -> T:
        """Return the result of the steps."""
        try:
            step = next(steps)
            while True:
                step = steps.send(self._reply(step))
        except StopIteration as end:
            result: T = end.value
            return result

    def close(self) -> None:
        """Close the connections; the next request opens others."""
        with self._lock:
            http, self._http = self._http, None
        if http is not None and self._process == os.getpid():
            http.close()

    def _reply(self, step: Request | Pause) -> Reply | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        try:
            url = self._settings.url + step.path
            return self._open().request(step.method, url, content=step.body)
        except httpx.TransportError as error:
            return error

    def _open(self) -> httpx.Client:
        with self._lock:
            if self._http is None or self._process != os.getpid():
                self._process = os.getpid()
                self._http = httpx.Client(**_httpx_options(self._settings))
            return self._http


class AsyncServerConnection:
    """The same for event loops, each of which has connections of its own."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._https: WeakKeyDictionary[Any, httpx.AsyncClient] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[type["AsyncServerConnection"], tuple[ClientSettings]]:
        return AsyncServerConnection, (self._settings,)

    async def run(self, steps: ClientSteps[T]) -> T:
        """Return the result of the steps."""
        try:
            step = next(steps)
            while True:
                step = steps.send(await self._reply(step))
        except StopIteration as end:
            result: T = end.value
            return result

    async def close(self) -> None:
        """Close the connections of this event loop."""
        http = self._https.pop(asyncio.get_running_loop(), None)
        if http is not None:
            await http.aclose()

    async def _reply(self, step: Request | Pause) -> Reply | None:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        try:
            url = self._settings.url + step.path
            return await self._open().request(step.method, url, content=step.body)
        except httpx.TransportError as error:
            return error

    def _open(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if loop not in self._https:
            self._https[loop] = httpx.AsyncClient(**_httpx_options(self._settings))
        return self._https[loop]


def proxy_of(url: str) -> str:
    """Return the proxy that the environment names for a server; "" if it is asked directly.

    A server on this machine is always asked directly: a proxy elsewhere cannot reach it.
    """
    address, proxies = httpx.URL(url), getproxies()
    proxy = proxies.get(address.scheme) or proxies.get("all") or ""
    is_direct = is_local(address.host) or proxy_bypass(address.host)
    return "" if is_direct else proxy


def is_local(host: str) -> bool:
    """Return whether a host is this machine, by its name."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _httpx_options(settings: ClientSettings) -> dict[str, Any]:
    """Return the arguments of an httpx client; the proxy of a server is logged once."""
    if proxy := proxy_of(settings.url):
        _log_proxy(settings.url, proxy)
    host = httpx.URL(settings.url).host
    pattern = f"[{host}]" if ":" in host else host
    mounts = {f"all://{pattern}": None} if is_local(host) else {}
    return {"headers": settings.headers, "timeout": settings.timeouts, "mounts": mounts}


@cache
def _log_proxy(url: str, proxy: str) -> None:
    address = httpx.URL(proxy if "://" in proxy else f"http://{proxy}")
    shown = f"{address.scheme}://{address.netloc.decode()}"  # without its password
    host = httpx.URL(url).host
    LOGGER.warning(
        "%s is asked through the proxy %s of the environment; NO_PROXY=%s asks it directly",
        *(url, shown, host),
    )
