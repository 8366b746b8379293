"""`plaudit.audit`: a recipe or a reward, and rows, in; findings out."""

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from plaudit.auditing._attacks import CLASSES, Attack
from plaudit.auditing._engine import Options, audit_table
from plaudit.auditing._findings import Audit
from plaudit.auditing._table import sampled
from plaudit.recipes import Component, Recipe, load, presets

ROWS = 64


def audit(
    recipe: Recipe | str | Callable[..., Any],
    rows: Sequence[Mapping[str, Any]],
    *,
    sample: int = ROWS,
    seed: int = 0,
    only: str | Collection[str] = (),
    skip: str | Collection[str] = (),
    template: str | None = None,
    completions: str = "",
    attacks: Sequence[Attack] = (),
    progress: TextIO | None = None,
) -> Audit:
    """What pays without being right, and what is right and not paid.

    recipe: a recipe, the name of a preset, the path of a TOML file, "package.module:function" for
        a reward of your own, or that function itself
    rows: the columns of each row, {"prompt": …, "solution": …}; what a model wrote is `completion`
    sample: how many of the rows are used, at most. Default: 64
    seed: a number that decides which rows are used; the same seed gives the same findings
    only: the classes of attacks to try, such as ["hedge", "cost"]. Default: all
    skip: the classes to leave out. Default: none
    template: the format of an honest answer, such as "<answer>{answer}</answer>". Default: that of
        the rows' completions, else the one of the usual formats that pays most
    completions: the column of what a model wrote. Default: `completion` or `completions`
    attacks: attacks of your own, made with `plaudit.auditing.attack`, to try as well as those that
        the recipe names. Default: none
    progress: where to write what is being tried, such as sys.stderr. Default: nowhere

    >>> rows = [{"question": f"{n} + 1?", "solution": str(n + 1)} for n in range(20, 32)]
    >>> found = audit("answers.exact_match_reward", rows, only=["empty", "hedge"])
    >>> found.findings
    ()
    """
    asked = recipe_of(recipe)
    _check_rows(rows)
    for one in attacks:
        if not isinstance(one, Attack):
            got = f"{type(one).__name__}: {one!r:.80}"
            raise TypeError(f"attacks must be made with @plaudit.auditing.attack(…), got {got}")
    if sample < 1:
        raise ValueError(f"sample must be 1 or more, got {sample}")
    told = _Told(progress)
    asked = _with_guesses(asked, rows, told)
    table = sampled(rows, asked, sample, seed, completions)
    options = Options(
        classes=classes_of(only, skip),
        template=template,
        attacks=(*named_attacks(asked), *attacks),
    )
    try:
        return audit_table(asked, table, options, told)
    finally:
        told.done()


def _check_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise where rows are no list of dicts: a table of another kind would be read by columns."""
    wanted = "rows must be a list with a dict for each row"
    if isinstance(rows, str | Mapping) or not hasattr(rows, "__len__"):
        raise TypeError(f"{wanted}, got {type(rows).__name__}: {rows!r:.80}")
    if not len(rows):
        raise ValueError("there are no rows: an audit needs some, with golds")
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            what = f"{type(rows).__name__} whose entry {place} is {type(row).__name__}"
            hint = ": of a DataFrame, pass df.to_dict('records'); of an Arrow table, to_pylist()"
            raise TypeError(f"{wanted}, got {what}{hint}")


def _with_guesses(recipe: Recipe, rows: Sequence[Mapping[str, Any]], told: "_Told") -> Recipe:
    """The recipe with columns guessed by meaning, as `plaudit score` does, and says so."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    guessed = recipe.with_guessed_columns(names)[1]
    guessed.pop("completions", None)  # an audit needs none
    if not guessed:
        return recipe
    told(", ".join(f"{argument}: column {name}" for argument, name in guessed.items()))
    return replace(recipe, columns={**recipe.columns, **guessed})


def classes_of(only: str | Collection[str], skip: str | Collection[str]) -> list[str]:
    """The classes to try; a text is the name of one class.

    >>> classes_of(["cost", "hedge"], ["cost"])
    ['hedge']
    >>> classes_of(["hegde"], [])
    Traceback (most recent call last):
    ...
    ValueError: there is no class 'hegde'; the classes are empty, structure, key, echo, hedge, \
neighbour, retract, stuffing, length, unstable, cost, missed
    """
    only, skip = ([one] if isinstance(one, str) else one for one in (only, skip))
    for name in (*only, *skip):
        if name not in CLASSES:
            raise ValueError(f"there is no class {name!r}; the classes are {', '.join(CLASSES)}")
    return [name for name in CLASSES if (not only or name in only) and name not in skip]


def recipe_of(recipe: Recipe | str | Callable[..., Any], folder: str = "") -> Recipe:
    """The recipe that is meant; a reward of the user's becomes a recipe of one component.

    >>> recipe_of("trl.accuracy_reward").name
    'accuracy_reward'
    """
    if isinstance(recipe, Recipe):
        return recipe
    if callable(recipe):
        recipe, folder = _reference(recipe)
    elif recipe in presets() or recipe.endswith(".toml") or Path(recipe).exists():
        return load(recipe)
    elif "." not in recipe and ":" not in recipe:
        return load(recipe)  # which says what there is
    component = Component("", recipe, folder=folder or str(Path.cwd()))
    return Recipe(component.name, (component,))


def _reference(function: Callable[..., Any]) -> tuple[str, str]:
    name, module = getattr(function, "__qualname__", ""), getattr(function, "__module__", "")
    if not name.isidentifier() or module in ("", "__main__", "builtins"):
        raise ValueError(
            f"{name or function!r} cannot be audited: rewards run in a process of their own, which "
            "imports them; put it into a module, at its top level"
        )
    file = getattr(sys.modules.get(module), "__file__", None)
    folder = str(Path(file).absolute().parents[module.count(".")]) if file else ""
    return f"{module}:{name}", folder


def named_attacks(recipe: Recipe) -> list[Attack]:
    """The attacks that a recipe's file names, as "package.module:function"."""
    found = []
    folder = recipe.components[0].folder
    for reference in recipe.attacks:
        name, colon, attribute = reference.partition(":")
        if folder and folder not in sys.path:
            sys.path.append(folder)
        try:
            thing = getattr(import_module(name), attribute) if colon else None
        except (ImportError, AttributeError) as error:
            raise ValueError(f"attacks: cannot find {reference!r}: {error}") from error
        if not isinstance(thing, Attack):
            raise ValueError(
                f'attacks: {reference!r} must be "package.module:function", of a function that is '
                "marked with @plaudit.auditing.attack(…)"
            )
        found.append(thing)
    return found


class _Told:
    """Says what is being tried: over one line of a terminal, else now and then."""

    def __init__(self, out: TextIO | None) -> None:
        self._out, self._shown = out, False

    def __call__(self, what: str) -> None:
        if self._out is not None and self._out.isatty():
            self._shown = True
            print(f"\r\033[Kplaudit: {what}"[:100], end="", file=self._out, flush=True)
        elif self._out is not None and not what.startswith("attack"):
            print(f"plaudit: {what}", file=self._out, flush=True)

    def done(self) -> None:
        """Clear the line."""
        if self._out is not None and self._shown:
            print("\r\033[K", end="", file=self._out, flush=True)
