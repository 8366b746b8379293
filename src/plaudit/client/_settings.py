"""Where a server is, and how it is asked."""

import os
from collections.abc import Collection
from dataclasses import dataclass, field

import httpx

VARIABLE = "PLAUDIT_TOKEN"
CONNECTING = 5.0  # seconds: a server that is there takes a connection at once, however busy it is


@dataclass(frozen=True)
class Settings:
    """Where a server is, and how it is asked.

    See `Client` for what each is.

    >>> Settings("http://rewards:8950/")
    Settings(url='http://rewards:8950', patience=120.0, timeout=330.0, columns=None)
    >>> Settings("rewards:8950")
    Traceback (most recent call last):
    ...
    ValueError: the address of a server starts with http:// or https://, got 'rewards:8950'
    """

    url: str
    token: str | None = field(default=None, repr=False)
    patience: float = 120.0
    timeout: float = 330.0
    columns: Collection[str] | None = None

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(
                f"the address of a server starts with http:// or https://, got {self.url!r}"
            )
        object.__setattr__(self, "url", self.url.rstrip("/"))

    @property
    def timeouts(self) -> httpx.Timeout:
        """How long to wait: for a connection not as long as for an answer.

        >>> Settings("http://rewards:8950").timeouts
        Timeout(connect=5.0, read=330.0, write=330.0, pool=330.0)
        """
        return httpx.Timeout(self.timeout, connect=min(CONNECTING, self.timeout))

    @property
    def headers(self) -> dict[str, str]:
        """What goes with every request."""
        token = self.token or os.environ.get(VARIABLE, "")
        said = {"Content-Type": "application/json"}
        return said | {"Authorization": f"Bearer {token.strip()}"} if token else said
