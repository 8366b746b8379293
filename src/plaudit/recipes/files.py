"""Read recipes: a preset, a TOML file, or whatever else an argument may be."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from importlib.resources import files
from inspect import iscoroutinefunction
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from plaudit.inputs.columns import kind_of
from plaudit.inputs.errors import did_you_mean, quoted
from plaudit.recipes.component import Component
from plaudit.recipes.recipe import SETTINGS, Recipe
from plaudit.scores import Score
from plaudit.scores.decorators import HOOKS, declaration_of

_PRESETS = files("plaudit").joinpath("presets")
_KEYS = ("name", "golds", "attacks", "columns", "rewards", *SETTINGS)
_KEYS_OF_A_REWARD = tuple(f.name for f in fields(Component) if f.name != "folder")


def load(name_or_path: str | PathLike[str], *, columns: Mapping[str, str] | None = None) -> Recipe:
    """Return the recipe that a name or a file describes; raise ValueError if there is none.

    name_or_path: the name of a preset, such as "math", or the path of a TOML file
    columns: which column an argument of the rewards is read from, such as {"solution": "answer"};
        these count more than the columns that the file names. Default: those of the file

    >>> load("trl-reasoning").needs()
    {'solution': 'solution'}
    >>> load("math", columns={"solution": "answer"})([r"\\boxed{4}"], answer=["4"])[0].total
    1.0
    >>> load("trl-maths")
    Traceback (most recent call last):
    ...
    ValueError: there is no recipe "trl-maths", neither a preset nor a file; \
