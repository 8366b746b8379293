"""One or two runs in; charts of what changes over their training steps out."""

from collections.abc import Callable, Sequence

from plaudit.report._content import Run
from plaudit.report._line_chart import Line, line_chart
from plaudit.report._parts import Curves, Part, share_of
from plaudit.report._theme import Chart, Spec


def curve_charts(runs: Sequence[Run]) -> list[Chart]:
    """The charts over steps; none if no run has them. Of two runs, the first is dashed."""
    if not any(run.curves for run in runs):
        return []
    step = next(run.folder.step for run in runs if run.curves) or "step"
    charts = [Chart("steps-total", "Total", _chart(runs, step, "total", lambda p: p.total, True))]
    components = list(dict.fromkeys(name for run in runs for name in run.folder.components))
    if len(runs) == 1:
        lines = [line for name in components for line in _lines(runs, name, _mean_of(name))]
        spec = line_chart(lines, x=step, y="mean")
        charts.append(Chart("steps-components", "Components", spec))
    else:
        for place, name in enumerate(components, 1):
            spec = _chart(runs, step, name, _mean_of(name))
            charts.append(Chart(f"steps-component-{place:02}", name, spec))
    if any(run.summary.correct for run in runs):
        spec = _chart(runs, step, "right", lambda p: share_of(p.right, p.decided), percent=True)
        charts.append(Chart("steps-right", "Right", spec))
    flat = _chart(runs, step, "groups", lambda p: share_of(p.flat, p.groups), percent=True)
    charts.append(Chart("steps-signal", "Groups without signal", flat))
    troubled = _chart(runs, step, "rows", lambda p: share_of(p.troubled, p.rows), percent=True)
    if any(run.summary.troubled for run in runs):
        charts.append(Chart("steps-trouble", "Rows in trouble", troubled))
    unit = runs[-1].summary.unit
    length = _chart(runs, step, unit, lambda p: p.length)
    charts.append(Chart("steps-length", f"Length in {unit}", length))
    return charts


def _mean_of(component: str) -> Callable[[Part], float | None]:
    return lambda part: part.means.get(component)


def _chart(
    runs: Sequence[Run],
    step: str,
    title: str,
    figure: Callable[[Part], float | None],
    band: bool = False,
    percent: bool = False,
) -> Spec:
    lines = _lines(runs, title, figure, band and len(runs) == 1)
    return line_chart(lines, x=step, y=title, percent=percent)


def _lines(
    runs: Sequence[Run], title: str, figure: Callable[[Part], float | None], band: bool = False
) -> list[Line]:
    found = []
    for place, run in enumerate(runs):
        if run.curves:
            name = run.name if len(runs) > 1 else title
            dashed = len(runs) > 1 and place == 0
            found.append(_line(name, run.curves, figure, band, dashed))
    return found


def _line(
    name: str,
    curves: Curves,
    figure: Callable[[Part], float | None],
    band: bool,
    dashed: bool,
) -> Line:
    parts = curves.parts
    return Line(
        name,
        curves.steps,
        [figure(part) for part in parts],
        low=[part.quartile1 for part in parts] if band else None,
        high=[part.quartile3 for part in parts] if band else None,
        dashed=dashed,
    )
