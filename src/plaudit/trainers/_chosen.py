"""An argument or the environment in, the recipe that a trainer's rewards come from out.

The judge's workers are started with it, so that the first batch does not wait for them.
"""

import contextlib
import os
from functools import cache
from os import PathLike

from plaudit.judge import warm_up
from plaudit.recipes import Recipe, load, presets
from plaudit.recording import recorded

VARIABLE, COLUMNS = "PLAUDIT_RECIPE", "PLAUDIT_COLUMNS"
AnyRecipe = Recipe | str | PathLike[str] | None


def chosen(recipe: AnyRecipe = None) -> Recipe:
    """The recipe that is given, or the one that the environment variable PLAUDIT_RECIPE names.

    Raises ValueError if there is neither: a default would be a training run with wrong rewards.
    The first call in a process starts the judge's workers in the background. What the recipe scores
    is recorded if PLAUDIT_RECORD names a folder.

    recipe: a Recipe, the name of a preset such as "trl-math", or the path of a TOML file, which a
        process reads only once; default: the recipe that PLAUDIT_RECIPE names. For a name or a
        path, PLAUDIT_COLUMNS says which columns its rewards read, such as "solution=answer", with
        commas between several

    >>> chosen("trl-math").name
    'trl-math'
    >>> os.environ["PLAUDIT_RECIPE"] = "trl-reasoning"
    >>> chosen().name
    'trl-reasoning'
    >>> del os.environ["PLAUDIT_RECIPE"]
    """
    if isinstance(recipe, Recipe):
        _warm_up_once(os.getpid())
        return recorded(recipe)
    name = recipe or os.environ.get(VARIABLE)
    if not name:
        raise ValueError(
            "no recipe is chosen: pass recipe=… where the trainer takes arguments for a reward, "
            f"or set the environment variable {VARIABLE} wherever rewards are computed; "
            f"to a TOML file, or to one of {', '.join(presets())}"
        )
    loaded = _loaded(os.fspath(name), os.environ.get(COLUMNS, ""))
    _warm_up_once(os.getpid())
    return recorded(loaded)


def warm_up_if_chosen() -> None:
    """Start the judge's workers in the background, if PLAUDIT_RECIPE names a recipe.

    Adapters call it when they are imported, long before the first step. It never raises: the first
    call of a reward says what is wrong.

    >>> warm_up_if_chosen()
    """
    if os.environ.get(VARIABLE):
        _warm_up_once(os.getpid())


@cache  # a process that was forked has workers of its own
def _warm_up_once(process: int) -> None:
    with contextlib.suppress(Exception):  # such as settings in the environment that are no numbers
        warm_up()


@cache
def _loaded(name: str, columns: str) -> Recipe:
    pairs = [pair.strip().partition("=") for pair in columns.split(",") if pair.strip()]
    if not all(argument and column for argument, _, column in pairs):
        raise ValueError(f"{COLUMNS} must be like solution=answer,problem=question, got {columns}")
    return load(name, columns={argument: column for argument, _, column in pairs})
