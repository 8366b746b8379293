"""The process in which rewards run: receives a recipe, then batches, and sends back what they pay.

It is started by exec, and killed where a reward takes too long. What a reward raises comes back as
text.
"""

import os
import random
import threading
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from plaudit.auditing._waiting import waiting_seconds
from plaudit.processes import die_with_parent

if TYPE_CHECKING:
    from plaudit.recipes import Recipe

READY = ""  # what is sent once rewards can be called; else what keeps them from it


def main(descriptor: int, parent: int) -> None:
    """Score batches until the connection is closed, or the parent has ended."""
    connection = Connection(descriptor)
    die_with_parent(parent)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # what a reward prints is no output of the audit
    os.dup2(nowhere, 2)
    _seed()
    try:
        try:
            recipe = connection.recv()
            for component in recipe.components:
                _ = component.calling  # imports the reward's module, which is no batch's fault
        except Exception as error:  # EOFError too: then there is nobody to be told
            connection.send(_told(error)[1])
            return
        connection.send(READY)
        while True:
            completions, columns, in_thread = connection.recv()
            connection.send(_answered(recipe, completions, columns, in_thread))
    except (EOFError, OSError):
        return


def _seed() -> None:
    """Make what is random in a reward the same in every audit, though not in every call."""
    random.seed(0)
    try:
        import numpy as np
    except ImportError:
        return
    np.random.seed(0)


def _answered(
    recipe: "Recipe", completions: list[Any], columns: Mapping[str, Any], in_thread: bool
) -> tuple[Any, ...]:
    found: list[tuple[Any, ...]] = []

    def work() -> None:
        start, waited = time.perf_counter(), waiting_seconds("thread-self")
        try:
            scored = _scored(recipe, completions, columns)
        except BaseException as error:  # SystemExit too: the audit goes on
            found.append(("raised", *_told(error)))
            return
        wall = time.perf_counter() - start
        found.append(("paid", scored, wall - (waiting_seconds("thread-self") - waited)))

    if in_thread:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    else:
        work()
    return found[0]


def _scored(
    recipe: "Recipe", completions: list[Any], columns: Mapping[str, Any]
) -> list[tuple[float | None, list[tuple[float | None, str, str]]]]:
    """For each row the total, and each component's value, reason and problem."""
    rows = recipe(completions, **columns)
    return [
        (
            row.total,
            [
                (s.value if s.ungated is None else s.ungated, s.why[:300], s.problem)
                for s in row.components.values()
            ],
        )
        for row in rows
    ]


def _told(error: BaseException) -> tuple[str, str]:
    """Which component raised, by the note that a recipe adds, and what."""
    notes = [note for note in getattr(error, "__notes__", []) if note.startswith("in ")]
    component = notes[0].removeprefix("in ").partition(" (")[0] if notes else ""
    try:
        said = str(error)
    except Exception:
        said = "(it cannot be shown as text)"
    return component, f"{type(error).__name__}: {said}"[:300]
