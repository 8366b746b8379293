"""Summary, charts, pictures and rows in; one HTML file out, with everything that it needs.

What a model wrote is never markup: Jinja escapes what it puts into the page, and the rows are
compressed JSON, which the script puts into the page as text only. A content security policy allows
the two scripts of the page by their hashes, and no request at all.
"""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from plaudit.report._boxes import Picture
from plaudit.report._charts import Chart, theme
from plaudit.report._folder import Folder, Numbers, RejectedRows, completion_text, prompt_text
from plaudit.report._sample import CUT, LONGEST, Sample, cut, json_number
from plaudit.report._summary import Summary
from plaudit.scores import STATUSES

_PROMPT, _REASON = 4000, 2000  # characters, in rows with their whole text
_CUT_PROMPT, _CUT_REASON = 300, 160  # and in the others
_LINE = 220  # characters of a text in a list
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


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
    scripts = [_script(vega), _script(_file("page.js"))]
    return (
        _environment()
        .from_string(_file("page.html.jinja"))
        .render(
            content=content,
            summary=content.summary,
            signal=content.summary.signal,
            groups=content.summary.groups,
            excerpts=excerpts,
            statuses=_in_order(content.summary.statuses),
            charts={chart.name: chart for chart in content.charts},
            component_charts=_component_charts(content),
            specs=_json([_spec(chart) for chart in content.charts]),
            themes=_json({"light": theme(dark=False), "dark": theme(dark=True)}),
            table=_packed(table.data()),
            style=Markup(_file("page.css")),
            scripts=[Markup(script) for script in scripts],
            hashes=" ".join(f"'sha256-{_sha256(script)}'" for script in scripts),
            cut=CUT,
            longest=LONGEST,
        )
    )


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


def _packed(data: Any) -> str:
    """JSON, compressed, in base64, which needs no escaping in HTML."""
    raw = json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii")
    return base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode("ascii")


def _json(data: Any) -> Markup:
    """JSON for a script element: nothing in it can end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _spec(chart: Chart) -> dict[str, Any]:
    return {"name": chart.name, "filter": chart.filter, "spec": chart.spec}


def _script(code: str) -> str:
    """Code for a script element; in a string, JavaScript reads \\/ as /."""
    return re.sub("</(?=script)", r"<\\/", code, flags=re.IGNORECASE).replace("<!--", r"<\!--")


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _file(name: str) -> str:
    return files("plaudit.report").joinpath(name).read_text(encoding="utf-8")


def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.filters |= {
        "number": _number,
        "count": lambda value: f"{int(value):,}",
        "percent": _percent,
        "plural": _plural,
        "pretty": lambda value: json.dumps(value, indent=2, ensure_ascii=False),
    }
    return environment


def _printable(value: Any) -> Any:
    """Text without what HTML cannot hold: control characters and lone surrogates."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return _NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", value)


def _number(value: float | None) -> str:
    """A number for a person; a dash if there is none.

    >>> _number(0.12345), _number(12345.6), _number(-0.0), _number(None)
    ('0.123', '12,346', '0', '–')
    """
    if value is None or value != value:
        return "–"
    shown = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return shown.replace("-", "−") if shown.strip("-0.,") else "0"


def _percent(part: float, whole: float = 1.0) -> str:
    """A share for a person; 0% and 100% only where it is exactly none or all.

    >>> _percent(1, 3), _percent(0.9999), _percent(1, 10**6), _percent(0, 0)
    ('33.3%', '99.9%', '<0.1%', '–')
    """
    if not whole:
        return "–"
    share = 100 * part / whole
    if 0 < share < 0.1:
        return "<0.1%"
    return f"{share:.0f}%" if share in (0, 100) else f"{min(share, 99.9):.1f}%"


def _plural(count: int, one: str, many: str | None = None) -> str:
    """A number and its word.

    >>> _plural(1, "row"), _plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{int(count):,} {one if count == 1 else many or one + 's'}"
