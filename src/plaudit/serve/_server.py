"""A running server: uvicorn, and around it connections with timeouts and a limit of their number.

no complete head of a request yet     `io_timeout` seconds, then 408; LINGER if it is stopping
a body on its way, rows being scored  the timeouts of `_request_body` and of `_service`
an answer that the client must take   `io_timeout` seconds, then the connection is reset
the rest of a body that is not read   LINGER seconds, in which it is discarded
between two requests                  KEEP_ALIVE seconds; less before the client showed its token

Descriptors are what a process has few of: a connection takes one, and the judge needs some to start
workers. So connections are counted, and the limit is below that of the process.

A `Connection` passes bytes between the client and uvicorn's own protocol, which has no timeout for
the head of a first request, nor for an answer that the client does not take.
"""

import asyncio
import logging
import resource
import secrets
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from os import PathLike
from typing import Any

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from plaudit.judge import shared_judge
from plaudit.recipes import Recipe
from plaudit.serve._application import Middleware, application
from plaudit.serve._metrics import log
from plaudit.serve._protocol import problem_response
from plaudit.serve._scorer import ServerLimits

LOOPBACK = ("localhost", "127.0.0.1", "::1")  # the names of a loopback address
GRACE = 5.0  # seconds beyond a request's own deadline that a server waits when it stops
BACKLOG = 2048  # connections that wait to be accepted
ACCEPTED = 16  # connections that are accepted at once: then those that are too many are closed
HEAD = 64 << 10  # bytes of a request's line and headers
LINGER = 2.0
KEEP_ALIVE = 65  # seconds: longer than clients keep connections, so that they close, not we
KEEP_ALIVE_UNAUTHORIZED = 15
RESERVED = 96  # descriptors for all but connections: files, images, and what is being accepted
DESCRIPTORS_PER_WORKER = 4
FEWEST = 16
SMALL = 16 << 10  # bytes that wait for what follows: the client is woken once by head and body
# uvicorn ends its answer to what it cannot parse with this text.
NOT_PARSED = b"Invalid HTTP request received."


@contextmanager
def serving(
    recipe: Recipe,
    limits: ServerLimits | None = None,
    token: str | None = None,
    port: int = 0,
    images: str | PathLike[str] | None = None,
    tasks: Sequence[Mapping[str, Any]] | None = None,
) -> Iterator[str]:
    """Serve a recipe on this machine for as long as the block lasts; gives the address.

    port: the port to listen on; default: 0, any free one
    See `application` for the other parameters. Raises RuntimeError if the server does not start.

    >>> from urllib.request import urlopen
    >>> from plaudit.recipes import load
    >>> with serving(load("trl-math")) as url:
    ...     print(urlopen(f"{url}/healthz").read().decode())
    {"status":"ok"}
    """
    limits = limits or ServerLimits()
    with socket.create_server(("127.0.0.1", port)) as listener:
        app = application(recipe, limits, token, images, LOOPBACK, tasks=tasks)
        server = server_of(app, limits)
        thread = threading.Thread(target=server.run, args=([listener],), name="plaudit-serve")
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.005)
            if not server.started:
                raise RuntimeError("the server did not start: its log says why")
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


class Server(uvicorn.Server):
    """uvicorn, which accepts few connections at once though many may wait, and ends them all."""

    def __init__(self, config: uvicorn.Config, connections: "Connections") -> None:
        super().__init__(config)
        self._connections = connections

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen. asyncio accepts as many at once as its backlog is, before it looks at any."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop. uvicorn tells the connections that it knows of; asyncio may have accepted more."""
        self._connections.is_stopping = True
        await super().shutdown(sockets)


def server_of(app: Middleware, limits: ServerLimits) -> Server:
    """uvicorn, set up for an application: it finishes the requests it has before it stops."""
    most = connections_possible(limits.connections, shared_judge().settings.workers)
    connections = Connections(most)
    settings: dict[str, Any] = {
        "http": partial(Connection, connections, limits.io_timeout, app.metrics.add_refusal),
        "ws": "none",
        "loop": "asyncio",  # the same whatever is installed; another is no faster for batches
        "lifespan": "on",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "backlog": ACCEPTED,
        "timeout_keep_alive": KEEP_ALIVE,
        "timeout_graceful_shutdown": int(limits.io_timeout + limits.deadline + GRACE),
    }
    return Server(uvicorn.Config(app, **settings), connections)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address; 0 is any free port.

    >>> with listen("127.0.0.1", 0) as listener:
    ...     listener.getsockname()[1] > 0
    True
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise ValueError(f"cannot listen on {host}, port {port}: {why}") from error


# --- connections ----------------------------------------------------------------------------------


