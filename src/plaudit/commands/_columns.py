"""A parser in; the arguments that say which columns of a table are read, for each such command."""

import argparse


def add_column_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --completions and --column to a parser.

    >>> parser = argparse.ArgumentParser()
    >>> add_column_arguments(parser)
    >>> parser.parse_args(["--column", "solution=answer"]).column
    [('solution', 'answer')]
    """
    parser.add_argument(
        "--completions",
        metavar="COLUMN",
        help="the column that the model wrote (default: completion or completions, else a guess)",
    )
    parser.add_argument(
        "--column",
        metavar="ARG=COLUMN",
        type=_mapping,
        action="append",
        default=[],
        help="read a reward's argument from this column, such as solution=answer (default: the "
        "column of that name, else a guess)",
    )


def _mapping(text: str) -> tuple[str, str]:
    argument, _, column = text.partition("=")
    if not argument.isidentifier() or not column:
        raise argparse.ArgumentTypeError(f"expected ARG=COLUMN, got {text!r}")
    return argument, column
