"""Recipes and completions that the tests of recipes share."""

from plaudit.recipes import Component, Recipe

RIGHT, WRONG = r"<think>2 + 2</think> \boxed{4}", r"<think>2 + 2</think> \boxed{5}"


def recipe(*components, **columns):
    return Recipe("test", components, columns)


def only(reward, **fields):
    """A recipe of one reward."""
    columns = fields.pop("columns_of_all", {})
    return Recipe("test", (Component("", reward, **fields),), columns)


def totals(a_recipe, completions, **columns):
    return [row.total for row in a_recipe(completions, **columns)]


GATED = Recipe(
    "gated",
    (
        Component("right", "trl.accuracy_reward"),
        Component("form", "trl.think_format_reward", weight=0.5, gate="right"),
        Component("short", "own_rewards:brief", weight=4, gate="form"),
    ),
)
