"""The page of one run, or of two side by side, and the files of a report.

What a model wrote is never markup: Jinja escapes what it puts into the page, and the rows are
compressed JSON, which the script puts into the page as text only. A content security policy allows
the scripts of the page by their hashes, and no request at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from plaudit.reports._charts import charts_of, png_of
from plaudit.reports._page_rows import (
    CUT,
    FULL_TEXT,
    LONGEST,
    Picture,
    RowTable,
    Sample,
    candidate_rows,
    pictures_of,
    sample_of,
    value_of,
)
from plaudit.reports._scored_run import (
    Array,
    Folder,
    ReportOptions,
    completion_text,
    distinct_names,
    prompt_text,
    rows_at,
)
from plaudit.reports._summary import (
    LISTED,
    SAME,
    SHOWN,
    Part,
    ReportedRun,
    first_rows,
    means_of,
    run_of,
    share_of,
)
from plaudit.reports.chart import Chart
from plaudit.reports.page import bundling, html_page, package_file, packed, render_html
from plaudit.scores.score import STATUSES
from plaudit.tables import open_scored
from plaudit.tables.summary import ProgressLine

_LINE = 220  # characters of a text in a list
_SCRIPTS = ("latex.js", "row.js", "page.js")
_PROMPTS_LISTED = 10  # prompts that rose, and that fell


@dataclass(frozen=True, slots=True)
class PageContent:
    """All that the page shows of one run or two, except the rows of its table."""

    runs: tuple[ReportedRun, ...]
    samples: tuple[Sample, ...]
    charts: list[Chart]
    pictures: list[Picture]  # of one run
    changes: "Changes | None" = None  # from the first run to the second, if there are two


@dataclass(frozen=True, slots=True)
class RowExcerpt:
    """The beginning of a row's texts, for the lists of the page."""

    row: int
    prompt: str
    completion: str
    why: str


def write_page(
    directories: Sequence[Path],
    out: Path,
    rows: int,
    options: ReportOptions,
    images: Path | None,
    progress: ProgressLine,
) -> Path:
    """Write the page and the charts of one run, or of two, into `out`; return the page's path."""
    several = len(directories) > 1
    # Only one of two runs may have the component that was named; if none has it, each refuses.
    has = [options.correct in open_scored(directory).components for directory in directories]
    of_runs = [options if yes or not any(has) else replace(options, correct=None) for yes in has]
    names = distinct_names(directories)
    with bundling() as script:
        runs = [
            run_of(directory, of_run, progress, name, prompts=several)
            for directory, of_run, name in zip(directories, of_runs, names, strict=True)
        ]
        if several:
            content = content_of_two(runs[0], runs[1], rows)
        else:
            content = content_of_one(runs[0], rows, images)
        out.mkdir(parents=True, exist_ok=True)
        for earlier in (*out.glob("component-*.png"), *out.glob("steps-*.png")):
            earlier.unlink()
        for chart in content.charts:
            progress(f"drawing {chart.title}")
            (out / f"{chart.name}.png").write_bytes(png_of(chart))
        html = page_of(content, progress, script())
    page = out / "index.html"
    page.write_text(html, encoding="utf-8", newline="\n")
    return page


