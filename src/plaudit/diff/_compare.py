"""Two scored folders in, or an input and two recipes; the difference between them out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from plaudit.diff._difference import Difference
    from plaudit.recipes import Recipe


def compare(
    a: str | PathLike[str],
    b: str | PathLike[str],
    limit: int = 20,
    out: str | PathLike[str] | None = None,
) -> "Difference":
    """The difference between two folders that `plaudit score` or `plaudit.record` wrote.

    a, b: the folders, before and after
    limit: how many of the largest changes the result holds; default: 20. Counts and means are over
        all rows
    out: a file to write every change to, as one line of JSON each; default: none is written

    >>> compare("no-such-run", "another")
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.InputError: there is no folder no-such-run
    """
    try:
        from plaudit.diff._tally import difference_of
    except ImportError as missing:
        raise ImportError("plaudit.diff needs pyarrow: pip install 'plaudit[score]'") from missing
    return difference_of(Path(a), Path(b), limit, None if out is None else Path(out))


def compare_recipes(
    inputs: str | PathLike[str] | Sequence[str | PathLike[str]],
    a: Any,
    b: Any,
    limit: int = 20,
    out: str | PathLike[str] | None = None,
    progress: TextIO | None = None,
    completions: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> "Difference":
    """The difference between the scores that two recipes give the same rows.

    inputs: the file to score, or several
    a, b: recipes, names of presets, TOML files or rewards
    limit, out: as for `compare`
    progress: where to show the progress of scoring, such as sys.stderr; default: nowhere
    completions: the column that a model wrote; default: as for `plaudit.scoring.score_table`
    columns: which column an argument of a reward is read from, such as {"solution": "answer"}; a
        recipe that has no such argument ignores it

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "rollouts.jsonl")
    >>> _ = file.write_text('{"completion": "<think>Hm.</think> 4", "solution": "4"}')
    >>> difference = compare_recipes(file, "trl-math", "trl-reasoning")
    >>> difference.changed, difference.components_b
    (1, ('reasoning_accuracy_reward', 'think_format_reward'))
    """
    from plaudit.recipes import as_recipe
    from plaudit.scoring import score_table

    recipes = as_recipe(a), as_recipe(b)
    _check_taken(recipes, columns or {})
    with TemporaryDirectory(prefix="plaudit-diff-") as folder:
        runs = Path(folder, "a"), Path(folder, "b")
        for recipe, run in zip(recipes, runs, strict=True):
            taken = {name: c for name, c in (columns or {}).items() if _takes(recipe, name)}
            score_table(
                inputs, recipe, run, completions=completions, columns=taken, progress=progress
            )
        return replace(compare(*runs, limit, out), a=recipes[0].name, b=recipes[1].name)


def _takes(recipe: "Recipe", argument: str) -> bool:
    return any(component.takes(argument) for component in recipe.components)


def _check_taken(recipes: Sequence["Recipe"], columns: Mapping[str, str]) -> None:
    for argument, column in columns.items():
        if not any(_takes(recipe, argument) for recipe in recipes):
            names = " nor ".join(recipe.name for recipe in recipes)
            raise ValueError(
                f"no reward of {names} takes {argument}, which {argument}={column} names; the "
                "argument comes first, as in --column solution=answer"
            )
