"""When to try again."""

import random
import time
from typing import Any

import httpx

from plaudit.client._errors import ServerError
from plaudit.client._settings import Settings

AGAIN = (429, 502, 503, 504)
SLOWEST = 10.0  # seconds between two attempts, at the most, unless the server asks for more


class Attempts:
    """One request's attempts: is there to be another, and after how long?

    It doubles the pause each time and spreads it, so that clients that were refused together do
    not come back together; a server that says when to come back is heard.

    >>> attempts = Attempts(Settings("http://rewards:8950", patience=60))
    >>> 0.9 < attempts.pause(httpx.Response(429, headers={"Retry-After": "1"})) < 2.1
    True
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._end = time.monotonic() + settings.patience
        self._count = 0

    def pause(self, answer: httpx.Response | httpx.TransportError) -> float | None:
        """Seconds until the next attempt; None where the answer is one. Raises when it is over."""
        if isinstance(answer, httpx.Response) and answer.status_code not in AGAIN:
            if answer.is_success:
                return None
            raise self._complaint(answer)
        self._count += 1
        pause: float = min(0.1 * 2**self._count, SLOWEST) * random.uniform(0.5, 1.0)
        if isinstance(answer, httpx.Response):
            pause = max(pause, _asked_for(answer) * random.uniform(1.0, 1.5))
        if time.monotonic() + pause > self._end:
            raise self._complaint(answer)
        return pause

    def _complaint(self, answer: httpx.Response | httpx.TransportError) -> ServerError:
        tries = f" (tried {self._count} times)" if self._count > 1 else ""
        if isinstance(answer, httpx.TransportError):
            why = f"{type(answer).__name__} {answer}".strip()
            return ServerError(f"cannot reach {self._settings.url}: {why}{tries}")
        code = answer.status_code
        return ServerError(f"{self._settings.url} answered {code}: {_said(answer)}{tries}", code)


def _asked_for(answer: httpx.Response) -> float:
    """Seconds that the server asks for; a date is not understood, and a day is not waited for."""
    seconds = answer.headers.get("Retry-After", "")
    return min(float(seconds), 60.0) if seconds.isdecimal() else 0.0


def _said(answer: httpx.Response) -> str:
    try:
        content: Any = answer.json()
        return str(content["error"])
    except (ValueError, KeyError, TypeError):
        return answer.text[:200] or answer.reason_phrase
