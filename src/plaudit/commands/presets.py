"""`plaudit presets`: nothing in, the recipes of plaudit out; or a name in, its TOML file out."""

import argparse

from plaudit.commands import UsageError

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plaudit presets` to a parser.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["trl-math"]).name
    'trl-math'
    """
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="print this recipe as a TOML file, as a start for one of your own",
    )


def run(options: argparse.Namespace) -> None:
    """Print the presets with their rewards and columns, or one of them as TOML.

    >>> run(argparse.Namespace(name="trl-math"))
    name = "trl-math"
    <BLANKLINE>
    [[rewards]]
    name = "accuracy_reward"
    reward = "trl.accuracy_reward"
    """
    from plaudit.recipes import load, presets

    if options.name is not None:
        if options.name not in presets():
            known = ", ".join(presets())
            raise UsageError(f"there is no preset {options.name!r}: choose one of {known}")
        print(load(options.name).to_toml(), end="")
        return
    for name in presets():
        recipe = load(name)
        rewards = ", ".join(component.reference for component in recipe.components)
        needs = ", ".join(["completions", *recipe.needs()])
        print(f"{name}\n    {rewards}\n    columns: {needs}")
