"""What each row is checked for, decided by the recipe and the first rows of a table."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, TextIO

from plaudit.inputs.columns import CHOICES, IMAGE, PROGRAM, PROMPT, first_of
from plaudit.recipes import Component, Recipe
from plaudit.recipes.component import guess, is_made_by_trainers
from plaudit.reports.honest_answers import REASONING, AnswerFormat, usual_formats
from plaudit.tables import InputError
from plaudit.tables.plan import Head, check_columns, is_read_by, judge_limits
from plaudit.tables.readers import is_listed

_COMPLETIONS = ("completion", "completions")
_SIZES = (("width", "height"), ("image_width", "image_height"))
_CONTEXTS = ("context", "passage")
_SAMPLE = 48  # rows on which formats are tried
# The formats to try first: of those that a lenient reward takes, the one that says most.
_FIRST = ("\\boxed{{answer}}", "<answer>{answer}</answer>", "${answer}$", "{answer}")

_REPEATED = 0.02  # of the first rows: if more share their prompt, each is one of its completions


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of a check; see `check_table`."""

    completions: str | None = None
    group: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    template: str | None = None
    skip: Sequence[str] = ()
    workers: int | None = None
    progress: TextIO | None = None


@dataclass(frozen=True, slots=True)
class GoldComparison:
    """A component that compares completions with a gold.

    recipe: the component alone, without its gate and without a model that is asked
    argument, column: what the reward calls the gold, and what the table calls it
    format: how the reward wants an answer; None if that was not found
    pay: what a right answer gets, for a reward that does not say which answers are right
    """

    name: str
    recipe: Recipe
    argument: str
    column: str
    format: AnswerFormat | None = None
    pay: float | None = None

    @property
    def component(self) -> Component:
        return self.recipe.components[0]

    @property
    def separator(self) -> str | None:
        """The text between the alternatives of one gold, if the reward has such a parameter."""
        found = self.component.params.get("separator")
        return found if isinstance(found, str) else None


@dataclass(frozen=True, slots=True)
class ProgramTests:
    """A component that runs programs against tests."""

    name: str
    tests: str  # the column of the tests
    reference: str  # the column of programs that should pass them; "" if there is none
    params: Mapping[str, Any]  # the parameters of the reward


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """What each row is checked for; it is sent to every worker.

    groups: whether a record holds a list of completions
    scored: whether the completions are scored, to compare those of one prompt
    prompts: the columns that make up a prompt, with its image; () if there is none
    images: the columns with images; `own_images` are those that a reward opens
    read: the columns that the recipe's comparisons read
    """

    files: tuple[str, ...]
    completions: str
    groups: bool
    scored: bool
    required: tuple[str, ...]
    prompts: tuple[str, ...]
    images: tuple[str, ...]
    own_images: frozenset[str]
    choices: tuple[str, ...]
    sizes: tuple[tuple[str, str], ...]
    read: tuple[str, ...]
    comparisons: tuple[GoldComparison, ...]
    formats: tuple[AnswerFormat, ...]
    limits: Mapping[str, float]
    programs: tuple[ProgramTests, ...]

    @property
    def columns(self) -> frozenset[str]:
        """Every column that is looked at."""
        sizes = (name for pair in self.sizes for name in pair)
        named = (*self.required, *self.prompts, *self.images, *self.choices, *self.read)
        named += tuple(one.reference for one in self.programs)
        return frozenset([self.completions, *named, *sizes])

    @property
    def rollouts(self) -> bool:
        """Whether each row holds one completion, so that a prompt has many rows."""
        return bool(self.completions) and not self.groups


def make_plan(
    heads: Sequence[Head], recipe: Recipe, options: CheckOptions
) -> tuple[CheckPlan, list[dict[str, Any]], list[str]]:
    """Return the plan, rows to try formats on, and notes on what will not be checked."""
    group = options.group
    column = options.completions or recipe.columns.get("completions")
    for head in heads:
        check_columns(head, recipe, column, group, completions=False)
    names = list(dict.fromkeys(name for head in heads for name in head.columns))
    column = column or next((name for name in _COMPLETIONS if name in names), "")
    rows = [row for head in heads for row in head.rows]
    groups = any(is_listed(row.get(column)) for row in rows)
    needs = {**recipe.needs(), **_only_ones(recipe, names)}
    own_images = frozenset(c for a, c in needs.items() if a.split(".")[-1] in IMAGE)
    images = tuple(dict.fromkeys([*own_images, *(name for name in IMAGE if name in names)]))
    choices = [recipe.columns.get("choices", CHOICES[0]), *CHOICES]
    prompts = _prompts(names, images, group)
    comparisons, notes = _comparisons(recipe)
    recipes = [comparison.recipe for comparison in comparisons]
    if not prompts:
        wanted = ", ".join(PROMPT)
        notes.append(
            f"there is no column {wanted}: rows of one prompt were not compared (--group COLUMN)"
        )
    plan = CheckPlan(
        files=("",),
        completions=column,
        groups=groups,
        scored="suspicious_gold" not in options.skip
        and bool(column and comparisons and (groups or _has_repeated(rows, prompts))),
        required=tuple(dict.fromkeys(c for c in needs.values() if not is_made_by_trainers(c))),
        prompts=prompts,
        images=images,
        own_images=own_images,
        choices=tuple(name for name in dict.fromkeys(choices) if name in names),
        sizes=tuple(pair for pair in _SIZES if {*pair} <= {*names}),
        read=tuple(n for n in names if n != column and any(is_read_by(n, r) for r in recipes)),
        comparisons=tuple(comparisons),
        formats=_formats(options.template),
        limits=judge_limits(),
        programs=_programs(recipe, names),
    )
    return plan, _sample(rows, comparisons), notes


