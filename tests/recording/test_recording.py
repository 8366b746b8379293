"""Rewards that record give what they gave, and what they record is a scored table."""

import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import plaudit
from plaudit.recipes import Component, Recipe, load
from plaudit.reports import write_report
from plaudit.reports.diff import compare
from plaudit.runs import finish
from plaudit.runs.recording import RecordedRecipe, recorded
from plaudit.tables import open_scored
from plaudit.trainers import chosen, verl

REASONING = load("trl-reasoning")
BATCH = {
    "prompts": ["2 + 2?"] * 2 + ["3 + 3?"] * 2,
    "completions": [r"<think>Hm.</think> \boxed{4}", r"\boxed{5}", "<think>…</think> six", ""],
    "solution": ["4", "4", "6", "6"],
    "completion_ids": [[1, 2, 3], [1], [], [1, 2]],
    "level": [1, 1, 2, 2],
}
TOTALS = [2.0, 0.0, 1.0, 0.0]


def rows(folder, *columns):
    finish(folder)
    scored = open_scored(folder)
    return [row for _, batch in scored.batches(columns) for row in batch.to_pylist()]


def at(step):
    """A batch that TRL logs with a step: while it is scored, that step is not done yet."""
    return {**BATCH, "trainer_state": SimpleNamespace(global_step=step - 1)}


def test_a_recipe_gives_what_it_gave_and_is_recorded(tmp_path):
    recipe = plaudit.record(REASONING, tmp_path)
    assert recipe(**at(3)) == REASONING(**BATCH)
    found = rows(tmp_path, "step", "group_id", "prompt", "total", "tokens", "level", "status")
    assert [row["total"] for row in found] == TOTALS
    assert [row["step"] for row in found] == [3] * 4
    assert [row["tokens"] for row in found] == [3, 1, 0, 2]
    assert [row["level"] for row in found] == BATCH["level"]
    groups = [row["group_id"] for row in found]
    assert groups[0] == groups[1] != groups[2] == groups[3]
    assert found[3]["status"] == "no_answer"


def test_functions_that_are_called_one_by_one_are_rows_with_every_component(tmp_path):
    functions = plaudit.record(REASONING, tmp_path).reward_funcs()
    plain = REASONING.reward_funcs()
    assert [f.__name__ for f in functions] == [f.__name__ for f in plain]
    for step in range(1, 4):
        assert [f(**at(step)) for f in functions] == [f(**BATCH) for f in plain]
    found = rows(tmp_path, "row_id", "step", "total", *(f.__name__ for f in plain))
    assert [row["total"] for row in found] == TOTALS * 3
    assert [row["row_id"] for row in found] == sorted({row["row_id"] for row in found})


def test_functions_on_an_event_loop_are_recorded_together(tmp_path):
    async def called():
        functions = plaudit.record(REASONING, tmp_path).reward_funcs(asynchronous=True)
        return await asyncio.gather(*(f(**at(s)) for s in range(1, 5) for f in functions))

    given = asyncio.run(called())
    assert given[:2] == [f(**BATCH) for f in REASONING.reward_funcs()]
    assert [row["total"] for row in rows(tmp_path, "total")] == TOTALS * 4


def test_rollouts_with_the_same_text_at_the_same_time_are_not_mixed_up(tmp_path):
    first, second = plaudit.record(REASONING, tmp_path).reward_funcs()
    one = {"completions": ["<think>a</think> 4"], "solution": ["4"], "step": 1}
    for function in (first, first, second, second):
        function(**one)
    found = rows(tmp_path, "total", *(f.__name__ for f in (first, second)))
    assert len(found) == 2
    assert found[0] == found[1]


