"""Which column of a table is meant, and errors for those that are missing."""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from plaudit.inputs.columns import SYNONYMS, first_of
from plaudit.inputs.errors import quoted
from plaudit.scores.decorators import HOOKS

if TYPE_CHECKING:
    from plaudit.recipes.component import Component

COMPLETIONS = ("completions", "completion")  # what a table may call them without a mapping

_SHOWN = 20


def guess(column: str, available: Collection[str]) -> str | None:
    """Return the column of a table that is probably meant by a name; None if there is none.

    The nearest by spelling, else one that means the same in most datasets.
    """
    by_lower = {name.lower(): name for name in reversed(list(available))}
    near = get_close_matches(column.lower(), by_lower, n=1, cutoff=0.8)
    return by_lower[near[0]] if near else _by_meaning(column, available)


def _by_meaning(column: str, available: Collection[str]) -> str | None:
    """Return the likeliest column that means the same as a name, though it is spelt differently."""
    groups = (names for names in SYNONYMS.values() if column in names)
    names = SYNONYMS.get(column) or next(groups, ())
    return first_of((column, *names), available)


def guess_columns(
    components: Sequence["Component"], mapping: Mapping[str, str], available: Collection[str]
) -> dict[str, str]:
    """Map each argument without a column in the table to the column that is probably meant.

    Columns are guessed by meaning alone: "resolution" is spelt almost like "solution". An argument
    that the recipe or the caller maps to a column is never guessed, and no column is guessed for
    two arguments.
    """
    needs = [pair for component in components for pair in component.needs(mapping).items()]
    mapped = {*mapping, *(argument for component in components for argument in component.columns)}
    taken = {*mapping.values(), *(column for _, column in needs), *COMPLETIONS}
    missing = {argument for argument, column in needs if column not in available}
    missing |= set() if any(name in available for name in COMPLETIONS) else {"completions"}
    guessed: dict[str, str] = {}
    for argument in ("completions", *(argument for argument, _ in needs)):
        free = [name for name in available if name not in {*taken, *guessed.values()}]
        if argument in missing - mapped - set(guessed) and (meant := _by_meaning(argument, free)):
            guessed[argument] = meant
    return guessed


def check_completions(mapped: str | None, available: Collection[str]) -> None:
    """Raise ValueError if a table has no column with what the model wrote.

    mapped: the column that the recipe or the caller named, if one did
    """
    wanted = COMPLETIONS if mapped is None else (mapped,)
    if any(name in available for name in wanted):
        return
    meant = next((m for name in (*wanted, "completions") if (m := guess(name, available))), None)
    names = " or ".join(map(quoted, wanted))
    hint = _hint("completions", meant, available)
    raise ValueError(f"there is no column {names}, with what the model wrote; {hint}")


def is_made_by_trainers(column: str) -> bool:
    """Return whether trainers make a column while they generate, so that no dataset has it."""
    return column.startswith("completion") or column == "image_grid_thw"


def check_needs(
    components: Sequence["Component"],
    mapping: Mapping[str, str],
    available: Collection[str],
    completions: bool = True,
    run_file: bool = False,
) -> None:
    """Raise ValueError if a table lacks a column that some component needs.

    completions: whether the table must also have what trainers make while they generate
    run_file: whether the user names columns in the file of `plaudit train`
    """
    for component in components:
        for argument, column in component.needs(mapping).items():
            if column not in available and (completions or not is_made_by_trainers(column)):
                alias = "" if column == argument else f" as {argument}"
                meant = guess(column, available) or guess(argument, available)
                hint = _hint(argument, meant, available, run_file)
                needs = f"{quoted(component.name)} needs{alias}"
                raise ValueError(f"there is no column {quoted(column)}, which {needs}; {hint}")
        _check_needs_any(component, component.needs_any(mapping), available, run_file)


def _check_needs_any(
    component: "Component", wanted: Mapping[str, str], available: Collection[str], run_file: bool
) -> None:
    if not wanted or any(name in available for pair in wanted.items() for name in pair):
        return
    first = next(iter(wanted))
    meant = guess(first, available)
    hint = _hint(first, meant, available, run_file)
    names = " or ".join(quoted(column) for column in wanted.values())
    needs = f"{quoted(component.name)} needs one of them"
    raise ValueError(f"there is no column {names}: {needs}; {hint}")


def _hint(
    argument: str, meant: str | None, available: Collection[str], run_file: bool = False
) -> str:
    """Say what to do about a missing column; without a guess, the user must fill in COLUMN."""
    named = [name for name in available if name not in HOOKS]
    shown = ", ".join(map(quoted, named[:_SHOWN])) or "none"
    more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
    name = meant or "COLUMN"
    option = "--completions " if argument == "completions" else f"--column {argument}="
    say = f"say {option}{name} on the command line, {argument}={quoted(name)} in "
    say += f"plaudit.score, columns={{{quoted(argument)}: {quoted(name)}}} in load, or "
    entry = f"{argument} = {quoted(name)} under [columns]"
    say = f"write {entry}" if run_file else f"{say}{entry} in the recipe"
    first = (
        f"did you mean {quoted(meant)}? Then {say}" if meant else f"if it has another name, {say}"
    )
    return f"{first}. The columns are {shown}{more}"
