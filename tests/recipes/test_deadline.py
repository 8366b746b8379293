"""A user's reward that hangs, dies or takes all memory: the step goes on."""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from pyarrow import parquet

import hanging_rewards
import plaudit
from plaudit.recipes import Component, Recipe, load
from served import served

pytestmark = pytest.mark.filterwarnings("ignore:plaudit. .* skips rows")
DEADLINE = 2.0
BATCH = ["a", "bb", "hang", "dddd"]


def recipe(reward, deadline=DEADLINE, **fields):
    component = Component("own", f"hanging_rewards:{reward}", deadline=deadline, **fields)
    return Recipe("test", (component,))


def scored(a_recipe, completions, fail_above=0.2, **columns):
    start = time.monotonic()
    score = a_recipe if fail_above else lambda *a, **c: a_recipe.score_batch(*a, **c).rows
    rows = score(completions, **columns)
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


@pytest.mark.parametrize("reward", ["sleeps", "reads_all_first"])
def test_of_many_rows_that_hang_no_other_is_lost(reward):
    texts = [f"hang {row}" if row % 6 == 1 else f"row {row}" for row in range(48)]
    own = recipe(reward, 4.0)
    own.score_batch(["the process starts"])
    rows, seconds = scored(own, texts, fail_above=None)
    assert [status == "timeout" for _, status in rows] == ["hang" in text for text in texts]
    assert seconds < 5


def test_if_most_rows_hang_the_step_still_ends():
    own = recipe("sleeps")
    own.score_batch(["the process starts"])
    rows, seconds = scored(own, ["hang"] * 200 + ["row"], fail_above=None)
    assert {status for _, status in rows[:-1]} == {"timeout"}
    assert seconds < DEADLINE + 1


def test_a_row_that_comes_alone_has_all_the_time():
    own = recipe("sleeps", 1.0)
    own.score_batch(["the process starts"])
    rows, seconds = scored(own, ["hang"])
    assert rows == [(None, "timeout")]
    assert 1 <= seconds < 2


WAYS = {"sleep": "timeout", "lock": "timeout", "exit": "error", "eat": "limit"}
OTHERS = ["a", "bb", "ccc", "dddd"]


def in_a_thread(own, batch):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(own.score_batch, batch).result()