def test_plain_functions_are_recorded_with_their_weights(tmp_path):
    def short(completions, **kwargs):
        return [None if not text else float(len(text) < 12) for text in completions]

    def polite(completions, **kwargs):
        return [0.5] * len(completions)

    functions = plaudit.record([short, polite], tmp_path, weights=[1.0, 2.0])
    assert [f(**BATCH) for f in functions] == [short(**BATCH), polite(**BATCH)]
    found = rows(tmp_path, "short", "polite", "total", "step", "explanation")
    assert [row["total"] for row in found] == [1.0, 2.0, 1.0, 1.0]
    assert found[3]["explanation"][0]["why"] == "short skips the row."


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for run in ("a", "b"):
        for step in range(1, 4):
            plaudit.record(REASONING, folder / run)(**at(step))
        finish(folder / run)
    return folder / "a", folder / "b"


def test_rewards_that_factories_make_are_recorded_with_their_reasons(tmp_path):
    from plaudit.rewards.trl import get_repetition_penalty_reward, get_soft_overlong_punishment

    made = [get_repetition_penalty_reward(ngram_size=2), get_soft_overlong_punishment(4, 2)]
    functions = plaudit.record(made, tmp_path)
    assert [f(**BATCH) for f in functions] == [f(**BATCH) for f in made]
    [first, *_] = rows(tmp_path, "explanation")
    assert [entry["component"] for entry in first["explanation"]] == [f.__name__ for f in made]


def test_a_plain_coroutine_function_is_recorded(tmp_path):
    async def short(completions, **kwargs):
        return [float(len(text) < 12) for text in completions]

    [function] = plaudit.record([short], tmp_path)
    assert asyncio.run(function(**BATCH)) == [0.0, 1.0, 0.0, 1.0]
    assert [row["total"] for row in rows(tmp_path, "total")] == [0.0, 1.0, 0.0, 1.0]


def test_rows_of_several_steps_in_one_batch(tmp_path):
    plaudit.record(REASONING, tmp_path)(**BATCH, step=[7, 6, 7, 6])
    found = rows(tmp_path, "step", "total")
    assert [(row["step"], row["total"]) for row in found] == [
        (6, 0.0),
        (6, 0.0),
        (7, 2.0),
        (7, 1.0),
    ]


def test_a_reward_that_the_trainer_does_not_call_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr("plaudit.runs.recording._WAIT", -1.0)
    accuracy, form = plaudit.record(REASONING, tmp_path).reward_funcs()
    form(**at(1))
    [*_, last] = rows(tmp_path, "total", accuracy.__name__, "explanation")
    assert (last["total"], last[accuracy.__name__]) == (0.0, None)
    assert last["explanation"][0]["why"] == "The trainer did not call this reward."


def test_what_is_recorded_can_be_compared(two_runs):
    difference = compare(*two_runs)
    assert (difference.changed, difference.rows) == (0, 12)


@pytest.mark.long
def test_what_is_recorded_can_be_reported(two_runs):
    assert write_report(two_runs[0]).exists()


def test_messages_and_images_and_long_lists(tmp_path):
    from PIL import Image

    said = [{"role": "assistant", "content": r"\boxed{4}"}]
    asked = [{"role": "user", "content": [{"type": "image", "image": Image.new("RGB", (2, 2))}]}]
    batch = {
        "prompts": [asked],
        "completions": [said],
        "solution": [4],
        "image": [Image.new("RGB", (2, 2))],
        "images": [[Image.new("RGB", (2, 2))]],
        "logprobs": [[0.5] * 100],
        "box": [[1, 2, 3, 4]],
    }
    plaudit.record(load("trl-math"), tmp_path)(**batch)
    finish(tmp_path)
    names = open_scored(tmp_path).columns()
    assert "image" not in names and "images" not in names
    assert "logprobs" not in names
    [row] = rows(tmp_path, "prompt", "completion", "box", "solution")
    assert json.loads(row["completion"]) == said
    assert json.loads(row["box"]) == [1, 2, 3, 4]
    assert row["solution"] == 4


def test_recorded_functions_can_be_pickled(tmp_path):
    functions = plaudit.record(REASONING, tmp_path).reward_funcs()
    again = pickle.loads(pickle.dumps(functions))
    for function in again:
        function(**at(1))
    assert [row["total"] for row in rows(tmp_path, "total")] == TOTALS


