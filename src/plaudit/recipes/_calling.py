"""A reward's name and parameters -> how it is called on a batch."""

import inspect
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from plaudit.completions import rows_of, same_length
from plaudit.golds import as_latex
from plaudit.recipes._broken import BrokenRewardError
from plaudit.recipes._found import IN_A_BATCH, arguments_of, check_params, reward_of
from plaudit.recipes._names import quoted
from plaudit.rewards import ALSO_NEEDED
from plaudit.scores import NOT_COLUMNS, Score

# The arguments of plaudit's rewards that are columns. Others are settings: the same for each row.
COLUMNS = frozenset(
    "solution problem prompts completion_ids completions_long_answer accu_reward_method "
    "image_grid_thw image_path acc_reward".split()
)


@dataclass(frozen=True)
class Calling:
    """How a reward is called.

    function: what gives a list of scores, or of values where it is a plain function
    twin: the same for an event loop, where there is one
    label: what to call it in complaints
    needed: the columns without which it cannot be called
    takes: every column that it can be given
    takes_any: whether it is a function of the user's that takes whatever a trainer passes
    named: the arguments that it names
    is_open: whether it takes other arguments too
    settings: arguments that are the same for every call
    constants: columns that hold the same in every row
    reads_latex: whether it reads golds as LaTeX and as nothing else
    golds: "latex" where golds are to be wrapped in $…$, see `plaudit.golds`
    """

    function: Callable[..., Iterable[Any]]
    twin: Callable[..., Awaitable[Iterable[Any]]] | None
    label: str
    needed: tuple[str, ...]
    takes: frozenset[str]
    takes_any: bool
    named: frozenset[str]
    is_open: bool
    settings: Mapping[str, Any]
    constants: Mapping[str, Any]
    reads_latex: bool
    golds: str

    def scores(
        self, completions: Sequence[Any], columns: Mapping[str, Any], mapping: Mapping[str, str]
    ) -> list[Score]:
        """The scores of a batch; `mapping` says which column an argument is."""
        arguments = self._arguments(completions, columns, mapping)
        return self._scores(len(completions), self.function(**arguments))

    async def scores_async(
        self, completions: Sequence[Any], columns: Mapping[str, Any], mapping: Mapping[str, str]
    ) -> list[Score]:
        """The same on an event loop; a reward that has no twin works in a thread meanwhile."""
        import asyncio  # who has no loop need not load it

        arguments = self._arguments(completions, columns, mapping)
        if self.twin is not None:
            return self._scores(len(completions), await self.twin(**arguments))
        given = await asyncio.to_thread(self.function, **arguments)
        return self._scores(len(completions), given)

    def _arguments(
        self, completions: Sequence[Any], columns: Mapping[str, Any], mapping: Mapping[str, str]
    ) -> dict[str, Any]:
        passed = self._columns(columns, mapping)
        same_length(completions, **{k: v for k, v in passed.items() if k not in NOT_COLUMNS})
        if self.takes_any:
            passed = {**columns, **passed}
        elif callable(log_extra := columns.get("log_extra")):
            passed["log_extra"] = log_extra
        passed["completions"] = completions
        passed |= self.settings
        passed |= {name: [value] * len(completions) for name, value in self.constants.items()}
        if self.golds == "latex" and "solution" in passed:
            passed["solution"] = [as_latex(one) for one in rows_of(passed["solution"], "solution")]
        # A list of its own each: what one reward sorts or empties is not what the next one gets.
        return {
            name: list(v) if isinstance(v, list) else v
            for name, v in passed.items()
            if self.is_open or name in self.named
        }

    def _columns(self, columns: Mapping[str, Any], mapping: Mapping[str, str]) -> dict[str, Any]:
        taken = self.takes | set(mapping) if self.takes_any else self.takes
        sources = {name: mapping.get(name, name) for name in sorted(taken)}
        found = {
            name: columns[source] if source in columns else columns.get(name)
            for name, source in sources.items()
        }
        return {name: column for name, column in found.items() if column is not None}

    def _scores(self, rows: int, given: Any) -> list[Score]:
        try:
            each = iter(given)
        except TypeError as error:
            wanted = f"a list with a number for each of the {rows} completions"
            got = f"{type(given).__name__}: {given!r:.80}"
            raise BrokenRewardError(f"{self.label} must give {wanted}, got {got}") from error
        scores = [_score(one, self.label, row) for row, one in enumerate(each)]
        if len(scores) != rows:
            gave = f"{self.label} gave {len(scores)} values for {rows} completions"
            raise BrokenRewardError(f"{gave}: it must give one for each")
        return scores


