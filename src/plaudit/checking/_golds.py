r"""Golds and a component that compares in, and out comes what is wrong with each gold.

The component is given a completion that says the gold itself, in the format that it wants. Where
that is not right, something is wrong with the gold, or with the reward on such golds. A completion
that says something else shows what comparing with the gold costs.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plaudit import images
from plaudit.checking._findings import shown
from plaudit.checking._formats import Format, boxes_in, text_of_gold, written_answers
from plaudit.checking._options import option_texts
from plaudit.checking._plan import CheckPlan, Comparison, as_json
from plaudit.golds import as_option
from plaudit.recipes import is_made_by_trainers
from plaudit.scores import Score
from plaudit.scoring import outcomes_of, reason_of

Row = Mapping[str, Any]
Outcome = Score | Exception

OTHER = "98765.4321"  # an answer that is hardly ever right, to see what comparing costs
USUAL = 4  # formats that are tried where the best one fails

_CHEAP = re.compile(r"[-+]?[\d.,]{1,20}|[A-Za-z][A-Za-z ]{0,60}")  # to compare with anything
_PATCH = 14  # pixels of a cell of image_grid_thw
# What is left of \text, \frac or \right where a backslash was taken for an escape.
_ESCAPES = re.compile(
    "[\x07\x08\x0b\x0c]|\t(?=ext|imes|heta|an\\b|riangle|au\\b|frac)|\r(?=ight|ho\\b)"
)
# What is written where there is no answer. "NA" is not, in small letters, since Na is sodium.
_PLACEHOLDER = re.compile(
    r"N/?A|N\.A\.?|(?i:n/a|n\.a\.|none|null|nan|undefined|to-?do|tbd|tba|fixme|placeholder|"
    r"missing|not ?(?:found|available|applicable|given|provided)|to be (?:determined|added|done)|"
    r"no (?:answer|solution) (?:given|provided|available)|(?:insert |your )?answer here|"
    r"your answer|omitted|proof|(?:same )?as above|(?:please )?(?:see|refer to|cf\.?|check) "
    r"(?:the )?(?:\w+ ){0,2}?(?:solution|answer|above|below|explanation|figure|graph|image|diagram|"
    r"text|proof|attach\w+|comment|link|book|page|appendix|table)s?\b.{0,40})"
)
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
    rows: Sequence[Row], comparison: Comparison, plan: CheckPlan
) -> list[GoldProblem | None]:
    """What is wrong with the gold of each row; None where nothing is."""
    asked = f"{comparison.format} {comparison.pay} {comparison.recipe}"
    keys = [(asked, _key(row, plan)) for row in rows]
    if len(_known) > _REMEMBERED:
        _known.clear()
    new = {key: row for key, row in zip(keys, rows, strict=True) if key not in _known}
    _known.update(zip(new, _problems(list(new.values()), comparison, plan), strict=True))
    return [_known[key] for key in keys]


def _key(row: Row, plan: CheckPlan) -> str:
    return as_json([row.get(name) for name in plan.read])


def _problems(
    rows: Sequence[Row], comparison: Comparison, plan: CheckPlan
) -> list[GoldProblem | None]:
    found = [
        _broken(row[comparison.column]) or _no_answer(row, row[comparison.column], plan)
        for row in rows
    ]
    wanted = comparison.format
    if wanted is None:
        return found
    places = [p for p, row in enumerate(rows) if not found[p] and not _is_for_a_model(row)]
    answers = {p: honest_answers(rows[p], comparison) for p in places}
    texts = [wanted.text(answers[p][0]) for p in places]
    first = dict(zip(places, scores_of([rows[p] for p in places], texts, comparison), strict=True))
    for place, outcome in first.items():
        found[place] = _problem_in(outcome)
    wrong = [p for p in places if not found[p] and not is_right(first[p], comparison)]
    for place, said in _in_other_words(rows, answers, wrong, comparison, plan).items():
        outcome = first[place]
        why = outcome.why if isinstance(outcome, Score) else ""
        if said:
            found[place] = GoldProblem("unequal_gold", f"{why} {said}".strip())
    costly = [p for p in places if not found[p] and not _CHEAP.fullmatch(answers[p][0])]
    others = scores_of([rows[p] for p in costly], [wanted.text(OTHER)] * len(costly), comparison)
    for place, outcome in zip(costly, others, strict=True):
        problem = _problem_in(outcome)
        if is_right(outcome, comparison):
            why = f"Another answer, {OTHER}, is right as well."
            found[place] = GoldProblem("partial_gold", why)
        elif problem and problem.kind == "expensive_gold":
            found[place] = problem
    return found


def _broken(gold: Any) -> GoldProblem | None:
    """What is wrong with a gold, whatever reads it."""
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


def _no_answer(row: Row, gold: Any, plan: CheckPlan) -> GoldProblem | None:
    """What is wrong with a gold that is text, and no answer."""
    texts = [text for one in (gold if isinstance(gold, list) else [gold]) for text in _texts(one)]
    if not texts or any(text in option_texts(row, plan) for text in texts):
        return None
    if all(_PLACEHOLDER.fullmatch(text.strip("[]<>{}()* ").removesuffix(".")) for text in texts):
        return GoldProblem("placeholder_gold", "It is a placeholder, and no answer.")
    if all(map(_LINK.fullmatch, texts)):
        return GoldProblem("markup_gold", "It is a link, and no answer.")
    if tag := _HTML.search(texts[0]):
        return GoldProblem("markup_gold", f"It is HTML: {shown(tag[0], 40)}.")
    return None


def _texts(gold: Any) -> list[str]:
    return written_answers(gold) if isinstance(gold, str) else []


def _depth(text: str) -> int:
    """How many braces are open at the end, without those that are escaped; -1 where one too few."""
    depth = 0
    for brace in re.findall(r"\\.|[{}]", text, re.DOTALL):
        depth += (brace == "{") - (brace == "}")
        if depth < 0:
            return -1
    return depth


def _is_for_a_model(row: Row) -> bool:
    """Whether the row names a method of VLM-R1 that asks a language model, which costs money."""
    return row.get("accu_reward_method") == "llm"


def honest_answers(row: Row, comparison: Comparison) -> list[str]:
    """The answers that are right by the row's gold; a box is scaled to what the model saw."""
    gold = row[comparison.column]
    if comparison.component.takes("choices"):
        column = comparison.recipe.columns.get("choices", "choices")
        gold = as_option(gold, row.get(column))
    if scaled := _scaled_box(row, gold, comparison):
        return [scaled]
    return written_answers(gold, comparison.separator) or [""]


