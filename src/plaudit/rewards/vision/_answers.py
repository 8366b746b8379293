"""The answer of a completion on an image and the gold, as text, and how many pixels a number is."""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from plaudit.answers import final_answer, is_retracted
from plaudit.inputs import images as images_  # `images` is a column
from plaudit.inputs.columns import naming_row, plain, rows_of, same_length, whole_numbers
from plaudit.inputs.completions import Completion, texts_of
from plaudit.inputs.extract import after_thinking
from plaudit.inputs.images import Resize, Size, resize_of
from plaudit.rewards.vision._formats import Format, Shape
from plaudit.scores import Score
from plaudit.scores.boxes import Corners

NO_GOLD = Score(None, "There is no gold: the row is skipped.", status="bad_gold")
_NOTHING = re.compile(
    r"(?:```(?:json)?\s*+)?[\[{(]?\s*+(?:none|null|nothing|\"none\"|\"null\")?\s*+[\]})]?\s*+\.?"
    r"(?:\s*+```)?",
    re.IGNORECASE,
)
_NULL_BOX = re.compile(
    r"[\"'](?:b?box(?:es)?|points?|objects|detections)(?:_2d)?[\"']\s*+:\s*+(?:null|None|\[\s*+\])"
)
_NO_OBJECT = re.compile(r"there (?:is|are) no\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:not|never|neither|cannot|anything\s++but)\b|n['’]t\b|\bthere(?:'s| is) no (?!doubt)",
    re.IGNORECASE,
)
# The apostrophe of "isn't" and "there's" ends no clause, that of a label does.
_CLAUSE = re.compile(r"[.!?;\n\"{}<>]|'(?![ts]\b)|(?<!not):|(?<!anything )\bbut\b", re.IGNORECASE)
# What only a remark on a shape says, beside what `is_retracted` knows of answers of every kind.
_DENIED_AFTER = re.compile(
    r"\A\W*+(?:(?:is|was)(?:n['’]t|\s++(?:\w++\s++)?(?:wrong|incorrect|not))|(?:no|nope)\b[,.!])"
    r"|(?:[.!\n]|\bhmm+,)\s*+(?:no|nope)\b[,.!]|\blet\s++me\s++correct\b|\b(?:edit|correction)\s*+:"
    r"|(?<!\bif )\b(?:that|this|it|(?:that|this|the|my)\s++(?:box|point|click|span|answer|one))"
    r"(?:['’]s|\s++is|\s++was)\s++(?:the\s++|a\s++)?(?:wrong|incorrect)\b",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"\A\s*+(?:</[^<>\n]{1,20}>|[}\\)\]$]++)")  # of a tag or a box
_QUOTED = re.compile(r"\"[^\"]*+\"")
_LONGEST_REMARK = 2000  # characters after an answer in which it may be taken back
_NEAR = 100  # characters before a shape in which a denial counts


def answer_of(text: str) -> tuple[str, bool]:
    r"""Return the last `<answer>` or `\boxed{…}`, else all text after the thinking.

    The second value says whether it was taken back.
    """
    final = final_answer(text)
    body = after_thinking(text)
    if final.where in ("box", "tag") or (final.where == "json" and says_none(final.text)):
        after = _CLOSING.sub("", body.rpartition(final.text)[2]) if final.text else ""
        return final.text, final.retracted or bool(_DENIED_AFTER.search(after[:_LONGEST_REMARK]))
    return body.strip(), False


def gold_text(gold: Any) -> str | None:
    """Return a gold as text; None if there is none."""
    value = plain(gold)
    if value is None or isinstance(value, str):
        return None if value is None or not value.strip() else answer_of(value)[0]
    return json.dumps(value, default=plain)


def says_none(text: str) -> bool:
    """Return whether a text says that there is no object, and does not only say nothing."""
    stripped = text.strip()
    if not stripped:
        return False
    return bool(
        _NOTHING.fullmatch(stripped) or _NULL_BOX.search(stripped) or _NO_OBJECT.match(stripped)
    )


