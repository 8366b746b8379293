"""A server in a thread of this process."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from plaudit.recipes import Recipe
from plaudit.serve._application import application
from plaudit.serve._connection import connections
from plaudit.serve._limits import Limits

GRACE = 5.0  # seconds beyond a request's own deadline that a server waits when it stops


@contextmanager
def serving(
    recipe: Recipe, limits: Limits | None = None, token: str | None = None, port: int = 0
) -> Iterator[str]:
    """Serve a recipe on this machine for as long as the block lasts; gives the address.

    >>> from urllib.request import urlopen
    >>> from plaudit.recipes import load
    >>> with serving(load("trl-math")) as url:
    ...     print(urlopen(f"{url}/healthz").read().decode())
    {"status":"ok"}
    """
    limits = limits or Limits()
    listener = socket.create_server(("127.0.0.1", port))
    server = server_of(application(recipe, limits, token), limits)
    thread = threading.Thread(target=server.run, args=([listener],), name="plaudit-serve")
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.005)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def server_of(app: ASGIApp, limits: Limits) -> uvicorn.Server:
    """uvicorn, set up for it: it finishes what it took before it stops."""
    settings: dict[str, Any] = {
        "http": connections(limits.sending),
        "ws": "none",
        "loop": "asyncio",  # the same whatever is installed; another is no faster for batches
        "lifespan": "on",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "backlog": 2048,
        "timeout_keep_alive": 65,  # longer than clients keep theirs: they close, not we
        "timeout_graceful_shutdown": int(limits.sending + limits.deadline + GRACE),
    }
    return uvicorn.Server(uvicorn.Config(app, **settings))
