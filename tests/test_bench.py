"""Each benchmark runs, on a small size, and prints its table. Nothing here looks at a time."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

BENCH = Path(__file__).parents[1] / "bench"
SMALL = {
    "step": "--prompts 4 --seeds 1 --repeat 1",
    "caller": "--prompts 8 --repeat 1",
    "poison": "--prompts 4 --deadline 0.5 --patience 0.1 --poisons factorial",
    "long_text": "--sizes 1000 --limit 1",
    "workers": "--rows 8 --repeat 1",
    "start": "--repeat 1",
    "detection": "--boxes 1 20 --repeat 1",
    "repetition": "--tokens 600 --repeat 1",
    "tool_calls": "--rows 40 --repeat 1",
    "agreement": "--rows 64 --processes 1",
    "drawn_pairs": "--pairs 40 --processes 1",
    "kills": "--rows 400 --kills 1 --every 0.01",
    "soak": "--minutes 0.1",
    "score_table": "--rows 300 600 --workers 1",
    "score_dataframe": "--rows 2000 --repeat 1 --most 1000",
    "serve_load": "--seconds 1 --clients 4 --pool 64 --deadline 2 --poison 0",
    "serve_throughput": "--rows 16 --batches 2 --least 0",
    "recording": "--processes 2 --rows 8 --steps 2 --pause 0.01 --most 99",
}


def run(name, arguments):
    command = [sys.executable, str(BENCH / f"{name}.py"), *arguments]
    # What a benchmark runs is tested elsewhere: here, it need not be traced for coverage.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    environment = {**kept, "BENCH_PREPARING": "0"}
    return subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)


@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_prints_its_table(name):
    ended = run(name, SMALL[name].split())
    assert ended.returncode == 0, ended.stderr
    assert re.search(r"^### .+\n\n(?:.+\n\n)?\|.+\|\n\| ---", ended.stdout, re.MULTILINE)


def test_rows_from_a_file(tmp_path):
    data = tmp_path / "rows.jsonl"
    data.write_text('{"completion": "So $\\\\boxed{\\\\frac{2}{4}}$.", "gold": "1/2"}\n')
    ended = run("agreement", ["--rows", "8", "--processes", "1", "--data", str(data)])
    assert "| compared | 9 |" in ended.stdout


def test_engines_are_compared_without_those_that_are_not_installed():
    ended = run("engines", ["--probe", "cost", "--engines", "plaudit"])
    assert len(re.findall(r"\d+\.\d+", ended.stdout)) == 3, ended.stderr


@pytest.fixture
def all_benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    specification = importlib.util.spec_from_file_location("bench_all", BENCH / "all.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_all_of_them_are_listed(all_benchmarks):
    listed = {name for names in all_benchmarks.GROUPS.values() for name in names}
    assert listed == {*SMALL, "engines"}
    assert all((BENCH / f"{name}.py").exists() for name in listed)
    assert {*all_benchmarks.GROUPS} == {*all_benchmarks.TITLES}
    files = {file.stem for file in all_benchmarks.RESULTS.glob("*.md")}
    assert files >= {*all_benchmarks.GROUPS}
