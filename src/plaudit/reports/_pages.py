"""The page of one run, the page of two runs side by side, and the files of a report.

What a model wrote is never markup: Jinja escapes what it puts into the page, and the rows are
compressed JSON, which the script puts into the page as text only. A content security policy allows
the scripts of the page by their hashes, and no request at all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from plaudit.reports import _boxes
from plaudit.reports._boxes import Picture
from plaudit.reports._charts import charts_of, png_of
from plaudit.reports._folder import (
    Folder,
    Progress,
    ReportOptions,
    completion_text,
    prompt_text,
    rows_at,
)
from plaudit.reports._pass_at_k import Array
from plaudit.reports._rows import CUT, FULL_TEXT, LONGEST, RowTable, Sample, sample_of, value_of
from plaudit.reports._summary import (
    LISTED,
    SAME,
    SHOWN,
    Part,
    ReportedRun,
    means_of,
    run_of,
    share_of,
)
from plaudit.reports.chart import Chart
from plaudit.reports.page import bundling, html_page, package_file, packed, render_html
from plaudit.scores.score import STATUSES
from plaudit.tables import open_scored

_LINE = 220  # characters of a text in a list
_SCRIPTS = ("latex.js", "row.js", "page.js")


@dataclass(frozen=True, slots=True)
class Content:
    """All that the page shows, except the rows of its table."""

    run: ReportedRun
    sample: Sample
    charts: list[Chart]
    pictures: list[Picture]


@dataclass(frozen=True, slots=True)
class RowExcerpt:
    """The beginning of a row's texts, for the lists of the page."""

    row: int
    prompt: str
    completion: str
    why: str


def page_of(content: Content, rows: Iterable[tuple[int, dict[str, Any]]], vega: str) -> str:
    """Return the page as HTML; `rows` are those of its table, each with its place."""
    run, excerpts = content.run, {}
    table, referenced = RowTable([run]), _referenced(content)
    for place, row in rows:
        table.add(0, place, row, place in content.sample.full)
        if place in referenced:
            excerpts[place] = excerpt_of(run, row)
    values = {
        "content": content,
        "run": run,
        "summary": run.summary,
        "signal": run.summary.signal,
        "groups": run.summary.groups,
        "agreement": run.agreement,
        "listed": LISTED,
        "excerpts": excerpts,
        "statuses": in_order(run.summary.statuses),
        "charts_in": partial(charts_in, content.charts),
        "component_charts": _component_charts(content),
        **table_values([run], len(content.sample.places), len(content.sample.full)),
    }
    return with_rows(
        run.name,
        render_html(package_file("page.html.jinja"), **values),
        about=render_html(package_file("about.html.jinja"), **values),
        sections=_sections(content),
        charts=content.charts,
        table=table,
        vega=vega,
    )


def with_rows(
    heading: str,
    body: str,
    *,
    about: str,
    sections: Mapping[str, str],
    charts: list[Chart],
    table: RowTable,
    vega: str,
) -> str:
    """Return a page with a table of rows, and with KaTeX if one of them has a formula."""
    data, latex = table.data(), table.has_latex
    katex = [package_file("katex/katex.min.js")] if latex else []
    return html_page(
        heading,
        body,
        kind="plaudit report",
        about=about,
        sections=sections,
        charts=charts,
        data={"data": packed(data)},
        styles=[package_file("katex/katex.min.css")] if latex else [],
        scripts=[*katex, "\n".join(map(package_file, _SCRIPTS))],
        vega=vega,
        fetches=False,
        after=render_html(package_file("row.html.jinja"), latex=latex),
    )


def table_values(runs: Sequence[ReportedRun], shown: int, full: int) -> dict[str, Any]:
    """Return what the section of the rows says of them."""
    return {
        "runs": runs,
        "all_rows": sum(run.summary.rows for run in runs),
        "shown": shown,
        "full": full,
        "cut": CUT,
        "longest": LONGEST,
        "columns": list(dict.fromkeys(name for run in runs for name in run.folder.others)),
        "labelled": any(run.agreement for run in runs),
    }


