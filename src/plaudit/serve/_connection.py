"""A client's connection in, whole requests out: every state of a connection has a timeout.

no complete head of a request yet     `sending` seconds, then 408; LINGER if the server is stopping
a body on its way, rows being scored  the timeouts of `_request_body` and of `_service`
an answer that the client must take   `sending` seconds, then the connection is reset
the rest of a body that is not read   LINGER seconds, in which it is discarded
between two requests                  KEEP_ALIVE seconds; less before the client showed its token

Descriptors are what a process has few of: a connection takes one, and the judge needs some to start
workers. So connections are counted, and the limit is below that of the process.
"""

import asyncio
import logging
import resource
import secrets
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from plaudit.serve._log import log
from plaudit.serve._middleware import problem

HEAD = 64 << 10  # bytes of a request's line and headers
LINGER = 2.0
KEEP_ALIVE = 65  # seconds: longer than clients keep connections, so that they close, not we
KEEP_ALIVE_UNAUTHORIZED = 15
RESERVED = 96  # descriptors for all but connections: files, images, and what is being accepted
DESCRIPTORS_PER_WORKER = 4
FEWEST = 16


class Connection(HttpToolsProtocol):
    """uvicorn's own, with a timeout for every state that no application sees."""

    sending: float
    all_connections: "Connections"
    is_stopping = False  # whether the server is: then the current request is the last one
    count_refusal: Callable[[int], None]
    _head_timer: asyncio.TimerHandle | None = None  # until there is a head, or the client is gone
    _flush_timer: asyncio.TimerHandle | None = None  # until the client has taken its answer
    _head_bytes = 0
    _closing = False

    def connection_made(self, transport: Any) -> None:
        """A client connected: it should send a request."""
        super().connection_made(transport)
        self.timeout_keep_alive = KEEP_ALIVE_UNAUTHORIZED
        self._start_head_timer()
        # asyncio does this for sockets that it made itself. Without it, an answer whose head and
        # body go out apart waits for the client's delayed acknowledgement: 40 ms.
        with suppress(OSError):
            self._set_option(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.all_connections.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed."""
        self.all_connections.closed(self)
        self._stop_head_timer()
        self._stop_flush_timer()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes arrived."""
        if self._closing:
            return
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_timer is not None and self._head_bytes > HEAD:
            self.refuse(431, f"the headers are larger than {HEAD} bytes")
        elif not self._is_answering():
            self._start_head_timer()  # also after bytes that begin no request: empty lines

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self.all_connections.busy(self)
        if not self.flow.write_paused:
            self._stop_flush_timer()
        self._start_head_timer()

    def on_headers_complete(self) -> None:
        """The head of the request is there."""
        self._stop_head_timer()
        self.scope["state"]["authorized"] = self._authorized
        super().on_headers_complete()
        self.cycle.transport = _AnswerTransport(self, self.cycle)
        if self.is_stopping:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        """The request is answered."""
        self._start_flush_timer()
        if self._closing:
            self.pipeline.clear()
            return
        super().on_response_complete()
        if not self._is_answering():
            self.all_connections.idle(self)

    def pause_writing(self) -> None:
        """The client takes the answer more slowly than it is written."""
        super().pause_writing()
        self._start_flush_timer()

    def resume_writing(self) -> None:
        """The client has taken most of it."""
        super().resume_writing()
        self._stop_flush_timer()

    def send_400_response(self, msg: str) -> None:
        """What arrived is not HTTP."""
        if self._is_answering() and not self.cycle.more_body:
            self._closing = True  # the request before it is a good one: its answer is the last
            self.cycle.keep_alive = False
        else:
            self.refuse(400, "this is not an HTTP request that the server understands")

    def refuse(self, code: int, why: str) -> None:
        """Answer a request that has no complete head, and close."""
        if self.transport.is_closing() or self._closing:
            return
        request = secrets.token_hex(8)
        headers = {"Connection": "close", "X-Request-ID": request}
        answer = problem(code, why, request, headers)
        client = self.client[0] if self.client else None
        self.count_refusal(code)
        log("refused", logging.INFO, request=request, code=code, why=why, client=client)
        head = b"".join(b"%s: %s\r\n" % header for header in answer.raw_headers)
        self.transport.write(STATUS_LINE[code] + head + b"\r\n" + bytes(answer.body))
        self.close(unread=True)

    def close(self, unread: bool) -> None:
        """Close, once what is written is sent.

        unread: whether the client may still be sending. Closing at once would then reset the
            connection, and an answer that is on its way to the client would be lost.
        """
        if self.transport.is_closing():
            return
        self._start_flush_timer()
        if not unread:
            self.transport.close()
            return
        self._closing = True
        self._stop_head_timer()
        self._head_timer = self.loop.call_later(LINGER, self.transport.abort)
        try:
            self.transport.write_eof()
        except OSError:  # the client is gone already
            self.transport.abort()
        else:
            self.flow.resume_reading()

    def evict(self) -> None:
        """Close at once, to make room for another connection."""
        if self.cycle is None and not self._closing:
            self.refuse(503, "too many connections: try again")
        self.transport.abort() if self._unsent() else self.transport.close()

    def _authorized(self) -> None:
        self.timeout_keep_alive = KEEP_ALIVE
        self.all_connections.authorized(self)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _start_head_timer(self) -> None:
        if self._head_timer is None and not self.transport.is_closing():
            self._head_bytes = 0
            seconds = LINGER if self.is_stopping else self.sending
            self._head_timer = self.loop.call_later(seconds, self._head_timed_out, seconds)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_timed_out(self, seconds: float) -> None:
        self._head_timer = None
        if not self._is_answering():
            self.refuse(408, f"the request's head did not arrive within {seconds:g} s")

    def _unsent(self) -> int:
        return self.transport.get_write_buffer_size()

    def _start_flush_timer(self) -> None:
        if self._flush_timer is None and self._unsent():
            self._flush_timer = self.loop.call_later(self.sending, self._flush_timed_out)

    def _stop_flush_timer(self) -> None:
        if self._flush_timer is not None:
            self._flush_timer.cancel()
            self._flush_timer = None

    def _flush_timed_out(self) -> None:
        self._flush_timer = None
        if self._unsent():
            # Otherwise the system would keep what it has of the answer, and go on trying.
            with suppress(OSError):
                self._set_option(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()

    def _set_option(self, level: int, option: int, value: int | bytes) -> None:
        self.transport.get_extra_info("socket").setsockopt(level, option, value)


class _AnswerTransport(asyncio.Transport):
    """What one answer is written to. Closing it reads what the client still sends first.

    The head of an answer waits for the body, so that the client is woken once.
    """

    def __init__(self, connection: Connection, cycle: Any) -> None:
        super().__init__()
        self._connection, self._cycle = connection, cycle
        self._head: bytes | None = None
        self._has_body = cycle.scope["method"] != "HEAD"

    def write(self, data: Any) -> None:
        if not self._cycle.response_started:  # it asks the client to continue
            self._connection.transport.write(data)
        elif self._head is None and self._has_body:
            self._head = data
        else:
            self._connection.transport.write((self._head or b"") + data)
            self._head = b""

    def is_closing(self) -> bool:
        return self._connection.transport.is_closing()

    def close(self) -> None:
        connection = self._connection
        if self._head:  # the application failed before it gave a body
            self.write(b"")
        connection.close(unread=self._cycle.more_body or bool(connection.pipeline))


def connection_type(
    sending: float, most: int, count_refusal: Callable[[int], None]
) -> type[Connection]:
    """Connections with this timeout, of which at most so many are open.

    count_refusal: is told the code of each answer that a connection gives itself

    >>> connection_type(2.0, 100, print).sending
    2.0
    """
    settings = {
        "sending": sending,
        "all_connections": Connections(most),
        "count_refusal": staticmethod(count_refusal),
    }
    return type("Connection", (Connection,), settings)


class Evictable(Protocol):
    """A connection, as far as `Connections` cares."""

    def evict(self) -> None: ...


class Connections:
    """The open connections of a server. If there are too many, unauthorized ones go first.

    >>> class Caller:
    ...     def evict(self):
    ...         print("closed")
    >>> connections = Connections(most=1)
    >>> connections.opened(Caller())
    >>> connections.opened(Caller())
    closed
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: set[Evictable] = set()
        # Both in the order in which they became what they are: the oldest goes first.
        self._unauthorized: dict[Evictable, None] = {}
        self._idle: dict[Evictable, None] = {}

    def opened(self, connection: Evictable) -> None:
        """Count a connection; if there are too many, another is closed, or else this one."""
        self._open.add(connection)
        self._unauthorized[connection] = None
        if len(self._open) > self._most:
            evicted = next(iter(self._unauthorized))
            if evicted is connection and self._idle:
                evicted = next(iter(self._idle))
            self.closed(evicted)
            evicted.evict()

    def authorized(self, connection: Evictable) -> None:
        """Its client showed the token, or none is required."""
        self._unauthorized.pop(connection, None)

    def idle(self, connection: Evictable) -> None:
        """It has its answer, and stays open."""
        if connection not in self._unauthorized:
            self._idle[connection] = None

    def busy(self, connection: Evictable) -> None:
        """A request begins."""
        self._idle.pop(connection, None)

    def closed(self, connection: Evictable) -> None:
        """It is closed."""
        self._open.discard(connection)
        self._unauthorized.pop(connection, None)
        self._idle.pop(connection, None)


def raise_descriptor_limit() -> None:
    """Let this process open as many files as the system allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems name a hard limit that they do not grant.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def connections_possible(wanted: int, workers: int) -> int:
    """As many connections as wanted, or as this process has descriptors for.

    >>> connections_possible(20, workers=2)
    20
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    return min(wanted, max(FEWEST, soft - RESERVED - DESCRIPTORS_PER_WORKER * workers))
