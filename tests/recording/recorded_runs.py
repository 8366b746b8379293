"""Processes that record, to be killed and started anew by tests: `python recorded_runs.py …`.

They print a line for each step that is finished: "12".
"""

import sys
import time
from types import SimpleNamespace

import plaudit
from plaudit.scores import Score, reward


@reward
def right(completions, **kwargs):
    """1.0 where the completion ends with a 1, with an answer."""
    return [
        Score(
            float(text[-1] == "1"),
            f"It ends with {text[-1]}.",
            answer=text[-1],
            gold="1",
            right=text[-1] == "1",
        )
        for text in completions
    ]


@reward
def tagged(completions, **kwargs):
    """1.0 for everybody."""
    return [Score(1.0, "There is a tag.") for _ in completions]


def batch(process, step, rows):
    """A batch that says of each completion which row it is."""
    return {
        "prompts": [f"prompt {row // 4}" for row in range(rows)],
        "completions": [
            f"process {process} step {step} row {row} says {row % 2}" for row in range(rows)
        ],
        "solution": ["1"] * rows,
        "trainer_state": SimpleNamespace(global_step=step),
    }


def main(folder, process, first, steps, rows, pause=0.0):
    """Record steps, as a rank of a trainer does."""
    functions = plaudit.record([right, tagged], folder, weights=[1.0, 0.5])
    for step in range(first, steps):
        given = batch(process, step, rows)
        for function in functions:
            function(**given)
        print(step, flush=True)
        time.sleep(pause)


if __name__ == "__main__":
    folder, *numbers = sys.argv[1:]
    main(folder, *map(int, numbers[:4]), *map(float, numbers[4:]))
