"""A scored folder in, or two; one HTML page and its charts out, which need no network.

    DIR/_report/index.html   the page: numbers, charts, examples, and a table of rows
    DIR/_report/*.png        the charts

Numbers are over every row. The page holds a limited number of rows, always the same ones, and only
the beginning and the end of very long texts; it says what it leaves out.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from plaudit.report._line_chart import Line, line_chart
from plaudit.report._theme import Chart

if TYPE_CHECKING:
    from markupsafe import Markup

    from plaudit.report._skeleton import Packed

ROWS = 20_000  # in the table of the page
NEEDED = ("altair", "jinja2", "pyarrow", "vl_convert")

__all__ = [
    "Chart",
    "Line",
    "ReportError",
    "add_arguments",
    "completion_text",
    "figure",
    "html_page",
    "line_chart",
    "packed",
    "prompt_text",
    "render_html",
    "run",
    "vega_script",
    "write_report",
]


class ReportError(Exception):
    """The report cannot be written; the message says why on one line.

    >>> write_report(Path("no/such/folder"))
    Traceback (most recent call last):
    ...
    plaudit.report.ReportError: there is no folder no/such/folder
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
    other: another such folder, to show beside the first; the page then shows what changed from the
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
    with _needing("a report"):
        from plaudit.report._folder import Asked
        from plaudit.report._progress import Progress
        from plaudit.report._write import write, write_comparison
        from plaudit.scoring import InputError
    directory = Path(directory)
    columns = (by,) if isinstance(by, str) else tuple(by)
    asked = Asked(correct=correct, by=columns, step=step, label=label)
    images = None if images is None else Path(images)
    try:
        with Progress(progress) as told:
            if other is None:
                place = Path(out or directory / "_report")
                return write(directory, place, rows, asked, images, told)
            other = Path(other)
            place = Path(out or other / "_report" / f"against-{directory.resolve().name}")
            return write_comparison((directory, other), place, rows, asked, told)
    except InputError as error:
        raise ReportError(str(error)) from error
    except OSError as error:
        where = error.filename or out or directory
        raise ReportError(f"cannot read or write {where}: {error.strerror or error}") from error


@contextmanager
def _needing(what: str) -> Iterator[None]:
    """Say which extra to install where a package that pages need is missing."""
    try:
        yield
    except ImportError as missing:
        if missing.name not in NEEDED:
            raise
        raise ReportError(
            f"{what} needs {missing.name}: pip install 'plaudit[report]'"
        ) from missing


def html_page(
    heading: str,
    body: str,
    *,
    kind: str = "plaudit",
    about: str = "",
    sections: Mapping[str, str] | None = None,
    charts: Sequence[Chart] = (),
    data: Mapping[str, Any] | None = None,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    vega: str | None = None,
    fetches: bool = False,
) -> str:
    """A page with the look of the report, as HTML in one file that needs no network.

    heading: its title, as text
    body: what it shows: HTML that `render_html` gave; a plain string is shown as text
    kind: the line above the heading, such as "plaudit audit"
    about: what stands under the heading: text, or HTML that `render_html` gave
    sections: for the navigation: the id of a section of the body -> its name
    charts: those for which the body has a `figure`; `plaudit.drawCharts()` in a script draws them
    data: id -> what a script may read: anything that JSON can hold by `plaudit.json(id)`, or
        what `packed` gave by `await plaudit.unpacked(id)`
    styles, scripts: CSS and JavaScript of the page's own, after those that all pages have; the
        functions of the latter are in the object `plaudit`, see `shared.js`
    vega: what `vega_script` gave; needed only by a page that fetches its charts. Default: made,
        which takes some seconds, if there are charts
    fetches: whether its scripts may ask the server that it comes from; else they may ask nobody

    >>> page = html_page("Findings", render_html("<p>{{ text }}</p>", text="1 < 2"), kind="check")
    >>> "<h1>Findings</h1>" in page, "<p>1 &lt; 2</p>" in page
    (True, True)
    """
    with _needing("a page"):
        from plaudit.report import _skeleton
    if charts and vega is None:
        vega = vega_script()
    return _skeleton.html_page(
        heading,
        body,
        kind=kind,
        about=about,
        sections=sections or {},
        charts=charts,
        data=data or {},
        styles=styles,
        scripts=scripts,
        vega=vega,
        fetches=fetches,
    )


