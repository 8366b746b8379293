"""A request's body, read while it is measured and timed."""

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from plaudit.serve._limits import Limits

GONE = 499  # what nginx logs for a client that went away: nobody ever sees it


async def body_of(request: Request, limits: Limits) -> bytearray:
    """The whole body; refuses what is too large, too slow, or no JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, f"the content type must be application/json, got {kind[:80]!r}")
    announced = _announced(request)
    _check_size(announced, limits)
    request.state.held.add(announced)
    body = bytearray(announced)  # all at once: growing would take twice as much
    arrived = 0
    try:
        async with asyncio.timeout(limits.sending):
            async for part in request.stream():
                _check_size(arrived + len(part), limits)
                request.state.held.add(max(0, arrived + len(part) - len(body)))
                body[arrived : arrived + len(part)] = part
                arrived += len(part)
    except TimeoutError:
        why = f"the body did not arrive within {limits.sending:g} s"
        raise HTTPException(408, why) from None
    except ClientDisconnect:
        raise HTTPException(GONE, "the client went away") from None
    return body


def _check_size(size: int, limits: Limits) -> None:
    if size > limits.body:
        raise HTTPException(413, f"the body is larger than {limits.body} bytes, the limit here")


def _announced(request: Request) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0
