"""The steps of a run in; what looks wrong, in words, out, each with the rows that show it.

Each alarm follows from a rule that a person can check by hand; its numbers are below. An alarm does
not say that something is wrong: it says where to look.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from plaudit.alarms._history import LENGTH, History, Mean, is_higher
from plaudit.alarms._steps import Step

BACK = 100  # steps: how far back lengths are compared with the present one
MOVED = 0.1  # share of the range of a component's values: a smaller change is no rise and no fall
MOST = 0.5  # share of the completions: "one answer" needs more than this
BEYOND_GOLD = 0.25  # by how much that share must be above that of the most frequent gold
ANSWERED = 4  # groups, at least, that have the one answer
LONGER = 2.0  # times as long as before, while the total has not risen
FAR_LONGER = 4.0  # times as long as before, whether the total has risen or not
ENOUGH = 20  # tokens or characters by which completions must be longer, at least
NEVER = 20  # steps: "never moves" needs as many
SIGNAL_STEPS, SIGNAL_GROUPS = 10, 64  # "no signal" needs as many of each
NO_ANSWER = 1 / 3  # share of the rows
TIMEOUTS = 0.01  # share of the rows
UNSETTLED = 8  # steps: rows may still come for the last ones, so these are looked at again
SILENT = 5  # steps: an alarm is over if its rule has not held for as many

Query: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something to look at.

    kind: which rule, such as "no answer"
    about: what it is about, such as a component or an answer; a rule may hold for several of them
    text: one or two sentences for a person
    first, last: the steps at which the rule held first and last
    is_over: whether the rule has not held for some steps
    rows: which rows show it: a step, and an order or a filter, as the page asks for rows

    >>> Alarm("no answer", "", "In 52% …", 30, 34, False, {"step": 34, "status": "no_answer"}).last
    34
    """

    kind: str
    about: str
    text: str
    first: int
    last: int
    is_over: bool
    rows: Query


def alarms_of(steps: Sequence[Step]) -> list[Alarm]:
    """The alarms of a run, those that hold now first, then the latest first.

    >>> alarms_of([])
    []
    """
    return AlarmLog().update(steps, 0)


class AlarmLog:
    """The alarms of a run that goes on: steps that are past are looked at once.

    >>> AlarmLog().update([], 0)
    []
    """

    def __init__(self) -> None:
        self._settled: dict[tuple[str, str], Alarm] = {}
        self._count = 0  # of the steps that they are of

    def update(self, steps: Sequence[Step], changed: int) -> list[Alarm]:
        """The alarms of these steps, of which those before place `changed` are known already."""
        if changed < self._count:
            self._settled, self._count = {}, 0
        history = History(steps)
        settled = max(self._count, len(steps) - UNSETTLED)
        _look(history, range(self._count, settled), self._settled)
        self._count = settled
        found = dict(self._settled)
        _look(history, range(settled, len(steps)), found)
        return sorted(
            _ended(found.values(), steps),
            key=lambda alarm: (alarm.is_over, -alarm.last, alarm.kind),
        )


def _look(history: History, places: range, found: dict[tuple[str, str], Alarm]) -> None:
    for place in places:
        for rule in RULES:
            for alarm in rule(history, place):
                key = alarm.kind, alarm.about
                first = found[key].first if key in found else alarm.first
                found[key] = replace(alarm, first=first)


def _ended(alarms: Iterable[Alarm], steps: Sequence[Step]) -> Iterator[Alarm]:
    recent = {step.step for step in steps[-SILENT:]}
    for alarm in alarms:
        yield replace(alarm, is_over=alarm.last not in recent)


def _raised(kind: str, about: str, text: str, step: int, rows: Query) -> Alarm:
    return Alarm(kind, about, text, step, step, False, {"step": step, **rows})


# --- rises and falls ------------------------------------------------------------------------------


