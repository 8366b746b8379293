"""What looks wrong in a recorded run, in words, by rules that a person can check.

    run = plaudit.recording.open_recorded("runs/1")
    run.refresh()
    alarms_of([step_of(step, run.lines(step)) for step in run.steps])

The page of `plaudit watch` shows the alarms, and a run that is recorded writes each to its log.
"""

from plaudit.alarms._rules import RULES, Alarm, AlarmLog, alarms_of
from plaudit.alarms._steps import Spread, Step, spread_of, step_of

__all__ = ["RULES", "Alarm", "AlarmLog", "Spread", "Step", "alarms_of", "spread_of", "step_of"]
