"""The exceptions of a run, which the command line turns into exit codes, and their texts."""

import re
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import plaudit.recipes

RESUME_HINT = "What was written is kept: run the same command again to resume."
RETRY_HINT = (
    "When that is fixed, run the same command again; "
    "with --overwrite, if parts were written by a reward that you have changed since."
)


class InputError(ValueError):
    """The input cannot be scored, or is not a scored folder; the message says what to change."""


class RejectedRowError(Exception):
    """A row was rejected in a strict run."""


class StoppedError(Exception):
    """The run had to stop: a full disk, workers that die. What was written is kept."""


class StorageError(StoppedError):
    """A file of a table could not be read just now: no fault of the file, or of its rows."""


# What a reward raises because of a row: the other rows of the batch can still be scored. Anything
# else, such as an OSError or a RuntimeError, is not the fault of a row and stops the run.
ROW_ERRORS = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RecursionError,
)
_FRAMES = 3  # how many of the last frames of a traceback are shown
_RECIPES = str(Path(plaudit.recipes.__file__).parent)


@dataclass(frozen=True, slots=True)
class CommonFailure:
    """The error that every row of a chunk failed with; rows that fail alike have the same kind."""

    kind: str
    description: str


def common_failure(errors: Sequence[BaseException]) -> CommonFailure | None:
    """Return the failure that these errors have in common; None if they differ."""
    kinds = {" ".join([type(error).__name__, *notes_of(error)]) for error in errors}
    return CommonFailure(kinds.pop(), describe(errors[0])) if len(kinds) == 1 else None


def reason_of(error: BaseException) -> str:
    """Return why a row was rejected, without its index, which in a batch of one is always 0."""
    if isinstance(error, ValueError | TypeError):
        said = re.sub(r"^(\w+) 0\b", r"\1", _message_of(error))
    else:
        said = f"{type(error).__name__}: {_message_of(error)}"
    return " ".join([said, *(f"({note})" for note in notes_of(error))])


def describe(error: BaseException) -> str:
    """Return the exception on one line, and below it the last lines of its traceback."""
    if isinstance(error, SystemExit):
        line = f"a reward called sys.exit({error.code if error.code is not None else ''})"
    else:
        line = f"{type(error).__name__}: {_message_of(error)}"
    line = " ".join([line, *(f"({note})" for note in notes_of(error))])
    frames = traceback.format_list(_inside(traceback.extract_tb(error.__traceback__))[-_FRAMES:])
    return "\n".join([line, *"".join(frames).splitlines()])


def _inside(frames: Sequence[traceback.FrameSummary]) -> Sequence[traceback.FrameSummary]:
    """Return the frames inside the reward: those that lead to it are always the same."""
    callers = [index for index, frame in enumerate(frames, 1) if _RECIPES in frame.filename]
    return frames[max(callers, default=0) :]


def notes_of(error: BaseException) -> list[str]:
    """Return the notes of an exception; one of them names the reward that raised it."""
    return list(getattr(error, "__notes__", []))


def _message_of(error: BaseException) -> str:
    """Return the exception's message; a user's own class may fail even at that."""
    try:
        return str(error)
    except Exception:
        return "(it cannot be shown as text)"