def page_of(content: PageContent, progress: ProgressLine, vega: str) -> str:
    """Return the page as HTML."""
    runs, several, last = content.runs, len(content.runs) > 1, content.runs[-1]
    table, referenced = RowTable(runs), _listed_rows(content)
    excerpts: dict[int, RowExcerpt] = {}  # of rows of the last run
    numbers: list[dict[int, int]] = [{} for _ in runs]  # the index of a row -> that in the table
    for which, (run, sample) in enumerate(zip(runs, content.samples, strict=True)):
        for index, row in rows_at(run.folder, sample.rows, run.folder.others, progress):
            numbers[which][index] = sum(map(len, numbers))
            table.add(which, index, row, index in sample.full)
            if run is last and index in referenced:
                excerpts[index] = _excerpt_of(run, row)
    if content.changes:
        pairs = zip(*(rows.tolist() for rows in content.changes.pairs), strict=True)
        known = ((numbers[0].get(a), numbers[1].get(b)) for a, b in pairs)
        table.pair((a, b) for a, b in known if a is not None and b is not None)
    values = {
        "content": content,
        "runs": runs,
        "run": last,
        "summary": last.summary,
        "signal": last.summary.signal,
        "groups": last.summary.groups,
        "agreement": last.agreement,
        "component_charts": _component_charts(content),
        "excerpts": excerpts,
        "listed": LISTED,
        "statuses": _statuses(runs),
        "charts_in": partial(_charts_in, content.charts),
        "all_rows": sum(run.summary.rows for run in runs),
        "shown": sum(len(sample.rows) for sample in content.samples),
        "full": sum(len(sample.full) for sample in content.samples),
        "cut": CUT,
        "longest": LONGEST,
        "columns": list(dict.fromkeys(name for run in runs for name in run.folder.others)),
        "labelled": any(run.agreement for run in runs),
    }
    data, latex = packed(table.data()), table.has_latex
    katex = [package_file("katex/katex.min.js")] if latex else []
    return html_page(
        " and ".join(run.name for run in runs),
        render_html(package_file("compare.html.jinja" if several else "page.html.jinja"), **values),
        kind="plaudit report",
        about=render_html(package_file("about.html.jinja"), **values),
        sections=_sections(content),
        charts=content.charts,
        data={"data": data},
        styles=[package_file("katex/katex.min.css")] if latex else [],
        scripts=[*katex, "\n".join(map(package_file, _SCRIPTS))],
        vega=vega,
        after=render_html(package_file("row.html.jinja"), latex=latex),
    )


def _sections(content: PageContent) -> dict[str, str]:
    """Return the sections of the page, for its navigation."""
    run, alone = content.runs[-1], content.changes is None
    split = run.breakdowns if content.changes is None else content.changes.breakdowns
    found = {
        "measures": ("In short", not alone),
        "components": ("Components", True),
        "steps": ("Steps", _charts_in(content.charts, "steps")),
        "split": ("By column", split),
        "agreement": ("Agreement", alone and run.agreement),
        "groups": ("Groups", True),
        "together": ("Length and correlation", alone),
        "trouble": ("Trouble", alone),
        "prompts": ("Prompts", True),
        "boxes": ("Boxes and points", content.pictures),
        "rows": ("Rows", True),
    }
    return {name: title for name, (title, there) in found.items() if there}


def _charts_in(charts: Sequence[Chart], *sections: str) -> list[Chart]:
    return [chart for chart in charts if chart.section in sections]


def _component_charts(content: PageContent) -> list[tuple[str, Any, Chart | None]]:
    """Return each component's name, spread and histogram; the total is the first."""
    by_filter = {chart.filter: chart for chart in content.charts if chart.filter}
    spreads = {"total": content.runs[-1].summary.total, **content.runs[-1].summary.spreads}
    return [(name, spread, by_filter.get(name)) for name, spread in spreads.items()]


def _statuses(runs: Sequence[ReportedRun]) -> dict[str, list[int]]:
    """Return how many rows of each run have a status: best first, then any not plaudit's own."""
    counts = [run.summary.statuses for run in runs]
    there = dict.fromkeys(status for found in reversed(counts) for status in found)
    order = dict.fromkeys([*(s for s in reversed(STATUSES) if s in there), *there])
    return {status: [found.get(status, 0) for found in counts] for status in order}


def _listed_rows(content: PageContent) -> set[int]:
    """Return the rows of the last run that the page lists."""
    if content.changes:
        return set(content.changes.prompts.rows)
    (run,), (sample,) = content.runs, content.samples
    groups = [*sample.hardest, *sample.contested, *sample.without_signal]
    return {
        *(row for rows in sample.examples.values() for row in rows),
        *_disagreeing(run, LISTED),
        *(int(run.summary.groups.first[group]) for group in groups),
        *(picture.row for picture in content.pictures),
    }


def _disagreeing(run: ReportedRun, most: int) -> list[int]:
    """Return rows about which the reward and the label disagree, so many of each kind at most."""
    found = run.agreement
    return [] if not found else [*found.wrongly_paid[:most], *found.wrongly_refused[:most]]


