"""A request's body, read while it is measured and timed."""

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from plaudit.serve._desk import Desk

GONE = 499  # what nginx logs for a client that went away: nobody ever sees it


async def body_of(request: Request, desk: Desk) -> bytes:
    """The whole body; refuses what is too large, too slow, or no JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, f"the content type must be application/json, got {kind[:80]!r}")
    limits = desk.limits
    if _announced(request) > limits.body:
        raise HTTPException(413, f"the body is larger than {limits.body} bytes, the limit here")
    parts = bytearray()
    with desk.holding() as held:
        try:
            async with asyncio.timeout(limits.sending):
                async for part in request.stream():
                    held.add(len(part))
                    parts += part
        except TimeoutError:
            why = f"the body did not arrive within {limits.sending:g} s"
            raise HTTPException(408, why, {"Connection": "close"}) from None
        except ClientDisconnect:
            raise HTTPException(GONE, "the client went away") from None
    return bytes(parts)


def _announced(request: Request) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0
