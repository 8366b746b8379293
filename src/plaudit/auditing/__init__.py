"""A recipe and rows in; out come its holes: what pays without being right, and how much.

    $ plaudit audit rows.jsonl --recipe math
    $ plaudit audit rows.jsonl --reward my_rewards:accuracy --out audited

Attacks are built from the rows and from what the rewards name, scored in a process of their own,
and compared with what an honest right answer earns. docs/audit.md has the classes.
"""

from plaudit.auditing._attacks import CLASSES, Attack, attack
from plaudit.auditing._audit import audit
from plaudit.auditing._cases import Case
from plaudit.auditing._command import add_arguments, run
from plaudit.auditing._findings import Audit, Example, Finding, Tried

__all__ = [
    "CLASSES",
    "Attack",
    "Audit",
    "Case",
    "Example",
    "Finding",
    "Tried",
    "add_arguments",
    "attack",
    "audit",
    "run",
]
