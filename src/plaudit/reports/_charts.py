"""The charts of a report, one function each: of one run, or of several side by side.

A chart is made from aggregates only. To add one, write a function that takes the runs and returns
charts, and list it in CHARTS; the page shows each chart in the section that it names.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import altair as alt
import numpy as np
import vl_convert

from plaudit.reports._scored_run import Array
from plaudit.reports._summary import Bin, Part, ReportedRun, histogram, share_of
from plaudit.reports.chart import Chart, Line, Spec, line_chart, theme

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
_LEVEL = alt.Axis(labelAngle=0)
_PERCENT = alt.Axis(format=".0%", tickCount=5)


def charts_of(runs: Sequence[ReportedRun]) -> list[Chart]:
    """Return every chart for which there is data."""
    return [chart for make in CHARTS for chart in make(runs)]


def png_of(chart: Chart) -> bytes:
    """Return the chart as a PNG, on white and with its title."""
    spec = {**chart.spec, "title": chart.title, "width": _PNG_WIDTH, "background": "white"}
    padding = {"left": 16, "right": 16, "top": 16, "bottom": 16}
    config = theme(dark=False) | {"padding": padding, "background": "white"}
    # Nothing is fetched, even if a name looks like an address.
    return vl_convert.vegalite_to_png(spec, scale=2.0, config=config, allowed_base_urls=[])


# --- values ---------------------------------------------------------------------------------------


def value_charts(runs: Sequence[ReportedRun]) -> Iterator[Chart]:
    """Return the rows by the value of the total and of each component."""
    names = ["total", *dict.fromkeys(name for run in runs for name in run.folder.components)]
    for index, name in enumerate(names):
        values = [run.numbers.values.get(name) if index else run.numbers.totals for run in runs]
        finite = [np.zeros(0) if v is None else v[np.isfinite(v)] for v in values]
        if not sum(map(len, finite)):
            continue
        bins = histogram(np.concatenate(finite))
        spec = _counts(bins) if len(runs) == 1 else _shares_of_runs(runs, bins, finite)
        file = f"component-{index:02}-{file_name(name)}" if index else "total"
        yield Chart(file, f"{name}: rows by value", spec, "components", filter=name)


def file_name(name: str) -> str:
    """Return a component's name without characters that a file system may not allow."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:60].strip("-") or "component"


def _counts(bins: list[Bin]) -> Spec:
    """Return one bar per bin; if there are few distinct values, one bar per value."""
    rows = [{"low": b.low, "high": b.high, "rows": b.count, "value": _short(b.low)} for b in bins]
    tip = [alt.Tooltip("rows:Q", format=",")]
    axis = alt.Axis(tickCount=4, format="~s")
    y = alt.Y("rows:Q", title="rows", axis=axis, scale=alt.Scale(domainMin=0))
    if all(b.low == b.high for b in bins):
        x = alt.X("value:O", title=None, sort=None, axis=_LEVEL)
        tip = [alt.Tooltip("value:O"), *tip]
        return _spec(_chart(rows).mark_bar(size=26).encode(x=x, y=y, tooltip=tip), 150)
    tip = [alt.Tooltip("low:Q", title="from"), alt.Tooltip("high:Q", title="to"), *tip]
    x = alt.X("low:Q", title=None, scale=alt.Scale(zero=False, nice=False))
    bars = _chart(rows).mark_bar(x2Offset=-1)
    return _spec(bars.encode(x=x, x2="high:Q", y=y, y2=alt.datum(0), tooltip=tip), 150)


def _shares_of_runs(runs: Sequence[ReportedRun], bins: list[Bin], values: Sequence[Array]) -> Spec:
    """Return the rows of each run by value, as shares of its rows, side by side."""
    rows = [
        {
            "run": run.name,
            "value": _short(found.low),
            "values": " to ".join(dict.fromkeys([_short(found.low), _short(found.high)])),
            "low": found.low,
            "high": found.high,
            "of_run": share,
        }
        for run, of_run in zip(runs, values, strict=True)
        if len(of_run)
        for found, share in zip(bins, _shares(bins, of_run), strict=True)
    ]
    x = alt.X("value:O", sort=None, title=None, axis=_LEVEL)
    tip = [alt.Tooltip("values:N", title="value")]
    return _side_by_side(rows, x, "rows", runs, tip, 150)


