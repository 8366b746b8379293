"""Two runs in; a page that shows them side by side out.

Prompts are matched by their text. A row of one run is shown beside that row of the other which is
the same completion of the same prompt: the first beside the first, the second beside the second.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plaudit.report._compare_charts import comparison_charts
from plaudit.report._content import Run
from plaudit.report._folder import rows_at
from plaudit.report._page import RowExcerpt, excerpt_of, in_order, table_values, with_rows
from plaudit.report._parts import Part, means_of, share_of
from plaudit.report._pass_at_k import Array
from plaudit.report._progress import Progress
from plaudit.report._sample import FULL_TEXT, Sample, sample_of
from plaudit.report._skeleton import package_file, render_html
from plaudit.report._summary import SAME
from plaudit.report._table import RowTable
from plaudit.report._theme import Chart

# A column, and for each of its values the part of the first run and of the second.
SplitInTwo = tuple[str, list[tuple[str, Part | None, Part | None]]]

LISTED = 10  # prompts that rose, and that fell


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of both runs, NaN or None where a run has none; a share is shown in percent."""

    name: str
    before: float | None
    after: float | None
    is_share: bool = False

    @property
    def change(self) -> float | None:
        """By how much it rose."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class ChangedPrompt:
    """A prompt of both runs: its mean totals, and the place of its first row in the second run."""

    place: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of two runs: how many are in both, and how their mean totals changed."""

    both: int
    only_before: int
    only_after: int
    higher: int
    lower: int
    rose: list[ChangedPrompt]
    fell: list[ChangedPrompt]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that the page of two runs shows, except the rows of its table."""

    runs: tuple[Run, Run]
    measures: list[Measure]
    prompts: Prompts
    breakdowns: list[SplitInTwo]
    charts: list[Chart]
    samples: tuple[Sample, Sample]
    pairs: tuple[Array, Array]


def names_of(directories: Sequence[Path]) -> list[str]:
    """Short names that tell two folders apart.

    >>> names_of([Path("/runs/a/scored"), Path("/runs/b/scored")])
    ['a/scored', 'b/scored']
    >>> names_of([Path("/runs/a"), Path("/runs/b")])
    ['a', 'b']
    """
    parts = [directory.resolve().parts for directory in directories]
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-length:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({place})" for place, name in enumerate(names, 1)]


def comparison_of(before: Run, after: Run, rows: int) -> Comparison:
    """What differs between two runs; the page's table holds `rows` rows of both together."""
    pairs = paired_rows(before, after)
    prompts = prompts_of(before, after)
    wanted = [changed.place for changed in (*prompts.rose, *prompts.fell)]
    half, text = max(1, rows // 2), FULL_TEXT // 2
    later = sample_of(after.numbers, after.summary, half, wanted, text)
    partner = dict(zip(pairs[1].tolist(), pairs[0].tolist(), strict=True))
    beside = [partner[place] for place in later.places.tolist() if place in partner]
    earlier = sample_of(before.numbers, before.summary, half, beside, text)
    return Comparison(
        runs=(before, after),
        measures=measures_of(before, after),
        prompts=prompts,
        breakdowns=_breakdowns(before, after),
        charts=comparison_charts(before, after),
        samples=(earlier, later),
        pairs=pairs,
    )


def _prompt_numbers(run: Run) -> Array:
    assert run.numbers.prompts is not None  # they were asked for
    return run.numbers.prompts


def paired_rows(before: Run, after: Run) -> tuple[Array, Array]:
    """The places of rows that are the same completion of the same prompt, in both runs."""
    a, b = (_row_keys(_prompt_numbers(run)) for run in (before, after))
    _, earlier, later = np.intersect1d(a, b, return_indices=True)
    return earlier, later


def _row_keys(prompts: Array) -> Array:
    """A number for each row, of its prompt and of which completion of the prompt it is."""
    order = np.argsort(prompts, kind="stable")
    found = prompts[order]
    starts = np.flatnonzero(np.r_[True, found[1:] != found[:-1]]) if len(found) else order
    counts = np.diff(np.r_[starts, len(found)])
    which = np.empty(len(found), np.uint64)
    which[order] = np.arange(len(found)) - np.repeat(starts, counts)
    keys: Array = prompts.astype(np.uint64) ^ (which * np.uint64(0x9E3779B97F4A7C15))
    return keys


def prompts_of(before: Run, after: Run) -> Prompts:
    """How the mean totals of the prompts changed."""
    numbers = [_prompt_numbers(run) for run in (before, after)]
    _, codes = np.unique(np.concatenate(numbers), return_inverse=True)
    many = int(codes.max()) + 1 if len(codes) else 0
    split = codes[: len(numbers[0])], codes[len(numbers[0]) :]
    there = [np.bincount(found, minlength=many) > 0 for found in split]
    means = [
        means_of(found, run.numbers.totals, many)
        for found, run in zip(split, (before, after), strict=True)
    ]
    first = np.full(many, len(split[1]), np.int64)
    np.minimum.at(first, split[1], np.arange(len(split[1])))
    change = np.where(there[0] & there[1], means[1] - means[0], np.nan)
    order = [int(code) for code in np.argsort(change, kind="stable") if not np.isnan(change[code])]

    def listed(chosen: list[int]) -> list[ChangedPrompt]:
        return [
            ChangedPrompt(int(first[c]), float(means[0][c]), float(means[1][c])) for c in chosen
        ]

    return Prompts(
        both=int((there[0] & there[1]).sum()),
        only_before=int((there[0] & ~there[1]).sum()),
        only_after=int((there[1] & ~there[0]).sum()),
        higher=int((change > SAME).sum()),
        lower=int((change < -SAME).sum()),
        rose=listed([code for code in reversed(order[-LISTED:]) if change[code] > SAME]),
        fell=listed([code for code in order[:LISTED] if change[code] < -SAME]),
    )


def measures_of(before: Run, after: Run) -> list[Measure]:
    """The figures that the page begins with."""
    a, b = before.summary, after.summary

    def share(name: str, of: Any) -> Measure:
        return Measure(name, share_of(*of(a)), share_of(*of(b)), is_share=True)

    found = [Measure("mean total", a.total.mean, b.total.mean)]
    if a.correct or b.correct:
        found.append(share("right", lambda s: (s.right, s.decided)))
    for at, at_later in zip(a.at_k, b.at_k, strict=False):
        if at.k == at_later.k > 1:
            found.append(Measure(f"pass@{at.k}", at.passed, at_later.passed, is_share=True))
    for name in dict.fromkeys([*a.spreads, *b.spreads]):
        earlier, later = (s.spreads[name].mean if name in s.spreads else None for s in (a, b))
        found.append(Measure(name, earlier, later))
    found += [
        share("groups without signal", lambda s: (s.signal.without_signal, s.signal.groups)),
        share("rows in trouble", lambda s: (s.troubled, s.rows)),
    ]
    if a.unit == b.unit:
        found.append(Measure(f"median length, {a.unit}", a.length.median, b.length.median))
    if before.agreement or after.agreement:
        earlier, later = (r.agreement.kappa if r.agreement else None for r in (before, after))
        found.append(Measure("agreement with the label, kappa", earlier, later))
    return found


def _breakdowns(before: Run, after: Run) -> list[SplitInTwo]:
    """For each column to split by: each value, and its part of both runs."""
    a, b = (
        {found.column: {part.name: part for part in found.parts} for found in run.breakdowns}
        for run in (before, after)
    )
    return [
        (
            column,
            [
                (name, a[column].get(name), b[column].get(name))
                for name in dict.fromkeys([*b[column], *a[column]])
            ],
        )
        for column in b
        if column in a
    ]


def page_of(comparison: Comparison, progress: Progress, vega: str) -> str:
    """The page as HTML."""
    runs, prompts = comparison.runs, comparison.prompts
    table = RowTable(runs)
    referenced = {changed.place for changed in (*prompts.rose, *prompts.fell)}
    excerpts: dict[int, RowExcerpt] = {}
    at: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for which, (run, sample) in enumerate(zip(runs, comparison.samples, strict=True)):
        for place, row in rows_at(run.folder, sample.places, run.folder.others, progress):
            at[which][place] = len(at[0]) + len(at[1])
            table.add(which, place, row, place in sample.full)
            if which == 1 and place in referenced:
                excerpts[place] = excerpt_of(run, row)
    table.pair(
        (at[0][a], at[1][b])
        for a, b in zip(*(places.tolist() for places in comparison.pairs), strict=True)
        if a in at[0] and b in at[1]
    )
    statuses = [in_order(run.summary.statuses) for run in runs]
    values = {
        "comparison": comparison,
        "before": runs[0],
        "after": runs[1],
        "excerpts": excerpts,
        "charts": {chart.name: chart for chart in comparison.charts},
        "component_charts": _starting(comparison.charts, "component-"),
        "curve_charts": _starting(comparison.charts, "steps-"),
        "statuses": [
            (name, *(found.get(name, 0) for found in statuses))
            for name in dict.fromkeys([*statuses[1], *statuses[0]])
        ],
        **table_values(
            runs,
            sum(len(sample.places) for sample in comparison.samples),
            sum(len(sample.full) for sample in comparison.samples),
        ),
    }
    return with_rows(
        f"{runs[0].name} and {runs[1].name}",
        render_html(package_file("compare.html.jinja"), values),
        about=render_html(package_file("compare_about.html.jinja"), values),
        sections=_sections(comparison),
        charts=comparison.charts,
        table=table,
        vega=vega,
    )


def _starting(charts: Sequence[Chart], start: str) -> list[Chart]:
    return [chart for chart in charts if chart.name.startswith(start)]


def _sections(comparison: Comparison) -> dict[str, str]:
    found = {
        "measures": ("In short", True),
        "components": ("Components", True),
        "steps": ("Steps", _starting(comparison.charts, "steps-")),
        "split": ("By column", comparison.breakdowns),
        "groups": ("Groups", True),
        "prompts": ("Prompts", True),
        "rows": ("Rows", True),
    }
    return {name: title for name, (title, there) in found.items() if there}
