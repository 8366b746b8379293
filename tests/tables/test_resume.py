"""Runs that are stopped, in whatever way, and go on."""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plaudit.recipes import Component, Recipe
from plaudit.tables import InputError, StoppedError, score_table
from tables import content, jsonl, rejected, scored

RUN = [sys.executable, "-c", "import sys; from plaudit.cli import main; sys.exit(main())"]

# A reward that takes its time, so that a run can be stopped in the middle.
SLOW = """
import time

def slow(completions, **kwargs):
    time.sleep(0.1)
    return [float(len(text)) for text in completions]
"""
RECIPE = """
[[rewards]]
reward = "slow_reward:slow"
"""


@pytest.fixture
def slow(tmp_path):
    """A command that takes some seconds, and what to start it with."""
    (tmp_path / "slow_reward.py").write_text(SLOW)
    (tmp_path / "slow.toml").write_text(RECIPE)
    lines = [json.dumps({"prompt": "p" * 300, "completion": "x" * (n % 50)}) for n in range(5000)]
    lines[1700] = "{"
    (tmp_path / "a.jsonl").write_text("\n".join(lines))

    def command(out):
        files = [str(tmp_path / "a.jsonl"), "--recipe", str(tmp_path / "slow.toml")]
        return [*RUN, "score", *files, "--out", str(out), "--workers", "2"]

    # A process that is killed while it writes down its coverage spoils the record of all.
    environment = {name: v for name, v in os.environ.items() if "COVERAGE" not in name}
    environment["PYTHONPATH"] = str(tmp_path)
    return command, environment


def started(slow, out):
    command, environment = slow
    return subprocess.Popen(
        command(out), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for_parts(out, many):
    end = time.monotonic() + 60
    while len(list(out.glob("part-*.parquet"))) < many:
        assert time.monotonic() < end
        time.sleep(0.005)


def children(process):
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for file in tasks for child in file.read_text().split()]


def is_alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.long
@pytest.mark.parametrize("kills", [1, 3])
def test_killed_at_any_moment_it_ends_with_the_same_bytes(tmp_path, slow, kills):
    whole = started(slow, tmp_path / "whole")
    out, _ = whole.communicate()
    assert whole.returncode == 3  # one row was rejected
    assert "4,999 rows in 17 parts; 1 row rejected" in out
    dice = random.Random(time.time_ns())
    for part in sorted(dice.sample(range(1, 11), kills)):
        process = started(slow, tmp_path / "killed")
        wait_for_parts(tmp_path / "killed", part)
        time.sleep(dice.random() * 0.1)
        workers = children(process.pid)
        process.kill()
        process.communicate()
        end = time.monotonic() + 60
        while any(map(is_alive, workers)) and time.monotonic() < end:
            time.sleep(0.01)
        assert not any(map(is_alive, workers))
        assert not json.loads((tmp_path / "killed" / "_run.json").read_text())["finished"]
    last = started(slow, tmp_path / "killed")
    last.communicate()
    assert last.returncode == 3
    assert content(tmp_path / "killed") == content(tmp_path / "whole")
    assert rejected(tmp_path / "killed")[0]["line"] == 1701


