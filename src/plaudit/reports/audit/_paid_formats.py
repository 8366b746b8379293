"""The sample of an audit, and the format in which each component pays an honest right answer."""

import inspect
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from types import CodeType
from typing import TYPE_CHECKING, Any

from plaudit.inputs.columns import CHOICES, GOLD, PROGRAM, TESTS, first_of
from plaudit.inputs.completions import text_of
from plaudit.inputs.golds import as_option
from plaudit.recipes import Component, Recipe
from plaudit.recipes.component import guess
from plaudit.reports.audit._attack import NUMERIC, Case, differing, plain_number
from plaudit.reports.audit._reward_process import Pay, Result, RowScorer, value_of
from plaudit.reports.honest_answers import (
    REASONING,
    AnswerFormat,
    GoldAnswer,
    GoldKind,
    learn_format,
    number_text,
    program_gold,
    read_gold,
    usual_formats,
)

if TYPE_CHECKING:
    from plaudit.tables.memory import MemoryTable


_COMPLETIONS = ("completion", "completions")


@dataclass(frozen=True)
class AuditSample:
    """The rows that an audit uses."""

    numbers: Sequence[int]  # the number of each row in the whole table
    rows: Sequence[Mapping[str, Any]]  # their columns, without `completion` and `completions`
    completions: Mapping[int, str]  # the text of what a model wrote, for rows that have it
    as_messages: bool  # whether the table's completions are lists of messages
    gold_column: str | None  # the column of golds; None if there is none
    golds: Sequence[GoldAnswer | None]  # the gold of each row, read; None for a row that has none

    def notes(self) -> list[str]:
        """Return a note on the rows whose gold could not be read, with the first of them."""
        column = self.gold_column
        missing = [index for index, gold in enumerate(self.golds) if gold is None]
        if column is None or not missing:
            return []
        shown = f"row {self.numbers[missing[0]]} has {self.rows[missing[0]].get(column)!r:.60}"
        why = f"no gold can be read in {column}, where {shown}"
        if len(missing) == len(self.golds):
            return [f"{why}: nobody knows what a right answer would be"]
        return [f"{len(missing)} of {len(self.golds)} rows were left out: {why}"]

    @property
    def kind(self) -> GoldKind:
        """What most golds are."""
        kinds = [gold.kind for gold in self.golds if gold is not None]
        return max(dict.fromkeys(kinds), key=kinds.count, default=GoldKind.TEXT)


def sample_of(table: "MemoryTable", recipe: Recipe, count: int, seed: int) -> AuditSample:
    """Return a sample of rows, the same for the same seed, in the order of the table."""
    numbers = list(range(len(table)))
    if len(numbers) > count:
        numbers = sorted(random.Random(seed).sample(numbers, count))
    column = recipe.columns.get("completions") or next(
        (name for name in _COMPLETIONS if name in table.names), ""
    )
    if column and column not in table.names:
        there_are = ", ".join(table.names)
        raise ValueError(f"there is no column {column!r}; the columns are {there_are}")
    # The audit writes the completions itself, and so their ids.
    needs = recipe.needs()
    made = [needs[name] for name in ("completion_ids",) if name in needs]
    recipe.check([*table.names, column or "completions", *made])
    columns = [name for name in table.names if name not in _COMPLETIONS]
    others = [name for name in columns if name != column]
    tests = _tests_column(recipe, others)
    gold = tests or _gold_column(recipe, others)
    program = first_of(PROGRAM, others) or ""
    rows = [{n: table.values(n, at, at + 1)[0] for n in columns} for at in numbers]
    values = [table.values(column, at, at + 1)[0] if column else None for at in numbers]
    texts = {index: _completion(value, index) for index, value in enumerate(values)}
    return AuditSample(
        numbers=numbers,
        rows=rows,
        completions={index: text for index, text in texts.items() if text},
        as_messages=any(
            isinstance(value, list) and value and isinstance(value[0], dict | list) and value[0]
            for value in values
        ),
        gold_column=gold,
        golds=[program_gold(row.get(tests), row.get(program)) for row in rows]
        if tests
        else _of_one_kind([_gold(row, gold, _first_alternative(recipe)) for row in rows]),
    )


