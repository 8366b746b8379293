"""A request to a server over plain HTTP in, its response out.

By the standard library, which takes a tenth less time than httpx for a batch of 256 known rows.
TLS, proxies and event loops are for httpx.
"""

import select
from collections import deque
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from plaudit.client._requests import Request, Settings

IDLE = 20  # connections that are kept for the next requests, as many as httpx keeps


def is_plain(url: str) -> bool:
    """Whether a server is asked without TLS, without a password in its address, and directly.

    >>> is_plain("http://127.0.0.1:8950"), is_plain("https://rewards")
    (True, False)
    """
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.username or not parts.hostname:
        return False
    proxies = getproxies()
    return not {"http", "all"} & set(proxies) or bool(proxy_bypass(parts.hostname))


class PlainHttp:
    """The connections to one server: each has one request at a time, and stays open for the next.

    >>> from plaudit.recipes import load
    >>> from plaudit.serve import serving
    >>> with serving(load("trl-math")) as url:
    ...     http = PlainHttp(Settings(url))
    ...     print(http.send(Request("GET", "/healthz")).text)
    ...     http.close()
    {"status":"ok"}
    """

    def __init__(self, settings: Settings) -> None:
        parts = urlsplit(settings.url)
        self._settings = settings
        self._host, self._port, self._path = parts.hostname or "", parts.port or 80, parts.path
        self._idle: deque[HTTPConnection] = deque()

    def send(self, step: Request) -> httpx.Response:
        """The response; an httpx.TransportError where there is none."""
        connection = self._taken()
        try:
            headers = self._settings.headers
            connection.request(step.method, self._path + step.path, step.body, headers)
            answer = connection.getresponse()
            content = answer.read()
        except BaseException as error:
            connection.close()
            if isinstance(error, TimeoutError):
                raise httpx.ReadTimeout(str(error)) from error
            if isinstance(error, OSError | HTTPException):
                raise httpx.ReadError(str(error)) from error
            raise
        if answer.will_close or len(self._idle) >= IDLE:
            connection.close()
        else:
            self._idle.append(connection)
        return httpx.Response(answer.status, headers=answer.getheaders(), content=content)

    def close(self) -> None:
        """Close the connections that no request uses."""
        while self._idle:
            self._idle.pop().close()

    def _taken(self) -> HTTPConnection:
        """A connection that is open, and was not closed by the server meanwhile; or a new one."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread was faster
                break
            if _is_quiet(connection):
                return connection
            connection.close()
        connection = HTTPConnection(self._host, self._port, self._settings.timeouts["connect"])
        try:
            connection.connect()
        except TimeoutError as error:
            raise httpx.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        connection.sock.settimeout(self._settings.timeout)
        return connection


def _is_quiet(connection: HTTPConnection) -> bool:
    """Whether nothing arrived since the last response: not even that the server closed it."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return not poll.poll(0)
