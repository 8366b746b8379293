"""One or two scored folders in, the files of their report out."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from plaudit.report import _boxes, _charts, _compare, _page
from plaudit.report._agreement import SHOWN
from plaudit.report._bundle import bundling
from plaudit.report._content import Run, run_of
from plaudit.report._curves import curve_charts
from plaudit.report._folder import Asked, Folder, rows_at
from plaudit.report._progress import Progress
from plaudit.report._sample import sample_of
from plaudit.report._theme import Chart
from plaudit.scoring import open_scored


def write(
    directory: Path, out: Path, rows: int, asked: Asked, images: Path | None, progress: Progress
) -> Path:
    """Write the page and the charts of a run into `out`; return the path of the page."""
    with bundling() as script:
        content = _content(run_of(directory, asked, progress), rows, images)
        _write_charts(out, content.charts, progress)
        folder = content.run.folder
        taken = rows_at(folder, content.sample.places, folder.others, progress)
        html = _page.page_of(content, taken, script())
    return _write_page(out, html)


def write_comparison(
    directories: tuple[Path, Path], out: Path, rows: int, asked: Asked, progress: Progress
) -> Path:
    """Write the page and the charts of two runs into `out`; return the path of the page."""
    names = _compare.names_of(directories)
    wanted = _correct_of_each(directories, asked)
    with bundling() as script:
        before, after = (
            run_of(directory, of_run, progress, name, prompts=True)
            for directory, of_run, name in zip(directories, wanted, names, strict=True)
        )
        comparison = _compare.comparison_of(before, after, rows)
        _write_charts(out, comparison.charts, progress)
        html = _compare.page_of(comparison, progress, script())
    return _write_page(out, html)


def _correct_of_each(directories: tuple[Path, Path], asked: Asked) -> list[Asked]:
    """What is asked of each run: only one of them may have the component that was named."""
    has = [asked.correct in open_scored(directory).components for directory in directories]
    either = any(has)  # if none has it, each is asked for it, and refuses
    return [asked if found or not either else replace(asked, correct=None) for found in has]


def _write_charts(out: Path, charts: list[Chart], progress: Progress) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for earlier in (*out.glob("component-*.png"), *out.glob("steps-*.png")):
        earlier.unlink()
    for chart in charts:
        progress.tell(f"drawing {chart.title}")
        (out / f"{chart.name}.png").write_bytes(_charts.png_of(chart))


def _write_page(out: Path, html: str) -> Path:
    page = out / "index.html"
    page.write_text(html, encoding="utf-8", newline="\n")
    return page


def _content(run: Run, rows: int, images: Path | None) -> _page.Content:
    folder, numbers = run.folder, run.numbers
    image = (folder.image,) if folder.image else ()
    pictures = _boxes.pictures_of(
        rows_at(folder, _boxes.candidate_rows(folder, numbers), image),
        _image_folders(folder) if images is None else [images],
    )
    wanted = [*(picture.place for picture in pictures), *_page.disagreeing(run, SHOWN)]
    return _page.Content(
        run=run,
        sample=sample_of(numbers, run.summary, rows, wanted),
        charts=[*_charts.charts_of(run.summary), *curve_charts([run])],
        pictures=pictures,
    )


def _image_folders(folder: Folder) -> list[Path]:
    """Where images may be read from: the folders of the inputs, and the scored folder."""
    inputs = folder.scored.run.get("inputs")
    found = [
        Path(str(entry.get("path", "")) if isinstance(entry, Mapping) else str(entry))
        for entry in _listed(inputs)
    ]
    beside = [path if path.is_dir() else path.parent for path in found]
    return list(dict.fromkeys([*beside, folder.scored.path]))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
