"""Formats and rows in; an audit out: attacks are played, shares counted, findings made."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plaudit.auditing._advice import advice
from plaudit.auditing._attacks import ATTACKS, CHECKS, CLASSES, RAISES, Attack, first_sentence
from plaudit.auditing._cases import Case
from plaudit.auditing._costs import CostFound
from plaudit.auditing._findings import LISTED, MISSED, TOTAL, Audit, Example, Finding, Tried
from plaudit.auditing._formats import Format, FormatFinder, spread, value_of
from plaudit.auditing._golds import Kind
from plaudit.auditing._process import Hung, Pay, Raised
from plaudit.auditing._runs import (
    Reach,
    Run,
    is_graded,
    mean_share,
    odd_places,
    odd_reason,
    row_share,
    run_attack,
    shown_value,
)
from plaudit.auditing._scorer import UNTRIED, Item, Result, Scorer
from plaudit.auditing._table import Table, unread_golds
from plaudit.recipes import Recipe

if TYPE_CHECKING:
    from plaudit.auditing._dresses import Dress

BUDGET = 120.0  # seconds for the attacks of one recipe; only slow rewards use them up
_DRESSES = 4  # formats in which attacks are played
_CHECKED_ROWS = 12
_LONGEST = 2000  # characters of an example's completion
# Of equal shares, the one that says most comes first: who pays a wrong answer for its length pays
# whatever is long.
_ORDER = {kind: n for n, kind in enumerate(dict.fromkeys(("length", *CLASSES, RAISES)))}

# The classes that count only for what reads the gold; of a user's own attack, see Attack.blind.
_NOT_BLIND = "key, echo, hedge, neighbour and retract"

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """What an audit is asked for.

    classes: those to try
    template: the format of an honest answer, with {answer} in it
    attacks: others than those that come with plaudit
    """

    classes: Collection[str] = CLASSES
    template: str | None = None
    attacks: tuple[Attack, ...] = ()


class Engine:
    """Plays attacks on the rows of a table, and turns what they earned into findings.

    formats: the format of each component and of the total
    unpaid: the components that pay nothing by themselves, with the reason
    """

    def __init__(
        self,
        scorer: Scorer,
        finder: FormatFinder,
        table: Table,
        formats: Mapping[str, Format],
        unpaid: Mapping[str, str],
        options: Options,
        progress: Progress,
    ) -> None:
        self.formats = formats
        self._unpaid = unpaid
        self._scorer, self._finder, self._table = scorer, finder, table
        self._options, self._progress = options, progress
        self._attacks = [a for a in (*ATTACKS, *options.attacks) if a.kind in options.classes]
        self._runs: dict[str, list[Run]] = {target: [] for target in formats}
        self._findings: list[Finding] = []
        self._matrix: list[Tried] = []
        self._skipped: list[str] = [
            *unread_golds(table),
            *(f"{name} {why}: what pays it alone is not listed" for name, why in unpaid.items()),
            *(
                f"{name} never reads the gold: {_NOT_BLIND} were not tried"
                for name in self._blind()
            ),
        ]

    def _blind(self) -> list[str]:
        """The components that pay, and whose values are the same for the gold of another row."""
        golds = {gold.texts for gold in self._table.golds if gold is not None}
        forms = self.formats.items() if len(golds) > 1 else ()
        return [t for t, f in forms if t != TOTAL and f.pays_something and not f.reads_gold]

    # --- attacks ----------------------------------------------------------------------------------

    def play(self) -> None:
        """Play every attack in every format that pays some component."""
        end = time.monotonic() + BUDGET
        reach = Reach.of(self._scorer.seconds_each)
        if reach != Reach():
            self._skipped.append(
                f"the rewards are slow: each attack was tried on {reach.rows} rows, with at most "
                f"{reach.variants} of its variants"
            )
        dresses = self._dresses()
        late: dict[str, dict[str, None]] = {}
        plan = [(attack, dress) for attack in self._attacks for dress in dresses]
        for number, (attack, dress) in enumerate(plan, 1):
            forms = {t: f for t, f in self.formats.items() if f.dress == dress}
            wanted = {t: f for t, f in forms.items() if self._counts(attack, t, f)}
            if not wanted:
                continue
            if time.monotonic() > end:
                late.setdefault(attack.kind, {})[attack.name] = None
                continue
            self._progress(f"attack {number} of {len(plan)}: {attack.name}")
            self._play(attack, wanted, reach)
        for kind, names in late.items():
            self._skipped.append(
                f"{kind}: not tried, since there was no time left: {', '.join(names)}"
            )

    def _dresses(self) -> "list[Dress]":
        """The formats in which attacks are played: the total's first, then the components'."""
        first = sorted(self.formats.items(), key=lambda one: one[0] != TOTAL)
        wanted: dict[Dress, list[str]] = {}
        for target, form in first:
            if form.pays_something:
                wanted.setdefault(form.dress, []).append(target)
        for names in list(wanted.values())[_DRESSES:]:
            told = f"{', '.join(names)}: attacks were tried in the formats of other components only"
            self._skipped.append(told)
        return list(wanted)[:_DRESSES]

    def _play(self, attack: Attack, wanted: Mapping[str, Format], reach: Reach) -> None:
        groups: dict[Dress, dict[str, Format]] = {}
        for target, form in wanted.items():
            # A table's completions need not have the form that other components want.
            shown = attack.kind == MISSED and form.reads_gold and target != TOTAL
            own = form.own if shown else form.dress
            groups.setdefault(own, {})[target] = form
        for dress, forms in groups.items():
            cases = [self._finder.case(place, dress) for place in self._finder.places]
            runs = run_attack(self._scorer, attack, cases, list(forms.values()), reach)
            for target in forms:
                self._runs[target] += runs

    def _counts(self, attack: Attack, target: str, form: Format) -> bool:
        """Whether an attack says anything about a component."""
        if not form.pays_something:
            return False
        if attack.kind == MISSED and form.likes_length:
            return False  # a right answer is not paid in full where it is not long
        if form.reads_gold or target == TOTAL:
            return True
        return attack.blind or (attack.kind == "echo" and form.reads_prompt)

    # --- the same again ---------------------------------------------------------------------------

    def check_stability(self) -> None:
        """Score some completions again in other ways, and compare."""
        if "unstable" not in self._options.classes:
            return
        items = self._checked_items()
        for check in CHECKS:
            self._progress(f"scoring again: {check.__name__}")
            first, second = check(self._scorer, items)
            if any(isinstance(one, Hung) for one in second):  # the machine may have been busy
                first, second = check(self._scorer, items)
            failed = [b for b in second if isinstance(b, Raised)]
            if check.__name__ == "as_messages_or_text" and len(failed) == len(second):
                form = "text" if self._scorer.as_messages else "lists of messages"
                self._skipped.append(f"unstable: {check.__name__}: {form} as completions raise")
                continue
            for target in self.formats:
                self._add_changes(check.__name__, check.__doc__ or "", target, items, first, second)

    def _checked_items(self) -> list[Item]:
        form = next(iter(self.formats.values()))
        items: list[Item] = []
        for place in spread(self._finder.places, _CHECKED_ROWS):
            case = self._finder.case(place, form.dress)
            own = self._table.completions.get(place, "It is so.")
            items += [
                (place, text) for text in (case.full(case.answer), case.full(case.wrong), own, "")
            ]
        return items

    def _add_changes(
        self,
        name: str,
        about: str,
        target: str,
        items: Sequence[Item],
        first: Sequence[Result],
        second: Sequence[Result],
    ) -> None:
        changed: dict[int, tuple[str, float | None, str]] = {}
        for (place, text), a, b in zip(items, first, second, strict=True):
            if UNTRIED in (a, b):
                continue
            before, after = shown_value(a, target), shown_value(b, target)
            if before != after and place not in changed:
                changed[place] = (text, value_of(b, target), f"It got {before}, and then {after}.")
        rows = len(dict.fromkeys(place for place, _ in items))
        share = len(changed) / rows
        self._matrix.append(Tried("unstable", name, target, share))
        if share >= LISTED:
            place, (text, value, why) = next(iter(changed.items()))
            example = self._example(place, text, value, f"{first_sentence(about)} {why}")
            self._add("unstable", name, target, share, rows, len(changed), example)

    # --- what is left -----------------------------------------------------------------------------

    def check_formats(self, recipe: Recipe) -> None:
        """A component that needs the gold, and pays nothing in any format."""
        needs = {c.name: c.needs(recipe.columns).values() for c in recipe.components}
        gold = self._table.gold_column
        for target, form in self.formats.items():
            silent = not form.pays_something and gold in needs.get(target, ())
            if silent and MISSED in self._options.classes:
                place = self._finder.places[0]
                case = self._finder.case(place, form.own)
                text = case.full(case.answer)
                why = "The gold is paid in no format that was tried: say yours with --template."
                example = self._example(place, text, form.pays.get(place), why)
                rows = len(form.pays)
                self._add(MISSED, "any_format", target, 1.0, rows, rows, example)

    def add_cost(self, component: str, case: Case, found: CostFound) -> None:
        """Add what was measured of a component's time."""
        self._skipped += [f"cost: {component}: {why}" for why in found.skipped]
        self._matrix.append(Tried("cost", "time", component, float(bool(found.attack))))
        if found.attack:
            example = self._example(case.place, found.text, None, found.why)
            self._add(found.kind, found.attack, component, 1.0, 1, 1, example)

    # --- findings ---------------------------------------------------------------------------------

    def audit(self, name: str) -> Audit:
        """All that was found."""
        for target, form in self.formats.items():
            self._add_findings(target, form)
        order = {attack.name: n for n, attack in enumerate(self._attacks)}
        ranked = sorted(
            self._findings,
            key=lambda f: (
                *(f.kind == MISSED, -f.share, _ORDER[f.kind]),
                *(order.get(f.attack, 0), f.component, f.attack),
            ),
        )
        return Audit(
            recipe=name,
            rows=len(self._table.rows),
            findings=tuple(ranked),
            skipped=tuple(dict.fromkeys(self._skipped)),
            formats={
                target: (form.dress.template, round(form.full, 6))
                for target, form in self.formats.items()
            },
            matrix=tuple(self._matrix),
            wrong_share=self._wrong_share(),
            blind=tuple(self._blind()),
        )

    def _wrong_share(self) -> float:
        *_, form = self.formats.values()  # of the total, or of the only component
        shares = [form.share(place, value) for place, value in form.wrong.items()]
        return round(sum(shares) / len(shares), 4) if shares else 0.0

    def _add_findings(self, target: str, form: Format) -> None:
        graded = is_graded(self._runs[target], form, target)
        base = self._wrong_share() + 0.05 if target == TOTAL else 0.0
        by_attack: dict[str, list[Run]] = {}
        for run in self._runs[target]:
            by_attack.setdefault(run.attack.name, []).append(run)
        for runs in by_attack.values():
            shares = [mean_share(run, form, target, graded) for run in runs]
            best = max(range(len(runs)), key=lambda n: (shares[n], -n))
            share, run = shares[best], runs[best]
            is_missed = run.attack.kind == MISSED
            if share <= self._chance() and not is_missed:
                share = 0.0
            self._add_odd(runs, target)
            if target in self._unpaid and not is_missed:
                continue
            self._matrix.append(Tried(run.attack.kind, run.attack.name, target, round(share, 4)))
            if share >= LISTED and (share > base or is_missed):
                self._add_run(run, form, target, share, graded)

    def _add_run(self, run: Run, form: Format, target: str, share: float, graded: bool) -> None:
        shares = {place: row_share(run, form, target, place, graded) for place in run.tried}
        place = max(shares, key=lambda p: (shares[p], -p))
        value = value_of(run.results[place], target)
        result = run.results[place]
        told = result.whys.get(target, "") if isinstance(result, Pay) else ""
        honest = form.honest(place)
        got = "no number" if value is None else f"{value:g}"
        why = f"{run.attack.about} It got {got}, a right answer gets {honest:g}. {told}".strip()
        example = self._example(place, run.texts[place], value, why)
        paid = sum(one >= LISTED for one in shares.values())
        self._add(run.attack.kind, run.attack.name, target, share, len(shares), paid, example)

    def _add_odd(self, runs: Sequence[Run], target: str) -> None:
        """The worst run of an attack on which a component gave no number, raised or hung."""
        for kind in ("unstable", RAISES, "cost"):
            found = [(odd_places(run, target)[kind], run) for run in runs]
            places, run = max(found, key=lambda pair: len(pair[0]) / max(len(pair[1].tried), 1))
            share = len(places) / max(len(run.tried), 1)
            if share < LISTED or (kind != RAISES and kind not in self._options.classes):
                continue
            place = places[0]
            result = run.results[place]
            value = value_of(result, target)
            example = self._example(place, run.texts[place], value, odd_reason(result, target))
            share = 1.0 if kind == "cost" else share
            rows = len(run.tried)
            self._add(kind, run.attack.name, target, share, rows, len(places), example)

    def _add(
        self,
        kind: str,
        attack: str,
        component: str,
        share: float,
        rows: int,
        paid: int,
        example: Example,
    ) -> None:
        form = self.formats[component]
        reads_gold = form.reads_gold or component == TOTAL
        said = advice(kind, self._kind(), reads_gold)
        self._findings.append(
            Finding(kind, attack, component, round(share, 4), rows, paid, example, said)
        )

    def _chance(self) -> float:
        """What a letter that is always the same earns: it is no hole."""
        return 0.3 if self._kind() is Kind.LETTER else 0.0

    def _kind(self) -> Kind:
        kinds = [gold.kind for gold in self._table.golds if gold is not None]
        return max(dict.fromkeys(kinds), key=kinds.count, default=Kind.TEXT)

    def _example(self, place: int, text: str, value: float | None, why: str) -> Example:
        if len(text) > _LONGEST:
            cut = len(text) - _LONGEST
            text = f"{text[: _LONGEST // 2]}\n[… {cut} characters …]\n{text[-_LONGEST // 2 :]}"
        number = None if value is None or value != value or abs(value) == float("inf") else value
        row = self._table.numbers[place]
        return Example(row, text, number if number is None else round(number, 6), why)
