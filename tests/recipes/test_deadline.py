"""A user's reward that hangs, dies or takes all memory: the step goes on."""

import asyncio
import os
import threading
import time
from pathlib import Path

import pytest

import hanging_rewards
from plaudit.recipes import Component, Recipe, load

pytestmark = pytest.mark.filterwarnings("ignore:plaudit. .* skips rows")
DEADLINE = 2.0
BATCH = ["a", "bb", "hang", "dddd"]


def recipe(reward, deadline=DEADLINE, **fields):
    component = Component("own", f"hanging_rewards:{reward}", deadline=deadline, **fields)
    return Recipe("test", (component,))


def scored(a_recipe, completions, **columns):
    start = time.monotonic()
    rows = a_recipe(completions, **columns)
    return [(row.total, row.status) for row in rows], time.monotonic() - start


@pytest.mark.parametrize(
    ("reward", "status", "total", "fields"),
    [
        ("sleeps", "timeout", None, {}),
        ("reads_all_first", "timeout", None, {}),
        ("exits", "error", None, {}),
        ("eats", "limit", 0.0, {"memory": 512}),
    ],
)
def test_the_step_goes_on_and_other_rows_keep_their_values(reward, status, total, fields):
    own = recipe(reward, **fields)
    expected = [row.total for row in own(["a", "bb", "cccc"])]
    rows, seconds = scored(own, BATCH)
    assert rows[2] == (total, status)
    assert [row[0] for row in (rows[0], rows[1], rows[3])] == expected
    assert seconds < DEADLINE + 2  # 1 on a machine that is not busy


def test_several_rows_may_hang():
    rows, seconds = scored(recipe("sleeps", 2.0), ["a", "hang 1", "b", "hang 2", "c"])
    assert [status for _, status in rows] == ["scored", "timeout", "scored", "timeout", "scored"]
    assert seconds < 4


def test_columns_go_with_their_rows():
    rows, _ = scored(recipe("spins"), BATCH, solution=["1", "22", "333", "4444"])
    assert [total for total, _ in rows] == [2.0, 3.0, None, 5.0]


def test_a_lock_that_a_thread_of_the_caller_holds_is_free_in_the_process():
    done = hanging_rewards.holding_the_lock()
    try:
        assert scored(recipe("locks"), ["a"])[0] == [(1.0, "scored")]
    finally:
        done.set()


def test_what_a_reward_raises_is_raised_with_its_name():
    with pytest.raises(ValueError, match="there are 2 completions") as caught:
        recipe("raises")(["a", "b"])
    assert caught.value.__notes__ == ["in own (hanging_rewards:raises)"]
    with pytest.raises(ValueError, match="too_few gave 1 values for 2 completions"):
        recipe("too_few")(["a", "b"])


def test_a_coroutine_is_cancelled_on_a_loop_and_in_a_thread():
    rows = asyncio.run(recipe("waits").score_async(BATCH))
    assert [row.total for row in rows] == [1.0, 1.0, None, 1.0]
    assert rows[2].status == "timeout"
    rows, seconds = scored(recipe("waits"), BATCH)
    assert [total for total, _ in rows] == [1.0, 1.0, None, 1.0]
    assert seconds < DEADLINE + 2  # 1 on a machine that is not busy


def test_a_plain_function_is_killed_on_a_loop_and_from_threads():
    own, found = recipe("sleeps"), []
    rows = asyncio.run(own.score_async(BATCH))
    assert [row.status for row in rows] == ["scored", "scored", "timeout", "scored"]
    threads = [
        threading.Thread(target=lambda: found.append(own.score_batch(BATCH).totals))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[1.0, 2.0, None, 4.0]] * 2
    assert own.score_batch(["a"]).totals == [1.0]  # the threads are gone, the process is not


def test_a_function_that_cannot_be_sent_is_watched(capfd):
    slow = threading.Event()

    def closure(completions, **kwargs):
        return [float(bool(text != "slow" or slow.wait(0.4))) for text in completions]

    own = Recipe("test", (Component("own", closure, deadline=0.1),))
    with pytest.warns(
        RuntimeWarning, match=r"own \(.*closure\) has not returned for 0.1"
    ) as caught:
        assert [row.total for row in own(["a", "slow", "b"])] == [1.0, 0.0, 1.0]
    assert "it reads row 1" in str(caught[0].message)
    assert "it reads row 1" in capfd.readouterr().err


def test_the_deadline_is_the_components_the_recipes_or_the_environments(monkeypatch, tmp_path):
    file = tmp_path / "own.toml"
    text = "deadline = 5\nmemory = 100\n[[rewards]]\nreward = 'hanging_rewards:sleeps'\n{}\n"
    file.write_text(text.format("deadline = 0.5"))
    assert (load(file).limits.deadline, load(file).components[0].deadline) == (5, 0.5)
    file.write_text(load(file).to_toml())
    assert (load(file).limits.memory, load(file).components[0].deadline) == (100, 0.5)
    assert load(file)(BATCH)[2].status == "timeout"
    monkeypatch.setenv("PLAUDIT_REWARD_DEADLINE", "0.5")
    assert recipe("sleeps", None)(BATCH)[2].status == "timeout"
    monkeypatch.setenv("PLAUDIT_REWARD_DEADLINE", "soon")
    with pytest.raises(ValueError, match="PLAUDIT_REWARD_DEADLINE must be a number of seconds"):
        recipe("sleeps", None)(BATCH)


@pytest.mark.parametrize("deadline", [0, -1, "soon", True, float("inf")])
def test_a_wrong_deadline_is_refused(deadline):
    with pytest.raises(ValueError, match="deadline must be a number of seconds above 0"):
        recipe("sleeps", deadline)


def test_processes_stay_few():
    own = recipe("sleeps", 0.2)
    own.score_batch(BATCH)
    before = len(children())
    for _ in range(10):
        assert own.score_batch(BATCH).totals[0] == 1.0
    time.sleep(0.2)
    assert len(children()) <= before


def children():
    """The processes that this process started, and that have not ended."""
    tasks = Path("/proc/self/task").iterdir()
    return [int(pid) for task in tasks for pid in (task / "children").read_text().split()]


def test_a_forked_process_has_processes_of_its_own():
    own = recipe("sleeps")
    assert own.score_batch(["a"]).totals == [1.0]
    if not (pid := os.fork()):
        os._exit(own.score_batch(["a"]).totals != [1.0])
    assert os.waitpid(pid, 0)[1] == 0
    assert own.score_batch(["bb"]).totals == [2.0]