def _of_one_kind(golds: list[GoldAnswer | None]) -> list[GoldAnswer | None]:
    """Return the golds; if most are words, years and letters among them become words, too."""
    known = [gold for gold in golds if gold is not None]
    if 2 * sum(gold.kind is GoldKind.TEXT for gold in known) <= len(known):
        return golds
    single = (*NUMERIC, GoldKind.LETTER)
    return [replace(g, kind=GoldKind.TEXT) if g and g.kind in single else g for g in golds]


def _tests_column(recipe: Recipe, columns: Sequence[str]) -> str | None:
    """Return the column of tests, if a reward reads one; `ground_truth` may be any gold."""
    needs = recipe.needs()
    names = (needs[name] for name in TESTS if name in needs and name not in GOLD)
    return next((name for name in names if name in columns), None)


def _gold_column(recipe: Recipe, columns: Sequence[str]) -> str | None:
    needs = recipe.needs()
    for name in ("solution", *GOLD):
        if name in needs and needs[name] in columns:
            return needs[name]
    mapped = recipe.columns.get("solution")
    return mapped if mapped in columns else guess("solution", columns)


def _first_alternative(recipe: Recipe) -> Callable[[Any], Any]:
    """Return a function that takes a gold's first alternative, if the rewards take several."""
    separators = [component.params.get("separator") for component in recipe.components]
    separator = next((one for one in separators if isinstance(one, str)), "")
    listed = all(c.bound.declaration.takes_alternatives for c in recipe.components)

    def first(gold: Any) -> Any:
        if separator and isinstance(gold, str) and separator in gold:
            return next((part for part in gold.split(separator) if part.strip()), gold)
        return gold[0] if listed and isinstance(gold, list) and gold else gold

    return first


def _gold(
    row: Mapping[str, Any], column: str | None, first: Callable[[Any], Any]
) -> GoldAnswer | None:
    choices = next((row[name] for name in CHOICES if row.get(name)), None)
    gold = None if column is None else first(row.get(column))
    return read_gold(as_option(gold, choices), choices is not None)


def _completion(value: Any, index: int) -> str:
    if isinstance(value, list) and value and isinstance(value[0], str | list):
        value = value[0]  # one of several completions
    try:
        return "" if value is None else text_of(value, index)
    except TypeError:
        return ""


_TRIAL_ROWS = 12
_TAG = re.compile(r"</?([a-z][a-z_]{2,20})>")
_NOT_TAGS = {"context", "image", "eos", "pad", "unk", "bos"}
_LONG_REASONING = " ".join(
    f"Part {n} of the {noun} is {word}, and so I look at it from the {side} side before going on."
    for n, (noun, word, side) in enumerate(
        (noun, word, side)
        for noun in ("question", "task", "matter")
        for word in ("plain", "hard", "short", "odd")
        for side in ("left", "right")
    )
)
_WRONG_NUMBERS = ("17", "23", "40", "58", "71", "86", "93", "105", "123", "999")
_WRONG_WORDS = (
    *("Lisbon", "basalt", "Ada Lovelace", "magnesium", "Lake Chad", "the oboe", "1066", "quartz"),
    *("Thursday", "Oslo"),
)


