"""Steps in, their result out: the connections to a server, in threads and on event loops."""

import asyncio
import os
import threading
import time
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import httpx

from plaudit.client._plain_http import PlainHttp, is_plain
from plaudit.client._proxy import httpx_settings
from plaudit.client._requests import Pause, Reply, Request, Response, Settings, Steps

T = TypeVar("T")


class Connection:
    """The connections of a process to a server: neither a pickle nor a fork takes them along."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._http: httpx.Client | PlainHttp | None = None
        self._process = 0  # that opened them

    def __reduce__(self) -> tuple[type["Connection"], tuple[Settings]]:
        return Connection, (self._settings,)

    def run(self, steps: Steps[T]) -> T:
        """The result of the steps."""
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
        http = self._opened()
        try:
            if isinstance(http, PlainHttp):
                return http.send(step)
            return Response.of(http.send(step.for_httpx(self._settings)))
        except httpx.TransportError as error:
            return error

    def _opened(self) -> httpx.Client | PlainHttp:
        with self._lock:
            if self._http is None or self._process != os.getpid():
                self._process = os.getpid()
                url = self._settings.url
                self._http = (
                    PlainHttp(self._settings)
                    if is_plain(url)
                    else httpx.Client(**httpx_settings(url))
                )
            return self._http


class AsyncConnection:
    """The same for event loops, each of which has connections of its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._https: WeakKeyDictionary[Any, httpx.AsyncClient] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[type["AsyncConnection"], tuple[Settings]]:
        return AsyncConnection, (self._settings,)

    async def run(self, steps: Steps[T]) -> T:
        """The result of the steps."""
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
            return Response.of(await self._opened().send(step.for_httpx(self._settings)))
        except httpx.TransportError as error:
            return error

    def _opened(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if loop not in self._https:
            self._https[loop] = httpx.AsyncClient(**httpx_settings(self._settings.url))
        return self._https[loop]