def _programs(recipe: Recipe, names: Sequence[str]) -> tuple[ProgramTests, ...]:
    reference = first_of(PROGRAM, names) or ""
    return tuple(
        ProgramTests(one.name, one.needs(recipe.columns)["tests"], reference, dict(one.params))
        for one in recipe.components
        if one.reference.startswith("code.")
    )


def _only_ones(recipe: Recipe, names: Sequence[str]) -> dict[str, str]:
    """Return the column that the table has, if a reward needs one of several."""
    several = [component.needs_any(recipe.columns) for component in recipe.components]
    there = [{a: c for a, c in one.items() if c in names} for one in several]
    return {a: c for one in there if len(one) == 1 for a, c in one.items()}


def _formats(template: str | None) -> tuple[AnswerFormat, ...]:
    """Return the formats to try; those with reasoning come last."""
    if template is not None:
        try:
            return (AnswerFormat.of(template),)
        except ValueError as error:
            raise InputError(f"--template: {error}") from error

    def order(one: AnswerFormat) -> tuple[bool, int]:
        form = one.template.rpartition("</think>")[2].strip()
        return REASONING in one.template, _FIRST.index(form) if form in _FIRST else len(_FIRST)

    return tuple(sorted(usual_formats(), key=order))


def _prompts(names: Sequence[str], images: Sequence[str], group: str | None) -> tuple[str, ...]:
    """Return the columns that tell one prompt from another: its texts, and its image."""
    if group is not None:
        return (group,)
    found = [name for name in PROMPT if name in names]
    others = [name for name in (*_CONTEXTS, *images) if name in names]
    return (*found, *others) if found else ()


def _has_repeated(rows: Sequence[Mapping[str, Any]], prompts: Sequence[str]) -> bool:
    """Return whether the first rows look like several completions of one prompt."""
    keys = [key for row in rows if (key := prompt_key(row, prompts))]
    repeated = sum(count for count in Counter(keys).values() if count > 1)
    return repeated > _REPEATED * len(keys)


def prompt_key(row: Mapping[str, Any], prompts: Sequence[str]) -> str:
    """Return a text that is the same for rows of the same prompt; "" if a row has no prompt."""
    values = [_with_single_spaces(row.get(name)) for name in prompts]
    if not values or values[0] is None or values[0] in ("", []):
        return ""
    return as_json(values)


def _with_single_spaces(value: Any) -> Any:
    """Return the same value, with one space for all white space between words."""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list | tuple):
        return [_with_single_spaces(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _with_single_spaces(one) for name, one in value.items()}
    return value


def as_json(value: Any) -> str:
    """Return a text that is the same for equal values; of bytes, such as an image, their digest."""

    def encode(value: Any) -> str:
        is_bytes = isinstance(value, bytes)
        return blake2b(value, digest_size=8).hexdigest() if is_bytes else repr(value)

    return json.dumps(value, sort_keys=True, default=encode)


def _comparisons(recipe: Recipe) -> tuple[list[GoldComparison], list[str]]:
    found, notes = [], []
    for component in recipe.components:
        needs = component.needs(recipe.columns)
        # A column that is mapped and not needed may be for a log: it decides nothing.
        bound = component.bound
        argument = guess("solution", needs if bound.takes_any else bound.needed)
        if argument is None:
            notes.append(f"{component.name} reads no gold")
        elif component.params.get("accu_reward_method") == "llm":
            notes.append(f"{component.name} asks a model, so its golds were not compared")
        else:
            found.append(_comparison(component, recipe, argument, needs[argument]))
    return found, notes


def _comparison(component: Component, recipe: Recipe, argument: str, column: str) -> GoldComparison:
    params = {name: value for name, value in component.params.items() if name != "grader"}
    alone = replace(component, gate=None, params=params)
    columns = {a: c for a, c in recipe.columns.items() if alone.takes(a)}
    return GoldComparison(component.name, Recipe("check", (alone,), columns), argument, column)


def _sample(
    rows: Sequence[dict[str, Any]], comparisons: Sequence[GoldComparison]
) -> list[dict[str, Any]]:
    """Return rows with a gold, evenly from the first ones."""
    columns = [comparison.column for comparison in comparisons]
    filled = [row for row in rows if all(row.get(name) not in (None, "") for name in columns)]
    step = max(1, len(filled) // _SAMPLE)
    return filled[::step][:_SAMPLE]