def _shares(bins: Sequence[Bin], values: Array) -> list[float]:
    if all(found.low == found.high for found in bins):
        counts = [int((values == found.low).sum()) for found in bins]
    else:
        edges = [*(found.low for found in bins), bins[-1].high]
        counts = np.histogram(values, edges)[0].tolist()
    return [round(count / len(values), 6) for count in counts]


# --- steps ----------------------------------------------------------------------------------------


def step_charts(runs: Sequence[ReportedRun]) -> Iterator[Chart]:
    """Return what changes over the training steps; of two runs, the first is dashed."""
    if not any(run.curves for run in runs):
        return
    step = next(run.folder.step for run in runs if run.curves) or "step"

    def curve(
        name: str,
        title: str,
        y: str,
        value: Callable[[Part], float | None],
        band: bool = False,
        percent: bool = False,
    ) -> Chart:
        lines = _curves(runs, y, value, band and len(runs) == 1)
        return Chart(name, title, line_chart(lines, x=step, y=y, percent=percent), "steps")

    yield curve("steps-total", "Total", "total", lambda part: part.total, band=True)
    components = list(dict.fromkeys(name for run in runs for name in run.folder.components))
    if len(runs) == 1:
        lines = [line for name in components for line in _curves(runs, name, _mean_of(name))]
        spec = line_chart(lines, x=step, y="mean")
        yield Chart("steps-components", "Components", spec, "steps")
    else:
        for index, name in enumerate(components, 1):
            yield curve(f"steps-component-{index:02}", name, name, _mean_of(name))
    if any(run.summary.correct for run in runs):
        share = _ratio("right", "decided")
        yield curve("steps-right", "Right", "right", share, percent=True)
    share = _ratio("flat", "groups")
    yield curve("steps-signal", "Groups without signal", "groups", share, percent=True)
    if any(run.summary.troubled for run in runs):
        share = _ratio("troubled", "rows")
        yield curve("steps-trouble", "Rows in trouble", "rows", share, percent=True)
    unit = runs[-1].summary.unit
    yield curve("steps-length", f"Length in {unit}", unit, lambda part: part.length)


def _mean_of(component: str) -> Callable[[Part], float | None]:
    return lambda part: part.means.get(component)


def _ratio(part: str, whole: str) -> Callable[[Part], float | None]:
    return lambda found: share_of(getattr(found, part), getattr(found, whole))


def _curves(
    runs: Sequence[ReportedRun],
    title: str,
    value: Callable[[Part], float | None],
    band: bool = False,
) -> list[Line]:
    return [
        Line(
            run.name if len(runs) > 1 else title,
            run.curves.steps,
            [value(part) for part in run.curves.parts],
            low=[part.quartile1 for part in run.curves.parts] if band else None,
            high=[part.quartile3 for part in run.curves.parts] if band else None,
            dashed=len(runs) > 1 and index == 0,
        )
        for index, run in enumerate(runs)
        if run.curves
    ]


# --- groups ---------------------------------------------------------------------------------------


