"""What TRL logs in a step in; a line for a person out: each component's mean, and the time left."""

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, TextIO


def line_of(
    logs: Mapping[str, Any],
    components: Sequence[str],
    step: int,
    steps: int,
    seconds: float | None = None,
) -> str:
    """One line: the step, the mean total, each component's mean, the length, and what is left.

    logs: what TRL logs of a step, or of an evaluation, whose names begin with `eval_`
    seconds: how long the last step took; None for an evaluation

    >>> logs = {"reward": 1.46, "rewards/accuracy/mean": 0.52, "completions/mean_length": 61.0}
    >>> line_of(logs, ["accuracy"], step=12, steps=100, seconds=1.5)
    'step 12/100  total 1.460  accuracy 0.520  length 61.0  1.5 s a step, 2 min left'
    >>> line_of({"eval_reward": 1.5, "eval_rewards/accuracy/mean": 0.5}, ["accuracy"], 50, 100)
    'eval 50/100  total 1.500  accuracy 0.500'
    """
    kind, prefix = ("eval", "eval_") if seconds is None else ("step", "")
    parts = [f"{kind} {step}/{steps}", f"total {logs[prefix + 'reward']:.3f}"]
    means = {name: logs.get(f"{prefix}rewards/{name}/mean") for name in components}
    parts += [f"{name} {mean:.3f}" for name, mean in means.items() if mean is not None]
    if (length := logs.get(f"{prefix}completions/mean_length")) is not None:
        parts.append(f"length {length:.1f}")
    if seconds is not None:
        parts.append(f"{seconds:.1f} s a step, {_duration(seconds * (steps - step))} left")
    return "  ".join(parts)


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
        """Print the line of a step or an evaluation; other logs have no reward."""
        if "eval_reward" in logs:
            print(line_of(logs, self.components, step, steps), file=self._out, flush=True)
            self._last = (step, time.perf_counter())
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