def test_an_interrupt_says_how_to_go_on(tmp_path, slow):
    process = started(slow, tmp_path / "out")
    wait_for_parts(tmp_path / "out", 2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == (
        "plaudit: interrupted. What was written is kept: run the same command again to resume."
    )
    assert "Traceback" not in err
    assert not (tmp_path / "out" / "_rejected.jsonl").exists()


def test_two_runs_cannot_write_to_one_folder(tmp_path, slow, rows, recipe):
    process = started(slow, tmp_path / "out")
    wait_for_parts(tmp_path / "out", 1)
    with pytest.raises(InputError, match="another run is writing to"):
        score_table([jsonl(tmp_path / "b.jsonl", rows)], recipe, tmp_path / "out")
    process.kill()
    process.communicate()


@pytest.mark.usefixtures("in_process")
def test_a_finished_run_is_not_run_again(tmp_path, rows, recipe, monkeypatch):
    file = jsonl(tmp_path / "a.jsonl", rows)
    first = score_table([file], recipe, tmp_path / "out")
    before = content(tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    again = score_table([Path("a.jsonl")], recipe, tmp_path / "out", workers=1)
    assert (again.rows, again.values) == (first.rows, first.values)
    assert content(tmp_path / "out") == before


@pytest.mark.usefixtures("in_process")
def test_another_run_in_the_folder_is_an_error_unless_it_may_be_overwritten(tmp_path, rows, recipe):
    file = jsonl(tmp_path / "a.jsonl", rows * 40)
    other = Recipe("other", (Component("format", "trl.think_format_reward"),))
    out = tmp_path / "out"
    score_table([file], recipe, out)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="another run: it has another recipe, other components"):
        score_table([file], other, out)
    with pytest.raises(InputError, match="it has another limit"):
        score_table([file], recipe, out, limit=3)
    assert not (out / ".progress").exists()
    jsonl(tmp_path / "a.jsonl", rows)
    with pytest.raises(InputError, match=r"it has other inputs.*--overwrite"):
        score_table([file], recipe, out)
    summary = score_table([file], other, out, overwrite=True)
    assert summary.rows == 12
    assert scored(out).num_rows == 12
    assert sorted(path.name for path in out.iterdir()) == [
        "_rejected.jsonl",
        "_run.json",
        "notes.txt",
        "part-00000.parquet",
    ]


@pytest.mark.usefixtures("in_process")
def test_a_run_that_wrote_no_part_is_in_nobodys_way(tmp_path, rows, recipe):
    file = jsonl(tmp_path / "a.jsonl", [{**row, "solution": {"n": 1}} for row in rows])
    with pytest.raises(StoppedError, match="every row fails with the same error"):
        score_table([file], recipe, tmp_path / "out")
    other = Recipe("other", (Component("format", "trl.think_format_reward"),))
    assert score_table([file], other, tmp_path / "out").rows == 12


@pytest.mark.usefixtures("in_process")
def test_parts_of_nobody_and_a_broken_manifest(tmp_path, rows, recipe):
    file = jsonl(tmp_path / "a.jsonl", rows)
    out = tmp_path / "out"
    score_table([file], recipe, out)
    (out / "_run.json").write_text("{")
    with pytest.raises(InputError, match="it has another version of plaudit, another recipe"):
        score_table([file], recipe, out)
    (out / "_run.json").unlink()
    with pytest.raises(InputError, match=r"files but no _run.json"):
        score_table([file], recipe, out)
    assert score_table([file], recipe, out, overwrite=True).rows == 12


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("run", ['{"plaudit": "0", "recorded": true}', None])
def test_parts_of_another_kind_are_not_mixed_with_those_of_a_run(tmp_path, rows, recipe, run):
    out = tmp_path / "out"
    out.mkdir()
    (out / "part-00000012-00000-00000-000001.parquet").touch()
    if run is not None:
        (out / "_run.json").write_text(run)
    before = content(out)
    with pytest.raises(InputError, match="has parts of something else, such as part-00000012-"):
        score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, out)
    assert content(out) == before


@pytest.mark.usefixtures("in_process", "many_parts")
def test_a_part_that_is_gone_is_made_again(tmp_path, rows, recipe):
    file = jsonl(tmp_path / "a.jsonl", rows * 60)
    score_table([file], recipe, tmp_path / "out")
    before = content(tmp_path / "out")
    (tmp_path / "out" / "part-00001.parquet").unlink()
    with pytest.raises(InputError, match=r"part-00001.parquet is missing.*--overwrite"):
        score_table([file], recipe, tmp_path / "out")
    score_table([file], recipe, tmp_path / "out", overwrite=True)
    assert content(tmp_path / "out") == before


def full_disk(monkeypatch, after):
    """A disk that takes this many files."""
    fsync = os.fsync
    left = iter(range(after))

    def failing(descriptor):
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", failing)


@pytest.mark.usefixtures("in_process", "many_parts")
@pytest.mark.parametrize("after", [1, 2, 3, 6, 7, 8])
def test_a_full_disk_is_said_and_loses_nothing(tmp_path, rows, recipe, monkeypatch, after):
    file = jsonl(tmp_path / "a.jsonl", [*rows * 60, {"completion": 4}])
    score_table([file], recipe, tmp_path / "whole")
    with monkeypatch.context() as patch:
        full_disk(patch, after)
        with pytest.raises(StoppedError, match=r"cannot write .*: No space left on device. What"):
            score_table([file], recipe, tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.half"))
    assert score_table([file], recipe, tmp_path / "out").rejected == 1
    assert content(tmp_path / "out") == content(tmp_path / "whole")


@pytest.mark.usefixtures("in_process", "many_parts")
def test_the_rate_of_a_resumed_run_is_that_of_the_rows_it_scored(tmp_path, rows, recipe):
    file = jsonl(tmp_path / "a.jsonl", rows * 60)
    assert score_table([file], recipe, tmp_path / "out").rows_before == 0
    with pytest.MonkeyPatch.context() as patch:
        full_disk(patch, 4)  # _run.json, the first part with its counts, counts of the second
        with pytest.raises(StoppedError, match="No space left on device"):
            score_table([file], recipe, tmp_path / "out", overwrite=True)
    summary = score_table([file], recipe, tmp_path / "out")
    assert summary.rows == 720
    assert 0 < summary.rows_before < 100


def test_a_folder_that_cannot_be_written_to(tmp_path, rows, recipe, monkeypatch):
    file = jsonl(tmp_path / "a.jsonl", rows)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"cannot write to .*file: (File exists|Not a directory)"):
        score_table([file], recipe, tmp_path / "file")
    full_disk(monkeypatch, 0)
    with pytest.raises(InputError, match=r"cannot write to .*out: No space left on device"):
        score_table([file], recipe, tmp_path / "out")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path, rows, recipe):
    (tmp_path / "shut").mkdir(mode=0o500)
    with pytest.raises(InputError, match=r"cannot write to .*: Permission denied"):
        score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "shut" / "out")
