"""A reward and one row in, and out comes the score of that row."""

from inspect import iscoroutinefunction
from typing import Any

from plaudit.declarations import HOOKS, declaration_of
from plaudit.scores._score import Score


def explain(reward: Any, completion: Any = None, solution: Any = None, /, **columns: Any) -> Score:
    """Score one completion, and say why it got what it got.

    `columns` holds the value of this one row for each column that the reward needs; `completion`
    and `solution` may be given by name as well.

    >>> from plaudit.rewards import canoe
    >>> explain(canoe.format_reward, "just text").why[:24]
    'The text is not <think>…'
    """
    if not hasattr(reward, "scores"):
        raise TypeError(
            f"{reward!r} is not a plaudit reward: it has no `scores` to explain it with"
        )
    if iscoroutinefunction(reward):
        raise TypeError(f"{reward.__name__} is for an event loop: explain the one without _async")
    if "completions" in columns:
        raise TypeError(
            "explain takes one row, as completion=…: for several, call reward.scores(completions=…)"
        )
    completion = _once("completion", completion, columns)
    solution = _once("solution", solution, columns)
    if completion is None:
        raise TypeError("explain needs the completion: explain(reward, completion, solution)")
    declaration = declaration_of(reward)
    fixed = {*declaration.settings, *HOOKS}
    batch: dict[str, Any] = {
        name: value if name in fixed else [value] for name, value in columns.items()
    }
    if solution is not None or "solution" in declaration.named:
        batch["solution"] = [solution]
    score: Score = reward.scores(completions=[completion], **batch)[0]
    return score


def _once(name: str, given: Any, columns: dict[str, Any]) -> Any:
    """An argument that is given by its place or by its name, and not by both."""
    named = columns.pop(name, None)
    if given is not None and named is not None:
        raise TypeError(
            f"explain got the {name} twice: by its place, {given!r:.80}, and by its name, "
            f"{named!r:.80}; leave one of them out"
        )
    return named if given is None else given
