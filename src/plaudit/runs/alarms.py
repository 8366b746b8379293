"""What looks wrong in a recorded run, in words, by rules that a person can check."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

_SAME = 1e-9  # totals of a group that differ by no more are the same


@dataclass(frozen=True, slots=True)
class Distribution:
    """Values: how many, their sum and that of their squares, the least and the most."""

    rows: int
    total: float
    squares: float
    least: float | None
    most: float | None

    @property
    def mean(self) -> float | None:
        """The mean; None if no row has a value."""
        return self.total / self.rows if self.rows else None

    @property
    def deviation(self) -> float:
        """The standard deviation; 0.0 if no row has a value."""
        mean = self.mean or 0.0
        return sqrt(max(self.squares / max(self.rows, 1) - mean**2, 0.0))


@dataclass(frozen=True, slots=True)
class Answers:
    """The most frequent answers of a step, each with its rows and groups; and its golds."""

    texts: Mapping[str, tuple[int, int]]
    golds: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Step:
    """What came of a step.

    seconds: how long its rewards took, in the process in which they took longest
    groups: how many groups have two totals or more; flat: how many of these have no signal
    statuses: how many rows have each
    right: for each component that says which rows are right, how many rows it judged, and how
        many of these are right
    rewards: the seconds of each component, as far as its rows took a millisecond or more
    """

    step: int
    rows: int
    seconds: float
    at: float
    values: Mapping[str, Distribution]
    length: Distribution
    unit: str
    groups: int
    flat: int
    statuses: Mapping[str, int]
    right: Mapping[str, tuple[int, int]]
    answers: Mapping[str, Answers]
    rewards: Mapping[str, float] = field(default_factory=dict)


def step_of(step: int, lines: Sequence[Mapping[str, Any]]) -> Step:
    """Return the lines of all processes for one step, put together."""
    seconds: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    right: Counter[str] = Counter()
    rewards: dict[str, float] = {}
    for line in lines:
        process = "".join(line["part"].split("-")[2:3])
        seconds[process] += line["seconds"]
        statuses.update(line["statuses"])
        for name, taken in line.get("rewards", {}).items():
            rewards[name] = rewards.get(name, 0.0) + taken
        for name, (rows, of_these) in line["right"].items():
            judged[name] += rows
            right[name] += of_these
    names = dict.fromkeys(name for line in lines for name in line["values"])
    groups, flat = _groups(lines)
    return Step(
        step=step,
        rows=sum(line["rows"] for line in lines),
        seconds=max(seconds.values(), default=0.0),
        at=max((line["at"] for line in lines), default=0.0),
        values={name: _merge_lines([line["values"][name] for line in lines]) for name in names},
        length=_merge_lines([line["length"] for line in lines]),
        unit=lines[0]["unit"] if lines else "characters",
        groups=groups,
        flat=flat,
        statuses=dict(statuses),
        right={name: (rows, right[name]) for name, rows in judged.items()},
        answers=_answers(lines),
        rewards=rewards,
    )


def _merge_lines(lines: Sequence[Mapping[str, Any]]) -> Distribution:
    keys = ("rows", "sum", "squares", "least", "most")
    return merge([Distribution(*(line[key] for key in keys)) for line in lines])


def merge(several: Sequence[Distribution]) -> Distribution:
    """Return the distribution of the values of several together."""
    return Distribution(
        sum(one.rows for one in several),
        float(sum(one.total for one in several)),
        float(sum(one.squares for one in several)),
        min((one.least for one in several if one.least is not None), default=None),
        max((one.most for one in several if one.most is not None), default=None),
    )


def _groups(lines: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Return how many groups can have a signal, and how many have none: their totals are equal."""
    found: dict[str, tuple[int, float, float]] = {}
    for line in lines:
        for name, count, least, most in line["groups"]:
            known = found.get(name, (0, least, most))
            found[name] = known[0] + count, min(known[1], least), max(known[2], most)
    several = [(least, most) for count, least, most in found.values() if count > 1]
    return len(several), sum(most - least <= _SAME for least, most in several)


def _answers(lines: Sequence[Mapping[str, Any]]) -> dict[str, Answers]:
    found = {}
    for name in dict.fromkeys(name for line in lines for name in line["answers"]):
        rows: Counter[str] = Counter()
        groups: Counter[str] = Counter()
        golds: Counter[str] = Counter()
        for one in (line["answers"][name] for line in lines if name in line["answers"]):
            for text, count, own in one["top"]:
                rows[text] += count
                groups[text] = max(groups[text], own)  # processes may share a group
            golds.update(dict(one["gold"]))
        found[name] = Answers({text: (n, groups[text]) for text, n in rows.items()}, dict(golds))
    return found


