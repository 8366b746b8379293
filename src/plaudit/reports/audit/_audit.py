"""`plaudit.audit`: play attacks on rows, and make findings of what pays without being right."""

import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from math import isfinite
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TextIO

from plaudit.recipes import Component, Recipe, presets
from plaudit.recipes.recipe import as_recipe
from plaudit.reports.audit._attack import CLASSES, MISSED, RAISES, Attack, Case
from plaudit.reports.audit._attacks import ATTACKS
from plaudit.reports.audit._attacks.measured import CHECKS, CostFound, cost_of
from plaudit.reports.audit._findings import LISTED, Audit, AuditFinding, Example, Tried, advice
from plaudit.reports.audit._paid_formats import (
    AuditSample,
    FormatFinder,
    PaidFormat,
    sample_of,
    spread,
)
from plaudit.reports.audit._reward_process import (
    TOTAL,
    UNTRIED,
    Hung,
    Pay,
    Raised,
    Result,
    RowScorer,
    RowText,
    value_of,
)
from plaudit.reports.honest_answers import AnswerFormat, GoldKind
from plaudit.tables.summary import ProgressLine

_BUDGET = 120.0  # seconds for the attacks of one recipe; only slow rewards use them up
_FORMATS = 4  # formats in which attacks are played
_CHECKED_ROWS = 12
_LONGEST = 2000  # characters of an example's completion
_FIRST_ROWS = 12  # on which every variant is tried; on all rows only if it paid on these
_EXTENDED = 3  # variants of an attack that are tried on all rows
_WORTH = 0.05  # the share from which a variant is tried on all rows
_GRADES = 4  # so many different values between nothing and full pay are partial credit
_NOT_FULL = 0.9  # of its pay, below which a right answer is not paid in full
_FEWEST = 3  # rows that a finding needs, if the table has as many
# Of equal shares, the one that says most comes first: a reward that pays a wrong answer for its
# length pays whatever is long.
_ORDER = {kind: n for n, kind in enumerate(dict.fromkeys(("length", *CLASSES, RAISES)))}
# The classes that count only for what reads the gold; see Attack.ignores_gold for single attacks.
_FOR_GOLD_READERS = "key, echo, hedge, neighbour and retract"

# --- one attack -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class AttackRun:
    """One variant of an attack on some rows: the completion of each row, and what it got."""

    attack: Attack
    variant: str
    texts: Mapping[int, str]
    results: Mapping[int, Result]

    @property
    def tried(self) -> list[int]:
        """The rows that were scored."""
        return [row for row, result in self.results.items() if result is not UNTRIED]

    def share(self, row: int, paid: PaidFormat, target: str, graded: bool) -> float:
        """Return what it earned on one row, as a share of a right answer's pay.

        graded: whether the component gives partial credit
        """
        result = self.results[row]
        if not isinstance(result, Pay):
            return 0.0
        value = result.values.get(target)
        if self.attack.kind == MISSED:
            if value is None or value != value:
                # If the reward skips this row whatever is said, it misses nothing.
                return float(paid.pays.get(row) is not None or value is not None)
            return float(value - paid.floor < _NOT_FULL * (paid.honest(row) - paid.floor))
        share = paid.share(row, value)
        if self.attack.relative_to_wrong:
            share = max(share - paid.share(row, paid.wrong.get(row)), 0.0)
        if self.attack.allows_partial_credit and graded and share < 1 - 1e-6:
            return 0.0
        return share

    def mean_share(self, paid: PaidFormat, target: str, graded: bool = False) -> float:
        """Return the mean over the rows that were tried; 0 if these are too few."""
        rows = self.tried
        if not rows or len(rows) < min(_FEWEST, len(paid.pays)):
            return 0.0
        return sum(self.share(row, paid, target, graded) for row in rows) / len(rows)

    def odd_rows(self, target: str) -> dict[str, list[int]]:
        """Return the rows on which a value was no number, a reward raised, or did not finish."""
        found: dict[str, list[int]] = {"unstable": [], RAISES: [], "cost": []}
        for row, result in self.results.items():
            if isinstance(result, Pay):
                value = result.values.get(target)
                if result.problems.get(target) or (value is not None and not isfinite(value)):
                    found["unstable"].append(row)
            elif isinstance(result, Raised):
                if result.component in ("", target):
                    found[RAISES].append(row)
            elif result is not UNTRIED:
                found["cost"].append(row)
        return found


