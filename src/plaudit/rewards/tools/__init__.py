"""Rewards for calls of tools: are the calls that the assistant makes the expected ones?

    tool_call_reward(
        completions=['<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'],
        solution=[[{"name": "f", "arguments": {"a": 1}}]],
    )

What right means is in docs/tools.md, rule by rule.
"""

from plaudit.rewards.tools._rewards import (
    bfcl_reward,
    tool_call_reward,
    tool_schema_reward,
)
from plaudit.rewards.tools._rewards import (
    gold_fault as gold_fault,  # for `plaudit check`
)

__all__ = ["bfcl_reward", "tool_call_reward", "tool_schema_reward"]
