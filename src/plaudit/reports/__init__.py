"""Reports on scored tables: one HTML page and its charts, which need no network.

    DIR/_report/index.html   the page: numbers, charts, examples, and a table of rows
    DIR/_report/*.png        the charts

Numbers are over every row. The page holds a limited number of rows, always the same ones, and only
the beginning and the end of very long texts; it says what it leaves out.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from plaudit.reports.chart import Chart, Line, line_chart

if TYPE_CHECKING:
    from plaudit.reports.page import figure, html_page, render_html
    from plaudit.reports.page import package_file as package_file

__all__ = [
    "Chart",
    "Line",
    "ReportError",
    "figure",
    "html_page",
    "line_chart",
    "render_html",
    "write_report",
]

ROWS = 20_000  # in the table of the page
NEEDED = ("altair", "jinja2", "pyarrow", "vl_convert")


def __getattr__(name: str) -> Any:
    """Import what makes pages when it is asked for: a command starts without Jinja and Vega."""
    if name in ("figure", "html_page", "package_file", "render_html"):
        return getattr(_import("plaudit.reports.page", "a page"), name)
    raise AttributeError(f"module 'plaudit.reports' has no attribute {name!r}")


class ReportError(Exception):
    """The report cannot be written; the message says why on one line.

    >>> write_report(Path("no/such/folder"))
    Traceback (most recent call last):
    ...
    plaudit.reports.ReportError: there is no folder no/such/folder
    """


def write_report(
    directory: Path | str,
    other: Path | str | None = None,
    *,
    out: Path | str | None = None,
    rows: int = ROWS,
    by: str | Sequence[str] = (),
    correct: str | None = None,
    step: str | None = None,
    label: str | None = None,
    images: Path | str | None = None,
    progress: TextIO | None = None,
) -> Path:
    """Write the report of a scored folder, or of two side by side; return the path of its page.

    directory: a folder that `plaudit score` or `plaudit.record` wrote
    other: another such folder, to show next to the first; the page then shows what changed from the
        first to this one. Default: the report is of one run
    out: the folder to write; default: `_report` in the scored folder; of two: `_report/against-A`
        in the second, where A is the name of the first
    rows: how many rows the page's table holds at most; default: 20,000. Numbers and charts are over
        all rows, however many there are
    by: a column to split the numbers by, such as "source", or several; default: the columns that
        have a few short values, at most six
    correct: the component that decides which rows are right, such as "accuracy_reward"; default:
        the first that does so and whose name contains "accuracy", else the first that does so
    step: the column that holds the training step, for curves; default: `step`, `global_step` or
        `training_step`
    label: the column in which a person has said whether a row is right, to see where the reward
        disagrees: true or false, a number from 0 to 1, or a word such as "correct"; default:
        `label`, if it holds such values
    images: the folder that images may be read from; default: the folders of the inputs, and the
        scored folder; a report of two runs shows none
    progress: where to write how much is done if it takes long, such as sys.stderr; default: nowhere

    >>> import json, tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> folder = Path(tempfile.mkdtemp())
    >>> reason = {"component": "accuracy_reward", "value": 1.0, "status": "equal", "answer": "4",
    ...           "gold": "4", "decided_by": "same text", "why": "4 is equal to the gold 4.",
    ...           "right": True, "ungated": None, "partial_gold": False}
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
    report = _import("plaudit.reports._report", "a report")
    from plaudit.reports._scored_run import ReportOptions
    from plaudit.tables import InputError
    from plaudit.tables.summary import ProgressLine

    folders = [Path(folder) for folder in (directory, other) if folder is not None]
    pages = folders[-1] / "_report"
    if other is not None:
        pages /= f"against-{folders[0].resolve().name}"
    columns = (by,) if isinstance(by, str) else tuple(by)
    options = ReportOptions(correct=correct, by=columns, step=step, label=label)
    images = None if images is None else Path(images)
    try:
        with ProgressLine(progress) as line:
            page: Path = report.write_page(folders, Path(out or pages), rows, options, images, line)
            return page
    except InputError as error:
        raise ReportError(str(error)) from error
    except OSError as error:
        where = error.filename or out or directory
        raise ReportError(f"cannot read or write {where}: {error.strerror or error}") from error


def _import(module: str, what: str) -> Any:
    """Import a module; say which extra to install if a package that pages need is missing."""
    try:
        return import_module(module)
    except ImportError as missing:
        if missing.name not in NEEDED:
            raise
        raise ReportError(
            f"{what} needs {missing.name}: pip install 'plaudit[report]'"
        ) from missing
