"""Find rewards by name: those of plaudit's own namespaces and of other packages.

Each public module in this folder is a namespace, and each reward that it declares is found by its
name, "trl.accuracy_reward". Another package adds a namespace by an entry point, in its
pyproject.toml:

    [project.entry-points."plaudit.rewards"]
    acme = "acme_rewards.politeness"    # "acme.polite" is the reward `polite` of this module

A module is imported only when one of its rewards is asked for.
"""

import pkgutil
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from plaudit.scores.decorators import AnyReward, Declaration, is_reward_factory

GROUP = "plaudit.rewards"  # of the entry points of other packages


def all_rewards() -> dict[str, AnyReward]:
    """Return every reward and factory by its full name, in the order of its module.

    The rewards of a package that cannot be imported are left out; `broken_namespaces` says why.
    """
    return _own_rewards(_own_namespaces()) | _added_rewards()[0]


def broken_namespaces() -> dict[str, str]:
    """Return what is wrong with each namespace of another package that cannot be used."""
    return _added_rewards()[1]


def namespaces() -> list[str]:
    """Return the names of all namespaces of rewards, plaudit's own first."""
    return list(dict.fromkeys([*_own_namespaces(), *(entry.name for entry in _entry_points())]))


def reward_named(wanted: str) -> tuple[str, AnyReward]:
    """Return the full name and the reward of a name, whose namespace may be left out if clear.

    "trl.accuracy_reward" imports the module `trl` and no other.
    """
    namespace = wanted.rpartition(".")[0]
    own = _own_namespaces()
    rewards = _own_rewards([namespace] if namespace in own else own)
    # A reward that another package adds does not make a name of plaudit's own unclear.
    found = _matching([wanted], rewards)
    if not found:
        added, broken = _added_rewards(namespace)
        rewards |= added
        found = _matching([wanted], rewards)
        if not found and namespace in broken:
            raise ValueError(f"no reward is called {wanted!r}: {broken[namespace]}")
    if len(found) == 1:
        return found[0], rewards[found[0]]
    if found:
        raise ValueError(f"{wanted!r} is the name of several rewards: {', '.join(found)}")
    raise ValueError(f"no reward is called {wanted!r}. {_nearest(wanted, list(rewards))}")


def _own_namespaces() -> list[str]:
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(name for name in names if not name.startswith("_"))


def _own_rewards(names: Iterable[str]) -> dict[str, AnyReward]:
    return {
        f"{namespace}.{name}": reward
        for namespace in names
        for name, reward in _rewards_in(import_module(f"{__name__}.{namespace}")).items()
    }


def _entry_points() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))


def _added_rewards(namespace: str = "") -> tuple[dict[str, AnyReward], dict[str, str]]:
    """Return the rewards of other packages, and why each unusable namespace cannot be used.

    With the name of a namespace, only the module of that one is imported.
    """
    rewards: dict[str, AnyReward] = {}
    broken: dict[str, str] = {}
    known = dict.fromkeys(_own_namespaces(), "plaudit itself")
    for entry in _entry_points():
        if namespace not in ("", entry.name):
            continue
        source = f"{entry.value} of {entry.dist.name if entry.dist else 'an unknown package'}"
        if (owner := known.setdefault(entry.name, source)) != source:
            broken[entry.name] = f"{source} is left out: {owner} has a namespace of that name"
            continue
        try:
            found = _rewards_in(import_module(entry.value))
        except (Exception, SystemExit) as error:  # whatever importing somebody else's module does
            broken[entry.name] = f"{source} cannot be imported: {type(error).__name__}: {error}"
            continue
        rewards |= {f"{entry.name}.{name}": reward for name, reward in found.items()}
    return rewards, broken


def _rewards_in(module: ModuleType) -> dict[str, AnyReward]:
    """Return the rewards that a module declares, and those that it exports by `__all__`."""
    exported = getattr(module, "__all__", None)
    return {
        name: thing
        for name, thing in vars(module).items()
        if _is_declared(thing)
        and not name.startswith("_")
        and (thing.__module__ == module.__name__ if exported is None else name in exported)
    }


def _is_declared(thing: Any) -> bool:
    return isinstance(getattr(thing, "declaration", None), Declaration) or is_reward_factory(thing)


def _matching(wanted: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return the full names of which one, or the part after the namespace, is wanted."""
    return [name for name in names if name in wanted or _short(name) in wanted]


def _short(name: str) -> str:
    return name.partition(".")[2]


def _nearest(wanted: str, names: Sequence[str]) -> str:
    known = dict.fromkeys([*names, *map(_short, names)])
    near = [name for name in names if wanted in name]
    near = near or get_close_matches(wanted, names, n=1, cutoff=0.8)
    near = near or _matching(get_close_matches(wanted, known, n=3, cutoff=0.5), names)
    return f"Did you mean {' or '.join(near)}?" if near else "`plaudit list` names them all."
