"""`plaudit diff`."""

import json as json_text
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from plaudit.cli.arguments import Columns, Completions, fail
from plaudit.recipes import load, presets
from plaudit.reports.diff import compare, compare_recipes
from plaudit.tables import StoppedError

CHANGED, WRONG = 1, 2


def run(
    a: Annotated[str, "A"],
    b: Annotated[str, "B"],
    *,
    input: Annotated[Sequence[str], "FILE"] = (),  # noqa: A002
    completions: Completions = None,
    column: Columns = (),
    limit: int = 20,
    json: bool = False,
    out: Annotated[Path | None, "FILE"] = None,
    exit_code: bool = False,
) -> int:
    """Show which rows differ between two scored tables, and why.

    a: before: a folder that `plaudit score` wrote; with --input, a recipe
    b: after: the same
    input: score this file with the recipes A and B, and compare the results; may be repeated
    limit: how many changes to show (default: %(default)s)
    json: print one JSON object
    out: write every change to FILE, one per line, as JSON
    exit_code: exit with 1 if anything changed
    """
    try:
        if input:
            reading = completions, dict(column)
            found = compare_recipes(input, load(a), load(b), limit, out, sys.stderr, *reading)
            difference = replace(found, a=a, b=b)
        elif completions or column:
            raise ValueError(
                "--completions and --column say how to read a file: name it with --input FILE"
            )
        else:
            for name in (a, b):
                if not Path(name).is_dir() and (name in presets() or name.endswith(".toml")):
                    raise ValueError(
                        f"{name} is a recipe: name the file to score with --input FILE"
                    )
            difference = compare(a, b, limit, out)
    except (ValueError, OSError, ImportError, StoppedError) as error:
        return fail(WRONG, error)
    if json:
        print(json_text.dumps(difference.as_json(), ensure_ascii=False))
    else:
        print(difference.as_text())
    return CHANGED if exit_code and not difference.is_empty else 0
