"""`plaudit report`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from plaudit.cli.arguments import fail
from plaudit.reports import ROWS, ReportError, write_report


def run(
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
    step: the column of the training step, for curves (default: step, global_step or training_step)
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