def group_charts(runs: Sequence[ReportedRun]) -> Iterator[Chart]:
    """Return the groups by their share of right completions; without signal, they are grey."""
    shares = [run.summary.right_shares for run in runs]
    if not all(shares) or len({tuple(s.label for s in found) for found in shares}) > 1:
        return
    x = alt.X("share:O", sort=None, title="completions that are right", axis=_LEVEL)
    if len(runs) == 1:
        kinds = ["right and wrong", "all right or all wrong"]
        rows = [
            {"share": s.label, "groups": s.count, "signal": kinds[0 if s.mixed else 1]}
            for s in shares[0]
        ]
        colours = alt.Scale(domain=kinds, range=["#4f7fd6", "#a3adba"])
        bars = _chart(rows).mark_bar()
        bars = bars.encode(
            x=x,
            y=alt.Y("groups:Q", title="groups", axis=alt.Axis(tickCount=4, format="~s")),
            color=alt.Color("signal:N", title=None, scale=colours),
            tooltip=["share:O", alt.Tooltip("groups:Q", format=","), "signal:N"],
        )
        spec = _spec(bars, 200)
    else:
        rows = [
            {"run": run.name, "share": share.label, "of_run": share.count / total}
            for run, found in zip(runs, shares, strict=True)
            for total in [sum(share.count for share in found)]
            for share in found
        ]
        spec = _side_by_side(rows, x, "groups", runs, ["share:O"])
    yield Chart("groups", "Groups by share of right completions", spec, "groups")


def at_k_charts(runs: Sequence[ReportedRun]) -> Iterator[Chart]:
    """Return pass@k and maj@k as lines over k."""
    rows = [
        {"run": run.name, "k": at.k, "measure": measure, "value": value, "groups": at.groups}
        for run in runs
        for measure, of in (("pass@k", "passed"), ("maj@k", "majority"))
        for at in run.summary.at_k
        if (value := getattr(at, of)) is not None
    ]
    if not rows:
        return
    several = len(runs) > 1
    lines = _chart(rows).mark_line(point=alt.OverlayMarkDef(size=55, filled=True), strokeWidth=2.5)
    encoded = lines.encode(
        x=alt.X("k:O", title="k completions", axis=_LEVEL),
        y=alt.Y("value:Q", title="right", scale=alt.Scale(domain=[0, 1]), axis=_PERCENT),
        color=alt.Color("measure:N", title=None, sort=None),
        tooltip=[
            *(["run:N"] if several else []),
            *("measure:N", "k:O", alt.Tooltip("value:Q", format=".1%"), "groups:Q"),
        ],
    )
    if several:
        dashes = alt.Scale(domain=[run.name for run in runs], range=[[5, 4], [1, 0]])
        encoded = encoded.encode(strokeDash=alt.StrokeDash("run:N", title=None, scale=dashes))
    note = (
        "pass@k: at least one of k completions is right. maj@k: the most frequent answer among k "
        "is right; answers count as equal if their texts are equal, or if both are right."
    )
    yield Chart("at-k", "pass@k and maj@k", _spec(encoded, 200), "groups", note)


# --- length, correlation, statuses ----------------------------------------------------------------


def length_charts(runs: Sequence[ReportedRun]) -> Iterator[Chart]:
    """Return the mean total over the length, of one run in a band from quartile to quartile."""
    unit = runs[-1].summary.unit
    if not all(run.summary.lengths and run.summary.unit == unit for run in runs):
        return
    several = len(runs) > 1
    lines = [
        Line(
            run.name if several else "mean",
            [(b.low + b.high) / 2 for b in run.summary.lengths],
            [b.mean for b in run.summary.lengths],
            low=None if several else [b.quartile1 for b in run.summary.lengths],
            high=None if several else [b.quartile3 for b in run.summary.lengths],
            dashed=several and index == 0,
        )
        for index, run in enumerate(runs)
    ]
    length = runs[-1].summary.length
    note = "The mean and the middle half of the totals. Each point stands for about equally many "
    note += f"rows; {unit}: median {length.median:,.0f}, longest {length.high:,.0f}."
    spec = line_chart(lines, x=unit, y="mean total")
    yield Chart("length", "Total by length", spec, "together", "" if several else note)


