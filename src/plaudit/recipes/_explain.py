"""`plaudit.explain`: the score of one row, by a reward or a recipe."""

from dataclasses import replace
from inspect import iscoroutinefunction
from typing import Any

from plaudit.recipes.files import as_recipe
from plaudit.recipes.recipe import Recipe
from plaudit.scores import Score
from plaudit.scores.decorators import HOOKS, declaration_of


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
