"""What the page of a run asks for, over HTTP; and how quickly a long run opens."""

import json
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_runs import ROWS, healthy, make

from plaudit import cli
from plaudit.recipes import load
from plaudit.recording import open_recorded
from plaudit.recording._statistics import statistics_of
from plaudit.scored_columns import parquet_of
from plaudit.scoring import score_table
from plaudit.watch import watching


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
    assert (a["name"], a["steps"], a["rows"], a["last"]) == ("a", 20, 20 * ROWS, 19)
    assert a["components"] == ["accuracy_reward", "think_format_reward"]
    assert a["unit"] == "tokens"
    assert len(a["curves"]["values"]["total"]["mean"]) == 20
    assert a["alarms"] == []
    assert [alarm["kind"] for alarm in b["alarms"]] == ["timeouts"]
    assert 0.05 < b["curves"]["statuses"]["timeout"][-1] < 0.4
    again = ask(address, "/api/state", have=f"{a['version']},{b['version']}")
    assert again == [{"version": a["version"]}, {"version": b["version"]}]


def test_the_curves_are_those_of_the_rows(address, runs):
    import numpy as np

    a, _ = ask(address, "/api/state")
    tables = [pq.read_table(part) for part in sorted((runs / "a").glob("part-*.parquet"))]
    for table, place in zip(tables, range(20), strict=True):
        for name in ("total", "accuracy_reward", "think_format_reward"):
            values, curve = table[name].to_numpy(), a["curves"]["values"][name]
            assert curve["mean"][place] == pytest.approx(values.mean(), abs=1e-4)
            quartiles = np.quantile(values, (0.25, 0.5, 0.75), method="inverted_cdf").tolist()
            assert [curve[edge][place] for edge in ("low", "middle", "high")] == quartiles
        groups = table.group_by("group_id").aggregate([("total", "min"), ("total", "max")])
        flat = (groups["total_min"].to_numpy() == groups["total_max"].to_numpy()).mean()
        assert a["curves"]["flat"][place] == pytest.approx(flat, abs=1e-4)
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
        f"equal to the gold {best[0]['beside']['solution']}."
    )
    longest = ask(address, "/api/rows", step=7, order="longest")["rows"]
    assert longest[0]["tokens"] == max(row["tokens"] for row in found["rows"])
    late = ask(address, "/api/rows", run=1, status="timeout")
    assert late["step"] == 11
    assert {row["status"] for row in late["rows"]} == {"timeout"}
    assert ask(address, "/api/rows", run=9, step=10**6)["step"] == 11  # the last of the last run


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
    for file in (*(runs / "a").glob("part-0000000[01]*"), runs / "a" / "_run.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "part-00000002.parquet").write_bytes(b"not Parquet at all")
    with watching(tmp_path) as url:
        [state] = ask(url, "/api/state")
        assert state["rows"] == 2 * ROWS
        [told] = state["unreadable"]
        assert told.startswith("part-00000002: ") and "magic bytes" in told
        (tmp_path / "part-00000002.parquet").unlink()
        time.sleep(0.6)  # for so long it does not look again
        [state] = ask(url, "/api/state", have=str(state["version"]))
        assert state["unreadable"] == []


def test_one_prompt_through_time(address):
    row = ask(address, "/api/rows", step=0)["rows"][0]
    a, b = ask(address, "/api/prompt", prompt=row["group"], most=400)
    assert {one["prompt"] for run in (a, b) for one in run["rows"]} == {row["prompt"]}
    assert sorted({one["step"] for one in a["rows"]}) == [0, 12]
    assert {one["step"] for one in b["rows"]} == {0}
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
        assert some["last"] == 5
        with pytest.warns(RuntimeWarning, match="goes on from step 3"):
            make(tmp_path, 5, first=3, seed=9)
        time.sleep(0.6)
        [more] = ask(url, "/api/state", have=str(some["version"]))
        assert (more["last"], more["rows"]) == (7, 8 * ROWS)
        before, after = (state["curves"]["values"]["total"]["mean"] for state in (some, more))
        assert before[:3] == after[:3]
        assert before[3:] != after[3:6]


def test_a_folder_without_statistics_is_read(runs, tmp_path):
    for file in (*(runs / "a").glob("part-*"), runs / "a" / "_run.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    run, whole = open_recorded(tmp_path), open_recorded(runs / "a")
    assert run.refresh() == whole.refresh()
    for step in run.steps:
        mine, theirs = ([{**one, "at": 0} for one in r.lines(step)] for r in (run, whole))
        assert mine == theirs


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
        [run] = ask(url, "/api/prompt", prompt=first["group"])
    assert [row["prompt"] for row in run["rows"]] == ["What is 1-1?"] * 3


def test_wrong_usage(tmp_path, capsys):
    (tmp_path / "_run.json").write_text("[]")
    assert cli.main(["watch", str(tmp_path / "nowhere")]) == 2
    assert "there is no folder" in capsys.readouterr().err
    assert cli.main(["watch", str(tmp_path)]) == 2
    assert "_run.json has no list of components" in capsys.readouterr().err
    assert cli.main(["watch", "a", "b", "c"]) == 2
    assert "two runs can be shown side by side" in capsys.readouterr().err


@pytest.mark.long
def test_a_million_rows_open_within_two_seconds(tmp_path):
    """The rows of one step, as parts of 2,000 steps: what is read is as much as of a real run."""
    rows, steps = 512, 1954
    make(tmp_path, 1)
    source = pq.read_table(next(tmp_path.glob("part-*.parquet")))
    table = pa.concat_tables([source] * (rows // ROWS)).combine_chunks()
    components = ["accuracy_reward", "think_format_reward"]
    with Path(next(tmp_path.glob(".record/statistics/*"))).open("a") as log:
        for step in range(1, steps):
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
    assert seconds < 2
