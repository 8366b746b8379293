"""`plaudit presets`."""

from typing import Annotated

from plaudit.cli.arguments import UsageError
from plaudit.recipes import load, presets


def run(name: Annotated[str | None, "NAME"] = None) -> None:
    """List plaudit's own recipes, or print one of them.

    name: print this recipe as a TOML file, as a start for one of your own
    """
    if name is not None:
        if name not in presets():
            known = ", ".join(presets())
            raise UsageError(f"there is no preset {name!r}: choose one of {known}")
        print(load(name).to_toml(), end="")
        return
    for preset in presets():
        recipe = load(preset)
        rewards = ", ".join(component.reference for component in recipe.components)
        needs = ", ".join(["completions", *recipe.needs()])
        print(f"{preset}\n    {rewards}\n    columns: {needs}")
