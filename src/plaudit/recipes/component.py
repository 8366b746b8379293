"""One reward in a recipe."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import isfinite
from typing import Any

from plaudit.inputs.columns import rows_of
from plaudit.inputs.errors import did_you_mean, quoted
from plaudit.recipes.bound_reward import BoundReward, bind_reward
from plaudit.recipes.condition import Condition, check_when
from plaudit.recipes.deadline import (
    NO_LIMITS,
    Limits,
    check_limits,
    limits_of,
    scores_in_time,
    scores_in_time_async,
)
from plaudit.recipes.lookup import as_reference, reference_of
from plaudit.recipes.policy import FailureCount, check_policy
from plaudit.scores import Score
from plaudit.scores.decorators import AnyReward
from plaudit.scores.groups import rows_at
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
    def _condition(self) -> Condition | None:
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
        limits: Limits = NO_LIMITS,
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
        limits: Limits = NO_LIMITS,
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
        self, arguments: Mapping[str, Any], limits: Limits
    ) -> list[Score]:
        import asyncio  # a trainer without a loop need not load it

        if self.bound.async_function is not None:
            return await scores_in_time_async(self, arguments, limits)
        return await asyncio.to_thread(scores_in_time, self, arguments, limits)

    def _limits(self, recipe: Limits) -> Limits:
        """Return its limits; none for plaudit's own rewards, which are bounded by themselves."""
        if self.bound.is_own:
            return NO_LIMITS
        return limits_of(Limits(self.deadline, self.memory), recipe)

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
        check_limits(Limits(self.deadline, None if self.deadline is None else self.memory))


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
