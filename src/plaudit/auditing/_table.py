"""Rows of a table, sampled, and what an audit needs of each: its gold and its completion."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from plaudit.auditing._golds import Gold, Kind, read_gold
from plaudit.column_names import CHOICES, GOLD
from plaudit.completions import text_of
from plaudit.golds import as_option
from plaudit.recipes import Recipe, guess

if TYPE_CHECKING:
    from plaudit import scoring

COMPLETIONS = ("completion", "completions")


@dataclass(frozen=True)
class Table:
    """The rows that an audit uses.

    numbers: the number of each row in the whole table
    rows: their columns, without `completion` and `completions`
    completions: the text of what a model wrote, where a row has it
    as_messages: whether the table's completions are lists of messages
    gold_column: the column of golds; None where there is none
    golds: the gold of each row, read; None where it has none
    """

    numbers: Sequence[int]
    rows: Sequence[Mapping[str, Any]]
    completions: Mapping[int, str]
    as_messages: bool
    gold_column: str | None
    golds: Sequence[Gold | None]


def sampled(given: "scoring.Table", recipe: Recipe, count: int, seed: int) -> Table:
    """A sample of rows, the same for the same seed, in the order of the table.

    given: the whole table
    recipe: which columns are read; that of the completions need not be there

    >>> from plaudit.recipes import load
    >>> from plaudit.scoring import table_of
    >>> given = table_of([{"solution": "4", "completion": "It is 4."}] * 9)
    >>> table = sampled(given, load("math"), 3, seed=0)
    >>> table.gold_column, table.completions[0], len(table.rows)
    ('solution', 'It is 4.', 3)
    """
    numbers = list(range(len(given)))
    if len(numbers) > count:
        numbers = sorted(random.Random(seed).sample(numbers, count))
    column = recipe.columns.get("completions") or next(
        (name for name in COMPLETIONS if name in given.names), ""
    )
    if column and column not in given.names:
        there_are = ", ".join(given.names)
        raise ValueError(f"there is no column {column!r}; the columns are {there_are}")
    # The audit writes the completions itself, and so their ids.
    needs = recipe.needs()
    made = [needs[name] for name in ("completion_ids",) if name in needs]
    recipe.check([*given.names, column or "completions", *made])
    columns = [name for name in given.names if name not in COMPLETIONS]
    gold = _gold_column(recipe, [name for name in columns if name != column])
    chosen = [{n: given.values(n, at, at + 1)[0] for n in columns} for at in numbers]
    said = [given.values(column, at, at + 1)[0] if column else None for at in numbers]
    texts = {place: _said(value, place) for place, value in enumerate(said)}
    return Table(
        numbers=numbers,
        rows=chosen,
        completions={place: text for place, text in texts.items() if text},
        as_messages=any(map(_is_messages, said)),
        gold_column=gold,
        golds=_alike([_gold(row, gold, _first_of(recipe)) for row in chosen]),
    )


def unread_golds(table: Table) -> list[str]:
    """A note on the rows whose gold could not be read, with the first of them; [] for none.

    >>> from plaudit.recipes import load
    >>> from plaudit.scoring import table_of
    >>> given = table_of({"solution": ["4", None], "question": ["2 + 2?", "2 + 3?"]})
    >>> unread_golds(sampled(given, load("math"), 2, seed=0))
    ['1 of 2 rows were left out: no gold can be read in solution, where row 1 has None']
    """
    column = table.gold_column
    missing = [place for place, gold in enumerate(table.golds) if gold is None]
    if column is None or not missing:
        return []
    shown = f"row {table.numbers[missing[0]]} has {table.rows[missing[0]].get(column)!r:.60}"
    why = f"no gold can be read in {column}, where {shown}"
    if len(missing) == len(table.golds):
        return [f"{why}: nobody knows what a right answer would be"]
    return [f"{len(missing)} of {len(table.golds)} rows were left out: {why}"]


def _alike(golds: list[Gold | None]) -> list[Gold | None]:
    """The golds; where most are words, years and letters among them are words, too."""
    known = [gold for gold in golds if gold is not None]
    words = sum(gold.kind is Kind.TEXT for gold in known)
    if 2 * words <= len(known):
        return golds
    single = (Kind.NUMBER, Kind.QUANTITY, Kind.LETTER)
    return [replace(g, kind=Kind.TEXT) if g is not None and g.kind in single else g for g in golds]


def _gold_column(recipe: Recipe, columns: Sequence[str]) -> str | None:
    needs = recipe.needs()
    for name in ("solution", *GOLD):
        if name in needs and needs[name] in columns:
            return needs[name]
    mapped = recipe.columns.get("solution")
    if mapped in columns:
        return mapped
    return guess("solution", columns)


def _first_of(recipe: Recipe) -> Callable[[Any], Any]:
    """What takes the first of a gold's alternatives, where the rewards say that they take some."""
    told = [component.params.get("separator") for component in recipe.components]
    separator = next((one for one in told if isinstance(one, str)), "")
    listed = all(c.calling.declaration.takes_alternatives for c in recipe.components)

    def first(gold: Any) -> Any:
        if separator and isinstance(gold, str) and separator in gold:
            return next((part for part in gold.split(separator) if part.strip()), gold)
        return gold[0] if listed and isinstance(gold, list) and gold else gold

    return first


def _gold(row: Mapping[str, Any], column: str | None, first: Callable[[Any], Any]) -> Gold | None:
    choices = next((row[name] for name in CHOICES if row.get(name)), None)
    gold = None if column is None else first(row.get(column))
    return read_gold(as_option(gold, choices), choices)


def _said(value: Any, place: int) -> str:
    if isinstance(value, list) and value and isinstance(value[0], str | list):
        value = value[0]  # one of several completions
    if value is None:
        return ""
    try:
        return text_of(value, place)
    except TypeError:
        return ""


def _is_messages(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) or (isinstance(first, list) and bool(first))
