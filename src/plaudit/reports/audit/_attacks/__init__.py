"""The attacks: functions that build completions which deserve nothing.

To add one, write it into the module that fits: `@attack` is all that it needs. `cost` and
`unstable` are measured in other ways.
"""

from plaudit.reports.audit._attack import CLASSES, Attack
from plaudit.reports.audit._attacks import no_answer, one_answer, several_answers, structured, tasks

_MODULES = (tasks, no_answer, several_answers, structured, one_answer)
_FOUND = [one for module in _MODULES for one in vars(module).values() if isinstance(one, Attack)]
ATTACKS: tuple[Attack, ...] = tuple(sorted(_FOUND, key=lambda one: CLASSES.index(one.kind)))
