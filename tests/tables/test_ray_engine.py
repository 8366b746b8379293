"""The Ray engine on a Ray that runs everything here; tests/ray has a real one."""

import sys
from types import SimpleNamespace

import pytest

import plaudit
from plaudit.recipes import Component, Recipe
from plaudit.tables import InputError, StoppedError, score_table
from tables import content, jsonl


class FakeRay(SimpleNamespace):
    """What the engine uses of Ray. Tasks run when they are asked for."""

    class RayError(Exception):
        pass

    def __init__(self):
        super().__init__(exceptions=SimpleNamespace(RayError=self.RayError), log=[], failing=None)

    def is_initialized(self):
        return False

    def init(self, address, **settings):
        if address == "auto":
            raise ConnectionError("no cluster is running")
        self.log.append(("init", address, settings))

    def shutdown(self):
        self.log.append("shutdown")

    def cancel(self, reference, force):
        self.log.append("cancel")

    def put(self, value):
        return value

    def remote(self, **settings):
        assert settings["max_retries"] > 0
        return lambda function: SimpleNamespace(remote=lambda *given: (function, given))

    def cluster_resources(self):
        return {"CPU": 2.0}

    def wait(self, pending, num_returns, timeout=None):
        if timeout is not None:
            return [], pending
        return pending[-num_returns:], pending[:-num_returns]  # the last comes first

    def get(self, reference):
        if self.failing:
            raise self.RayError(self.failing)
        function, given = reference
        return function(*given)


@pytest.fixture
def ray(monkeypatch):
    fake = FakeRay()
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setitem(sys.modules, "ray", fake)
    yield fake
    plaudit.configure(workers=2)  # a task sets it to 1, in a process of its own


def test_it_writes_the_same_bytes_as_the_local_engine(tmp_path, rows, recipe, ray):
    file = jsonl(tmp_path / "a.jsonl", [*rows * 200, {"completion": 4}])
    score_table([file], recipe, tmp_path / "local")
    score_table([file], recipe, tmp_path / "ray", engine="ray")
    assert content(tmp_path / "ray") == content(tmp_path / "local")
    assert ray.log == [
        ("init", "local", {"log_to_driver": False, "include_dashboard": False}),
        "shutdown",
    ]


def test_what_goes_wrong_is_said(tmp_path, rows, recipe, ray, monkeypatch):
    file = jsonl(tmp_path / "a.jsonl", rows)

    def scored(**settings):
        score_table([file], recipe, tmp_path / "out", engine="ray", **settings)

    with pytest.raises(InputError, match="cannot reach Ray at auto: no cluster is running"):
        scored(ray_address="auto")
    with pytest.raises(InputError, match=r"cannot reach Ray at 127.0.0.1:1: .*refused"):
        scored(ray_address="127.0.0.1:1")
    assert "cancel" not in ray.log
    ray.failing = "Many words.\nThe node died."
    with pytest.raises(StoppedError, match=r"Ray could not run a task: The node died.. What was"):
        scored()
    ray.failing = None
    other = "the node has plaudit 8, this machine has 9"
    monkeypatch.setattr("plaudit.tables.engines.score_in_task", lambda *_: other)
    with pytest.raises(StoppedError, match=f"a chunk cannot be scored: {other}"):
        scored()


def test_tasks_of_a_run_that_was_stopped_are_ended(tmp_path, rows, recipe, ray):
    file = jsonl(tmp_path / "a.jsonl", rows * 200)
    ray.failing = "The node died."
    with pytest.raises(StoppedError):
        score_table([file], recipe, tmp_path / "out", engine="ray")
    assert ray.log.count("cancel") == 3


def test_a_node_with_another_version_refuses():
    from plaudit.tables.engines import score_in_task

    said = score_in_task(None, None, "0.0.1", sys.path)
    assert said == f"the node has plaudit {plaudit.__version__}, this machine has 0.0.1"


def test_a_reward_that_a_worker_cannot_import_is_no_fault_of_the_rows(tmp_path, rows, monkeypatch):
    (tmp_path / "here_only.py").write_text(
        "def one(completions, **k): return [1.0]*len(completions)"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    recipe = Recipe("one", (Component("one", "here_only:one"),))
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p != str(tmp_path)])
    with pytest.raises(StoppedError, match="there is no module here_only"):
        score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
