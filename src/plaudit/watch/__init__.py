"""A recorded run in, or two; out comes a web page that follows the run while it trains.

    $ plaudit watch runs/1
    plaudit: watching on http://127.0.0.1:8951 (Ctrl-C ends it)

The page shows curves over the steps, the rows of a step and why each got its values, one prompt's
completions over time, and alarms: what looks wrong, in words, with the rows that show it. It is
served on this machine alone.
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
