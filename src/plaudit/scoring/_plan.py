"""The inputs, a recipe and options -> a plan: what a run will do with each column.

It is made from the first rows of each file, before anything is scored. It depends on nothing else,
so a run that is resumed makes the same plan. It is sent to every worker.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pyarrow as pa

from plaudit.column_names import PROMPT, first_of
from plaudit.judge import shared_judge
from plaudit.recipes import Recipe
from plaudit.scored_columns import free_names
from plaudit.scoring._columns import Column, is_list, python_rows, type_of
from plaudit.scoring._errors import InputError
from plaudit.scoring._inputs import AT_ONCE, InputFile
from plaudit.scoring._readers import blocks_of, schema_of
from plaudit.scoring._records import Block, UnreadableRecord, is_listed, parsed

ADDED = ("row_id", "group_id", "total", "status", "explanation")
OTHER_VALUES = "other_values"
COMPLETIONS = ("completion", "completions")

_HEAD_BLOCKS, _HEAD_ROWS = 4, 2000  # of the first file
_HEAD_ROWS_OF_OTHERS = 100


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will do.

    files: the names of the inputs
    completions: the input's column of completions
    listed: whether each record holds a list of completions, and not just one
    group: the column that says which rows belong together; None: each record is a group
    reward_columns: the columns that some reward of the recipe reads
    required_columns: those that every row must have
    columns: the input's columns, as they are in the output
    other_values: the output's column for values that do not fit; "" if it has none
    limits: the judge's limits in this process, which every worker gets
    guessed: the columns that were guessed, argument of a reward -> column
    renamed: what added columns are called if the input has a column of their name
    scores_only: whether the parts have the scores alone, without the input: for a table in memory
    inputs: the files, for workers that read them by themselves
    out: the URL of the output folder, if workers write parts by themselves; else ""
    """

    recipe: Recipe
    files: tuple[str, ...]
    completions: str
    listed: bool
    group: str | None
    reward_columns: tuple[str, ...]
    required_columns: tuple[str, ...]
    columns: tuple[Column, ...]
    other_values: str
    limits: Mapping[str, float]
    guessed: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    scores_only: bool = False
    inputs: tuple[InputFile, ...] = ()
    out: str = ""

    @property
    def exploded(self) -> list[str]:
        """The columns, other than the completions, with one entry per completion."""
        return [c.source for c in self.columns if c.exploded and c.source != self.completions]

    @property
    def completion_column(self) -> str:
        """What the completions are called in the output."""
        return next(c.name for c in self.columns if c.source == self.completions)


@dataclass(frozen=True, slots=True)
class Head:
    """The first rows of a file, its columns, its schema if it has one, and what cannot be read.

    >>> Head("a.jsonl", [{"solution": "4"}], ["solution"], None, False, "").rows
    [{'solution': '4'}]
    """

    name: str
    rows: list[dict[str, Any]]
    columns: list[str]
    schema: pa.Schema | None
    is_text: bool
    problem: str


def make_plan(
    files: Sequence[InputFile], recipe: Recipe, completions: str | None, group: str | None
) -> Plan:
    """Decide what to do with each column, from the first rows of each file."""
    return plan_of(_heads(files), recipe, completions, group)


def _heads(files: Sequence[InputFile]) -> list[Head]:
    if not any(file.url for file in files):
        return [_head(file, number) for number, file in enumerate(files)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(_head, files, range(len(files))))


