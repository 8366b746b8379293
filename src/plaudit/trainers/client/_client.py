"""`Client` and `AsyncClient`: a server as a reward function; and their connections."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

import httpx

from plaudit.recipes import RowScore
from plaudit.runs.recording import recorded_functions
from plaudit.scores.decorators import as_coroutine_functions
from plaudit.trainers.client._requests import (
    ClientSettings,
    ClientSteps,
    Pause,
    RemoteRecipe,
    RemoteServer,
    Reply,
    Request,
)

T = TypeVar("T")
LOGGER = logging.getLogger("plaudit.trainers.client")


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