WINDOW = 3  # steps, at least, that are looked at together
GROUPS = 24  # groups, at least, in these steps: of few prompts a step, more steps are needed
LONGEST = 24  # steps, at most
SURE = 4.0  # standard errors: a smaller change is no rise and no fall
NOISE = 50  # steps: from the last ones, the noise of a step's mean is estimated
# Before this many steps there is no such estimate. Until then each row counts as half a row, since
# the rows of a group are alike.
SOME = 8
LENGTH = ""  # the name of the length of completions: no component is called so


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a window, and its standard error; index, last: of its last step."""

    index: int
    last: int
    value: float
    error: float


class History:
    """The steps of a run, and the means of the windows that end at each of them.

    A window is WINDOW steps, or as many as have GROUPS groups.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        # The index of each window's first step; None if there are too few steps for one.
        self.starts = _starts([step.groups for step in steps])
        self.means = cache(self._means)
        self.moves = cache(self._first_move)
        self._values = cache(self._values_and_errors)

    def window(self, index: int) -> Sequence[Step]:
        """Return the steps of the window that ends at an index; () if there are too few for one."""
        start = self.starts[index]
        return () if start is None else self.steps[start : index + 1]

    def _means(self, name: str) -> list[Mean | None]:
        """Return the mean of the window that ends at each step; None if it has no values."""
        found = [step.length if name == LENGTH else step.values[name] for step in self.steps]
        sums = np.array([(d.rows, d.total, d.squares) for d in found], float).reshape(-1, 3)
        ends = np.cumsum(np.vstack([np.zeros(3), sums]), axis=0)
        noise = _noise(sums[:, 1] / np.maximum(sums[:, 0], 1))
        means: list[Mean | None] = []
        for index, start in enumerate(self.starts):
            rows, total, squares = (0, 0, 0) if start is None else ends[index + 1] - ends[start]
            if start is None or rows < 0.5:
                means.append(None)
                continue
            mean = float(total / rows)
            alike = 2 if index < SOME else 1
            variance = max(squares / rows - mean**2, 0.0) * alike / rows
            error = sqrt(max(variance, noise[index] ** 2 / (index + 1 - start)))
            means.append(Mean(index, self.steps[index].step, mean, error))
        return means

    def differing(self, name: str, index: int, end: int, *, fallen: bool) -> list[Mean]:
        """Return the means before `end` from which the one at `index` differs beyond chance.

        fallen: whether it must be lower than these; otherwise it must be higher
        """
        means = self.means(name)
        now = means[index]
        if now is None:
            return []
        values, errors = self._values(name)[:end].T
        fall = (values - now.value) * (1 if fallen else -1)
        chance = np.maximum(SURE * np.sqrt(errors**2 + now.error**2), 1e-9)
        return [mean for at in np.nonzero(fall >= chance)[0] if (mean := means[at])]

    def _values_and_errors(self, name: str) -> NDArray[np.float64]:
        pairs = [(m.value, m.error) if m else (np.nan, np.nan) for m in self.means(name)]
        return np.array(pairs, float).reshape(-1, 2)

    def _first_move(self, name: str) -> int:
        """Return the index of the first step at which not all rows so far have one value."""
        value = None
        for index, step in enumerate(self.steps):
            seen = step.values[name]
            value = seen.least if value is None else value
            if seen.rows and not seen.least == seen.most == value:
                return index
        return len(self.steps)


def _starts(groups: Sequence[int]) -> list[int | None]:
    """Return where each window starts; None before the first one that is long enough."""
    found: list[int | None] = []
    for index in range(len(groups)):
        start, have = index + 1, 0
        while start > 0 and index + 1 - start < LONGEST:
            start -= 1
            have += groups[start]
            if index + 1 - start >= WINDOW and (have >= GROUPS or not have):
                break
        is_full = index + 1 - start >= WINDOW and (have >= GROUPS or not have)
        found.append(start if is_full or index + 1 - start == LONGEST else None)
    return found


def _noise(means: NDArray[np.float64]) -> list[float]:
    """Return by how much the mean of a step is off its trend (a standard deviation), at each step.

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
CUT_OFF, GROWN = 0.1, 2.0  # share of the rows, and how many times as many as before
OPEN_STEPS = 8  # rows may still come for the last steps, so these are looked at again
SILENT = 5  # steps: an alarm is over if its rule has not held for as many

Query: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something to look at.

    about: a component or an answer, for example; a rule may hold for several of them
    first, last: the steps at which the rule held first and last
    is_over: whether the rule has not held for some steps
    rows: which rows show it: a step, and an order or a filter, as the page asks for rows
    """

    kind: str
    about: str
    text: str
    first: int
    last: int
    is_over: bool
    rows: Query


