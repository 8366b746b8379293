"""Verifiable rewards for post-training with reinforcement learning.

A trainer hands over completions; plaudit says what each is worth, and why.

>>> import plaudit
>>> from plaudit.rewards.trl import accuracy_reward
>>> accuracy_reward([r"So it is \\boxed{\\frac{2}{4}}."], ["1/2"])
[1.0]
>>> plaudit.explain(accuracy_reward, r"So it is \\boxed{3}.", "1/2").why
'3 is not equal to the gold 1/2.'
"""

from plaudit.judge import configure
from plaudit.scores import Score, explain

__all__ = ["Score", "__version__", "configure", "explain"]
__version__ = "0.1.0"