@dataclass(frozen=True)
class Reach:
    """How much is tried: less if a reward is slow."""

    rows: int = _FIRST_ROWS
    variants: int = 1000

    @classmethod
    def of(cls, seconds_each: float) -> "Reach":
        """Choose by the seconds that a reward takes for one completion."""
        if seconds_each < 0.01:
            return cls()
        return cls(4, 4) if seconds_each < 0.1 else cls(_FEWEST, 1)


def run_attack(
    scorer: RowScorer,
    attack: Attack,
    cases: Sequence[Case],
    formats: Sequence[PaidFormat],
    reach: Reach,
) -> list[AttackRun]:
    """Try every variant of an attack on the first rows that it fits; the best on all rows."""
    texts: dict[str, dict[int, str]] = {}
    for case in (one for one in cases if one.kind in attack.golds):
        for built in attack.build(case):
            variant, text = _check_built(built, attack)
            if variant in texts or len(texts) < reach.variants:
                texts.setdefault(variant, {})[case.index] = text
    tried = [
        (variant, row, text)
        for variant, by_row in texts.items()
        for row, text in list(by_row.items())[: reach.rows]
    ]
    results = scorer([(row, text) for _, row, text in tried])
    found: dict[str, dict[int, Result]] = {variant: {} for variant in texts}
    for (variant, row, _), result in zip(tried, results, strict=True):
        found[variant][row] = result
    runs = [AttackRun(attack, variant, texts[variant], found[variant]) for variant in texts]
    return runs if reach != Reach() else _with_all_rows(scorer, runs, formats)


def _check_built(built: object, attack: Attack) -> tuple[str, str]:
    """Return what an attack has built; raise TypeError if a user's attack yields anything else."""
    if isinstance(built, tuple) and len(built) == 2 and all(isinstance(t, str) for t in built):
        return built
    got = f"{type(built).__name__}: {built!r:.80}"
    raise TypeError(f"attack {attack.name} must yield (variant, completion), two texts, got {got}")


def _with_all_rows(
    scorer: RowScorer, runs: list[AttackRun], formats: Sequence[PaidFormat]
) -> list[AttackRun]:
    """Return the runs, with the best of them on all rows that they fit."""

    def worth(run: AttackRun) -> float:
        names = {n for r in run.results.values() if isinstance(r, Pay) for n in r.values}
        odd = sum(not isinstance(r, Pay) for r in run.results.values())
        shares = [run.mean_share(paid, name) for paid in formats for name in names]
        return max([*shares, odd / max(len(run.results), 1)])

    runs = list(runs)
    for n in sorted(range(len(runs)), key=lambda n: -worth(runs[n]))[:_EXTENDED]:
        if worth(runs[n]) >= _WORTH:
            more = [(row, t) for row, t in runs[n].texts.items() if row not in runs[n].results]
            added = dict(zip((row for row, _ in more), scorer(more), strict=True))
            runs[n] = replace(runs[n], results={**runs[n].results, **added})
    return runs


def _gives_partial_credit(runs: Iterable[AttackRun], paid: PaidFormat, target: str) -> bool:
    """Return whether a component gives many values between nothing and full pay."""
    seen = {
        round(paid.share(row, value_of(result, target)), 4)
        for run in runs
        if run.attack.allows_partial_credit or run.attack.kind == "neighbour"
        for row, result in run.results.items()
    }
    return sum(0.02 < share < 0.98 for share in seen) >= _GRADES


def _shown_value(result: Result, target: str) -> str:
    """Return a value as text, so that two can be compared and shown."""
    if isinstance(result, Pay):
        value = result.values.get(target)
        return "no number" if value is None or value != value else f"{value:.9g}"
    if isinstance(result, Hung):
        return "no answer in time"
    own = result.component in ("", target)
    return f"an exception ({result.message.partition(':')[0]})" if own else "no number"


def _odd_reason(result: Result, target: str) -> str:
    """Return why a result is odd, in a sentence."""
    if isinstance(result, Raised):
        return f"It raised {result.message}"
    if isinstance(result, Hung):
        return "It ended its process." if result.ended_process else "It did not finish in time."
    return f"It gave {result.problems.get(target) or result.values.get(target)}."


