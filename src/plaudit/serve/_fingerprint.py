"""A recipe in, a short text out that differs if the rewards may differ."""

import json
import sys
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from plaudit.recipes import Component, Recipe

HEADER = "X-Recipe-Fingerprint"


def fingerprint_of(recipe: Recipe) -> str:
    """The fingerprint of everything that decides the rewards.

    That is each component with its weight, gate, columns and parameters, the source of a reward of
    the user's own, and the versions of plaudit and math-verify.

    >>> from dataclasses import replace
    >>> from plaudit.recipes import load
    >>> recipe = load("trl-math")
    >>> heavier = replace(recipe, components=[replace(recipe.components[0], weight=2.0)])
    >>> fingerprint_of(recipe) == fingerprint_of(heavier)
    False
    """
    parts = {
        "components": [_described(component) for component in recipe.components],
        "columns": recipe.columns,
        "versions": [version("plaudit"), version("math-verify")],
    }
    text = json.dumps(parts, sort_keys=True, default=_stable)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _described(component: Component) -> dict[str, Any]:
    names = ("name", "reference", "weight", "gate", "right", "golds", "columns", "params")
    return {name: getattr(component, name) for name in names} | {"source": _source(component)}


def _source(component: Component) -> str:
    """A digest of the module of a user's own reward; "" if there is no file to read."""
    if component.calling.is_own:
        return ""
    module = sys.modules.get(str(getattr(component.calling.function, "__module__", "")))
    file = getattr(module, "__file__", None)
    try:
        return sha256(Path(file).read_bytes()).hexdigest() if file else ""
    except OSError:
        return ""


def _stable(value: Any) -> Any:
    """What JSON cannot represent: a function by its name, which has no address in it."""
    if isinstance(value, Mapping):
        return dict(value)
    name = getattr(value, "__qualname__", None)
    return f"{value.__module__}.{name}" if name else repr(value)
