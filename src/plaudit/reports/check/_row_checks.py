"""Checks of a row that need no reward: its images, its boxes, its options, and its prompt."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from plaudit.inputs import images
from plaudit.reports.check._plan import CheckPlan
from plaudit.reports.honest_answers import alternatives, boxes_in
from plaudit.scores.boxes import Corners

Row = Mapping[str, Any]

# --- images and boxes -----------------------------------------------------------------------------

_OUTSIDE = 1.0  # pixels by which a box may leave its image
_REMEMBERED = 10_000  # images of which a worker remembers the size, or why there is none
_known: dict[tuple[str, str], images.Size | str] = {}


def image_problems(row: Row, plan: CheckPlan, file: str = "") -> dict[str, str]:
    """Return why an image of a column cannot be read, by column; `file` is the table."""
    problems: dict[str, str] = {}
    for column, size in _sizes(row, plan, file):
        if isinstance(size, str):
            problems.setdefault(column, size)
    return problems


def box_problem(row: Row, gold: Any, plan: CheckPlan, file: str) -> str:
    """Return what is wrong with the boxes of a gold, if the size of the image is known; else ""."""
    size = _image_size(row, plan, file)
    components = [comparison.component for comparison in plan.comparisons]
    settings = next((c.params for c in components if c.reference.startswith("vision.")), {})
    if size is None or settings.get("gold_scale", "pixels") != "pixels":
        return ""
    is_sized = settings.get("gold_order") == "xywh"
    for box in boxes_in(gold):
        left, top, third, fourth = box
        right, bottom = (left + third, top + fourth) if is_sized else (third, fourth)
        shown = f"[{', '.join(f'{side:g}' for side in box)}]"
        if fault := _box_fault((left, top, right, bottom), size):
            return f"The box {shown} {fault}"
    return ""


def _box_fault(box: Corners, size: images.Size) -> str:
    """Return what is wrong with a box in pixels, and which mistake it looks like."""
    left, top, right, bottom = box
    width, height = size
    if left >= right or top >= bottom:
        fits = left + right <= width + _OUTSIDE and top + bottom <= height + _OUTSIDE
        hint = ' As [left, top, width, height] it fits: gold_order = "xywh".' if fits else ""
        return f"has no area: it must be [left, top, right, bottom].{hint}"
    if min(left, top) < -_OUTSIDE or right > width + _OUTSIDE or bottom > height + _OUTSIDE:
        fits = min(box) >= 0 and max(box) <= 1000
        hint = ' If golds are thousandths: gold_scale = "thousand".' if fits else ""
        return f"reaches out of its image of {width} x {height} pixels.{hint}"
    if max(right, bottom) <= 1 < min(width, height):
        return 'is smaller than a pixel: if golds are shares of the image, gold_scale = "unit".'
    return ""


def _image_size(row: Row, plan: CheckPlan, file: str) -> images.Size | None:
    """Return the size of a row's image: as the row says, or of its first image that can be read."""
    said = row.get("image_size")
    pairs = [said] if isinstance(said, list | tuple) and len(said) == 2 else []
    pairs += [(row.get(across), row.get(down)) for across, down in plan.sizes]
    for across, down in pairs:
        width, height = _whole(across), _whole(down)
        if width and height:
            return width, height
    return next((s for _, s in _sizes(row, plan, file) if not isinstance(s, str)), None)


def _whole(side: Any) -> int | None:
    """Return a side in pixels; a CSV file has it as text."""
    try:
        return int(side)
    except (TypeError, ValueError, OverflowError):  # the last one of infinity
        return None


def _sizes(row: Row, plan: CheckPlan, file: str) -> Iterator[tuple[str, images.Size | str]]:
    """Yield the column of each image, and its size or why it cannot be read."""
    for column in plan.images:
        value = row.get(column)
        if value is None or value in ("", []):
            continue
        is_size = isinstance(value, list | tuple) and all(isinstance(side, int) for side in value)
        listed = list(value) if isinstance(value, list | tuple) and not is_size else [value]
        # A reward opens its images by the path as it stands, not by one next to the table.
        for entry in listed:
            yield column, _size(entry, "" if column in plan.own_images else file)


def _size(entry: Any, file: str) -> images.Size | str:
    """Return the size of an image that can be read to its end, or why it cannot."""
    try:
        source = images.source_of(entry)
        if source is None:
            return "there is no image in it"
        if isinstance(source, str) and not source.startswith(images.URI):
            return _size_of_file(source, file)
        return images.readable_size(source)
    except ValueError as error:
        return str(error)


def _size_of_file(path: str, file: str) -> images.Size | str:
    """Return the same of a path, which is looked for here, and then next to the table."""
    key = (path, file)
    if key not in _known:
        if len(_known) > _REMEMBERED:
            _known.clear()
        sibling = Path(file).parent / path if file else None
        found = str(sibling) if sibling and not Path(path).exists() and sibling.exists() else path
        try:
            _known[key] = images.readable_size(found)
        except ValueError as error:
            _known[key] = str(error)
    return _known[key]


