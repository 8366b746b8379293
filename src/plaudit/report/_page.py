"""Summary, charts, pictures and rows in; one HTML file out, with everything that it needs.

What a model wrote is never markup: Jinja escapes what it puts into the page, and the rows are
compressed JSON, which the script puts into the page as text only. A content security policy allows
the two scripts of the page by their hashes, and no request at all.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from plaudit.report._boxes import Picture
from plaudit.report._folder import Folder, Numbers, RejectedRows, completion_text, prompt_text
from plaudit.report._sample import CUT, LONGEST, Sample, cut, json_number
from plaudit.report._skeleton import html_page, package_file, packed, render_html
from plaudit.report._summary import Summary
from plaudit.report._theme import Chart
from plaudit.scores import STATUSES

_PROMPT, _REASON = 4000, 2000  # characters, in rows with their whole text
_CUT_PROMPT, _CUT_REASON = 300, 160  # and in the others
_LINE = 220  # characters of a text in a list


@dataclass(frozen=True, slots=True)
class Content:
    """All that the page shows, except the rows of its table."""

    folder: Folder
    numbers: Numbers
    summary: Summary
    sample: Sample
    charts: list[Chart]
    pictures: list[Picture]
    rejected: RejectedRows


@dataclass(frozen=True, slots=True)
class RowExcerpt:
    """The beginning of a row's texts, for the lists of the page."""

    row: int
    prompt: str
    completion: str
    why: str


def page_of(content: Content, rows: Iterable[tuple[int, dict[str, Any]]], vega: str) -> str:
    """The page as HTML; `rows` are those of its table, each with its place."""
    table, excerpts = _Table(content.folder), {}
    referenced = _referenced(content)
    for place, row in rows:
        table.add(row, int(content.numbers.lengths[place]), place in content.sample.full)
        if place in referenced:
            excerpts[place] = _excerpt(content.folder, row)
    values = {
        "content": content,
        "summary": content.summary,
        "signal": content.summary.signal,
        "groups": content.summary.groups,
        "excerpts": excerpts,
        "statuses": _in_order(content.summary.statuses),
        "charts": {chart.name: chart for chart in content.charts},
        "component_charts": _component_charts(content),
        "cut": CUT,
        "longest": LONGEST,
    }
    return html_page(
        content.folder.scored.path.resolve().name,
        render_html(package_file("page.html.jinja"), values),
        kind="plaudit report",
        about=render_html(package_file("about.html.jinja"), values),
        sections=_sections(content),
        charts=content.charts,
        data={"data": packed(table.data())},
        styles=[],
        scripts=[package_file("page.js")],
        vega=vega,
        fetches=False,
        after=render_html(package_file("row.html.jinja"), {}),
    )


def _sections(content: Content) -> dict[str, str]:
    """The sections of the page, for its navigation."""
    boxes = {"boxes": "Boxes"} if content.pictures else {}
    return {
        "components": "Components",
        "groups": "Groups",
        "together": "Length and correlation",
        "trouble": "Trouble",
        "prompts": "Prompts",
        **boxes,
        "rows": "Rows",
    }


def _in_order(statuses: Mapping[str, int]) -> dict[str, int]:
    """The statuses, best first, then any that are not plaudit's own."""
    known = [status for status in reversed(STATUSES) if status in statuses]
    return {status: statuses[status] for status in dict.fromkeys([*known, *statuses])}


def _component_charts(content: Content) -> list[tuple[str, Any, Chart | None]]:
    """Each component's name, spread and histogram; the total is the first."""
    by_filter = {chart.filter: chart for chart in content.charts if chart.filter}
    spreads = {"total": content.summary.total, **content.summary.spreads}
    return [(name, spread, by_filter.get(name)) for name, spread in spreads.items()]


def _referenced(content: Content) -> set[int]:
    sample, first = content.sample, content.summary.groups.first
    groups = [*sample.hardest, *sample.contested, *sample.without_signal]
    examples = [place for places in sample.examples.values() for place in places]
    return {
        *examples,
        *(int(first[group]) for group in groups),
        *(p.place for p in content.pictures),
    }


def _excerpt(folder: Folder, row: dict[str, Any]) -> RowExcerpt:
    explained = row["explanation"] or []
    bad = [entry for entry in explained if entry["status"] == row["status"]] or explained
    return RowExcerpt(
        row["row_id"],
        _one_line(prompt_text(_value(row, folder.prompt))),
        _one_line(completion_text(_value(row, folder.completion)), from_end=True),
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


def _value(row: dict[str, Any], column: str | None) -> Any:
    return None if column is None else row[column]


class _Table:
    """The rows of the page's table, by column; texts that repeat are stored once."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._strings: dict[str, int] = {}
        self._rows: list[list[Any]] = []

    def add(self, row: dict[str, Any], length: int, full: bool) -> None:
        """Add a row: its whole text, or its beginning and end."""
        prompt_size, size = (_PROMPT, _REASON) if full else (_CUT_PROMPT, _CUT_REASON)
        text = completion_text(_value(row, self._folder.completion))
        head, left_out, tail = cut(text, LONGEST if full else CUT)
        gold = _value(row, self._folder.gold)
        self._rows.append(
            [
                row["row_id"],
                self._string(str(row["group_id"]), size),
                self._string(str(row["status"]), size),
                json_number(row["total"]),
                length,
                [json_number(row[name]) for name in self._folder.components],
                self._string(prompt_text(_value(row, self._folder.prompt)), prompt_size),
                None if gold is None else self._string(completion_text(gold), size),
                [head, left_out, tail] if left_out else head,
                [self._reason(entry, size) for entry in row["explanation"] or ()],
            ]
        )

    def _reason(self, entry: dict[str, Any], size: int) -> list[Any]:
        texts = (entry[name] for name in ("component", "status", "method", "answer", "gold", "why"))
        known = [None if text is None else self._string(text, size) for text in texts]
        return [json_number(entry["value"]), *known, json_number(entry["ungated"])]

    def _string(self, text: str, most: int) -> int:
        head, left_out, tail = cut(text, most)
        short = f"{head} … {tail}" if left_out else head
        return self._strings.setdefault(short, len(self._strings))

    def data(self) -> dict[str, Any]:
        names = "id group status total length values prompt gold text reasons".split()
        columns = zip(*self._rows, strict=True) if self._rows else [[] for _ in names]
        return {
            "components": self._folder.components,
            "strings": list(self._strings),
            **dict(zip(names, columns, strict=True)),
        }