class Connection(asyncio.Protocol):
    """Between a client and uvicorn's protocol; the middleware reports requests to it."""

    def __init__(
        self,
        connections: "Connections",
        io_timeout: float,
        count_refusal: Callable[[int], None],
        *,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        **uvicorn: Any,
    ) -> None:
        self.connections, self._io_timeout = connections, io_timeout
        self._count_refusal = count_refusal
        self._loop = _loop or asyncio.get_running_loop()
        state = {**app_state, "connection": self}  # part of the scope of each request
        protocol: Any = AutoHTTPProtocol
        self._http = protocol(app_state=state, _loop=self._loop, **uvicorn)
        self._transport: asyncio.Transport
        self._head = b""  # of a request that is not complete yet
        self._has_head = False  # whether a request is complete, or its body on its way
        self._requests = 0  # that the application has begun
        self._is_answering = False
        self._is_read = False  # whether the body of the request is read to its end
        self._is_unread = False  # whether it is answered though it is not
        self._is_closing = False  # whether what the client sends is discarded
        self._pending: list[bytes] = []
        self._timer: asyncio.TimerHandle | None = None  # for a head, while idle, or at the end
        self._is_idle = False  # whether the timer is that of a connection between two requests
        self._flush_timer: asyncio.TimerHandle | None = None

    # --- from the client --------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client connected: it should send a request."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._http.connection_made(_ConnectionTransport(self, transport))
        self._start_head_timer()
        # asyncio does this for sockets that it made itself. Without it, an answer whose head and
        # body go out apart waits for the client's delayed acknowledgement: 40 ms.
        with suppress(OSError):
            self._set_option(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connections.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed."""
        self.connections.closed(self)
        self._stop_timer()
        self._stop_flush_timer()
        self._http.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes arrived."""
        if self._is_closing:
            return
        if not self._has_head:
            self._receive_head(data)
        if not self._is_closing:
            self._http.data_received(data)

    def _receive_head(self, data: bytes) -> None:
        # Empty lines begin no request: the timeout goes on.
        self._head = (self._head + data).lstrip(b"\r\n")
        self.connections.busy(self)
        if b"\r\n\r\n" in self._head:
            self._has_head, self._head = True, b""
            self._stop_timer()
        elif len(self._head) > HEAD:
            self.refuse(431, f"the headers are larger than {HEAD} bytes")
        else:
            self._start_head_timer()

    def eof_received(self) -> bool | None:
        """The client sends no more."""
        return self._http.eof_received()  # type: ignore[no-any-return]

    def pause_writing(self) -> None:
        """The client takes the answer more slowly than it is written."""
        self._http.pause_writing()
        self._start_flush_timer()

    def resume_writing(self) -> None:
        """The client has taken most of it."""
        self._http.resume_writing()
        self._stop_flush_timer()

    # --- from the application ---------------------------------------------------------------------

    def request_begins(self) -> None:
        """The application has a request."""
        self._requests += 1
        self._is_answering = self._has_head = True
        self._is_read = self._is_unread = False
        self._stop_timer()
        self.connections.busy(self)

    def authorize(self) -> None:
        """The client showed its token, or none is required."""
        self.connections.unauthorized.pop(self, None)

    def body_is_read(self) -> None:
        """The body of the request is there."""
        self._is_read = True

    def leave_unread(self) -> None:
        """The request is answered before its body was read: the client may still be sending."""
        self._is_unread = True

    def request_ends(self) -> None:
        """The request is answered."""
        self._is_answering = self._has_head = False
        self._start_flush_timer()
        if self._is_closing:
            self.close(linger=True)
            return
        self.connections.idle(self)
        if self in self.connections.unauthorized and not self._transport.is_closing():
            self._start_timer(KEEP_ALIVE_UNAUTHORIZED, self._transport.close)
            self._is_idle = True

    # --- from uvicorn's protocol ------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send bytes of an answer; those of a small one are sent together."""
        if data.endswith(NOT_PARSED):
            # It may stand behind a good request, which the application gets in its next step.
            self._is_closing = True
            self._loop.call_soon(self._refuse_garbage)
            return
        if not self._pending:
            self._loop.call_soon(self._flush)
        self._pending.append(data)
        if len(data) > SMALL:
            self._flush()

    def close(self, linger: bool | None = None) -> None:
        """Close, once what is written is sent.

        linger: whether the client may still be sending. Closing at once would then reset the
            connection, and an answer that is on its way to the client would be lost.
        """
        if self._transport.is_closing() or (self._is_closing and linger is None):
            return
        self._flush()
        self._start_flush_timer()
        if not (self._is_unread if linger is None else linger):
            self._transport.close()
            return
        self._is_closing = True
        self._start_timer(LINGER, self._transport.abort)
        try:
            self._transport.write_eof()
        except OSError:  # the client is gone already
            self._transport.abort()
        else:
            self._transport.resume_reading()

    def _flush(self) -> None:
        pending, self._pending = self._pending, []
        if pending and not self._transport.is_closing():
            self._transport.writelines(pending)

    # --- refusals ---------------------------------------------------------------------------------

    def refuse(self, code: int, why: str) -> None:
        """Answer what is no complete request, and close."""
        if self._transport.is_closing():
            return
        request = secrets.token_hex(8)
        headers = {"Connection": "close", "X-Request-ID": request}
        answer = problem_response(code, why, request, headers)
        peer = self._transport.get_extra_info("peername")
        self._count_refusal(code)
        client = peer[0] if isinstance(peer, tuple) else None
        log("refused", logging.INFO, request=request, code=code, why=why, client=client)
        head = b"".join(b"%s: %s\r\n" % header for header in answer.raw_headers)
        self._pending.append(b"HTTP/1.1 %d \r\n%s\r\n%s" % (code, head, bytes(answer.body)))
        self.close(linger=True)

    def _refuse_garbage(self) -> None:
        # The answer to a good request before it is the last one.
        if not (self._is_answering and self._is_read):
            self.refuse(400, "this is not an HTTP request that the server understands")

    def evict(self) -> None:
        """Close at once, so that another connection can be accepted."""
        if not self._requests and not self._is_closing:
            self.refuse(503, "too many connections: try again")
        unsent = self._transport.get_write_buffer_size()
        self._transport.abort() if unsent else self._transport.close()

    # --- timeouts ---------------------------------------------------------------------------------

    def _start_head_timer(self) -> None:
        if self._timer is None or self._is_idle:
            seconds = LINGER if self.connections.is_stopping else self._io_timeout
            why = f"the request's head did not arrive within {seconds:g} s"
            self._start_timer(seconds, lambda: self.refuse(408, why))

    def _start_timer(self, seconds: float, act: Callable[[], None]) -> None:
        self._stop_timer()
        self._is_idle = False
        self._timer = self._loop.call_later(seconds, act)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start_flush_timer(self) -> None:
        if self._flush_timer is None and self._transport.get_write_buffer_size():
            self._flush_timer = self._loop.call_later(self._io_timeout, self._reset)

    def _stop_flush_timer(self) -> None:
        if self._flush_timer is not None:
            self._flush_timer.cancel()
            self._flush_timer = None

    def _reset(self) -> None:
        """Close without sending the rest of an answer that the client does not take."""
        self._flush_timer = None
        if self._transport.get_write_buffer_size():
            # Otherwise the system would keep what it has of the answer, and go on trying.
            with suppress(OSError):
                self._set_option(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._transport.abort()

    def _set_option(self, level: int, option: int, value: int | bytes) -> None:
        self._transport.get_extra_info("socket").setsockopt(level, option, value)


class _ConnectionTransport:
    """The transport that uvicorn's protocol sees: what it writes and closes passes by."""

    def __init__(self, connection: Connection, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.write: Callable[[Any], None] = lambda data: connection.write(bytes(data))
        self.close: Callable[[], None] = connection.close

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Connections:
    """The open connections of a server. If there are too many, unauthorized ones go first.

    is_stopping: whether the server is: then the current request of a connection is its last one
    """

    def __init__(self, most: int) -> None:
        self.is_stopping = False
        self._most = most
        self._open: set[Connection] = set()
        # Both in the order in which they became what they are: the oldest goes first.
        self.unauthorized: dict[Connection, None] = {}
        self._idle: dict[Connection, None] = {}

    def opened(self, connection: Connection) -> None:
        """Count a connection; if there are too many, another is closed, or else this one."""
        self._open.add(connection)
        self.unauthorized[connection] = None
        if len(self._open) > self._most:
            evicted = next(iter(self.unauthorized))
            if evicted is connection and self._idle:
                evicted = next(iter(self._idle))
            self.closed(evicted)
            evicted.evict()

    def idle(self, connection: Connection) -> None:
        """It has its answer, and stays open."""
        if connection not in self.unauthorized and connection in self._open:
            self._idle[connection] = None

    def busy(self, connection: Connection) -> None:
        """A request begins."""
        self._idle.pop(connection, None)

    def closed(self, connection: Connection) -> None:
        """It is closed."""
        self._open.discard(connection)
        self.unauthorized.pop(connection, None)
        self._idle.pop(connection, None)


def raise_descriptor_limit() -> None:
    """Let this process open as many files as the system allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems name a hard limit that they do not grant.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def connections_possible(wanted: int, workers: int) -> int:
    """Return as many connections as wanted, or as this process has descriptors for."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    return min(wanted, max(FEWEST, soft - RESERVED - DESCRIPTORS_PER_WORKER * workers))
