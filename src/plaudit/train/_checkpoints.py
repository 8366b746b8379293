"""The folder of a run in; the checkpoint from which the run continues out."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plaudit.train._run_file import Run

_SETTINGS = "plaudit-run.json"
_STATE = "trainer_state.json"


def last_checkpoint(folder: Path) -> Path | None:
    """The latest checkpoint that is complete; None if there is none.

    A trainer writes its state last, so a checkpoint without it was cut off.

    >>> last_checkpoint(Path("runs/never-started")) is None
    True
    """
    found = [(int(m[1]), p) for p in folder.glob("checkpoint-*") if (m := _numbered(p))]
    return next((path for _, path in sorted(found, reverse=True) if _is_whole(path)), None)


def _numbered(path: Path) -> re.Match[str] | None:
    return re.fullmatch(r"checkpoint-(\d+)", path.name)


def _is_whole(checkpoint: Path) -> bool:
    return "global_step" in _state_in(checkpoint)


def _state_in(folder: Path) -> dict[str, Any]:
    """The state that a trainer saved in a folder; empty if there is none."""
    try:
        state = json.loads((folder / _STATE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def steps_if_trained(folder: Path, max_steps: int, epochs: float) -> int | None:
    """The steps of a saved state that has been trained as long as wanted; else None.

    max_steps, epochs: how long to train, as TRL's `max_steps` and `num_train_epochs` say

    >>> steps_if_trained(Path("runs/never-started"), max_steps=100, epochs=3.0) is None
    True
    """
    state = _state_in(folder)
    steps = int(state.get("global_step", -1))
    by_epochs = (state.get("epoch") or 0) >= epochs and steps >= 0
    return steps if (steps >= max_steps if max_steps > 0 else by_epochs) else None


def prepare(run: Run, overwrite: bool, contents: Mapping[str, str]) -> Path | None:
    """Make the folder of a run ready, and return the checkpoint to continue from, if there is one.

    Raises ValueError if the folder holds something else, or a run with other settings that has
    made a step.

    overwrite: whether to remove the folder first, if `plaudit train` wrote it
    contents: what else must be the same when the run is continued, by name
    """
    if overwrite and run.output.exists():
        if not (run.output / _SETTINGS).exists():
            raise ValueError(f"{run.output} was not written by plaudit train: remove it yourself")
        shutil.rmtree(run.output)
    settings, file = {**run.lasting(), **contents}, run.output / _SETTINGS
    unfinished = file.with_suffix(".unfinished")
    if file.exists():
        before = _settings_in(file)
        changed = [name for name in settings if before.get(name) != settings[name]]
        if not changed:
            return last_checkpoint(run.output)
        if _has_trained(run.output):
            raise ValueError(
                f"{run.output} has a run with another {' and '.join(changed)}: choose another "
                "output, or start over with --overwrite"
            )
    elif run.output.exists() and any(path != unfinished for path in run.output.iterdir()):
        raise ValueError(
            f"{run.output} is not empty, and was not written by plaudit train: choose another "
            "folder"
        )
    run.output.mkdir(parents=True, exist_ok=True)
    unfinished.write_text(json.dumps(settings, indent=2, default=str) + "\n", "utf-8")
    unfinished.replace(file)  # at once: half of it would keep the run from going on
    return None


def _has_trained(output: Path) -> bool:
    """Whether a run has made a step: a recorded batch, a checkpoint or a model is left of it."""
    written = ("record/_run.json", "checkpoint-*", "model")
    return any(path for pattern in written for path in output.glob(pattern))


def _settings_in(file: Path) -> dict[str, Any]:
    try:
        settings = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        settings = error
    if not isinstance(settings, dict):
        raise ValueError(f"{file} is damaged: start over with --overwrite")
    return settings