# --- all of them ----------------------------------------------------------------------------------


class Engine:
    """Plays attacks on the rows of a sample, and turns what they earned into findings.

    unpaid: the components that pay nothing by themselves, with the reason
    """

    def __init__(
        self,
        scorer: RowScorer,
        finder: FormatFinder,
        sample: AuditSample,
        formats: Mapping[str, PaidFormat],
        unpaid: Mapping[str, str],
        classes: Collection[str],
        attacks: Sequence[Attack],
        progress: ProgressLine,
    ) -> None:
        self.formats = formats
        self._unpaid = unpaid
        self._scorer, self._finder, self._sample = scorer, finder, sample
        self._classes, self._progress = classes, progress
        self._attacks = [a for a in (*ATTACKS, *attacks) if a.kind in classes]
        self._runs: dict[str, list[AttackRun]] = {target: [] for target in formats}
        self._findings: list[AuditFinding] = []
        self._matrix: list[Tried] = []
        # The components that pay, and whose values are the same for the gold of another row.
        golds = {gold.texts for gold in sample.golds if gold is not None}
        paying = {t: f for t, f in formats.items() if t != TOTAL and f.pays_something}
        self._ignore_gold = [t for t, f in paying.items() if len(golds) > 1 and not f.reads_gold]
        self._skipped: list[str] = [
            *sample.notes(),
            *(f"{name} {why}: what pays it alone is not listed" for name, why in unpaid.items()),
            *(
                f"{name} never reads the gold: {_FOR_GOLD_READERS} were not tried"
                for name in self._ignore_gold
            ),
        ]

    def play(self) -> None:
        """Play every attack in every format that pays some component."""
        end = time.monotonic() + _BUDGET
        reach = Reach.of(self._scorer.seconds_each)
        if reach != Reach():
            self._skipped.append(
                f"the rewards are slow: each attack was tried on {reach.rows} rows, with at most "
                f"{reach.variants} of its variants"
            )
        late: dict[str, dict[str, None]] = {}
        formats = self._formats_to_play()
        plan = [(attack, one) for attack in self._attacks for one in formats]
        for number, (attack, one) in enumerate(plan, 1):
            alike = {t: paid for t, paid in self.formats.items() if paid.format == one}
            wanted = {t: paid for t, paid in alike.items() if self._counts(attack, t, paid)}
            if not wanted:
                continue
            if time.monotonic() > end:
                late.setdefault(attack.kind, {})[attack.name] = None
                continue
            self._progress(f"attack {number} of {len(plan)}: {attack.name}")
            # Rewards that run programs are slow by nature, and each variant is a hole of its own.
            every = replace(reach, variants=Reach.variants) if attack.kind == "code" else reach
            self._play(attack, wanted, every)
        for kind, names in late.items():
            self._skipped.append(
                f"{kind}: not tried, since there was no time left: {', '.join(names)}"
            )

    def _formats_to_play(self) -> list[AnswerFormat]:
        """Return the formats in which attacks are played: the total's first."""
        first = sorted(self.formats.items(), key=lambda one: one[0] != TOTAL)
        wanted: dict[AnswerFormat, list[str]] = {}
        for target, paid in first:
            if paid.pays_something:
                wanted.setdefault(paid.format, []).append(target)
        for names in list(wanted.values())[_FORMATS:]:
            note = f"{', '.join(names)}: attacks were tried in the formats of other components only"
            self._skipped.append(note)
        return list(wanted)[:_FORMATS]

    def _play(self, attack: Attack, wanted: Mapping[str, PaidFormat], reach: Reach) -> None:
        groups: dict[AnswerFormat, dict[str, PaidFormat]] = {}
        for target, paid in wanted.items():
            # A table's completions need not have the form that other components want.
            shown = attack.kind == MISSED and paid.reads_gold and target != TOTAL
            groups.setdefault(paid.own if shown else paid.format, {})[target] = paid
        for one, alike in groups.items():
            cases = [self._finder.case(row, one) for row in self._finder.rows]
            runs = run_attack(self._scorer, attack, cases, list(alike.values()), reach)
            if attack.kind == "code":  # a program may have changed the process that ran it
                self._scorer.restart()
            for target in alike:
                self._runs[target] += runs

    def _counts(self, attack: Attack, target: str, paid: PaidFormat) -> bool:
        """Return whether an attack says anything about a component."""
        if not paid.pays_something:
            return False
        if attack.kind == MISSED and paid.likes_length:
            return False  # a right answer is not paid in full if it is not long
        if paid.reads_gold or target == TOTAL:
            return True
        return attack.ignores_gold or (attack.kind == "echo" and paid.reads_prompt)

    def check_stability(self) -> None:
        """Score some completions again in other ways, and compare."""
        if "unstable" not in self._classes:
            return
        texts = self._texts_to_check()
        for name, (about, check) in CHECKS.items():
            self._progress(f"scoring again: {name}")
            first, second = check(self._scorer, texts)
            if any(isinstance(one, Hung) for one in second):  # the machine may have been busy
                first, second = check(self._scorer, texts)
            failed = [b for b in second if isinstance(b, Raised)]
            if name == "as_messages_or_text" and len(failed) == len(second):
                form = "text" if self._scorer.as_messages else "lists of messages"
                self._skipped.append(f"unstable: {name}: {form} as completions raise")
                continue
            for target in self.formats:
                self._add_changes(name, about, target, texts, first, second)

    def _texts_to_check(self) -> list[RowText]:
        paid = next(iter(self.formats.values()))
        texts: list[RowText] = []
        for row in spread(self._finder.rows, _CHECKED_ROWS):
            case = self._finder.case(row, paid.format)
            own = self._sample.completions.get(row, "It is so.")
            texts += [(row, t) for t in (case.full(case.answer), case.full(case.wrong), own, "")]
        return texts

    def _add_changes(
        self,
        name: str,
        about: str,
        target: str,
        texts: Sequence[RowText],
        first: Sequence[Result],
        second: Sequence[Result],
    ) -> None:
        changed: dict[int, tuple[str, float | None, str]] = {}
        for (row, text), a, b in zip(texts, first, second, strict=True):
            before, after = _shown_value(a, target), _shown_value(b, target)
            if before != after and row not in changed and UNTRIED not in (a, b):
                changed[row] = (text, value_of(b, target), f"It got {before}, and then {after}.")
        rows = len({row for row, _ in texts})
        share = len(changed) / rows
        self._matrix.append(Tried("unstable", name, target, share))
        if share >= LISTED:
            row, (text, value, why) = next(iter(changed.items()))
            example = self._example(row, text, value, f"{about} {why}")
            self._add("unstable", name, target, share, rows, len(changed), example)

    def check_formats(self, recipe: Recipe) -> None:
        """Add the components that need the gold, and pay nothing in any format."""
        needs = {c.name: c.needs(recipe.columns).values() for c in recipe.components}
        gold = self._sample.gold_column
        for target, paid in self.formats.items():
            silent = not paid.pays_something and gold in needs.get(target, ())
            if silent and MISSED in self._classes:
                row = self._finder.rows[0]
                case = self._finder.case(row, paid.own)
                why = "The gold is paid in no format that was tried: say yours with --template."
                example = self._example(row, case.full(case.answer), paid.pays.get(row), why)
                rows = len(paid.pays)
                self._add(MISSED, "any_format", target, 1.0, rows, rows, example)

    def add_cost(self, component: str, case: Case, found: CostFound) -> None:
        """Add what was measured of a component's time."""
        self._skipped += [f"cost: {component}: {why}" for why in found.skipped]
        self._matrix.append(Tried("cost", "time", component, float(bool(found.attack))))
        if found.attack:
            example = self._example(case.index, found.text, None, found.why)
            self._add(found.kind, found.attack, component, 1.0, 1, 1, example)

    def audit(self, name: str) -> Audit:
        """Return all that was found."""
        *_, last = self.formats.values()  # of the total, or of the only component
        for target, paid in self.formats.items():
            base = last.wrong_share + 0.05 if target == TOTAL else 0.0
            self._add_findings(target, paid, base)
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
            rows=len(self._sample.rows),
            findings=tuple(ranked),
            skipped=tuple(dict.fromkeys(self._skipped)),
            formats={
                target: (paid.format.template, round(paid.full, 6))
                for target, paid in self.formats.items()
            },
            matrix=tuple(self._matrix),
            wrong_share=last.wrong_share,
            ignore_gold=tuple(self._ignore_gold),
        )

    def _add_findings(self, target: str, paid: PaidFormat, base: float) -> None:
        graded = _gives_partial_credit(self._runs[target], paid, target)
        # What a letter that is always the same earns is no hole.
        chance = 0.3 if self._sample.kind is GoldKind.LETTER else 0.0
        by_attack: dict[str, list[AttackRun]] = {}
        for run in self._runs[target]:
            by_attack.setdefault(run.attack.name, []).append(run)
        for runs in by_attack.values():
            self._add_odd(runs, target)
            shares = [run.mean_share(paid, target, graded) for run in runs]
            best = max(range(len(runs)), key=shares.__getitem__)
            share, run = shares[best], runs[best]
            is_missed = run.attack.kind == MISSED
            if share <= chance and not is_missed:
                share = 0.0
            if target in self._unpaid and not is_missed:
                continue
            self._matrix.append(Tried(run.attack.kind, run.attack.name, target, round(share, 4)))
            if share >= LISTED and (share > base or is_missed):
                self._add_run(run, paid, target, share, graded)

    def _add_run(
        self, run: AttackRun, paid: PaidFormat, target: str, share: float, graded: bool
    ) -> None:
        shares = {row: run.share(row, paid, target, graded) for row in run.tried}
        row = max(shares, key=lambda row: (shares[row], -row))
        result = run.results[row]
        value = value_of(result, target)
        reason = result.whys.get(target, "") if isinstance(result, Pay) else ""
        got = "no number" if value is None else f"{value:g}"
        right = f"{paid.honest(row):g}"
        why = f"{run.attack.about} It got {got}, a right answer gets {right}. {reason}".strip()
        example = self._example(row, run.texts[row], value, why)
        paying = sum(one >= LISTED for one in shares.values())
        self._add(run.attack.kind, run.attack.name, target, share, len(shares), paying, example)

    def _add_odd(self, runs: Sequence[AttackRun], target: str) -> None:
        """Add the worst run of an attack on which a component gave no number, raised or hung."""
        for kind in ("unstable", RAISES, "cost"):
            found = [(run.odd_rows(target)[kind], run) for run in runs]
            odd, run = max(found, key=lambda pair: len(pair[0]) / max(len(pair[1].tried), 1))
            rows = len(run.tried)
            share = len(odd) / max(rows, 1)
            if share < LISTED or (kind != RAISES and kind not in self._classes):
                continue
            result = run.results[odd[0]]
            value, why = value_of(result, target), _odd_reason(result, target)
            example = self._example(odd[0], run.texts[odd[0]], value, why)
            share = 1.0 if kind == "cost" else share
            self._add(kind, run.attack.name, target, share, rows, len(odd), example)

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
        reads_gold = self.formats[component].reads_gold or component == TOTAL
        what_to_do = advice(kind, self._sample.kind, reads_gold)
        counted = (round(share, 4), rows, paid)
        self._findings.append(AuditFinding(kind, attack, component, *counted, example, what_to_do))

    def _example(self, row: int, text: str, value: float | None, why: str) -> Example:
        if len(text) > _LONGEST:
            cut = len(text) - _LONGEST
            text = f"{text[: _LONGEST // 2]}\n[… {cut} characters …]\n{text[-_LONGEST // 2 :]}"
        number = None if value is None or not isfinite(value) else round(value, 6)
        return Example(self._sample.numbers[row], text, number, why)


