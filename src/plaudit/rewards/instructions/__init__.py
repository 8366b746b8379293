"""Instruction following: the instructions of IFEval, IFBench and open-instruct's IFEvalG.

    from plaudit.rewards.instructions import instruction_reward

    instruction_reward(
        ["Tea and milk"],
        instruction_id_list=[["punctuation:no_comma", "count:word_count_range"]],
        kwargs=[[{}, {"min_words": 2, "max_words": 5}]],
    )   # [1.0]

A verdict is a fact about the text: nothing is drawn at random and nothing is downloaded. The
checkers look at form alone, and never at whether the response answers the prompt.
"""

from plaudit.rewards.instructions import (  # noqa: F401  (they register their checkers)
    _fixed_prompts,
    _formats,
    _keywords,
    _lengths,
    _sentences,
    _training_set,
    _words,
)
from plaudit.rewards.instructions._registry import (
    INSTRUCTIONS,
    Finding,
    Instruction,
    instruction,
)
from plaudit.rewards.instructions._reward import instruction_reward

__all__ = ["INSTRUCTIONS", "Finding", "Instruction", "instruction", "instruction_reward"]