def _score(value: Any, label: str, row: int) -> Score:
    """The score of a function that gives values alone; not a number is skipped, as by TRL."""
    if isinstance(value, Score):
        _number(value.value, label, row)
        return value
    number = _number(value, label, row)
    if number is None or isnan(number):
        return Score(None, f"{label} skips the row.", method=label)
    return Score(number, f"{label} gives {number:g}.", method=label)


def _number(value: Any, label: str, row: int) -> float | None:
    """A value as a number. Text is none, though Python would read one out of it."""
    try:
        if isinstance(value, str | bytes):
            raise TypeError("text is no number")
        return None if value is None else float(value)
    except (TypeError, ValueError, OverflowError) as error:
        got = f"{type(value).__name__}: {value!r:.80}"
        raise BrokenRewardError(f"{label} must give numbers, row {row} is {got}") from error


def calling_of(
    reference: str, params: Mapping[str, Any], folder: str = "", golds: str = ""
) -> tuple[str, Calling]:
    """The name that a reward has of its own, and how it is called with these parameters.

    The module of a reward of the user's is looked for in `folder` first, where that is given.

    >>> name, calling = calling_of("trl.get_cosine_scaled_reward", {"max_len": 100})
    >>> name, calling.needed
    ('cosine_scaled_reward', ('solution', 'completion_ids'))
    """
    full, thing, is_made = reward_of(reference, params, folder)
    name = getattr(thing, "__name__", "")
    if not name.isidentifier():  # an object of a class, or a lambda
        name = reference.replace(":", ".").rpartition(".")[2]
    return name, _calling(reference, full, thing, {} if is_made else params, golds)


def _calling(
    reference: str, full: str, thing: Any, params: Mapping[str, Any], golds: str
) -> Calling:
    # What a text reward's `scores` names says less than its own signature, and a made reward's
    # `scores` says more than its `__call__`.
    made_here = not inspect.isfunction(thing) and hasattr(thing, "scores")
    named, is_open, required = arguments_of(thing.scores if made_here else thing)
    also = ALSO_NEEDED.get(full, ())
    fixed = {IN_A_BATCH.get(name, name): value for name, value in params.items()}
    known = dict.fromkeys([*named, *also])
    check_params(reference, fixed, [name for name in known if name != "completions"])
    needed = [n for n in dict.fromkeys([*required, *also]) if n not in (*fixed, "completions")]
    for name in needed:
        if name in NOT_COLUMNS:
            raise ValueError(
                f"{reference} needs the parameter {quoted(name)}, which no table has: "
                "pass it in `params`, from Python"
            )
    own = not _is_of_plaudit(thing)
    columns = set(known) if own else COLUMNS if is_open else COLUMNS & set(known)
    return Calling(
        function=getattr(thing, "scores", thing),
        twin=None if own else _twin(thing),
        label=getattr(thing, "__name__", reference),
        needed=tuple(needed),
        takes=frozenset(columns | set(needed)) - {"completions", *fixed},
        takes_any=own and is_open,
        named=frozenset(named),
        is_open=is_open,
        settings={name: value for name, value in fixed.items() if name not in COLUMNS},
        constants={name: value for name, value in fixed.items() if name in COLUMNS},
        reads_latex=full.startswith("trl.") and "solution" in known,
        golds=golds,
    )


def _twin(thing: Any) -> Callable[..., Awaitable[list[Score]]] | None:
    """What scores a batch on an event loop: `accuracy_reward_async`, of `accuracy_reward`."""
    twin = getattr(sys.modules[thing.__module__], f"{thing.__name__}_async", None)
    return getattr(twin, "scores", None)


def _is_of_plaudit(thing: Any) -> bool:
    module = getattr(thing, "__module__", "")
    return module.startswith("plaudit.rewards.")
