"""A parser in; the same parser out, with the arguments that say which columns are read."""

import argparse


def add_column_arguments(parser: argparse.ArgumentParser, *, guesses: bool = True) -> None:
    """Add --completions and --column to a parser.

    guesses: whether the command guesses the column of the completions

    >>> parser = argparse.ArgumentParser()
    >>> add_column_arguments(parser)
    >>> parser.parse_args(["--column", "solution=answer"]).column
    [('solution', 'answer')]
    """
    parser.add_argument(
        "--completions",
        metavar="COLUMN",
        help="the column with what the model wrote (default: completion or completions"
        f"{', else a guess by the name' if guesses else ', if there is one'})",
    )
    parser.add_argument(
        "--column",
        metavar="ARG=COLUMN",
        type=_mapping,
        action="append",
        default=[],
        help="the column that holds an argument of the rewards, such as solution=answer; may be "
        "repeated (default: the column of that name, else a guess)",
    )


def _mapping(text: str) -> tuple[str, str]:
    argument, _, column = text.partition("=")
    if not argument.isidentifier() or not column:
        raise argparse.ArgumentTypeError(f"expected ARG=COLUMN, got {text!r}")
    return argument, column
