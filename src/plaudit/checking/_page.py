"""A summary in, and out comes a page with the first findings of each kind, by the report's look."""

from importlib.resources import files
from pathlib import Path

from plaudit.checking._findings import KINDS
from plaudit.checking._summary import CheckSummary
from plaudit.report import html_page, render_html

PAGE = "index.html"
AT_ONCE = 5  # findings of a kind that are open


def write_page(summary: CheckSummary, table: str, path: Path) -> None:
    """Write the page of a summary; `table` is what was checked."""
    body = render_html(
        _file("page.html.jinja"), summary=summary, kinds=KINDS, at_once=AT_ONCE, table=table
    )
    page = html_page(
        table,
        body,
        kind="plaudit check",
        about=_about(summary),
        styles=[_file("page.css")],
        scripts=[_file("page.js")],
    )
    path.write_text(page, encoding="utf-8", newline="\n")


def _about(summary: CheckSummary) -> str:
    formats = [
        f"{name} compares answers written as {how}." for name, how in summary.formats.items()
    ]
    return " ".join(formats)


def _file(name: str) -> str:
    return files("plaudit.checking").joinpath(name).read_text(encoding="utf-8")
