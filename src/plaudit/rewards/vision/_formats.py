r"""How models write boxes and points, and in which numbers.

    {"bbox_2d": [10, 20, 110, 220], "label": "cat"}                 Qwen2.5-VL, in pixels
    <ref>cat</ref><box>[[12, 34, 560, 780]]</box>                   InternVL, in thousandths
    <loc0123><loc0456><loc0789><loc0900> cat                        PaliGemma, y before x

One reader finds every list of numbers in a text; only tokens such as `<loc0123>` need another. The
scale and the order of the numbers follow from the name of the format, or are given: they are never
guessed, since [100, 200, 300, 400] is a box in every scale.
"""

import json
import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from math import isfinite
from typing import NamedTuple

SCALES = (
    *("pixels", "model", "unit", "percent", "thousand", "999ths"),
    *("paligemma", "florence", "kosmos"),
)
ORDERS = ("xyxy", "xywh", "yxyx", "yxhw")
MANY = 100  # shapes of an answer in which one is asked for: more are not looked for
MOST_SHAPES = 20_000
_FARTHEST = 1e9  # what is farther out is no box: its area would leave the range of exact floats


class Shape(NamedTuple):
    """Numbers in a text that may be a box or a point.

    numbers: four of a box, two of a point; None if they cannot be read, such as three or NaN
    unit: what stands after each number: "", "px" or "%"
    order: the order of the numbers, if their names say it, as x1 and y2 do
    """

    numbers: tuple[float, ...] | None
    start: int
    end: int
    unit: str = ""
    order: str = ""
    label: str | None = None


class Format(NamedTuple):
    """A way to write boxes and points: a scale, an order, and the function that finds the shapes.

    >>> FORMATS["gemini"].order
    'yxyx'
    """

    scale: str
    order: str = "xyxy"
    read: Callable[[str], list[Shape]] | None = None


_NUMBER = r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?|[+-]?(?i:nan|inf(?:inity)?+)\b"
_ITEM = rf"[\"']?({_NUMBER})[\"']?\s*+(px|%)?\s*+"
_ITEMS = re.compile(_ITEM)
_SEVERAL = rf"\s*+{_ITEM}(?:(?:[,;]\s*+|(?<=\s)){_ITEM})++"
# `click(10, 20, clicks=2)`: the first two are the point.
_LIST = re.compile(rf"[\[(]({_SEVERAL}),?+(?:\s*+\w++\s*+=[^()\[\],]{{0,40}}+,?+)*+\s*+[\])]")
_TAGGED = re.compile(rf"<(?:b?box|point|click|coordinates?)>({_SEVERAL})</")
_BARE = re.compile(rf"[*$`\s]*+({_SEVERAL})[*$`.\s]*+")
_CORNERS = re.compile(r"\s*+,?\s*+")
_NAMED = re.compile(
    rf"[\"']?\b([xy][12]?|[xy]_?m(?:in|ax)|left|top|right|bottom|w|h|width|height)[\"']?"
    rf"\s*+[:=]\s*+[\"']?({_NUMBER})[\"']?\s*+(px|%)?",
    re.IGNORECASE,
)
_NAMES = (
    (("x1", "y1", "x2", "y2"), "xyxy"),
    (("xmin", "ymin", "xmax", "ymax"), "xyxy"),
    (("left", "top", "right", "bottom"), "xyxy"),
    (("x", "y", "w", "h"), "xywh"),
    (("x", "y", "width", "height"), "xywh"),
    (("x", "y"), "xy"),
    (("x1", "y1"), "xy"),
)
_BETWEEN_NAMED = re.compile(r"[\s,;]*+(?:and\b\s*+)?+")
_LABEL = re.compile(
    r"[\"'](?:label|category|class|name|text|object)(?:_name)?[\"']\s*+:\s*+"
    r"(?:\"((?:[^\"\\]|\\.)*+)\"|'([^']*+)')"
)
_REFERENCE = re.compile(
    r"(?:<ref>|<\|object_ref_start\|>|<\|ref\|>|<phrase>)([^<]*+)"
    r"(?:</ref>|<\|object_ref_end\|>|<\|/ref\|>|</phrase>)[^<]*+(?:<[^<>]*+>[\s\[(]*+)*+$"
)
_BARE_LABEL = re.compile(r"(?:^|[>;,.\n:])\s*+([^<>;,.\n:\[\]{}()\"]++)$")
# What stands between boxes that share a label: `<ref>cat</ref><box>[[1, 2, 3, 4], [5, 6, 7, 8]]`.
_SAME_LABEL = re.compile(r"(?:[\s,;\[\]()]|</?box>|<\|box_(?:start|end)\|>)*+")
_NEAR = 300  # characters around a shape in which its label stands


