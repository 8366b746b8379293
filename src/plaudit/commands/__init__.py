"""Arguments in, printed text out: `plaudit list`, `try` and `presets`, one module each.

Each module has `add_arguments(parser)` and `run(options)`, as the packages of other commands have.
`UsageError` and `add_column_arguments` are for several commands.
"""

from plaudit.commands._columns import add_column_arguments

__all__ = ["UsageError", "add_column_arguments"]


class UsageError(Exception):
    """Wrong usage of the command line; the message says what to do instead.

    >>> raise UsageError("no reward is called 'acuracy'")
    Traceback (most recent call last):
    ...
    plaudit.commands.UsageError: no reward is called 'acuracy'
    """
