"""HTML pages in one file, with their look, their charts and their scripts inside.

What is not markup never becomes it: Jinja escapes what it puts into the page. A content security
policy allows the page's own scripts by their hashes, and no request to anywhere else.
"""

import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import vl_convert
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from plaudit.reports.chart import Chart, theme

_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_CODE = """
import sys, vl_convert
sys.stdout.buffer.write(vl_convert.javascript_bundle(sys.argv[1]).encode())
"""
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class PageData:
    """The content of a script element: JSON, or JSON that is compressed, in base64."""

    text: str
    kind: str = "application/json"


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
    after: str = "",
) -> str:
    """Return a page with the look of the report, as HTML in one file that needs no network.

    heading: its title, as text
    body: what it shows: HTML that `render_html` gave; a plain string is shown as text
    kind: the line above the heading, such as "plaudit audit"
    about: the text under the heading, or HTML that `render_html` gave
    sections: for the navigation: the id of a section of the body -> its name
    charts: those for which the body has a `figure`; `plaudit.drawCharts()` in a script draws them
    data: id -> what a script may read: anything that JSON can hold by `plaudit.json(id)`, or
        what `packed` gave by `await plaudit.unpacked(id)`
    styles, scripts: CSS and JavaScript of the page's own, after those that all pages have; the
        functions of the latter are in the object `plaudit`, see `shared.js`
    vega: what `vega_script` gave; needed only by a page that fetches its charts. Default: made,
        which takes some seconds, if there are charts
    fetches: whether its scripts may ask the server that it comes from; else they request nothing
    after: HTML behind the main part, such as dialogs

    >>> from plaudit.reports import html_page, render_html
    >>> page = html_page("Findings", render_html("<p>{{ text }}</p>", text="1 < 2"), kind="check")
    >>> "<h1>Findings</h1>" in page, "<p>1 &lt; 2</p>" in page
    (True, True)
    """
    if charts and vega is None:
        vega = vega_script()
    held = {
        name: value if isinstance(value, PageData) else PageData(_json(value))
        for name, value in (data or {}).items()
    }
    if vega is not None:
        specs = [{"name": c.name, "filter": c.filter, "spec": c.spec} for c in charts]
        held["specs"] = PageData(_json(specs))
        held["themes"] = PageData(_json({"light": theme(dark=False), "dark": theme(dark=True)}))
    code = [
        _without_end(text, "script").replace("<!--", r"<\!--")
        for text in (vega or "", package_file("shared.js"), *scripts)
        if text
    ]
    digests = [hashlib.sha256(script.encode("utf-8")).digest() for script in code]
    page = _environment().from_string(package_file("skeleton.html.jinja"))
    return page.render(
        heading=heading,
        body=body,
        kind=kind,
        about=about
        if isinstance(about, Markup) or not about
        else Markup('<p class="quiet">{}</p>').format(about),
        sections=sections or {},
        after=after,
        data={
            name: {"kind": found.kind, "text": Markup(found.text)} for name, found in held.items()
        },
        styles=[
            Markup(_without_end(text, "style")) for text in (package_file("page.css"), *styles)
        ],
        scripts=[Markup(script) for script in code],
        hashes=" ".join(f"'sha256-{base64.b64encode(one).decode('ascii')}'" for one in digests),
        fetches=fetches,
    )


def render_html(template: str, /, **values: Any) -> Markup:
    """Return a Jinja template and its values as HTML; the values are escaped.

    Filters besides Jinja's own: number, count, percent, plural, pretty; and the function `figure`.

    >>> render_html("<b>{{ share | percent }}</b> of {{ n | plural('row') }}", share=0.25, n=1200)
    Markup('<b>25.0%</b> of 1,200 rows')
    """
    return Markup(_environment().from_string(template).render(values))


def figure(chart: Chart) -> Markup:
    """Return the element of a page in which `plaudit.drawCharts()` draws a chart.

    >>> from plaudit.reports import Line, line_chart
    >>> figure(Chart("curve", "Total over the steps", line_chart([Line("total", [1], [0.5])])))[:42]
    Markup('<figure class="chart" data-chart="curve" r')
    """
    name, title = escape(chart.name), escape(chart.title)
    return Markup(
        f'<figure class="chart" data-chart="{name}" role="img" aria-label="{title}"></figure>'
    )


def packed(data: Any) -> PageData:
    """Return data for a page, as compressed JSON: `await plaudit.unpacked(id)` reads it there."""
    raw = json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii")
    text = base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode("ascii")
    return PageData(text, "application/octet-stream")


def vega_script() -> str:
    """Return the script that draws charts, some 800 kB; making it takes seconds, so keep it."""
    with bundling() as script:
        return script()


@contextmanager
def bundling() -> Iterator[Callable[[], str]]:
    """Start to bundle Vega; the function that is yielded waits for the script and returns it.

    Bundling takes seconds and blocks the interpreter, so another process does it meanwhile.
    """
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", _CODE, _SNIPPET],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )

    def script() -> str:
        made, _ = child.communicate()
        if made and child.returncode == 0:
            return made.decode("utf-8")
        return vl_convert.javascript_bundle(_SNIPPET)

    with child:
        try:
            yield script
        finally:
            child.kill()


def package_file(name: str) -> str:
    """Return the text of a file that is part of this package."""
    return files("plaudit.reports").joinpath(name).read_text(encoding="utf-8")


def _json(data: Any) -> str:
    """Return JSON for a script element: nothing in it can end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _without_end(text: str, tag: str) -> str:
    """Return the text of an element, which nothing in it can end: in a string, \\/ is read as /."""
    return re.sub(f"</(?={tag})", r"<\\/", text, flags=re.IGNORECASE)


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
    """Return text without what HTML cannot hold: control characters and lone surrogates."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return _NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", value)


def number(value: float | None) -> str:
    """Format a number for a person; a dash if there is none."""
    if value is None or value != value:
        return "–"
    shown = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return shown.replace("-", "−") if shown.strip("-0.,") else "0"


def signed(value: float | None, is_share: bool = False) -> str:
    """Format by how much something rose or fell; of a share, in points of a percent."""
    if value is None or value != value:
        return "–"
    plain = f"{value:+,.0f}" if abs(value) >= 1000 else f"{value:+.3g}"
    shown = f"{100 * value:+.1f} pp" if is_share else plain
    if not re.search("[1-9]", shown):
        return "0 pp" if is_share else "0"
    return shown.replace("-", "−")


def percent(part: float, whole: float = 1.0) -> str:
    """Format a share for a person; 0% and 100% only if it is exactly none or all."""
    if not whole:
        return "–"
    share = 100 * part / whole
    if 0 < share < 0.1:
        return "<0.1%"
    return f"{share:.0f}%" if share in (0, 100) else f"{min(share, 99.9):.1f}%"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Format a number and its word."""
    return f"{int(count):,} {one if count == 1 else many or one + 's'}"