# --- the options of a multiple-choice question ----------------------------------------------------

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTER = re.compile(r"(?:\\text(?:bf)?\{)?\(?([A-Z])\)?\}?[.):]?")
# (A) …, A. …, A) … in a prompt, at the beginning of a word.
_OPTION = re.compile(r"(?<![A-Za-z0-9])\(?([A-J])(?:\)|[.:](?=\s))")


def option_problem(row: Row, gold: Any, plan: CheckPlan) -> str:
    """Return why a gold is no option of its row, as far as the row has options; else ""."""
    if not isinstance(gold, str):
        return ""
    found = _LETTER.fullmatch("".join(alternatives(gold)[:1]).strip())
    letter = found[1] if found else None
    for column in plan.choices:
        letters, texts = options_of(row.get(column))
        if letters:
            return _problem_with(gold, letter, letters, texts)
    listed = _options_in(" ".join(str(row.get(name) or "") for name in plan.prompts))
    if letter and listed and letter not in listed:
        return f"The prompt has the options {listed[0]} to {listed[-1]}, and no {letter}."
    return ""


def options_of(choices: Any) -> tuple[list[str], list[str]]:
    """Return the letters and the texts of options: texts alone, or labels and texts."""
    labels = None
    if isinstance(choices, Mapping):
        is_by_letter = all(name in _LETTERS for name in choices)  # {"A": "red", "B": "green"}
        labels = list(choices) if is_by_letter else choices.get("label")
        choices = list(choices.values()) if is_by_letter else choices.get("text")
    if not isinstance(choices, list | tuple) or not choices or len(choices) > len(_LETTERS):
        return [], []
    if not isinstance(labels, list | tuple) or len(labels) != len(choices):
        labels = _LETTERS[: len(choices)]
    return [str(label) for label in labels], [str(choice) for choice in choices]


def _problem_with(
    gold: str, letter: str | None, letters: Sequence[str], texts: Sequence[str]
) -> str:
    known = {_plain(text) for text in texts}
    is_index = gold.strip().isdigit()  # of an option, counted from 0 or from 1
    if is_index or letter in letters or gold.strip() in letters or _plain(gold) in known:
        return ""
    if any(_plain(answer) in known for answer in alternatives(gold)):
        return ""
    if letter is None and len(letters) < 2:
        return ""
    what = f"no {letter}" if letter else "the gold is none of their texts"
    return f"The row has the options {letters[0]} to {letters[-1]}, and {what}."


def _plain(text: str) -> str:
    return " ".join(text.replace("$", "").casefold().rstrip(".").split())


def _options_in(prompt: str) -> str:
    """Return the letters of the options that a prompt lists, from A on; "" for fewer than two."""
    letters = ""
    for found in _OPTION.finditer(prompt):
        if found[1] == _LETTERS[len(letters)]:
            letters += found[1]
    return letters if len(letters) > 1 else ""


# --- prompts that state their answer --------------------------------------------------------------

# What comes before an answer that is stated, and what comes after it.
_BEFORE = (
    r"(?:\bthe\s+)?(?:\b(?:answer|ans|solution)\b[^\n.?!:=]{0,40}?(?:\bis\b|\bare\b|[:=])|^\s*A:"
    r"|####|\\boxed\{|<answer>|\?(?=[^?]*\Z))[\s:\"'“*$]*"
)
_AFTER = r"(?=[\"'”)\]*$}!]*\.?\s*(?:\Z|\n)|[\"'”*$]*(?:\.\s|\s*[)\]}]|</answer>))"
_AT_END = r"\)?(?=[\"'”*$!]*\.?\s*(?:\Z|\n))"  # "(B)" elsewhere is one of the options
# Several of these are examples, whose answers are not this row's.
_EXAMPLE = re.compile(r"^\s*(?:A|(?:final )?answer|solution)\s*:", re.IGNORECASE | re.MULTILINE)
_LONGEST = 200  # characters of an answer that is looked for


def stated_answer(prompt: str, answers: Sequence[str]) -> str:
    """Return the words of a prompt that state one of these answers; "" if it states none."""
    if len(_EXAMPLE.findall(prompt)) > 1:
        return ""
    for answer in answers:
        if not answer.strip() or len(answer) > _LONGEST:
            continue
        words = r"\s+".join(map(re.escape, answer.split()))
        pattern = rf"{_BEFORE}(?:{words}{_AFTER}|\({words}{_AT_END})"
        if found := re.search(pattern, prompt, re.IGNORECASE | re.MULTILINE):
            return " ".join(found[0].split())
    return ""


# --- golds and their schemas ----------------------------------------------------------------------


def schema_problem(row: Row, gold: Any, plan: CheckPlan) -> tuple[str, str]:
    """Return why the schema of a row cannot be used, and how its gold violates its schemas."""
    if "tools" in plan.read and row.get("tools") is not None:
        from plaudit.rewards.tools import gold_fault

        return "", gold_fault(gold, row["tools"])
    if "schema" in plan.required:
        from plaudit.rewards.structured import schema_fault

        return schema_fault(row.get("schema"), gold)
    return "", ""
