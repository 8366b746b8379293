"""What the page of a run asks for, over HTTP; and how quickly a long run opens."""

import json
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_runs import ROWS, healthy, make

import plaudit
from plaudit import cli
from plaudit.recipes import Component, Recipe, load
from plaudit.recipes.row_score import parquet_of
from plaudit.reports.watch import WatchedRun, watching
from plaudit.runs import finish, open_recorded
from plaudit.runs._reading import statistics_of
from plaudit.scores import Score
from plaudit.tables import score_table


def ask(address, path, host=None, **values):
    request = Request(
        f"{address}{path}?{urlencode(values)}", headers={"Host": host} if host else {}
    )
    with urlopen(request) as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    make(folder / "a", 20)
    make(folder / "b", 12, lambda step: {**healthy(step), "timeout": 0.2}, seed=5)
    return folder


@pytest.fixture(scope="module")
def address(runs):
    with watching(runs / "a", runs / "b") as url:
        yield url


def test_the_state_of_two_runs_and_then_only_what_is_new(address):
    a, b = ask(address, "/api/state")
    assert (a["name"], a["steps"], a["rows"], a["last"]) == ("a", 20, 20 * ROWS, 20)
    assert a["components"] == ["accuracy_reward", "think_format_reward"]
    assert a["unit"] == "tokens"
    assert len(a["curves"]["values"]["total"]["mean"]) == 20
    assert a["alarms"] == []
    assert [alarm["kind"] for alarm in b["alarms"]] == ["timeouts"]
    assert 0.05 < b["curves"]["statuses"]["timeout"][-1] < 0.4
    again = ask(address, "/api/state", have=f"{a['version']},{b['version']}")
    assert again == [{"version": a["version"]}, {"version": b["version"]}]


def test_the_curves_are_those_of_the_rows(address, runs):
    a, _ = ask(address, "/api/state")
    tables = [pq.read_table(part) for part in sorted((runs / "a").glob("part-*.parquet"))]
    for table, place in zip(tables, range(20), strict=True):
        for name in ("total", "accuracy_reward", "think_format_reward"):
            values, curve = table[name].to_numpy(), a["curves"]["values"][name]
            assert curve["mean"][place] == pytest.approx(values.mean(), abs=1e-4)
            low, high = values.mean() - values.std(), values.mean() + values.std()
            assert curve["low"][place] == pytest.approx(max(low, values.min()), abs=1e-4)
            assert curve["high"][place] == pytest.approx(min(high, values.max()), abs=1e-4)
        groups = table.group_by("group_id").aggregate([("total", "min"), ("total", "max")])
        flat = (groups["total_min"].to_numpy() == groups["total_max"].to_numpy()).mean()
        assert a["curves"]["flat"][place] == pytest.approx(flat, abs=1e-4)
        right = [row[0]["right"] for row in table["explanation"].to_pylist()]
        share = a["curves"]["right"]["accuracy_reward"][place]
        assert share == pytest.approx(sum(right) / len(right), abs=1e-4)
        mean = table["tokens"].to_numpy().mean()
        assert a["curves"]["length"]["mean"][place] == pytest.approx(mean, rel=1e-4)


def test_the_rows_of_a_step(address):
    found = ask(address, "/api/rows", step=7, most=400)
    assert (found["step"], found["count"], len(found["rows"])) == (7, ROWS, ROWS)
    groups = [row["group"] for row in found["rows"]]
    assert len(set(groups)) == 8
    assert groups == sorted(groups, key=groups.index), "rows of a prompt stand together"
    worst, best = (ask(address, "/api/rows", step=7, order=o)["rows"] for o in ("worst", "best"))
    assert [row["total"] for row in worst] == sorted(row["total"] for row in worst)
    assert best[0]["total"] == 2.0
    assert best[0]["reasons"][0]["why"].endswith(
        f"equal to the gold {best[0]['others']['solution']}."
    )
    longest = ask(address, "/api/rows", step=7, order="longest")["rows"]
    assert longest[0]["tokens"] == max(row["tokens"] for row in found["rows"])
    late = ask(address, "/api/rows", run=1, status="timeout")
    assert late["step"] == 12
    assert {row["status"] for row in late["rows"]} == {"timeout"}
    assert ask(address, "/api/rows", run=9, step=10**6)["step"] == 12  # the last of the last run


def test_the_step_beside_a_step_may_have_any_number(tmp_path):
    for step in (3, 10, 40):
        make(tmp_path, 1, first=step)
    with watching(tmp_path) as url:
        beside = [
            [ask(url, "/api/rows", step=step, by=by)["step"] for by in (-1, 1)]
            for step in (3, 10, 40)
        ]
        assert beside == [[3, 10], [3, 40], [10, 40]]
        assert ask(url, "/api/rows", by=-1)["step"] == 10


