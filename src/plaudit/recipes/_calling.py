"""A reward's name and parameters -> how it is called on a batch."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from inspect import iscoroutinefunction
from math import isnan
from typing import Any, TypeVar

from plaudit.columns import rows_of, same_length
from plaudit.declarations import HOOKS, AnyReward, Declaration, declaration_of
from plaudit.golds import as_latex, read_gold
from plaudit.recipes._broken import BrokenRewardError
from plaudit.recipes._found import check_params, name_of, reference_of, reward_of
from plaudit.recipes._names import quoted
from plaudit.scores import Score

T = TypeVar("T")
_NO_LISTS = (Mapping, Set, str, bytes)  # though one can iterate over them


@dataclass(frozen=True)
class Calling:
    """How a reward is called: by what it declares, with its parameters filled in.

    function: what gives a list of scores, or of values where it is a plain function
    label: what to call it in complaints
    declaration: what it can be given
    params: arguments that are the same for every call
    golds: "latex" where golds are to be wrapped in $…$, see `plaudit.golds`
    """

    function: Callable[..., Iterable[Any]]
    label: str
    declaration: Declaration
    params: Mapping[str, Any]
    golds: str

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns without which it cannot be called."""
        return tuple(name for name in self.declaration.needs if name not in self.params)

    @property
    def takes(self) -> frozenset[str]:
        """Every column that it can be given, of those that it declares."""
        return frozenset(self.declaration.columns) - set(self.params)

    @property
    def takes_any(self) -> bool:
        """Whether it is given whatever a trainer passes."""
        return self.declaration.takes_any

    @property
    def is_own(self) -> bool:
        """Whether it is one of plaudit's own rewards; those of others may call these."""
        return str(getattr(self.function, "__module__", "")).startswith("plaudit.rewards.")

    @property
    def async_form(self) -> Callable[..., Awaitable[Iterable[Any]]] | None:
        """The same function for an event loop, where there is one."""
        return self.declaration.async_form

    def scores(
        self, completions: Sequence[Any], columns: Mapping[str, Any], mapping: Mapping[str, str]
    ) -> list[Score]:
        """The scores of a batch; `mapping` says which column an argument is."""
        arguments = self._arguments(completions, columns, mapping)
        return self._scores(len(completions), self.function(**arguments))

    async def scores_async(
        self, completions: Sequence[Any], columns: Mapping[str, Any], mapping: Mapping[str, str]
    ) -> list[Score]:
        """The same on an event loop; what has no async form and is not light works in a thread."""
        import asyncio  # who has no loop need not load it

        arguments = self._arguments(completions, columns, mapping)
        if self.async_form is not None:
            return self._scores(len(completions), await self.async_form(**arguments))
        if self.declaration.is_light:
            return self._scores(len(completions), self.function(**arguments))
        given = await asyncio.to_thread(self.function, **arguments)
        return self._scores(len(completions), given)

    def _arguments(
        self, completions: Sequence[Any], columns: Mapping[str, Any], mapping: Mapping[str, str]
    ) -> dict[str, Any]:
        passed = self._columns(columns, mapping)
        same_length(completions, **passed)
        completions, passed = _listed(completions), {n: _listed(v) for n, v in passed.items()}
        given = columns if self.takes_any else {n: columns[n] for n in HOOKS if n in columns}
        passed = {**given, **passed, "completions": completions}
        for name, value in self.params.items():
            # One value for a column that holds an entry per row; a setting is passed as it is.
            is_column = self.declaration.is_exact and name in self.declaration.columns
            passed[name] = [value] * len(completions) if is_column else value
        if self.golds == "latex" and "solution" in passed:
            passed["solution"] = [
                as_latex(gold if isinstance(gold, str) else read_gold(gold, f"solution {row}"))
                for row, gold in enumerate(rows_of(passed["solution"], "solution"))
            ]
        # A list of its own each: what one reward sorts or empties is not what the next one gets.
        return {
            name: list(v) if isinstance(v, list) else v
            for name, v in passed.items()
            if self.declaration.is_open or name in self.declaration.named
        }

    def _columns(self, columns: Mapping[str, Any], mapping: Mapping[str, str]) -> dict[str, Any]:
        taken = self.takes | set(mapping) if self.takes_any else self.takes
        # The completions themselves are passed: a column of the table is never read in their place.
        sources = {name: mapping.get(name, name) for name in sorted(taken - {"completions"})}
        found = {
            name: columns[source] if source in columns else columns.get(name)
            for name, source in sources.items()
        }
        return {name: column for name, column in found.items() if column is not None}

    def _scores(self, rows: int, given: Any) -> list[Score]:
        try:
            if isinstance(given, _NO_LISTS):
                raise TypeError("its entries are not one for each row, in order")
            each = iter(given)
        except TypeError as error:
            wanted = f"a list with a number for each of the {rows} completions"
            got = f"{type(given).__name__}: {given!r:.80}"
            raise BrokenRewardError(f"{self.label} must give {wanted}, got {got}") from error
        scores = [
            one
            if type(one) is Score and type(value := one.value) is float and value == value
            else score_of_value(one, self.label, row)
            for row, one in enumerate(each)
        ]
        if len(scores) != rows:
            gave = f"{self.label} gave {len(scores)} values for {rows} completions"
            raise BrokenRewardError(f"{gave}: it must give one for each")
        return scores