# --- an audit -------------------------------------------------------------------------------------

ROWS = 64
_READ = 20_000  # rows of a file from which the sample is taken


def audit(
    table: Any,
    recipe: Any,
    *,
    completions: str | None = None,
    sample: int = ROWS,
    seed: int = 0,
    only: str | Collection[str] = (),
    skip: str | Collection[str] = (),
    template: str | None = None,
    attacks: Sequence[Attack] = (),
    progress: TextIO | None = None,
    **columns: str,
) -> Audit:
    """Find what pays without being right, and what is right and not paid.

    table: the rows that one would train on: the path of a file or folder, or several; or a table in
        memory: a list of dicts, a dict of lists, a pandas or polars DataFrame, an Arrow table, a
        Hugging Face Dataset
    recipe: a Recipe, the name of a preset, a TOML file, a reward (a function of a module, or its
        name), or a list of rewards
    completions: the column of what a model wrote. Default: `completion` or `completions`, else a
        guess; a table need not have one
    sample: how many of the rows are used, at most; of files, of the first 20,000. Default: 64
    seed: a number that decides which rows are used; the same seed gives the same findings
    only: the classes of attacks to try, such as ["hedge", "cost"]. Default: all
    skip: the classes to leave out. Default: none
    template: the format of an honest answer, such as "<answer>{answer}</answer>". Default: that of
        the rows' completions, else the one of the usual formats that pays most
    attacks: attacks of your own, made with `plaudit.reports.audit.attack`, to try as well as
        those that the recipe names. Default: none
    progress: where to write what is being tried, such as sys.stderr. Default: nowhere
    columns: the column that an argument of the rewards is read from, such as solution="answer".
        Default: the column of that name, else a guess

    >>> rows = [{"question": f"{n} + 1?", "answer": str(n + 1)} for n in range(20, 32)]
    >>> print(audit(rows, "answers.exact_match_reward", only=["empty", "hedge"]))
    exact_match_reward: 12 rows; nothing found
    solution: column answer, a guess
    A wrong answer in the right form gets 0% of the total.
      exact_match_reward: a right answer gets 1, written as "{answer}"
    """
    from plaudit.tables.memory import table_of
    from plaudit.tables.plan import with_columns
    from plaudit.tables.readers import names_files, read_rows

    _check_order(table, recipe)
    if sample < 1:
        raise ValueError(f"sample must be 1 or more, got {sample}")
    for one in attacks:
        if not isinstance(one, Attack):
            got = f"{type(one).__name__}: {one!r:.80}"
            raise TypeError(
                f"attacks must be made with @plaudit.reports.audit.attack(…), got {got}"
            )
    mapped = {**columns, **({"completions": completions} if completions else {})}
    asked = with_columns(recipe_of(recipe), mapped)
    if names_files(table):
        paths = [table] if isinstance(table, str | PathLike) else table
        table = read_rows(paths, max(_READ, sample))
    rows = table_of(table)
    if not len(rows):
        raise ValueError("there are no rows: an audit needs some, with golds")
    asked, guessed = asked.with_guessed_columns(rows.names)
    sampled = sample_of(rows, asked, sample, seed)
    own = (*named_attacks(asked), *attacks)
    with ProgressLine(progress, quiet=0.0) as line:
        found = _audit_sample(asked, sampled, classes_of(only, skip), template, own, line)
    return replace(found, guessed=guessed)