@dataclass(frozen=True)
class PaidFormat:
    """How a component wants its answers, and what it pays for them.

    own: the format that the table or the user shows, which a right answer must be paid in
    pays, wrong: what a right and a wrong answer get, row by row; None if the row is skipped
    full: what a right answer gets if nothing is amiss
    floor: the value from which pay is counted: 0, or what a wrong answer gets if a right one gets
        no more than 0
    reads_gold, reads_prompt: whether its values depend on the gold, on what is asked
    likes_length: whether a right answer gets more than twice as much after long reasoning
    """

    format: AnswerFormat
    own: AnswerFormat
    pays: Mapping[int, float | None]
    wrong: Mapping[int, float | None]
    full: float
    floor: float
    reads_gold: bool
    reads_prompt: bool
    likes_length: bool = False

    @property
    def pays_something(self) -> bool:
        """Whether a right answer earns anything."""
        return self.full > self.floor + 1e-9

    def share(self, row: int, value: float | None) -> float:
        """Return what a value is of the pay of a right answer in this row, from 0 to 1."""
        if value is None or value != value or not self.pays_something:
            return 0.0
        return min(max((value - self.floor) / (self.honest(row) - self.floor), 0.0), 1.0)

    def honest(self, row: int) -> float:
        """Return what a right answer gets in this row, or would if nothing were amiss."""
        pay = self.pays.get(row)
        amiss = pay is None or pay - self.floor < 0.25 * (self.full - self.floor)
        return self.full if amiss or pay is None else pay

    @property
    def wrong_share(self) -> float:
        """What a wrong answer in the right format gets, as a share."""
        shares = [self.share(row, value) for row, value in self.wrong.items()]
        return round(sum(shares) / len(shares), 4) if shares else 0.0


