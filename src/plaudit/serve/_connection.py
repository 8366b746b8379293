"""A connection: each of its states has a clock, and there are only so many connections.

no whole head of a request yet        `sending` seconds, then 408
a body on its way, rows being scored  the clocks of `_body` and of `_until_gone`
an answer that the client leaves      `sending` seconds, then the connection is cut off
the rest of a body that nobody reads  LINGER seconds, in which it is thrown away
between two requests                  KEPT seconds; STRANGER for who was not let in
"""

import asyncio
import logging
import secrets
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from plaudit.serve._connections import Connections
from plaudit.serve._log import log
from plaudit.serve._watch import problem

HEAD = 64 << 10  # bytes of a request's line and headers
LINGER = 2.0
KEPT = 65  # longer than clients keep theirs: they close, not we
STRANGER = 15


class Connection(HttpToolsProtocol):
    """uvicorn's own, with a clock on every state that no application sees."""

    sending: float
    others: Connections
    count_refusal: Callable[[int], None]
    _clock: asyncio.TimerHandle | None = None  # until there is a head, or the client is gone
    _flushing: asyncio.TimerHandle | None = None  # until the client took its answer
    _head = 0
    _leaving = False

    def connection_made(self, transport: Any) -> None:
        """A client came: it should say what it wants."""
        super().connection_made(transport)
        self.timeout_keep_alive = STRANGER
        self._start_clock()
        # asyncio does this for sockets that it made itself. Without it, an answer whose head and
        # body go out apart waits for the client's delayed acknowledgement: 40 ms.
        with suppress(OSError):
            self._set_option(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.others.came(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """It went."""
        self.others.went(self)
        self._stop_clock()
        self._stop_flushing()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """It said something."""
        if self._leaving:
            return
        self._head += len(data)
        super().data_received(data)
        if self._clock is not None and self._head > HEAD:
            self.refuse(431, f"the headers are larger than {HEAD} bytes")
        elif not self._is_answering():
            self._start_clock()  # also where it sent what begins no request: empty lines

    def on_message_begin(self) -> None:
        """It begins a request."""
        super().on_message_begin()
        self.others.begins(self)
        if not self.flow.write_paused:
            self._stop_flushing()
        self._start_clock()

    def on_headers_complete(self) -> None:
        """The head of the request is there."""
        self._stop_clock()
        self.scope["state"]["let_in"] = self._let_in
        super().on_headers_complete()
        self.cycle.transport = _Answering(self, self.cycle)

    def on_response_complete(self) -> None:
        """The request is answered."""
        self._expect_flush()
        if self._leaving:
            self.pipeline.clear()
            return
        super().on_response_complete()
        if not self._is_answering():
            self.others.rests(self)

    def pause_writing(self) -> None:
        """The client takes the answer more slowly than it is written."""
        super().pause_writing()
        self._expect_flush()

    def resume_writing(self) -> None:
        """The client took most of it."""
        super().resume_writing()
        self._stop_flushing()

    def send_400_response(self, msg: str) -> None:
        """It sent what is no HTTP."""
        if self._is_answering() and not self.cycle.more_body:
            self._leaving = True  # the request before it is a good one: its answer is the last
            self.cycle.keep_alive = False
        else:
            self.refuse(400, "this is no HTTP request that the server understands")

    def refuse(self, code: int, why: str) -> None:
        """Answer a request that has no whole head, and close."""
        if self.transport.is_closing() or self._leaving:
            return
        request = secrets.token_hex(8)
        headers = {"Connection": "close", "X-Request-ID": request}
        answer = problem(code, why, request, headers)
        client = self.client[0] if self.client else None
        self.count_refusal(code)
        log("refused", logging.INFO, request=request, code=code, why=why, client=client)
        head = b"".join(b"%s: %s\r\n" % header for header in answer.raw_headers)
        self.transport.write(STATUS_LINE[code] + head + b"\r\n" + bytes(answer.body))
        self.leave(unread=True)

    def leave(self, unread: bool) -> None:
        """Close, once what is written is sent.

        unread: whether the client may still be sending. Closing at once would then reset the
            connection, and an answer that is on its way to the client would be lost.
        """
        if self.transport.is_closing():
            return
        self._expect_flush()
        if not unread:
            self.transport.close()
            return
        self._leaving = True
        self._stop_clock()
        self._clock = self.loop.call_later(LINGER, self.transport.abort)
        try:
            self.transport.write_eof()
        except OSError:  # the client is gone already
            self.transport.abort()
        else:
            self.flow.resume_reading()

    def make_room(self) -> None:
        """Close at once: a client that was let in needs the place."""
        if self.cycle is None and not self._leaving:
            self.refuse(503, "too many connections: try again")
        self.transport.abort() if self._unsent() else self.transport.close()

    def _let_in(self) -> None:
        self.timeout_keep_alive = KEPT
        self.others.let_in(self)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _start_clock(self) -> None:
        if self._clock is None and not self.transport.is_closing():
            self._head = 0
            self._clock = self.loop.call_later(self.sending, self._too_slow)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _too_slow(self) -> None:
        self._clock = None
        if not self._is_answering():
            self.refuse(408, f"the request's head did not arrive within {self.sending:g} s")

    def _unsent(self) -> int:
        return self.transport.get_write_buffer_size()

    def _expect_flush(self) -> None:
        if self._flushing is None and self._unsent():
            self._flushing = self.loop.call_later(self.sending, self._cut_off)

    def _stop_flushing(self) -> None:
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None

    def _cut_off(self) -> None:
        self._flushing = None
        if self._unsent():
            # Else the system would keep what it has of the answer, and go on trying.
            with suppress(OSError):
                self._set_option(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()

    def _set_option(self, level: int, option: int, value: int | bytes) -> None:
        self.transport.get_extra_info("socket").setsockopt(level, option, value)


class _Answering(asyncio.Transport):
    """What one answer is written to: closing it hears the client out first."""

    def __init__(self, connection: Connection, cycle: Any) -> None:
        super().__init__()
        self._connection, self._cycle = connection, cycle

    def write(self, data: Any) -> None:
        self._connection.transport.write(data)

    def is_closing(self) -> bool:
        return self._connection.transport.is_closing()

    def close(self) -> None:
        connection = self._connection
        connection.leave(unread=self._cycle.more_body or bool(connection.pipeline))


def connection_type(
    sending: float, most: int, count_refusal: Callable[[int], None]
) -> type[Connection]:
    """Connections with this clock, of which there are so many at the most.

    count_refusal: is told the code of each answer that a connection gives itself

    >>> connection_type(2.0, 100, print).sending
    2.0
    """
    settings = {
        "sending": sending,
        "others": Connections(most),
        "count_refusal": staticmethod(count_refusal),
    }
    return type("Connection", (Connection,), settings)
