"""Which recipe a trainer's rewards come from, and workers that are there before it is asked."""

import contextlib
import os
from functools import cache
from os import PathLike

from plaudit.judge import warm_up
from plaudit.recipes import Recipe, load, presets
from plaudit.recording import recorded

VARIABLE = "PLAUDIT_RECIPE"
AnyRecipe = Recipe | str | PathLike[str] | None


def chosen(recipe: AnyRecipe = None) -> Recipe:
    """The recipe that is given, or the one that the environment variable PLAUDIT_RECIPE names.

    A name is a preset or the path of a TOML file; a process reads each once. There is no recipe
    to fall back on: a wrong one would be a training run with wrong rewards. With the first one of
    a process, the judge's workers start in the background. What the recipe scores is recorded where
    PLAUDIT_RECORD names a folder.

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
    loaded = _loaded(os.fspath(name))
    _warm_up_once(os.getpid())
    return recorded(loaded)


def warm_up_if_chosen() -> None:
    """Start the judge's workers, in a process in which PLAUDIT_RECIPE says that rewards are wanted.

    For an adapter that a trainer imports in the process that calls it, long before the first step.
    It never fails: what is wrong is told by the first call.

    >>> warm_up_if_chosen()
    """
    if os.environ.get(VARIABLE):
        _warm_up_once(os.getpid())


@cache  # a process that was forked has workers of its own
def _warm_up_once(process: int) -> None:
    with contextlib.suppress(Exception):  # such as settings in the environment that are no numbers
        warm_up()


@cache
def _loaded(name: str) -> Recipe:
    return load(name)
