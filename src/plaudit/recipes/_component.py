"""One reward in a recipe."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import isfinite
from time import perf_counter
from typing import Any

from plaudit.declarations import AnyReward
from plaudit.recipes._calling import Calling, calling_of
from plaudit.recipes._found import as_reference, reference_of
from plaudit.recipes._names import did_you_mean, quoted
from plaudit.scores import Score

# The columns that a scored table has besides those of the components.
RESERVED = ("row_id", "group_id", "total", "status", "explanation", "why")


@dataclass(frozen=True)
class Component:
    """One reward in a recipe.

    name: the column that it gets in a scored table; "" is for the reward's own name
    reward: "trl.accuracy_reward", or "package.module:function" for one of your own; or a function
    weight: a number that its value is multiplied by in the total; 0.0 keeps it as a column alone
    params: the arguments of a factory, or fixed arguments of a plain reward, {"max_len": 4096}
    columns: the reward's argument -> the table's column, {"solution": "answer"}
    gate: the name of an earlier component; this one counts only where that one is above 0.
        Default: it always counts
    right: the value from which a completion is right, such as 0.75. Default: the reward's own rule
    golds: "latex" wraps golds that are not in $…$ or \\boxed{…} in $…$, for the rewards of trl
    folder: where the module of a reward of your own is looked for first. Default: where Python does

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
    folder: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        self._check_types()
        object.__setattr__(self, "reward", as_reference(self.reward))
        own_name, _ = self._named_calling
        object.__setattr__(self, "name", self.name or own_name)
        object.__setattr__(self, "weight", float(self.weight))
        if self.golds and not self.calling.declaration.reads_latex:
            raise ValueError(f'{self.reference} takes no golds = "latex": it reads more than LaTeX')
        if self.name in RESERVED:
            raise ValueError(f"a scored table has a column {quoted(self.name)} already")
        for argument in self.columns:
            if not self.takes(argument):
                hint = did_you_mean(argument, sorted(self.calling.takes))
                raise ValueError(f"{self.reference} takes no column {quoted(argument)}; {hint}")

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what a factory made need not be picklable."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def reference(self) -> str:
        """What names the reward: "trl.accuracy_reward", or the module and name of a function."""
        return reference_of(self.reward)

    @property
    def calling(self) -> Calling:
        """How the reward is called."""
        return self._named_calling[1]

    @cached_property
    def _named_calling(self) -> tuple[str, Calling]:
        return calling_of(self.reward, self.params, self.folder, self.golds)

    def takes(self, argument: str) -> bool:
        """Whether the reward can be given a column as this argument."""
        return self.calling.takes_any or argument in self.calling.takes

    def needs(self, columns: Mapping[str, str]) -> dict[str, str]:
        """The columns that it needs, argument -> column; `columns` are those of the recipe."""
        mapped = {a: column for a, column in columns.items() if a in self.calling.takes}
        mapped |= self.columns
        return {a: mapped.get(a, a) for a in dict.fromkeys([*self.calling.needed, *mapped])}

    def needs_any(self, columns: Mapping[str, str]) -> dict[str, str]:
        """The columns of which it needs one, argument -> column; none where it needs no such."""
        needed, mapping = self.calling.declaration.needs_any, {**columns, **self.columns}
        is_given = any(name in self.calling.params for name in needed)
        return {} if is_given else {name: mapping.get(name, name) for name in needed}

    def scores(
        self, completions: Sequence[Any], given: Mapping[str, Any], columns: Mapping[str, str]
    ) -> list[Score]:
        """Its scores of a batch; `given` holds the batch, `columns` are those of the recipe."""
        with self._named_in_errors():
            scores = self.calling.scores(completions, given, {**columns, **self.columns})
        return self._ruled(scores)

    async def scores_async(
        self, completions: Sequence[Any], given: Mapping[str, Any], columns: Mapping[str, str]
    ) -> list[Score]:
        """The same on an event loop."""
        mapping = {**columns, **self.columns}
        with self._named_in_errors():
            scores = await self.calling.scores_async(completions, given, mapping)
        return self._ruled(scores)

    def _ruled(self, scores: list[Score]) -> list[Score]:
        """The scores, right by the component's own rule where it has one."""
        if (least := self.right) is None:
            return scores
        return [
            replace(score, right=None if score.value is None else score.value >= least)
            for score in scores
        ]

    @contextmanager
    def _named_in_errors(self) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        except (Exception, SystemExit) as error:
            error.add_note(f"in {self.name} ({self.reference})")
            raise
        finally:
            if (seconds := _seconds.get()) is not None:
                seconds[self.name] = perf_counter() - start

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


_seconds: ContextVar[dict[str, float] | None] = ContextVar("plaudit_seconds", default=None)


@contextmanager
def component_seconds() -> Iterator[dict[str, float]]:
    """Measure the seconds that each component takes for a batch that is scored in the block.

    >>> component = Component("format", "trl.think_format_reward")
    >>> with component_seconds() as seconds:
    ...     scores = component.scores(["<think>2 + 2</think> 4"], {}, {})
    >>> list(seconds)
    ['format']
    """
    seconds: dict[str, float] = {}
    token = _seconds.set(seconds)
    try:
        yield seconds
    finally:
        _seconds.reset(token)


def check_golds(golds: object) -> None:
    """Raise where it is not a way to read golds.

    >>> check_golds("tex")
    Traceback (most recent call last):
    ...
    ValueError: golds must be "latex" or left out, got 'tex'
    """
    if golds not in ("", "latex"):
        raise ValueError(f'golds must be "latex" or left out, got {golds!r:.80}')


def check_columns(columns: Mapping[str, Any]) -> None:
    """Raise where a column that an argument is mapped to is not a name.

    >>> check_columns({"solution": 3})
    Traceback (most recent call last):
    ...
    ValueError: columns: solution must be the name of a column, got 3
    """
    for argument, column in columns.items():
        if not isinstance(column, str) or not column:
            got = f"{column!r:.80}"
            raise ValueError(f"columns: {argument} must be the name of a column, got {got}")
