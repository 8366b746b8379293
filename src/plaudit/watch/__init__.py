"""A recorded run in; a page on this machine that follows it while it trains, out.

    $ plaudit watch runs/1
    plaudit: watching on http://127.0.0.1:8951 (Ctrl-C ends it)

It shows curves over the steps, the rows of a step with their reasons, one prompt's completions
through time, and alarms: what looks wrong, in words, with the rows that show it.
"""

from plaudit.watch._alarms import Alarm, alarms_of
from plaudit.watch._command import add_arguments, run, watching
from plaudit.watch._steps import Step, step_of

__all__ = [
    "Alarm",
    "Step",
    "add_arguments",
    "alarms_of",
    "run",
    "step_of",
    "watching",
]