def read_lists(text: str, most: int = MOST_SHAPES) -> list[Shape]:
    """Find lists of numbers, pairs of corners, and numbers with names such as x1."""
    found = [*islice(_lists(text), most), *islice(_named(text), most)]
    shapes = sorted(found, key=lambda shape: shape.start)
    return _with_labels(_joined(text, shapes), text)


def _lists(text: str) -> Iterator[Shape]:
    bare = _BARE.fullmatch(text)
    for found in (bare,) if bare else chain(_LIST.finditer(text), _TAGGED.finditer(text)):
        start = found.start(1)
        parts = found[1].split(";")
        if "," not in parts[0]:
            parts = [found[1]]  # [1; 2; 3; 4] is one list, [1, 2, 3, 4; 5, 6, 7, 8] is two
        for part in parts:
            items = _ITEMS.findall(part)
            numbers = tuple(float(number) for number, _ in items[:5])
            units = {unit for _, unit in items}
            readable = len(items) in (2, 4) and len(units) == 1 and _are_near(numbers)
            # The brackets belong to a shape: what stands after its end takes it back.
            end = start + len(part) if len(parts) > 1 else found.end()
            begin = start if len(parts) > 1 else found.start()
            unit = "".join(units) if readable else ""
            yield Shape(numbers if readable else None, begin, end, unit)
            start += len(part) + 1


def _named(text: str) -> Iterator[Shape]:
    run: dict[str, re.Match[str]] = {}
    last = 0
    for found in _NAMED.finditer(text):
        name = found[1].lower().replace("_", "")
        if run and (name in run or not _BETWEEN_NAMED.fullmatch(text, last, found.start())):
            yield from _named_shape(run)
            run = {}
        run[name], last = found, found.end()
    yield from _named_shape(run)


def _named_shape(run: dict[str, re.Match[str]]) -> Iterator[Shape]:
    for names, order in _NAMES:
        if run.keys() == set(names):
            numbers = tuple(float(run[name][2]) for name in names)
            places = [found.span() for found in run.values()]
            unit = run[names[0]][3] or ""
            readable = numbers if _are_near(numbers) else None
            yield Shape(readable, places[0][0], places[-1][1], unit, order)


def _are_near(numbers: tuple[float, ...]) -> bool:
    return all(isfinite(number) and abs(number) <= _FARTHEST for number in numbers)


def _joined(text: str, shapes: list[Shape]) -> list[Shape]:
    """Join two pairs that follow each other, `(1,2),(3,4)`, to the corners of a box."""
    joined: list[Shape] = []
    for shape in shapes:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.numbers is not None
            and shape.numbers is not None
            and len(last.numbers) == len(shape.numbers) == 2
            and last.order == shape.order == ""
            and text[last.end - 1] == text[shape.end - 1]
            and _CORNERS.fullmatch(text, last.end, shape.start)
        ):
            joined[-1] = last._replace(numbers=last.numbers + shape.numbers, end=shape.end)
        else:
            joined.append(shape)
    return joined


def _with_labels(shapes: list[Shape], text: str) -> list[Shape]:
    """Return the shapes with their labels; those next to each other share one."""
    groups: list[list[Shape]] = []
    for shape in shapes:
        if groups and _SAME_LABEL.fullmatch(text, groups[-1][-1].end, shape.start):
            groups[-1].append(shape)
        else:
            groups.append([shape])
    edges = [0, *(group[-1].end for group in groups)]
    starts = [*(group[0].start for group in groups[1:]), len(text)]
    return [
        shape._replace(label=label)
        for group, edge, start in zip(groups, edges, starts, strict=False)
        for label in [_label(text, group[0].start, group[-1].end, edge, start)]
        for shape in group
    ]


def _label(text: str, start: int, end: int, earliest: int, latest: int) -> str | None:
    """Return the label in the object of a shape, or in the words before it."""
    before = text[max(earliest, start - _NEAR) : start]
    closing = text.find("}", end, min(latest, end + _NEAR))
    if "{" in before and closing >= 0:
        inside = before.rpartition("{")[2] + text[end:closing]
        quoted = _LABEL.search(inside)
        return _unquoted(quoted) if quoted else None
    reference = _REFERENCE.search(before) or _BARE_LABEL.search(before.rstrip("[(= \t"))
    return reference[1].strip() or None if reference else None


def _unquoted(quoted: re.Match[str]) -> str:
    if quoted[2] is not None:
        return quoted[2]
    try:
        return str(json.loads(f'"{quoted[1]}"'))
    except ValueError:
        return quoted[1]


# -- Tokens of a model's own

_PALIGEMMA = re.compile(r"<loc(\d{4})>" * 4 + r"([^<;]*+)")
_FLORENCE = re.compile(r"<loc_(\d{1,4})>" * 4)
_KOSMOS = re.compile(
    r"(?:<phrase>([^<]*+)</phrase>)?+<object>((?:<patch_index_\d{4}>|</delim[^<>]*+>)++)</object>"
)
_CELLS = re.compile(r"<patch_index_(\d{4})><patch_index_(\d{4})>")