class AlarmLog:
    """The alarms of a run that goes on: steps that are past are looked at once."""

    def __init__(self) -> None:
        self._past: dict[tuple[str, str], Alarm] = {}
        self._count = 0  # of the steps that they are of

    def update(self, steps: Sequence[Step], changed: int) -> list[Alarm]:
        """Return the alarms of these steps; those before the index `changed` are known already."""
        if changed < self._count:
            self._past, self._count = {}, 0
        history, past = History(steps), max(self._count, len(steps) - OPEN_STEPS)
        _look(history, range(self._count, past), self._past)
        self._count = past
        found = dict(self._past)
        _look(history, range(past, len(steps)), found)
        recent = {step.step for step in steps[-SILENT:]}
        alarms = [replace(alarm, is_over=alarm.last not in recent) for alarm in found.values()]
        return sorted(alarms, key=lambda alarm: (alarm.is_over, -alarm.last, alarm.kind))


def _look(history: History, indices: range, found: dict[tuple[str, str], Alarm]) -> None:
    for index in indices:
        for rule in RULES:
            for alarm in rule(history, index):
                key = alarm.kind, alarm.about
                first = found[key].first if key in found else alarm.first
                found[key] = replace(alarm, first=first)


def _alarm(kind: str, about: str, text: str, step: int, rows: Query) -> Alarm:
    return Alarm(kind, about, text, step, step, False, {"step": step, **rows})


# --- rises and falls ------------------------------------------------------------------------------


def form_over_answers(history: History, index: int) -> Iterator[Alarm]:
    """A component that does not look at what is right rises, while one that does falls."""
    last = history.steps[index]
    judging = [name for name, (rows, _) in last.right.items() if 2 * rows > last.rows]
    others = [name for name in last.values if name not in ("total", *judging)]
    for right in judging if others else ():
        better = _differing_before(history, right, index, fallen=True)
        for form in others if better else ():
            lower = {mean.index for mean in _differing_before(history, form, index, fallen=False)}
            both = [mean for mean in better if mean.index in lower]
            if not both:
                continue
            best, now = max(both, key=lambda mean: mean.value), history.means(right)[index]
            before, after = (history.means(form)[at] for at in (best.index, index))
            assert now and before and after
            yield _alarm(
                "form over answers",
                f"{form}, {right}",
                f"{form} rises ({_format(before.value)} → {_format(after.value)}) while "
                f"{right} falls ({_format(best.value)} → {_format(now.value)}), from step "
                f"{best.last} to {now.last}: the model may be learning its form alone.",
                last.step,
                {"high": form, "low": right},
            )


def _differing_before(history: History, name: str, index: int, *, fallen: bool) -> list[Mean]:
    """Return the means before the present window from which it has certainly fallen, or risen."""
    start = history.starts[index]
    # Cheap first: most runs have none, at most steps.
    found = [] if start is None else history.differing(name, index, start, fallen=fallen)
    seen = merge([step.values[name] for step in history.steps[: index + 1]]) if found else None
    least = MOVED * ((seen.most or 0.0) - (seen.least or 0.0)) if seen else 0.0
    now = history.means(name)[index]
    return [mean for mean in found if now and abs(mean.value - now.value) >= least]


def length_runs_away(history: History, index: int) -> Iterator[Alarm]:
    """Completions get longer and longer, and the total does not rise with them."""
    means = history.means(LENGTH)
    now = means[index]
    earlier = [mean for mean in means[max(0, index - BACK) : index] if mean]
    if now is None or not earlier:
        return
    shorter = [mean for mean in earlier if now.value >= LONGER * max(mean.value, 1.0)]
    if not shorter or now.value - shorter[-1].value < ENOUGH:
        return
    before = shorter[-1]  # the last time that completions were half as long
    shortest = min(earlier, key=lambda mean: (mean.value, -mean.index))
    is_far = now.value >= FAR_LONGER * max(shortest.value, 1.0)
    totals = history.means("total")
    was, is_now = totals[before.index], totals[index]
    if not is_far and was and is_now:
        error = sqrt(was.error**2 + is_now.error**2)
        if is_now.value - was.value >= max(SURE * error, 1e-9):
            return  # the total has risen by more than chance explains
    before = shortest if is_far else before
    longer = now.value / max(before.value, 1.0)
    unit = history.steps[index].unit
    yield _alarm(
        "length runs away",
        "",
        f"A completion has {now.value:,.0f} {unit} on average, {longer:.1f} times as many as at "
        f"step {before.last} ({before.value:,.0f})"
        + ("." if is_far else ", and the total has not risen since."),
        history.steps[index].step,
        {"order": "longest"},
    )


