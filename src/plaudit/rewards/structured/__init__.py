"""Rewards for structured output: JSON by a schema or by fields, and YAML, TOML, XML and CSV.

    json_schema_reward(
        completions=['Here it is: {"city": "Porto", "population": 231800}'],
        schema={"type": "object", "required": ["city"]},
    )

What right means is in docs/tools.md, rule by rule.
"""

from plaudit.rewards.structured._rewards import (
    fields_reward,
    format_reward,
    json_schema_reward,
)
from plaudit.rewards.structured._rewards import (
    schema_fault as schema_fault,  # for `plaudit check`
)

__all__ = ["fields_reward", "format_reward", "json_schema_reward"]
