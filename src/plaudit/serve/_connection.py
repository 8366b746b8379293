"""A connection that must send the head of a request in time, and in so many bytes."""

import asyncio
import socket
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD = 64 << 10  # bytes of a request's line and headers


class Connection(HttpToolsProtocol):
    """uvicorn's own, with a clock on the part of a request that no application sees."""

    sending = 30.0
    _clock: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: Any) -> None:
        """A client came: it should say what it wants."""
        # asyncio does this for sockets that it made itself. Without it, an answer whose head and
        # body go out apart waits for the client's delayed acknowledgement: 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """It went."""
        self._stop_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """It said something."""
        self._head += len(data)
        super().data_received(data)
        if self._clock is not None and self._head > HEAD:
            self._refuse(431, "Request Header Fields Too Large", "the headers are too large")

    def on_message_begin(self) -> None:
        """It begins a request."""
        super().on_message_begin()
        self._start_clock()

    def on_headers_complete(self) -> None:
        """The head of the request is there."""
        self._stop_clock()
        super().on_headers_complete()

    def _start_clock(self) -> None:
        if self._clock is None:
            self._head = 0
            self._clock = self.loop.call_later(self.sending, self._too_slow)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _too_slow(self) -> None:
        why = f"the request's head did not arrive within {self.sending:g} s"
        self._refuse(408, "Request Timeout", why)

    def _refuse(self, code: int, name: str, why: str) -> None:
        self._stop_clock()
        answering = self.cycle is not None and not self.cycle.response_complete
        if answering or self.transport.is_closing():
            return
        body = f'{{"error": "{why}"}}'.encode()
        head = (
            f"HTTP/1.1 {code} {name}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


def connections(seconds: float) -> type[Connection]:
    """Connections that wait so long for a head.

    >>> connections(2.0).sending
    2.0
    """
    return type("Connection", (Connection,), {"sending": seconds})
