"""Which recipe a trainer's rewards come from."""

import os
from functools import cache
from os import PathLike

from plaudit.recipes import Recipe, load, presets

VARIABLE = "PLAUDIT_RECIPE"
AnyRecipe = Recipe | str | PathLike[str] | None


def chosen(recipe: AnyRecipe = None) -> Recipe:
    """The recipe that is given, or the one that the environment variable PLAUDIT_RECIPE names.

    A name is a preset or the path of a TOML file; a process reads each once. There is no recipe
    to fall back on: a wrong one would be a training run with wrong rewards.

    >>> chosen("trl-math").name
    'trl-math'
    >>> os.environ["PLAUDIT_RECIPE"] = "trl-reasoning"
    >>> chosen().name
    'trl-reasoning'
    >>> del os.environ["PLAUDIT_RECIPE"]
    """
    if isinstance(recipe, Recipe):
        return recipe
    name = recipe or os.environ.get(VARIABLE)
    if not name:
        raise ValueError(
            "no recipe is chosen: pass recipe=… where the trainer takes arguments for a reward, "
            f"or set the environment variable {VARIABLE} wherever rewards are computed; "
            f"to a TOML file, or to one of {', '.join(presets())}"
        )
    return _loaded(os.fspath(name))


@cache
def _loaded(name: str) -> Recipe:
    return load(name)
