"""Each alarm is raised by a run that shows it, soon; and none by a healthy one."""

import pytest
from made_runs import healthy, make

from plaudit.recording import open_recorded
from plaudit.watch import alarms_of, step_of
from plaudit.watch._alarms import RULES, AlarmLog

STEPS = 45
FAULT = 25  # the step at which something begins to go wrong


def after(step, **changed):
    """A healthy plan until a step, and from then on with these shares, which may grow."""

    def plan(now):
        far = now - FAULT
        grown = {name: value(far) if callable(value) else value for name, value in changed.items()}
        return {**healthy(now), **(grown if now >= step else {})}

    return plan


PLANS = {
    "form over answers": after(
        FAULT, right=lambda n: max(0.05, 0.5 - 0.1 * n), format=lambda n: min(1.0, 0.8 + 0.1 * n)
    ),
    "one answer": after(FAULT, one=0.8),
    "length runs away": after(FAULT, length=lambda n: 48 + 20 * n, right=0.5),
    "never moves": lambda step: {**healthy(step), "format": 0.0},
    "no answer": after(FAULT, no_answer=0.5),
    "timeouts": after(FAULT, timeout=0.1),
}


def steps_in(folder):
    run = open_recorded(folder)
    run.refresh()
    return [step_of(step, run.lines(step)) for step in run.steps]


@pytest.fixture(scope="module", params=PLANS, ids=lambda kind: kind.replace(" ", "-"))
def raised(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    make(folder, STEPS, PLANS[request.param])
    return request.param, alarms_of(steps_in(folder)), folder


def test_a_fault_raises_its_alarm_with_the_rows_that_show_it(raised):
    from plaudit.watch._runs import WatchedRun

    kind, alarms, folder = raised
    [alarm] = [one for one in alarms if one.kind == kind]
    assert not alarm.is_over
    assert alarm.last == STEPS - 1
    expected = 19 if kind == "never moves" else FAULT
    assert expected <= alarm.first <= expected + 5
    shown = WatchedRun(folder, "run").rows({k: str(v) for k, v in alarm.rows.items()}, most=5)
    assert shown["step"] == alarm.rows["step"]
    rows = shown["rows"]
    assert rows
    if kind in ("no answer", "timeouts"):
        assert {row["status"] for row in rows} == {alarm.rows["status"]}
    if kind == "one answer":
        assert all(row["reasons"][0]["answer"] == "7" for row in rows)
    if kind == "form over answers":
        assert all(
            row["values"] == {"accuracy_reward": 0.0, "think_format_reward": 1.0} for row in rows
        )


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 9))]
)
@pytest.mark.parametrize("uneven", [0.0, 0.9], ids=["even", "uneven"])
def test_a_healthy_run_raises_none(tmp_path, seed, uneven):
    make(tmp_path, 60, lambda step: {**healthy(step), "uneven": uneven}, seed=seed)
    assert alarms_of(steps_in(tmp_path)) == []


def test_a_hack_is_told_of_within_five_steps_of_being_visible(tmp_path):
    """Empty tags are paid: completions keep the tags and stop to answer."""

    def plan(step):
        far = max(0, step - FAULT)
        return {
            **healthy(step),
            "format": min(1.0, 0.75 + 0.03 * far),
            "right": max(0.0, 0.55 - 0.04 * far),
        }

    make(tmp_path, STEPS, plan)
    steps = steps_in(tmp_path)
    before = steps[FAULT - 5 : FAULT]
    means = [
        sum(step.values[name].mean for step in before) / len(before)
        for name in ("accuracy_reward", "think_format_reward")
    ]
    visible = next(
        step.step
        for step in steps[FAULT:]
        if step.values["accuracy_reward"].mean <= means[0] - 0.2
        and step.values["think_format_reward"].mean >= means[1] + 0.1
    )
    [alarm] = [one for one in alarms_of(steps) if one.kind == "form over answers"]
    assert FAULT <= alarm.first <= visible + 5


def test_alarms_end_and_are_the_same_however_often_one_looks(tmp_path):
    make(tmp_path, 40, lambda step: {**healthy(step), "no_answer": 0.6 if 10 <= step < 20 else 0.0})
    steps, log = steps_in(tmp_path), AlarmLog()
    for end in range(1, len(steps) + 1):
        alarms = log.update(steps[:end], end - 1)
    assert alarms == alarms_of(steps)
    [alarm] = [one for one in alarms if one.kind == "no answer"]
    assert alarm.is_over
    assert 10 < alarm.first < 13
    assert 18 < alarm.last < 22


def test_every_rule_has_a_plan_and_stands_on_the_page():
    from plaudit.watch._application import _page

    page = _page(("run",)).decode()
    assert len(RULES) == len(PLANS)
    for kind in PLANS:
        assert f"<b>{kind.capitalize()}</b>" in page