def _sections(content: Content) -> dict[str, str]:
    """Return the sections of the page, for its navigation."""
    run = content.run
    found = {
        "components": ("Components", True),
        "steps": ("Steps", run.curves),
        "split": ("By column", run.breakdowns),
        "agreement": ("Agreement", run.agreement),
        "groups": ("Groups", True),
        "together": ("Length and correlation", True),
        "trouble": ("Trouble", True),
        "prompts": ("Prompts", True),
        "boxes": ("Boxes", content.pictures),
        "rows": ("Rows", True),
    }
    return {name: title for name, (title, there) in found.items() if there}


def in_order(statuses: Mapping[str, int]) -> dict[str, int]:
    """Return the statuses, best first, then any that are not plaudit's own."""
    known = [status for status in reversed(STATUSES) if status in statuses]
    return {status: statuses[status] for status in dict.fromkeys([*known, *statuses])}


def _component_charts(content: Content) -> list[tuple[str, Any, Chart | None]]:
    """Return each component's name, spread and histogram; the total is the first."""
    by_filter = {chart.filter: chart for chart in content.charts if chart.filter}
    spreads = {"total": content.run.summary.total, **content.run.summary.spreads}
    return [(name, spread, by_filter.get(name)) for name, spread in spreads.items()]


def _referenced(content: Content) -> set[int]:
    sample, first = content.sample, content.run.summary.groups.first
    groups = [*sample.hardest, *sample.contested, *sample.without_signal]
    examples = [place for places in sample.examples.values() for place in places]
    return {
        *examples,
        *disagreeing(content.run, LISTED),
        *(int(first[group]) for group in groups),
        *(p.place for p in content.pictures),
    }


def disagreeing(run: ReportedRun, most: int) -> list[int]:
    """The places of rows where the reward and the label disagree, so many of each kind at most."""
    found = run.agreement
    return [] if not found else [*found.wrongly_paid[:most], *found.wrongly_refused[:most]]


def excerpt_of(run: ReportedRun, row: dict[str, Any]) -> RowExcerpt:
    """The beginning of a row's texts: of why it has its status, or why it is right or wrong."""
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


# A column, and for each of its values the part of the first run and of the second.
SplitInTwo = tuple[str, list[tuple[str, Part | None, Part | None]]]

PROMPTS_LISTED = 10  # prompts that rose, and that fell


@dataclass(frozen=True, slots=True)
class ComparedFigure:
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

    runs: tuple[ReportedRun, ReportedRun]
    measures: list[ComparedFigure]
    prompts: Prompts
    breakdowns: list[SplitInTwo]
    charts: list[Chart]
    samples: tuple[Sample, Sample]
    pairs: tuple[Array, Array]


def names_of(directories: Sequence[Path]) -> list[str]:
    """Short names that tell two folders apart."""
    parts = [directory.resolve().parts for directory in directories]
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-length:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({place})" for place, name in enumerate(names, 1)]


def comparison_of(before: ReportedRun, after: ReportedRun, rows: int) -> Comparison:
    """Return what differs between two runs; the page's table holds `rows` rows of both together."""
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
        charts=charts_of((before, after)),
        samples=(earlier, later),
        pairs=pairs,
    )


def _prompt_numbers(run: ReportedRun) -> Array:
    assert run.numbers.prompts is not None  # they were options for
    return run.numbers.prompts


def paired_rows(before: ReportedRun, after: ReportedRun) -> tuple[Array, Array]:
    """Return the places of rows that are the same completion of the same prompt, in both runs."""
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


def prompts_of(before: ReportedRun, after: ReportedRun) -> Prompts:
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
        rose=listed([code for code in reversed(order[-PROMPTS_LISTED:]) if change[code] > SAME]),
        fell=listed([code for code in order[:PROMPTS_LISTED] if change[code] < -SAME]),
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


