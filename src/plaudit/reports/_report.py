"""The page of one run, or of two side by side: its rows, its pictures, and the files of a report.

What a model wrote is never markup: Jinja escapes what it puts into the page, and the rows are
compressed JSON, which the script puts into the page as text only. A content security policy allows
the scripts of the page by their hashes, and no request at all.
"""

import base64
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from plaudit.inputs import extract, images
from plaudit.reports._charts import charts_of, png_of
from plaudit.reports._scored_run import (
    Array,
    Folder,
    Numbers,
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
    Summary,
    first_rows,
    means_of,
    run_of,
    share_of,
)
from plaudit.reports.chart import Chart
from plaudit.reports.page import bundling, html_page, package_file, packed, render_html
from plaudit.scores.boxes import box_of, corners_of
from plaudit.scores.score import PROBLEM_STATUSES, STATUSES
from plaudit.tables import open_scored
from plaudit.tables.summary import ProgressLine

PROMPTS = 10  # the hardest and the most contested
FLAT_GROUPS = 50  # groups without signal that are listed
EXAMPLES = 5  # of each status
LONGEST = 20_000  # characters of one completion
FULL_TEXT = 8_000_000  # characters of all completions that are shown in full
CUT = 400  # characters of each of the others

_OF_A_GROUP = 16  # rows of a group that the page refers to


@dataclass(frozen=True, slots=True)
class Sample:
    """The rows on the page, and the groups and examples that the page refers to."""

    rows: Array
    full: set[int]  # the rows that are shown with their whole text
    hardest: list[int]
    contested: list[int]
    without_signal: list[int]
    examples: dict[str, list[int]]


def sample_of(
    numbers: Numbers,
    summary: Summary,
    rows: int,
    wanted: Sequence[int],
    full_text: int = FULL_TEXT,
) -> Sample:
    """Choose `rows` rows; those of `wanted` come first."""
    groups = summary.groups
    scored = np.flatnonzero(groups.scored > 0)
    hardest = scored[np.lexsort((scored, groups.mean[scored]))[:PROMPTS]].tolist()
    uneven = np.flatnonzero(~groups.without_signal)
    contested = uneven[np.lexsort((uneven, -groups.variance[uneven]))[:PROMPTS]].tolist()
    flat = np.flatnonzero(groups.without_signal & (groups.rows > 0))[:FLAT_GROUPS]
    examples = _examples(numbers)
    members = [
        np.flatnonzero(numbers.groups == group)[:_OF_A_GROUP]
        for group in dict.fromkeys([*hardest, *contested])
    ]
    referenced = [*wanted, *(row for found in examples.values() for row in found)]
    first = np.concatenate([referenced, *members, groups.first[flat]]).astype(np.int64)
    order = _in_order(numbers, list(dict.fromkeys(first.tolist()))[:rows], rows)
    costs = np.minimum(numbers.characters[order], LONGEST)
    full = set(order[np.cumsum(costs) <= full_text].tolist())
    return Sample(order, full, hardest, contested, flat.tolist(), examples)


def _examples(numbers: Numbers) -> dict[str, list[int]]:
    """Return the first rows of each status except `scored`, the worst status first."""
    codes = {status: code for code, status in enumerate(numbers.status_names)}
    return {
        status: np.flatnonzero(numbers.statuses == codes[status])[:EXAMPLES].tolist()
        for status in STATUSES[:-1]
        if status in codes
    }


def _in_order(numbers: Numbers, first: list[int], rows: int) -> Array:
    """Return `rows` rows, the most important first, then rows in trouble, then evenly by total."""
    bad = [code for code, name in enumerate(numbers.status_names) if name in PROBLEM_STATUSES]
    troubled = np.isin(numbers.statuses, bad)
    every = np.arange(len(numbers.row_ids))
    by_total = np.lexsort((every, numbers.totals))
    chosen = np.zeros(len(every), np.bool_)
    chosen[first] = True
    parts = [np.array(first, np.int64)]
    for pool in (every[troubled], by_total[~troubled[by_total]]):
        more = evenly_spaced(pool[~chosen[pool]], rows - int(chosen.sum()))
        chosen[more] = True
        # By the golden ratio, each prefix of them is spread over the whole.
        spread = np.argsort((np.arange(len(more)) * 0.6180339887498949) % 1.0, kind="stable")
        parts.append(more[spread])
    return np.concatenate(parts)


