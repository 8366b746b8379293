"""A scored folder in, the files of its report out."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plaudit.report import _boxes, _charts, _page
from plaudit.report._bundle import bundling
from plaudit.report._folder import (
    Folder,
    numbers_of,
    open_folder,
    rejected_rows,
    right_component,
    rows_at,
)
from plaudit.report._sample import sample_of
from plaudit.report._summary import summary_of


def write(directory: Path, out: Path, rows: int, correct: str | None, images: Path | None) -> Path:
    """Write the page and the charts into `out`; return the path of the page."""
    folder = open_folder(directory)
    decides = right_component(folder, correct)
    with bundling() as script:
        content = _content(folder, decides, rows, images)
        out.mkdir(parents=True, exist_ok=True)
        for earlier in out.glob("component-*.png"):
            earlier.unlink()
        for chart in content.charts:
            (out / f"{chart.name}.png").write_bytes(_charts.png_of(chart))
        html = _page.page_of(content, rows_at(folder, content.sample.places), script())
    page = out / "index.html"
    page.write_text(html, encoding="utf-8", newline="\n")
    return page


def _content(folder: Folder, correct: str | None, rows: int, images: Path | None) -> _page.Content:
    numbers = numbers_of(folder, correct)
    summary = summary_of(numbers, correct)
    pictures = _boxes.pictures_of(
        rows_at(folder, _boxes.candidate_rows(folder, numbers)),
        _image_folders(folder) if images is None else [images],
    )
    return _page.Content(
        folder=folder,
        numbers=numbers,
        summary=summary,
        sample=sample_of(numbers, summary, rows, [picture.place for picture in pictures]),
        charts=_charts.charts_of(summary),
        pictures=pictures,
        rejected=rejected_rows(folder.scored.path),
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
