"""Train a model with unmodified TRL and a recipe, from a TOML file.

    model = "Qwen/Qwen2.5-0.5B-Instruct"
    data = "train.jsonl"
    recipe = "trl-reasoning"
    output = "runs/first"

    [trainer]
    learning_rate = 1e-6
    max_steps = 500

`plaudit train RUN.toml` prints the mean of each component in each step, records every batch in
`output/record`, and continues from its last checkpoint when it is called again.
"""

from plaudit.train._training import read_run as read_run
from plaudit.train._training import train

__all__ = ["train"]
