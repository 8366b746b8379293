"""Sound rewards for vision-language models: boxes, points, counts and spans of time.

    from plaudit.rewards.vision import box_reward

    box_reward(["It is at [0, 0, 100, 50]."], [[0, 0, 100, 100]])   # [0.5]

Only the final answer counts: nothing in the thinking, nothing that was taken back, and one box if
one is asked for. Scale and order of the numbers are said by the recipe, and never guessed.
"""

from plaudit.rewards.vision._formats import FORMATS, Format, add_format, format_of
from plaudit.rewards.vision._numbers import count_reward, span_reward
from plaudit.rewards.vision._shapes import box_reward, boxes_reward, point_reward

__all__ = [
    "FORMATS",
    "Format",
    "add_format",
    "box_reward",
    "boxes_reward",
    "count_reward",
    "format_of",
    "point_reward",
    "span_reward",
]
