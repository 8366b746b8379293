"""What TRL logs in a step in; a line for a person out: each component's mean, and the time left."""

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, TextIO


def line_of(
    logs: Mapping[str, Any], components: Sequence[str], step: int, steps: int, seconds: float
) -> str:
    """One line: the step, the mean total, each component's mean, the length, and what is left.

    seconds: how long the last step took

    >>> logs = {"reward": 1.46, "rewards/accuracy/mean": 0.52, "completions/mean_length": 61.0}
    >>> line_of(logs, ["accuracy"], step=12, steps=100, seconds=1.5)
    'step 12/100  total 1.460  accuracy 0.520  length 61.0  1.5 s a step, 2 min left'
    """
    told = [f"step {step}/{steps}", f"total {logs['reward']:.3f}"]
    means = {name: logs.get(f"rewards/{name}/mean") for name in components}
    told += [f"{name} {mean:.3f}" for name, mean in means.items() if mean is not None]
    if (length := logs.get("completions/mean_length")) is not None:
        told.append(f"length {length:.1f}")
    told.append(f"{seconds:.1f} s a step, {_duration(seconds * (steps - step))} left")
    return "  ".join(told)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


class Progress:
    """Prints a line for each step that a trainer logs.

    >>> Progress(["accuracy"]).components
    ['accuracy']
    """

    def __init__(self, components: Sequence[str], out: TextIO | None = None) -> None:
        self.components = list(components)
        self._out = out or sys.stdout
        self._last = (0, time.perf_counter())

    def log(self, logs: Mapping[str, Any], step: int, steps: int) -> None:
        """Print the line of a step; logs without a reward are not those of a step."""
        if "reward" not in logs:
            return
        now = time.perf_counter()
        before, then = self._last
        seconds = (now - then) / max(step - before, 1)
        self._last = (step, now)
        print(line_of(logs, self.components, step, steps, seconds), file=self._out, flush=True)

    def start(self, step: int) -> None:
        """Count the time from here on."""
        self._last = (step, time.perf_counter())
