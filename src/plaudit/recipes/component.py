"""One reward in a recipe: its weight, the rows that it scores, and its columns in a table.

when = { task = "math" }                # the rows that it scores: a column has a value
when = { task = ["math", "algebra"] }   # or one of several
when = "task == 'math' and level >= 3"  # or an expression over columns
"""

import ast
import operator
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cached_property
from math import isfinite
from typing import Any

from plaudit.inputs.columns import SYNONYMS, first_of, kind_of, plain, rows_of, same_length
from plaudit.inputs.errors import did_you_mean, quoted
from plaudit.recipes.bound_reward import (
    NO_LIMITS,
    BoundReward,
    RewardLimits,
    as_reference,
    bind_reward,
    check_limits,
    limits_of,
    reference_of,
)
from plaudit.recipes.deadline import scores_in_time, scores_in_time_async
from plaudit.recipes.row_score import FailureCount, check_policy
from plaudit.scores import Score
from plaudit.scores.decorators import HOOKS, AnyReward, rows_at
from plaudit.scores.score import NOT_APPLICABLE, SLOW, short_repr

# The rows that a component applies to, and how many there are; None if it applies to all.
_Rows = tuple[list[int], int] | None
# The columns that a scored table has besides those of the components.
RESERVED = ("row_id", "group_id", "total", "status", "explanation", "why")


