"""A reward with its parameters and columns, ready to be called on a batch."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction
from math import isnan
from typing import Any, TypeVar

from plaudit.inputs.columns import rows_of, same_length
from plaudit.inputs.errors import quoted
from plaudit.inputs.golds import as_latex, read_gold
from plaudit.recipes.lookup import check_params, name_of, reference_of, reward_of
from plaudit.scores import Score
from plaudit.scores.decorators import HOOKS, AnyReward, Declaration, declaration_of

T = TypeVar("T")
# What an adapter passes besides the texts of completions, if a trainer has whole conversations.
CONVERSATION = "conversation"
_NO_LISTS = (Mapping, Set, str, bytes)  # though one can iterate over them


class BrokenRewardError(TypeError, ValueError):
    """A reward returned what no reward may: not a list, too few or too many values, or no number.

    The function is at fault, and not a row: leaving out that row would hide the error.
    """


@dataclass(frozen=True)
class BoundReward:
    """A reward with its parameters filled in.

    function: returns a list of scores, or of values if it is a plain function
    async_function: the same for an event loop, if there is one
    label: its name in error messages
    declaration: the columns and settings that it takes
    params: arguments that are the same for every call
    golds: "latex" if golds are to be wrapped in $…$, see `plaudit.inputs.golds`
    """

    function: Callable[..., Iterable[Any]]
    async_function: Callable[..., Awaitable[Iterable[Any]]] | None
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
        """The columns that it declares."""
        return frozenset(self.declaration.columns) - set(self.params)

    @property
    def takes_any(self) -> bool:
        """Whether it receives every column that a trainer passes."""
        return self.declaration.takes_any

    @property
    def is_own(self) -> bool:
        """Whether it is one of plaudit's own rewards."""
        return str(getattr(self.function, "__module__", "")).startswith("plaudit.rewards.")

    def scores(
        self, completions: Sequence[Any], columns: Mapping[str, Any], mapping: Mapping[str, str]
    ) -> list[Score]:
        """Return the scores of a batch; `mapping` says which column an argument is."""
        arguments = self.arguments(completions, columns, mapping)
        return self.checked(len(completions), self.function(**arguments))

    async def scores_async(
        self, completions: Sequence[Any], columns: Mapping[str, Any], mapping: Mapping[str, str]
    ) -> list[Score]:
        """Return the same on an event loop; a plain function runs in a thread."""
        import asyncio  # a trainer without a loop need not load it

        arguments = self.arguments(completions, columns, mapping)
        if self.async_function is not None:
            return self.checked(len(completions), await self.async_function(**arguments))
        returned = await asyncio.to_thread(self.function, **arguments)
        return self.checked(len(completions), returned)

    @property
    def fixed(self) -> tuple[str, ...]:
        """The arguments that are the same for every row."""
        return tuple(n for n in self.params if n not in self.declaration.columns) + HOOKS

    def arguments(
        self, completions: Sequence[Any], columns: Mapping[str, Any], mapping: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return what the function is called with."""
        passed = self._columns(columns, mapping)
        if self.declaration.reads == "messages" and columns.get(CONVERSATION) is not None:
            completions = columns[CONVERSATION]
        same_length(completions, **passed)
        completions, passed = _listed(completions), {n: _listed(v) for n, v in passed.items()}
        others = columns if self.takes_any else {n: columns[n] for n in HOOKS if n in columns}
        passed = {**others, **passed, "completions": completions}
        for name, value in self.params.items():
            # One value for a column that holds an entry per row; a setting is passed as it is.
            is_column = self.declaration.is_exact and name in self.declaration.columns
            passed[name] = [value] * len(completions) if is_column else value
        if self.golds == "latex" and "solution" in passed:
            passed["solution"] = [
                as_latex(gold if isinstance(gold, str) else read_gold(gold, f"solution {row}"))
                for row, gold in enumerate(rows_of(passed["solution"], "solution"))
            ]
        # A copy of each list: a reward that sorts or empties one must not change the next one's.
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

    def checked(self, rows: int, returned: Any) -> list[Score]:
        """Return what the function returned as scores; raise if it is not one for each row."""
        try:
            if isinstance(returned, _NO_LISTS):
                raise TypeError("its entries are not one for each row, in order")
            each = iter(returned)
        except TypeError as error:
            wanted = f"a list with a number for each of the {rows} completions"
            got = f"{type(returned).__name__}: {returned!r:.80}"
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
    """Make a list of a Series or an Arrow column: `series[0]` is not always its first entry."""
    is_series = hasattr(column, "to_list") or hasattr(column, "to_pylist")
    return rows_of(column, "a column") if is_series else column


def score_of_value(value: Any, label: str, row: int) -> Score:
    """Return the score of a value; not a number is skipped, as by TRL.

    label: the name of the function, for the error that names it and the row
    """
    score = value if isinstance(value, Score) else None
    number = _number(value if score is None else score.value, label, row)
    if number is not None and isnan(number):
        why = f"{label} gives NaN: the row is skipped."
        return Score(None, why, decided_by=label, problem="not a number")
    if score is not None:
        return score
    if number is None:
        return Score(None, f"{label} skips the row.", decided_by=label)
    return Score(number, f"{label} gives {number:g}.", decided_by=label)


def _number(value: Any, label: str, row: int) -> float | None:
    """Return a value as a number. Text is none, though Python would read one out of it."""
    try:
        if isinstance(value, str | bytes):
            raise TypeError("text is not a number")
        return None if value is None else float(value)
    except (TypeError, ValueError, OverflowError) as error:
        got = f"{type(value).__name__}: {value!r:.80}"
        raise BrokenRewardError(f"{label} must give numbers, row {row} is {got}") from error


def bind_reward(
    reward: str | AnyReward, params: Mapping[str, Any], folder: str = "", golds: str = ""
) -> tuple[str, BoundReward]:
    """Return the name of a reward, and the reward with these parameters.

    The module of a user's own reward is looked for in `folder` first, if one is named.
    """
    thing, is_made = reward_of(reward, params, folder)
    name = getattr(thing, "__name__", "")
    if not name.isidentifier():  # an object of a class, or a lambda
        name = (
            reward.replace(":", ".").rpartition(".")[2]
            if isinstance(reward, str)
            else name_of(reward)
        )
    return name, _bind(reference_of(reward), thing, {} if is_made else params, golds)


def _bind(reference: str, thing: Any, params: Mapping[str, Any], golds: str) -> BoundReward:
    declaration = declaration_of(thing)
    known = dict.fromkeys([*declaration.named, *declaration.columns, *declaration.needs])
    check_params(reference, params, [name for name in known if name != "completions"])
    for name in declaration.needs:
        if name in declaration.settings and name not in params:
            raise ValueError(
                f"{reference} needs the parameter {quoted(name)}, which no table has: "
                "pass it in `params`, from Python"
            )
    function = getattr(thing, "scores", thing)
    async_function = getattr(thing, "scores_async", None)
    if iscoroutinefunction(thing):
        async_function, function = function, partial(_run_coroutine, function)
    label = getattr(thing, "__name__", reference)
    return BoundReward(function, async_function, label, declaration, params, golds)


def _run_coroutine(function: Callable[..., Coroutine[Any, Any, T]], **arguments: Any) -> T:
    """Return what a coroutine function returns, even if an event loop runs in this thread."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(function(**arguments))
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, function(**arguments)).result()
