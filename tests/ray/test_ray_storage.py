"""A real Ray of two nodes, and a real server of objects: nodes read and write by themselves."""

import gzip
import json
import os
import pickle
import sys
import time

import pytest
import ray
from ray.cluster_utils import Cluster

from plaudit.recipes import Component, Recipe
from plaudit.tables import engines, readers, score_table
from s3 import BUCKET, s3_server

REWARD = """
import time

def slow(completions, **kwargs):
    time.sleep(0.2)
    return [float(len(text)) for text in completions]
"""


@pytest.fixture
def store(tmp_path, monkeypatch):
    (tmp_path / "slow_reward.py").write_text(REWARD)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("slow_reward", None)
    with s3_server() as server:
        monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)  # of the nodes
        yield server


@pytest.fixture
def cluster(store):
    """Two nodes of one core each, which start with the environment of the store."""
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield nodes
    ray.shutdown()
    nodes.shutdown()


def rows(count: int) -> list[str]:
    return [
        json.dumps(
            {
                "prompt": f"What is {n // 8}?",
                "completion": rf"<think>{'x' * (n % 40)}</think> \boxed{{{n % 5}}}",
                "solution": str(n % 3),
            }
        )
        for n in range(count)
    ]


def without_names(folder: dict[str, bytes]) -> dict[str, object]:
    """What a run wrote, without the names of the inputs and how they are recognised."""
    run = json.loads(folder.pop("_run.json"))
    run.pop("inputs")
    lines = folder.pop("_rejected.jsonl").splitlines()
    return {**folder, "run": run, "rejected": [{**json.loads(one), "file": ""} for one in lines]}


def test_a_node_dies_and_nothing_but_counts_comes_here(tmp_path, store, cluster, monkeypatch):
    monkeypatch.setattr(readers, "SMALLEST", 20_000)
    lines = rows(6000)
    lines[4321] = "{"
    tables = {
        "a.jsonl": "\n".join(lines).encode(),
        "b.jsonl.gz": gzip.compress("\n".join(rows(900)).encode(), mtime=0),
    }
    (tmp_path / "tables").mkdir()
    for name, data in tables.items():
        (tmp_path / "tables" / name).write_bytes(data)
        store.put(f"tables/{name}", data)
    accuracy = Component("accuracy", "trl.accuracy_reward")
    recipe = Recipe("both", (accuracy, Component("slow", "slow_reward:slow")))
    local = score_table(tmp_path / "tables", recipe, tmp_path / "local")
    node = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    assert ray.cluster_resources()["CPU"] == 2
    killed, sizes = [], []
    result = engines._result

    def weighed(*given):
        came = result(*given)
        sizes.append((len(pickle.dumps(came)), came))
        if not killed and len(store.content("scored")) > 12:
            killed.append(time.monotonic())
            cluster.remove_node(node, allow_graceful=False)
        return came

    monkeypatch.setattr(engines, "_result", weighed)
    out = f"s3://{BUCKET}/scored"
    on_ray = score_table(f"s3://{BUCKET}/tables", recipe, out, engine="ray")
    assert killed
    assert (on_ray.rows, on_ray.rejected) == (local.rows, local.rejected) == (6899, 1)
    here = {path.name: path.read_bytes() for path in (tmp_path / "local").iterdir()}
    assert without_names(store.content("scored")) == without_names(here)
    # But for the first parts, which are held back until one shows that the rewards work.
    scored = [size for size, came in sizes if came.number > 3]
    assert len(scored) > 5 and max(scored) < 4000