@dataclass(frozen=True, repr=False)
class Component:
    """One reward in a recipe.

    name: the column that it gets in a scored table; "" is for the reward's own name
    reward: "trl.accuracy_reward", or "package.module:function" for one of your own; or a function
    weight: a number that its value is multiplied by in the total; 0.0 keeps it as a column alone
    params: the arguments of a factory, or fixed arguments of a plain reward, {"max_len": 4096}
    columns: the reward's argument -> the table's column, {"solution": "answer"}
    gate: the name of an earlier component; this one counts only if that one is above 0.
        Default: it always counts
    right: the value from which a completion is right, such as 0.75. Default: the reward's own rule
    golds: "latex" wraps golds that are not in $…$ or \\boxed{…} in $…$, for the rewards of trl
    on: what a status is worth, {"timeout": "zero"}: "skip", "zero", "keep" or a number. Default:
        what the recipe says
    when: the rows to which it applies: {"task": "math"}, {"task": ["math", "code"]}, or an
        expression over columns, "task == 'math' and level >= 3". Default: all
    deadline: seconds that a reward of your own may take for a batch; what hangs is killed, and has
        the status "timeout". Default: that of the recipe
    memory: MiB that it may allocate in its process, if there is a deadline. Default: no limit
    folder: where the module of a reward of your own is looked for first

    >>> Component("", "trl.get_cosine_scaled_reward", params={"max_len": 4096}).name
    'cosine_scaled_reward'
    >>> def brief(completions, **kwargs):
    ...     return [float(len(text) < 9) for text in completions]
    >>> Component("", brief).name
    'brief'
    >>> Component("accuracy", "trl.acuracy_reward")
    Traceback (most recent call last):
    ...
    ValueError: no reward is called 'trl.acuracy_reward'. Did you mean trl.accuracy_reward?
    """

    name: str
    reward: str | AnyReward
    weight: float = 1.0
    params: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    gate: str | None = None
    right: float | None = None
    golds: str = ""
    on: Mapping[str, str | float] = field(default_factory=dict)
    when: str | Mapping[str, Any] | None = None
    deadline: float | None = None
    memory: int | None = None
    folder: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        self._check_types()
        object.__setattr__(self, "reward", as_reference(self.reward))
        own_name, _ = self._named_reward
        object.__setattr__(self, "name", self.name or own_name)
        object.__setattr__(self, "weight", float(self.weight))
        if self.golds and not self.bound.declaration.reads_latex:
            raise ValueError(f'{self.reference} takes no golds = "latex": it reads more than LaTeX')
        if self.name in RESERVED:
            raise ValueError(f"a scored table has a column {quoted(self.name)} already")
        for argument in self.columns:
            if not self.takes(argument):
                hint = did_you_mean(argument, sorted(self.bound.takes))
                raise ValueError(f"{self.reference} takes no column {quoted(argument)}; {hint}")

    def __repr__(self) -> str:
        return short_repr(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: what a factory made need not be picklable."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def reference(self) -> str:
        """The name of the reward: "trl.accuracy_reward", or the module and name of a function."""
        return reference_of(self.reward)

    @cached_property
    def failures(self) -> FailureCount:
        """How many of its last rows failed, in this process."""
        return FailureCount()

    @cached_property
    def _condition(self) -> "Condition | None":
        return None if self.when is None else Condition(self.when)

    @property
    def bound(self) -> BoundReward:
        """The reward with its parameters."""
        return self._named_reward[1]

    @cached_property
    def _named_reward(self) -> tuple[str, BoundReward]:
        return bind_reward(self.reward, self.params, self.folder, self.golds)

    def takes(self, argument: str) -> bool:
        """Return whether the reward takes a column as this argument."""
        return self.bound.takes_any or argument in self.bound.takes

    def needs(self, columns: Mapping[str, str]) -> dict[str, str]:
        """Map each argument that it needs to its column; `columns` are those of the recipe.

        The columns of its condition are among them.
        """
        mapped = {a: column for a, column in columns.items() if a in self.bound.takes}
        mapped |= self.columns
        needed = {a: mapped.get(a, a) for a in dict.fromkeys([*self.bound.needed, *mapped])}
        read = self._condition.columns if self._condition else ()
        return needed | {c: c for c in read if c not in needed.values() and c not in needed}

    def needs_any(self, columns: Mapping[str, str]) -> dict[str, str]:
        """Map each argument of which it needs one to its column; empty if it needs none."""
        needed, mapping = self.bound.declaration.needs_any, {**columns, **self.columns}
        is_set = any(name in self.bound.params for name in needed)
        return {} if is_set else {name: mapping.get(name, name) for name in needed}

    def scores(
        self,
        completions: Sequence[Any],
        columns: Mapping[str, Any],
        mapping: Mapping[str, str],
        limits: RewardLimits = NO_LIMITS,
    ) -> list[Score]:
        """Return its scores of a batch.

        mapping, limits: those of the recipe; `mapping` is argument -> column
        """
        mapping = {**mapping, **self.columns}
        with self._named_in_errors():
            rows, completions, columns = self._applicable(completions, columns)
            own, start = self._limits(limits), time.perf_counter()
            if not rows_of(completions, "completions"):
                scores = []
            elif own.deadline is None:
                scores = self.bound.scores(completions, columns, mapping)
            else:
                arguments = self.bound.arguments(completions, columns, mapping)
                scores = scores_in_time(self, arguments, own)
            scores = with_seconds(scores, time.perf_counter() - start)
        return self._with_right(self._with_others(scores, rows))

    async def scores_async(
        self,
        completions: Sequence[Any],
        columns: Mapping[str, Any],
        mapping: Mapping[str, str],
        limits: RewardLimits = NO_LIMITS,
    ) -> list[Score]:
        """Return the same on an event loop."""
        mapping = {**mapping, **self.columns}
        with self._named_in_errors():
            rows, completions, columns = self._applicable(completions, columns)
            own, start = self._limits(limits), time.perf_counter()
            if not rows_of(completions, "completions"):
                scores = []
            elif own.deadline is None:
                scores = await self.bound.scores_async(completions, columns, mapping)
            else:
                arguments = self.bound.arguments(completions, columns, mapping)
                scores = await self._scores_in_time_async(arguments, own)
            scores = with_seconds(scores, time.perf_counter() - start)
        return self._with_right(self._with_others(scores, rows))

    async def _scores_in_time_async(
        self, arguments: Mapping[str, Any], limits: RewardLimits
    ) -> list[Score]:
        import asyncio  # a trainer without a loop need not load it

        if self.bound.async_function is not None:
            return await scores_in_time_async(self, arguments, limits)
        return await asyncio.to_thread(scores_in_time, self, arguments, limits)

    def _limits(self, recipe: RewardLimits) -> RewardLimits:
        """Return its limits; none for plaudit's own rewards, which are bounded by themselves."""
        if self.bound.is_own:
            return NO_LIMITS
        return limits_of(RewardLimits(self.deadline, self.memory), recipe)

    def _applicable(
        self, completions: Sequence[Any], columns: Mapping[str, Any]
    ) -> tuple[_Rows, Sequence[Any], Mapping[str, Any]]:
        """Return which rows it scores, None for all; their completions; and their columns."""
        if self._condition is None:
            return None, completions, columns
        count = len(completions)
        rows = self._condition.rows(count, columns)
        if len(rows) == count:
            return None, completions, columns
        listed = rows_of(completions, "completions")
        return (rows, count), [listed[row] for row in rows], rows_at(columns, rows, count)

    def _with_others(self, scores: list[Score], rows: _Rows) -> list[Score]:
        """Return the scores of all rows, with those of the rows that it does not apply to."""
        if rows is None:
            return scores
        indices, count = rows
        why = f"{self.name} does not apply: it is for rows for which {self.when_text}."
        known = dict(zip(indices, scores, strict=True))
        other = Score(None, why, decided_by="when", status=NOT_APPLICABLE)
        return [known.get(row, other) for row in range(count)]

    @property
    def when_text(self) -> str:
        """The condition in words; "" if there is none."""
        return self._condition.text if self._condition else ""

    def _with_right(self, scores: list[Score]) -> list[Score]:
        """Return the scores, right by the component's own threshold if it has one."""
        if (least := self.right) is None:
            return scores
        return [
            replace(score, right=None if score.value is None else score.value >= least)
            for score in scores
        ]

    @contextmanager
    def _named_in_errors(self) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        except (Exception, SystemExit) as error:
            error.add_note(f"in {self.name} ({self.reference})")
            raise
        finally:
            if (seconds := _seconds.get()) is not None:
                seconds[self.name] = time.perf_counter() - start

    def _check_types(self) -> None:
        if not isinstance(self.reward, str) and not callable(self.reward):
            raise ValueError(f"reward must be text or a function, got {self.reward!r:.80}")
        for key, value, kinds, wanted in (
            ("name", self.name, str, "text"),
            ("weight", self.weight, (int, float), "a number"),
            ("params", self.params, Mapping, "a table"),
            ("columns", self.columns, Mapping, "a table"),
            ("gate", self.gate, (str, type(None)), "text"),
            ("right", self.right, (int, float, type(None)), "a number"),
        ):
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise ValueError(f"{key} must be {wanted}, got {value!r:.80}")
        for key, number in (("weight", self.weight), ("right", self.right)):
            if number is not None and not isfinite(number):
                raise ValueError(f"{key} must be finite, got {number}")
        check_columns(self.columns)
        check_golds(self.golds)
        check_policy(self.on)
        check_when(self.when)
        check_limits(RewardLimits(self.deadline, None if self.deadline is None else self.memory))


_seconds: ContextVar[dict[str, float] | None] = ContextVar("plaudit_seconds", default=None)


@contextmanager
def component_seconds() -> Iterator[dict[str, float]]:
    """Measure the seconds that each component takes for a batch that is scored in the block."""
    seconds: dict[str, float] = {}
    token = _seconds.set(seconds)
    try:
        yield seconds
    finally:
        _seconds.reset(token)


def with_seconds(scores: list[Score], seconds: float) -> list[Score]:
    """Return the scores of a batch, each with its share of the seconds unless it has its own."""
    share = seconds / max(len(scores), 1)
    if share < SLOW:  # fast rewards are not made slower by it
        return scores
    return [replace(s, seconds=share) if s.seconds is None else s for s in scores]


def check_golds(golds: object) -> None:
    """Raise ValueError unless it is a way to read golds."""
    if golds not in ("", "latex"):
        raise ValueError(f'golds must be "latex" or left out, got {golds!r:.80}')


def check_columns(columns: Mapping[str, Any]) -> None:
    """Raise ValueError if an argument is mapped to what is not the name of a column."""
    for argument, column in columns.items():
        if not isinstance(column, str) or not column:
            got = f"{column!r:.80}"
            raise ValueError(f"columns: {argument} must be the name of a column, got {got}")


Row = Mapping[str, Any]
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda value, values: value in values,
    ast.NotIn: lambda value, values: value not in values,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ALLOWED = "columns, values, lists, ==, !=, <, <=, >, >=, in, is, and, or, not"


class Condition:
    """A condition over the columns of a row.

    columns: the columns that it reads
    """

    def __init__(self, when: str | Mapping[str, Any]) -> None:
        self.text = when if isinstance(when, str) else ", ".join(map(_shown, when, when.values()))
        if isinstance(when, str):
            self.columns, self._holds = _compiled(when)
        else:
            self.columns, self._holds = tuple(when), _equal(when)

    def rows(self, count: int, columns: Mapping[str, Any]) -> list[int]:
        """Return the indices of the rows for which it holds.

        count: how many rows there are
        columns: those of the batch
        """
        for name in self.columns:
            if name not in columns:
                raise ValueError(
                    f'when: there is no column "{name}"; there is {", ".join(columns)}'
                )
        same_length([None] * count, **{name: columns[name] for name in self.columns})
        lists = [rows_of(columns[name], name) for name in self.columns]
        rows = [
            dict(zip(self.columns, map(plain, row), strict=True))
            for row in zip(*lists, strict=True)
        ]
        return [
            index for index in range(count) if self._checked(index, rows[index] if rows else {})
        ]

    def _checked(self, index: int, row: Row) -> bool:
        try:
            return bool(self._holds(row))
        except TypeError as error:
            raise TypeError(f"when, row {index}: {error}") from error


def check_when(when: object) -> None:
    """Raise ValueError unless it is a condition."""
    if when is None:
        return
    if not isinstance(when, str | Mapping) or not when:
        wanted = "a table of columns and values, or an expression over columns"
        raise ValueError(f"when must be {wanted}, got {when!r:.80}")
    if isinstance(when, Mapping) and not all(isinstance(name, str) for name in when):
        raise ValueError(f"when must name columns, got {when!r:.80}")
    Condition(when)


def _shown(name: str, value: object) -> str:
    return f"{name} is {'one of ' if isinstance(value, list | tuple) else ''}{value!r}"


def _equal(when: Mapping[str, Any]) -> Callable[[Row], bool]:
    def holds(row: Row) -> bool:
        return all(
            row[name] in value if isinstance(value, list | tuple) else row[name] == value
            for name, value in when.items()
        )

    return holds


def _compiled(text: str) -> tuple[tuple[str, ...], Callable[[Row], Any]]:
    """Return the columns of an expression, and the function that evaluates it for a row."""
    try:
        body = ast.parse(text.strip(), mode="eval").body
        names = (node.id for node in ast.walk(body) if isinstance(node, ast.Name))
        return tuple(dict.fromkeys(names)), _function(body)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"when: {text!r:.80} is no expression: {error}") from error