def _excerpt_of(run: ReportedRun, row: dict[str, Any]) -> RowExcerpt:
    """Return the beginning of a row's texts, and why it has its status, or is right or wrong."""
    folder, explained = run.folder, row["explanation"] or []
    name, wanted = "status", row["status"]
    if wanted == "scored" and run.summary.correct:
        name, wanted = "component", run.summary.correct
    bad = [entry for entry in explained if entry[name] == wanted] or explained
    return RowExcerpt(
        row["row_id"],
        _one_line(prompt_text(value_of(row, folder.prompt))),
        _one_line(completion_text(value_of(row, folder.completion)), from_end=True),
        _one_line(str(bad[0]["why"] or "")) if bad else "",
    )


def _one_line(text: str, from_end: bool = False) -> str:
    """Return the text on one line; if it is long, its beginning or its end."""
    # Cut twice: a text may be long, and so may its white space.
    text = text[-4 * _LINE :] if from_end else text[: 4 * _LINE]
    line = " ".join(text.split())
    if len(line) <= _LINE:
        return line
    return "…" + line[-_LINE:] if from_end else line[:_LINE] + "…"


# --- one run --------------------------------------------------------------------------------------


def content_of_one(run: ReportedRun, rows: int, images: Path | None) -> PageContent:
    """Return what the page of one run shows."""
    folder = run.folder
    pictures = pictures_of(
        rows_at(
            folder, candidate_rows(folder, run.numbers), [folder.image] if folder.image else []
        ),
        folder.image,
        _image_folders(folder) if images is None else [images],
    )
    wanted = [*(picture.row for picture in pictures), *_disagreeing(run, SHOWN)]
    sample = sample_of(run.numbers, run.summary, rows, wanted)
    return PageContent((run,), (sample,), charts_of([run]), pictures)


def _image_folders(folder: Folder) -> list[Path]:
    """Return where images may be read from: the folders of the inputs, and the scored folder."""
    inputs = folder.scored.run.get("inputs") or []
    found = [
        Path(str(entry.get("path", "")) if isinstance(entry, Mapping) else str(entry))
        for entry in (inputs if isinstance(inputs, list) else [inputs])
    ]
    folders = [path if path.is_dir() else path.parent for path in found]
    return list(dict.fromkeys([*folders, folder.scored.path]))


# --- two runs -------------------------------------------------------------------------------------

