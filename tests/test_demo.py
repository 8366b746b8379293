"""`make demo`: what it scores, and how it looks."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[1] / "examples" / "demo"
ROWS = [json.loads(line) for line in (DEMO / "rollouts.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def printed() -> str:
    demo = [sys.executable, str(DEMO / "run.py")]
    environment = {**os.environ, "COLUMNS": "100", "PYTHONUTF8": "1"}
    ended = subprocess.run(demo, capture_output=True, encoding="utf-8", env=environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_the_rollouts_cover_what_they_should():
    groups = Counter((row["prompt"], row["reward"]) for row in ROWS)
    assert len({prompt for prompt, _ in groups}) >= 8
    assert set(groups.values()) == {4}
    assert {row["reward"].split(".")[0] for row in ROWS} == {"canoe", "vlm_r1", "trl"}


def test_every_completion_has_a_row_with_a_value_and_a_reason(printed):
    rows = [line for line in printed.splitlines() if re.match(r" +(-?\d\.\d\d|skip)  ", line)]
    assert len(rows) == len(ROWS)
    assert all(len(line) > 43 for line in rows)
    assert f"{len(ROWS)} completions" in printed.splitlines()[-1]


def test_it_fits_into_a_hundred_columns(printed):
    assert max(map(len, printed.splitlines())) <= 100


def test_a_tower_of_powers_is_a_limit_and_no_hang(printed):
    (row,) = [line for line in printed.splitlines() if "9^{9^{9" in line]
    assert row.startswith("  0.00")


def test_a_file_of_ones_own(tmp_path):
    file = tmp_path / "mine.jsonl"
    file.write_text('{"prompt": "Hm?", "reward": "trl.think_format_reward", "completion": "a"}\n')
    ended = subprocess.run([sys.executable, DEMO / "run.py", file], capture_output=True, text=True)
    assert "1 completions of 1 prompts" in ended.stdout