def _function(node: ast.expr) -> Callable[[Row], Any]:
    match node:
        case ast.Constant(value=value):
            return lambda _: value
        case ast.Name(id=name):
            return lambda row: row[name]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            inner = [_function(item) for item in items]
            return lambda row: [item(row) for item in inner]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            negated = _function(operand)
            return lambda row: not negated(row)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return lambda _: -number
        case ast.BoolOp(op=kind, values=values):
            parts = [_function(value) for value in values]
            every = all if isinstance(kind, ast.And) else any
            return lambda row: every(part(row) for part in parts)
        case ast.Compare(left=left, ops=kinds, comparators=others):
            return _comparison([_function(one) for one in (left, *others)], kinds)
    raise SyntaxError(f"it may have {_ALLOWED}, and not {ast.unparse(node)!r:.40}")


def _comparison(sides: list[Callable[[Row], Any]], kinds: list[ast.cmpop]) -> Callable[[Row], Any]:
    def holds(row: Row) -> bool:
        values = [side(row) for side in sides]
        return all(
            _compare(kind, *pair) for kind, *pair in zip(kinds, values, values[1:], strict=False)
        )

    return holds


def _compare(kind: ast.cmpop, left: Any, right: Any) -> bool:
    if isinstance(kind, _ORDERED) and (left is None or right is None):
        return False  # a row that lacks the value is not above or below another
    try:
        return bool(_COMPARISONS[type(kind)](left, right))
    except TypeError as error:
        raise TypeError(f"{kind_of(left)} cannot be compared with {kind_of(right)}") from error


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
    components: Sequence[Component], mapping: Mapping[str, str], available: Collection[str]
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
    """Raise ValueError if a table lacks the column of completions, or the one that is named."""
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
    components: Sequence[Component],
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
    component: Component, wanted: Mapping[str, str], available: Collection[str], run_file: bool
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
