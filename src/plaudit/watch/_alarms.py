"""The steps of a run in; what looks wrong, in words, out, each with the rows that show it.

Each alarm follows from a rule that a person can check by hand; its numbers are below. An alarm does
not say that something is wrong: it says where to look.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plaudit.watch._steps import Spread, Step

WINDOW = 3  # steps: means over as many are compared
BACK = 100  # steps: how far back earlier windows are compared with the present one
MOVED = 0.1  # share of the range of a component's values: a smaller change is no rise and no fall
SURE = 4.0  # standard errors: a smaller change is no rise and no fall either
NOISE = 50  # steps: from the last ones, the noise of a step's mean is estimated
# Before this many steps there is no such estimate. Until then each row counts as half a row, since
# the rows of a group are alike.
SOME = 8
MOST = 0.5  # share of the completions: "one answer" needs more than this
BEYOND_GOLD = 0.25  # by how much that share must be above that of the most frequent gold
PROMPTS = 4  # different prompts, at least, that have the one answer
LONGER = 2.0  # times as long as before, while the total has not risen
FAR_LONGER = 4.0  # times as long as before, whether the total has risen or not
ENOUGH = 20  # tokens or characters by which completions must be longer, at least
NEVER = 20  # steps: a component that never changed is told of after as many
NO_ANSWER = 1 / 3  # share of the rows
TIMEOUTS = 0.01  # share of the rows
UNSETTLED = 8  # steps: rows may still come for the last ones, so these are looked at again
LENGTH = ""  # stands for the length of completions among the components, none of which is called so
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
    """The alarms of a run that goes on: steps that are past are looked at once."""

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


def _look(history: "History", places: range, found: dict[tuple[str, str], Alarm]) -> None:
    for place in places:
        for rule in RULES:
            for alarm in rule(history, place):
                key = alarm.kind, alarm.about
                first = found[key].first if key in found else alarm.first
                found[key] = replace(alarm, first=first)


def _ended(alarms: Any, steps: Sequence[Step]) -> Iterator[Alarm]:
    recent = {step.step for step in steps[-SILENT:]}
    for alarm in alarms:
        yield replace(alarm, is_over=alarm.last not in recent)


def _raised(kind: str, about: str, text: str, step: int, rows: Query) -> Alarm:
    return Alarm(kind, about, text, step, step, False, {"step": step, **rows})


# --- rises and falls ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Mean:
    """The mean of a few steps, and its standard error; `place` is that of the last of them."""

    place: int
    first: int
    last: int
    value: float
    error: float


class History:
    """The steps of a run, and the means of each few of them that follow one another.

    `windows(name)[place]` is the mean of the WINDOW steps up to the one at a place; `LENGTH` is the
    name of the length.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        self._windows: dict[str, list[_Mean | None]] = {}
        self._moves: dict[str, int] = {}

    def windows(self, name: str) -> list[_Mean | None]:
        """The mean that ends at each step; None where there are too few steps or no values."""
        if name not in self._windows:
            self._windows[name] = self._means(name)
        return self._windows[name]

    def _means(self, name: str) -> list[_Mean | None]:
        spreads = [_spread(step, name) for step in self.steps]
        sums = np.array([(s.rows, s.total, s.squares) for s in spreads], float).reshape(-1, 3)
        ends = np.cumsum(np.vstack([np.zeros(3), sums]), axis=0)
        found: list[_Mean | None] = [None] * min(WINDOW - 1, len(spreads))
        within = (ends[WINDOW:] - ends[:-WINDOW]).tolist() if len(spreads) >= WINDOW else []
        noise = _noise(sums[:, 1] / np.maximum(sums[:, 0], 1))
        for place, (rows, total, squares) in enumerate(within, start=WINDOW - 1):
            if rows < 0.5:
                found.append(None)
                continue
            mean = total / rows
            alike = 2 if place < SOME else 1
            variance = max(squares / rows - mean**2, 0.0) * alike / rows
            error = sqrt(max(variance, noise[place] ** 2 / WINDOW))
            first, last = self.steps[place - WINDOW + 1].step, self.steps[place].step
            found.append(_Mean(place, first, last, mean, error))
        return found

    def moves(self, name: str) -> int:
        """The place of the first step at which not all rows so far have one value."""
        if name not in self._moves:
            self._moves[name] = self._first_move(name)
        return self._moves[name]

    def _first_move(self, name: str) -> int:
        value = None
        for place, step in enumerate(self.steps):
            spread = step.values[name]
            value = spread.least if value is None else value
            if spread.rows and not spread.least == spread.most == value:
                return place
        return len(self.steps)


def _noise(means: NDArray[np.float64]) -> list[float]:
    """The standard deviation by which the mean of a step is off its trend, as seen at each step.

    Prompts differ in how hard they are, so the mean of a step varies by more than the variance of
    its rows explains. The median of second differences is not affected by a trend, and little by a
    jump.
    """
    count = len(means)
    if count <= SOME:
        return [0.0] * count
    bends = np.abs(means[2:] - 2 * means[1:-1] + means[:-2])
    padded = np.concatenate([np.full(NOISE - 1, np.nan), bends])
    seen = np.nanmedian(np.lib.stride_tricks.sliding_window_view(padded, NOISE), axis=1)
    known = np.concatenate([np.zeros(2), seen / (0.6745 * sqrt(6))])
    known[:SOME] = 0.0
    return [float(value) for value in known]


def _spread(step: Step, name: str) -> Spread:
    return step.length if name == LENGTH else step.values[name]


