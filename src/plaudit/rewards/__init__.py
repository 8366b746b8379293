"""The reward functions of CANOE, VLM-R1 and TRL, and plaudit's own, one module a system.

This door says which rewards there are, and finds one by its name; the modules are imported only
when somebody asks.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

AnyReward = Callable[..., Any]

SYSTEMS = ("canoe", "vlm_r1", "trl", "answers")

# What a reward needs though its signature does not insist on it: it says so when it is missing.
ALSO_NEEDED = {
    "canoe.len_reward": ("problem",),
    "vlm_r1.accuracy_reward": ("accu_reward_method",),
    "vlm_r1.cosine_rewards": ("tokenizer",),
    "vlm_r1.iou_reward": ("image_grid_thw", "image_path"),
}


def all_rewards() -> dict[str, AnyReward]:
    """Every reward and every factory of rewards by its full name, in the order of its module.

    >>> list(all_rewards())[:2]
    ['canoe.accuracy_reward', 'canoe.influence_reward']
    """
    modules = {system: import_module(f"plaudit.rewards.{system}") for system in SYSTEMS}
    return {
        f"{system}.{name}": thing
        for system, module in modules.items()
        for name, thing in vars(module).items()
        if _is_reward(name, thing) and thing.__module__ == module.__name__
    }


def _is_reward(name: str, thing: object) -> bool:
    """Whether it is a public function; those for an event loop say the same as their twins."""
    is_function = inspect.isfunction(thing) and not inspect.iscoroutinefunction(thing)
    return is_function and not name.startswith("_")


def reward_named(wanted: str) -> tuple[str, AnyReward]:
    """The full name and the reward of a name; the system may be left out where that is clear.

    >>> reward_named("think_format_reward")[0]
    'trl.think_format_reward'
    >>> reward_named("trl.acuracy_reward")
    Traceback (most recent call last):
    ...
    ValueError: no reward is called 'trl.acuracy_reward'. Did you mean trl.accuracy_reward?
    """
    rewards = all_rewards()
    found = _called([wanted], rewards)
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
