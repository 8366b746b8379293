"""Rows and their golds in; out come the format that each component pays, and what it pays."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from plaudit.auditing._cases import Case, differing
from plaudit.auditing._dresses import Dress, learnt_dress, template_dress, usual_dresses
from plaudit.auditing._golds import Gold, Kind, number_text, written
from plaudit.auditing._process import Pay
from plaudit.auditing._scorer import Result, Scorer
from plaudit.auditing._table import Table

TRIAL_ROWS = 12
_LONG = " ".join(
    f"Part {n} of the {noun} is {word}, and so I look at it from the {side} side before going on."
    for n, (noun, word, side) in enumerate(
        [
            (n, w, s)
            for n in ("question", "task", "matter")
            for w in ("plain", "hard", "short", "odd")
            for s in ("left", "right")
        ]
    )
)
_FILLERS = ("17", "23", "40", "58", "71", "86", "93", "105", "123", "999")
_WORDS = (
    "Lisbon, basalt, Ada Lovelace, magnesium, Lake Chad, the oboe, 1066, quartz, Thursday, Oslo"
)


@dataclass(frozen=True)
class Format:
    """How a component wants its answers, and what it pays for them.

    dress: the format that pays best, with a right answer in it
    own: the format that the table or the user shows, which a right answer must be paid in
    pays: what a right answer gets, row by row; None where the row is skipped
    wrong: what a wrong answer gets in the same format, row by row
    full: what a right answer gets where nothing is amiss
    floor: the value from which pay is counted: 0, or what a wrong answer gets where a right one
        gets no more than 0
    reads_gold, reads_prompt: whether its values depend on the gold, on what is asked
    likes_length: whether a right answer gets more than twice as much after long reasoning
    """

    dress: Dress
    own: Dress
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

    def share(self, place: int, value: float | None) -> float:
        """What a value is of the pay of a right answer in this row, from 0 to 1."""
        if value is None or value != value or not self.pays_something:
            return 0.0
        return min(max((value - self.floor) / (self.honest(place) - self.floor), 0.0), 1.0)

    def honest(self, place: int) -> float:
        """What a right answer gets in this row, or would if nothing were amiss."""
        pay = self.pays.get(place)
        amiss = pay is None or pay - self.floor < 0.25 * (self.full - self.floor)
        return self.full if amiss or pay is None else pay


def value_of(result: Result, target: str) -> float | None:
    """What a component gave; None where there is no number."""
    return result.values.get(target) if isinstance(result, Pay) else None


class FormatFinder:
    """Finds the format of each component by trying dresses, ways to write an answer, on rows."""

    def __init__(
        self,
        scorer: Scorer,
        table: Table,
        tags: Sequence[str],
        lengths: Sequence[int],
        thinks: bool,
        template: str | None,
    ) -> None:
        self._scorer, self._table = scorer, table
        self._tags, self._lengths, self._thinks = tuple(tags), tuple(lengths), thinks
        self.places = [p for p, gold in enumerate(table.golds) if gold is not None] or list(
            range(len(table.rows))
        )
        self._trial = spread(self.places, TRIAL_ROWS)
        self._wrong: dict[tuple[int, int], tuple[str, ...]] = {}
        self._shown = self._shown_dress(template)

    def _shown_dress(self, template: str | None) -> Dress | None:
        if template is not None:
            return template_dress(template)
        golds = {p: gold.texts for p, gold in enumerate(self._table.golds) if gold is not None}
        return learnt_dress(self._table.completions, golds)

    def candidates(self) -> list[Dress]:
        """The dresses to try, those that the table shows first."""
        most = max((len(g.texts) for g in self._table.golds if g is not None), default=1)
        usual = usual_dresses(self._tags)
        shown = [] if self._shown is None else [self._shown]
        # Of several items the first alone comes first: where that is paid, they are aliases.
        order = [most - 1, *range(most - 1)] if self._has_items() else range(most)
        return [*shown, *(replace(dress, text=n) for n in order for dress in usual)]

    def _has_items(self) -> bool:
        return any(gold is not None and gold.kind is Kind.ITEMS for gold in self._table.golds)

    def found(self, targets: Sequence[str]) -> dict[str, Format]:
        """The format of each target."""
        dresses = self.candidates()
        pays = self._tried(dresses, targets)
        long = self._tried(
            [_with_long_reasoning(d) for d in dresses if "{reasoning}" in d.template], targets
        )
        formats: dict[Dress, dict[str, Format]] = {}
        chosen: dict[str, Format] = {}
        for target in targets:
            best = max(range(len(dresses)), key=lambda n: (pays[n][target], -n))
            shown = self._shown is not None and pays[0][target] >= 0.9 * pays[best][target]
            dress = dresses[0] if shown else dresses[best]
            if dress not in formats:
                formats[dress] = self._formats(dress, targets)
            own = self._shown or dress
            most = max((pay[target] for pay in long), default=0.0)
            form = replace(formats[dress][target], own=own)
            likes_length = most > 2 * max(form.full, 0.0)
            chosen[target] = replace(form, full=most, likes_length=True) if likes_length else form
        return chosen

    def _tried(self, dresses: Sequence[Dress], targets: Sequence[str]) -> list[dict[str, float]]:
        """What right answers get on average, dress by dress."""
        items = [
            (p, self.case(p, dress).full(self.case(p, dress).answer))
            for dress in dresses
            for p in self._trial
        ]
        results = self._scorer(items)
        found = []
        for n in range(len(dresses)):
            some = results[n * len(self._trial) : (n + 1) * len(self._trial)]
            found.append({t: _mean(value_of(one, t) for one in some) for t in targets})
        return found

    def _formats(self, dress: Dress, targets: Sequence[str]) -> dict[str, Format]:
        cases = [self.case(p, dress) for p in self.places]
        right = self._scorer([(c.place, c.full(c.answer)) for c in cases])
        wrong = self._scorer([(c.place, c.full(c.wrong)) for c in cases])
        golds = self._changed(cases, [*right, *wrong], [self._table.gold_column or ""])
        asked = self._changed(cases, [*right, *wrong], self._prompt_columns())
        return {t: _format(t, dress, cases, right, wrong, t in golds, t in asked) for t in targets}

    def _changed(
        self, cases: Sequence[Case], before: Sequence[Result], columns: Sequence[str]
    ) -> set[str]:
        """The components, or the total, whose values change when columns come from other rows."""
        texts = [c.full(c.answer) for c in cases] + [c.full(c.wrong) for c in cases]
        items = list(zip([c.place for c in cases] * 2, texts, strict=True))
        after = self._scorer.with_columns_of(items, self._moved(cases), columns)
        pairs = list(zip(before, after, strict=True))
        names = {name for one in before if isinstance(one, Pay) for name in one.values}
        raised = any(isinstance(a, Pay) != isinstance(b, Pay) for a, b in pairs)
        return {
            name
            for name in names
            if raised or any(_differ(value_of(a, name), value_of(b, name)) for a, b in pairs)
        }

    def _moved(self, cases: Sequence[Case]) -> dict[int, int]:
        """For each row another one, with another gold where there is one."""
        places = [case.place for case in cases]
        return dict(zip(places, [*places[1:], *places[:1]], strict=True))

    def _prompt_columns(self) -> list[str]:
        return [
            name
            for name in dict.fromkeys(name for row in self._table.rows for name in row)
            if name != self._table.gold_column
        ]

    def case(self, place: int, dress: Dress) -> Case:
        """A row in a dress, with answers that are wrong."""
        gold = self._table.golds[place]
        answer = "42" if gold is None else gold.texts[min(dress.text, len(gold.texts) - 1)]
        return Case(
            place,
            self._table.rows[place],
            gold,
            answer,
            dress,
            self._others(place, gold, answer, dress.text),
            self._lengths,
            self._tags,
            self._thinks,
        )

    def _others(self, place: int, gold: Gold | None, answer: str, text: int) -> tuple[str, ...]:
        """Wrong answers: those of the rows that follow, of the same kind, then made-up ones."""
        if (place, text) not in self._wrong:
            self._wrong[place, text] = tuple(
                differing(self._alike(place, gold, answer, text), answer)
            )
        return self._wrong[place, text]

    def _alike(self, place: int, gold: Gold | None, answer: str, text: int) -> list[str]:
        golds = self._table.golds
        after = [golds[(place + n) % len(golds)] for n in range(1, len(golds))]
        kind = Kind.TEXT if gold is None else gold.kind
        alike = [g.texts[min(text, len(g.texts) - 1)] for g in after if g and g.kind is kind]
        if kind is Kind.LETTER:
            alike = [*alike, *"ABCD"]
        if kind in (Kind.NUMBER, Kind.QUANTITY):
            number = number_text(answer)
            alike += [*_FILLERS, written(round(number.value * 3 + 7, 2)) if number else "7"]
        elif kind in (Kind.TEXT, Kind.ITEMS):
            alike += _WORDS.split(", ")
        elif gold is not None:
            made = [f"[{n}, {n}, {n + 25}, {n + 20}]" for n in range(3, 90, 11)]
            alike += made if kind is Kind.BOX else [f"[{box}]" for box in made]
        return alike


def spread(places: Sequence[int], count: int) -> list[int]:
    """At most `count` of some places, evenly spaced.

    >>> spread([0, 1, 2, 3, 4, 5], 3)
    [0, 2, 4]
    """
    if len(places) <= count:
        return list(places)
    return [places[i * len(places) // count] for i in range(count)]


def _format(
    target: str,
    dress: Dress,
    cases: Sequence[Case],
    right: Sequence[Result],
    wrong: Sequence[Result],
    reads_gold: bool,
    reads_prompt: bool,
) -> Format:
    places = [case.place for case in cases]
    pays = {p: value_of(one, target) for p, one in zip(places, right, strict=True)}
    lost = {p: value_of(one, target) for p, one in zip(places, wrong, strict=True)}
    values = [v for v in pays.values() if v is not None and v == v]
    best = max(values, default=0.0)
    floor = 0.0
    if best <= 0 and reads_gold:
        floor = min((v for v in lost.values() if v is not None and v == v), default=0.0)
    paid = [v for v in values if v - floor > 0.25 * (best - floor)]
    full = median(paid) if paid else best
    return Format(dress, dress, pays, lost, full, floor, reads_gold, reads_prompt)


def _with_long_reasoning(dress: Dress) -> Dress:
    return Dress(dress.template.replace("{reasoning}", _LONG), text=dress.text)


def _mean(values: Iterable[float | None]) -> float:
    known = [v for v in values if v is not None and v == v and abs(v) != float("inf")]
    return sum(known) / len(known) if known else 0.0


def _differ(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return (a is None) != (b is None)
    return abs(a - b) > 1e-9
