"""Recorded runs in; a web page that follows them while they train out.

    $ plaudit watch runs/1
    plaudit: watching on http://127.0.0.1:8951 (Ctrl-C ends it)

The page shows curves over the steps, the rows of a step and why each got its values, one prompt's
completions over time, and alarms: what looks wrong, in words, with the rows that show it. It is
served on this machine alone, unless `--host` says otherwise.
"""

from plaudit.watch._command import add_arguments, run, watching

__all__ = ["add_arguments", "run", "watching"]
