"""A reward: found by the reference that names it, and with its parameters and columns filled in.

A reference is "trl.accuracy_reward", or "my_package.rewards:brief" for a user's own reward. That is
checked before any of it is called: it must be a function that is defined in the module that the
reference names, or a factory that is marked as one. So no recipe can name another function, such as
os.system, and have it called with `params`.
"""

import inspect
import os
import sys
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module, invalidate_caches
from inspect import iscoroutinefunction
from math import isfinite, isnan
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from plaudit.inputs.columns import rows_of, same_length
from plaudit.inputs.errors import did_you_mean, quoted
from plaudit.inputs.golds import as_latex, read_gold
from plaudit.rewards import namespaces, reward_named
from plaudit.scores import Score
from plaudit.scores.decorators import (
    HOOKS,
    AnyReward,
    Declaration,
    arguments_of,
    declaration_of,
    is_reward_factory,
)

T = TypeVar("T")
# What an adapter passes besides the texts of completions, if a trainer has whole conversations.
CONVERSATION = "conversation"
VARIABLE = "PLAUDIT_REWARD_DEADLINE"
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


@dataclass(frozen=True)
class RewardLimits:
    """What a reward may take for a batch."""

    deadline: float | None = None  # seconds; None for no deadline
    memory: int | None = None  # MiB; None for no limit


NO_LIMITS = RewardLimits()


def limits_of(own: RewardLimits, recipe: RewardLimits) -> RewardLimits:
    """Return the limits of a component: its own, the recipe's, or the environment's."""
    deadline = own.deadline or recipe.deadline or _from_environment()
    return RewardLimits(deadline, own.memory or recipe.memory)


def check_limits(limits: RewardLimits) -> None:
    """Raise ValueError unless both are positive numbers or None."""
    for name, value, kind in (
        ("deadline", limits.deadline, (int, float)),
        ("memory", limits.memory, int),
    ):
        if value is None:
            continue
        is_number = isinstance(value, kind) and not isinstance(value, bool)
        if not is_number or not isfinite(value) or value <= 0:
            unit = "seconds" if name == "deadline" else "MiB, a whole number"
            raise ValueError(f"{name} must be a number of {unit} above 0, got {value!r:.80}")
    if limits.memory is not None and limits.deadline is None:
        raise ValueError("memory needs a deadline: without one, a reward runs in this process")


def _from_environment() -> float | None:
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    try:
        limits = RewardLimits(float(text))
        check_limits(limits)
    except ValueError as error:
        raise ValueError(f"{VARIABLE} must be a number of seconds, got {text!r:.80}") from error
    return limits.deadline


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


_BATCH = {"completions", "completion_ids", "prompts"}  # a reward takes at least one of these


def reward_of(reward: str | AnyReward, params: Mapping[str, Any], folder: str) -> tuple[Any, bool]:
    """Return the reward of a reference, or a function itself; and whether a factory made it."""
    reference = reference_of(reward)
    thing = _find(reward, folder) if isinstance(reward, str) else reward
    is_made = is_reward_factory(thing)
    if is_made:
        thing = _made(reference, thing, params)
    else:
        _check_shape(reference, thing)
    if not callable(thing):
        raise ValueError(f"{reference} must be a function, it is {type(thing).__name__}")
    return thing, is_made


def as_reference(reward: str | AnyReward) -> str | AnyReward:
    """Return the reference that names a function, if there is one; else the function itself.

    A function of a module is found by its reference in other processes too. One that is defined in
    a notebook, in a script or in another function is not.
    """
    if isinstance(reward, str):
        return reward
    named = reference_of(reward)
    name, _, attribute = named.partition(":")
    is_there = getattr(sys.modules.get(name), attribute, None) is reward
    if name == "__main__" or not is_there:
        return reward
    try:
        _check_defined_there(named, name, reward)
    except ValueError:
        return reward
    namespace = name.removeprefix("plaudit.rewards.").partition("._")[0]
    return f"{namespace}.{attribute}" if name.startswith("plaudit.rewards.") else named


def reference_of(reward: str | AnyReward) -> str:
    """Return the name of a reward in error messages: its reference, or its module and name."""
    if isinstance(reward, str):
        return reward
    code = _code_of(reward)
    return f"{getattr(code, '__module__', '__main__')}:{name_of(reward)}"


def name_of(thing: Any) -> str:
    """Return the name of a function, or of the class of an object; "reward" for a lambda."""
    own = getattr(thing, "__name__", "")
    own = own if own.isidentifier() else getattr(_code_of(thing), "__name__", "")
    return own if own.isidentifier() else "reward"


def check_params(reference: str, params: Collection[str], known: Collection[str]) -> None:
    """Raise ValueError for the first parameter that a reward does not have."""
    for name in params:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ValueError(f"{reference} has no parameter {quoted(name)}; {hint}")


def _takes_a_batch(thing: Any) -> bool:
    declaration = declaration_of(thing)
    return declaration.is_open or bool(_BATCH & set(declaration.named))


