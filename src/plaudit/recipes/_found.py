"""A reference, such as "trl.accuracy_reward" or "my_package.rewards:brief" -> the reward it names.

A user's own reward is checked before any of it is called: it must be a function that is defined in
the module that the reference names, or a factory that is marked as one. So no recipe can name
another function, such as os.system, and have it called with `params`.
"""

import inspect
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any

from plaudit.declarations import AnyReward, arguments_of, declaration_of, is_reward_factory
from plaudit.recipes._names import did_you_mean, quoted
from plaudit.rewards import reward_named, systems

_GIVEN = {"completions", "completion_ids", "prompts"}  # a reward takes at least one of these


def reward_of(given: str | AnyReward, params: Mapping[str, Any], folder: str) -> tuple[Any, bool]:
    """The reward that a reference names, or a function itself; and whether a factory made it.

    >>> reward_of("trl.get_repetition_penalty_reward", {"ngram_size": 2}, "")
    (RepetitionPenaltyReward(ngram_size=2, max_penalty=-1.0), True)
    >>> reward_of("os:system", {"command": "ls"}, "")
    Traceback (most recent call last):
    ...
    ValueError: os:system cannot be a reward: os is a module of Python itself
    """
    reference = reference_of(given)
    thing = _found(given, folder) if isinstance(given, str) else given
    is_made = is_reward_factory(thing)
    if is_made:
        thing = _made(reference, thing, params)
    else:
        _check_shape(reference, thing)
    if not callable(thing):
        raise ValueError(f"{reference} must be a function, it is {type(thing).__name__}")
    return thing, is_made


def as_reference(given: str | AnyReward) -> str | AnyReward:
    """The reference that names a function, where there is one; else the function itself.

    A function of a module is found by its reference in other processes too. One that is defined in
    a notebook, in a script or in another function is not.

    >>> from plaudit.rewards import trl
    >>> as_reference(trl.accuracy_reward), as_reference("trl.accuracy_reward")
    ('trl.accuracy_reward', 'trl.accuracy_reward')
    """
    if isinstance(given, str):
        return given
    named = reference_of(given)
    name, _, attribute = named.partition(":")
    is_there = getattr(sys.modules.get(name), attribute, None) is given
    if name == "__main__" or not is_there:
        return given
    try:
        _check_defined_there(named, name, given)
    except ValueError:
        return given
    system = name.removeprefix("plaudit.rewards.").partition("._")[0]
    return f"{system}.{attribute}" if name.startswith("plaudit.rewards.") else named


def reference_of(given: str | AnyReward) -> str:
    """What to call a reward in errors: its reference, or its module and name.

    >>> reference_of(check_params)
    'plaudit.recipes._found:check_params'
    """
    if isinstance(given, str):
        return given
    code = _code_of(given)
    return f"{getattr(code, '__module__', '__main__')}:{name_of(given)}"


def name_of(thing: Any) -> str:
    """The name of a function, or of the class of an object; "reward" for a lambda.

    >>> name_of(check_params), name_of(lambda completions: [])
    ('check_params', 'reward')
    """
    own = getattr(thing, "__name__", "")
    own = own if own.isidentifier() else getattr(_code_of(thing), "__name__", "")
    return own if own.isidentifier() else "reward"


def check_params(reference: str, params: Collection[str], known: Collection[str]) -> None:
    """Raise ValueError for the first parameter that a reward does not have.

    >>> check_params("trl.accuracy_reward", {"max_le": 3}, ["max_len"])
    Traceback (most recent call last):
    ...
    ValueError: trl.accuracy_reward has no parameter "max_le"; did you mean "max_len"?
    """
    for name in params:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ValueError(f"{reference} has no parameter {quoted(name)}; {hint}")


def _takes_a_batch(thing: Any) -> bool:
    declaration = declaration_of(thing)
    return declaration.is_open or bool(_GIVEN & set(declaration.named))


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
    """The function or class whose code runs when a thing is called, found without calling it."""
    while isinstance(thing, partial):
        thing = thing.func
    thing = inspect.unwrap(thing)
    thing = getattr(thing, "__func__", thing)  # of a method
    is_code = inspect.isroutine(thing) or inspect.isclass(thing)
    return thing if is_code else type(thing)


# --- where a reward is found ----------------------------------------------------------------------


def _found(reference: str, folder: str) -> Any:
    """What a reference names: one of plaudit's rewards, or something in a module of the user's."""
    dotted = reference.replace(":", ".").removeprefix("plaudit.rewards.")
    name, _, attribute = dotted.rpartition(".")
    try:
        return reward_named(dotted)[1]
    except ValueError:
        if not name or name in systems():
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
    beside = _file_of(name, folder)
    try:
        with _looking_in(folder if beside else ""):
            module = import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module is there, and something that it imports is not
        if name.endswith(".py"):
            raise _no_module(reference, name) from error
        place = f"put it beside the recipe, in {folder}, or" if folder else "install it, or"
        raise ValueError(
            f"no reward is called {quoted(reference)}: there is no module {error.name}; {place} "
            "name its folder in the environment variable PYTHONPATH; "
            "`plaudit list` names the rewards of plaudit"
        ) from error
    top = sys.modules[name.partition(".")[0]]
    if beside and not _is_in(top, folder):
        raise ValueError(
            f"{reference}: {beside} is beside the recipe, but another {top.__name__} is imported "
            f"already, from {getattr(top, '__file__', None)}: give one of them another name"
        )
    return module


def _no_module(reference: str, name: str) -> ValueError:
    """The error for the path of a file in place of a module, "rewards/mine.py:brief"."""
    attribute = reference.rpartition(":" if ":" in reference else ".")[2]
    module = Path(name).name.removesuffix(".py").strip(".") or "my_rewards"
    return ValueError(
        f"no reward is called {quoted(reference)}: name a module and not a file, such as "
        f"{quoted(f'{module}:{attribute}')}; its folder is that of the recipe, or one in the "
        "environment variable PYTHONPATH"
    )


def _file_of(name: str, folder: str) -> Path | None:
    """The module's file in a folder, or that of its package, if it is there."""
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
