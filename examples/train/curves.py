"""Draws the curves of the runs that run.py made; run.py calls it at its end.

A thin line is a run, a thick line the mean over seeds.
"""

import json
import re
from pathlib import Path

import altair as alt

# For each panel: its title, whether problems were held out, the component, and the runs.
PANELS = (
    (
        "Mathematics: accuracy",
        "held out",
        "reasoning_accuracy_reward",
        {"mathematics": "trained", "mathematics-shuffled-golds": "shuffled golds"},
    ),
    (
        "CANOE: influence",
        "held out",
        "influence_reward",
        {
            "canoe": "trained",
            "canoe-without-influence": "without the influence reward",
            "canoe-shuffled-golds": "shuffled golds",
        },
    ),
    ("Boxes: IoU", "training", "iou_reward", {"boxes": "trained"}),
)
COLOURS = {
    "trained": "#1f77b4",
    "without the influence reward": "#ff7f0e",
    "shuffled golds": "#888888",
}
WINDOW = 5  # steps of training per point


def draw(runs: Path, out: Path) -> None:
    """Draw a panel for each task that was run, as a PNG."""
    panels = [panel(runs, *one) for one in PANELS if any(list(results(runs, n)) for n in one[3])]
    alt.hconcat(*panels).configure_view(stroke=None).configure_legend(
        orient="bottom", title=None, symbolOpacity=1
    ).save(str(out), scale_factor=1.5)


def panel(runs: Path, title: str, kind: str, name: str, tasks: dict[str, str]) -> alt.LayerChart:
    rows = [
        {"run": label, "seed": seed, "step": step, "value": value}
        for task, label in tasks.items()
        for seed, result in results(runs, task)
        for step, value in smoothed(result[kind][name], WINDOW if kind == "training" else 1)
    ]
    where = "held-out problems" if kind == "held out" else "problems of the step"
    colour = alt.Color("run:N", scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())))
    y = alt.Y("value:Q", title=f"mean, {where}", scale=alt.Scale(domain=[0, 1]))
    lines = alt.Chart(alt.Data(values=rows)).encode(x=alt.X("step:Q", title="step"), color=colour)
    each = lines.mark_line(opacity=0.35, strokeWidth=1).encode(y=y, detail="seed:N")
    mean = lines.mark_line(strokeWidth=2.5).encode(y=alt.Y("mean(value):Q"))
    return (each + mean).properties(title=title, width=240, height=200)


def results(runs: Path, task: str) -> list[tuple[int, dict]]:
    """The seed and the result of each run of a task."""
    found = [
        (re.fullmatch(rf"{task}(?:-(\d+))?", f.parent.name), f)
        for f in sorted(runs.glob("*/result.json"))
    ]
    return [(int(match[1] or 0), json.loads(file.read_text())) for match, file in found if match]


def smoothed(curve: list[tuple[int, float]], window: int) -> list[tuple[int, float]]:
    values = [value for _, value in curve]
    return [
        (curve[at][0], sum(values[at + 1 - window : at + 1]) / window)
        for at in range(window - 1, len(curve))
    ]