@pytest.mark.parametrize("asynchronous", [False, True])
def test_recorded_functions_have_the_attributes_of_the_functions(tmp_path, asynchronous):
    [plain] = load("trl-math").reward_funcs(asynchronous=asynchronous)
    [function] = plaudit.record(load("trl-math"), tmp_path).reward_funcs(asynchronous=asynchronous)
    assert callable(plain.scores) and callable(function.scores)
    assert pickle.loads(pickle.dumps(function)).name == plain.__name__


def test_every_adapter_records_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAUDIT_RECORD", str(tmp_path))
    monkeypatch.setenv("PLAUDIT_RECORD_ROWS", "2")
    assert isinstance(chosen("trl-math"), RecordedRecipe)
    for answer in "4567":
        verl.compute_score("math", rf"\boxed{{{answer}}}", "4", {"index": 1}, recipe="trl-math")
    found = rows(tmp_path, "step", "total", "group_id")
    assert [(row["step"], row["total"]) for row in found] == [
        (0, 1.0),
        (0, 0.0),
        (1, 0.0),
        (1, 0.0),
    ]
    assert len({row["group_id"] for row in found}) == 2


def test_the_functions_of_any_recipe_record_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAUDIT_RECORD", str(tmp_path))
    for function in load("trl-reasoning").reward_funcs():
        function(**at(1))
    assert [row["total"] for row in rows(tmp_path, "total")] == TOTALS


def test_a_step_that_goes_back_replaces_what_came_after_it(tmp_path):
    recipe = plaudit.record(REASONING, tmp_path)
    for step in (1, 2, 3, 4):
        recipe(**at(step))
    finish(tmp_path)
    with pytest.warns(RuntimeWarning, match="goes on from step 3: 2 parts were moved"):
        recipe(**at(3))
    assert [row["step"] for row in rows(tmp_path, "step")] == [1] * 4 + [2] * 4 + [3] * 4


@pytest.mark.long
def test_batches_that_say_no_step_are_counted_and_counted_on(tmp_path):
    code = (
        "import sys, plaudit; from plaudit.recipes import load\n"
        "recipe = plaudit.record(load('trl-math'), sys.argv[1])\n"
        "for _ in range(2): recipe(['4', '5'], solution=['4', '4'])"
    )
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code, tmp_path], check=True)
    assert [row["step"] for row in rows(tmp_path, "step")] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_writer_that_is_killed_is_started_again(tmp_path):
    recipe = plaudit.record(REASONING, tmp_path)
    recipe(**at(1))
    for step in range(2, 5):
        writer = recipe.recording.recorder._writer._child
        writer.kill()
        writer.wait()
        recipe(**at(step))
    finish(tmp_path)
    assert [row["step"] for row in rows(tmp_path, "step")] == [
        s for s in range(1, 5) for _ in range(4)
    ]


def test_a_writer_that_is_killed_at_the_end_is_started_again(tmp_path):
    code = (
        "import sys, plaudit; from plaudit.recipes import load\n"
        "recipe = plaudit.record(load('trl-math'), sys.argv[1])\n"
        "recipe(['4'], solution=['4'])\n"
        "writer = recipe.recording.recorder._writer._child\n"
        "writer.kill(); writer.wait()"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True)
    assert len(rows(tmp_path, "row_id")) == 1


def test_a_writer_that_takes_too_long_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("plaudit.runs._writer.ENDING", 0.2)
    function = plaudit.record(one, tmp_path)
    function(**BATCH)
    writer = function.recording.recorder._writer._child
    writer.send_signal(signal.SIGSTOP)
    try:
        with pytest.warns(RuntimeWarning, match="not all that was recorded is written yet"):
            finish(tmp_path)
    finally:
        writer.send_signal(signal.SIGCONT)
    monkeypatch.undo()
    assert len(rows(tmp_path, "row_id")) == 4