def correlation_charts(runs: Sequence[ReportedRun]) -> Iterator[Chart]:
    """Return how the components of one run correlate: a square for each pair."""
    if len(runs) > 1 or not runs[0].summary.rows:
        return
    names, matrix = runs[0].summary.names, runs[0].summary.correlation
    rows = [
        # + 0: no −0.00
        {"a": a, "b": b, "r": r, "shown": "–" if r is None else _signed(f"{round(r, 2) + 0.0:.2f}")}
        for a, line in zip(names, matrix, strict=True)
        for b, r in zip(names, line, strict=True)
    ]
    base = _chart(rows).encode(
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
    spec = _spec(alt.LayerChart(layer=[squares, texts]), max(120, 34 * len(names)))
    note = "Pearson’s correlation over the rows; – if one of the two never changes."
    yield Chart("correlation", "How components correlate", spec, "together", note)


def status_charts(runs: Sequence[ReportedRun]) -> Iterator[Chart]:
    """Return the share of each status, for each component of one run."""
    counts = runs[0].summary.component_statuses
    if len(runs) > 1 or not counts:
        return
    known = [*_STATUS_COLOURS, *sorted({s for _, s in counts} - set(_STATUS_COLOURS))]
    present = [status for status in known if any(s == status for _, s in counts)]
    rows = [
        {"component": component, "status": status, "rows": count, "order": known.index(status)}
        for (component, status), count in sorted(counts.items())
    ]
    colours = [_STATUS_COLOURS.get(status, _OTHER_STATUS) for status in present]
    order = list(runs[0].summary.spreads)
    bars = _chart(rows).mark_bar(cornerRadius=0)
    bars = bars.encode(
        x=alt.X("rows:Q", stack="normalize", title="rows", axis=_PERCENT),
        y=alt.Y("component:N", sort=order, title=None, axis=_names()),
        color=alt.Color(
            "status:N",
            title=None,
            scale=alt.Scale(domain=present, range=colours),
            legend=alt.Legend(columns=4),
        ),
        order=alt.Order("order:Q"),
        tooltip=["component:N", "status:N", alt.Tooltip("rows:Q", format=",")],
    )
    spec = _spec(bars, 34 * len({component for component, _ in counts}) + 20)
    yield Chart("statuses", "Statuses by component", spec, "trouble")


CHARTS: tuple[Callable[[Sequence[ReportedRun]], Iterator[Chart]], ...] = (
    *(value_charts, group_charts, at_k_charts, length_charts),
    *(correlation_charts, status_charts, step_charts),
)


# --- parts of charts ------------------------------------------------------------------------------


def _side_by_side(
    rows: list[dict[str, Any]],
    x: alt.X,
    title: str,
    runs: Sequence[ReportedRun],
    tip: list[Any],
    height: int = 200,
) -> Spec:
    """Return bars of the shares `of_run`; a run has the same colour in every chart."""
    scale, legend = alt.Scale(domain=[run.name for run in runs]), alt.Legend(labelLimit=140)
    bars = _chart(rows).mark_bar()
    bars = bars.encode(
        x=x,
        xOffset=alt.XOffset("run:N", sort=None),
        y=alt.Y("of_run:Q", title=title, axis=alt.Axis(format=".0%", tickCount=4)),
        color=alt.Color("run:N", title=None, sort=None, scale=scale, legend=legend),
        tooltip=["run:N", *tip, alt.Tooltip("of_run:Q", title=title, format=".1%")],
    )
    return _spec(bars, height)


def _chart(rows: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows))


def _spec(chart: alt.Chart | alt.LayerChart, height: int) -> Spec:
    """Return the specification of a chart that is as wide as its card."""
    spec: Spec = chart.properties(width="container", height=height).to_dict()
    spec.pop("config", None)  # the theme sets that
    return spec | {"autosize": {"type": "fit-x", "contains": "padding"}}


def _names(**more: Any) -> alt.Axis:
    return alt.Axis(labelLimit=130, labelOverlap=False, **more)


def _short(value: float) -> str:
    return _signed(f"{value:.4g}")


def _signed(text: str) -> str:
    return text.replace("-", "−")