def fault_of(
    answer: str, places: Sequence[tuple[int, int]], retracted: bool, noun: str, *, one: bool = True
) -> tuple[str, str] | None:
    """Return why an answer is worth nothing before it is compared, and its status.

    places: where each of what was found starts and ends in the answer
    noun: what is looked for, such as "box"
    one: whether there should be one
    """
    if retracted or (places and _is_taken_back(answer, places[-1][1])):
        return "The answer is taken back.", "retracted"
    if not places:
        says = "says that there is" if says_none(answer) else "has"
        return f"The answer {says} no {noun}.", "no_answer"
    if one and len(places) > 1:
        return f"The answer has {len(places)} of what should be one {noun}.", "several"
    if one and _is_denied(answer, places[0][0]):
        return f"The answer denies its {noun}.", "retracted"
    return None


def _is_denied(text: str, start: int) -> bool:
    """Return whether the clause before a shape denies it: "it is not at [1, 2, 3, 4]"."""
    clause = _CLAUSE.split(text[max(0, start - _NEAR) : start])[-1]
    return bool(_DENIAL.search(clause))


def _is_taken_back(text: str, end: int) -> bool:
    """Return whether what follows the end of an answer takes it back."""
    # A label may say "sorry" as well.
    after = _QUOTED.sub("", text[end : end + _LONGEST_REMARK])
    return bool(_DENIED_AFTER.search(after)) or is_retracted(after, "")


def failed(why: str, status: str, answer: str, gold: str | None) -> Score:
    """Return the score of an answer that is worth nothing."""
    return Score(0.0, why, answer[:300] or None, gold, status=status, right=False)


def bad_gold(gold: str, wanted: str) -> Score:
    """Return the score of a row whose gold cannot be used."""
    why = f"The gold {gold:.80} is {wanted}: the row is skipped."
    return Score(None, why, None, gold[:300], status="bad_gold")


def none_score(answer: str, shapes: int, retracted: bool) -> Score:
    """Return the score of an answer to a gold that says that there is no object."""
    if retracted or (not shapes and not says_none(answer)):
        return failed("The answer does not say that there is none.", "no_answer", answer, "none")
    right = shapes == 0
    why = "There is no object, and the answer says so." if right else (
        f"There is no object, and the answer has {shapes}."
    )  # fmt: skip
    status = "equal" if right else "different"
    return Score(float(right), why, answer[:300], "none", "none", status=status, right=right)


# --- pixels ---------------------------------------------------------------------------------------

IMAGES = ("image_path", "image", "images")  # the columns in which trainers and tables keep an image
COLUMNS = ("solution", "image_size", "input_size", "image_grid_thw", *IMAGES)
PALIGEMMA_DIVISOR = 1023
_PARTS = {
    "unit": 1,
    "percent": 100,
    "thousand": 1000,
    "999ths": 999,
    "florence": 1000,
    "kosmos": 32,
}


class Notation(NamedTuple):
    """How boxes and points of one row are written: one unit is so many pixels of the image."""

    format: Format
    across: float = 1.0
    down: float = 1.0


class Row(NamedTuple):
    """A completion and its gold; None if there is none."""

    text: str
    gold: str | None
    answers: Notation
    golds: Notation


def rows_in_pixels(
    completions: Sequence[Completion],
    solution: Sequence[Any],
    columns: dict[str, Any],
    answers: Format,
    golds: Format,
    model: str,
    divisor: float = PALIGEMMA_DIVISOR,
) -> list[Row]:
    """Return the rows of a call. A size that no scale needs is not looked for.

    columns: image_size, input_size, image_grid_thw and those of IMAGES; None if missing
    """
    texts = texts_of(completions)
    same_length(completions, solution=solution)
    written = [gold_text(gold) for gold in rows_of(solution, "solution")]
    resize, scales = resize_of(model), {answers.scale, golds.scale}
    sizes = [] if scales == {"pixels"} else _image_sizes(completions, columns)
    seen = _seen_sizes(completions, columns, sizes, resize) if "model" in scales else []

    def notations(format: Format) -> list[Notation]:  # noqa: A002
        if format.scale == "pixels":
            return [Notation(format)] * len(texts)
        parts = divisor if format.scale == "paligemma" else _PARTS.get(format.scale, 0)
        units = seen if format.scale == "model" else [(parts, parts)] * len(texts)
        return [
            Notation(format, width / across, height / down)
            for (width, height), (across, down) in zip(sizes, units, strict=True)
        ]

    return list(map(Row, texts, written, notations(answers), notations(golds)))


