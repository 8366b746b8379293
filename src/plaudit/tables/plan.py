"""Decide what a run does with each column, from the first rows of each file.

The plan depends on nothing else, so a run that is resumed makes the same one. Every worker gets it.
"""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from numbers import Integral
from typing import Any

import pyarrow as pa

from plaudit.inputs.columns import PROMPT, TRUNCATION, first_of
from plaudit.judge import shared_judge
from plaudit.recipes import Recipe
from plaudit.recipes.row_score import free_names, valid_text
from plaudit.tables.errors import InputError
from plaudit.tables.inputs import AT_ONCE, InputFile
from plaudit.tables.readers import UnreadableRecord, blocks_of, is_listed, records_in, schema_of

ADDED = ("row_id", "group_id", "total", "status", "explanation")
OTHER_VALUES = "other_values"
COMPLETIONS = ("completion", "completions")

_HEAD_BYTES = 4 << 20  # that are read of a file, at most
_HEAD_ROWS, _HEAD_ROWS_OF_OTHERS = 2000, 100  # of the first file, and of each other
_HEAD_ROWS_OF_ARROW = 80  # which has a schema
_WIDEST = 100  # with more keys than this in all, dictionaries are data, and are kept as text
# What Arrow raises for values that are of several types, or too large for theirs.
_MISFIT = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the input as it is in the output.

    JSON has no types, so a column gets one from the first rows. A column that has several types is
    text: strings as they are, all else as JSON.

    exploded: whether each record has a list with one entry per completion
    text: whether it is text because its values are of several types
    """

    name: str
    source: str
    type: pa.DataType
    exploded: bool = False
    text: bool = False

    def kind(self) -> str:
        """Return the type, for the manifest."""
        return f"{self.type}{' (text or JSON)' if self.text else ''}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will do.

    listed: whether each record holds a list of completions, and not just one
    group: the column that says which rows belong together; None: each record is a group
    other_values: the output's column for values that do not fit; "" if it has none
    renamed: what added columns are called if the input has a column of their name
    scores_only: whether the parts have the scores alone, without the input: for a table in memory
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
        """The name of the completions in the output."""
        return next(c.name for c in self.columns if c.source == self.completions)


@dataclass(frozen=True, slots=True)
class Head:
    """The first rows of a file, its columns, its schema if it has one, and what cannot be read."""

    name: str
    rows: list[dict[str, Any]]
    columns: list[str]
    schema: pa.Schema | None
    is_text: bool
    problem: str


def heads_of(files: Sequence[InputFile]) -> list[Head]:
    """Return the first rows of each file."""
    if not any(file.url for file in files):
        return [_head(file, index) for index, file in enumerate(files)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(_head, files, range(len(files))))


def _head(file: InputFile, index: int) -> Head:
    most = _HEAD_ROWS if index == 0 else _HEAD_ROWS_OF_OTHERS
    if file.format in ("parquet", "arrow"):
        most = _HEAD_ROWS_OF_ARROW
    rows: list[dict[str, Any]] = []
    problem = ""
    for block in blocks_of(file, index) if file.size else ():
        for record in records_in(block.first(most - len(rows))):
            if isinstance(record, UnreadableRecord):
                problem = problem or record.reason
            else:
                rows.append(record)
        if len(rows) >= most or block.read >= _HEAD_BYTES:
            break
    schema = schema_of(file) if rows else None
    names = schema.names if schema else list(dict.fromkeys(name for row in rows for name in row))
    return Head(file.name, rows, names, schema, file.format in ("csv", "tsv"), problem)


def filled_heads(heads: Sequence[Head], purpose: str) -> list[Head]:
    """Return those that have rows; raise InputError if none has: there is nothing to `purpose`."""
    if filled := [head for head in heads if head.rows]:
        return filled
    for head in heads:
        if head.problem:
            raise InputError(f"{head.name} has no row that can be read: {head.problem}")
    names = ", ".join(head.name for head in heads[:3]) + (", …" if len(heads) > 3 else "")
    are = "is" if len(heads) == 1 else "are"
    raise InputError(f"there are no rows to {purpose}: {names} {are} empty")


def plan_of(
    heads: Sequence[Head],
    recipe: Recipe,
    completions: str | None = None,
    group: str | None = None,
    guessed: Mapping[str, str] | None = None,
    scores_only: bool = False,
) -> Plan:
    """Return the plan for inputs with these first rows.

    guessed: the recipe's columns that were guessed already; default: guess them here
    """
    filled = filled_heads(heads, "score")
    if guessed is None:
        recipe, guessed = recipe.with_guessed_columns(filled[0].columns)
    column = completions or recipe.columns.get("completions") or _completions_column(filled[0])
    for head in filled:
        check_columns(head, recipe, column, group)
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


def judge_limits() -> dict[str, float]:
    """Return the limits of the judge in this process, which every worker gets."""
    try:
        settings = shared_judge().settings
    except ValueError as error:  # of the environment
        raise InputError(str(error)) from error
    return {"deadline": settings.deadline, "memory": settings.memory}


def is_read_by(name: str, recipe: Recipe) -> bool:
    """Return whether some reward of a recipe reads this column."""
    mapped = {*recipe.columns.values(), *recipe.needs().values()}
    is_read = name in mapped or name in TRUNCATION
    return is_read or any(component.takes(name) for component in recipe.components)


def _completions_column(head: Head) -> str:
    found = [name for name in COMPLETIONS if name in head.columns]
    if len(found) > 1:
        raise InputError(
            f"{head.name} has both a column completion and a column completions: "
            "choose the one that holds what the model wrote, with --completions COLUMN, or "
            "completions=… in Python"
        )
    return found[0] if found else COMPLETIONS[0]


def check_columns(
    head: Head, recipe: Recipe, column: str | None, group: str | None, completions: bool = True
) -> None:
    """Raise InputError if a file lacks a column; `completions`: whether it must have some."""
    try:
        recipe.check(head.columns, completions=completions)
    except ValueError as error:
        raise InputError(f"{head.name}: {error}") from error
    for option, name in (("--completions", column), ("--group", group)):
        if name is not None and name not in head.columns:
            there_are = ", ".join(head.columns)
            raise InputError(
                f"{head.name} has no column {name} ({option}); its columns are {there_are}"
            )


def _listed(heads: Sequence[Head], column: str) -> bool:
    """Return whether the records hold lists of completions: all files must agree."""
    found: dict[bool, str] = {}
    for head in heads:
        listed = (is_listed(row.get(column)) for row in head.rows)
        first = next((one for one in listed if one is not None), None)
        if first is not None:
            found.setdefault(first, head.name)
    if len(found) == 2:
        raise InputError(
            f"{found[False]} has one completion per row, {found[True]} has a list of them: "
            "score them in separate runs"
        )
    return True in found


def check_numbers(**numbers: int | None) -> None:
    """Raise InputError for an option that is not a whole number of at least 1; None is left out."""
    for name, value in numbers.items():
        if value is None:
            continue
        if not isinstance(value, Integral):
            raise InputError(f"{name} must be a whole number, got {value!r:.80}")
        if value < 1:
            raise InputError(f"{name} must be 1 or more, got {value}")


def with_columns(recipe: Recipe, columns: Mapping[str, str]) -> Recipe:
    """Return the recipe with further columns; raise InputError for an argument that none takes."""
    try:
        return replace(recipe, columns={**recipe.columns, **columns}) if columns else recipe
    except ValueError as error:
        needs = recipe.needs()
        turned = [
            f"--column {c}={a}"
            for a, c in columns.items()
            if c in needs and not get_close_matches(a, needs)  # else it is misspelt
        ]
        hint = f". The argument comes first: did you mean {' '.join(turned)}?" if turned else ""
        raise InputError(f"{error}{hint}") from error


# --- types ----------------------------------------------------------------------------------------


def _column(
    name: str, heads: Sequence[Head], completions: str, listed: bool, scores_only: bool
) -> Column:
    exploded = listed and (name == completions or _is_exploded(name, heads, completions))
    is_free = not any("completion" in head.columns for head in heads)
    output = "completion" if listed and name == completions and is_free else name
    if scores_only:  # the caller's table has its types
        return Column(output, name, pa.null(), exploded)
    kinds = [
        _entry_type(head.schema.field(name).type) if exploded else head.schema.field(name).type
        for head in heads
        if head.schema is not None and name in head.columns
    ]
    values = [row.get(name) for head in heads if head.schema is None for row in head.rows]
    if exploded:
        values = [one for value in values if isinstance(value, list) for one in value]
    known = [value for value in values if value is not None]
    found = _type_of(known)
    if found is None and (known or not kinds):
        if any(kind != pa.string() for kind in kinds):
            raise _several_types(name, [*kinds, "JSON of several types"])
        return Column(output, name, pa.string(), exploded, text=True)
    kinds += [] if found is None else [found]
    schemas = [pa.schema([("it", kind)]) for kind in kinds]
    try:
        kind = pa.unify_schemas(schemas, promote_options="permissive").field("it").type
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise _several_types(name, kinds) from error
    return Column(output, name, kind, exploded)


def _is_exploded(name: str, heads: Sequence[Head], completions: str) -> bool:
    """Return whether a column such as completion_ids has an entry for each completion."""
    rows = [row for head in heads for row in head.rows if isinstance(row.get(completions), list)]
    return name.startswith("completion") and all(
        isinstance(row.get(name), list) and len(row[name]) == len(row[completions]) for row in rows
    )


def _entry_type(kind: pa.DataType) -> pa.DataType:
    types = pa.types
    kinds = types.is_list, types.is_large_list, types.is_fixed_size_list
    views = types.is_list_view, types.is_large_list_view
    return kind.value_type if any(is_of_kind(kind) for is_of_kind in (*kinds, *views)) else kind


def _several_types(name: str, kinds: Sequence[Any]) -> InputError:
    seen = ", ".join(dict.fromkeys(map(str, kinds)))
    return InputError(
        f"the column {name} has a different type in each file: {seen}; score them in separate runs"
    )


def _type_of(values: Sequence[Any]) -> pa.DataType | None:
    """Return the Arrow type that all these values have in common; None if there is none."""
    try:
        found = pa.array(values).type
    except (*_MISFIT, UnicodeEncodeError):
        return None
    if pa.types.is_null(found) or _width(found) > _WIDEST or _has_empty_dict(found):
        return None
    return _without_nulls(found)


def _has_empty_dict(kind: pa.DataType) -> bool:
    """Return whether dicts in it were always empty: Parquet has no type for these."""
    inside = [kind.field(i).type for i in range(kind.num_fields)]
    return (pa.types.is_struct(kind) and not inside) or any(map(_has_empty_dict, inside))


def _width(kind: pa.DataType) -> int:
    """Return how many names there are in a type, at all levels."""
    inside = [kind.field(i).type for i in range(kind.num_fields)]
    return len(inside) + sum(map(_width, inside))


def _without_nulls(kind: pa.DataType) -> pa.DataType:
    """Return the type, with text in place of what has only been null so far."""
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_without_nulls(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _without_nulls(field.type)) for field in kind])
    return kind


def array_of(values: Sequence[Any], column: Column) -> tuple[pa.Array, list[int]]:
    """Return the array of a column, and the indices of the values that do not fit into it."""
    if column.text:
        values = [_as_text(value) for value in values]
    if (array := _array(values, column.type)) is not None:
        return array, []
    misfits = [i for i, value in enumerate(values) if _array([value], column.type) is None]
    mended = list(values)
    for index in misfits:
        mended[index] = valid_text(mended[index]) if pa.types.is_string(column.type) else None
    return pa.array(mended, column.type), misfits


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array | None:
    try:
        if pa.types.is_string(kind):  # of JSON values, Arrow takes nothing else for text
            return pa.array(values, kind)
        return pa.array(values, kind) if _fits(pa.infer_type(values), kind) else None
    except (*_MISFIT, UnicodeEncodeError):
        return None


def _fits(found: pa.DataType, kind: pa.DataType) -> bool:
    """Return whether values of one type can be kept in another without loss."""
    if found == kind or pa.types.is_null(found):
        return True
    if pa.types.is_list(found) and pa.types.is_list(kind):
        return _fits(found.value_type, kind.value_type)
    if pa.types.is_struct(found) and pa.types.is_struct(kind):
        indices = [kind.get_field_index(field.name) for field in found]
        return -1 not in indices and all(
            _fits(field.type, kind.field(index).type)
            for field, index in zip(found, indices, strict=True)
        )
    return bool(pa.types.is_integer(found) and pa.types.is_floating(kind))


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
