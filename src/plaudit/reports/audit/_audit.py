"""`plaudit.audit`: find what a recipe or a reward pays for without being right."""

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TextIO

from plaudit.recipes import Component, Recipe, presets
from plaudit.recipes.recipe import as_recipe
from plaudit.reports.audit._attack import CLASSES, Attack
from plaudit.reports.audit._attacks.measured import cost_of
from plaudit.reports.audit._engine import Engine
from plaudit.reports.audit._findings import Audit
from plaudit.reports.audit._paid_formats import AuditSample, FormatFinder, PaidFormat, sample_of
from plaudit.reports.audit._reward_process import TOTAL, Raised, RowScorer
from plaudit.tables.summary import ProgressLine

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
    attacks: attacks of your own, made with `plaudit.reports.audit.attack`, to try as well as
        those that the recipe names. Default: none
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
    from plaudit.tables.memory import table_of
    from plaudit.tables.plan import with_columns
    from plaudit.tables.readers import names_files, read_rows

    _check_order(table, recipe)
    if sample < 1:
        raise ValueError(f"sample must be 1 or more, got {sample}")
    for one in attacks:
        if not isinstance(one, Attack):
            got = f"{type(one).__name__}: {one!r:.80}"
            raise TypeError(
                f"attacks must be made with @plaudit.reports.audit.attack(…), got {got}"
            )
    mapped = {**columns, **({"completions": completions} if completions else {})}
    asked = with_columns(recipe_of(recipe), mapped)
    if names_files(table):
        paths = [table] if isinstance(table, str | PathLike) else table
        table = read_rows(paths, max(_READ, sample))
    rows = table_of(table)
    if not len(rows):
        raise ValueError("there are no rows: an audit needs some, with golds")
    asked, guessed = asked.with_guessed_columns(rows.names)
    sampled = sample_of(rows, asked, sample, seed)
    own = (*named_attacks(asked), *attacks)
    with ProgressLine(progress, quiet=0.0) as line:
        found = _audit_sample(asked, sampled, classes_of(only, skip), template, own, line)
    return replace(found, guessed=guessed)


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


def _audit_sample(
    recipe: Recipe,
    sample: AuditSample,
    classes: Collection[str],
    template: str | None,
    attacks: Sequence[Attack],
    progress: ProgressLine,
) -> Audit:
    names = [component.name for component in recipe.components]
    targets = names if len(names) == 1 else [*names, TOTAL]
    with RowScorer(recipe, sample.rows, sample.as_messages) as scorer:
        refusal = _choose_form(scorer, len(sample.rows))
        finder = FormatFinder(recipe, sample, scorer, template)
        progress("finding the format of an honest answer")
        formats = finder.find(targets)
        unread = sample.gold_column is not None and not any(sample.golds)  # which is noted
        if refusal and not unread and not any(paid.pays_something for paid in formats.values()):
            raise ValueError(f"the rewards raise on every completion: {refusal}")
        unpaid = _unpaid(recipe, formats) if len(names) > 1 else {}
        engine = Engine(scorer, finder, sample, formats, unpaid, classes, attacks, progress)
        engine.play()
        engine.check_stability()
        engine.check_formats(recipe)
    for component in recipe.components if "cost" in classes else ():
        progress(f"measuring the time of {component.name}")
        case = finder.case(finder.rows[0], formats[component.name].format)
        alone = replace(recipe, components=(replace(component, gate=None),))
        with RowScorer(alone, sample.rows, scorer.as_messages) as timed:
            engine.add_cost(component.name, case, cost_of(timed, case))
    return engine.audit(recipe.name)


def _unpaid(recipe: Recipe, formats: Mapping[str, PaidFormat]) -> dict[str, str]:
    """Return the components that pay nothing by themselves: only the total can have a hole.

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


def _choose_form(scorer: RowScorer, rows: int) -> str:
    """Pass completions in the other form, text or messages, if a reward refuses that of the table.

    Return what it raises if it refuses both.
    """
    texts = [(row, "It is so.") for row in range(min(4, rows))]
    raised = [one.message for one in scorer(texts) if isinstance(one, Raised)]
    if len(raised) < len(texts):
        return ""
    if all(isinstance(one, Raised) for one in scorer(texts, in_other_form=True)):
        return raised[0]
    scorer.as_messages = not scorer.as_messages
    return ""


def classes_of(only: str | Collection[str], skip: str | Collection[str]) -> list[str]:
    """Return the classes to try; a text is the name of one class."""
    only, skip = ([one] if isinstance(one, str) else one for one in (only, skip))
    for name in (*only, *skip):
        if name not in CLASSES:
            raise ValueError(f"there is no class {name!r}; the classes are {', '.join(CLASSES)}")
    return [name for name in CLASSES if (not only or name in only) and name not in skip]


def recipe_of(recipe: Any) -> Recipe:
    """Return the recipe that is meant, with rewards that another process can import."""
    if isinstance(recipe, str) and ":" in recipe and not recipe.endswith(".toml"):
        recipe = Component("", recipe, folder=str(Path.cwd()))
    found = as_recipe(recipe)
    return replace(found, components=tuple(map(_importable, found.components)))


def _importable(component: Component) -> Component:
    """Return the component, with the folder from which another process can import its reward."""
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
    """Return the attacks that a recipe's file names, as "package.module:function"."""
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
                "marked with @plaudit.reports.audit.attack(…)"
            )
        found.append(thing)
    return found
