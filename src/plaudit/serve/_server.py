"""A running server: uvicorn, set up for a recipe, in this thread or in another."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from os import PathLike
from typing import Any

import uvicorn

from plaudit.judge import shared_judge
from plaudit.recipes import Recipe
from plaudit.serve._application import application
from plaudit.serve._connection import (
    KEEP_ALIVE,
    Connection,
    Connections,
    connections_possible,
)
from plaudit.serve._middleware import Middleware
from plaudit.serve._scorer import Limits

LOOPBACK = ("localhost", "127.0.0.1", "::1")  # the names of a loopback address
GRACE = 5.0  # seconds beyond a request's own deadline that a server waits when it stops
BACKLOG = 2048  # connections that wait to be accepted
ACCEPTED = 16  # connections that are accepted at once: then those that are too many are closed


@contextmanager
def serving(
    recipe: Recipe,
    limits: Limits | None = None,
    token: str | None = None,
    port: int = 0,
    images: str | PathLike[str] | None = None,
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
    limits = limits or Limits()
    with socket.create_server(("127.0.0.1", port)) as listener:
        server = server_of(application(recipe, limits, token, images, LOOPBACK), limits)
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

    def __init__(self, config: uvicorn.Config, connections: Connections) -> None:
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


def server_of(app: Middleware, limits: Limits) -> Server:
    """uvicorn, set up for an application: it finishes the requests it has before it stops."""
    most = connections_possible(limits.connections, shared_judge().settings.workers)
    connections = Connections(most)
    settings: dict[str, Any] = {
        "http": partial(Connection, connections, limits.sending, app.metrics.add_refusal),
        "ws": "none",
        "loop": "asyncio",  # the same whatever is installed; another is no faster for batches
        "lifespan": "on",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "backlog": ACCEPTED,
        "timeout_keep_alive": KEEP_ALIVE,
        "timeout_graceful_shutdown": int(limits.sending + limits.deadline + GRACE),
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
