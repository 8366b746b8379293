"""`plaudit list`."""

import inspect
import sys
from collections.abc import Sequence
from typing import Annotated, Any

from plaudit.cli.arguments import UsageError
from plaudit.rewards import all_rewards, broken_namespaces


def run(words: Annotated[Sequence[str], "WORD"] = ()) -> None:
    """List the rewards, and what each of them rewards.

    words: list only the rewards whose name or description contains every WORD
    """
    rewards = all_rewards()
    lower = [word.lower() for word in words]
    found = {
        name: reward
        for name, reward in rewards.items()
        if all(word in f"{name} {_first_line(reward)}".lower() for word in lower)
    }
    for name, reward in found.items():
        print(f"{name}{_signature(reward)}\n    {_first_line(reward)}")
    for namespace, why in broken_namespaces().items():
        print(f"plaudit: no rewards of {namespace}: {why}", file=sys.stderr)
    if not found:
        raise UsageError(
            f"none of {len(rewards)} rewards has {' and '.join(map(repr, lower))} in its name or "
            "description: `plaudit list` names them all"
        )


def _signature(reward: Any) -> str:
    """Return the parameters without their types, which would fill the screen."""
    signature = inspect.signature(reward)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _first_line(reward: Any) -> str:
    return (inspect.getdoc(reward) or "").partition("\n")[0]