def test_a_full_disk_is_a_warning_and_the_run_goes_on(tmp_path):
    code = (
        "import resource, sys, warnings, plaudit; from plaudit.recipes import load\n"
        "recipe = plaudit.record(load('trl-math'), sys.argv[1])\n"
        "recipe(['4'] * 40, solution=['4'] * 40)\n"
        "from plaudit.runs import finish; finish(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "with warnings.catch_warnings(record=True) as said:\n"
        "    warnings.simplefilter('always')\n"
        "    for _ in range(5): recipe(['x' * 1000 + '4'] * 40, solution=['4'] * 40)\n"
        "print(len(said), said[0].message)"
    )
    ended = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("1 plaudit: "), ended.stdout
    assert "is recorded no further, the run goes on" in ended.stdout
    assert "File too large" in ended.stdout
    assert len(rows(tmp_path, "row_id")) == 40


@pytest.mark.parametrize("kind", ["a file", "another run", "a scored table"])
def test_a_folder_that_cannot_be_recorded_into_is_said_at_once(tmp_path, monkeypatch, kind):
    folder = tmp_path / "run"
    if kind == "a file":
        folder.write_text("")
    else:
        folder.mkdir()
        is_recorded = kind == "another run"
        manifest = {"components": ["other"], "recorded": is_recorded}
        (folder / "_run.json").write_text(json.dumps(manifest))
    with pytest.raises((ValueError, OSError)):
        plaudit.record(REASONING, folder)
    monkeypatch.setenv("PLAUDIT_RECORD", str(folder))
    with pytest.warns(RuntimeWarning, match="nothing is recorded"):
        assert recorded(load("trl-reasoning"))(**BATCH) == REASONING(**BATCH)


@pytest.mark.parametrize(
    ("rewards", "message"),
    [
        pytest.param(["trl.accuracy_reward"], "entry 0 is str", id="name"),
        pytest.param([], "there are no reward functions to record", id="none"),
        pytest.param([print, print], 'two reward functions are called "print"', id="twice"),
    ],
)
def test_what_cannot_be_recorded(tmp_path, rewards, message):
    with pytest.raises((TypeError, ValueError), match=message):
        plaudit.record(rewards, tmp_path)


def test_a_component_may_not_have_the_name_of_a_column(tmp_path):
    recipe = Recipe("math", (Component("step", "trl.accuracy_reward"),))
    with pytest.raises(ValueError, match="give it another name"):
        plaudit.record(recipe, tmp_path)


def test_a_function_that_gives_nonsense_ends_the_recording_and_nothing_else(tmp_path):
    def broken(completions, **kwargs):
        return ["good"] * len(completions)

    function = plaudit.record(broken, tmp_path)
    with pytest.warns(RuntimeWarning, match="must give numbers"):
        assert function(**BATCH) == ["good"] * 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(**BATCH)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param(lambda texts: [1.0], "gave 1 values for 4 completions", id="too few"),
        pytest.param(lambda texts: (1.0 for _ in texts), "got generator", id="generator"),
    ],
)
def test_what_is_no_value_for_each_row_reaches_the_trainer_as_it_is(tmp_path, given, message):
    def odd(completions, **kwargs):
        return given(completions)

    function = plaudit.record(odd, tmp_path)
    with pytest.warns(RuntimeWarning, match=message):
        assert list(function(**BATCH)) == list(given(BATCH["completions"]))


def one(completions, **kwargs):
    return [1.0] * len(completions)


def nought(completions, **kwargs):
    return [0.0] * len(completions)


def said(function, state, step, text):
    state.global_step = step - 1
    function(prompts=["2 + 2?"], completions=[text], trainer_state=state)


def test_a_batch_that_is_written_late_keeps_its_step_and_replaces_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("plaudit.runs.recording._WAIT", 0.05)
    both = plaudit.record([one, nought], tmp_path)
    state = SimpleNamespace(global_step=0)  # TRL passes one object, and counts it up
    said(both[0], state, 1, "late")
    for step in (2, 3):
        for function in both:
            said(function, state, step, f"step {step}")
    time.sleep(0.1)
    for function in both:
        said(function, state, 4, "step 4")
    found = [(row["step"], row["completion"]) for row in rows(tmp_path, "step", "completion")]
    assert found == [(1, "late"), (2, "step 2"), (3, "step 3"), (4, "step 4")]


