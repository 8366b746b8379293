"""Two runs in; charts that show both side by side out."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from plaudit.report._charts import bars_axis, chart_of, file_name, short, spec_of
from plaudit.report._content import Run
from plaudit.report._curves import curve_charts
from plaudit.report._line_chart import Line, line_chart
from plaudit.report._pass_at_k import Array
from plaudit.report._summary import Bin, histogram
from plaudit.report._theme import Chart, Spec


def comparison_charts(before: Run, after: Run) -> list[Chart]:
    """Every chart for which there is data."""
    runs = (before, after)
    charts = []
    names = list(dict.fromkeys(["total", *before.folder.components, *after.folder.components]))
    for place, name in enumerate(names):
        values = [run.numbers.totals if not place else run.numbers.values.get(name) for run in runs]
        spec = histograms_chart([run.name for run in runs], values)
        if spec:
            title = f"{name}: rows by value"
            charts.append(Chart(f"component-{place:02}-{file_name(name)}", title, spec, name))
    charts += _groups_charts(runs)
    charts += curve_charts(runs)
    if all(run.summary.lengths for run in runs) and before.summary.unit == after.summary.unit:
        lines = [
            Line(
                run.name,
                [(b.low + b.high) / 2 for b in run.summary.lengths],
                [b.mean for b in run.summary.lengths],
                dashed=run is before,
            )
            for run in runs
        ]
        spec = line_chart(lines, x=after.summary.unit, y="mean total")
        charts.append(Chart("length", "Total by length", spec))
    return charts


def histograms_chart(names: Sequence[str], values: Sequence[Array | None]) -> Spec | None:
    """The rows of each run by value, as shares of its rows, side by side; None without values."""
    finite = [v[np.isfinite(v)] if v is not None else np.zeros(0) for v in values]
    if not sum(map(len, finite)):
        return None
    bins = histogram(np.concatenate(finite))
    rows = [
        {
            "run": name,
            "value": short(found.low),
            "values": _bin_name(found),
            "low": found.low,
            "high": found.high,
            "share": s,
        }
        for name, of in zip(names, finite, strict=True)
        if len(of)
        for found, s in zip(bins, _shares(bins, of), strict=True)
    ]
    bars = (
        chart_of(rows)
        .mark_bar()
        .encode(
            x=alt.X("value:O", sort=None, title=None, axis=bars_axis()),
            xOffset=alt.XOffset("run:N", sort=None),
            y=alt.Y("share:Q", title="rows", axis=alt.Axis(format=".0%", tickCount=4)),
            color=_run_colour(names),
            tooltip=[
                "run:N",
                alt.Tooltip("values:N", title="value"),
                alt.Tooltip("share:Q", title="rows", format=".1%"),
            ],
        )
    )
    return spec_of(bars, 150)


def _run_colour(names: Sequence[str]) -> alt.Color:
    """The colour of each run, the same in every chart, even in one where a run is missing."""
    scale, legend = alt.Scale(domain=list(names)), alt.Legend(labelLimit=140)
    return alt.Color("run:N", title=None, sort=None, scale=scale, legend=legend)


def _shares(bins: Sequence[Bin], values: Array) -> list[float]:
    if all(found.low == found.high for found in bins):
        counts = [int((values == found.low).sum()) for found in bins]
    else:
        edges = [*(found.low for found in bins), bins[-1].high]
        counts = np.histogram(values, edges)[0].tolist()
    return [round(count / len(values), 6) for count in counts]


def _bin_name(found: Bin) -> str:
    low, high = short(found.low), short(found.high)
    return low if low == high else f"{low} to {high}"


def _groups_charts(runs: Sequence[Run]) -> list[Chart]:
    charts = []
    shares = [run.summary.right_shares for run in runs]
    if all(shares) and len({tuple(s.label for s in found) for found in shares}) == 1:
        rows = [
            {"run": run.name, "share": share.label, "groups": share.count / total}
            for run, found in zip(runs, shares, strict=True)
            for total in [sum(share.count for share in found)]
            for share in found
        ]
        bars = (
            chart_of(rows)
            .mark_bar()
            .encode(
                x=alt.X("share:O", sort=None, title="completions that are right", axis=bars_axis()),
                xOffset=alt.XOffset("run:N", sort=None),
                y=alt.Y("groups:Q", title="groups", axis=alt.Axis(format=".0%", tickCount=4)),
                color=_run_colour([run.name for run in runs]),
                tooltip=["run:N", "share:O", alt.Tooltip("groups:Q", format=".1%")],
            )
        )
        charts.append(Chart("groups", "Groups by share of right completions", spec_of(bars, 200)))
    lines = [
        Line(
            f"{measure}, {run.name}",
            [at.k for at in run.summary.at_k],
            [getattr(at, field) for at in run.summary.at_k],
            dashed=place == 0,
        )
        for measure, field in (("pass@k", "passed"), ("maj@k", "majority"))
        for place, run in enumerate(runs)
        if run.summary.at_k
    ]
    if lines:
        spec = line_chart(lines, x="k completions", y="right", percent=True)
        charts.append(Chart("at-k", "pass@k and maj@k", spec))
    return charts