def _made(reference: str, factory: AnyReward, params: Mapping[str, Any]) -> AnyReward:
    named, is_open, required = arguments_of(factory)
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


# --- what may be a user's own reward --------------------------------------------------------------


def _check_shape(reference: str, thing: Any) -> None:
    """Raise ValueError for what cannot be a reward, without calling it."""
    if inspect.isclass(thing):
        raise ValueError(
            f"{reference} is a class: mark it with @plaudit.reward_factory if its objects are "
            "rewards, or name an object of it"
        )
    if not callable(thing):
        return  # the caller raises, as it does for what a factory made
    if not _takes_a_batch(thing):
        raise ValueError(
            f"{reference} takes no completions: a reward is called with completions=[…] and the "
            "columns that it names; a function that makes a reward out of params is marked with "
            "@plaudit.reward_factory, one that scores a single text with @plaudit.text_reward"
        )


def _check_defined_there(reference: str, name: str, thing: Any) -> None:
    """Raise ValueError if a function is defined in another package than the reference says."""
    code = _code_of(thing)
    if not (inspect.isfunction(code) or inspect.isclass(code)):
        raise ValueError(f"{reference} is not a function written in Python, but {code!r:.80}")
    owner = code.__module__
    if owner.partition(".")[0] not in (name.partition(".")[0], "plaudit"):
        raise ValueError(
            f"{reference} is defined in {owner}, not in {name}: name it as "
            f"{quoted(f'{owner}:{code.__name__}')}, or give what wraps it functools.wraps"
        )


def _code_of(thing: Any) -> Any:
    """Return the function or class whose code runs when a thing is called."""
    while isinstance(thing, partial):
        thing = thing.func
    thing = inspect.unwrap(thing)
    thing = getattr(thing, "__func__", thing)  # of a method
    is_code = inspect.isroutine(thing) or inspect.isclass(thing)
    return thing if is_code else type(thing)


# --- where a reward is found ----------------------------------------------------------------------


def _find(reference: str, folder: str) -> Any:
    """Return what a reference names: one of plaudit's rewards, or a user's own."""
    dotted = reference.replace(":", ".").removeprefix("plaudit.rewards.")
    name, _, attribute = dotted.rpartition(".")
    try:
        return reward_named(dotted)[1]
    except ValueError:
        if not name or name in namespaces():
            raise
    if name.startswith(".") or "/" in name:
        raise _no_module(reference, name)
    if name.partition(".")[0] in sys.stdlib_module_names:
        raise ValueError(f"{reference} cannot be a reward: {name} is a module of Python itself")
    module = _imported(name, reference, folder)
    if not hasattr(module, attribute):
        names = [known for known in vars(module) if not known.startswith("_")]
        raise ValueError(f"{name} has no {quoted(attribute)}; {did_you_mean(attribute, names)}")
    thing = getattr(module, attribute)
    if callable(thing):
        _check_defined_there(reference, name, thing)
    return thing


def _imported(name: str, reference: str, folder: str) -> ModuleType:
    own_file = _file_of(name, folder)
    try:
        with _looking_in(folder if own_file else ""):
            module = import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module is there, and something that it imports is not
        if name.endswith(".py"):
            raise _no_module(reference, name) from error
        where = f"put it next to the recipe, in {folder}, or" if folder else "install it, or"
        raise ValueError(
            f"no reward is called {quoted(reference)}: there is no module {error.name}; {where} "
            "name its folder in the environment variable PYTHONPATH; "
            "`plaudit list` names the rewards of plaudit"
        ) from error
    top = sys.modules[name.partition(".")[0]]
    if own_file and not _is_in(top, folder):
        raise ValueError(
            f"{reference}: {own_file} is next to the recipe, but another {top.__name__} is "
            f"imported already, from {getattr(top, '__file__', None)}: rename one of them"
        )
    return module


def _no_module(reference: str, name: str) -> ValueError:
    """Return the error for the path of a file in place of a module, "rewards/mine.py:brief"."""
    attribute = reference.rpartition(":" if ":" in reference else ".")[2]
    module = Path(name).name.removesuffix(".py").strip(".") or "my_rewards"
    return ValueError(
        f"no reward is called {quoted(reference)}: name a module and not a file, such as "
        f"{quoted(f'{module}:{attribute}')}; its folder is that of the recipe, or one in the "
        "environment variable PYTHONPATH"
    )


def _file_of(name: str, folder: str) -> Path | None:
    """Return the module's file in a folder, or that of its package, if it is there."""
    if not folder:
        return None
    top = name.partition(".")[0]
    files = (Path(folder, f"{top}.py"), Path(folder, top, "__init__.py"))
    return next((file for file in files if file.exists()), None)


def _is_in(module: ModuleType, folder: str) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(folder).resolve() in Path(file).resolve().parents


@contextmanager
def _looking_in(folder: str) -> Iterator[None]:
    """Look for modules in a folder first; afterwards last, for what they import when called."""
    if not folder:
        yield
        return
    invalidate_caches()  # the file may be newer than the last look into its folder
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)
