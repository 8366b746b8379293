"""`plaudit.audit`: a table and a recipe or a reward in; findings out."""

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TextIO

from plaudit.auditing._attacks import CLASSES, Attack
from plaudit.auditing._costs import cost_of
from plaudit.auditing._engine import Engine, Options, Progress
from plaudit.auditing._findings import TOTAL, Audit
from plaudit.auditing._formats import Format, FormatFinder
from plaudit.auditing._process import Raised
from plaudit.auditing._scorer import Scorer
from plaudit.auditing._sources import constants_of, lengths_in, tags_in, texts_in
from plaudit.auditing._table import Table, sampled
from plaudit.recipes import Component, Recipe, as_recipe, presets

ROWS = 64
_READ = 20_000  # rows of a file from which the sample is taken


def audit(
    table: Any,
    recipe: Any,
    *,
    completions: str | None = None,
    sample: int = ROWS,
    seed: int = 0,
    only: str | Collection[str] = (),
    skip: str | Collection[str] = (),
    template: str | None = None,
    attacks: Sequence[Attack] = (),
    progress: TextIO | None = None,
    **columns: str,
) -> Audit:
    """Find what pays without being right, and what is right and not paid.

    table: the rows that one would train on: the path of a file or folder, or several; or a table in
        memory: a list of dicts, a dict of lists, a pandas or polars DataFrame, an Arrow table, a
        Hugging Face Dataset
    recipe: a Recipe, the name of a preset, a TOML file, a reward (a function of a module, or its
        name), or a list of rewards
    completions: the column of what a model wrote. Default: `completion` or `completions`, else a
        guess; a table need not have one
    sample: how many of the rows are used, at most; of files, of the first 20,000. Default: 64
    seed: a number that decides which rows are used; the same seed gives the same findings
    only: the classes of attacks to try, such as ["hedge", "cost"]. Default: all
    skip: the classes to leave out. Default: none
    template: the format of an honest answer, such as "<answer>{answer}</answer>". Default: that of
        the rows' completions, else the one of the usual formats that pays most
    attacks: attacks of your own, made with `plaudit.auditing.attack`, to try as well as those that
        the recipe names. Default: none
    progress: where to write what is being tried, such as sys.stderr. Default: nowhere
    columns: the column that an argument of the rewards is read from, such as solution="answer".
        Default: the column of that name, else a guess

    >>> rows = [{"question": f"{n} + 1?", "answer": str(n + 1)} for n in range(20, 32)]
    >>> print(audit(rows, "answers.exact_match_reward", only=["empty", "hedge"]))
    exact_match_reward: 12 rows; nothing found
    solution: column answer, a guess
    A wrong answer in the right form gets 0% of the total.
      exact_match_reward: a right answer gets 1, written as "{answer}"
    """
    from plaudit.scoring import names_files, read_rows, table_of, with_columns

    _check_order(table, recipe)
    if sample < 1:
        raise ValueError(f"sample must be 1 or more, got {sample}")
    for one in attacks:
        if not isinstance(one, Attack):
            got = f"{type(one).__name__}: {one!r:.80}"
            raise TypeError(f"attacks must be made with @plaudit.auditing.attack(…), got {got}")
    mapped = {**columns, **({"completions": completions} if completions else {})}
    asked = with_columns(recipe_of(recipe), mapped)
    if names_files(table):
        paths = [table] if isinstance(table, str | PathLike) else table
        table = read_rows(paths, max(_READ, sample))
    given = table_of(table)
    if not len(given):
        raise ValueError("there are no rows: an audit needs some, with golds")
    asked, guessed = asked.with_guessed_columns(given.names)
    rows = sampled(given, asked, sample, seed)
    options = Options(
        classes=classes_of(only, skip),
        template=template,
        attacks=(*named_attacks(asked), *attacks),
    )
    told = _Told(progress)
    try:
        return replace(_audit_table(asked, rows, options, told), guessed=guessed)
    finally:
        told.done()


def _check_order(table: Any, recipe: Any) -> None:
    """Raise TypeError if the table and the recipe are swapped."""
    name = fspath(table) if isinstance(table, str | PathLike) else ""
    is_recipe = callable(table) or name in presets() or name.endswith(".toml")
    file = Path(recipe) if isinstance(recipe, str | PathLike) else Path()
    first = recipe[0] if isinstance(recipe, list | tuple) and recipe else recipe
    is_table = (
        isinstance(first, Mapping)
        or hasattr(recipe, "column_names")  # of Arrow, or of a Dataset
        or type(recipe).__name__ == "DataFrame"
        or (file.suffix not in ("", ".toml") and file.is_file())
    )
    if is_recipe or is_table:
        what = f"got {type(table).__name__} and {type(recipe).__name__}"
        raise TypeError(f"the table comes first, then the recipe: audit(table, recipe); {what}")


