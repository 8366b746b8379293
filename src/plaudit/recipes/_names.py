"""An unknown name and the known ones in, a hint for an error message out."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(wanted: str, names: Iterable[str]) -> str:
    """The nearest names, as the end of an error message; all names if none is near.

    >>> did_you_mean("answr", ["answer", "prompt"])
    'did you mean "answer"?'
    >>> did_you_mean("x", ["answer", "prompt"])
    'choose one of "answer", "prompt"'
    """
    known = list(dict.fromkeys(names))
    near = get_close_matches(wanted, known, cutoff=0.8) or get_close_matches(wanted, known)
    if near:
        return f"did you mean {' or '.join(map(quoted, near))}?"
    return f"choose one of {', '.join(map(quoted, known))}" if known else "there are none"


def quoted(name: str) -> str:
    """A name as it stands in a TOML file.

    >>> quoted("answer")
    '"answer"'
    """
    return f'"{name}"'
