"""Recipes: rewards with weights, gates and columns, as one callable that scores a batch.

    name = "brief-math"

    [columns]
    solution = "answer"  # the rewards call it solution, the table calls it answer

    [[rewards]]
    reward = "trl.accuracy_reward"

    [[rewards]]
    name = "brevity"
    reward = "trl.get_cosine_scaled_reward"
    weight = 0.2
    gate = "accuracy_reward"
    params = { max_len = 4096 }

A recipe gives each component's score, the total and the reasons.
"""

from plaudit.recipes.component import Component
from plaudit.recipes.recipe import Recipe, explain, load, presets
from plaudit.recipes.row_score import RowScore as RowScore
from plaudit.recipes.row_score import TooManyFailuresError

__all__ = ["Component", "Recipe", "TooManyFailuresError", "explain", "load", "presets"]