def plan_of(
    heads: Sequence[Head],
    recipe: Recipe,
    completions: str | None = None,
    group: str | None = None,
    guessed: Mapping[str, str] | None = None,
    scores_only: bool = False,
) -> Plan:
    """The plan for inputs with these first rows.

    completions, group: the columns that the caller named; default: the usual names
    guessed: the recipe's columns that were guessed already; default: guess them here
    scores_only: whether the parts have the scores alone, for a table in memory
    """
    filled = [head for head in heads if head.rows]
    if not filled:
        raise InputError(_nothing_in(heads, "score"))
    if guessed is None:
        recipe, guessed = recipe.with_guessed_columns(filled[0].columns)
    column = completions or recipe.columns.get("completions") or _completions_column(filled[0])
    for head in filled:
        _check_columns(head, column, recipe, group)
    listed = _listed(filled, column)
    names = list(dict.fromkeys(name for head in filled for name in head.columns))
    columns = tuple(_column(name, filled, column, listed, scores_only) for name in names)
    is_json = any(head.schema is None and not head.is_text for head in filled)
    added = [*(component.name for component in recipe.components), *ADDED]
    renamed = free_names([*added, OTHER_VALUES], [one.name for one in columns])
    other_values = renamed.pop(OTHER_VALUES, OTHER_VALUES)
    return Plan(
        recipe=recipe,
        files=tuple(head.name for head in heads),
        completions=column,
        listed=listed,
        group=group or (None if listed else first_of(PROMPT, names)),
        reward_columns=tuple(name for name in names if is_read_by(name, recipe)),
        required_columns=tuple(dict.fromkeys(recipe.needs().values())),
        columns=columns,
        other_values=other_values if is_json and not scores_only else "",
        limits=judge_limits(),
        guessed=guessed,
        renamed=renamed,
        scores_only=scores_only,
    )


def heads_of(files: Sequence[InputFile], purpose: str = "score") -> list[Head]:
    """The first rows of each file that has any; raises InputError if none has.

    purpose: a verb that says in errors what the rows are for, "score"

    >>> import tempfile
    >>> from pathlib import Path
    >>> from plaudit.scoring import find_inputs
    >>> file = Path(tempfile.mkdtemp(), "a.jsonl")
    >>> _ = file.write_text('{"solution": "4"}')
    >>> heads_of(find_inputs([file]))[0].columns
    ['solution']
    """
    heads = _heads(files)
    filled = [head for head in heads if head.rows]
    if not filled:
        raise InputError(_nothing_in(heads, purpose))
    return filled


def judge_limits() -> dict[str, float]:
    """The limits of the judge in this process, which every worker gets.

    >>> sorted(judge_limits())
    ['deadline', 'memory']
    """
    try:
        settings = shared_judge().settings
    except ValueError as error:  # of the environment
        raise InputError(str(error)) from error
    return {"deadline": settings.deadline, "memory": settings.memory}


def _head(file: InputFile, number: int) -> Head:
    if not file.size:
        return Head(file.name, [], [], None, False, "")
    most = _HEAD_ROWS if number == 0 else _HEAD_ROWS_OF_OTHERS
    rows: list[dict[str, Any]] = []
    problem = ""
    for block in islice(blocks_of(file, number), _HEAD_BLOCKS):
        found = _first_rows_of(block, most - len(rows))
        rows += [row for row in found if isinstance(row, dict)]
        broken = [row.reason for row in found if isinstance(row, UnreadableRecord)]
        problem = problem or (broken[0] if broken else "")
        if len(rows) >= most:
            break
    schema = schema_of(file) if rows else None
    names = schema.names if schema else list(dict.fromkeys(name for row in rows for name in row))
    return Head(file.name, rows, names, schema, file.format in ("csv", "tsv"), problem)


def _first_rows_of(block: Block, most: int) -> list[dict[str, Any] | UnreadableRecord]:
    """The first rows of a block; 20 of an Arrow batch, which has a schema."""
    if isinstance(block.records, list):
        return [parsed(record) for record in block.records[:most]]
    batch: Any = block.records
    return [*python_rows(batch.slice(0, min(most, 20)))]


def _nothing_in(heads: Sequence[Head], purpose: str) -> str:
    for head in heads:
        if head.problem:
            return f"{head.name} has no row that can be read: {head.problem}"
    names = ", ".join(head.name for head in heads[:3]) + (", …" if len(heads) > 3 else "")
    return f"there are no rows to {purpose}: {names} {'is' if len(heads) == 1 else 'are'} empty"


