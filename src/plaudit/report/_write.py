"""From a scored folder to the files of its report."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plaudit.report import _boxes, _charts, _page
from plaudit.report._bundle import bundling
from plaudit.report._folder import (
    Folder,
    deciding,
    numbers_of,
    open_folder,
    rejected_of,
    rows_at,
)
from plaudit.report._sample import sample_of
from plaudit.report._summary import summary_of


def write(directory: Path, out: Path, rows: int, correct: str | None) -> Path:
    """Write the page and the charts into `out`; return the path of the page."""
    folder = open_folder(directory)
    decides = deciding(folder, correct)
    with bundling() as script:
        content = _content(folder, decides, rows)
        out.mkdir(parents=True, exist_ok=True)
        for earlier in out.glob("component-*.png"):
            earlier.unlink()
        for chart in content.charts:
            (out / f"{chart.name}.png").write_bytes(_charts.png_of(chart))
        html = _page.page_of(content, rows_at(folder, content.sample.places), script())
    page = out / "index.html"
    page.write_text(html, encoding="utf-8", newline="\n")
    return page


def _content(folder: Folder, correct: str | None, rows: int) -> _page.Content:
    numbers = numbers_of(folder, correct)
    summary = summary_of(numbers, correct)
    pictures = _boxes.pictures_of(
        rows_at(folder, _boxes.candidates(folder, numbers)), _image_roots(folder)
    )
    return _page.Content(
        folder=folder,
        numbers=numbers,
        summary=summary,
        sample=sample_of(numbers, summary, rows, [picture.place for picture in pictures]),
        charts=_charts.charts_of(summary),
        pictures=pictures,
        rejected=rejected_of(folder.scored.path),
    )


def _image_roots(folder: Folder) -> list[Path]:
    """Where relative paths of images may start: here, beside an input, in the folder."""
    inputs = folder.scored.run.get("inputs")
    found = [
        Path(str(entry.get("path", "")) if isinstance(entry, Mapping) else str(entry))
        for entry in _listed(inputs)
    ]
    roots = [
        Path(),
        *(place for path in found for place in (path.parent, path)),
        folder.scored.path,
    ]
    return list(dict.fromkeys(roots))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
