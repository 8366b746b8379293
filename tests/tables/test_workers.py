"""Worker processes that die, and what is done about it."""

import json
import os
import subprocess
import sys
from importlib import import_module
from types import SimpleNamespace

import pytest

import plaudit
from installed import pretend_installed
from plaudit.recipes import Component, Recipe
from plaudit.tables import InputError, StoppedError, score_table
from plaudit.tables import engines as worker
from plaudit.tables.readers import Block, Chunk
from tables import content, jsonl, rejected

REWARDS = """
import os, signal, threading
from pathlib import Path

def dies_once(completions, folder, **kwargs):
    dead = Path(folder) / "dead"
    if "deadly" in completions and not dead.exists():
        dead.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return [1.0] * len(completions)

def dies(completions, **kwargs):
    os._exit(7)

def is_killed(completions, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

def terminates(completions, **kwargs):
    os.kill(os.getpid(), signal.SIGTERM)

def breaks(completions, **kwargs):
    raise RuntimeError("no such model")

def gives_a_lock(chunk, plan):
    return {"lock": threading.Lock()}

def prints(completions, **kwargs):
    print("loud")
    return [1.0] * len(completions)
"""


@pytest.fixture
def reward(tmp_path, monkeypatch):
    """A recipe of one of the rewards above."""
    (tmp_path / "odd_rewards.py").write_text(REWARDS)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("odd_rewards", None)

    def of(name, **params):
        return Recipe(name, (Component(name, f"odd_rewards:{name}", params=params),))

    return of


def table(tmp_path, rows=1500):
    texts = ["deadly" if number == 700 else "text" for number in range(rows)]
    return jsonl(tmp_path / "a.jsonl", [{"completion": text} for text in texts])


def test_a_worker_that_dies_is_replaced_and_its_chunk_scored_again(tmp_path, reward):
    dies_once = reward("dies_once", folder=str(tmp_path))
    summary = score_table([table(tmp_path)], dies_once, tmp_path / "out")
    assert (tmp_path / "dead").exists()
    assert (summary.rows, summary.rejected) == (1500, 0)
    score_table([table(tmp_path)], dies_once, tmp_path / "again")
    assert content(tmp_path / "out") == content(tmp_path / "again")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "dies",
            "with exit code 7: something such as os._exit in a reward ended the process",
        ),
        ("is_killed", "by signal 9: if the machine ran out of memory, try fewer --workers"),
        ("terminates", "by signal 15"),
    ],
)
def test_after_three_deaths_the_run_stops(tmp_path, reward, name, said):
    table = jsonl(tmp_path / "b.jsonl", [{"completion": "b"}] * 2)
    with pytest.raises(StoppedError) as raised:
        score_table([table], reward(name), tmp_path / "out")
    assert str(raised.value) == (
        f"3 workers died while scoring bytes 0 to 40 of {table}, the last {said}. "
        "What was written is kept: run the same command again to resume."
    )


def test_what_is_no_fault_of_a_row_stops_the_run(tmp_path, reward):
    with pytest.raises(
        StoppedError,
        match=r"bytes 0 to 34,502 of .*a.jsonl cannot be scored: "
        "RuntimeError: no such model",
    ):
        score_table([table(tmp_path)], reward("breaks"), tmp_path / "out", workers=1)


@pytest.mark.usefixtures("reward")
def test_a_result_that_cannot_be_sent_is_told_as_such():
    work = import_module("odd_rewards").gives_a_lock
    chunk = Chunk(0, Block(0, [7], [b"{}"], 2))
    plan = SimpleNamespace(files=("a.jsonl",), limits={})
    with pytest.raises(StoppedError) as raised:
        list(worker.process_locally(iter([chunk]), plan, work, 1))
    assert str(raised.value).startswith(
        "line 7 of a.jsonl cannot be scored: dict cannot be sent to the process that started this "
        "one: TypeError: cannot pickle '_thread.lock' object\n"
    )


def test_what_a_reward_prints_is_no_output(tmp_path, reward, capfd):
    score_table([table(tmp_path, 3)], reward("prints"), tmp_path / "out")
    out, err = capfd.readouterr()
    assert (out, err) == ("", "loud\n")
    assert rejected(tmp_path / "out") == []


def test_a_script_without_a_guard_can_score(tmp_path, rows, recipe_file):
    """Workers are no copies of the caller, which would score again in each of them."""
    script = tmp_path / "script.py"
    script.write_text(
        "from pathlib import Path\n"
        "from plaudit.recipes import load\n"
        "from plaudit.tables import score_table\n"
        f"folder = Path({str(tmp_path)!r})\n"
        f"recipe = load({str(recipe_file)!r})\n"
        "print(score_table([folder / 'a.jsonl'], recipe, folder / 'out').rows)\n"
    )
    jsonl(tmp_path / "a.jsonl", rows)
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("12\n", "")


def test_workers_have_the_limits_that_are_set_here(tmp_path, recipe):
    file = jsonl(tmp_path / "a.jsonl", [{"completion": r"\boxed{4}", "solution": "4"}])
    score_table([file], recipe, tmp_path / "out")
    limits = json.loads((tmp_path / "out" / "_run.json").read_text())["limits"]
    assert limits == {"deadline": 5.0, "memory": 1024}
    plaudit.configure(deadline=2.5)
    try:
        with pytest.raises(InputError, match="another run: it has other limits"):
            score_table([file], recipe, tmp_path / "out")
        worker.set_up_worker({"deadline": 3.5, "memory": 512})
        assert plaudit.judge.shared_judge().settings.memory == 512
        assert plaudit.judge.shared_judge().settings.workers == 1
    finally:
        plaudit.configure(deadline=5.0, memory=1024, workers=2)


@pytest.mark.long
def test_a_math_verify_that_nobody_tested_is_told_of_once(tmp_path):
    """By the process that starts the workers, and by none of them."""
    path = [str(pretend_installed(tmp_path, "math-verify", "99.1")), *sys.path]
    table = tmp_path / "rollouts.jsonl"
    row = {"completion": r"So \boxed{\frac{2}{4}}.", "solution": "1/2"}
    table.write_text((json.dumps(row) + "\n") * 2_000)
    options = ["--recipe", "trl-math", "--out", str(tmp_path / "scored"), "--workers", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "plaudit", "score", str(table), *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stderr.count("was not tested with plaudit") == 1
    assert json.loads((tmp_path / "scored" / "_run.json").read_text())["math_verify"] == "99.1"
