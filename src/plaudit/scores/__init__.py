"""`Score`, and the decorators that make reward functions.

A reward is a function that gives a `Score` for each row: a value and its reasons. `@reward` turns
it into the function that a trainer calls, which gives the values alone. `@text_reward` does so for
a function that scores one text.
"""

from plaudit.scores.decorators import async_form, reward, reward_factory, text_reward
from plaudit.scores.score import Score

__all__ = ["Score", "async_form", "reward", "reward_factory", "text_reward"]
