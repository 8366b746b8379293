"""Find what pays without being right: attacks on a recipe or a reward, and their share of the pay.

    $ plaudit audit rows.jsonl --recipe math
    $ plaudit audit rows.jsonl --reward my_rewards:accuracy --out audited

Attacks are built from the rows and from what the rewards name, scored in a process of their own,
and compared with what an honest right answer earns. docs/audit.md has the classes.
"""

from plaudit.reports.audit._attack import Case, attack
from plaudit.reports.audit._audit import ROWS as ROWS
from plaudit.reports.audit._audit import audit
from plaudit.reports.audit._audit import recipe_of as recipe_of
from plaudit.reports.audit._findings import Audit
from plaudit.reports.audit._findings import write_page as write_page

__all__ = ["Audit", "Case", "attack", "audit"]