class FormatFinder:
    """Finds the format of each component by trying the usual ones on rows."""

    def __init__(
        self, recipe: Recipe, sample: AuditSample, scorer: RowScorer, template: str | None
    ) -> None:
        self._scorer, self._sample = scorer, sample
        self.rows = [row for row, gold in enumerate(sample.golds) if gold is not None] or list(
            range(len(sample.rows))
        )
        constants = [one for component in recipe.components for one in constants_of(component)]
        # What patterns escape is put back: r"<\/answer>" names the tag, too.
        texts = [one.replace("\\/", "/") for one in constants if isinstance(one, str)]
        prompts = [str(row.get("prompt", "")) for row in sample.rows[:5]]
        texts = [*list(sample.completions.values())[:5], *prompts, *texts]
        tags = [tag for text in texts for tag in _TAG.findall(text) if tag not in _NOT_TAGS]
        self._lengths, self._tags = _lengths_in(constants), tuple(dict.fromkeys(tags))[:4]
        self._thinks = any("<think>" in text for text in texts)
        self._wrong: dict[tuple[int, int], tuple[str, ...]] = {}
        golds = {row: gold.texts for row, gold in enumerate(sample.golds) if gold is not None}
        self._shown = (
            learn_format(sample.completions, golds)
            if template is None
            else AnswerFormat.of(template)
        )

    def find(self, targets: Sequence[str]) -> dict[str, PaidFormat]:
        """Return the format of each component, and of the total if it is a target."""
        formats = self._candidates()
        pays = self._try(formats, targets)
        long = self._try(
            [
                AnswerFormat(one.template.replace(REASONING, _LONG_REASONING), text=one.text)
                for one in formats
                if REASONING in one.template
            ],
            targets,
        )
        measured: dict[AnswerFormat, dict[str, PaidFormat]] = {}
        chosen: dict[str, PaidFormat] = {}
        for target in targets:
            best = max(range(len(formats)), key=lambda n: pays[n][target])
            shown = self._shown is not None and pays[0][target] >= 0.9 * pays[best][target]
            one = formats[0] if shown else formats[best]
            if one not in measured:
                measured[one] = self._measure(one, targets)
            paid = replace(measured[one][target], own=self._shown or one)
            most = max((pay[target] for pay in long), default=0.0)
            if most > 2 * max(paid.full, 0.0):
                paid = replace(paid, full=most, likes_length=True)
            chosen[target] = paid
        return chosen

    def _candidates(self) -> list[AnswerFormat]:
        """Return the formats to try, the one that the table shows first."""
        golds = [gold for gold in self._sample.golds if gold is not None]
        most = max((len(gold.texts) for gold in golds), default=1)
        usual = usual_formats(self._tags)
        # Of several items the first alone comes first: if that is paid, they are aliases.
        has_items = any(gold.kind is GoldKind.ITEMS for gold in golds)
        order = [most - 1, *range(most - 1)] if has_items else range(most)
        shown = [] if self._shown is None else [self._shown]
        return [*shown, *(replace(one, text=n) for n in order for one in usual)]

    def _try(
        self, formats: Sequence[AnswerFormat], targets: Sequence[str]
    ) -> list[dict[str, float]]:
        """Return what right answers get on average, format by format."""
        rows = spread(self.rows, _TRIAL_ROWS)
        pairs = [
            (row, one.write(self._answer(row, one), row=row)) for one in formats for row in rows
        ]
        results = self._scorer(pairs)
        return [
            {t: _mean(value_of(one, t) for one in results[at : at + len(rows)]) for t in targets}
            for at in range(0, len(pairs), len(rows))
        ]

    def _measure(self, one: AnswerFormat, targets: Sequence[str]) -> dict[str, PaidFormat]:
        cases = [self.case(row, one) for row in self.rows]
        right = [(c.index, c.full(c.answer)) for c in cases]
        wrong = [(c.index, c.full(c.wrong)) for c in cases]
        results = [*self._scorer(right), *self._scorer(wrong)]
        gold = self._sample.gold_column
        names = dict.fromkeys(name for row in self._sample.rows for name in row)
        by_gold = self._find_changed([*right, *wrong], results, [gold or ""])
        by_prompt = self._find_changed([*right, *wrong], results, [n for n in names if n != gold])
        found = {}
        for target in targets:
            values = [value_of(one, target) for one in results]
            pays = dict(zip(self.rows, values[: len(cases)], strict=True))
            lost = dict(zip(self.rows, values[len(cases) :], strict=True))
            reads = target in by_gold, target in by_prompt
            found[target] = PaidFormat(
                one, one, pays, lost, *_full_pay(pays, lost, reads[0]), *reads
            )
        return found

    def _find_changed(
        self, texts: Sequence[tuple[int, str]], before: Sequence[Result], columns: Sequence[str]
    ) -> set[str]:
        """Return the components whose values change when columns come from the next row."""
        others = dict(zip(self.rows, [*self.rows[1:], *self.rows[:1]], strict=True))
        after = self._scorer.with_columns_of(texts, others, columns)
        pairs = list(zip(before, after, strict=True))
        names = {name for one in before if isinstance(one, Pay) for name in one.values}
        raised = any(isinstance(a, Pay) != isinstance(b, Pay) for a, b in pairs)
        return {
            name
            for name in names
            if raised or any(_differ(value_of(a, name), value_of(b, name)) for a, b in pairs)
        }

    def case(self, row: int, one: AnswerFormat) -> Case:
        """Return the case of a row in a format, with answers that are wrong."""
        columns, gold = self._sample.rows[row], self._sample.golds[row]
        answer = self._answer(row, one)
        if (row, one.text) not in self._wrong:
            alike = self._alike(row, gold, answer, one.text)
            self._wrong[row, one.text] = tuple(differing(alike, answer))
        others, named = self._wrong[row, one.text], (self._lengths, self._tags, self._thinks)
        return Case(row, columns, gold, answer, one, others, *named)

    def _answer(self, row: int, one: AnswerFormat) -> str:
        gold = self._sample.golds[row]
        return "42" if gold is None else gold.text(one.text)

    def _alike(self, row: int, gold: GoldAnswer | None, answer: str, text: int) -> list[str]:
        """Return the answers of the rows that follow, of the same kind, then made-up ones."""
        golds = self._sample.golds
        after = [golds[(row + n) % len(golds)] for n in range(1, len(golds))]
        kind = GoldKind.TEXT if gold is None else gold.kind
        alike = [one.text(text) for one in after if one and one.kind is kind]
        if kind is GoldKind.LETTER:
            alike += "ABCD"
        if kind in NUMERIC:
            number = number_text(answer)
            other = plain_number(round(number.value * 3 + 7, 2)) if number else "7"
            alike += [*_WRONG_NUMBERS, other]
        elif kind in (GoldKind.TEXT, GoldKind.ITEMS):
            alike += _WRONG_WORDS
        elif kind is GoldKind.CALLS:
            alike += [f'[{{"name": "other_{n}", "arguments": {{}}}}]' for n in range(20)]
        elif kind is GoldKind.PROGRAM:
            alike += [f"```python\nprint({n})\n```" for n in range(20)]
        elif kind is GoldKind.OBJECT:
            alike += [f'{{"other_{n}": {n}}}' for n in range(20)]
        elif kind is GoldKind.BOX and gold is not None and answer.startswith("("):
            left, top, right, bottom = gold.boxes[0]
            alike = [f"({right + n}, {bottom + n})" for n in range(11, 200, 11)]
            alike += [f"({left - n}, {top - n})" for n in range(11, 200, 11)]
        else:
            boxes = [f"[{n}, {n}, {n + 25}, {n + 20}]" for n in range(3, 90, 11)]
            alike += boxes if kind is GoldKind.BOX else [f"[{box}]" for box in boxes]
        return alike


