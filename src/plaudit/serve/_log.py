"""Events in, lines of JSON out."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

LOGGER = logging.getLogger("plaudit.serve")


class JsonLines(logging.Formatter):
    r"""A record as one line of JSON.

    >>> record = logging.LogRecord("plaudit", logging.INFO, "", 0, "request", None, None)
    >>> record.facts = {"path": "/v1/score", "code": 200}
    >>> print(JsonLines().format(record))  # doctest: +ELLIPSIS
    {"time": "...", "level": "info", "event": "request", "path": "/v1/score", "code": 200}
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line; a traceback is one of its values."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": time, "level": record.levelname.lower(), "event": record.getMessage()}
        line |= getattr(record, "facts", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log(
    event: str, level: int = logging.INFO, error: Exception | None = None, **facts: Any
) -> None:
    """Log an event with its facts.

    >>> log("stopped", requests=3)
    """
    LOGGER.log(level, event, exc_info=error, extra={"facts": facts})


def log_to_stderr(level: str) -> None:
    """Write what plaudit and uvicorn log to standard error, from this level on, such as "info"."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    for name in ("plaudit", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level.upper())
    # It would log each start and stop in its own words; requests are logged by plaudit.
    logging.getLogger("uvicorn.error").setLevel(max(logging.WARNING, logger.level))
