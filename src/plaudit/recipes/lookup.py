"""Find the reward that a reference names: "trl.accuracy_reward", "my_package.rewards:brief".

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

from plaudit.inputs.errors import did_you_mean, quoted
from plaudit.rewards import namespaces, reward_named
from plaudit.scores.decorators import AnyReward, arguments_of, declaration_of, is_reward_factory

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