# --- answers, signals and statuses ----------------------------------------------------------------


def one_answer(history: History, index: int) -> Iterator[Alarm]:
    """Most completions of some steps give one answer, to different prompts."""
    steps = history.window(index)
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
            yield _alarm(
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


def no_signal(history: History, index: int) -> Iterator[Alarm]:
    """In no group of many steps do two completions differ in their total."""
    start, groups = index + 1, 0
    while start > max(0, index + 1 - SIGNAL_GROUPS) and (
        groups < SIGNAL_GROUPS or index + 1 - start < SIGNAL_STEPS
    ):
        start -= 1
        step = history.steps[start]
        if step.flat < step.groups:
            return
        groups += step.groups
    if groups >= SIGNAL_GROUPS and index + 1 - start >= SIGNAL_STEPS:
        last = history.steps[index]
        yield _alarm(
            "no signal",
            "",
            f"In none of the {groups} groups of the last {index + 1 - start} steps do two "
            f"completions differ in their total ({_format(last.values['total'].mean or 0.0)} on "
            "average): nothing is learned from them.",
            last.step,
            {},
        )


def no_answer(history: History, index: int) -> Iterator[Alarm]:
    """In more than a third of the rows, no answer was found."""
    yield from _status_alarms(
        *(history, index, "no answer", "no_answer", NO_ANSWER),
        "In {share:.0%} of the completions of the last {steps} steps no answer was found: check "
        "whether the prompt says how to give it, and whether completions are cut off.",
    )


def timeouts(history: History, index: int) -> Iterator[Alarm]:
    """Rows took too long to be scored."""
    yield from _status_alarms(
        *(history, index, "timeouts", "timeout", TIMEOUTS),
        "{share:.1%} of the rows of the last {steps} steps were not scored in time: what they say "
        "is not known, and a recipe skips them. Look at these answers, or raise the deadline "
        "(PLAUDIT_DEADLINE for the judge, `deadline` for a reward of your own).",
    )


def cut_off(history: History, index: int) -> Iterator[Alarm]:
    """Many more completions are cut off than before."""
    start = history.starts[index] or 0
    earlier = history.steps[max(0, index - BACK) : start]
    before = _share(earlier, "truncated")
    if earlier and _share(history.window(index), "truncated") >= GROWN * before:
        yield from _status_alarms(
            *(history, index, "cut off", "truncated", CUT_OFF),
            "{share:.0%} of the completions of the last {steps} steps were cut off at the maximum, "
            f"and {before:.0%} before: allow longer ones, pay shorter ones, or skip them with "
            'truncated = "skip" in the recipe.',
        )


def _status_alarms(
    history: History, index: int, kind: str, status: str, most: float, text: str
) -> Iterator[Alarm]:
    """Yield an alarm if the share of the rows of a window with a status is above `most`."""
    steps = history.window(index)
    share = _share(steps, status)
    if share > most:
        # The rows of the last step that has some show it.
        rows = {"status": status, "step": max(s.step for s in steps if s.statuses.get(status))}
        said = text.format(share=share, steps=len(steps))
        yield _alarm(kind, "", said, steps[-1].step, rows)


def _share(steps: Sequence[Step], status: str) -> float:
    rows = sum(step.rows for step in steps)
    return sum(step.statuses.get(status, 0) for step in steps) / max(rows, 1)


def never_moves(history: History, index: int) -> Iterator[Alarm]:
    """A component has given every row the same value, or none, since the first step."""
    if index + 1 < NEVER:
        return
    last = history.steps[index]
    for name in last.values:
        if name == "total" or history.moves(name) <= index:
            continue
        value = next((m for s in history.steps if (m := s.values[name].most) is not None), None)
        what = "has no value in any row" if value is None else f"is {_format(value)} in every row"
        yield _alarm(
            "never moves",
            name,
            f"{name} {what} of all {index + 1} steps so far: nothing is learned from it.",
            last.step,
            {"component": name},
        )


def _format(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


RULES: tuple[Callable[[History, int], Iterator[Alarm]], ...] = (
    form_over_answers,
    one_answer,
    length_runs_away,
    never_moves,
    no_signal,
    no_answer,
    timeouts,
    cut_off,
)
