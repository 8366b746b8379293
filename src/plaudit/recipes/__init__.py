"""Names of rewards, weights, gates and columns in; one callable that scores a batch out.

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

from plaudit.recipes._broken import BrokenRewardError
from plaudit.recipes._calling import score_of_value
from plaudit.recipes._columns import guess, is_made_by_trainers
from plaudit.recipes._component import Component, component_seconds
from plaudit.recipes._explain import explain
from plaudit.recipes._files import as_recipe, load, presets
from plaudit.recipes._recipe import RECORD_VARIABLE, Recipe
from plaudit.recipes._row_score import RowScore, RowScores, ScoredBatch, weighted_total

__all__ = [
    "RECORD_VARIABLE",
    "BrokenRewardError",
    "Component",
    "Recipe",
    "RowScore",
    "RowScores",
    "ScoredBatch",
    "as_recipe",
    "component_seconds",
    "explain",
    "guess",
    "is_made_by_trainers",
    "load",
    "presets",
    "score_of_value",
    "weighted_total",
]
