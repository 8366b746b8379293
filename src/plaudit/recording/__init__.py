"""Rewards in, and out come the same rewards, which record every batch that they score.

    recipe = plaudit.record(load("trl-reasoning"), "runs/1")
    GRPOTrainer(reward_funcs=recipe.reward_funcs(), …).train()

    PLAUDIT_RECORD=runs/1 …           # the same, for every recipe that a trainer calls

    runs/1/part-….parquet   the rows, as `plaudit score` writes them: step, group_id, prompt,
                            completion, a column for each component, total, status, explanation
    runs/1/_run.json        the recipe, the components, the columns
    runs/1/thumbnails/      the images of the prompts, small
    runs/1/evaluation/      the same for what the trainer evaluates on
    runs/1/.record/         what the processes that record keep, see `_sessions`

`plaudit watch runs/1` follows it; `plaudit report`, `diff` and `audit` read it.
"""

import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, overload, runtime_checkable

from plaudit.recipes import RECORD_VARIABLE, Recipe
from plaudit.recording._functions import (
    RecordedRecipe,
    Recording,
    known_recording,
    recorded_functions,
    recording_in,
)
from plaudit.recording._sessions import prompt_key

if TYPE_CHECKING:
    from plaudit.recording._reading import RecordedRun

__all__ = [
    "RecordedRecipe",
    "Recording",
    "environment_recording",
    "finish",
    "open_recorded",
    "prompt_key",
    "record",
    "recorded",
    "recorded_functions",
    "recording_in",
    "recover",
    "toml_or_empty",
]

Function = Callable[..., Any]
T = TypeVar("T")


@runtime_checkable
class RecordableClient(Protocol):
    """A client of a server, as far as recording needs it: `plaudit.client` is built on this."""

    def recorded_in(self, directory: Path) -> Self: ...


ClientT = TypeVar("ClientT", bound=RecordableClient)


@overload
def record(
    rewards: Recipe, directory: str | PathLike[str], *, weights: Sequence[float] | None = None
) -> RecordedRecipe: ...
@overload
def record(
    rewards: ClientT, directory: str | PathLike[str], *, weights: Sequence[float] | None = None
) -> ClientT: ...
@overload
def record(
    rewards: Sequence[Function],
    directory: str | PathLike[str],
    *,
    weights: Sequence[float] | None = None,
) -> list[Function]: ...
@overload
def record(
    rewards: Function, directory: str | PathLike[str], *, weights: Sequence[float] | None = None
) -> Function: ...
def record(
    rewards: Recipe | RecordableClient | Sequence[Function] | Function,
    directory: str | PathLike[str],
    *,
    weights: Sequence[float] | None = None,
) -> Any:
    """The same rewards, which write every batch that they score to a folder, as it comes.

    rewards: a recipe, a client of a server, a reward function, or the list of reward functions that
        a trainer takes
    directory: the folder to record into, which is made if it is not there. Any number of processes
        may record into it at the same time, and a run that is resumed from a checkpoint continues
        in it
    weights: for functions alone, how much each counts in the total, as [1.0, 0.5] for two of them.
        Default: 1.0 each. A recipe and a client have weights of their own

    The values that the rewards give do not change. Recording never makes a step fail: when the
    disk is full, for example, there is one warning, and the rest of the run is not recorded.

    >>> import tempfile
    >>> from plaudit.recipes import load
    >>> from plaudit.scoring import open_scored
    >>> folder = tempfile.mkdtemp()
    >>> recipe = record(load("trl-math"), folder)
    >>> [accuracy] = recipe.reward_funcs()
    >>> accuracy(prompts=["2 + 2?"], completions=[r"\\\\boxed{4}"], solution=["4"])
    [1.0]
    >>> finish(folder)
    >>> [(_, rows)] = open_scored(Path(folder)).batches(["step", "prompt", "total"])
    >>> rows.to_pylist()
    [{'step': 0, 'prompt': '2 + 2?', 'total': 1.0}]
    """
    if isinstance(rewards, Recipe | RecordableClient):
        if weights is not None:
            raise ValueError("weights are for functions: a recipe has its own")
        if isinstance(rewards, Recipe):
            return _recorded_recipe(rewards, Path(directory))
        return rewards.recorded_in(Path(directory))
    functions = [rewards] if callable(rewards) else list(rewards)
    names = [_name(function, place) for place, function in enumerate(functions)]
    counted = [1.0] * len(names) if weights is None else [float(weight) for weight in weights]
    if not names:
        raise ValueError("there are no reward functions to record")
    if len(counted) != len(names):
        raise ValueError(f"there are {len(counted)} weights for {len(names)} reward functions")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f'two reward functions are called "{name}": rename one of them')
    recording = recording_in(Path(directory), names, counted, "")
    made = recorded_functions(functions, recording)
    return made[0] if callable(rewards) else made


