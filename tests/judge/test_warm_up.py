"""Workers that are there before the first call."""

import os
import subprocess
import sys

import pytest
from running_processes import until

import plaudit
from plaudit.judge import Judge, Pair, Settings

SYMBOLIC = Pair(r"$\sin^2 x + \cos^2 x$", "1")


def ready(judge):
    return [w for w in judge._pool._dispatcher._workers.values() if w.ready and not w.tasks]


def test_workers_start_without_a_call_and_stay():
    judge = Judge(Settings(workers=2))
    judge.warm_up()
    until(lambda: len(ready(judge)) == 2)
    workers = {worker.process for worker in ready(judge)}
    assert judge.judge([SYMBOLIC])[0].status == "equal"
    assert {worker.process for worker in ready(judge)} == workers
    assert judge.cache.entries == 2  # the call's, by its text and by its answer
    judge.close()


def test_where_workers_do_not_start_the_first_call_says_so(monkeypatch):
    def refuse(*_, **__):
        raise OSError("no processes left")

    judge = Judge(Settings(workers=1))
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", refuse)
        judge.warm_up()
        until(lambda: judge.trouble)
        with pytest.raises(RuntimeError, match="no processes left"):
            judge.judge([SYMBOLIC])
    assert judge.judge([SYMBOLIC])[0].status == "equal"
    judge.close()


def test_where_there_is_no_thread_nothing_is_raised(monkeypatch):
    judge = Judge(Settings(workers=1))
    with monkeypatch.context() as patched:
        patched.setattr("threading.Thread.start", lambda _: (_ for _ in ()).throw(RuntimeError()))
        judge.warm_up()
        assert "do not start" in judge.trouble
    assert judge.check() is None
    judge.close()


def test_it_is_public():
    plaudit.warm_up()


STARTED = """
import {module}
{more}
import plaudit.judge as judge
print(judge._shared is not None and judge._shared._pool is not None)
"""


def started(module, more="", **environment):
    plain = {name: value for name, value in os.environ.items() if "COV" not in name}
    done = subprocess.run(
        [sys.executable, "-c", STARTED.format(module=module, more=more)],
        env={**plain, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout.strip() == "True"


@pytest.mark.parametrize("name", ["easyr1", "openrlhf", "slime", "trl", "verifiers", "verl"])
def test_an_adapter_that_is_loaded_where_it_is_called_starts_them(name):
    assert started(f"plaudit.trainers.{name}", PLAUDIT_RECIPE="trl-math")


CONSTRUCTED = {
    "ms_swift": "plaudit.trainers.ms_swift.chosen('trl-math')",
    "nemo_rl": "plaudit.trainers.nemo_rl.Environment({'recipe': 'trl-math'})",
    "verifiers": "plaudit.trainers.verifiers.reward_funcs('trl-math')",
    "skyrl": "plaudit.trainers.skyrl.chosen(plaudit.trainers.skyrl.chosen('trl-math'))",
}


@pytest.mark.parametrize("name", CONSTRUCTED)
def test_an_adapter_that_is_made_for_a_recipe_starts_them(name):
    module = f"plaudit.trainers.{name}"
    assert not started(module)
    assert started(module, CONSTRUCTED[name])


@pytest.mark.parametrize("module", ["plaudit", "plaudit.rewards.trl", "plaudit.trainers.areal"])
def test_nothing_else_starts_them(module):
    """AReaL imports a reward in a process that forks others to call it in."""
    assert not started(module, PLAUDIT_RECIPE="trl-math")


def test_loading_an_adapter_never_fails():
    call = """
try:
    plaudit.trainers.verl.compute_score("", "4", "4")
except ValueError as error:
    assert "PLAUDIT_DEADLINE must be a number, got 'soon'" in str(error)
else:
    raise AssertionError
"""
    environment = {"PLAUDIT_RECIPE": "trl-math", "PLAUDIT_DEADLINE": "soon"}
    assert not started("plaudit.trainers.verl", call, **environment)
