"""A request to a server over plain HTTP in, its response out.

By sockets and httptools, which take half a millisecond less than httpx for a batch of 256 known
rows. TLS, proxies and event loops are for httpx.
"""

import select
import socket
from collections import deque
from contextlib import suppress
from typing import Any

import httptools
import httpx

from plaudit.client._proxy import proxy_of
from plaudit.client._requests import Request, Response, Settings

IDLE = 20  # connections that are kept for the next requests, as many as httpx keeps
PIECE = 64 << 10  # bytes of an answer that are received at once


def is_plain(url: str) -> bool:
    """Whether a server is asked without TLS, without a password in its address, and directly.

    >>> is_plain("http://127.0.0.1:8950"), is_plain("https://rewards")
    (True, False)
    """
    address = httpx.URL(url)
    return address.scheme == "http" and not address.userinfo and not proxy_of(url)


class PlainHttp:
    """The connections to one server: each has one request at a time, and stays open for the next.

    >>> from plaudit.recipes import load
    >>> from plaudit.serve import serving
    >>> with serving(load("trl-math")) as url:
    ...     http = PlainHttp(Settings(url))
    ...     print(http.send(Request("GET", "/healthz")).content)
    ...     http.close()
    b'{"status":"ok"}'
    """

    def __init__(self, settings: Settings) -> None:
        url = httpx.URL(settings.url)
        self._settings = settings
        self._address = url.raw_host.decode(), url.port or 80
        self._host, self._path = url.netloc.decode(), url.raw_path.decode().rstrip("/")
        self._idle: deque[socket.socket] = deque()

    def send(self, step: Request) -> Response:
        """The response; an httpx.TransportError where there is none."""
        connection = self._taken()
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # it may have answered: too large
                connection.sendall(self._head(step))
                connection.sendall(step.body or b"")
            answer = _Answer(connection)
        except BaseException as error:
            connection.close()
            if isinstance(error, TimeoutError):
                raise httpx.ReadTimeout(str(error)) from error
            if isinstance(error, OSError | httptools.HttpParserError):
                raise httpx.ReadError(str(error)) from error
            raise
        if answer.stays_open and len(self._idle) < IDLE:
            self._idle.append(connection)
        else:
            connection.close()
        return Response(answer.status, answer.headers, b"".join(answer.parts))

    def close(self) -> None:
        """Close the connections that no request uses."""
        while (connection := self._unused()) is not None:
            connection.close()

    def _head(self, step: Request) -> bytes:
        fields = {"Host": self._host, **self._settings.headers}
        if step.body is not None:
            fields["Content-Length"] = str(len(step.body))
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"{step.method} {self._path}{step.path} HTTP/1.1\r\n{lines}\r\n".encode("latin-1")

    def _taken(self) -> socket.socket:
        """A connection that is open, and was not closed by the server meanwhile; or a new one."""
        while (connection := self._unused()) is not None:
            if _is_quiet(connection):
                return connection
            connection.close()
        try:
            made = socket.create_connection(self._address, self._settings.timeouts["connect"])
        except TimeoutError as error:
            raise httpx.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.settimeout(self._settings.timeout)
        return made

    def _unused(self) -> socket.socket | None:
        with suppress(IndexError):
            return self._idle.pop()
        return None


class _Answer:
    """The answer that comes in on a connection: `httptools` calls it as it reads."""

    def __init__(self, connection: socket.socket) -> None:
        self.headers: dict[str, str] = {}
        self.parts: list[bytes] = []
        self.status = 0  # until the whole answer is there
        self.stays_open = False
        self._parser: Any = httptools.HttpResponseParser(self)
        while not self.status:
            data = connection.recv(PIECE)
            if data:
                self._parser.feed_data(data)
            elif self.headers and not {"content-length", "transfer-encoding"} & set(self.headers):
                self.status = self._parser.get_status_code()  # its end is that of the connection
            else:
                raise ConnectionError("the server closed the connection before it had answered")

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, part: bytes) -> None:
        self.parts.append(part)

    def on_message_complete(self) -> None:
        self.status = self._parser.get_status_code()
        self.stays_open = self._parser.should_keep_alive()


def _is_quiet(connection: socket.socket) -> bool:
    """Whether nothing arrived since the last response: not even that the server closed it."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return not poll.poll(0)