def spread(rows: Sequence[int], count: int) -> list[int]:
    """Return at most `count` of some rows, evenly spaced."""
    if len(rows) <= count:
        return list(rows)
    return [rows[i * len(rows) // count] for i in range(count)]


def _full_pay(
    pays: Mapping[int, float | None], wrong: Mapping[int, float | None], reads_gold: bool
) -> tuple[float, float]:
    """Return what a right answer gets if nothing is amiss, and from which value pay is counted."""
    values = [v for v in pays.values() if v is not None and v == v]
    best = max(values, default=0.0)
    floor = 0.0
    if best <= 0 and reads_gold:
        floor = min((v for v in wrong.values() if v is not None and v == v), default=0.0)
    paid = [v for v in values if v - floor > 0.25 * (best - floor)]
    return (median(paid) if paid else best), floor


def _mean(values: Iterable[float | None]) -> float:
    known = [v for v in values if v is not None and v == v and abs(v) != float("inf")]
    return sum(known) / len(known) if known else 0.0


def _differ(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return (a is None) != (b is None)
    return abs(a - b) > 1e-9


def constants_of(component: Component) -> Iterator[Any]:
    """Yield the numbers and texts in a reward's code, its defaults and its parameters."""
    yield from component.params.values()
    function = inspect.unwrap(component.bound.function)
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is None:  # an object that is called
        yield from vars(function).values() if hasattr(function, "__dict__") else ()
        code = getattr(type(function).__call__, "__code__", None)
    yield from getattr(function, "__defaults__", None) or ()
    if code is not None:
        yield from _constants(code, getattr(function, "__globals__", {}))


def _constants(code: CodeType, named: Mapping[str, Any], depth: int = 0) -> Iterator[Any]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _constants(constant, named, depth)
        elif isinstance(constant, tuple | frozenset):
            yield from constant
        else:
            yield constant
    for name in code.co_names:
        value = named.get(name)
        if isinstance(value, re.Pattern):
            yield value.pattern
        elif isinstance(value, str | int | tuple | list):
            yield from [value] if isinstance(value, str | int) else value[:50]
        elif inspect.isfunction(value) and value.__globals__ is named and depth < 3:
            yield from _constants(value.__code__, named, depth + 1)


def _lengths_in(constants: Iterable[Any]) -> tuple[int, ...]:
    """Return the whole numbers that may be lengths, at most eight of them."""
    whole = {
        int(c)
        for c in constants
        if isinstance(c, int | float) and not isinstance(c, bool) and c == c and abs(c) < 1e9
    }
    return tuple(sorted(n for n in whole if 8 <= n <= 30_000)[:8])