def _listed(column: Any) -> Any:
    """A list of a Series or a column of Arrow: `series[0]` is not its first entry everywhere."""
    is_series = hasattr(column, "to_list") or hasattr(column, "to_pylist")
    return rows_of(column, "a column") if is_series else column


def score_of_value(value: Any, label: str, row: int) -> Score:
    """The score of a function that gives values alone; not a number is skipped, as by TRL.

    label: what the function is called; it and the row are named where the value is not a number

    >>> score_of_value(0.5, "brief", row=0).why, score_of_value(float("nan"), "brief", row=0).value
    ('brief gives 0.5.', None)
    """
    score = value if isinstance(value, Score) else None
    number = _number(value if score is None else score.value, label, row)
    if number is not None and isnan(number):
        why = f"{label} gives NaN: the row is skipped."
        return Score(None, why, method=label, problem="not a number")
    if score is not None:
        return score
    if number is None:
        return Score(None, f"{label} skips the row.", method=label)
    return Score(number, f"{label} gives {number:g}.", method=label)


def _number(value: Any, label: str, row: int) -> float | None:
    """A value as a number. Text is none, though Python would read one out of it."""
    try:
        if isinstance(value, str | bytes):
            raise TypeError("text is not a number")
        return None if value is None else float(value)
    except (TypeError, ValueError, OverflowError) as error:
        got = f"{type(value).__name__}: {value!r:.80}"
        raise BrokenRewardError(f"{label} must give numbers, row {row} is {got}") from error


def calling_of(
    reward: str | AnyReward, params: Mapping[str, Any], folder: str = "", golds: str = ""
) -> tuple[str, Calling]:
    """The name that a reward has of its own, and how it is called with these parameters.

    The module of a reward of the user's is looked for in `folder` first, where that is given.

    >>> name, calling = calling_of("trl.get_cosine_scaled_reward", {"max_len": 100})
    >>> name, calling.needed
    ('cosine_scaled_reward', ('solution', 'completion_ids'))
    """
    thing, is_made = reward_of(reward, params, folder)
    name = getattr(thing, "__name__", "")
    if not name.isidentifier():  # an object of a class, or a lambda
        name = (
            reward.replace(":", ".").rpartition(".")[2]
            if isinstance(reward, str)
            else name_of(reward)
        )
    return name, _calling(reference_of(reward), thing, {} if is_made else params, golds)


def _calling(reference: str, thing: Any, params: Mapping[str, Any], golds: str) -> Calling:
    declaration = declaration_of(thing)
    fixed = {declaration.batch_names.get(name, name): value for name, value in params.items()}
    known = dict.fromkeys([*declaration.named, *declaration.columns, *declaration.needs])
    check_params(reference, fixed, [name for name in known if name != "completions"])
    for name in declaration.needs:
        if name in declaration.settings and name not in fixed:
            raise ValueError(
                f"{reference} needs the parameter {quoted(name)}, which no table has: "
                "pass it in `params`, from Python"
            )
    label = getattr(thing, "__name__", reference)
    function = getattr(thing, "scores", thing)
    if iscoroutinefunction(thing):
        declaration = replace(declaration, async_form=function)
        function = partial(_awaited, function)
    return Calling(function, label, declaration, fixed, golds)


def _awaited(function: Callable[..., Coroutine[Any, Any, T]], **arguments: Any) -> T:
    """What a coroutine function gives, also where an event loop runs in this thread already."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(function(**arguments))
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, function(**arguments)).result()
