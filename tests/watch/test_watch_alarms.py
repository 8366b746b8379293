"""Each alarm is raised by a run that shows it, soon; and none by a healthy one."""

import logging
import math

import pytest
from made_runs import healthy, make

from plaudit.runs import open_recorded
from plaudit.runs.alarms import (
    GROUPS,
    RULES,
    SIGNAL_GROUPS,
    SIGNAL_STEPS,
    WINDOW,
    AlarmLog,
)

FAULT = 40  # the step at which something begins to go wrong
STEPS = FAULT + 40
PROMPTS = [2, 4, 8, 16, 64]  # a step


def after(**changed):
    """A healthy plan until a step, and from then on with these shares, which may grow."""

    def plan(now):
        far = now - FAULT
        grown = {name: value(far) if callable(value) else value for name, value in changed.items()}
        return {**healthy(now), **(grown if far >= 0 else {})}

    return plan


PLANS = {
    "form over answers": after(
        right=lambda n: max(0.05, 0.5 - 0.1 * n), format=lambda n: min(1.0, 0.9 + 0.02 * n)
    ),
    "one answer": after(one=0.75),
    "length runs away": after(length=lambda n: 48 + 20 * n, right=0.5),
    "never moves": lambda step: {**healthy(step), "format": 0.0},
    "no signal": after(same=True),
    "no answer": after(no_answer=0.5),
    "timeouts": after(timeout=0.1),
    "cut off": after(truncated=lambda n: min(0.9, 0.1 + 0.02 * n)),
}


def run_in(folder):
    run = open_recorded(folder)
    run.refresh()
    return run


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((kind, prompts), marks=() if prompts in (4, 8) else pytest.mark.long)
        for kind in PLANS
        for prompts in PROMPTS
    ],
    ids=lambda param: f"{param[0].replace(' ', '-')}-{param[1]}",
)
def raised(request, tmp_path_factory):
    kind, prompts = request.param
    folder = tmp_path_factory.mktemp("run")
    make(folder, STEPS, PLANS[kind], prompts=prompts)
    return kind, prompts, run_in(folder).alarms, folder


def test_a_fault_raises_its_alarm_with_the_rows_that_show_it(raised):
    from plaudit.reports.watch import WatchedRun

    kind, prompts, alarms, folder = raised
    [alarm] = [one for one in alarms if one.kind == kind]
    assert not alarm.is_over, "the fault goes on"
    assert alarm.last == STEPS
    window = max(WINDOW, math.ceil(GROUPS / prompts))
    if kind == "no signal":
        window = max(SIGNAL_STEPS, math.ceil(SIGNAL_GROUPS / prompts))
    expected = 20 if kind == "never moves" else FAULT
    assert expected <= alarm.first <= expected + window + 5
    shown = WatchedRun(folder, "run").rows({k: str(v) for k, v in alarm.rows.items()}, most=5)
    assert shown["step"] == alarm.rows["step"]
    rows = shown["rows"]
    assert rows
    if kind in ("no answer", "timeouts", "cut off"):
        assert {row["status"] for row in rows} == {alarm.rows["status"]}
    if kind == "one answer":
        assert all(row["reasons"][0]["answer"] == "7" for row in rows)
    if kind == "form over answers":
        assert all(
            row["values"] == {"accuracy_reward": 0.0, "think_format_reward": 1.0}
            for row in rows[:3]
        )


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 9))]
)
@pytest.mark.parametrize("uneven", [0.0, 0.9], ids=["even", "uneven"])
@pytest.mark.parametrize(
    "prompts",
    [p if p in (2, 8) else pytest.param(p, marks=pytest.mark.long) for p in PROMPTS],
)
def test_a_healthy_run_raises_none(tmp_path, seed, uneven, prompts):
    plan = lambda step: {**healthy(step), "uneven": uneven}  # noqa: E731
    make(tmp_path, 60, plan, seed=seed, prompts=prompts)
    assert run_in(tmp_path).alarms == []


@pytest.mark.parametrize("prompts", [4, 8])
def test_a_hack_is_told_of_soon_after_it_is_visible(tmp_path, prompts):
    """Empty tags are paid: completions keep the tags and stop to answer."""

    def plan(step):
        far = max(0, step - FAULT)
        return {
            **healthy(step),
            "format": min(1.0, 0.75 + 0.03 * far),
            "right": max(0.0, 0.55 - 0.04 * far),
        }

    make(tmp_path, STEPS, plan, prompts=prompts)
    run = run_in(tmp_path)
    before = run.steps[FAULT - 6 : FAULT - 1]
    means = [
        sum(step.values[name].mean for step in before) / len(before)
        for name in ("accuracy_reward", "think_format_reward")
    ]
    visible = next(
        step.step
        for step in run.steps[FAULT:]
        if step.values["accuracy_reward"].mean <= means[0] - 0.2
        and step.values["think_format_reward"].mean >= means[1] + 0.1
    )
    [alarm] = [one for one in run.alarms if one.kind == "form over answers"]
    assert FAULT <= alarm.first <= visible + max(5, 2 * math.ceil(GROUPS / prompts))


def test_alarms_end_and_are_the_same_however_often_one_looks(tmp_path):
    make(tmp_path, 40, lambda step: {**healthy(step), "no_answer": 0.6 if 10 <= step < 20 else 0.0})
    run, log = run_in(tmp_path), AlarmLog()
    for end in range(1, len(run.steps) + 1):
        alarms = log.update(run.steps[:end], end - 1)
    assert alarms == AlarmLog().update(run.steps, 0) == run.alarms
    [alarm] = [one for one in alarms if one.kind == "no answer"]
    assert alarm.is_over
    assert 10 < alarm.first < 13
    assert 18 < alarm.last < 22


def test_an_alarm_is_one_line_of_the_trainers_log(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, logger="plaudit"):
        make(tmp_path, 30, lambda step: {**healthy(step), "timeout": 0.3})
        make(tmp_path, 10, lambda step: {**healthy(step), "timeout": 0.3}, first=31)
        from plaudit.runs.recording import known_recording

        known_recording(tmp_path).recorder.close()  # as at the end of the process
    [line] = [record.getMessage() for record in caplog.records if record.name == "plaudit"]
    assert line.startswith("plaudit: timeouts, since step 3: ")
    assert line.endswith(f"(plaudit watch {tmp_path} shows the rows)")
    assert "\n" not in line


def test_every_rule_has_a_plan_and_stands_on_the_page():
    from plaudit.reports.watch import _page

    page = _page(("run",)).decode()
    assert len(RULES) == len(PLANS)
    for kind in PLANS:
        assert f"<b>{kind.capitalize()}</b>" in page
