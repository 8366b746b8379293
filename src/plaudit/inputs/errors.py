"""Messages for a person: hints for unknown names, and the log of errors of plaudit's own code."""

import logging
from collections.abc import Iterable
from difflib import get_close_matches
from traceback import extract_tb

_LOGGER = logging.getLogger("plaudit")
_WIDTH = 200  # characters of a line
_logged: set[tuple[str, str, int | None]] = set()


def describe_and_log(error: Exception) -> str:
    """Describe an error in one line, and log its traceback unless it was logged before."""
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


def did_you_mean(wanted: str, names: Iterable[str]) -> str:
    """Return the nearest names as the end of an error message; all names if none is near."""
    known = list(dict.fromkeys(names))
    near = get_close_matches(wanted, known, cutoff=0.8) or get_close_matches(wanted, known)
    if near:
        return f"did you mean {' or '.join(map(quoted, near))}?"
    return f"choose one of {', '.join(map(quoted, known))}" if known else "there are none"


def quoted(name: str) -> str:
    """Return a name in quotes, as in a TOML file."""
    return f'"{name}"'


def one_line(text: str) -> str:
    """Return text that neither moves the cursor nor fills the screen: escaped, and cut."""
    shown = text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)
