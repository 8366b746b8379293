"""The parts of a page in; one HTML file out, with its look, its charts and its scripts inside.

What is not markup never becomes it: Jinja escapes what it puts into the page. A content security
policy allows the page's own scripts by their hashes, and no request to anywhere else.
"""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from plaudit.report._theme import Chart, theme

_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Packed:
    """JSON, compressed, in base64, which needs no escaping in HTML."""

    text: str
    kind: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class _Json:
    text: str
    kind: str = "application/json"


def html_page(
    heading: str,
    body: str,
    *,
    kind: str,
    about: str,
    sections: Mapping[str, str],
    charts: Sequence[Chart],
    data: Mapping[str, Any],
    styles: Sequence[str],
    scripts: Sequence[str],
    vega: str | None,
    fetches: bool,
    after: str = "",
) -> str:
    """The page; see `plaudit.report.html_page`. after: HTML behind the main part: dialogs."""
    held = {
        name: value if isinstance(value, Packed) else _Json(_json(value))
        for name, value in data.items()
    }
    if vega is not None:
        held["specs"] = _Json(_json([_spec(chart) for chart in charts]))
        held["themes"] = _Json(_json({"light": theme(dark=False), "dark": theme(dark=True)}))
    code = [_script(text) for text in (vega or "", package_file("shared.js"), *scripts) if text]
    page = _environment().from_string(package_file("skeleton.html.jinja"))
    return page.render(
        heading=heading,
        body=body,
        kind=kind,
        about=about if isinstance(about, Markup) or not about else _paragraph(about),
        sections=sections,
        after=after,
        data={
            name: {"kind": found.kind, "text": Markup(found.text)} for name, found in held.items()
        },
        styles=[Markup(_style(text)) for text in (package_file("page.css"), *styles)],
        scripts=[Markup(script) for script in code],
        hashes=" ".join(f"'sha256-{_sha256(script)}'" for script in code),
        fetches=fetches,
    )


def _paragraph(text: str) -> Markup:
    return Markup('<p class="quiet">{}</p>').format(text)


def render_html(template: str, values: Mapping[str, Any]) -> Markup:
    """A Jinja template with its values, escaped; see `plaudit.report.render_html`."""
    return Markup(_environment().from_string(template).render(values))


def figure(chart: Chart) -> Markup:
    """The place of a chart on a page; see `plaudit.report.figure`."""
    name, title = escape(chart.name), escape(chart.title)
    return Markup(
        f'<figure class="chart" data-chart="{name}" role="img" aria-label="{title}"></figure>'
    )


def packed(data: Any) -> Packed:
    """Data for a page, compressed: its script reads it by `await plaudit.unpacked(id)`."""
    raw = json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii")
    return Packed(base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode("ascii"))


def package_file(name: str) -> str:
    """The text of a file that is part of this package."""
    return files("plaudit.report").joinpath(name).read_text(encoding="utf-8")


def _json(data: Any) -> str:
    """JSON for a script element: nothing in it can end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _spec(chart: Chart) -> dict[str, Any]:
    return {"name": chart.name, "filter": chart.filter, "spec": chart.spec}


def _script(code: str) -> str:
    """Code for a script element; in a string, JavaScript reads \\/ as /."""
    return re.sub("</(?=script)", r"<\\/", code, flags=re.IGNORECASE).replace("<!--", r"<\!--")


def _style(text: str) -> str:
    """Rules for a style element: in a string of CSS, \\/ is / too."""
    return re.sub("</(?=style)", r"<\\/", text, flags=re.IGNORECASE)


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(package_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.filters |= {
        "number": number,
        "count": lambda value: f"{int(value):,}",
        "percent": percent,
        "plural": plural,
        "signed": signed,
        "breakable": lambda name: escape(name).replace("_", Markup("_<wbr>")),
        "share": lambda value: "–" if value is None or value != value else percent(value),
        "pretty": lambda value: json.dumps(value, indent=2, ensure_ascii=False),
    }
    environment.globals["figure"] = figure
    return environment


def _printable(value: Any) -> Any:
    """Text without what HTML cannot hold: control characters and lone surrogates."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return _NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", value)


def number(value: float | None) -> str:
    """A number for a person; a dash if there is none.

    >>> number(0.12345), number(12345.6), number(-0.0), number(None)
    ('0.123', '12,346', '0', '–')
    """
    if value is None or value != value:
        return "–"
    shown = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return shown.replace("-", "−") if shown.strip("-0.,") else "0"


def signed(value: float | None, is_share: bool = False) -> str:
    """By how much something rose or fell, for a person; of a share, in points of a percent.

    >>> signed(0.25), signed(-0.125, is_share=True), signed(-1234), signed(0.0), signed(None)
    ('+0.25', '−12.5 pp', '−1,234', '0', '–')
    """
    if value is None or value != value:
        return "–"
    plain = f"{value:+,.0f}" if abs(value) >= 1000 else f"{value:+.3g}"
    shown = f"{100 * value:+.1f} pp" if is_share else plain
    if not re.search("[1-9]", shown):
        return "0 pp" if is_share else "0"
    return shown.replace("-", "−")


def percent(part: float, whole: float = 1.0) -> str:
    """A share for a person; 0% and 100% only where it is exactly none or all.

    >>> percent(1, 3), percent(0.9999), percent(1, 10**6), percent(0, 0)
    ('33.3%', '99.9%', '<0.1%', '–')
    """
    if not whole:
        return "–"
    share = 100 * part / whole
    if 0 < share < 0.1:
        return "<0.1%"
    return f"{share:.0f}%" if share in (0, 100) else f"{min(share, 99.9):.1f}%"


def plural(count: int, one: str, many: str | None = None) -> str:
    """A number and its word.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{int(count):,} {one if count == 1 else many or one + 's'}"
