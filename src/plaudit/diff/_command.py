"""`plaudit diff`: arguments in; a comparison, printed, and an exit code out."""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from plaudit.commands import add_column_arguments
from plaudit.diff._compare import compare, compare_recipes

if TYPE_CHECKING:
    from plaudit.diff._difference import Difference

CHANGED, WRONG = 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plaudit diff` to a parser.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["runs/a", "runs/b", "--limit", "3"]).limit
    3
    """
    what = "a folder that `plaudit score` wrote; with --input, a recipe"
    parser.add_argument("a", metavar="A", help=f"before: {what}")
    parser.add_argument("b", metavar="B", help="after: the same")
    parser.add_argument(
        "--input",
        metavar="FILE",
        action="append",
        default=[],
        help="score this file with the recipes A and B, and compare the results; may be repeated",
    )
    add_column_arguments(parser)
    parser.add_argument(
        "--limit", metavar="N", type=int, default=20, help="how many changes to show (default: 20)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--out", metavar="FILE", type=Path, help="write every change to FILE, one per line, as JSON"
    )
    parser.add_argument("--exit-code", action="store_true", help="exit with 1 if anything changed")


def run(arguments: argparse.Namespace) -> int:
    """Compare, print, and return the exit code: 2 if the runs cannot be compared.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> run(parser.parse_args(["no-such-run", "another"]))
    2
    """
    try:
        difference = _difference(arguments)
    except (ValueError, OSError, ImportError) as error:
        print(f"plaudit: {error}", file=sys.stderr)
        return WRONG
    if arguments.json:
        print(json.dumps(difference.as_json(), ensure_ascii=False))
    else:
        print(difference.as_text())
    return CHANGED if arguments.exit_code and not difference.is_empty else 0


def _difference(arguments: argparse.Namespace) -> "Difference":
    from plaudit.recipes import load, presets
    from plaudit.scoring import InputError, StoppedError

    if not arguments.input:
        if arguments.completions or arguments.column:
            raise ValueError(
                "--completions and --column say how to read a file: name it with --input FILE"
            )
        for name in (arguments.a, arguments.b):
            if not Path(name).is_dir() and (name in presets() or name.endswith(".toml")):
                raise ValueError(f"{name} is a recipe: name the file to score with --input FILE")
        return compare(Path(arguments.a), Path(arguments.b), arguments.limit, arguments.out)

    recipes = load(arguments.a), load(arguments.b)
    try:
        difference = compare_recipes(
            arguments.input,
            *recipes,
            arguments.limit,
            arguments.out,
            sys.stderr,
            arguments.completions,
            dict(arguments.column),
        )
    except (InputError, StoppedError) as error:
        raise ValueError(str(error)) from error
    return replace(difference, a=arguments.a, b=arguments.b)