def _range(steps: Sequence[Step], name: str) -> float:
    spreads = [step.values[name] for step in steps]
    most = max((s.most for s in spreads if s.most is not None), default=0.0)
    return most - min((s.least for s in spreads if s.least is not None), default=0.0)


def _is_sure(before: _Mean, after: _Mean, least: float) -> bool:
    """Whether a mean has risen by `least` or more, and by more than chance explains."""
    error = sqrt(before.error**2 + after.error**2)
    return after.value - before.value >= max(least, SURE * error, 1e-9)


def form_over_answers(history: History, place: int) -> Iterator[Alarm]:
    """A component that does not look at what is right rises, while one that does falls."""
    last = history.steps[place]
    judging = [name for name, rows in last.decided.items() if 2 * rows > last.rows]
    others = [name for name in last.values if name not in ("total", *judging)]
    for right in judging if others else ():
        better = _higher_before(history, right, place)
        for form in others if better else ():
            lower = {window.place for window in _lower_before(history, form, place)}
            both = [window for window in better if window.place in lower]
            if not both:
                continue
            best, now = max(both, key=lambda window: window.value), history.windows(right)[place]
            before, after = (history.windows(form)[at] for at in (best.place, place))
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


def _higher_before(history: History, name: str, place: int) -> list[_Mean]:
    """The earlier windows in which a component was surely higher than it is now."""
    return _differing_before(history, name, place, lambda window, now: (now, window))


def _lower_before(history: History, name: str, place: int) -> list[_Mean]:
    """The earlier windows in which a component was surely lower than it is now."""
    return _differing_before(history, name, place, lambda window, now: (window, now))


def _differing_before(
    history: History, name: str, place: int, order: Callable[[_Mean, _Mean], tuple[_Mean, _Mean]]
) -> list[_Mean]:
    windows = history.windows(name)
    now = windows[place]
    first = max(0, place - BACK)
    earlier = [window for window in windows[first : max(0, place - WINDOW + 1)] if window]
    if now is None:
        return []
    # Cheap first: most runs have none, at most steps.
    found = [window for window in earlier if _is_sure(*order(window, now), 0.0)]
    least = MOVED * _range(history.steps[first : place + 1], name) if found else 0.0
    return [window for window in found if _is_sure(*order(window, now), least)]


def length_runs_away(history: History, place: int) -> Iterator[Alarm]:
    """Completions get longer and longer, and the total does not rise with them."""
    windows = history.windows(LENGTH)
    now = windows[place]
    earlier = [window for window in windows[max(0, place - BACK) : place] if window]
    if now is None or not earlier:
        return
    shorter = [window for window in earlier if now.value >= LONGER * max(window.value, 1.0)]
    if not shorter or now.value - shorter[-1].value < ENOUGH:
        return
    before = shorter[-1]  # the last time that completions were half as long
    shortest = min(earlier, key=lambda window: (window.value, -window.place))
    is_far = now.value >= FAR_LONGER * max(shortest.value, 1.0)
    totals = history.windows("total")
    was, is_now = totals[before.place], totals[place]
    if not is_far and was and is_now and _is_sure(was, is_now, 0.0):
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


# --- answers and statuses -------------------------------------------------------------------------


def one_answer(history: History, place: int) -> Iterator[Alarm]:
    """Most completions of two steps in a row give one answer, to different prompts."""
    steps = history.steps[max(0, place - 1) : place + 1]
    for name in steps[-1].answers:
        both = [step.answers.get(name) for step in steps]
        if len(both) < 2 or not all(both):
            continue
        before, now = both
        assert before is not None and now is not None
        is_same = before.text == now.text and min(before.prompts, now.prompts) >= PROMPTS
        beyond = min(one.share - one.gold for one in (before, now))
        if is_same and min(before.share, now.share) > MOST and beyond >= BEYOND_GOLD:
            yield _raised(
                "one answer",
                f"{name}: {now.text}",
                f"{now.share:.0%} of the completions answer “{now.text}” to {now.prompts} or more "
                f"different prompts, by {name}; no gold is as frequent.",
                steps[-1].step,
                {"component": name, "answer": now.text},
            )


def no_answer(history: History, place: int) -> Iterator[Alarm]:
    """In more than a third of the rows, no answer was found."""
    steps = history.steps[max(0, place - WINDOW + 1) : place + 1]
    share = _share(steps, "no_answer")
    if share > NO_ANSWER and len(steps) == WINDOW:
        yield _raised(
            "no answer",
            "",
            f"In {share:.0%} of the completions of the last {WINDOW} steps no answer was found: "
            "check whether the prompt says how to give it, and whether completions are cut off.",
            steps[-1].step,
            {"status": "no_answer"},
        )


def timeouts(history: History, place: int) -> Iterator[Alarm]:
    """Answers took too long to be judged: they count as wrong, whatever they are."""
    steps = history.steps[max(0, place - WINDOW + 1) : place + 1]
    share = _share(steps, "timeout")
    if share > TIMEOUTS and steps[-1].statuses.get("timeout"):
        yield _raised(
            "timeouts",
            "",
            f"{share:.1%} of the rows of the last {len(steps)} steps were not judged in time: they "
            "got the value of a wrong answer, whatever they say. Look at these answers, or raise "
            "the deadline (PLAUDIT_DEADLINE).",
            steps[-1].step,
            {"status": "timeout"},
        )


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
    no_answer,
    timeouts,
)
