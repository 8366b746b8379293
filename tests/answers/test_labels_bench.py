"""The benchmark that counts false verdicts runs, on a few rows, and lists what is wrong."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench" / "labels.py"
ROWS = [
    {"completion": r"So \boxed{k<-5}", "gold": r"(-\infty,-5)", "label": True, "set": "a"},
    {"completion": r"So \boxed{5}", "gold": "4", "label": True, "set": "a"},
    {"completion": r"So \boxed{6}", "gold": "4", "label": True, "set": "b"},
]
QUESTIONS = [{"completion": "It is Rome.", "gold": ["Rome"], "label": True, "set": "q"}]


def written(file: Path, rows: list[dict]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_wrong_verdicts_are_counted_and_listed(tmp_path: Path) -> None:
    written(tmp_path / "math.jsonl", ROWS)
    written(tmp_path / "qa.jsonl", QUESTIONS)
    row = sha256(json.dumps(["b", "4", r"So \boxed{6}"]).encode()).hexdigest()[:16]
    disputed = written(tmp_path / "disputed.jsonl", [{"row": row, "why": "6 is not 4"}])
    none = tmp_path / "no-pairs.jsonl"
    command = [sys.executable, str(BENCH), "--data", str(tmp_path), "--pairs", str(none)]
    command += ["--disputed", str(disputed), "--show"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert ended.returncode == 0, ended.stderr
    assert "3 rows, 1 of them with a label that is disputed." in ended.stdout
    assert "| `answers` | 1 of 2 | 0 of 0 |" in ended.stdout
    assert "| `mention_reward` | 0 of 1 |" in ended.stdout
    assert "false negative (the label is disputed: 6 is not 4)" in ended.stdout
    assert "5 is not equal to the gold 4: decided by exact values." in ended.stdout
