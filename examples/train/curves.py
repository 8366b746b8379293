"""Draws the curves of the runs that run.py made: python curves.py OUT.png

It needs the extra plaudit[report]. A thin line is a run, a thick line the mean over seeds.
"""

import json
import re
import sys
from pathlib import Path

import altair as alt

RUNS = Path(__file__).parent / "runs"
TITLES = {
    "mathematics": "Mathematics, trl-reasoning",
    "canoe": "CANOE, canoe-dual",
    "boxes": "Boxes, vlm-r1-rec",
}
WINDOW = 5  # steps per point


def main(out: Path) -> None:
    panels = [panel(task, title) for task, title in TITLES.items()]
    alt.hconcat(*panels).resolve_scale(color="independent").configure_view(stroke=None).save(
        str(out), scale_factor=1.5
    )


def panel(task: str, title: str) -> alt.LayerChart:
    rows = points(task)
    x = alt.X("step:Q", title="step")
    y = alt.Y("value:Q", title="mean reward", scale=alt.Scale(zero=True))
    colour = alt.Color(
        "name:N", title=None, legend=alt.Legend(orient="bottom", columns=1, symbolOpacity=1)
    )
    lines = alt.Chart(alt.Data(values=rows)).encode(x=x, color=colour)
    each = lines.mark_line(opacity=0.3, strokeWidth=1).encode(y=y, detail="seed:N")
    mean = lines.mark_line(strokeWidth=2).encode(y=alt.Y("mean(value):Q", title="mean reward"))
    return (each + mean).properties(title=title, width=240, height=200)


def points(task: str) -> list[dict]:
    """A point of each curve of each seed, smoothed over a few steps."""
    made = []
    for file in sorted(RUNS.glob(f"{task}*/result.json")):
        seed = re.sub(r"\D", "", file.parent.name) or "0"
        for name, curve in json.loads(file.read_text())["curves"].items():
            for step in range(WINDOW, len(curve) + 1):
                value = sum(curve[step - WINDOW : step]) / WINDOW
                made.append({"name": name, "seed": seed, "step": step, "value": value})
    return made


if __name__ == "__main__":
    main(Path(sys.argv[1]))