def test_parts_that_cannot_be_read_are_told(runs, tmp_path):
    for file in (*(runs / "a").glob("part-0000000[12]*"), runs / "a" / "_run.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "part-00000009.parquet").write_bytes(b"not Parquet at all")
    with watching(tmp_path) as url:
        [state] = ask(url, "/api/state")
        assert state["rows"] == 2 * ROWS
        [told] = state["unreadable"]
        assert told.startswith("part-00000009: ") and "magic bytes" in told
        (tmp_path / "part-00000009.parquet").unlink()
        time.sleep(0.6)  # for so long it does not look again
        [state] = ask(url, "/api/state", have=str(state["version"]))
        assert state["unreadable"] == []


def test_one_prompt_through_time(address):
    row = ask(address, "/api/rows", step=1)["rows"][0]
    a, b = ask(address, "/api/prompt", prompt=row["key"], most=400)
    assert {one["prompt"] for run in (a, b) for one in run["rows"]} == {row["prompt"]}
    assert sorted({one["step"] for one in a["rows"]}) == [1, 13]
    assert {one["step"] for one in b["rows"]} == {1}
    assert len(a["rows"]) == 2 * 8


def test_a_request_that_names_another_machine_is_refused(address):
    with pytest.raises(HTTPError) as refused:
        ask(address, "/api/state", host="rebound.example")
    assert refused.value.code == 421
    assert ask(address, "/api/state", host="localhost:99")


def test_a_run_that_goes_on_and_one_that_is_resumed(tmp_path):
    with watching(tmp_path) as url:
        [empty] = ask(url, "/api/state")
        assert (empty["steps"], empty["rows"], empty["last"]) == (0, 0, None)
        assert ask(url, "/api/rows")["rows"] == []
        make(tmp_path, 6)
        time.sleep(0.6)  # for so long it does not look again
        [some] = ask(url, "/api/state", have=str(empty["version"]))
        assert some["last"] == 6
        with pytest.warns(RuntimeWarning, match="goes on from step 4"):
            make(tmp_path, 5, first=4, seed=9)
        time.sleep(0.6)
        [more] = ask(url, "/api/state", have=str(some["version"]))
        assert (more["last"], more["rows"]) == (8, 8 * ROWS)
        before, after = (state["curves"]["values"]["total"]["mean"] for state in (some, more))
        assert before[:3] == after[:3]
        assert before[3:] != after[3:6]


def test_a_folder_without_statistics_is_read(runs, tmp_path):
    for file in (*(runs / "a").glob("part-*"), runs / "a" / "_run.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    run, whole = open_recorded(tmp_path), open_recorded(runs / "a")
    assert run.refresh() == whole.refresh()
    assert [replace(step, at=0) for step in run.steps] == [replace(s, at=0) for s in whole.steps]


def test_a_scored_table_with_steps_can_be_opened(tmp_path):
    lines = [
        {
            "step": step,
            "prompt": f"What is {n}-1?",
            "completion": f"It is {n - 1}.",
            "solution": "0",
        }
        for step in range(3)
        for n in (1, 2)
    ]
    (tmp_path / "rollouts.jsonl").write_text("\n".join(map(json.dumps, lines)))
    score_table([tmp_path / "rollouts.jsonl"], load("trl-reasoning"), tmp_path / "scored")
    with watching(tmp_path / "scored") as url:
        [state] = ask(url, "/api/state")
        assert (state["rows"], state["curves"]["step"]) == (6, [0, 1, 2])
        [first, _] = ask(url, "/api/rows", step=1)["rows"]
        [run] = ask(url, "/api/prompt", prompt=first["key"])
    assert [row["prompt"] for row in run["rows"]] == ["What is 1-1?"] * 3


def test_wrong_usage(tmp_path, capsys):
    (tmp_path / "_run.json").write_text("[]")
    assert cli.main(["watch", str(tmp_path / "nowhere")]) == 2
    assert "there is no folder" in capsys.readouterr().err
    assert cli.main(["watch", str(tmp_path)]) == 2
    assert "_run.json has no list of components" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert cli.main(["watch", str(tmp_path / "empty"), "--fail-on", "alarm"]) == 2
    assert "nothing is recorded in empty" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["watch", str(tmp_path), "--fail-on", "fire"])
    assert "invalid choice: 'fire'" in capsys.readouterr().err


def test_the_output_folder_of_a_training_run_can_be_named(runs, tmp_path):
    output = tmp_path / "r1"
    output.mkdir()
    with watching(output) as url:
        assert ask(url, "/api/state")[0]["steps"] == 0
        shutil.copytree(runs / "a", output / "record")  # it is made after the page was opened
        time.sleep(0.6)  # for so long it does not look again
        [state] = ask(url, "/api/state")
        assert (state["name"], state["steps"]) == ("r1", 20)
    with watching(output / "record", runs / "b") as url:
        assert [state["name"] for state in ask(url, "/api/state")] == ["r1", "b"]


def test_several_runs_have_names_that_differ(runs, tmp_path):
    for name in ("x/1", "y/1", "y/2"):
        (tmp_path / name).mkdir(parents=True)
    with watching(*(tmp_path / name for name in ("x/1", "y/1", "y/2"))) as url:
        assert [state["name"] for state in ask(url, "/api/state")] == ["x/1", "y/1", "y/2"]


def test_a_group_is_never_cut(address):
    shown = ask(address, "/api/rows", step=7, most=20)["rows"]
    assert len(shown) == 24
    assert len({row["group"] for row in shown}) == 3
    assert len(ask(address, "/api/rows", step=7, order="best", most=20)["rows"]) == 20


def test_a_row_says_whether_it_is_right(address):
    for row in ask(address, "/api/rows", step=7, most=400)["rows"]:
        assert row["right"] is (row["values"]["accuracy_reward"] == 1.0)


def test_tool_calls_and_results_are_shown(tmp_path):
    call = {"type": "function", "function": {"name": "add", "arguments": {"a": 2, "b": 2}}}
    said = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "add", "content": "4"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
    ]
    plaudit.record(load("trl-math"), tmp_path)([said], prompts=["2 + 2?"], solution=["4"])
    finish(tmp_path)
    with watching(tmp_path) as url:
        [row] = ask(url, "/api/rows")["rows"]
    called = 'assistant: add({"a": 2, "b": 2})'
    assert row["completion"] == f"{called}\n\ntool: 4\n\n{called}"