def _name(function: Any, place: int) -> str:
    if not callable(function) or hasattr(function, "forward"):
        got = f"{type(function).__name__}: {function!r:.80}"
        raise TypeError(f"record takes a recipe or reward functions, entry {place} is {got}")
    return str(getattr(function, "__name__", type(function).__name__))


def _recorded_recipe(recipe: Recipe, directory: Path) -> RecordedRecipe:
    names = [component.name for component in recipe.components]
    recording = recording_in(directory, names, recipe.reward_weights(), toml_or_empty(recipe))
    parts = recipe.name, recipe.components, recipe.columns, recipe.golds
    return RecordedRecipe(*parts, recording=recording)


def toml_or_empty(recipe: Recipe) -> str:
    """The recipe as the text of a file; "" if its parameters have no form in TOML.

    >>> from plaudit.recipes import load
    >>> toml_or_empty(load("trl-math")).splitlines()[0]
    'name = "trl-math"'
    """
    with suppress(ValueError):
        return recipe.to_toml()
    return ""


_recorded: dict[tuple[int, str], tuple[Recipe, Recipe]] = {}


def recorded(recipe: Recipe) -> Recipe:
    """The recipe, which records if the environment variable PLAUDIT_RECORD names a folder.

    If the folder cannot be recorded into, there is a warning, and the recipe is returned as it is:
    the run goes on.

    >>> from plaudit.recipes import load
    >>> recorded(load("trl-math")).name
    'trl-math'
    """
    directory = os.environ.get(RECORD_VARIABLE)
    if not directory or isinstance(recipe, RecordedRecipe):
        return recipe
    key = id(recipe), directory
    if key not in _recorded:
        # The recipe is kept with what was made of it, so that no other gets its id.
        made = _made_or_warned(lambda: _recorded_recipe(recipe, Path(directory)), directory)
        _recorded[key] = recipe, made or recipe
    return _recorded[key][1]


def environment_recording(
    names: Sequence[str], weights: Sequence[float], recipe: str
) -> Recording | None:
    """The recording into the folder that PLAUDIT_RECORD names; None if it names none.

    It is None after a warning, too, if the folder cannot be recorded into.

    names, weights: the components and their weights
    recipe: the recipe as TOML

    >>> environment_recording(["accuracy"], [1.0], "") is None
    True
    """
    directory = os.environ.get(RECORD_VARIABLE)
    if not directory:
        return None
    return _made_or_warned(lambda: recording_in(Path(directory), names, weights, recipe), directory)


def _made_or_warned(make: Callable[[], T], directory: str) -> T | None:
    try:
        return make()
    except (ValueError, OSError, ImportError) as error:
        hint = " (pip install 'plaudit[score]')" if isinstance(error, ImportError) else ""
        warnings.warn(
            f"plaudit: {RECORD_VARIABLE}={directory}: nothing is recorded: {error}{hint}",
            RuntimeWarning,
            stacklevel=3,
        )
        return None


def finish(directory: str | PathLike[str]) -> None:
    """Wait until everything that this process has recorded in a folder can be read there.

    directory: the folder that was given to `record`; nothing happens if it is another one

    Needed only to read a run in the process that records it: when a process ends, it does this by
    itself.

    >>> finish("runs/nothing-was-recorded-here")
    """
    recording = known_recording(Path(directory))
    if recording is not None:
        recording.finish()


def open_recorded(directory: str | PathLike[str]) -> "RecordedRun":
    """A recorded run, to read what each step got, while it is recorded or later.

    directory: the folder that was given to `record`, the one in which `plaudit train` puts its
        results, or one that `plaudit score` wrote of a table with a column `step`

    >>> open_recorded("no-such-run")
    Traceback (most recent call last):
    ...
    ValueError: there is no folder no-such-run
    """
    from plaudit.recording._reading import RecordedRun  # and pyarrow

    return RecordedRun(Path(directory))


def recover(directory: str | PathLike[str]) -> None:
    """Finish what processes that were killed have recorded in a folder.

    `open_recorded` and `plaudit.scoring.open_scored` do so by themselves.

    directory: the folder that was given to `record`; nothing happens if it is another one

    >>> recover("runs/nothing-was-recorded-here")
    """
    from plaudit.recording._reading import recover as recover_in  # and pyarrow

    recover_in(Path(directory))
