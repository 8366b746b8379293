"""A name in, and out comes a reward: of CANOE, VLM-R1, TRL, plaudit itself or another package.

Each public module in this folder is a system, and each reward that it declares is found by its
name, "trl.accuracy_reward". Another package adds a system by an entry point, in its pyproject.toml:

    [project.entry-points."plaudit.rewards"]
    acme = "acme_rewards.politeness"    # "acme.polite" is the reward `polite` of this module

The modules are imported only when somebody asks.
"""

import pkgutil
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from plaudit.declarations import AnyReward, Declaration, is_reward_factory

GROUP = "plaudit.rewards"  # of the entry points of other packages


def all_rewards() -> dict[str, AnyReward]:
    """Every reward and every factory of rewards by its full name, in the order of its module.

    A system of another package that cannot be imported has none; `broken_systems` says why.

    >>> list(all_rewards())[:2]
    ['answers.answer_reward', 'answers.mention_reward']
    """
    return _own_rewards() | _added_rewards()[0]


def broken_systems() -> dict[str, str]:
    """What is wrong with each system of another package that cannot be used, by its name.

    >>> broken_systems()
    {}
    """
    return _added_rewards()[1]


def systems() -> list[str]:
    """The names of all systems of rewards, plaudit's own first.

    >>> systems()[:4]
    ['answers', 'canoe', 'trl', 'vlm_r1']
    """
    return list(dict.fromkeys([*_own_systems(), *(entry.name for entry in _entry_points())]))


def _own_systems() -> list[str]:
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(name for name in names if not name.startswith("_"))


def _own_rewards() -> dict[str, AnyReward]:
    modules = {system: import_module(f"{__name__}.{system}") for system in _own_systems()}
    return {
        f"{system}.{name}": reward
        for system, module in modules.items()
        for name, reward in _rewards_in(module).items()
    }


def _entry_points() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))


def _added_rewards(system: str = "") -> tuple[dict[str, AnyReward], dict[str, str]]:
    """The rewards of other packages; and of each system that cannot be used, why that is so.

    With the name of a system, only the module of that one is imported.
    """
    rewards: dict[str, AnyReward] = {}
    broken: dict[str, str] = {}
    known = dict.fromkeys(_own_systems(), "plaudit itself")
    for entry in _entry_points():
        if system not in ("", entry.name):
            continue
        place = f"{entry.value} of {entry.dist.name if entry.dist else 'an unknown package'}"
        if (owner := known.setdefault(entry.name, place)) != place:
            broken[entry.name] = f"{place} is left out: {owner} has a system of that name"
            continue
        try:
            found = _rewards_in(import_module(entry.value))
        except (Exception, SystemExit) as error:  # whatever importing somebody else's module does
            broken[entry.name] = f"{place} cannot be imported: {type(error).__name__}: {error}"
            continue
        rewards |= {f"{entry.name}.{name}": reward for name, reward in found.items()}
    return rewards, broken


def _rewards_in(module: ModuleType) -> dict[str, AnyReward]:
    """The rewards that a module declares, and those that it exports by `__all__`."""
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


def reward_named(wanted: str) -> tuple[str, AnyReward]:
    """The full name and the reward of a name; the system may be left out where that is clear.

    >>> reward_named("think_format_reward")[0]
    'trl.think_format_reward'
    >>> reward_named("trl.acuracy_reward")
    Traceback (most recent call last):
    ...
    ValueError: no reward is called 'trl.acuracy_reward'. Did you mean trl.accuracy_reward?
    """
    rewards = _own_rewards()
    # What another package adds does not make a name of plaudit's own unclear.
    found = _called([wanted], rewards)
    if not found:
        system = wanted.rpartition(".")[0]
        added, broken = _added_rewards(system)
        rewards |= added
        found = _called([wanted], rewards)
        if not found and system in broken:
            raise ValueError(f"no reward is called {wanted!r}: {broken[system]}")
    if len(found) == 1:
        return found[0], rewards[found[0]]
    if found:
        raise ValueError(f"{wanted!r} is the name of several rewards: {', '.join(found)}")
    raise ValueError(f"no reward is called {wanted!r}. {_nearest(wanted, list(rewards))}")


def _called(wanted: Iterable[str], names: Iterable[str]) -> list[str]:
    """The full names of which one, or the part after the system, is wanted."""
    return [name for name in names if name in wanted or _short(name) in wanted]


def _short(name: str) -> str:
    return name.partition(".")[2]


def _nearest(wanted: str, names: Sequence[str]) -> str:
    known = dict.fromkeys([*names, *map(_short, names)])
    near = [name for name in names if wanted in name]
    near = near or get_close_matches(wanted, names, n=1, cutoff=0.8)
    near = near or _called(get_close_matches(wanted, known, n=3, cutoff=0.5), names)
    return f"Did you mean {' or '.join(near)}?" if near else "`plaudit list` names them all."
