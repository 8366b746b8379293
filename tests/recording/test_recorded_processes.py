"""Several processes record one run; one is killed, one starts anew: no row is lost or doubled."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from plaudit.runs import open_recorded
from plaudit.tables import open_scored

HERE = Path(__file__).parent


def start(folder, process, first, steps, rows, pause=0.0, ranked=True):
    """A process that records, and prints each step that it has finished."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    environment.pop("RANK", None)
    if ranked:
        environment["RANK"] = str(process)
    arguments = [str(value) for value in (folder, process, first, steps, rows, pause)]
    return subprocess.Popen(
        [sys.executable, HERE / "recorded_runs.py", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def finished(child):
    """The steps that a process has finished, once it has ended."""
    said = child.stdout.read()  # `communicate` would leave out what is in the buffer
    child.wait(timeout=600)
    child.stdout.close()
    return [int(line) for line in said.split()]


def wait_for_writers(folder, seconds=60):
    """The processes that write outlive one that was killed for a moment."""
    end = time.monotonic() + seconds
    while next(folder.glob(".record/spool/*/part-*"), None):
        assert time.monotonic() < end, "what was recorded is not written"
        time.sleep(0.02)


def recorded(folder):
    """How often each completion was recorded; every part can be read."""
    counts = Counter()
    for part in folder.glob("part-*.parquet"):
        counts.update(pq.read_table(part, columns=["completion"])["completion"].to_pylist())
    return counts


def expected(process, steps, rows):
    return {
        f"process {process} step {step} row {row} says {row % 2}"
        for step in steps
        for row in range(rows)
    }


@pytest.mark.parametrize(
    ("steps", "rows"),
    [pytest.param(25, 48, id="few"), pytest.param(1000, 512, id="many", marks=pytest.mark.long)],
)
def test_no_row_is_lost_or_doubled_when_one_of_four_processes_is_killed(tmp_path, steps, rows):
    children = [start(tmp_path, process, 0, steps, rows, pause=0.01) for process in range(4)]
    victim = children[2]
    wanted = random.Random(steps).randrange(5, steps // 2)
    # All four record before one is killed: one that begins after the others have ended would be a
    # resumed run, which replaces what they recorded.
    first = [[int(child.stdout.readline())] for child in children]
    first[2] += [int(victim.stdout.readline()) for _ in range(wanted - 1)]
    victim.kill()
    done = [own + finished(child) for own, child in zip(first, children, strict=True)]
    assert victim.returncode == -signal.SIGKILL
    assert [len(own) for own in done] == [steps, steps, len(done[2]), steps]
    wait_for_writers(tmp_path)
    counts = recorded(tmp_path)
    assert set(counts.values()) == {1}, "a row was recorded twice"
    for process, known in enumerate(done):
        assert expected(process, known, rows) <= set(counts), "a row was lost"
    # The victim may have recorded a batch and been killed before it could say so.
    assert len(counts) - rows * sum(map(len, done)) in (0, rows)


@pytest.mark.long
def test_a_resumed_run_records_each_step_once(tmp_path):
    for process, child in enumerate([start(tmp_path, p, 0, 12, 40, pause=0.0) for p in range(2)]):
        assert finished(child) == list(range(12)), process
    children = [start(tmp_path, process, 8, 16, 40) for process in range(2)]
    for child in children:
        finished(child)
    wait_for_writers(tmp_path)
    counts = recorded(tmp_path)
    wanted = set().union(*(expected(process, range(16), 40) for process in range(2)))
    assert counts == Counter(wanted)
    aside = list((tmp_path / ".record" / "superseded").iterdir())
    assert len(aside) == 2 * 4


@pytest.mark.long
def test_a_rank_that_starts_anew_replaces_its_own_rows_alone(tmp_path):
    other = start(tmp_path, 0, 0, 10_000, 40, pause=0.05)
    try:
        assert other.stdout.readline()
        assert finished(start(tmp_path, 1, 0, 6, 40)) == list(range(6))
        assert finished(start(tmp_path, 1, 4, 8, 40)) == list(range(4, 8))
    finally:
        other.kill()
    first = finished(other)
    wait_for_writers(tmp_path)
    counts = recorded(tmp_path)
    assert set(counts.values()) == {1}
    assert {text for text in counts if text.startswith("process 1")} == expected(1, range(8), 40)
    assert expected(0, first, 40) <= set(counts)


def test_a_rank_that_begins_anew_after_another_has_done_so_goes_on_recording(tmp_path):
    code = (
        "import sys, plaudit\n"
        "from types import SimpleNamespace\n"
        "def one(completions, **kwargs): return [1.0] * len(completions)\n"
        "function = plaudit.record(one, sys.argv[1])\n"
        "for line in sys.stdin:\n"
        "    state = SimpleNamespace(global_step=int(line))\n"
        "    function([f'rank {sys.argv[2]} step {int(line)}'], trainer_state=state)\n"
        "    print(flush=True)\n"
    )
    ranks = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", code, tmp_path, str(rank)],
            env={**os.environ, "RANK": str(rank)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    for step in (0, 1, 2, 1, 2):  # the first rank always comes before the second
        for rank in ranks:
            rank.stdin.write(f"{step}\n")
            rank.stdin.flush()
            rank.stdout.readline()
    for rank in ranks:
        rank.communicate(timeout=120)
    wanted = [f"rank {rank} step {step}" for rank in (0, 1) for step in (0, 1, 2)]
    assert recorded(tmp_path) == Counter(wanted)


@pytest.mark.parametrize("reader", ["watch", "report"])
def test_what_is_left_when_a_process_is_killed_with_its_writer_is_read(tmp_path, reader):
    """As Ray does when it shuts down: nobody is left who would finish the record."""
    code = (
        "import sys, plaudit\n"
        "def one(completions, **kwargs): return [1.0] * len(completions)\n"
        "function = plaudit.record(one, sys.argv[1])\n"
        "for step in range(3): function([f'step {step}'] * 4, step=step)\n"
        "print(function.recording.recorder._writer._child.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    os.kill(int(child.stdout.readline()), signal.SIGKILL)
    child.kill()
    child.communicate()
    assert next(tmp_path.glob(".record/spool/*/part-*"), None), "something is left"
    if reader == "watch":
        run = open_recorded(tmp_path)
        run.refresh()
        assert [step.rows for step in run.steps] == [4, 4, 4]
    else:
        counts = [len(rows) for _, rows in open_scored(tmp_path).batches(["step"])]
        assert sum(counts) == 12
    assert recorded(tmp_path) == {f"step {step}": 4 for step in range(3)}
    assert next(tmp_path.glob(".record/spool/*/part-*"), None) is None
