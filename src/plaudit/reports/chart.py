"""Charts: a name, a title and a Vega-Lite specification; charts of lines; and their colours.

Colours come from the theme, light or dark, so that one specification serves both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

Spec = dict[str, Any]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"
_LIGHT = "#2f62d0 #d9731a #1f9d6b #a7429b #b8860b #0e8aa8 #c2413a #6b7280".split()
_DARK = "#7aa7ff #f0a35e #4cc79a #d98bd0 #e0bd4f #5cc4de #ff8a80 #a3adba".split()
_DOTS = 40  # a line of more points has none drawn: they would hide it


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart on a page.

    name: that of its file; letters, digits, dashes
    title: what it shows, in a few words
    spec: Vega-Lite, without colours and fonts, which come from the theme
    section: the section of the report that shows it
    note: a sentence below it
    filter: the component by which a click on a bar filters the rows, if any

    >>> from plaudit.reports import Line, line_chart
    >>> spec = line_chart([Line("total", [1, 2, 3], [0.2, 0.4, 0.5])])
    >>> Chart("total-by-step", "Total over the steps", spec).filter is None
    True
    """

    name: str
    title: str
    spec: Spec
    section: str = ""
    note: str = ""
    filter: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart: a name, where its points are, and perhaps a band around it.

    x, y: equally long; None in y, or what is not finite, leaves a gap
    low, high: the edges of the band, such as quartiles; None: no band
    dashed: whether the line is dashed, such as that of a run to compare with

    >>> Line("total", [1, 2], [0.25, 0.5], low=[0.0, 0.25], high=[0.5, 1.0]).name
    'total'
    """

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float | None] | None = None
    high: Sequence[float | None] | None = None
    dashed: bool = False


def line_chart(
    lines: Sequence[Line],
    *,
    x: str = "step",
    y: str = "",
    percent: bool = False,
    height: int = 200,
    band: str = "middle half",
) -> Spec:
    """Return the specification of a chart of lines, as wide as its card.

    x, y: the titles of the axes; an empty one is left out
    percent: whether values are shares from 0 to 1, shown as percentages; the axis begins at 0%, and
        ends at 100% unless all shares are below 40%
    height: the height of the chart in pixels, without its legend
    band: what a band is, for the tooltip; default: "middle half", from quartile to quartile

    >>> spec = line_chart([Line("a", [1, 2], [0.5, 1]), Line("b", [1, 2], [1, None])], y="total")
    >>> spec["data"]["values"][0]
    {'line': 'a', 'x': 1.0, 'y': 0.5}
    >>> len(spec["layer"]), spec["width"]
    (2, 'container')
    """
    for line in lines:
        _check(line)
    scale: Spec = {"zero": False, "nice": True}
    if percent:
        known = (y for line in lines for y in line.y if y is not None and isfinite(y))
        highest = max(known, default=1.0)
        scale = {"domain": [0, 1 if highest > 0.4 else max(0.02, round(1.25 * highest, 3))]}
    axis = {"format": "~%" if percent else ",.4~r", "tickCount": 5}
    across: Spec = {"field": "x", "type": "quantitative", "title": x or None}
    across |= {"scale": {"zero": False, "nice": False, "padding": 8}}
    across |= {"axis": {"format": "~s", "tickMinStep": 1, "tickCount": 6}}
    up: Spec = {"field": "y", "type": "quantitative", "title": y or None, "scale": scale}
    banded = any(line.low is not None for line in lines)
    edges = {"y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}}
    band_layer = {"mark": {"type": "area", "opacity": 0.18}, "encoding": edges}
    many = max((len(line.x) for line in lines), default=0)
    # Many points are not drawn, but they still show their values.
    dots = {"size": 45 if many <= _DOTS / 2 else 20, "opacity": 1 if many <= _DOTS else 0}
    spec: Spec = {
        "data": {"values": [point for line in lines for point in _points(line)]},
        "encoding": {"x": across, "color": _colour(lines)},
        "layer": [
            *([band_layer] if banded else []),
            {
                "mark": {"type": "line", "strokeWidth": 2.5, "strokeJoin": "round"},
                "encoding": {"y": {**up, "axis": axis}, **_dashes(lines)},
            },
            {
                "mark": {"type": "point", "filled": True, **dots},
                "encoding": {"y": up, "tooltip": _tooltip(lines, x, y, percent, band, banded)},
            },
        ],
    }
    return spec | {
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
    }


def _check(line: Line) -> None:
    for name in ("y", "low", "high"):
        values = getattr(line, name)
        if values is not None and len(values) != len(line.x):
            raise ValueError(
                f"line {line.name!r}: {name} must have as many entries as x: "
                f"{len(line.x)} expected, {len(values)} found"
            )
    if (line.low is None) != (line.high is None):
        raise ValueError(f"line {line.name!r}: low and high go together")


def _points(line: Line) -> list[Spec]:
    found: list[Spec] = []
    for index, (x, y) in enumerate(zip(line.x, line.y, strict=True)):
        point: Spec = {"line": line.name, "x": float(x), "y": _number(y)}
        if line.low is not None and line.high is not None:
            point |= {"low": _number(line.low[index]), "high": _number(line.high[index])}
        found.append(point)
    return found


def _number(value: float | None) -> float | None:
    """Round, since a page needs no more; None for NaN and infinity, which JSON does not have."""
    return None if value is None or not isfinite(value) else round(float(value), 6)


def _by_line(**more: Any) -> Spec:
    return {"field": "line", "type": "nominal", "title": None, "sort": None, **more}


def _colour(lines: Sequence[Line]) -> Spec:
    names = list(dict.fromkeys(line.name for line in lines))
    legend: Spec = {"columns": 4, "labelLimit": 220, "symbolType": "stroke"}
    legend |= {"symbolStrokeWidth": 3, "symbolOpacity": 1}
    return _by_line(scale={"domain": names}, legend=legend if len(names) > 1 else None)


def _dashes(lines: Sequence[Line]) -> Spec:
    dashed = {line.name for line in lines if line.dashed}
    if not dashed:
        return {}
    names = list(dict.fromkeys(line.name for line in lines))
    scale = {"domain": names, "range": [[5, 4] if n in dashed else [1, 0] for n in names]}
    # Its legend is that of the colours: Vega-Lite makes one of the two.
    return {"strokeDash": _by_line(scale=scale)}


def _tooltip(
    lines: Sequence[Line], x: str, y: str, percent: bool, band: str, banded: bool
) -> list[Spec]:
    form = ".1%" if percent else ",.4~r"
    tips = [("x", x or "x", ",.6~r"), ("y", y or "value", form)]
    if banded:
        tips += [("low", f"{band}, from", form), ("high", f"{band}, to", form)]
    name = [{"field": "line", "type": "nominal", "title": "line"}] if len(lines) > 1 else []
    return name + [
        {"field": field, "type": "quantitative", "title": title, "format": shown}
        for field, title, shown in tips
    ]


def theme(dark: bool) -> Spec:
    """Return the colours and fonts of every chart."""
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
