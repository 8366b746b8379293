"""Work for a client, as long as there is one."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.types import Receive

from plaudit.serve._body import GONE

T = TypeVar("T")


async def until_gone(receive: Receive, work: Coroutine[Any, Any, T], seconds: float) -> T:
    """What the work gives; it is cancelled when the client goes away, or the time is over.

    >>> async def receive():
    ...     return {"type": "http.disconnect"}
    >>> asyncio.run(until_gone(receive, asyncio.sleep(60), seconds=60))
    Traceback (most recent call last):
    ...
    starlette.exceptions.HTTPException: 499: the client went away
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_gone(receive))
    try:
        both = {working, leaving}
        await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        if leaving.done():
            raise HTTPException(GONE, "the client went away")
        raise HTTPException(
            504, f"it was not scored within {seconds:g} s, the server's deadline for a request"
        )
    finally:
        working.cancel()
        leaving.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