def _check_order(table: Any, recipe: Any) -> None:
    """Raise TypeError if the table and the recipe are swapped."""
    name = fspath(table) if isinstance(table, str | PathLike) else ""
    is_recipe = callable(table) or name in presets() or name.endswith(".toml")
    file = Path(recipe) if isinstance(recipe, str | PathLike) else Path()
    first = recipe[0] if isinstance(recipe, list | tuple) and recipe else recipe
    is_table = (
        isinstance(first, Mapping)
        or hasattr(recipe, "column_names")  # of Arrow, or of a Dataset
        or type(recipe).__name__ == "DataFrame"
        or (file.suffix not in ("", ".toml") and file.is_file())
    )
    if is_recipe or is_table:
        what = f"got {type(table).__name__} and {type(recipe).__name__}"
        raise TypeError(f"the table comes first, then the recipe: audit(table, recipe); {what}")


def _audit_sample(
    recipe: Recipe,
    sample: AuditSample,
    classes: Collection[str],
    template: str | None,
    attacks: Sequence[Attack],
    progress: ProgressLine,
) -> Audit:
    names = [component.name for component in recipe.components]
    targets = names if len(names) == 1 else [*names, TOTAL]
    with RowScorer(recipe, sample.rows, sample.as_messages) as scorer:
        refusal = _choose_form(scorer, len(sample.rows))
        finder = FormatFinder(recipe, sample, scorer, template)
        progress("finding the format of an honest answer")
        formats = finder.find(targets)
        unread = sample.gold_column is not None and not any(sample.golds)  # which is noted
        if refusal and not unread and not any(paid.pays_something for paid in formats.values()):
            raise ValueError(f"the rewards raise on every completion: {refusal}")
        unpaid = _unpaid(recipe, formats) if len(names) > 1 else {}
        engine = Engine(scorer, finder, sample, formats, unpaid, classes, attacks, progress)
        engine.play()
        engine.check_stability()
        engine.check_formats(recipe)
    for component in recipe.components if "cost" in classes else ():
        progress(f"measuring the time of {component.name}")
        case = finder.case(finder.rows[0], formats[component.name].format)
        alone = replace(recipe, components=(replace(component, gate=None),))
        with RowScorer(alone, sample.rows, scorer.as_messages) as timed:
            engine.add_cost(component.name, case, cost_of(timed, case))
    return engine.audit(recipe.name)


