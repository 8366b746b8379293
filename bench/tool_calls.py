"""Rewards for calls of tools and for structured output: rows per second, and hostile texts.

python bench/tool_calls.py
"""

import json

from plaudit.rewards.structured import json_schema_reward
from plaudit.rewards.tools import tool_call_reward
from report import Table, arguments, best_in_turns, seconds, show

TOOLS = [
    {
        "name": name,
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "default": 1},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            },
            "required": ["city"],
        },
    }
    for name in ("get_weather", "get_forecast", "get_history")
]
GOLD = [{"get_weather": {"city": ["Lisbon"], "days": [3], "unit": ["celsius", ""]}}]
CALL = {"name": "get_weather", "arguments": {"city": "Lisbon", "days": 3}}
CALLS = (
    {"tool_calls": [{"function": {**CALL, "arguments": json.dumps(CALL["arguments"])}}]},
    f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>",
    "[get_weather(city='Lisbon', days=3)]",
    f"I will look that up.\n```json\n{json.dumps([CALL], indent=2)}\n```",
)
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "population": {"type": "integer"}},
    "required": ["city", "population"],
}
MEGABYTE = {
    "words": "word " * 200_000,
    "lines": "A line of words.\n" * 60_000,
    "brackets": "[" * 1_000_000,
    "open calls": "[f(" * 333_333,
    "open marks": "<tool_call>{" * 83_333,
    "literals": "{'a': 1}\n" * 111_111,
}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    rows, repeat = parser.parse_args().rows, parser.parse_args().repeat
    completions = [CALLS[row % len(CALLS)] for row in range(rows)]
    texts = [f'{{"city": "Porto", "population": {row}}}' for row in range(rows)]
    runs = {
        "calls": lambda: tool_call_reward(completions, [GOLD] * rows, [TOOLS] * rows),
        "JSON by one schema": lambda: json_schema_reward(texts, SCHEMA),
    }
    taken = best_in_turns(runs, repeat)
    lines = [
        [name, f"{rows:,}", seconds(taken[name]), seconds(taken[name] / rows)] for name in runs
    ]
    show(Table("Calls of tools and JSON", ["rows of", "rows", "all", "each"], lines))
    hostile = []
    for name, text in MEGABYTE.items():
        found = best_in_turns(
            {
                "calls": lambda text=text: tool_call_reward([text], [GOLD]),
                "JSON": lambda text=text: json_schema_reward([text], SCHEMA),
            },
            repeat,
        )
        hostile.append([name, seconds(found["calls"]), seconds(found["JSON"])])
    show(Table("1 MB of text without a call or an object", ["of", "calls", "JSON"], hostile))


if __name__ == "__main__":
    main()
