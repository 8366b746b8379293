"""A scored folder in; one HTML page and its charts out, which need no network.

    DIR/_report/index.html   the page: numbers, charts, examples, and a table of rows
    DIR/_report/*.png        the charts

Numbers are over every row. The page holds a limited number of rows, always the same ones, and only
the beginning and the end of very long texts; it says what it leaves out.
"""

import argparse
import sys
from pathlib import Path

ROWS = 20_000  # in the table of the page
NEEDED = ("altair", "jinja2", "pyarrow", "vl_convert")

__all__ = ["ReportError", "add_arguments", "run", "write_report"]


class ReportError(Exception):
    """The report cannot be written; the message says why on one line.

    >>> write_report(Path("no/such/folder"))
    Traceback (most recent call last):
    ...
    plaudit.report.ReportError: there is no folder no/such/folder
    """


def write_report(
    directory: Path,
    *,
    out: Path | None = None,
    rows: int = ROWS,
    correct: str | None = None,
    images: Path | None = None,
) -> Path:
    """Write the report of a scored folder, and return the path of its page.

    directory: a folder that `plaudit score` wrote
    out: the folder to write; default: `_report` in the scored folder
    rows: how many rows the page's table holds at most
    correct: the component that decides which rows are right, such as "accuracy_reward"; default:
        the first that does so and whose name contains "accuracy", else the first that does so
    images: the folder that images may be read from; default: the folders of the inputs, and the
        scored folder

    >>> import json, tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> folder = Path(tempfile.mkdtemp())
    >>> reason = {"component": "accuracy_reward", "value": 1.0, "status": "equal", "answer": "4",
    ...           "gold": "4", "method": "same text", "why": "4 is equal to the gold 4.",
    ...           "right": True, "ungated": None, "gold_in_part": False}
    >>> row = {"row_id": 0, "group_id": "a", "prompt": "2 + 2?", "completion": "It is 4.",
    ...        "accuracy_reward": 1.0, "total": 1.0, "status": "scored", "explanation": [reason]}
    >>> pq.write_table(pa.Table.from_pylist([row]), folder / "part-00000.parquet")
    >>> _ = (folder / "_run.json").write_text(json.dumps({"components": ["accuracy_reward"]}))
    >>> page = write_report(folder)
    >>> page.name, sorted(file.name for file in page.parent.glob("*.png"))[:2]
    ('index.html', ['at-k.png', 'component-01-accuracy_reward.png'])
    """
    if rows < 1:
        raise ReportError(f"rows must be 1 or more, got {rows}")
    try:
        from plaudit.report._write import write
        from plaudit.scoring import InputError
    except ImportError as missing:
        if missing.name not in NEEDED:
            raise
        raise ReportError(
            f"a report needs {missing.name}: pip install 'plaudit[report]'"
        ) from missing
    try:
        return write(directory, out or directory / "_report", rows, correct, images)
    except InputError as error:
        raise ReportError(str(error)) from error
    except OSError as error:
        where = error.filename or out or directory
        raise ReportError(f"cannot write {where}: {error.strerror or error}") from error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plaudit report` to a parser.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["runs/1", "--rows", "500"]).rows
    500
    """
    parser.add_argument(
        "directory", metavar="DIR", type=Path, help="the folder that `plaudit score` wrote"
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="the folder to write (default: DIR/_report)"
    )
    parser.add_argument(
        "--rows",
        metavar="N",
        type=int,
        default=ROWS,
        help=f"rows in the page's table at most (default: {ROWS:,}); numbers are over all rows",
    )
    parser.add_argument(
        "--correct",
        metavar="COMPONENT",
        help="the component that decides which rows are right (default: the first that does so "
        'and whose name contains "accuracy", else the first that does so)',
    )
    parser.add_argument(
        "--images",
        metavar="DIR",
        type=Path,
        help="the folder that images may be read from (default: the folders of the inputs, and "
        "DIR); others are not shown",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the report that the arguments ask for, and return the exit code.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> run(parser.parse_args(["nowhere"]))
    2
    """
    try:
        page = write_report(
            arguments.directory,
            out=arguments.out,
            rows=arguments.rows,
            correct=arguments.correct,
            images=arguments.images,
        )
    except ReportError as error:
        print(f"plaudit: {error}", file=sys.stderr)
        return 2
    print(page)
    return 0