def comparison_page(comparison: Comparison, progress: Progress, vega: str) -> str:
    """Return the page as HTML."""
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
        "charts_in": partial(charts_in, comparison.charts),
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
        render_html(package_file("compare.html.jinja"), **values),
        about=render_html(package_file("compare_about.html.jinja"), **values),
        sections=_comparison_sections(comparison),
        charts=comparison.charts,
        table=table,
        vega=vega,
    )


def charts_in(charts: Sequence[Chart], *sections: str) -> list[Chart]:
    """Return the charts of some sections of the page."""
    return [chart for chart in charts if chart.section in sections]


def _comparison_sections(comparison: Comparison) -> dict[str, str]:
    found = {
        "measures": ("In short", True),
        "components": ("Components", True),
        "steps": ("Steps", charts_in(comparison.charts, "steps")),
        "split": ("By column", comparison.breakdowns),
        "groups": ("Groups", True),
        "prompts": ("Prompts", True),
        "rows": ("Rows", True),
    }
    return {name: title for name, (title, there) in found.items() if there}


def write(
    directory: Path,
    out: Path,
    rows: int,
    options: ReportOptions,
    images: Path | None,
    progress: Progress,
) -> Path:
    """Write the page and the charts of a run into `out`; return the path of the page."""
    with bundling() as script:
        content = _content(run_of(directory, options, progress), rows, images)
        _write_charts(out, content.charts, progress)
        folder = content.run.folder
        taken = rows_at(folder, content.sample.places, folder.others, progress)
        html = page_of(content, taken, script())
    return _write_page(out, html)


def write_comparison(
    directories: tuple[Path, Path], out: Path, rows: int, options: ReportOptions, progress: Progress
) -> Path:
    """Write the page and the charts of two runs into `out`; return the path of the page."""
    names = names_of(directories)
    wanted = _correct_of_each(directories, options)
    with bundling() as script:
        before, after = (
            run_of(directory, of_run, progress, name, prompts=True)
            for directory, of_run, name in zip(directories, wanted, names, strict=True)
        )
        comparison = comparison_of(before, after, rows)
        _write_charts(out, comparison.charts, progress)
        html = comparison_page(comparison, progress, script())
    return _write_page(out, html)


def _correct_of_each(directories: tuple[Path, Path], options: ReportOptions) -> list[ReportOptions]:
    """What is options of each run: only one of them may have the component that was named."""
    has = [options.correct in open_scored(directory).components for directory in directories]
    either = any(has)  # if none has it, each is options for it, and refuses
    return [options if found or not either else replace(options, correct=None) for found in has]


def _write_charts(out: Path, charts: list[Chart], progress: Progress) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for earlier in (*out.glob("component-*.png"), *out.glob("steps-*.png")):
        earlier.unlink()
    for chart in charts:
        progress.tell(f"drawing {chart.title}")
        (out / f"{chart.name}.png").write_bytes(png_of(chart))


def _write_page(out: Path, html: str) -> Path:
    page = out / "index.html"
    page.write_text(html, encoding="utf-8", newline="\n")
    return page


def _content(run: ReportedRun, rows: int, images: Path | None) -> Content:
    folder, numbers = run.folder, run.numbers
    image = (folder.image,) if folder.image else ()
    pictures = _boxes.pictures_of(
        rows_at(folder, _boxes.candidate_rows(folder, numbers), image),
        _image_folders(folder) if images is None else [images],
    )
    wanted = [*(picture.place for picture in pictures), *disagreeing(run, SHOWN)]
    return Content(
        run=run,
        sample=sample_of(numbers, run.summary, rows, wanted),
        charts=charts_of([run]),
        pictures=pictures,
    )


def _image_folders(folder: Folder) -> list[Path]:
    """Return where images may be read from: the folders of the inputs, and the scored folder."""
    inputs = folder.scored.run.get("inputs")
    found = [
        Path(str(entry.get("path", "")) if isinstance(entry, Mapping) else str(entry))
        for entry in _listed(inputs)
    ]
    beside = [path if path.is_dir() else path.parent for path in found]
    return list(dict.fromkeys([*beside, folder.scored.path]))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