def _image_sizes(completions: Sequence[Any], columns: dict[str, Any]) -> list[Size]:
    named = columns.get("image_size")
    if named is not None:
        return _pairs(completions, named, "image_size")
    held = {name: columns[name] for name in IMAGES if columns.get(name) is not None}
    if not held:
        raise ValueError(
            f"this scale needs the size of each image: pass image_size, or {', '.join(IMAGES)}"
        )
    same_length(completions, **held)
    listed = [rows_of(column, name) for name, column in held.items()]
    known: dict[images_.Source, Size] = {}
    sizes = []
    for row in range(len(completions)):
        with naming_row(row):
            entries = (images_.source_of(column[row]) for column in listed)
            source = next((one for one in entries if one is not None), None)
            if source is None:
                raise ValueError(f"there is no {' and no '.join(held)}")
            if source not in known:
                known[source] = images_.size_of(source)
            sizes.append(known[source])
    return sizes


def _seen_sizes(
    completions: Sequence[Any], columns: dict[str, Any], sizes: list[Size], resize: Resize
) -> list[Size]:
    named, grids = columns.get("input_size"), columns.get("image_grid_thw")
    if named is not None:
        return _pairs(completions, named, "input_size")
    if grids is None:
        return [resize.resized(size) for size in sizes]
    same_length(completions, image_grid_thw=grids)
    seen = []
    for row, (grid, size) in enumerate(zip(rows_of(grids, "image_grid_thw"), sizes, strict=True)):
        wanted = "[frames, rows, columns]"
        cells = resize.grid(size) if grid is None else whole_numbers(grid, f"grid {row}", wanted)
        if len(cells) != 3 or min(cells) < 1:
            raise ValueError(f"image_grid_thw {row} must be {wanted}, got {list(cells)!r:.80}")
        seen.append((cells[2] * resize.patch, cells[1] * resize.patch))
    return seen


def _pairs(completions: Sequence[Any], column: Any, name: str) -> list[Size]:
    """Return a column of [width, height]; one pair holds for every row."""
    entries = rows_of(column, name)
    if len(entries) == 2 and all(isinstance(entry, int | float) for entry in entries):
        entries = [entries] * len(completions)
    same_length(completions, **{name: entries})
    pairs = []
    for row, entry in enumerate(entries):
        numbers = whole_numbers(entry, f"{name} {row}", "[width, height]")
        if len(numbers) != 2 or min(numbers) < 1:
            raise ValueError(f"{name} {row} must be [width, height], got {list(numbers)!r:.80}")
        pairs.append((int(numbers[0]), int(numbers[1])))
    return pairs


def corners_of(shape: Shape, written: Notation) -> Corners | None:
    """Return the corners of a box in pixels; None if it is none, or has no area."""
    if shape.numbers is None or len(shape.numbers) != 4:
        return None
    a, b, c, d = shape.numbers
    order = shape.order or written.format.order
    if order in ("yxyx", "yxhw"):
        a, b, c, d = b, a, d, c
    if order in ("xywh", "yxhw"):
        c, d = a + c, b + d
    across, down = written.across, written.down
    left, top, right, bottom = a * across, b * down, c * across, d * down
    return (left, top, right, bottom) if left < right and top < bottom else None


def point_of(shape: Shape, written: Notation) -> tuple[float, float] | None:
    """Return a point in pixels; None if the shape has not two numbers."""
    if shape.numbers is None or len(shape.numbers) != 2:
        return None
    x, y = shape.numbers
    if not shape.order and written.format.order.startswith("y"):
        x, y = y, x
    return x * written.across, y * written.down


# One template takes half the time of a format for each number.
_SHOWN = {2: "[%.6g, %.6g]", 4: "[%.6g, %.6g, %.6g, %.6g]"}


def shown(shapes: Sequence[tuple[float, ...]]) -> str:
    """Return boxes or points in pixels, as the report reads them: `[[0, 0, 9, 9], [5, 5]]`."""
    texts = [_SHOWN[len(shape)] % shape for shape in shapes]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
