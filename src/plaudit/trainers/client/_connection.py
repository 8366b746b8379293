"""The connections of a client to its server, in threads and on event loops."""

import asyncio
import logging
import os
import threading
import time
from functools import cache
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

import httpx

from plaudit.trainers.client._requests import ClientSettings, ClientSteps, Pause, Reply, Request

T = TypeVar("T")
LOGGER = logging.getLogger("plaudit.trainers.client")


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
            return self._opened().request(step.method, url, content=step.body)
        except httpx.TransportError as error:
            return error

    def _opened(self) -> httpx.Client:
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
            return await self._opened().request(step.method, url, content=step.body)
        except httpx.TransportError as error:
            return error

    def _opened(self) -> httpx.AsyncClient:
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
    mounts = {f"all://{_pattern(host)}": None} if is_local(host) else {}
    return {"headers": settings.headers, "timeout": settings.timeouts, "mounts": mounts}


def _pattern(host: str) -> str:
    return f"[{host}]" if ":" in host else host


@cache
def _log_proxy(url: str, proxy: str) -> None:
    address = httpx.URL(proxy if "://" in proxy else f"http://{proxy}")
    shown = f"{address.scheme}://{address.netloc.decode()}"  # without its password
    host = httpx.URL(url).host
    LOGGER.warning(
        "%s is asked through the proxy %s of the environment; NO_PROXY=%s asks it directly",
        *(url, shown, host),
    )
