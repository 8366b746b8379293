"""A real Ray of two nodes on this machine. `make test-ray` runs this; `make test` does not.

What is written is compared with what the local engine writes.
"""

import json
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import ray
from ray.cluster_utils import Cluster

import plaudit
from plaudit.cli import main
from plaudit.recipes import Component, Recipe
from plaudit.tables import InputError, StoppedError, engines, readers, score_table

REWARDS = """
import time
from pathlib import Path

def slow(completions, seen, **kwargs):
    time.sleep(0.2)
    (Path(seen) / str(time.time_ns())).touch()
    return [float(len(text)) for text in completions]

def dies(completions, **kwargs):
    import os
    os._exit(7)

def breaks(completions, **kwargs):
    raise RuntimeError("no such model")
"""


@pytest.fixture
def cluster():
    """Two nodes of one core each; the second can be taken away."""
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture
def rewards(tmp_path, monkeypatch):
    """Rewards of one's own, which the nodes' workers must find, too."""
    (tmp_path / "odd_rewards.py").write_text(REWARDS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    sys.modules.pop("odd_rewards", None)


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Some thousand rows in many parts, one of which is broken."""
    monkeypatch.setattr(readers, "SMALLEST", 1 << 14)
    lines = [
        json.dumps(
            {
                "prompt": f"What is {n // 8}?",
                "completion": rf"<think>{'x' * (n % 40)}</think> \boxed{{{n % 5}}}",
                "solution": str(n % 3),
            }
        )
        for n in range(6000)
    ]
    lines[4321] = "{"
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(lines))
    return file


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def sorted_rows(folder: Path) -> pa.Table:
    parts = sorted(folder.glob("part-*.parquet"))
    return pa.concat_tables(map(pq.read_table, parts)).sort_by("row_id")


def has_one_node_left() -> bool:
    """Ray takes some seconds to be sure that a node is gone."""
    end = time.monotonic() + 60
    while sum(node["Alive"] for node in ray.nodes()) > 1 and time.monotonic() < end:
        time.sleep(0.1)
    return sum(node["Alive"] for node in ray.nodes()) == 1


def test_a_node_that_dies_in_the_middle_costs_a_retry_only(tmp_path, rewards, cluster, table):
    seen = tmp_path / "seen"
    seen.mkdir()
    recipe = Recipe(
        "both",
        (
            Component("accuracy", "trl.accuracy_reward"),
            Component("slow", "odd_rewards:slow", params={"seen": str(seen)}),
        ),
    )
    local = score_table([table], recipe, tmp_path / "local")
    calls = len(list(seen.iterdir()))
    node = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    assert ray.cluster_resources()["CPU"] == 2
    killed = []

    class Watching:
        """Where the progress is shown: it takes a node away once three parts are there."""

        def isatty(self):
            return True

        def write(self, _):
            if not killed and len(list((tmp_path / "ray").glob("part-*"))) >= 3:
                killed.append(time.monotonic())
                cluster.remove_node(node, allow_graceful=False)

        def flush(self):
            pass

    on_ray = score_table([table], recipe, tmp_path / "ray", engine="ray", progress=Watching())
    assert killed
    assert has_one_node_left()
    assert len(list(seen.iterdir())) >= 2 * calls
    assert (on_ray.rows, on_ray.rejected) == (local.rows, local.rejected) == (5999, 1)
    assert sorted_rows(tmp_path / "ray").equals(sorted_rows(tmp_path / "local"))
    assert content(tmp_path / "ray") == content(tmp_path / "local")


def test_the_command_finds_a_cluster_or_starts_one(tmp_path, cluster, table, capsys):
    asked = ["score", str(table), "--recipe", "trl-math", "--engine", "ray", "--limit", "600"]
    out = str(tmp_path / "joined")
    assert main([*asked, "--out", out, "--ray-address", cluster.address, "--workers", "1"]) == 0
    assert not ray.is_initialized()
    cluster.shutdown()
    assert main([*asked, "--out", str(tmp_path / "started")]) == 0
    assert "600 rows in 1 part" in capsys.readouterr().out
    assert content(tmp_path / "joined") == content(tmp_path / "started")


def test_a_run_that_began_on_one_machine_goes_on_on_ray(tmp_path, cluster, table):
    recipe = Recipe("format", (Component("format", "trl.think_format_reward"),))
    score_table([table], recipe, tmp_path / "whole")
    out = tmp_path / "out"
    score_table([table], recipe, out)
    run = json.loads((out / "_run.json").read_text())
    results = ("parts", "rows", "rejected", "statuses", "values")
    left = {name: value for name, value in run.items() if name not in results}
    (out / "_run.json").write_text(json.dumps({**left, "finished": False}))
    (out / "part-00003.parquet").unlink()
    ray.init(address=cluster.address, log_to_driver=False)
    score_table([table], recipe, out, engine="ray")
    assert sorted_rows(out).equals(sorted_rows(tmp_path / "whole"))


def test_what_cannot_be_scored_is_said(tmp_path, rewards, cluster, table, monkeypatch):
    monkeypatch.setattr(engines, "RETRIES", 1)
    ray.init(address=cluster.address, log_to_driver=False)
    breaks = Recipe("b", (Component("b", "odd_rewards:breaks"),))
    with pytest.raises(StoppedError, match="cannot be scored: RuntimeError: no such model"):
        score_table([table], breaks, tmp_path / "out", engine="ray")
    dies = Recipe("d", (Component("d", "odd_rewards:dies"),))
    with pytest.raises(
        StoppedError, match=r"Ray could not run a task: .* What was written is kept"
    ):
        score_table([table], dies, tmp_path / "more", engine="ray", limit=10)
    monkeypatch.setattr(plaudit, "__version__", "9.9")
    accuracy = Recipe("a", (Component("a", "trl.accuracy_reward"),))
    with pytest.raises(StoppedError, match=r"the node has plaudit .*, this machine has 9.9"):
        score_table([table], accuracy, tmp_path / "other", engine="ray")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_a_cluster_that_is_not_there(tmp_path, table, address):
    accuracy = Recipe("a", (Component("a", "trl.accuracy_reward"),))
    with pytest.raises(InputError, match=f"cannot reach Ray at {address}: "):
        score_table([table], accuracy, tmp_path / "out", engine="ray", ray_address=address)
