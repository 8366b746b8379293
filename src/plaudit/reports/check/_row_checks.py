"""Checks of one row: its images, boxes, options and prompt; and whether its gold can be matched.

A component gets a completion that says the gold itself, in the format that it wants. If that is not
right, something is wrong with the gold, or with the reward on such golds. A completion that says
something else shows what comparing with the gold costs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plaudit.inputs import images
from plaudit.inputs.golds import as_option
from plaudit.recipes.component import is_made_by_trainers
from plaudit.reports.check._findings import shown
from plaudit.reports.check._plan import CheckPlan, GoldComparison, as_json
from plaudit.reports.honest_answers import (
    REASONING,
    AnswerFormat,
    alternatives,
    boxes_in,
    text_of_gold,
)
from plaudit.scores import Score
from plaudit.scores.boxes import Corners
from plaudit.scores.score import PROBLEM_STATUSES
from plaudit.tables.errors import CommonFailure, common_failure, reason_of
from plaudit.tables.readers import Chunk, records_in
from plaudit.tables.score_chunk import outcomes_of

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


ScoreOrError = Score | Exception

_OTHER = "98765.4321"  # an answer that is hardly ever right, to see what comparing costs
_USUAL = 4  # formats that are tried if the best one fails
_SURE = 8  # rows, at least: a reward that fails for every one of them is broken
_KNOWN = ("4", "B", "[1, 2, 3, 4]")  # golds that any reward of their kind can read
_CHEAP = re.compile(r"[-+]?[\d.,]{1,20}|[A-Za-z][A-Za-z ]{0,60}")  # to compare with anything
_PATCH = 14  # pixels of a cell of image_grid_thw
# What is left of \text, \frac or \right if a backslash was taken for an escape.
_ESCAPES = re.compile(
    "[\x07\x08\x0b\x0c]|\t(?=ext|imes|heta|an\\b|riangle|au\\b|frac)|\r(?=ight|ho\\b)"
)
# What is written if there is no answer. "NA" is not, in small letters, since Na is sodium.
_PLACEHOLDER = re.compile(
    r"N/?A|N\.A\.?|(?i:n/a|n\.a\.|none|null|nan|undefined|to-?do|tbd|tba|fixme|placeholder|"
    r"missing|not ?(?:found|available|applicable|given|provided)|to be (?:determined|added|done)|"
    r"no (?:answer|solution) (?:given|provided|available)|(?:insert |your )?answer here|"
    r"your answer|omitted|proof|(?:same )?as above|(?:please )?(?:see|refer to|cf\.?|check) "
    r"(?:the )?(?:\w+ ){0,2}?(?:solution|answer|above|below|explanation|figure|graph|image|diagram|"
    r"text|proof|attach\w+|comment|link|book|page|appendix|table)s?\b.{0,40})"
)
_NO_WORDS = re.compile(r"[.?…-]+")
_LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
# A tag that is closed, or has attributes, or is always alone: "a<b>c" has none of these.
_HTML = re.compile(
    r"<(p|div|span|b|i|u|em|strong|sub|sup|font|table|t[rdh]|[uo]l|li|a|h[1-6]|pre|code)\b[^<>]*>"
    r".*?</\1>|<(?:br|hr|img)\b[^<>]*>|&(?:nbsp|lt|gt|amp|quot|#\d+);",
    re.IGNORECASE | re.DOTALL,
)
_REMEMBERED_GOLDS = 20_000  # golds of which a worker remembers what came of them


@dataclass(frozen=True, slots=True)
class GoldProblem:
    """What is wrong with a gold: the kind of the finding, and why."""

    kind: str
    why: str


_known_problems: dict[tuple[str, str], GoldProblem | None] = {}


def gold_problems(
    rows: Sequence[Row], comparison: GoldComparison, plan: CheckPlan
) -> list[GoldProblem | None]:
    """Return what is wrong with the gold of each row; None if nothing is."""
    asked = f"{comparison.format} {comparison.pay} {comparison.recipe}"
    keys = [(asked, as_json([row.get(name) for name in plan.read])) for row in rows]
    if len(_known_problems) > _REMEMBERED_GOLDS:
        _known_problems.clear()
    new = {key: row for key, row in zip(keys, rows, strict=True) if key not in _known_problems}
    _known_problems.update(zip(new, _problems(list(new.values()), comparison, plan), strict=True))
    return [_known_problems[key] for key in keys]


def _problems(
    rows: Sequence[Row], comparison: GoldComparison, plan: CheckPlan
) -> list[GoldProblem | None]:
    golds = [row[comparison.column] for row in rows]
    found = [
        _broken(gold) or _no_answer(row, gold, plan) for row, gold in zip(rows, golds, strict=True)
    ]
    wanted = comparison.format
    if wanted is None:
        return found
    # VLM-R1's method "llm" asks a language model, which costs money.
    free = [row.get("accu_reward_method") != "llm" for row in rows]
    sound = [n for n, is_free in enumerate(free) if is_free and not found[n]]
    answers = {n: honest_answers(rows[n], comparison) for n in sound}
    texts = [wanted.write(answers[n][0]) for n in sound]
    first = dict(zip(sound, scores_of([rows[n] for n in sound], texts, comparison), strict=True))
    for n, score in first.items():
        found[n] = _problem_in(score)
    wrong = [n for n in sound if not found[n] and not is_right(first[n], comparison)]
    for n, elsewhere in _in_other_words(rows, answers, wrong, comparison, plan).items():
        score = first[n]
        why = score.why if isinstance(score, Score) else ""
        found[n] = GoldProblem("unequal_gold", f"{why} {elsewhere}".strip())
    # An empty answer is that of a gold which wants no call: any text without one is right.
    costly = [n for n in sound if not found[n] and answers[n][0]]
    costly = [n for n in costly if not _CHEAP.fullmatch(answers[n][0])]
    others = scores_of([rows[n] for n in costly], [wanted.write(_OTHER)] * len(costly), comparison)
    for n, score in zip(costly, others, strict=True):
        problem = _problem_in(score)
        if is_right(score, comparison):
            found[n] = GoldProblem("partial_gold", f"Another answer, {_OTHER}, is right as well.")
        elif problem and problem.kind == "expensive_gold":
            found[n] = problem
    return found


def _broken(gold: Any) -> GoldProblem | None:
    """Return what is wrong with a gold, whatever reads it."""
    if isinstance(gold, Mapping) and not boxes_in(gold) and text_of_gold(gold).startswith("{"):
        return GoldProblem("unreadable_gold", "It is a dict, and no key says where the answer is.")
    if not isinstance(gold, str):
        return None
    if found := _ESCAPES.search(gold):
        why = f"It has the control character {found[0]!r}, as where a backslash was not escaped."
        return GoldProblem("unreadable_gold", why)
    if "\\" in gold and (depth := _depth(gold)):
        brace = "{ that is never closed" if depth > 0 else "} that closes nothing"
        return GoldProblem("unreadable_gold", f"It is LaTeX with a {brace}.")
    return None


def _depth(text: str) -> int:
    """Return how many braces are open at the end, without escaped ones; -1 if one is too few."""
    depth = 0
    for brace in re.findall(r"\\.|[{}]", text, re.DOTALL):
        depth += (brace == "{") - (brace == "}")
        if depth < 0:
            return -1
    return depth


def _is_placeholder(text: str) -> bool:
    bare = text.strip("[]<>{}()* ").removesuffix(".")
    return bool(_PLACEHOLDER.fullmatch(bare) or _NO_WORDS.fullmatch(text.strip()))


def _no_answer(row: Row, gold: Any, plan: CheckPlan) -> GoldProblem | None:
    """Return what is wrong with a gold that is text, and no answer."""
    listed = gold if isinstance(gold, list) else [gold]
    texts = [text for one in listed if isinstance(one, str) for text in alternatives(one)]
    options = [text for column in plan.choices for text in options_of(row.get(column))[1]]
    if not texts or any(text in options for text in texts):
        return None
    if all(map(_is_placeholder, texts)):
        return GoldProblem("placeholder_gold", "It is a placeholder, and no answer.")
    if all(map(_LINK.fullmatch, texts)):
        return GoldProblem("markup_gold", "It is a link, and no answer.")
    if tag := _HTML.search(texts[0]):
        return GoldProblem("markup_gold", f"It is HTML: {shown(tag[0], 40)}.")
    return None


def _problem_in(score: ScoreOrError) -> GoldProblem | None:
    """Return what a score says of the gold, whatever the answer."""
    if isinstance(score, Exception):
        reason = reason_of(score).partition(" (in ")[0]  # the finding names the component
        return GoldProblem("unreadable_gold", f"The reward refuses it: {reason}.")
    if score.status in ("timeout", "limit"):
        return GoldProblem("expensive_gold", score.why)
    if score.status in ("bad_gold", "error"):
        return GoldProblem("unreadable_gold", score.why)
    return GoldProblem("partial_gold", score.why) if score.partial_gold else None


def _in_other_words(
    rows: Sequence[Row],
    answers: Mapping[int, Sequence[str]],
    wrong: Sequence[int],
    comparison: GoldComparison,
    plan: CheckPlan,
) -> dict[int, str]:
    """Return in which formats the gold of a row is right, if no alternative of it is."""
    wanted = comparison.format
    assert wanted is not None
    reasons = REASONING in wanted.template
    usual = [one for one in plan.formats if (REASONING in one.template) == reasons][:_USUAL]
    tried = [(n, wanted, text) for n in wrong for text in answers[n][1:]]
    tried += [(n, one, answers[n][0]) for n in wrong for one in usual if one != wanted]
    texts = [one.write(text) for _, one, text in tried]
    scores = scores_of([rows[n] for n, _, _ in tried], texts, comparison)
    right: dict[int, list[AnswerFormat]] = {n: [] for n in wrong}
    for (n, one, _), score in zip(tried, scores, strict=True):
        if is_right(score, comparison):
            right[n].append(one)
    found = {}
    for n, formats in right.items():
        if wanted not in formats:
            names = " and ".join(one.name for one in formats)
            found[n] = (
                f"Written as {wanted.name} it is wrong; as {names} it is right."
                if names
                else f"It is wrong as {wanted.name} and in the other usual formats."
            )
    return found


# --- scores of honest answers ---------------------------------------------------------------------


def honest_answers(row: Row, comparison: GoldComparison) -> list[str]:
    """Return the answers that are right by the row's gold; a box in pixels that the model saw."""
    gold = row[comparison.column]
    if comparison.component.takes("choices"):
        column = comparison.recipe.columns.get("choices", "choices")
        gold = as_option(gold, row.get(column))
    if scaled := _scaled_box(row, gold, comparison):
        return [scaled]
    return alternatives(gold, comparison.separator) or [""]