did you mean "trl-math"?
    """
    if not isinstance(name_or_path, str | PathLike):
        raise TypeError(
            'a recipe is loaded by the name of a preset, such as "math", or the path of a TOML '
            f"file, got {kind_of(name_or_path)}"
        )
    name = fspath(name_or_path)
    if isinstance(name_or_path, str) and name in presets():
        text, folder = _PRESETS.joinpath(f"{name}.toml").read_text("utf-8"), ""
    else:
        text, folder = _text_of(name), str(Path(name).absolute().parent)
    try:
        recipe = _recipe(tomllib.loads(text), Path(name).stem, folder)
        return replace(recipe, columns={**recipe.columns, **columns}) if columns else recipe
    except (ValueError, ImportError) as error:
        raise ValueError(f"{name}: {error}") from error


def as_recipe(recipe: Any) -> Recipe:
    """Return the recipe that an argument stands for.

    recipe: a recipe; the name of a preset, or a TOML file; a reward, as a function, a name or a
        `Component`; or a list of rewards, whose values are added up
    """
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, PathLike) or (isinstance(recipe, str) and _is_a_recipe(recipe)):
        return load(recipe)
    is_one = isinstance(recipe, str | Component) or callable(recipe)
    if not is_one and not isinstance(recipe, list | tuple):
        raise TypeError(
            "a recipe is a Recipe, the name of a preset, a TOML file, a reward or a list of "
            f"rewards, got {type(recipe).__name__}: {recipe!r:.80}"
        )
    rewards = [recipe] if is_one else recipe
    components = tuple(one if isinstance(one, Component) else Component("", one) for one in rewards)
    return Recipe("-".join(one.name for one in components), components)


def _is_a_recipe(name: str) -> bool:
    """Return whether a text names a recipe; the name of a reward has a dot or a colon."""
    is_reward = ("." in name or ":" in name) and not name.endswith(".toml")
    return not is_reward or Path(name).exists()


def presets() -> list[str]:
    """Return the names of the recipes that come with plaudit.

    >>> {"math", "qa", "code", "tools"} <= {*presets()}
    True
    """
    names = (file.name for file in _PRESETS.iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def _text_of(name: str) -> str:
    path = Path(name)
    if not path.exists() and not path.suffix:
        hint = did_you_mean(name, presets())
        raise ValueError(f"there is no recipe {quoted(name)}, neither a preset nor a file; {hint}")
    try:
        return path.read_text("utf-8-sig")  # editors on Windows begin a file with a mark
    except OSError as error:
        raise ValueError(f"cannot read the recipe {name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"cannot read the recipe {name}: it is not UTF-8 text") from error


def _recipe(table: Mapping[str, Any], default_name: str, folder: str) -> Recipe:
    _check_keys(table, _KEYS)
    name, columns = table.get("name", default_name), table.get("columns", {})
    rewards = table.get("rewards")
    if not isinstance(name, str):
        raise ValueError(f"name must be text, got {name!r:.80}")
    if not isinstance(columns, dict):
        raise ValueError(f"columns must be a table, got {columns!r:.80}")
    if not isinstance(rewards, list) or not rewards:
        raise ValueError("a recipe needs at least one [[rewards]]")
    components = [
        _component(reward, number, folder) for number, reward in enumerate(rewards, start=1)
    ]
    attacks = table.get("attacks", [])
    if not isinstance(attacks, list) or not all(isinstance(one, str) for one in attacks):
        raise ValueError(
            f'attacks must be a list such as ["my_attacks:shouting"], got {attacks!r:.80}'
        )
    settings = {key: table[key] for key in SETTINGS if key in table}
    golds = table.get("golds", "")
    return Recipe(name, tuple(components), columns, golds, tuple(attacks), **settings)


def _component(table: Any, number: int, folder: str) -> Component:
    label = f"rewards, number {number}"
    if not isinstance(table, dict):
        raise ValueError(f"{label}: it must be a table, got {table!r:.80}")
    try:
        _check_keys(table, _KEYS_OF_A_REWARD)
        if "reward" not in table:
            raise ValueError('reward is missing: add reward = "…", such as "trl.accuracy_reward"')
        return Component(**{"name": "", **table, "folder": folder})
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from error


def _check_keys(table: Mapping[str, Any], known: Collection[str]) -> None:
    for key in table:
        if key not in known:
            raise ValueError(f"there is no key {quoted(key)}; {did_you_mean(key, known)}")


def explain(reward: Any, completion: Any = None, solution: Any = None, /, **columns: Any) -> Score:
    """Score one completion, and say why it got what it got.

    reward: a reward, or whatever else `plaudit.score` takes as its recipe: the name of a reward or
        of a preset, a TOML file, a Recipe, a list of rewards. For a recipe of several rewards, the
        score's value is the total, and its reason has those of all of them.
    columns: the value of this one row for each column that the reward needs, and its settings;
        `completion` and `solution` may be given by name as well

    >>> from plaudit.rewards import canoe
    >>> explain(canoe.format_reward, "just text").why[:24]
    'The text is not <think>…'
    >>> explain("answers.answer_reward", r"So it is \\boxed{0.5}.", "1/2").value
    1.0
    """
    if iscoroutinefunction(reward) and hasattr(reward, "scores"):
        raise TypeError(f"{reward.__name__} is for an event loop: explain the one without _async")
    if "completions" in columns:
        raise TypeError(
            "explain takes one row, as completion=…: for several, call reward.scores(completions=…)"
        )
    completion = _once("completion", completion, columns)
    solution = _once("solution", solution, columns)
    if completion is None:
        raise TypeError("explain needs the completion: explain(reward, completion, solution)")
    if not hasattr(reward, "scores"):
        return _score_of(as_recipe(reward), completion, solution, columns)
    declaration = declaration_of(reward)
    batch = _batch(columns, {*declaration.settings, *HOOKS})
    if solution is not None or "solution" in declaration.named:
        batch["solution"] = [solution]
    score: Score = reward.scores(completions=[completion], **batch)[0]
    return score


def _score_of(recipe: Recipe, completion: Any, solution: Any, columns: dict[str, Any]) -> Score:
    if len(recipe.components) == 1:
        (component,) = recipe.components
        named = component.bound.declaration.settings
        settings = {name: columns.pop(name) for name in named if name in columns}
        with_settings = replace(component, params={**component.params, **settings})
        recipe = replace(recipe, components=(with_settings,))
    batch = _batch(columns, HOOKS)
    if solution is not None or any(one.takes("solution") for one in recipe.components):
        batch["solution"] = [solution]
    (row,) = recipe.score_batch([completion], **batch).rows
    scores = list(row.components.values())
    return scores[0] if len(scores) == 1 else Score(row.total, row.why, status=row.status)


def _batch(columns: dict[str, Any], fixed: Any) -> dict[str, Any]:
    """Return a batch of one row; settings stay as they are."""
    return {name: value if name in fixed else [value] for name, value in columns.items()}


def _once(name: str, value: Any, columns: dict[str, Any]) -> Any:
    """Return an argument that is passed by position or by name, and not by both."""
    named = columns.pop(name, None)
    if value is not None and named is not None:
        raise TypeError(
            f"explain got the {name} twice: by position, {value!r:.80}, and by name, "
            f"{named!r:.80}; leave one of them out"
        )
    return named if value is None else value