def read_paligemma(text: str) -> list[Shape]:
    """Find `<loc0123>` four times, with the label after it."""
    return [
        Shape(tuple(map(float, found.groups()[:4])), *found.span(), label=found[5].strip() or None)
        for found in _PALIGEMMA.finditer(text)
    ]


def read_florence(text: str) -> list[Shape]:
    """Find `<loc_12>` four times, with the label before the first; a bin stands for its middle."""
    shapes: list[Shape] = []
    for found in _FLORENCE.finditer(text):
        numbers = tuple(int(bin_) + 0.5 for bin_ in found.groups())
        is_next = shapes and shapes[-1].end == found.start()
        label = shapes[-1].label if is_next else _words_before(text, found.start())
        shapes.append(Shape(numbers, *found.span(), label=label))
    return shapes


def _words_before(text: str, end: int) -> str | None:
    before = text[max(0, end - _NEAR) : end]
    # Without a regular expression that starts anew at every character.
    return before[max(map(before.rfind, "<>\n")) + 1 :].strip() or None


def read_kosmos(text: str) -> list[Shape]:
    """Find two of 32 x 32 cells: their middles are the corners, or their outsides in one line."""
    shapes = []
    for found in _KOSMOS.finditer(text):
        label = (found[1] or "").strip() or None
        for cells in _CELLS.findall(found[2]):
            (top, left), (bottom, right) = (divmod(int(cell), 32) for cell in cells)
            numbers = (left + 0.5, top + 0.5, right + 0.5, bottom + 0.5)
            if left == right or top == bottom:
                numbers = (left, top, right + 1.0, bottom + 1.0)
            shapes.append(Shape(numbers, *found.span(), label=label))
    return shapes


_TOKEN_READERS = {"paligemma": read_paligemma, "florence": read_florence, "kosmos": read_kosmos}

FORMATS: dict[str, Format] = {
    **dict.fromkeys(("plain", "vlm-r1"), Format("pixels")),
    **dict.fromkeys(("qwen2.5-vl", "ui-tars-1.5", "ui-venus", "computer_use"), Format("model")),
    **dict.fromkeys(
        "qwen-vl qwen2-vl qwen3-vl internvl cogvlm cogagent ferret glm-4.5v os-atlas "
        "ui-tars".split(),
        Format("thousand"),
    ),
    **dict.fromkeys(("llava", "shikra", "seeclick", "showui"), Format("unit")),
    "gemini": Format("thousand", "yxyx"),
    "paligemma": Format("paligemma", "yxyx"),
    "florence-2": Format("florence"),
    "kosmos-2": Format("kosmos"),
    "deepseek-vl2": Format("999ths"),
    "coco": Format("pixels", "xywh"),
    "molmo": Format("percent"),
}


def add_format(name: str, format: Format) -> None:  # noqa: A002
    """Add a format, so that a recipe can name it.

    A format whose `read` is None is read as lists of numbers, and by tokens in the scales that have
    them.

    >>> add_format("grid-16", Format("thousand", "yxyx"))
    >>> format_of("grid-16").order
    'yxyx'
    """
    if format.scale not in SCALES or format.order not in ORDERS:
        raise ValueError(f"the scale must be one of {SCALES} and the order one of {ORDERS}")
    FORMATS[name] = format


def format_of(
    name: str | None = None, scale: str | None = None, order: str | None = None
) -> Format:
    """Return a format by its name; a scale and an order that are given count more.

    >>> format_of("gemini"), format_of(scale="unit").order
    (Format(scale='thousand', order='yxyx', read=None), 'xyxy')
    """
    known = FORMATS.get(name or "plain")
    if known is None and scale is None:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {name!r:.80}")
    usual = known or Format("pixels")
    # For points an order has two letters.
    chosen = {"xy": "xyxy", "yx": "yxyx"}.get(order or usual.order, order or usual.order)
    if (scale or usual.scale) not in SCALES:
        raise ValueError(f"scale must be one of {', '.join(SCALES)}, got {scale!r:.80}")
    if chosen not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(ORDERS)}, xy or yx, got {order!r:.80}")
    return Format(scale or usual.scale, chosen, usual.read)


def shapes_in(text: str, written: Format, most: int = MOST_SHAPES) -> list[Shape]:
    """Return the first shapes of a text; their numbers are None if the format cannot mean them."""
    if written.read is not None:
        return written.read(text)
    reader = _TOKEN_READERS.get(written.scale)
    if reader is not None:
        return reader(text)
    units = {"percent": ("", "%"), "pixels": ("", "px"), "model": ("", "px")}
    allowed = units.get(written.scale, ("",))
    return [
        shape if shape.unit in allowed else shape._replace(numbers=None)
        for shape in read_lists(text, most)
    ]
