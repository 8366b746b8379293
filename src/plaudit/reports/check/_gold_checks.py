"""Finds golds that no answer can match, by scoring completions that say them.

A component gets a completion that says the gold itself, in the format that it wants. If that is not
right, something is wrong with the gold, or with the reward on such golds. A completion that says
something else shows what comparing with the gold costs.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plaudit.inputs import images
from plaudit.inputs.golds import as_option
from plaudit.recipes.columns import is_made_by_trainers
from plaudit.reports.check._findings import shown
from plaudit.reports.check._plan import CheckPlan, GoldComparison, as_json
from plaudit.reports.check._row_checks import image_problems, options_of
from plaudit.reports.honest_answers import (
    REASONING,
    AnswerFormat,
    alternatives,
    boxes_in,
    text_of_gold,
    try_formats,
)
from plaudit.scores import Score
from plaudit.scores.score import PROBLEM_STATUSES
from plaudit.tables import Chunk, CommonFailure, common_failure, outcomes_of, reason_of, records_in

Row = Mapping[str, Any]
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
_REMEMBERED = 20_000  # golds of which a worker remembers what came of them


@dataclass(frozen=True, slots=True)
class GoldProblem:
    """What is wrong with a gold: the kind of the finding, and why."""

    kind: str
    why: str


_known: dict[tuple[str, str], GoldProblem | None] = {}


def gold_problems(
    rows: Sequence[Row], comparison: GoldComparison, plan: CheckPlan
) -> list[GoldProblem | None]:
    """Return what is wrong with the gold of each row; None if nothing is."""
    asked = f"{comparison.format} {comparison.pay} {comparison.recipe}"
    keys = [(asked, as_json([row.get(name) for name in plan.read])) for row in rows]
    if len(_known) > _REMEMBERED:
        _known.clear()
    new = {key: row for key, row in zip(keys, rows, strict=True) if key not in _known}
    _known.update(zip(new, _problems(list(new.values()), comparison, plan), strict=True))
    return [_known[key] for key in keys]


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
    found, size = boxes_in(gold), _size(row, needs["image_path"])
    if not found or size is None:
        return ""
    grid = _grid(row, needs["image_grid_thw"], size)
    across, down = grid[2] * _PATCH / size[0], grid[1] * _PATCH / size[1]
    left, top, right, bottom = found[0]
    return str([round(side) for side in (left * across, top * down, right * across, bottom * down)])


def _size(row: Row, column: str) -> images.Size | None:
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
            sizes = [_size(row, needs.get("image_path", "")) or (_PATCH, _PATCH) for row in rows]
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
    records = [record for block in chunk.blocks for record in records_in(block, plan.columns)]
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
        (scores,) = try_formats(
            [one],
            range(len(rows)),
            lambda row, _: answers[row],
            lambda pairs: scores_of([rows[n] for n, _ in pairs], [t for _, t in pairs], comparison),
        )
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