def _completions_column(head: Head) -> str:
    found = [name for name in COMPLETIONS if name in head.columns]
    if len(found) > 1:
        raise InputError(
            f"{head.name} has both a column completion and a column completions: "
            "choose the one that holds what the model wrote, with --completions COLUMN, or "
            "completions=… in Python"
        )
    return found[0] if found else COMPLETIONS[0]


def _check_columns(head: Head, column: str, recipe: Recipe, group: str | None) -> None:
    try:
        recipe.check(head.columns)
    except ValueError as error:
        raise InputError(f"{head.name}: {error}") from error
    for option, name in (("--completions", column), ("--group", group)):
        if name is not None and name not in head.columns:
            there_are = ", ".join(head.columns)
            raise InputError(
                f"{head.name} has no column {name} ({option}); its columns are {there_are}"
            )


def _listed(heads: Sequence[Head], column: str) -> bool:
    """Whether the records hold lists of completions: all files must agree."""
    found: dict[bool, str] = {}
    for head in heads:
        said = (is_listed(row.get(column)) for row in head.rows)
        first = next((one for one in said if one is not None), None)
        if first is not None:
            found.setdefault(first, head.name)
    if len(found) == 2:
        raise InputError(
            f"{found[False]} has one completion per row, {found[True]} has a list of them: "
            "score them in separate runs"
        )
    return True in found


def _column(
    name: str, heads: Sequence[Head], completions: str, listed: bool, scores_only: bool
) -> Column:
    exploded = listed and (name == completions or _is_exploded(name, heads, completions))
    is_free = not any("completion" in head.columns for head in heads)
    output = "completion" if listed and name == completions and is_free else name
    if scores_only:  # the caller's table has its types
        return Column(output, name, pa.null(), exploded)
    kinds = [
        _item_type(head.schema.field(name).type) if exploded else head.schema.field(name).type
        for head in heads
        if head.schema is not None and name in head.columns
    ]
    values = [row.get(name) for head in heads if head.schema is None for row in head.rows]
    items = (item for value in values for item in (_items(value) if exploded else [value]))
    known = [item for item in items if item is not None]
    found = type_of(known)
    if found is None and (known or not kinds):
        if any(kind != pa.string() for kind in kinds):
            raise _several_types(name, [*kinds, "JSON of several types"])
        return Column(output, name, pa.string(), exploded, text=True)
    kinds += [] if found is None else [found]
    if (kind := _common(kinds)) is None:
        raise _several_types(name, kinds)
    return Column(output, name, kind, exploded)


def _item_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if is_list(kind) else kind


def _several_types(name: str, kinds: Sequence[Any]) -> InputError:
    seen = ", ".join(dict.fromkeys(map(str, kinds)))
    return InputError(
        f"the column {name} has a different type in each file: {seen}; score them in separate runs"
    )


def _is_exploded(name: str, heads: Sequence[Head], completions: str) -> bool:
    """Whether a column such as completion_ids holds a list as long as that of the completions."""
    rows = [row for head in heads for row in head.rows if isinstance(row.get(completions), list)]
    return name.startswith("completion") and all(
        isinstance(row.get(name), list) and len(row[name]) == len(row[completions]) for row in rows
    )


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _common(kinds: Sequence[pa.DataType]) -> pa.DataType | None:
    schemas = [pa.schema([("it", kind)]) for kind in kinds]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field("it").type
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None


def is_read_by(name: str, recipe: Recipe) -> bool:
    """Whether some reward of a recipe reads this column.

    >>> from plaudit.recipes import load
    >>> is_read_by("solution", load("trl-math")), is_read_by("source", load("trl-math"))
    (True, False)
    """
    mapped = {*recipe.columns.values(), *recipe.needs().values()}
    return name in mapped or any(component.takes(name) for component in recipe.components)
