"""What rewards raise: of which rows it says something, and how it is told to a person."""

import re
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import plaudit.recipes

# What a reward raises because of a row: others of the batch may be scored all the same. Anything
# else, such as an OSError or a RuntimeError, is no fault of a row and stops the run.
ROW_ERRORS = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RecursionError,
)
_FRAMES = 3  # of a traceback, the last ones
_RECIPES = str(Path(plaudit.recipes.__file__).parent)


@dataclass(frozen=True, slots=True)
class Failure:
    """What every row of a chunk failed with.

    kind: what two rows have in common that fail in the same way
    told: the exception and the end of its traceback
    """

    kind: str
    told: str


def failure_of(errors: Sequence[BaseException]) -> Failure | None:
    """What these rows failed with, where it is the same for all: an exception of one reward.

    >>> failure_of([KeyError("a"), KeyError("b")]).kind
    'KeyError'
    >>> failure_of([KeyError("a"), ValueError("b")])
    """
    kinds = {" ".join([type(error).__name__, *notes_of(error)]) for error in errors}
    return Failure(kinds.pop(), told(errors[0])) if len(kinds) == 1 else None


def reason_of(error: BaseException) -> str:
    """Why a row was rejected, without its place in the batch of one that it was scored in.

    >>> reason_of(ValueError("solution 0 must be text"))
    'solution must be text'
    >>> reason_of(KeyError("name"))
    "KeyError: 'name'"
    """
    if isinstance(error, ValueError | TypeError):
        said = re.sub(r"^(\w+) 0\b", r"\1", _said(error))
    else:
        said = f"{type(error).__name__}: {_said(error)}"
    return " ".join([said, *(f"({note})" for note in notes_of(error))])


def told(error: BaseException) -> str:
    """The exception in a line, and below it the last lines of its traceback.

    >>> try:
    ...     int("four")
    ... except ValueError as error:
    ...     print(told(error).splitlines()[0])
    ValueError: invalid literal for int() with base 10: 'four'
    """
    if isinstance(error, SystemExit):
        line = f"it called sys.exit({error.code if error.code is not None else ''})"
    else:
        line = f"{type(error).__name__}: {_said(error)}"
    line = " ".join([line, *(f"({note})" for note in notes_of(error))])
    frames = traceback.format_list(_inside(traceback.extract_tb(error.__traceback__))[-_FRAMES:])
    return "\n".join([line, *"".join(frames).splitlines()])


def _inside(frames: Sequence[traceback.FrameSummary]) -> Sequence[traceback.FrameSummary]:
    """What lies inside the reward: the way to it is always the same, and says nothing."""
    callers = [place for place, frame in enumerate(frames, 1) if _RECIPES in frame.filename]
    return frames[max(callers, default=0) :]


def notes_of(error: BaseException) -> list[str]:
    """The notes of an exception: a recipe says in one which reward raised it."""
    return list(getattr(error, "__notes__", []))


def _said(error: BaseException) -> str:
    """What an exception says; one of the user's own may fail even at that."""
    try:
        return str(error)
    except Exception:
        return "(it cannot be shown as text)"