def test_the_exit_code_says_whether_there_is_an_alarm(runs, tmp_path, capsys):
    a, b = (shutil.copytree(runs / name, tmp_path / name) for name in "ab")  # nothing records there
    assert cli.main(["watch", str(a), "--fail-on", "alarm"]) == 0
    assert capsys.readouterr().out == "There is no alarm.\n"
    assert cli.main(["watch", str(a), str(b), "--fail-on", "alarm"]) == 1
    assert capsys.readouterr().out.startswith("b: timeouts, since step 3: ")


def test_a_run_that_goes_on_is_waited_for(tmp_path):
    """Until its process ends, or an alarm holds."""
    code = (
        "import sys; from made_runs import healthy, make\n"
        "make(sys.argv[1], 4, lambda step: {**healthy(step), 'timeout': step > 2 and 0.5},"
        " pause=0.5)\n"
        "print('done', flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path],
        cwd=Path(__file__).parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        while not (tmp_path / "_run.json").exists():
            time.sleep(0.05)
        assert cli.main(["watch", str(tmp_path), "--fail-on", "alarm"]) == 1
        assert child.poll() is None
    finally:
        child.communicate()


def test_other_machines_may_be_let_in(runs, capsys):
    command = [sys.executable, "-m", "plaudit", "watch", runs / "a", "--host", "0.0.0.0"]
    with subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        address = child.stdout.readline().split()[3]
        assert address.startswith("http://0.0.0.0:")
        assert ask(address, "/api/state", host="a-node.example")
        child.send_signal(signal.SIGINT)
        assert "anyone who reaches 0.0.0.0 can read these runs" in child.stderr.read()


@pytest.mark.long
def test_a_million_rows_open_at_once(tmp_path):
    """The rows of one step, as parts of 2,000 steps: what is read is as much as of a real run."""
    rows, steps = 512, 1954
    make(tmp_path, 1)
    source = pq.read_table(next(tmp_path.glob("part-*.parquet")))
    table = pa.concat_tables([source] * (rows // ROWS)).combine_chunks()
    components = ["accuracy_reward", "think_format_reward"]
    with Path(next(tmp_path.glob(".record/statistics/*"))).open("a") as log:
        for step in range(2, steps + 1):
            part = f"part-{step:08}-00000-00000-{step:06}"
            own = table.set_column(
                table.column_names.index("step"), "step", pa.array([step] * rows)
            )
            (tmp_path / f"{part}.parquet").write_bytes(parquet_of(own))
            for line in statistics_of(part, own, components, time.time()):
                log.write(json.dumps(line) + "\n")
    with watching(tmp_path) as url:
        start = time.process_time()  # the server is in this process, and others may be busy
        [state] = ask(url, "/api/state")
        ask(url, "/api/rows")
        seconds = time.process_time() - start
    assert state["rows"] == (steps - 1) * rows + ROWS
    assert seconds < 6  # about 1 on an idle machine; reading every row would take a minute


def test_the_slowest_rewards_and_rows_of_a_step(tmp_path):
    def timed(completions, seconds, **kwargs):
        return [Score(1.0, "So.", seconds=taken) for taken in seconds]

    def quick(completions, **kwargs):
        return [1.0] * len(completions)

    recipe = plaudit.record(Recipe("timed", (Component("", timed), Component("", quick))), tmp_path)
    recipe(["a", "b", "c"], prompts=["p"] * 3, seconds=[0.5, 2.0, 0.1])
    finish(tmp_path)
    run = WatchedRun(tmp_path, "timed")
    assert run.state(0)["curves"]["rewards"] == {"timed": [2.6], "quick": [0.0]}
    rows = run.rows({"order": "slowest"}, 10)["rows"]
    assert [row["completion"] for row in rows] == ["b", "a", "c"]
    assert rows[0]["seconds"] > rows[1]["seconds"] > rows[2]["seconds"]