def evenly_spaced(pool: Array, count: int) -> Array:
    """Return `count` entries of a pool, evenly spaced from its first to its last."""
    if count >= len(pool):
        return pool
    return pool[np.linspace(0, len(pool) - 1, max(count, 0)).round().astype(np.int64)]


def cut(text: str, most: int) -> tuple[str, int, str]:
    """Return the beginning of a text, how many characters were left out, and the end of it.

    The end is longer, since it usually has the answer.
    """
    if len(text) <= most:
        return text, 0, ""
    head = most // 3
    return text[:head], len(text) - most, text[len(text) - (most - head) :]


def json_number(value: Any) -> float | None:
    """Return a number for the page, rounded to six decimals; None if it is None or not finite."""
    return round(float(value), 6) if value is not None and np.isfinite(value) else None


_PROMPT, _REASON, _OTHER = 4000, 2000, 1000  # characters, in rows with their whole text
_CUT_PROMPT, _CUT_REASON, _CUT_OTHER = 300, 160, 80  # and in the others
_OTHERS = 4_000_000  # characters of all other columns; after that they are cut shorter still
_SHORTEST = 24
_ITEMS = 100  # of a list in another column
_BYTES = "(bytes: not shown)"
_NAMES = "id run group status total length values prompt gold text reasons right label others"
_LATEX = re.compile(r"\$[^$\n]+\$|\\[\[(]|\\[a-zA-Z]{2,}")


