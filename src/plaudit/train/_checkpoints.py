"""The folder of a run in; the checkpoint from which the run continues out."""

import json
import re
import shutil
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
    try:
        return "global_step" in json.loads((checkpoint / _STATE).read_text("utf-8"))
    except (OSError, ValueError):
        return False


def prepare(run: Run, overwrite: bool) -> Path | None:
    """Make the folder of a run ready, and return the checkpoint to continue from, if there is one.

    Raises ValueError if the folder holds something else, or a run with other settings.

    overwrite: whether to remove the folder first, if `plaudit train` wrote it
    """
    if overwrite and run.output.exists():
        if not (run.output / _SETTINGS).exists():
            raise ValueError(f"{run.output} was not written by plaudit train: remove it yourself")
        shutil.rmtree(run.output)
    settings, file = run.lasting(), run.output / _SETTINGS
    unfinished = file.with_suffix(".unfinished")
    if file.exists():
        before = _settings_in(file)
        changed = [name for name in settings if before.get(name) != settings[name]]
        if changed:
            raise ValueError(
                f"{run.output} has a run with another {' and '.join(changed)}: give this one "
                "another output, or start over with --overwrite"
            )
        return last_checkpoint(run.output)
    if run.output.exists() and any(path != unfinished for path in run.output.iterdir()):
        raise ValueError(
            f"{run.output} is not empty, and was not written by plaudit train: choose another "
            "folder"
        )
    run.output.mkdir(parents=True, exist_ok=True)
    unfinished.write_text(json.dumps(settings, indent=2, default=str) + "\n", "utf-8")
    unfinished.replace(file)  # at once: half of it would keep the run from going on
    return None


def _settings_in(file: Path) -> dict[str, Any]:
    try:
        settings = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        settings = error
    if not isinstance(settings, dict):
        raise ValueError(f"{file} is damaged: start over with --overwrite")
    return settings
