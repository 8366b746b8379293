"""A reward's name and parameters -> how it is called on a batch."""

import inspect
import sys
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import isnan
from typing import Any

from plaudit.completions import same_length
from plaudit.recipes._names import did_you_mean, quoted
from plaudit.rewards import ALSO_NEEDED, SYSTEMS, AnyReward, reward_named
from plaudit.scores import NOT_COLUMNS, Score

# The arguments of plaudit's rewards that are columns. Others are settings: the same for each row.
COLUMNS = frozenset(
    "solution problem prompts completion_ids completions_long_answer accu_reward_method "
    "image_grid_thw image_path acc_reward kind choices question".split()
)
# The rewards of one text have names of their own for what is a column of a batch.
_IN_A_BATCH = {"content": "completions", "sol": "solution"}
_GIVEN = {"completions", "completion_ids", "prompts"}  # a function of none of these is a factory


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
        return {name: v for name, v in passed.items() if self.is_open or name in self.named}

    def _columns(self, columns: Mapping[str, Any], mapping: Mapping[str, str]) -> dict[str, Any]:
        taken = self.takes | set(mapping) if self.takes_any else self.takes
        sources = {name: mapping.get(name, name) for name in sorted(taken)}
        found = {
            name: columns[source] if source in columns else columns.get(name)
            for name, source in sources.items()
        }
        return {name: column for name, column in found.items() if column is not None}

    def _scores(self, rows: int, given: Iterable[Any]) -> list[Score]:
        scores = [
            one if isinstance(one, Score) else _score(one, self.label, row)
            for row, one in enumerate(given)
        ]
        if len(scores) != rows:
            raise ValueError(f"{self.label} gave {len(scores)} values for {rows} completions")
        return scores


def _score(value: Any, label: str, row: int) -> Score:
    """The score of a function that gives values alone; not a number is skipped, as by TRL."""
    try:
        number = None if value is None else float(value)
    except (TypeError, ValueError) as error:
        got = f"{type(value).__name__}: {value!r:.80}"
        raise TypeError(f"{label} must give numbers, row {row} is {got}") from error
    if number is None or isnan(number):
        return Score(None, f"{label} skips the row.", method=label)
    return Score(number, f"{label} gives {number:g}.", method=label)


def calling_of(reference: str, params: Mapping[str, Any]) -> tuple[str, Calling]:
    """The name that a reward has of its own, and how it is called with these parameters.

    >>> name, calling = calling_of("trl.get_cosine_scaled_reward", {"max_len": 100})
    >>> name, calling.needed
    ('cosine_scaled_reward', ('solution', 'completion_ids'))
    """
    full, thing = _found(reference)
    if _is_factory(thing):
        thing, params = _made(reference, thing, params), {}
    if not callable(thing) or inspect.iscoroutinefunction(thing):
        kind = "a coroutine function" if callable(thing) else type(thing).__name__
        raise ValueError(f"{reference} must be a plain function, it is {kind}")
    name = getattr(thing, "__name__", "")
    if not name.isidentifier():  # an object of a class, or a lambda
        name = reference.replace(":", ".").rpartition(".")[2]
    return name, _calling(reference, full, thing, params)


def _found(reference: str) -> tuple[str, AnyReward]:
    """The full name of a reward of plaudit, or "", and what the reference names."""
    dotted = reference.replace(":", ".").removeprefix("plaudit.rewards.")
    module, _, attribute = dotted.rpartition(".")
    try:
        return reward_named(dotted)
    except ValueError:
        if not module or module in SYSTEMS:
            raise
    return "", _imported(module, attribute, reference)


def _imported(name: str, attribute: str, reference: str) -> AnyReward:
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module is there, and something that it imports is not
        raise ValueError(
            f"no reward is called {quoted(reference)}: there is no module {error.name}; "
            "`plaudit list` names the rewards of plaudit"
        ) from error
    if not hasattr(module, attribute):
        names = [known for known in vars(module) if not known.startswith("_")]
        raise ValueError(f"{name} has no {quoted(attribute)}; {did_you_mean(attribute, names)}")
    found: AnyReward = getattr(module, attribute)
    return found


def _is_factory(thing: Any) -> bool:
    if isinstance(thing, type):
        return True
    if hasattr(thing, "scores") or not callable(thing):
        return False
    named, is_open, _ = _arguments(thing)
    return not is_open and not _GIVEN & set(named)


def _arguments(function: AnyReward) -> tuple[list[str], bool, list[str]]:
    """What a function names, whether it takes other keywords too, and what it insists on."""
    parameters = inspect.signature(function).parameters.values()
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    is_open = any(p.kind is p.VAR_KEYWORD for p in parameters)
    names = [_IN_A_BATCH.get(p.name, p.name) for p in named]
    required = [
        name for name, p in zip(names, named, strict=True) if p.default is inspect.Parameter.empty
    ]
    return names, is_open, required


def _made(reference: str, factory: AnyReward, params: Mapping[str, Any]) -> AnyReward:
    named, is_open, required = _arguments(factory)
    if not is_open:
        check_params(reference, params, named)
    for name in required:
        if name not in params:
            raise ValueError(f"{reference} needs the parameter {quoted(name)}: put it into params")
    try:
        made: AnyReward = factory(**params)
    except TypeError as error:
        raise ValueError(f"{reference}: {error}") from error
    return made


def check_params(reference: str, params: Collection[str], known: Collection[str]) -> None:
    """Raise at the first parameter that a reward does not have.

    >>> check_params("trl.accuracy_reward", {"max_le": 3}, ["max_len"])
    Traceback (most recent call last):
    ...
    ValueError: trl.accuracy_reward has no parameter "max_le"; did you mean "max_len"?
    """
    for name in params:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ValueError(f"{reference} has no parameter {quoted(name)}; {hint}")


def _calling(reference: str, full: str, thing: Any, params: Mapping[str, Any]) -> Calling:
    # What a text reward's `scores` names says less than its own signature, and a made reward's
    # `scores` says more than its `__call__`.
    made_here = not inspect.isfunction(thing) and hasattr(thing, "scores")
    named, is_open, required = _arguments(thing.scores if made_here else thing)
    also = ALSO_NEEDED.get(full, ())
    fixed = {_IN_A_BATCH.get(name, name): value for name, value in params.items()}
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
    )


def _twin(thing: Any) -> Callable[..., Awaitable[list[Score]]] | None:
    """What scores a batch on an event loop: `accuracy_reward_async`, of `accuracy_reward`."""
    twin = getattr(sys.modules[thing.__module__], f"{thing.__name__}_async", None)
    return getattr(twin, "scores", None)


def _is_of_plaudit(thing: Any) -> bool:
    module = getattr(thing, "__module__", "")
    return module.startswith("plaudit.rewards.")
