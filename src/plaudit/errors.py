"""Errors of plaudit's own code: a row loses its value, the run goes on, and the log says why."""

import logging
from traceback import extract_tb

_LOGGER = logging.getLogger("plaudit")
_logged: set[tuple[str, str, int | None]] = set()


def describe_and_log(error: Exception) -> str:
    """Describe an error in one line, and log its traceback unless it was logged before.

    >>> describe_and_log(ValueError("no such letter"))
    'ValueError: no such letter'
    """
    frames = extract_tb(error.__traceback__)
    where = (frames[-1].filename, frames[-1].lineno) if frames else ("", None)
    key = (type(error).__name__, *where)
    if key not in _logged:
        _logged.add(key)
        _LOGGER.error(
            "An error in plaudit: the row has no value, the status is 'error'. "
            "Please report it; others like it are not logged.",
            exc_info=error,
        )
    return f"{type(error).__name__}: {error}"[:200]
