"""A summary in, charts out: Vega-Lite for the page, and PNGs of the same.

They are made from aggregates only. Each chart fills the width of its place on the page; colours
come from a theme, light or dark.
"""

import re
from typing import Any

import altair as alt
import vl_convert

from plaudit.report._pass_at_k import AtK
from plaudit.report._summary import Bin, LengthBin, Share, Summary
from plaudit.report._theme import Chart, Spec, theme

_PNG_WIDTH = 560
_STATUS_COLOURS = {
    "equal": "#1f9d6b",
    "scored": "#4f7fd6",
    "different": "#94a3b8",
    "no_answer": "#d9a514",
    "gated": "#a78bca",
    "bad_gold": "#e2701e",
    "limit": "#c2549b",
    "timeout": "#d6453d",
    "error": "#8f1d1d",
}
_OTHER_STATUS = "#6b7280"


def charts_of(summary: Summary) -> list[Chart]:
    """Every chart for which there is data."""
    bins = {"total": summary.total_bins, **summary.bins}
    charts = [
        Chart(
            f"component-{place:02}-{file_name(name)}" if place else "total",
            f"{name}: rows by value",
            histogram_chart(found),
            name if place else "total",
        )
        for place, (name, found) in enumerate(bins.items())
        if found
    ]
    if summary.right_shares:
        title = "Groups by share of right completions"
        charts.append(Chart("groups", title, shares_chart(summary.right_shares)))
    if summary.at_k:
        charts.append(Chart("at-k", "pass@k and maj@k", at_k_chart(summary.at_k)))
    if summary.lengths:
        title = f"Total by length in {summary.unit}"
        charts.append(Chart("length", title, length_chart(summary.lengths, summary.unit)))
    if summary.rows:
        spec = correlation_chart(summary.names, summary.correlation)
        charts.append(Chart("correlation", "How components correlate", spec))
    if summary.component_statuses:
        spec = statuses_chart(summary.component_statuses, list(summary.spreads))
        charts.append(Chart("statuses", "Statuses by component", spec))
    return charts