def render_html(template: str, /, **values: Any) -> "Markup":
    """A Jinja template and its values as HTML; the values are escaped.

    Filters beside Jinja's own: number, count, percent, plural, pretty; and the function `figure`.

    >>> render_html("<b>{{ share | percent }}</b> of {{ n | plural('row') }}", share=0.25, n=1200)
    Markup('<b>25.0%</b> of 1,200 rows')
    """
    with _needing("a page"):
        from plaudit.report import _skeleton
    return _skeleton.render_html(template, values)


def figure(chart: Chart) -> "Markup":
    """The place of a chart in the body of a page, where `plaudit.drawCharts()` draws it.

    >>> chart = Chart("curve", "Total over the steps", line_chart([Line("total", [1], [0.5])]))
    >>> figure(chart)[:42]
    Markup('<figure class="chart" data-chart="curve" r')
    """
    with _needing("a page"):
        from plaudit.report import _skeleton
    return _skeleton.figure(chart)


def packed(data: Any) -> "Packed":
    """Much data for a page, as compressed JSON: `await plaudit.unpacked(id)` reads it there.

    >>> page = html_page("Rows", "", data={"rows": packed([1, 2, 3])})
    >>> 'id="rows"' in page
    True
    """
    with _needing("a page"):
        from plaudit.report import _skeleton
    return _skeleton.packed(data)


def vega_script() -> str:
    """The script that draws charts, some 800 kB; making it takes seconds, so keep it.

    >>> "vegaEmbed" in vega_script()
    True
    """
    with _needing("a page with charts"):
        from plaudit.report._bundle import bundling
    with bundling() as script:
        return script()


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
        "other",
        metavar="OTHER",
        type=Path,
        nargs="?",
        help="another such folder: the report shows both runs side by side",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="the folder to write (default: DIR/_report; of two runs: OTHER/_report/against-DIR)",
    )
    parser.add_argument(
        "--by",
        metavar="COLUMN",
        action="append",
        default=[],
        help="split the numbers by a column, such as source; may be repeated (default: the "
        "columns that have a few short values)",
    )
    parser.add_argument(
        "--rows",
        metavar="N",
        type=int,
        default=ROWS,
        help=f"rows in the page's table at most (default: {ROWS:,}); numbers are over all rows",
    )
    parser.add_argument(
        "--step",
        metavar="COLUMN",
        help="the column of the training step, for curves (default: step, global_step or "
        "training_step)",
    )
    parser.add_argument(
        "--label",
        metavar="COLUMN",
        help="the column in which a person has said whether a row is right, to compare the reward "
        "with (default: label)",
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
            arguments.other,
            out=arguments.out,
            rows=arguments.rows,
            by=arguments.by,
            correct=arguments.correct,
            step=arguments.step,
            label=arguments.label,
            images=arguments.images,
            progress=sys.stderr,
        )
    except ReportError as error:
        print(f"plaudit: {error}", file=sys.stderr)
        return 2
    print(page)
    return 0


def completion_text(value: Any) -> str:
    """The text of a completion in a scored table, even if it was kept as messages in JSON.

    >>> completion_text('[{"role": "assistant", "content": "It is 4."}]')
    'It is 4.'
    """
    with _needing("a page"):
        from plaudit.report import _folder
    return _folder.completion_text(value)


def prompt_text(value: Any) -> str:
    """The text of a prompt in a scored table; if it is several messages, each with its role.

    >>> prompt_text([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])
    'system: Be brief.\\n\\nuser: Hi'
    """
    with _needing("a page"):
        from plaudit.report import _folder
    return _folder.prompt_text(value)