def form_over_answers(history: History, place: int) -> Iterator[Alarm]:
    """A component that does not look at what is right rises, while one that does falls."""
    last = history.steps[place]
    judging = [name for name, (rows, _) in last.right.items() if 2 * rows > last.rows]
    others = [name for name in last.values if name not in ("total", *judging)]
    for right in judging if others else ():
        better = _differing_before(history, right, place, fallen=True)
        for form in others if better else ():
            lower = {mean.place for mean in _differing_before(history, form, place, fallen=False)}
            both = [mean for mean in better if mean.place in lower]
            if not both:
                continue
            best, now = max(both, key=lambda mean: mean.value), history.means(right)[place]
            before, after = (history.means(form)[at] for at in (best.place, place))
            assert now and before and after
            yield _raised(
                "form over answers",
                f"{form}, {right}",
                f"{form} rises ({_shown(before.value)} → {_shown(after.value)}) while "
                f"{right} falls ({_shown(best.value)} → {_shown(now.value)}), from step "
                f"{best.last} to {now.last}: the model may be learning its form alone.",
                last.step,
                {"high": form, "low": right},
            )


def _differing_before(history: History, name: str, place: int, *, fallen: bool) -> list[Mean]:
    """The means before the present window from which its own has fallen, or risen, for certain."""
    start = history.start(place)
    # Cheap first: most runs have none, at most steps.
    found = [] if start is None else history.differing(name, place, start, fallen=fallen)
    least = MOVED * _range(history.steps[: place + 1], name) if found else 0.0
    now = history.means(name)[place]
    return [mean for mean in found if now and abs(mean.value - now.value) >= least]


def _range(steps: Sequence[Step], name: str) -> float:
    spreads = [step.values[name] for step in steps]
    most = max((s.most for s in spreads if s.most is not None), default=0.0)
    return most - min((s.least for s in spreads if s.least is not None), default=0.0)


def length_runs_away(history: History, place: int) -> Iterator[Alarm]:
    """Completions get longer and longer, and the total does not rise with them."""
    means = history.means(LENGTH)
    now = means[place]
    earlier = [mean for mean in means[max(0, place - BACK) : place] if mean]
    if now is None or not earlier:
        return
    shorter = [mean for mean in earlier if now.value >= LONGER * max(mean.value, 1.0)]
    if not shorter or now.value - shorter[-1].value < ENOUGH:
        return
    before = shorter[-1]  # the last time that completions were half as long
    shortest = min(earlier, key=lambda mean: (mean.value, -mean.place))
    is_far = now.value >= FAR_LONGER * max(shortest.value, 1.0)
    totals = history.means("total")
    was, is_now = totals[before.place], totals[place]
    if not is_far and was and is_now and is_higher(was, is_now):
        return
    before = shortest if is_far else before
    longer = now.value / max(before.value, 1.0)
    unit = history.steps[place].unit
    yield _raised(
        "length runs away",
        "",
        f"A completion has {now.value:,.0f} {unit} on average, {longer:.1f} times as many as at "
        f"step {before.last} ({before.value:,.0f})"
        + ("." if is_far else ", and the total has not risen since."),
        history.steps[place].step,
        {"order": "longest"},
    )


# --- answers, signals and statuses ----------------------------------------------------------------


def one_answer(history: History, place: int) -> Iterator[Alarm]:
    """Most completions of some steps give one answer, to different prompts."""
    steps = history.window(place)
    rows = sum(step.rows for step in steps)
    for name in steps[-1].answers if steps else ():
        known = [step.answers[name] for step in steps if name in step.answers]
        counts: Counter[str] = Counter()
        groups: Counter[str] = Counter()
        golds: Counter[str] = Counter()
        for one in known:
            counts.update({text: count for text, (count, _) in one.texts.items()})
            groups.update({text: own for text, (_, own) in one.texts.items()})
            golds.update(one.golds)
        text, count = max(counts.items(), key=lambda item: (item[1], item[0]), default=("", 0))
        share, gold = count / rows, max(golds.values(), default=0) / rows
        if share > MOST and share - gold >= BEYOND_GOLD and groups[text] >= ANSWERED:
            yield _raised(
                "one answer",
                f"{name}: {text}",
                f"{share:.0%} of the completions of the last {len(steps)} steps answer “{text}”, "
                f"in {groups[text]} groups, by {name}; no gold is as frequent.",
                steps[-1].step,
                {
                    "component": name,
                    "answer": text,
                    "step": max(
                        step.step
                        for step in steps
                        if name in step.answers and text in step.answers[name].texts
                    ),
                },
            )