def _unpaid(recipe: Recipe, formats: Mapping[str, PaidFormat]) -> dict[str, str]:
    """Return the components that pay nothing by themselves: only the total can have a hole.

    A gate that no gold decides holds nothing back: what it gates pays without being right.
    """
    reads_gold: dict[str | None, bool] = {}
    found = {}
    for one in recipe.components:
        reads_gold[one.name] = formats[one.name].reads_gold or reads_gold.get(one.gate, False)
        if not one.weight:
            found[one.name] = "has the weight 0"
        elif one.gate and reads_gold[one.name]:
            found[one.name] = f"counts only if {one.gate} is above 0"
    return found


def _choose_form(scorer: RowScorer, rows: int) -> str:
    """Pass completions in the other form, text or messages, if a reward refuses that of the table.

    Return what it raises if it refuses both.
    """
    texts = [(row, "It is so.") for row in range(min(4, rows))]
    raised = [one.message for one in scorer(texts) if isinstance(one, Raised)]
    if len(raised) < len(texts):
        return ""
    if all(isinstance(one, Raised) for one in scorer(texts, in_other_form=True)):
        return raised[0]
    scorer.as_messages = not scorer.as_messages
    return ""


def classes_of(only: str | Collection[str], skip: str | Collection[str]) -> list[str]:
    """Return the classes to try; a text is the name of one class."""
    only, skip = ([one] if isinstance(one, str) else one for one in (only, skip))
    for name in (*only, *skip):
        if name not in CLASSES:
            raise ValueError(f"there is no class {name!r}; the classes are {', '.join(CLASSES)}")
    return [name for name in CLASSES if (not only or name in only) and name not in skip]


