"""A web page that follows recorded runs while they train.

    $ plaudit watch runs/1
    plaudit: watching on http://127.0.0.1:8951 (Ctrl-C ends it)

The page shows curves over the steps, the rows of a step and why each got its values, one prompt's
completions over time, and alarms: what looks wrong, in words, with the rows that show it. It is
served on this machine alone, unless `--host` says otherwise.
"""

from plaudit.reports.watch._page import WatchedRun as WatchedRun
from plaudit.reports.watch._page import address_of as address_of
from plaudit.reports.watch._page import runs_of as runs_of
from plaudit.reports.watch._page import server_of as server_of
from plaudit.reports.watch._page import watching

__all__ = ["watching"]