CALLS = {
    "the main thread": lambda own, batch: own.score_batch(batch),
    "a thread": in_a_thread,
    "a loop": lambda own, batch: asyncio.run(own.score_batch_async(batch)),
    "plaudit.score": lambda own, batch: plaudit.score(
        [{"completion": text} for text in batch], own
    ),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("way", WAYS)
def test_whatever_a_reward_does_the_step_goes_on_wherever_it_is_called(way, call):
    own = recipe("fails_somehow", memory=512)
    assert own.score_batch(OTHERS).totals == [1.0, 2.0, 3.0, 4.0]
    before, start = [*children(), "another fork that waits"], time.monotonic()
    batch = CALLS[call](own, [*OTHERS, f"{way} now", "a"])
    assert time.monotonic() - start < DEADLINE + 1
    statuses = batch.statuses if hasattr(batch, "statuses") else [row["status"] for row in batch]
    assert statuses == [*["scored"] * 4, WAYS[way], "scored"]
    time.sleep(0.2)
    assert len(children()) <= len(before)


@pytest.fixture
def file(tmp_path):
    """A recipe in a file, for commands."""
    path = tmp_path / "own.toml"
    shutil.copy(hanging_rewards.__file__, tmp_path)
    reward = "reward = 'hanging_rewards:fails_somehow'"
    path.write_text(f"deadline = {DEADLINE}\nmemory = 512\n[[rewards]]\nname = 'own'\n{reward}\n")
    return str(path)


@pytest.mark.parametrize("way", WAYS)
def test_plaudit_score_goes_on(way, file, tmp_path):
    texts = [*OTHERS, f"{way} now", "a"]
    table = tmp_path / "rows.jsonl"
    table.write_text("".join(json.dumps({"completion": text}) + "\n" for text in texts))
    out, mark = tmp_path / "scored", f"PLAUDIT_MARK={tmp_path}"
    command = [sys.executable, "-m", "plaudit", "score", str(table), "--recipe", file]
    environment = {**os.environ, "PLAUDIT_MARK": str(tmp_path)}
    subprocess.run([*command, "--out", str(out)], env=environment, check=True, capture_output=True)
    rows = [row for part in out.glob("*.parquet") for row in parquet.read_table(part).to_pylist()]
    assert [row["status"] for row in rows] == [*["scored"] * 4, WAYS[way], "scored"]
    assert not marked(mark)


def test_plaudit_serve_goes_on(file, tmp_path):
    mark = f"PLAUDIT_MARK={tmp_path}"
    with served(tmp_path, recipe=file, PLAUDIT_MARK=str(tmp_path)) as server:
        for way in (*WAYS, *WAYS):  # the first of each has to start a process
            start = time.monotonic()
            body = {"completions": [*OTHERS, f"{way} now", "a"], "columns": {}}
            reply = httpx.post(f"{server.url}/v1/score", json=body, timeout=60)
            seconds = time.monotonic() - start
            statuses = [row["status"] for row in reply.json()["rows"]]
            assert statuses == [*["scored"] * 4, WAYS[way], "scored"]
        assert seconds < DEADLINE + 1
        assert "plaudit_component_seconds" in httpx.get(f"{server.url}/metrics").text
        assert marked(mark)
    assert not marked(mark)


def marked(text):
    """The processes that have something in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            found += [path.parent.name] if text.encode() in path.read_bytes() else []
    return found


def test_a_group_that_hangs_is_left_out_as_a_whole():
    prompts = ["p", "p", "q", "q", "r", "r"]
    rows, _ = scored(recipe("rank"), ["a", "bb", "hang", "c", "dd", "e"], prompts=prompts)
    assert [total for total, _ in rows] == [0.0, 1.0, None, None, 1.0, 0.0]


def test_programs_that_a_reward_has_started_are_killed_with_it():
    def sleeping():
        commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
        return sum(b"sleep\x003599" in command for command in commands)

    assert scored(recipe("starts_programs"), BATCH)[0][2] == (None, "timeout")
    time.sleep(0.5)
    assert sleeping() == 0


def test_what_a_reward_logs_is_passed_to_the_trainer():
    logged = {}
    rows = recipe("logs").score_batch(
        ["a", "bb"], log_extra=logged.__setitem__, log_metric=logged.__setitem__
    )
    assert rows.totals == [1.0, 2.0]
    assert logged == {"length": [1, 2], "longest": 2}


def test_a_coroutine_that_cannot_be_cancelled_does_not_hold_up_the_step():
    async def step():
        start = time.monotonic()
        rows = await recipe("never_cancelled", 1.0).score_async(BATCH)
        return [row.status for row in rows], time.monotonic() - start

    loop = asyncio.new_event_loop()
    statuses, seconds = loop.run_until_complete(step())
    assert statuses == ["scored", "scored", "timeout", "scored"]
    assert seconds < 2


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


@pytest.mark.long
def test_a_hundred_steps_with_a_row_that_hangs_leave_nothing_behind():
    own = recipe("sleeps", 0.4)
    own.score_batch(BATCH)
    before = state()
    for _ in range(100):
        assert own.score_batch(BATCH).totals == [1.0, 2.0, None, 4.0]
    time.sleep(0.2)
    after = state()
    assert after["memory"] < before["memory"] + (2 << 20)
    assert all(after[name] <= before[name] for name in ("processes", "files", "threads"))


def state():
    files, threads = len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
    return {"processes": len(children()), "memory": memory(), "files": files, "threads": threads}


def memory():
    """The bytes that this process and those that it started have in memory."""
    files = [Path(f"/proc/{pid}/statm") for pid in ("self", *children())]
    return sum(int(file.read_text().split()[1]) for file in files) * os.sysconf("SC_PAGE_SIZE")


def children(of="self"):
    """The processes that this process started, and those that they started, if they live."""
    tasks = Path(f"/proc/{of}/task").iterdir()
    own = [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
    return own + [pid for one in own for pid in children(one)]


def test_a_forked_process_has_processes_of_its_own():
    own = recipe("sleeps")
    assert own.score_batch(["a"]).totals == [1.0]
    if not (pid := os.fork()):
        os._exit(own.score_batch(["a"]).totals != [1.0])
    assert os.waitpid(pid, 0)[1] == 0
    assert own.score_batch(["bb"]).totals == [2.0]
