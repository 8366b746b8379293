"""Summary, charts, pictures and rows in; one HTML file out, with everything that it needs.

What a model wrote is never markup: Jinja escapes what it puts into the page, and the rows are
compressed JSON, which the script puts into the page as text only. A content security policy allows
the scripts of the page by their hashes, and no request at all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.report._agreement import LISTED
from plaudit.report._boxes import Picture
from plaudit.report._content import Run
from plaudit.report._folder import completion_text, prompt_text
from plaudit.report._sample import CUT, LONGEST, Sample
from plaudit.report._skeleton import html_page, package_file, packed, render_html
from plaudit.report._table import RowTable, value_of
from plaudit.report._theme import Chart
from plaudit.scores import STATUSES

_LINE = 220  # characters of a text in a list
_SCRIPTS = ("latex.js", "row.js", "page.js")


@dataclass(frozen=True, slots=True)
class Content:
    """All that the page shows, except the rows of its table."""

    run: Run
    sample: Sample
    charts: list[Chart]
    pictures: list[Picture]


@dataclass(frozen=True, slots=True)
class RowExcerpt:
    """The beginning of a row's texts, for the lists of the page."""

    row: int
    prompt: str
    completion: str
    why: str


def page_of(content: Content, rows: Iterable[tuple[int, dict[str, Any]]], vega: str) -> str:
    """The page as HTML; `rows` are those of its table, each with its place."""
    run, excerpts = content.run, {}
    table, referenced = RowTable([run]), _referenced(content)
    for place, row in rows:
        table.add(0, place, row, place in content.sample.full)
        if place in referenced:
            excerpts[place] = excerpt_of(run, row)
    values = {
        "content": content,
        "run": run,
        "summary": run.summary,
        "signal": run.summary.signal,
        "groups": run.summary.groups,
        "agreement": run.agreement,
        "listed": LISTED,
        "excerpts": excerpts,
        "statuses": in_order(run.summary.statuses),
        "charts": {chart.name: chart for chart in content.charts},
        "component_charts": _component_charts(content),
        "curve_charts": [chart for chart in content.charts if chart.name.startswith("steps-")],
        **table_values([run], len(content.sample.places), len(content.sample.full)),
    }
    return with_rows(
        run.name,
        render_html(package_file("page.html.jinja"), values),
        about=render_html(package_file("about.html.jinja"), values),
        sections=_sections(content),
        charts=content.charts,
        table=table,
        vega=vega,
    )


def with_rows(
    heading: str,
    body: str,
    *,
    about: str,
    sections: Mapping[str, str],
    charts: list[Chart],
    table: RowTable,
    vega: str,
) -> str:
    """A page with a table of rows, and with KaTeX if one of them has a formula."""
    data, latex = table.data(), table.has_latex
    katex = [package_file("katex/katex.min.js")] if latex else []
    return html_page(
        heading,
        body,
        kind="plaudit report",
        about=about,
        sections=sections,
        charts=charts,
        data={"data": packed(data)},
        styles=[package_file("katex/katex.min.css")] if latex else [],
        scripts=[*katex, "\n".join(map(package_file, _SCRIPTS))],
        vega=vega,
        fetches=False,
        after=render_html(package_file("row.html.jinja"), {"latex": latex}),
    )


def table_values(runs: Sequence[Run], shown: int, full: int) -> dict[str, Any]:
    """What the section of the rows says of them."""
    return {
        "runs": runs,
        "all_rows": sum(run.summary.rows for run in runs),
        "shown": shown,
        "full": full,
        "cut": CUT,
        "longest": LONGEST,
        "columns": list(dict.fromkeys(name for run in runs for name in run.folder.others)),
        "labelled": any(run.agreement for run in runs),
    }


def _sections(content: Content) -> dict[str, str]:
    """The sections of the page, for its navigation."""
    run = content.run
    found = {
        "components": ("Components", True),
        "steps": ("Steps", run.curves),
        "split": ("By column", run.breakdowns),
        "agreement": ("Agreement", run.agreement),
        "groups": ("Groups", True),
        "together": ("Length and correlation", True),
        "trouble": ("Trouble", True),
        "prompts": ("Prompts", True),
        "boxes": ("Boxes", content.pictures),
        "rows": ("Rows", True),
    }
    return {name: title for name, (title, there) in found.items() if there}


def in_order(statuses: Mapping[str, int]) -> dict[str, int]:
    """The statuses, best first, then any that are not plaudit's own."""
    known = [status for status in reversed(STATUSES) if status in statuses]
    return {status: statuses[status] for status in dict.fromkeys([*known, *statuses])}


def _component_charts(content: Content) -> list[tuple[str, Any, Chart | None]]:
    """Each component's name, spread and histogram; the total is the first."""
    by_filter = {chart.filter: chart for chart in content.charts if chart.filter}
    spreads = {"total": content.run.summary.total, **content.run.summary.spreads}
    return [(name, spread, by_filter.get(name)) for name, spread in spreads.items()]


def _referenced(content: Content) -> set[int]:
    sample, first = content.sample, content.run.summary.groups.first
    groups = [*sample.hardest, *sample.contested, *sample.without_signal]
    examples = [place for places in sample.examples.values() for place in places]
    return {
        *examples,
        *disagreeing(content.run, LISTED),
        *(int(first[group]) for group in groups),
        *(p.place for p in content.pictures),
    }


def disagreeing(run: Run, most: int) -> list[int]:
    """The places of rows where the reward and the label disagree, so many of each kind at most."""
    found = run.agreement
    return [] if not found else [*found.wrongly_paid[:most], *found.wrongly_refused[:most]]


def excerpt_of(run: Run, row: dict[str, Any]) -> RowExcerpt:
    """The beginning of a row's texts: of why it has its status, or why it is right or wrong."""
    folder, explained = run.folder, row["explanation"] or []
    name, wanted = "status", row["status"]
    if wanted == "scored" and run.summary.correct:
        name, wanted = "component", run.summary.correct
    bad = [entry for entry in explained if entry[name] == wanted] or explained
    return RowExcerpt(
        row["row_id"],
        _one_line(prompt_text(value_of(row, folder.prompt))),
        _one_line(completion_text(value_of(row, folder.completion)), from_end=True),
        _one_line(str(bad[0]["why"] or "")) if bad else "",
    )


def _one_line(text: str, from_end: bool = False) -> str:
    """The text on one line; if it is long, its beginning or its end."""
    # Cut twice: a text may be long, and so may its white space.
    text = text[-4 * _LINE :] if from_end else text[: 4 * _LINE]
    line = " ".join(text.split())
    if len(line) <= _LINE:
        return line
    return "…" + line[-_LINE:] if from_end else line[:_LINE] + "…"