def recipe_of(recipe: Any) -> Recipe:
    """Return the recipe that is meant, with rewards that another process can import."""
    if isinstance(recipe, str) and ":" in recipe and not recipe.endswith(".toml"):
        recipe = Component("", recipe, folder=str(Path.cwd()))
    found = as_recipe(recipe)
    return replace(found, components=tuple(map(_importable, found.components)))


def _importable(component: Component) -> Component:
    """Return the component, with the folder from which another process can import its reward."""
    if not isinstance(component.reward, str):
        raise ValueError(
            f"{component.name} cannot be audited: rewards run in a process of their own, which "
            "imports them; put it into a module, at its top level"
        )
    module, colon, _ = component.reward.partition(":")
    file = getattr(sys.modules.get(module), "__file__", None)
    if component.folder or not colon or not file:
        return component
    return replace(component, folder=str(Path(file).absolute().parents[module.count(".")]))


def named_attacks(recipe: Recipe) -> list[Attack]:
    """Return the attacks that a recipe's file names, as "package.module:function"."""
    found = []
    folder = recipe.components[0].folder
    for reference in recipe.attacks:
        name, colon, attribute = reference.partition(":")
        if folder and folder not in sys.path:
            sys.path.append(folder)
        try:
            thing = getattr(import_module(name), attribute) if colon else None
        except (ImportError, AttributeError) as error:
            raise ValueError(f"attacks: cannot find {reference!r}: {error}") from error
        if not isinstance(thing, Attack):
            raise ValueError(
                f'attacks: {reference!r} must be "package.module:function", of a function that is '
                "marked with @plaudit.reports.audit.attack(…)"
            )
        found.append(thing)
    return found
