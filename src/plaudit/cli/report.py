"""`plaudit report` and `plaudit diff`, on folders that `plaudit score` wrote."""

import json as json_text
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from plaudit.cli.arguments import Columns, Completions, fail
from plaudit.recipes import load, presets
from plaudit.reports import ROWS, ReportError, write_report
from plaudit.reports.diff import compare, compare_recipes
from plaudit.tables import StoppedError


def run_report(
    directory: Annotated[Path, "DIR"],
    other: Annotated[Path | None, "OTHER"] = None,
    *,
    out: Annotated[Path | None, "DIR"] = None,
    by: Annotated[Sequence[str], "COLUMN"] = (),
    rows: int = ROWS,
    step: Annotated[str | None, "COLUMN"] = None,
    label: Annotated[str | None, "COLUMN"] = None,
    correct: Annotated[str | None, "COMPONENT"] = None,
    images: Annotated[Path | None, "DIR"] = None,
) -> int:
    """Write an HTML report on a folder that `plaudit score` wrote.

    directory: the folder that `plaudit score` wrote
    other: another such folder: the report shows both runs side by side
    out: the folder to write (default: DIR/_report; of two runs: OTHER/_report/against-DIR)
    by: split the numbers by a column, such as source; may be repeated (default: the columns that
        have a few short values)
    rows: rows in the page's table at most (default: %(default)s); numbers are over all rows
    step: the column of the training step, for curves (default: step, global_step and others)
    label: the column in which a person has said whether a row is right, to compare the reward with
        (default: label)
    correct: the component that decides which rows are right (default: the first that does so and
        whose name contains "accuracy", else the first that does so)
    images: the folder that images may be read from (default: the folders of the inputs, and DIR);
        others are not shown
    """
    try:
        page = write_report(
            directory,
            other,
            out=out,
            rows=rows,
            by=by,
            correct=correct,
            step=step,
            label=label,
            images=images,
            progress=sys.stderr,
        )
    except ReportError as error:
        return fail(2, error)
    print(page)
    return 0


CHANGED, WRONG = 1, 2


def run_diff(
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
