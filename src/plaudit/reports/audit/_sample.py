"""The rows that an audit uses: a sample of a table, with the gold and the completion of each."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from plaudit.inputs.column_names import CHOICES, GOLD, PROGRAM, TESTS, first_of
from plaudit.inputs.completions import text_of
from plaudit.inputs.golds import as_option
from plaudit.recipes import Recipe
from plaudit.recipes.columns import guess
from plaudit.reports.audit._attack import NUMERIC
from plaudit.reports.honest_answers import GoldAnswer, GoldKind, program_gold, read_gold

if TYPE_CHECKING:
    from plaudit.tables import MemoryTable

_COMPLETIONS = ("completion", "completions")


@dataclass(frozen=True)
class AuditSample:
    """The rows that an audit uses.

    numbers: the number of each row in the whole table
    rows: their columns, without `completion` and `completions`
    completions: the text of what a model wrote, for rows that have it
    as_messages: whether the table's completions are lists of messages
    gold_column: the column of golds; None if there is none
    golds: the gold of each row, read; None for a row that has none
    """

    numbers: Sequence[int]
    rows: Sequence[Mapping[str, Any]]
    completions: Mapping[int, str]
    as_messages: bool
    gold_column: str | None
    golds: Sequence[GoldAnswer | None]

    def notes(self) -> list[str]:
        """Return a note on the rows whose gold could not be read, with the first of them."""
        column = self.gold_column
        missing = [index for index, gold in enumerate(self.golds) if gold is None]
        if column is None or not missing:
            return []
        shown = f"row {self.numbers[missing[0]]} has {self.rows[missing[0]].get(column)!r:.60}"
        why = f"no gold can be read in {column}, where {shown}"
        if len(missing) == len(self.golds):
            return [f"{why}: nobody knows what a right answer would be"]
        return [f"{len(missing)} of {len(self.golds)} rows were left out: {why}"]

    @property
    def kind(self) -> GoldKind:
        """What most golds are."""
        kinds = [gold.kind for gold in self.golds if gold is not None]
        return max(dict.fromkeys(kinds), key=kinds.count, default=GoldKind.TEXT)


def sample_of(table: "MemoryTable", recipe: Recipe, count: int, seed: int) -> AuditSample:
    """Return a sample of rows, the same for the same seed, in the order of the table.

    recipe: which columns are read; that of the completions need not be there
    """
    numbers = list(range(len(table)))
    if len(numbers) > count:
        numbers = sorted(random.Random(seed).sample(numbers, count))
    column = recipe.columns.get("completions") or next(
        (name for name in _COMPLETIONS if name in table.names), ""
    )
    if column and column not in table.names:
        there_are = ", ".join(table.names)
        raise ValueError(f"there is no column {column!r}; the columns are {there_are}")
    # The audit writes the completions itself, and so their ids.
    needs = recipe.needs()
    made = [needs[name] for name in ("completion_ids",) if name in needs]
    recipe.check([*table.names, column or "completions", *made])
    columns = [name for name in table.names if name not in _COMPLETIONS]
    others = [name for name in columns if name != column]
    tests = _tests_column(recipe, others)
    gold = tests or _gold_column(recipe, others)
    rows = [{n: table.values(n, at, at + 1)[0] for n in columns} for at in numbers]
    values = [table.values(column, at, at + 1)[0] if column else None for at in numbers]
    texts = {index: _completion(value, index) for index, value in enumerate(values)}
    return AuditSample(
        numbers=numbers,
        rows=rows,
        completions={index: text for index, text in texts.items() if text},
        as_messages=any(map(_is_messages, values)),
        gold_column=gold,
        golds=_program_golds(rows, tests, others)
        if tests
        else _of_one_kind([_gold(row, gold, _first_alternative(recipe)) for row in rows]),
    )


def _of_one_kind(golds: list[GoldAnswer | None]) -> list[GoldAnswer | None]:
    """Return the golds; if most are words, years and letters among them become words, too."""
    known = [gold for gold in golds if gold is not None]
    if 2 * sum(gold.kind is GoldKind.TEXT for gold in known) <= len(known):
        return golds
    single = (*NUMERIC, GoldKind.LETTER)
    return [replace(g, kind=GoldKind.TEXT) if g and g.kind in single else g for g in golds]


def _tests_column(recipe: Recipe, columns: Sequence[str]) -> str | None:
    """Return the column of tests, if a reward reads one; `ground_truth` may be any gold."""
    needs = recipe.needs()
    names = (needs[name] for name in TESTS if name in needs and name not in GOLD)
    return next((name for name in names if name in columns), None)


def _program_golds(
    rows: Sequence[Mapping[str, Any]], tests: str, columns: Sequence[str]
) -> list[GoldAnswer | None]:
    reference = first_of(PROGRAM, columns) or ""
    return [program_gold(row.get(tests), row.get(reference)) for row in rows]


def _gold_column(recipe: Recipe, columns: Sequence[str]) -> str | None:
    needs = recipe.needs()
    for name in ("solution", *GOLD):
        if name in needs and needs[name] in columns:
            return needs[name]
    mapped = recipe.columns.get("solution")
    return mapped if mapped in columns else guess("solution", columns)


def _first_alternative(recipe: Recipe) -> Callable[[Any], Any]:
    """Return a function that takes a gold's first alternative, if the rewards take several."""
    separators = [component.params.get("separator") for component in recipe.components]
    separator = next((one for one in separators if isinstance(one, str)), "")
    listed = all(c.bound.declaration.takes_alternatives for c in recipe.components)

    def first(gold: Any) -> Any:
        if separator and isinstance(gold, str) and separator in gold:
            return next((part for part in gold.split(separator) if part.strip()), gold)
        return gold[0] if listed and isinstance(gold, list) and gold else gold

    return first


def _gold(
    row: Mapping[str, Any], column: str | None, first: Callable[[Any], Any]
) -> GoldAnswer | None:
    choices = next((row[name] for name in CHOICES if row.get(name)), None)
    gold = None if column is None else first(row.get(column))
    return read_gold(as_option(gold, choices), choices is not None)


def _completion(value: Any, index: int) -> str:
    if isinstance(value, list) and value and isinstance(value[0], str | list):
        value = value[0]  # one of several completions
    try:
        return "" if value is None else text_of(value, index)
    except TypeError:
        return ""


def _is_messages(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) or (isinstance(first, list) and bool(first))