def no_signal(history: History, place: int) -> Iterator[Alarm]:
    """In no group of many steps do two completions differ in their total."""
    start, groups = place + 1, 0
    while start > max(0, place + 1 - SIGNAL_GROUPS) and (
        groups < SIGNAL_GROUPS or place + 1 - start < SIGNAL_STEPS
    ):
        start -= 1
        step = history.steps[start]
        if step.flat < step.groups:
            return
        groups += step.groups
    if groups >= SIGNAL_GROUPS and place + 1 - start >= SIGNAL_STEPS:
        last = history.steps[place]
        yield _raised(
            "no signal",
            "",
            f"In none of the {groups} groups of the last {place + 1 - start} steps do two "
            f"completions differ in their total ({_shown(last.values['total'].mean or 0.0)} on "
            "average): nothing is learned from them.",
            last.step,
            {},
        )


def no_answer(history: History, place: int) -> Iterator[Alarm]:
    """In more than a third of the rows, no answer was found."""
    steps = history.window(place)
    if steps and (share := _share(steps, "no_answer")) > NO_ANSWER:
        yield _raised(
            "no answer",
            "",
            f"In {share:.0%} of the completions of the last {len(steps)} steps no answer was "
            "found: check whether the prompt says how to give it, and whether completions are cut "
            "off.",
            steps[-1].step,
            {"status": "no_answer", "step": _last_with(steps, "no_answer")},
        )


def timeouts(history: History, place: int) -> Iterator[Alarm]:
    """Answers took too long to be judged: they count as wrong, whatever they are."""
    steps = history.window(place)
    if steps and (share := _share(steps, "timeout")) > TIMEOUTS:
        yield _raised(
            "timeouts",
            "",
            f"{share:.1%} of the rows of the last {len(steps)} steps were not judged in time: they "
            "got the value of a wrong answer, whatever they say. Look at these answers, or raise "
            "the deadline (PLAUDIT_DEADLINE).",
            steps[-1].step,
            {"status": "timeout", "step": _last_with(steps, "timeout")},
        )


def _last_with(steps: Sequence[Step], status: str) -> int:
    return max(step.step for step in steps if step.statuses.get(status))


def _share(steps: Sequence[Step], status: str) -> float:
    rows = sum(step.rows for step in steps)
    return sum(step.statuses.get(status, 0) for step in steps) / max(rows, 1)


def never_moves(history: History, place: int) -> Iterator[Alarm]:
    """A component has given every row the same value, or none, since the first step."""
    if place + 1 < NEVER:
        return
    last = history.steps[place]
    for name in last.values:
        if name == "total" or history.moves(name) <= place:
            continue
        value = next((m for s in history.steps if (m := s.values[name].most) is not None), None)
        what = "has no value in any row" if value is None else f"is {_shown(value)} in every row"
        yield _raised(
            "never moves",
            name,
            f"{name} {what} of all {place + 1} steps so far: nothing is learned from it.",
            last.step,
            {"component": name},
        )


def _shown(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


RULES: tuple[Callable[[History, int], Iterator[Alarm]], ...] = (
    form_over_answers,
    one_answer,
    length_runs_away,
    never_moves,
    no_signal,
    no_answer,
    timeouts,
)