def _scaled_box(row: Row, gold: Any, comparison: Comparison) -> str:
    """The gold box in pixels of what the model saw, for a reward that scales it back."""
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
    """The cells of what the model saw: as the row says, else those of the image as it is."""
    grid = row.get(column)
    if isinstance(grid, list | tuple) and len(grid) == 3:
        return list(grid)
    return [1, -(-size[1] // _PATCH), -(-size[0] // _PATCH)]


def scores_of(rows: Sequence[Row], texts: Sequence[str], comparison: Comparison) -> list[Outcome]:
    """What a component says of these completions of the rows, or what it raises."""
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
    rows: Sequence[Row], texts: Sequence[str], comparison: Comparison
) -> dict[str, list[Any]]:
    """What a trainer would make beside these completions, of what the component needs."""
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


def is_right(outcome: Outcome, comparison: Comparison) -> bool:
    """Whether a completion is right, by what the reward says, or by what it pays."""
    if isinstance(outcome, Exception):
        return False
    if outcome.right is not None or comparison.pay is None:
        return bool(outcome.right)
    return outcome.value is not None and outcome.value >= comparison.pay - 1e-9


def _problem_in(outcome: Outcome) -> GoldProblem | None:
    """What an outcome says of the gold, whatever the answer."""
    if isinstance(outcome, Exception):
        said = reason_of(outcome).partition(" (in ")[0]  # the finding names the component
        return GoldProblem("unreadable_gold", f"The reward refuses it: {said}.")
    if outcome.status in ("timeout", "limit"):
        return GoldProblem("expensive_gold", outcome.why)
    if outcome.status in ("bad_gold", "error"):
        return GoldProblem("unreadable_gold", outcome.why)
    return GoldProblem("partial_gold", outcome.why) if outcome.gold_in_part else None


def _in_other_words(
    rows: Sequence[Row],
    answers: Mapping[int, Sequence[str]],
    wrong: Sequence[int],
    comparison: Comparison,
    plan: CheckPlan,
) -> dict[int, str]:
    """Of rows whose gold is not right, in which usual formats it is; "" if an alternative is."""
    wanted = comparison.format
    assert wanted is not None
    usual = _usual(plan.formats, wanted)
    tried = [(p, wanted, text) for p in wrong for text in answers[p][1:]]
    tried += [(p, one, answers[p][0]) for p in wrong for one in usual]
    texts = [one.text(text) for _, one, text in tried]
    outcomes = scores_of([rows[place] for place, _, _ in tried], texts, comparison)
    named: dict[int, list[str]] = {place: [] for place in wrong}
    alternative: set[int] = set()
    for (place, one, text), outcome in zip(tried, outcomes, strict=True):
        if is_right(outcome, comparison):
            named[place].append(one.name)
            if one is wanted and text in answers[place][1:]:
                alternative.add(place)
    return {
        place: "" if place in alternative else _said(wanted, formats)
        for place, formats in named.items()
    }


def _usual(formats: Sequence[Format], wanted: Format) -> list[Format]:
    """The usual formats besides the one that is wanted, with or without reasoning as that one."""
    half = len(formats) // 2
    start = half if wanted in formats[half:] and half else 0
    return [one for one in formats[start : start + USUAL] if one != wanted]


def _said(wanted: Format, formats: Sequence[str]) -> str:
    if formats:
        return f"Written as {wanted.name} it is wrong; as {' and '.join(formats)} it is right."
    return f"It is wrong as {wanted.name} and in the other usual formats."
