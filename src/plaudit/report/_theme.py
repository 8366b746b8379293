"""What every chart has: a name, a title, a Vega-Lite specification; and the colours of all of them.

Colours come from the theme, light or dark, so that one specification serves both.
"""

from dataclasses import dataclass
from typing import Any

Spec = dict[str, Any]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"
_LIGHT = "#2f62d0 #d9731a #1f9d6b #a7429b #b8860b #0e8aa8 #c2413a #6b7280".split()
_DARK = "#7aa7ff #f0a35e #4cc79a #d98bd0 #e0bd4f #5cc4de #ff8a80 #a3adba".split()


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, the name of its file, and what it shows in a sentence.

    name: also that of its place on the page; letters, digits, dashes
    spec: Vega-Lite, without colours and fonts, which come from the theme
    filter: the component by which a click on a bar filters the rows; None: a click does nothing

    >>> from plaudit.report import Line, line_chart
    >>> spec = line_chart([Line("total", [1, 2, 3], [0.2, 0.4, 0.5])])
    >>> Chart("total-by-step", "Total over the steps", spec).filter is None
    True
    """

    name: str
    title: str
    spec: Spec
    filter: str | None = None


def theme(dark: bool) -> Spec:
    """The colours and fonts of every chart.

    >>> theme(dark=True)["background"]
    'transparent'
    """
    text, quiet, grid = (
        ("#e6e9ef", "#9aa4b2", "#2b323d") if dark else ("#1c2430", "#5b6675", "#e6e9ee")
    )
    colours = _DARK if dark else _LIGHT
    middle = "#232a35" if dark else "#f1f3f6"
    axis: Spec = {"labelColor": quiet, "titleColor": quiet, "gridColor": grid, "domainColor": grid}
    axis |= {"tickColor": grid, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": 500}
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": {**axis, "labelPadding": 5, "titlePadding": 8, "domain": False, "ticks": False},
        "axisX": {"grid": False, "labelOverlap": True},
        "legend": {"labelColor": text, "titleColor": quiet, "labelFontSize": 11, "orient": "top"},
        "title": {"color": text, "anchor": "start", "fontSize": 14, "fontWeight": 600},
        "mark": {"color": colours[0]},
        "bar": {"color": colours[0], "cornerRadiusEnd": 2},
        "text": {"color": text, "fontSize": 11},
        "range": {"category": colours, "diverging": ["#d9731a", middle, "#2f62d0"]},
    }
