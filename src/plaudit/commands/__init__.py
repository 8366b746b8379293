"""The commands that need no package of their own: `plaudit list`, `try` and `presets`.

Each module has `add_arguments(parser)` and `run(options)`, as the packages of other commands have.
What several commands share is here too.
"""

from plaudit.commands._columns import add_column_arguments

__all__ = ["UsageError", "add_column_arguments"]


class UsageError(Exception):
    """Something that the person at the keyboard can mend; the message says how.

    >>> raise UsageError("no reward is called 'acuracy'")
    Traceback (most recent call last):
    ...
    plaudit.commands.UsageError: no reward is called 'acuracy'
    """