# A column, and for each of its values the part of the first run and of the second.
SplitInTwo = tuple[str, list[tuple[str, Part | None, Part | None]]]


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed from one run to another; `pairs`: the rows of both that belong together."""

    measures: "list[ComparedFigure]"
    prompts: "ComparedPrompts"
    breakdowns: list[SplitInTwo]
    pairs: tuple[Array, Array]


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """A figure of both runs, NaN or None if a run has none; a share is shown in percent."""

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
    """A prompt of both runs: its first row in the second run, and its mean totals."""

    row: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class ComparedPrompts:
    """The prompts of two runs: how many are in both, and how their mean totals changed."""

    both: int
    only_before: int
    only_after: int
    higher: int
    lower: int
    rose: list[ChangedPrompt]
    fell: list[ChangedPrompt]

    @property
    def rows(self) -> list[int]:
        """The first rows of the prompts that are listed, in the second run."""
        return [prompt.row for prompt in (*self.rose, *self.fell)]


def content_of_two(before: ReportedRun, after: ReportedRun, rows: int) -> PageContent:
    """Return what the page of two runs shows; its table holds `rows` rows of both together."""
    pairs = paired_rows(before, after)
    prompts = prompts_of(before, after)
    half, text = max(1, rows // 2), FULL_TEXT // 2
    later = sample_of(after.numbers, after.summary, half, prompts.rows, text)
    partner = dict(zip(pairs[1].tolist(), pairs[0].tolist(), strict=True))
    partners = [partner[row] for row in later.rows.tolist() if row in partner]
    earlier = sample_of(before.numbers, before.summary, half, partners, text)
    runs = (before, after)
    changes = Changes(measures_of(before, after), prompts, _breakdowns(before, after), pairs)
    return PageContent(runs, (earlier, later), charts_of(runs), [], changes)


def _prompt_numbers(run: ReportedRun) -> Array:
    assert run.numbers.prompts is not None  # they were asked for
    return run.numbers.prompts


def paired_rows(before: ReportedRun, after: ReportedRun) -> tuple[Array, Array]:
    """Return the rows that are the same completion of the same prompt, in both runs."""
    a, b = (_row_keys(_prompt_numbers(run)) for run in (before, after))
    _, earlier, later = np.intersect1d(a, b, return_indices=True)
    return earlier, later


def _row_keys(prompts: Array) -> Array:
    """Return a number for each row, of its prompt and of which completion of the prompt it is."""
    order = np.argsort(prompts, kind="stable")
    found = prompts[order]
    starts = np.flatnonzero(np.r_[True, found[1:] != found[:-1]]) if len(found) else order
    counts = np.diff(np.r_[starts, len(found)])
    which = np.empty(len(found), np.uint64)
    which[order] = np.arange(len(found)) - np.repeat(starts, counts)
    keys: Array = prompts.astype(np.uint64) ^ (which * np.uint64(0x9E3779B97F4A7C15))
    return keys


def prompts_of(before: ReportedRun, after: ReportedRun) -> ComparedPrompts:
    """Return how the mean totals of the prompts changed."""
    numbers = [_prompt_numbers(run) for run in (before, after)]
    _, codes = np.unique(np.concatenate(numbers), return_inverse=True)
    many = int(codes.max()) + 1 if len(codes) else 0
    split = codes[: len(numbers[0])], codes[len(numbers[0]) :]
    there = [np.bincount(found, minlength=many) > 0 for found in split]
    means = [
        means_of(found, run.numbers.totals, many)
        for found, run in zip(split, (before, after), strict=True)
    ]
    first = first_rows(split[1], many)
    change = np.where(there[0] & there[1], means[1] - means[0], np.nan)
    order = [int(code) for code in np.argsort(change, kind="stable") if not np.isnan(change[code])]

    def listed(chosen: list[int]) -> list[ChangedPrompt]:
        return [
            ChangedPrompt(int(first[c]), float(means[0][c]), float(means[1][c])) for c in chosen
        ]

    return ComparedPrompts(
        both=int((there[0] & there[1]).sum()),
        only_before=int((there[0] & ~there[1]).sum()),
        only_after=int((there[1] & ~there[0]).sum()),
        higher=int((change > SAME).sum()),
        lower=int((change < -SAME).sum()),
        rose=listed([code for code in reversed(order[-_PROMPTS_LISTED:]) if change[code] > SAME]),
        fell=listed([code for code in order[:_PROMPTS_LISTED] if change[code] < -SAME]),
    )


def measures_of(before: ReportedRun, after: ReportedRun) -> list[ComparedFigure]:
    """Return the figures that the page begins with."""
    a, b = before.summary, after.summary

    def share(name: str, of: Any) -> ComparedFigure:
        return ComparedFigure(name, share_of(*of(a)), share_of(*of(b)), is_share=True)

    found = [ComparedFigure("mean total", a.total.mean, b.total.mean)]
    if a.correct or b.correct:
        found.append(share("right", lambda s: (s.right, s.decided)))
    for at, at_later in zip(a.at_k, b.at_k, strict=False):
        if at.k == at_later.k > 1:
            found.append(ComparedFigure(f"pass@{at.k}", at.passed, at_later.passed, is_share=True))
    for name in dict.fromkeys([*a.spreads, *b.spreads]):
        earlier, later = (s.spreads[name].mean if name in s.spreads else None for s in (a, b))
        found.append(ComparedFigure(name, earlier, later))
    found += [
        share("groups without signal", lambda s: (s.signal.without_signal, s.signal.groups)),
        share("rows in trouble", lambda s: (s.troubled, s.rows)),
    ]
    if a.unit == b.unit:
        found.append(ComparedFigure(f"median length, {a.unit}", a.length.median, b.length.median))
    if before.agreement or after.agreement:
        earlier, later = (r.agreement.kappa if r.agreement else None for r in (before, after))
        found.append(ComparedFigure("agreement with the label, kappa", earlier, later))
    return found


def _breakdowns(before: ReportedRun, after: ReportedRun) -> list[SplitInTwo]:
    """Return, for each column to split by, each value and its part of both runs."""
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
