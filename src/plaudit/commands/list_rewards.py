"""`plaudit list`: words in; the rewards that match them out, with signature and description."""

import argparse
import inspect
import sys
from typing import Any

from plaudit.commands import UsageError

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plaudit list` to a parser.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["format"]).words
    ['format']
    """
    parser.add_argument(
        "words",
        metavar="WORD",
        nargs="*",
        help="list only the rewards whose name or description contains every WORD",
    )


def run(options: argparse.Namespace) -> None:
    """Print the rewards, each with its signature and what it rewards.

    >>> run(argparse.Namespace(words=["canoe", "context"]))
    canoe.len_reward(completions, **kwargs)
        1.0 where the long answer has between 0.2 and 0.8 of its context's characters; else 0.0.
    """
    from plaudit.rewards import all_rewards, broken_systems

    rewards = all_rewards()
    words = [word.lower() for word in options.words]
    found = {
        name: reward
        for name, reward in rewards.items()
        if all(word in f"{name} {_first_line(reward)}".lower() for word in words)
    }
    for name, reward in found.items():
        print(f"{name}{_signature(reward)}\n    {_first_line(reward)}")
    for system, why in broken_systems().items():
        print(f"plaudit: no rewards of {system}: {why}", file=sys.stderr)
    if not found:
        raise UsageError(
            f"none of {len(rewards)} rewards has {' and '.join(map(repr, words))} in its name or "
            "description: `plaudit list` names them all"
        )


def _signature(reward: Any) -> str:
    """The parameters with their defaults and without their types, which would fill the screen."""
    signature = inspect.signature(reward)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _first_line(reward: Any) -> str:
    return (inspect.getdoc(reward) or "").partition("\n")[0]