def test_a_run_begun_anew_replaces_steps_though_a_function_is_never_called(tmp_path):
    function, _ = plaudit.record([one, nought], tmp_path)
    state = SimpleNamespace(global_step=0)
    for number, step in enumerate((1, 2, 3, 2)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            said(function, state, step, f"batch {number}")
    with pytest.warns(RuntimeWarning, match="goes on from step 2"):
        finish(tmp_path)
    found = [(row["step"], row["completion"]) for row in rows(tmp_path, "step", "completion")]
    assert found == [(1, "batch 0"), (2, "batch 3")]


@pytest.mark.parametrize("step", [np.int64(7), [np.int64(7)] * 4, np.full(4, 7), 7.0])
def test_a_step_may_be_any_kind_of_whole_number(tmp_path, step):
    plaudit.record(one, tmp_path)(**BATCH, global_step=step)
    assert [row["step"] for row in rows(tmp_path, "step")] == [7] * 4


def test_the_trainers_step_may_be_a_number_of_numpy(tmp_path):
    plaudit.record(one, tmp_path)(**at(np.int64(7)))
    assert [row["step"] for row in rows(tmp_path, "step")] == [7] * 4


def test_a_recording_that_has_stopped_touches_no_file_of_others(tmp_path):
    function = plaudit.record(one, tmp_path)
    function(**BATCH)
    recorder = function.recording.recorder
    with pytest.warns(RuntimeWarning, match="recorded no further"):
        recorder.stop(OSError(28, "No space left on device"))
    # These get the descriptors that the recorder has closed.
    others = [os.open(tmp_path / f"other {n}", os.O_CREAT | os.O_RDWR) for n in range(8)]
    finish(tmp_path)
    recorder.close()
    try:
        assert [os.fstat(other).st_size for other in others] == [0] * 8
    finally:
        for other in others:
            os.close(other)


def test_a_forked_process_writes_its_own_batches_and_not_those_of_its_parent(tmp_path):
    code = (
        "import os, sys, plaudit\n"
        "from plaudit.runs import finish\n"
        "def a(completions, **kwargs): return [1.0]\n"
        "def b(completions, **kwargs): return [0.0]\n"
        "function, _ = plaudit.record([a, b], sys.argv[1])\n"
        "function(['in both'], step=[0]); finish(sys.argv[1])\n"
        "function(['the parent'], step=[1])\n"
        "if not (child := os.fork()):\n"
        "    function(['the child'], step=[1]); finish(sys.argv[1]); os._exit(0)\n"
        "os.waitpid(child, 0)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, tmp_path], check=True)
    found = sorted(row["completion"] for row in rows(tmp_path, "completion"))
    assert found == ["in both", "the child", "the parent"]


@pytest.mark.parametrize(
    "text", ["", "{", '{"recorded": true}', '{"recorded": true, "components": 3}']
)
def test_a_folder_whose_run_json_is_broken_is_named(tmp_path, monkeypatch, text):
    (tmp_path / "_run.json").write_text(text)
    with pytest.raises(ValueError, match=r"_run\.json"):
        plaudit.record(one, tmp_path)
    monkeypatch.setenv("PLAUDIT_RECORD", str(tmp_path))
    with pytest.warns(RuntimeWarning, match="nothing is recorded"):
        assert recorded(load("trl-reasoning"))(**BATCH) == REASONING(**BATCH)


@pytest.mark.parametrize("said", ["many", "0", "-4"])
def test_a_number_of_rows_that_is_none_is_told_and_ignored(tmp_path, monkeypatch, said):
    monkeypatch.setenv("PLAUDIT_RECORD_ROWS", said)
    function = plaudit.record(one, tmp_path)
    with pytest.warns(RuntimeWarning, match="PLAUDIT_RECORD_ROWS must be a whole number"):
        function(**BATCH)
    assert [row["step"] for row in rows(tmp_path, "step")] == [0] * 4
