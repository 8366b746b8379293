"""Where a server is, and how it is asked."""

import os
from collections.abc import Collection
from dataclasses import dataclass, field

VARIABLE = "PLAUDIT_TOKEN"


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
    def headers(self) -> dict[str, str]:
        """What goes with every request."""
        token = self.token or os.environ.get(VARIABLE, "")
        said = {"Content-Type": "application/json"}
        return said | {"Authorization": f"Bearer {token.strip()}"} if token else said