def _scaled_box(row: Row, gold: Any, comparison: GoldComparison) -> str:
    """Return the gold box in pixels of what the model saw, for a reward that scales it back."""
    needs = comparison.component.needs(comparison.recipe.columns)
    if "image_grid_thw" not in needs or "image_path" not in needs:
        return ""
    found, size = boxes_in(gold), _size_in(row, needs["image_path"])
    if not found or size is None:
        return ""
    grid = _grid(row, needs["image_grid_thw"], size)
    across, down = grid[2] * _PATCH / size[0], grid[1] * _PATCH / size[1]
    left, top, right, bottom = found[0]
    return str([round(side) for side in (left * across, top * down, right * across, bottom * down)])


def _size_in(row: Row, column: str) -> images.Size | None:
    source = images.source_of(row.get(column))
    return None if source is None else images.size_of(source)


def _grid(row: Row, column: str, size: images.Size) -> list[int]:
    """Return the cells of what the model saw: as the row says, else those of the whole image."""
    grid = row.get(column)
    if isinstance(grid, list | tuple) and len(grid) == 3:
        return list(grid)
    return [1, -(-size[1] // _PATCH), -(-size[0] // _PATCH)]


def scores_of(
    rows: Sequence[Row], texts: Sequence[str], comparison: GoldComparison
) -> list[ScoreOrError]:
    """Return what a component says of these completions of the rows, or what it raises."""
    if not rows:
        return []
    recipe, component = comparison.recipe, comparison.component
    names = dict.fromkeys(name for row in rows for name in row if not is_made_by_trainers(name))
    mapped = {*recipe.columns.values(), *component.columns.values()}
    columns: dict[str, list[Any]] = {
        name: [row.get(name) for row in rows]
        for name in names
        if name in mapped or component.takes(name)
    }
    columns |= _made_columns(rows, texts, comparison)
    outcomes = outcomes_of(recipe, {"completions": list(texts), **columns})
    return [
        one if isinstance(one, Exception) else one.components[component.name] for one in outcomes
    ]


def _made_columns(
    rows: Sequence[Row], texts: Sequence[str], comparison: GoldComparison
) -> dict[str, list[Any]]:
    """Return the columns that a component needs and a trainer would make."""
    needs = comparison.component.needs(comparison.recipe.columns)
    made: dict[str, list[Any]] = {}
    for argument, column in needs.items():
        if argument == "image_grid_thw":
            sizes = [_size_in(row, needs.get("image_path", "")) or (_PATCH, _PATCH) for row in rows]
            made[column] = [_grid(r, column, size) for r, size in zip(rows, sizes, strict=True)]
        elif is_made_by_trainers(column):
            words = [list(range(len(text.split()))) for text in texts]
            made[column] = words if column.endswith("ids") else list(texts)
    return made


def is_right(score: ScoreOrError, comparison: GoldComparison) -> bool:
    """Return whether a completion is right, by what the reward says, or by what it pays."""
    if isinstance(score, Exception):
        return False
    if score.right is not None or comparison.pay is None:
        return bool(score.right)
    return score.value is not None and score.value >= comparison.pay - 1e-9


# --- the format that a component wants ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Calibration:
    """The comparisons with their formats, or the failure of one that raises for every row."""

    comparisons: tuple[GoldComparison, ...]
    unknown: tuple[str, ...] = ()  # the names of those whose format was not found
    failure: CommonFailure | None = None


Trials = list[tuple[AnswerFormat, Sequence[ScoreOrError]]]


def calibrate(chunk: Chunk, plan: CheckPlan) -> Calibration:
    """Find the format in which most of the honest answers of some rows are right."""
    records = records_in(chunk.records, plan.columns)
    rows: list[Row] = [r for r in records if isinstance(r, dict) and not image_problems(r, plan)]
    found, unknown = [], []
    for comparison in plan.comparisons:
        trials = _trials(rows, comparison, plan.formats)
        scores = [one for _, several in trials for one in several]
        errors = [one for one in scores if isinstance(one, Exception)]
        is_failing = len(errors) == len(scores) >= _SURE * len(trials)
        if is_failing and (failure := common_failure(errors)):
            return Calibration((), failure=failure)
        best = _best(trials, comparison)
        for gold in _KNOWN if best is None else ():
            with_gold = [{**row, comparison.column: gold} for row in rows[:1]]
            best = best or _best(_trials(with_gold, comparison, plan.formats), comparison)
        if best is None and any(
            isinstance(s, Score) and s.status not in PROBLEM_STATUSES for s in scores
        ):
            unknown.append(comparison.name)
            best = comparison
        found.append(best or replace(comparison, format=plan.formats[0]))
    return Calibration(tuple(found), tuple(unknown))


def _trials(
    rows: Sequence[Row], comparison: GoldComparison, formats: Sequence[AnswerFormat]
) -> Trials:
    """Return what each format got, until one is right in every row.

    Reasoning is not tried if half of the rows are right without it, since that is half of the time.
    """
    answers = [honest_answers(row, comparison)[0] for row in rows]
    trials: Trials = []
    most = 0
    for one in formats:
        if REASONING in one.template and 2 * most > len(rows):
            break
        scores = scores_of(rows, [one.write(answer) for answer in answers], comparison)
        trials.append((one, scores))
        most = max(most, sum(isinstance(score, Score) and bool(score.right) for score in scores))
        if most == len(rows) > 0:
            break
    return trials


def _best(trials: Trials, comparison: GoldComparison) -> GoldComparison | None:
    """Return the comparison with the format that earned most; None if nothing was right."""

    def known(scores: Sequence[ScoreOrError]) -> list[Score]:
        return [one for one in scores if isinstance(one, Score)]

    def earned(trial: tuple[AnswerFormat, Sequence[ScoreOrError]]) -> tuple[int, float]:
        scores = known(trial[1])
        return sum(bool(s.right) for s in scores), sum(s.value or 0.0 for s in scores)

    if not trials:
        return None
    best, scores = max(trials, key=earned)
    paid = [s.value for s in known(scores) if s.right is None and s.value is not None]
    pay = max(paid, default=None)
    values = [one.value for _, several in trials for one in known(several)]
    least = min((value for value in values if value is not None), default=0.0)
    earns = pay is not None and pay > min(least, 0.0)
    found = replace(comparison, format=best, pay=pay)
    return found if earns or any(score.right for score in known(scores)) else None
