"""Score a small file of completions, and show what each got and why.

    python examples/demo/run.py [ROLLOUTS.jsonl]

One completion per line, with everything that its reward needs:

    {"prompt": "How many legs have 3 spiders?", "reward": "trl.get_cosine_scaled_reward",
     "params": {"max_len": 16}, "completion": "\\\\boxed{24}", "solution": "24",
     "columns": {"completion_ids": [0, 1, 2, 3, 4]}}
"""

import json
import os
import shutil
import sys
import time
from importlib import import_module
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import Any

import plaudit
from plaudit.inputs.completions import text_of

HERE = Path(__file__).parent


def main() -> None:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "rollouts.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    os.chdir(file.parent)  # the paths of images are relative to the file
    width = min(max(shutil.get_terminal_size((100, 0)).columns, 80), 140)
    start = time.perf_counter()
    for (prompt, reward), group in groupby(rows, key=lambda row: (row["prompt"], row["reward"])):
        print(f"\n{prompt}  [{reward}]\n" + "─" * width)
        for row in group:
            print(table_row(row, score_of(row), width))
    seconds = time.perf_counter() - start
    print(f"\n{len(rows)} completions of {len({row['prompt'] for row in rows})} prompts ", end="")
    print(f"scored in {seconds:.1f} s")


def score_of(row: dict[str, Any]) -> Any:
    system, name = row["reward"].split(".")
    reward = getattr(import_module(f"plaudit.rewards.{system}"), name)
    if name.startswith("get_"):
        reward = reward(**row.get("params", {}))
    columns = row.get("columns", {})
    return plaudit.explain(reward, row["completion"], row.get("solution"), **columns)


def table_row(row: dict[str, Any], score: Any, width: int) -> str:
    """The value, the completion in a third of the width, and the reason in the rest."""
    third = width // 3
    value = "skip" if score.value is None else f"{score.value + 0:.2f}"  # + 0: no -0.00
    text = cut(text_of(row["completion"]), third) or "(no text)"
    first, *more = wrap(score.why, width - third - 10)
    indent = " " * (third + 10)
    return "\n".join([f"{value:>6}  {text:<{third}}  {first}", *(indent + line for line in more)])


def cut(text: str, width: int) -> str:
    """The text on one line; if it is too long, its beginning and its end."""
    line = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
    half = width // 2
    return line if len(line) <= width else line[: width - half - 1] + "…" + line[-half:]


if __name__ == "__main__":
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:  # as in `make demo | head`: nobody reads the rest
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
