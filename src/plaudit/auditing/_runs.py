"""Attacks and cases in; runs out: which completions were tried on which rows, and what they got."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from plaudit.auditing._attacks import Attack
from plaudit.auditing._cases import Case
from plaudit.auditing._formats import Format, value_of
from plaudit.auditing._process import Hung, Pay, Raised
from plaudit.auditing._scorer import UNTRIED, Result, Scorer

FIRST_ROWS = 12  # on which every variant is tried; on all rows only where it paid on these
_EXTENDED = 3  # variants of an attack that are tried on all rows
_WORTH = 0.05
_GRADES = 4  # so many different values between nothing and full pay are partial credit
_MISSED = 0.9  # of its pay, below which a right answer is not paid in full
_FEWEST = 3  # rows that a finding needs, where the table has as many


@dataclass(frozen=True)
class Run:
    """One variant of an attack on some rows.

    texts: the completion of each place
    results: what each got
    """

    attack: Attack
    variant: str
    texts: Mapping[int, str]
    results: Mapping[int, Result]

    @property
    def tried(self) -> list[int]:
        """The places that were scored."""
        return [place for place, result in self.results.items() if result is not UNTRIED]


@dataclass(frozen=True)
class Reach:
    """How much is tried: less where a reward is slow.

    >>> Reach.of(0.0001), Reach.of(1.0)
    (Reach(rows=12, variants=1000), Reach(rows=2, variants=1))
    """

    rows: int = FIRST_ROWS
    variants: int = 1000

    @classmethod
    def of(cls, seconds_each: float) -> "Reach":
        """By the seconds that a reward takes for one completion."""
        if seconds_each < 0.01:
            return cls()
        return cls(4, 4) if seconds_each < 0.1 else cls(2, 1)


def run_attack(
    scorer: Scorer, attack: Attack, cases: Sequence[Case], forms: Sequence[Format], reach: Reach
) -> list[Run]:
    """Every variant of an attack on the first rows that it fits; the best of them on all rows."""
    texts = _texts(attack, cases, reach)
    items = [
        (variant, place, text)
        for variant, by_place in texts.items()
        for place, text in list(by_place.items())[: reach.rows]
    ]
    results = scorer([(place, text) for _, place, text in items])
    found: dict[str, dict[int, Result]] = {variant: {} for variant in texts}
    for (variant, place, _), result in zip(items, results, strict=True):
        found[variant][place] = result
    runs = [Run(attack, variant, texts[variant], found[variant]) for variant in texts]
    if reach.variants < 1000:
        return runs
    return _extended(scorer, runs, forms)


def _texts(attack: Attack, cases: Sequence[Case], reach: Reach) -> dict[str, dict[int, str]]:
    texts: dict[str, dict[int, str]] = {}
    for case in cases:
        for built in attack.build(case):
            variant, text = _checked(built, attack)
            if variant in texts or len(texts) < reach.variants:
                texts.setdefault(variant, {})[case.place] = text
    return texts


def _checked(built: object, attack: Attack) -> tuple[str, str]:
    """What an attack has built; raises where a user's attack gives anything else."""
    if isinstance(built, tuple) and len(built) == 2 and all(isinstance(t, str) for t in built):
        return built
    got = f"{type(built).__name__}: {built!r:.80}"
    raise TypeError(f"attack {attack.name} must yield (variant, completion), two texts, got {got}")


def _extended(scorer: Scorer, runs: list[Run], forms: Sequence[Format]) -> list[Run]:
    """The runs, with the best of them on all rows that they fit."""

    def worth(run: Run) -> float:
        names = {n for r in run.results.values() if isinstance(r, Pay) for n in r.values}
        odd = sum(not isinstance(r, Pay) for r in run.results.values())
        shares = [mean_share(run, form, name, graded=False) for form in forms for name in names]
        return max([*shares, odd / max(len(run.results), 1)])

    ranked = sorted(runs, key=worth, reverse=True)
    chosen = [run for run in ranked[:_EXTENDED] if worth(run) >= _WORTH]
    extended = {id(run): _on_all_rows(scorer, run) for run in chosen}
    return [extended.get(id(run), run) for run in runs]


def _on_all_rows(scorer: Scorer, run: Run) -> Run:
    more = [(place, text) for place, text in run.texts.items() if place not in run.results]
    results = scorer(more)
    added = {place: result for (place, _), result in zip(more, results, strict=True)}
    return Run(run.attack, run.variant, run.texts, {**run.results, **added})


def row_share(run: Run, form: Format, target: str, place: int, graded: bool) -> float:
    """What a run earned on one row, as a share of a right answer's pay."""
    result = run.results[place]
    if not isinstance(result, Pay):
        return 0.0
    value = result.values.get(target)
    if run.attack.kind == "missed":
        if form.pays.get(place) is None and value is None:
            return 0.0  # the reward skips this row, whatever is said
        return float(_is_missed(form, place, value))
    share = form.share(place, value)
    if run.attack.gain:
        share = max(share - form.share(place, form.wrong.get(place)), 0.0)
    if run.attack.near and graded and share < 1 - 1e-6:
        return 0.0
    return share


def _is_missed(form: Format, place: int, value: float | None) -> bool:
    if value is None or value != value:
        return True
    return value - form.floor < _MISSED * (form.honest(place) - form.floor)


def mean_share(run: Run, form: Format, target: str, graded: bool) -> float:
    """The mean over the rows that were tried."""
    places = run.tried
    if not places:
        return 0.0
    if len(places) < min(_FEWEST, len(form.pays)):
        return 0.0
    return sum(row_share(run, form, target, p, graded) for p in places) / len(places)


def is_graded(runs: Iterable[Run], form: Format, target: str) -> bool:
    """Whether a component gives partial credit: many values between nothing and full pay."""
    seen = {
        round(form.share(place, value_of(result, target)), 4)
        for run in runs
        if run.attack.near or run.attack.kind == "neighbour"
        for place, result in run.results.items()
    }
    return sum(0.02 < share < 0.98 for share in seen) >= _GRADES


def odd_places(run: Run, target: str) -> dict[str, list[int]]:
    """The rows on which a value was no number, a reward raised, or did not finish."""
    found: dict[str, list[int]] = {"unstable": [], "raises": [], "cost": []}
    for place, result in run.results.items():
        if isinstance(result, Pay):
            value = result.values.get(target)
            if result.problems.get(target) or (value is not None and not _is_finite(value)):
                found["unstable"].append(place)
        elif isinstance(result, Raised):
            if result.component in ("", target):
                found["raises"].append(place)
        elif result is not UNTRIED:
            found["cost"].append(place)
    return found


def shown_value(result: Result, target: str) -> str:
    """A value as text, so that two can be compared and shown."""
    if isinstance(result, Pay):
        value = result.values.get(target)
        return "no number" if value is None or value != value else f"{value:.9g}"
    if isinstance(result, Hung):
        return "no answer in time"
    own = result.component in ("", target)
    return f"an exception ({result.message.partition(':')[0]})" if own else "no number"


def odd_reason(result: Result, target: str) -> str:
    """Why a result is odd, in a sentence."""
    if isinstance(result, Raised):
        return f"It raised {result.message}"
    if isinstance(result, Hung):
        return "It ended its process." if result.died else "It did not finish in time."
    return f"It gave {result.problems.get(target) or result.values.get(target)}."


def _is_finite(value: float) -> bool:
    return value == value and abs(value) != float("inf")