def file_name(name: str) -> str:
    """A file name: the component's, without characters that a file system may not allow."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:60].strip("-") or "component"


def png_of(chart: Chart) -> bytes:
    """The chart as a PNG, on white and with its title."""
    spec = {**chart.spec, "title": chart.title, "width": _PNG_WIDTH, "background": "white"}
    padding = {"left": 16, "right": 16, "top": 16, "bottom": 16}
    config = theme(dark=False) | {"padding": padding, "background": "white"}
    # Nothing is fetched, even if a name looks like an address.
    return vl_convert.vegalite_to_png(spec, scale=2.0, config=config, allowed_base_urls=[])


def histogram_chart(bins: list[Bin]) -> Spec:
    """One bar per bin; if there are few distinct values, one bar per value."""
    rows = [{"low": b.low, "high": b.high, "rows": b.count, "value": short(b.low)} for b in bins]
    tip = [alt.Tooltip("rows:Q", format=",")]
    axis = alt.Axis(tickCount=4, format="~s")
    y = alt.Y("rows:Q", title="rows", axis=axis, scale=alt.Scale(domainMin=0))
    if all(b.low == b.high for b in bins):
        x = alt.X("value:O", title=None, sort=None, axis=bars_axis())
        tip = [alt.Tooltip("value:O"), *tip]
        return spec_of(chart_of(rows).mark_bar(size=26).encode(x=x, y=y, tooltip=tip), 150)
    tip = [alt.Tooltip("low:Q", title="from"), alt.Tooltip("high:Q", title="to"), *tip]
    x = alt.X("low:Q", title=None, scale=alt.Scale(zero=False, nice=False))
    bars = chart_of(rows).mark_bar(x2Offset=-1)
    return spec_of(bars.encode(x=x, x2="high:Q", y=y, y2=alt.datum(0), tooltip=tip), 150)


def shares_chart(shares: list[Share]) -> Spec:
    """One bar per share of right completions; the two ends, without signal, are grey."""
    rows = [
        {
            "share": share.label,
            "groups": share.count,
            "signal": "right and wrong" if share.mixed else "all right or all wrong",
        }
        for share in shares
    ]
    colours = alt.Scale(
        domain=["right and wrong", "all right or all wrong"], range=["#4f7fd6", "#a3adba"]
    )
    bars = (
        chart_of(rows)
        .mark_bar()
        .encode(
            x=alt.X("share:O", sort=None, title="completions that are right", axis=bars_axis()),
            y=alt.Y("groups:Q", title="groups", axis=alt.Axis(tickCount=4, format="~s")),
            color=alt.Color("signal:N", title=None, scale=colours),
            tooltip=["share:O", alt.Tooltip("groups:Q", format=","), "signal:N"],
        )
    )
    return spec_of(bars, 200)


def at_k_chart(at_k: list[AtK]) -> Spec:
    """pass@k and maj@k as two lines over k."""
    rows = [
        {"k": at.k, "measure": measure, "value": value, "groups": at.groups}
        for measure, of in (("pass@k", "passed"), ("maj@k", "majority"))
        for at in at_k
        if (value := getattr(at, of)) is not None
    ]
    lines = chart_of(rows).mark_line(
        point=alt.OverlayMarkDef(size=55, filled=True), strokeWidth=2.5
    )
    encoded = lines.encode(
        x=alt.X("k:O", title="k completions", axis=bars_axis()),
        y=alt.Y("value:Q", title="right", scale=alt.Scale(domain=[0, 1]), axis=_percent()),
        color=alt.Color("measure:N", title=None, sort=None),
        tooltip=["measure:N", "k:O", alt.Tooltip("value:Q", format=".1%"), "groups:Q"],
    )
    return spec_of(encoded, 200)


def length_chart(bins: list[LengthBin], unit: str) -> Spec:
    """The mean total over the length, in a band from the first to the third quartile."""
    rows = [
        {
            "length": (b.low + b.high) / 2,
            "lengths": f"{b.low:,.0f}–{b.high:,.0f}",
            "rows": b.count,
            "mean": b.mean,
            "first quartile": b.quartile1,
            "third quartile": b.quartile3,
        }
        for b in bins
    ]
    scale = alt.Scale(zero=False, nice=False, padding=8)
    x = alt.X("length:Q", title=unit, scale=scale, axis=alt.Axis(format="~s", tickMinStep=1))
    tip = [
        alt.Tooltip("lengths:N", title=unit),
        alt.Tooltip("rows:Q", format=","),
        *(
            alt.Tooltip(f"{name}:Q", format=".3f")
            for name in ("mean", "first quartile", "third quartile")
        ),
    ]
    band = (
        chart_of(rows)
        .mark_area(opacity=0.18)
        .encode(x=x, y=alt.Y("first quartile:Q", title="total"), y2="third quartile:Q")
    )
    point = alt.OverlayMarkDef(size=45, filled=True)
    line = chart_of(rows).mark_line(point=point, strokeWidth=2.5)
    return spec_of(alt.LayerChart(layer=[band, line.encode(x=x, y="mean:Q", tooltip=tip)]), 200)


def correlation_chart(names: list[str], matrix: list[list[float | None]]) -> Spec:
    """One square per pair of components."""
    rows = [
        {"a": a, "b": b, "r": r, "shown": _correlation_text(r)}
        for a, line in zip(names, matrix, strict=True)
        for b, r in zip(names, line, strict=True)
    ]
    base = chart_of(rows).encode(
        x=alt.X("a:N", sort=names, title=None, axis=_names(labelAngle=-35)),
        y=alt.Y("b:N", sort=names, title=None, axis=_names()),
        tooltip=["a:N", "b:N", alt.Tooltip("shown:N", title="correlation")],
    )
    scale = alt.Scale(domain=[-1, 1], domainMid=0, interpolate="rgb")
    squares = base.mark_rect(cornerRadius=3).encode(
        color=alt.Color("r:Q", scale=scale, legend=None)
    )
    strong = alt.when("abs(datum.r) > 0.5").then(alt.value("white"))
    texts = base.mark_text().encode(text="shown:N", color=strong)
    return spec_of(alt.LayerChart(layer=[squares, texts]), max(120, 34 * len(names)))


def statuses_chart(counts: dict[tuple[str, str], int], components: list[str]) -> Spec:
    """For each component, the share of each status."""
    known = [*_STATUS_COLOURS, *sorted({s for _, s in counts} - set(_STATUS_COLOURS))]
    present = [status for status in known if any(s == status for _, s in counts)]
    rows = [
        {"component": component, "status": status, "rows": count, "order": known.index(status)}
        for (component, status), count in sorted(counts.items())
    ]
    colours = [_STATUS_COLOURS.get(status, _OTHER_STATUS) for status in present]
    bars = (
        chart_of(rows)
        .mark_bar(cornerRadius=0)
        .encode(
            x=alt.X("rows:Q", stack="normalize", title="rows", axis=_percent()),
            y=alt.Y("component:N", sort=components, title=None, axis=_names()),
            color=alt.Color(
                "status:N",
                title=None,
                scale=alt.Scale(domain=present, range=colours),
                legend=alt.Legend(columns=4),
            ),
            order=alt.Order("order:Q"),
            tooltip=["component:N", "status:N", alt.Tooltip("rows:Q", format=",")],
        )
    )
    return spec_of(bars, 34 * len({component for component, _ in counts}) + 20)


def chart_of(rows: list[dict[str, Any]]) -> alt.Chart:
    """A chart of rows, before its marks."""
    return alt.Chart(alt.InlineData(values=rows))


def bars_axis() -> alt.Axis:
    """An axis whose labels are level."""
    return alt.Axis(labelAngle=0)


def _percent() -> alt.Axis:
    return alt.Axis(format=".0%", tickCount=5)


def _names(**more: Any) -> alt.Axis:
    return alt.Axis(labelLimit=130, labelOverlap=False, **more)


def spec_of(chart: alt.Chart | alt.LayerChart, height: int) -> Spec:
    """The specification of a chart that is as wide as its place on the page."""
    spec: Spec = chart.properties(width="container", height=height).to_dict()
    spec.pop("config", None)  # the theme sets that
    return spec | {"autosize": {"type": "fit-x", "contains": "padding"}}


def _correlation_text(r: float | None) -> str:
    return "–" if r is None else f"{round(r, 2) + 0.0:.2f}".replace("-", "−")  # + 0: no −0.00


def short(value: float) -> str:
    """A number for a label."""
    return f"{value:.4g}".replace("-", "−")