class RowTable:
    """The rows of the page's table. `has_latex` says whether a text in it may have formulas."""

    def __init__(self, runs: Sequence[ReportedRun]) -> None:
        self._runs = runs
        folders = [run.folder for run in runs]
        self._components = _distinct(f.components for f in folders)
        self._columns = _distinct((*f.others, *f.unread) for f in folders)
        self._strings: dict[str, int] = {}
        self._rows: list[list[Any]] = []
        self._left = _OTHERS
        self._pairs: dict[int, int] = {}
        self.has_latex = False

    def add(self, run: int, index: int, row: dict[str, Any], full: bool) -> None:
        """Add a row of a run: its whole text, or its beginning and end."""
        folder, numbers = self._runs[run].folder, self._runs[run].numbers
        prompt_size, size = (_PROMPT, _REASON) if full else (_CUT_PROMPT, _CUT_REASON)
        text = completion_text(value_of(row, folder.completion))
        head, left_out, tail = cut(text, LONGEST if full else CUT)
        self.has_latex = self.has_latex or bool(_LATEX.search(head) or _LATEX.search(tail))
        gold = value_of(row, folder.gold)
        labels = numbers.labels
        self._rows.append(
            [
                row["row_id"],
                run,
                self._string(str(row["group_id"]), size),
                self._string(str(row["status"]), size),
                json_number(row["total"]),
                int(numbers.lengths[index]),
                [json_number(row.get(name)) for name in self._components],
                self._string(prompt_text(value_of(row, folder.prompt)), prompt_size),
                None if gold is None else self._string(completion_text(gold), size),
                [head, left_out, tail] if left_out else head,
                [self._reason(entry, size) for entry in row["explanation"] or ()],
                json_number(numbers.right[index]),
                None if labels is None else json_number(labels[index]),
                self._others(folder, row, _OTHER if full else _CUT_OTHER),
            ]
        )

    def _reason(self, entry: dict[str, Any], size: int) -> list[Any]:
        texts = (
            entry[name] for name in ("component", "status", "decided_by", "answer", "gold", "why")
        )
        known = [None if text is None else self._string(text, size) for text in texts]
        return [json_number(entry["value"]), *known, json_number(entry["ungated"])]

    def _others(self, folder: Folder, row: dict[str, Any], size: int) -> list[int | None]:
        found: list[int | None] = []
        for name in self._columns:
            value = _BYTES if name in folder.unread else row.get(name)
            if value is None:
                found.append(None)
                continue
            # What a report is split by is filtered by: it stays as it is, unless it is very long.
            most = _OTHER if name in folder.by else size if self._left > 0 else _SHORTEST
            before = len(self._strings)
            found.append(self._string(_value_text(value), most))
            self._left -= most if len(self._strings) > before else 0
        return found

    def _string(self, text: str, most: int) -> int:
        head, left_out, tail = cut(text, most)
        short = f"{head} … {tail}" if left_out else head
        known = self._strings.setdefault(short, len(self._strings))
        if known == len(self._strings) - 1 and not self.has_latex:
            self.has_latex = bool(_LATEX.search(short))
        return known

    def pair(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Show rows side by side; each is named by its index in the table."""
        for a, b in pairs:
            self._pairs[a], self._pairs[b] = b, a

    def data(self) -> dict[str, Any]:
        """Return the data of the table."""
        names = _NAMES.split()
        columns = zip(*self._rows, strict=True) if self._rows else [[] for _ in names]
        return {
            "runs": [run.name for run in self._runs],
            "components": self._components,
            "columns": self._columns,
            "strings": list(self._strings),
            **dict(zip(names, columns, strict=True)),
            "pair": [self._pairs.get(row) for row in range(len(self._rows))],
        }


def value_of(row: dict[str, Any], column: str | None) -> Any:
    """Return the value of a column, None if there is no such column."""
    return None if column is None else row[column]


def _distinct(names: Any) -> list[str]:
    return list(dict.fromkeys(name for group in names for name in group))


def _value_text(value: Any) -> str:
    """Return a value of any kind, as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and len(value) > _ITEMS:
        start = json.dumps(value[:_ITEMS], ensure_ascii=False, default=str)
        return f"{start[:-1]}, … {len(value):,} in all"
    return json.dumps(value, ensure_ascii=False, default=str)


# --- pictures with boxes and points ---------------------------------------------------------------


PICTURES = 24
_CANDIDATES = 96  # rows that are read to find that many pictures
_SIDE = 480  # pixels of a picture's longer side
_SHAPES = 50  # of each kind, drawn in one picture at most
_TEXT = 20_000  # characters; longer ones are not searched for shapes
_ARM = 8  # pixels of each arm of the cross that marks a point
_NONE = "none"  # the gold of a row whose image does not show what is asked for
_LOCATING = ("iou", "detect", "box", "point", "click")  # in the names of components
GOLD, PREDICTION = "#12a150", "#f5701a"

Point = tuple[float, float]
Shape = tuple[Point, ...]  # one point; the opposite corners of a box; the corners of a polygon


@dataclass(frozen=True, slots=True)
class Picture:
    """An image with shapes drawn on it, as a data URI, and the row that it comes from."""

    row: int
    component: str
    value: float | None
    uri: str
    width: int
    height: int
    predictions: int
    golds: int


def candidate_rows(folder: Folder, numbers: Numbers) -> Array:
    """Return rows that may have shapes, evenly by value; none if there are no images."""
    names = [name for name in folder.components if any(word in name for word in _LOCATING)]
    if folder.image is None:
        return np.zeros(0, np.int64)
    values = numbers.values[(names or folder.components)[0]]
    return evenly_spaced(np.argsort(values, kind="stable"), _CANDIDATES)


def pictures_of(
    rows: Iterable[tuple[int, dict[str, Any]]], column: str | None, folders: Sequence[Path]
) -> list[Picture]:
    """Return the pictures of rows that have shapes and an image, the worst first, evenly by value.

    column: holds the images
    folders: where images may be read from, and what relative paths are relative to
    """
    drawn = list(_pictures(rows, column, folders))
    drawn.sort(key=lambda picture: (picture.value is None, picture.value or 0.0, picture.row))
    return [drawn[at] for at in evenly_spaced(np.arange(len(drawn)), PICTURES).tolist()]


def _pictures(
    rows: Iterable[tuple[int, dict[str, Any]]], column: str | None, folders: Sequence[Path]
) -> Iterator[Picture]:
    for index, row in rows:
        for entry in row["explanation"] or ():
            golds, preds = golds_in(entry["gold"]), predictions_in(entry["answer"])
            # An object that is not there and was found all the same is worth a picture, too.
            is_located = golds or (entry["gold"] == _NONE and preds)
            opened = open_image(value_of(row, column), folders) if is_located else None
            if opened is not None:
                shown = draw_shapes(opened, preds, golds)
                component, value = str(entry["component"]), entry["value"]
                buffer = io.BytesIO()
                shown.save(buffer, "JPEG", quality=82)
                uri = f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"
                yield Picture(index, component, value, uri, *shown.size, len(preds), len(golds))
                break


def predictions_in(text: str | None) -> list[Shape]:
    """Return the boxes and points that an answer gives: `[30, 40]` is a point."""
    items = _items(text)
    points = [_point(item) for item in ([items] if _point(items) else items)]
    return [*_boxes(items), *((point,) for point in points if point)][:_SHAPES]


def golds_in(text: str | None) -> list[Shape]:
    """Return the boxes that a gold gives, or its polygon: three or more points."""
    items = _items(text)
    corners = [_point(item) for item in items]
    if len(corners) > 2 and all(corners):
        return [tuple(corner for corner in corners if corner)]
    return _boxes(items)[:_SHAPES]


def _items(text: str | None) -> list[Any]:
    """Return the list that a text gives: of numbers, of lists of them, or of objects."""
    if not text or len(text) > _TEXT or "[" not in text:
        return []
    fence = extract.last_fence(text, "json") or ""
    return extract.json_items(text) or extract.json_items(fence) or []


def _boxes(items: list[Any]) -> list[Shape]:
    """Return the boxes of a list: it is one itself, or its items are, or have a `bbox_2d`."""
    one = corners_of(items)
    found = [one] if one else [corners_of(item) or box_of(item).corners for item in items]
    return [((box[0], box[1]), (box[2], box[3])) for box in found if box]


def _point(item: Any) -> Point | None:
    # As a box without extent: it has to be two finite numbers.
    corners = corners_of([*item, *item]) if isinstance(item, list) and len(item) == 2 else None
    return corners and (corners[0], corners[1])


# An image, scaled down to the size of a picture, and its original size.
Thumbnail = tuple[Image.Image, tuple[int, int]]


def open_image(entry: Any, folders: Sequence[Path]) -> Thumbnail | None:
    """Return the image that an `image_path` names; None if it may not or cannot be read."""
    if isinstance(entry, str) and entry.startswith("["):
        entry = extract.json_items(entry)  # a list in a column of text
    try:
        source = images.source_of(entry)
        if not isinstance(source, str | bytes):
            return None
        with images.only_below(*folders), images.opened(source) as image:
            size = image.size
            image.draft("RGB", (_SIDE * 2, _SIDE * 2))
            small = image.convert("RGB")
        small.thumbnail((_SIDE, _SIDE))
    except (OSError, ValueError, SyntaxError):
        return None
    return small, size


def draw_shapes(opened: Thumbnail, preds: list[Shape], golds: list[Shape]) -> Image.Image:
    """Return the image with shapes drawn on it: gold ones solid, predicted boxes dashed."""
    image, (width, height) = opened
    across, down = image.width / width, image.height / height
    pen = ImageDraw.Draw(image)
    scaled = [
        (_lines(shape, across, down, image.size), colour, dash if len(shape) > 1 else 0)
        for shapes, colour, dash in ((golds, GOLD, 0), (preds, PREDICTION, 9))
        for shape in shapes
    ]
    # White lines under all the coloured ones keep both kinds visible on any image.
    for line in (line for lines, _, _ in scaled for line in lines):
        pen.line(line, fill="white", width=5)
    for lines, colour, dash in scaled:
        for piece in (piece for line in lines for piece in _dashes(line, dash)):
            pen.line(piece, fill=colour, width=3)
    return image


_Line = tuple[Point, Point]


def _lines(shape: Shape, across: float, down: float, size: tuple[int, int]) -> list[_Line]:
    """Return the lines of a shape in the picture: a cross for a point, else all around it."""
    points = [
        (min(max(x * across, 0.0), size[0] - 1.0), min(max(y * down, 0.0), size[1] - 1.0))
        for x, y in shape
    ]
    left, top = points[0]
    if len(points) == 1:
        sides = ((-_ARM, 0), (_ARM, 0)), ((0, -_ARM), (0, _ARM))
        return [((left + x, top + y), (left + dx, top + dy)) for (x, y), (dx, dy) in sides]
    if len(points) == 2:
        right, bottom = points[1]
        points = [(left, top), (right, top), (right, bottom), (left, bottom)]
    return list(pairwise([*points, points[0]]))


def _dashes(line: _Line, dash: int) -> Iterator[_Line]:
    (x0, y0), (x1, y1) = line
    length = abs(x1 - x0) + abs(y1 - y0)  # the sides of a box are level or upright
    if not dash or length < dash:
        yield line
        return
    for start in np.arange(0.0, length, 2 * dash).tolist():
        a, b = start / length, min(start + dash, length) / length
        yield (
            (x0 + (x1 - x0) * a, y0 + (y1 - y0) * a),
            (x0 + (x1 - x0) * b, y0 + (y1 - y0) * b),
        )


# --- the page -------------------------------------------------------------------------------------

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