def _audit_table(recipe: Recipe, table: Table, options: Options, progress: Progress) -> Audit:
    """Audit a recipe on the rows of a table."""
    names = [component.name for component in recipe.components]
    targets = names if len(names) == 1 else [*names, TOTAL]
    with Scorer(recipe, table.rows, table.as_messages) as scorer:
        refusal = _settle_form(scorer, table)
        finder = _finder(recipe, table, scorer, options)
        progress("finding the format of an honest answer")
        formats = finder.found(targets)
        unread = table.gold_column is not None and not any(table.golds)  # which is noted
        if refusal and not unread and not any(form.pays_something for form in formats.values()):
            raise ValueError(f"the rewards raise on every completion: {refusal}")
        unpaid = _unpaid(recipe, formats) if len(names) > 1 else {}
        engine = Engine(scorer, finder, table, formats, unpaid, options, progress)
        engine.play()
        engine.check_stability()
        engine.check_formats(recipe)
    if "cost" in options.classes:
        for component in recipe.components:
            progress(f"measuring the time of {component.name}")
            case = finder.case(finder.places[0], engine.formats[component.name].dress)
            alone = replace(recipe, components=(replace(component, gate=None),))
            shown = replace(table, as_messages=scorer.as_messages)
            engine.add_cost(component.name, case, cost_of(alone, shown, case))
    return engine.audit(recipe.name)


def _unpaid(recipe: Recipe, formats: Mapping[str, Format]) -> dict[str, str]:
    """The components that pay nothing by themselves, so that only the total can have a hole.

    A gate that no gold decides holds nothing back: what it gates pays without being right.
    """
    reads_gold: dict[str | None, bool] = {}
    found = {}
    for one in recipe.components:
        reads_gold[one.name] = formats[one.name].reads_gold or reads_gold.get(one.gate, False)
        if not one.weight:
            found[one.name] = "has the weight 0"
        elif one.gate and reads_gold[one.name]:
            found[one.name] = f"counts only if {one.gate} is above 0"
    return found


def _settle_form(scorer: Scorer, table: Table) -> str:
    """Pass completions in the other form if a reward refuses that of the table.

    Returns what it raises if it refuses both.
    """
    items = [(place, "It is so.") for place in range(min(4, len(table.rows)))]
    results = scorer(items)
    if not all(isinstance(result, Raised) for result in results):
        return ""
    if not all(isinstance(result, Raised) for result in scorer(items, other_form=True)):
        scorer.as_messages = not scorer.as_messages
        return ""
    return next(result.message for result in results if isinstance(result, Raised))


def _finder(recipe: Recipe, table: Table, scorer: Scorer, options: Options) -> FormatFinder:
    constants = [one for component in recipe.components for one in constants_of(component)]
    prompts = [str(row.get("prompt", "")) for row in table.rows[:5]]
    shown = [*list(table.completions.values())[:5], *prompts]
    named = tags_in([*shown, *texts_in(constants)])
    thinks = any("<think>" in text for text in (*shown, *texts_in(constants)))
    return FormatFinder(scorer, table, named, lengths_in(constants), thinks, options.template)


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


def recipe_of(recipe: Any) -> Recipe:
    """The recipe that is meant; its rewards must be such that another process can import them.

    >>> recipe_of("trl.accuracy_reward").name
    'accuracy_reward'
    """
    if isinstance(recipe, str) and ":" in recipe and not recipe.endswith(".toml"):
        recipe = Component("", recipe, folder=str(Path.cwd()))
    found = as_recipe(recipe)
    return replace(found, components=tuple(map(_importable, found.components)))


def _importable(component: Component) -> Component:
    """The component, with the folder from which another process can import its reward."""
    if not isinstance(component.reward, str):
        raise ValueError(
            f"{component.name} cannot be audited: rewards run in a process of their own, which "
            "imports them; put it into a module, at its top level"
        )
    module, colon, _ = component.reward.partition(":")
    file = getattr(sys.modules.get(module), "__file__", None)
    if component.folder or not colon or not file:
        return component
    return replace(component, folder=str(Path(file).absolute().parents[module.count(".")]))


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
