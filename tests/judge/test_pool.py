"""The workers: deadlines, memory, deaths, and what comes back after them."""

import os
import signal
import socket
import threading
import time
from collections import deque
from concurrent.futures import Future, wait
from pathlib import Path

import pytest

from plaudit.judge import _pool
from plaudit.judge._pool import Pool
from plaudit.judge._settings import Settings

DEADLINE = 2.0
GOLD = (("arithmetic", "1/3"),)


def item(latex, gold=GOLD):
    return (("latex", ((latex, False, False),)),), gold, "latex"


def bomb(number):
    return item(f"9^{{9^{{9^{{{number}}}}}}}", (("latex", (("7^x", False, False),)),))


BOMB = bomb(9)


def outcomes(pool, *items, timeout=None):
    return [future.result(timeout) for future in [pool.submit(item) for item in items]]


def statuses(pool, *items, timeout=None):
    return [outcome[0] for outcome in outcomes(pool, *items, timeout=timeout)]


def children_of(process):
    """The process ids of what any thread of a process has forked."""
    listed = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for children in listed for child in children.read_text().split()]


def nursery_and_workers(pool):
    until(lambda: pool._dispatcher._nursery is not None)
    nursery = pool._dispatcher._nursery._process.pid
    return nursery, children_of(nursery) if alive(nursery) else []


@pytest.fixture
def pool():
    pool = Pool(Settings(deadline=DEADLINE, workers=2))
    yield pool
    pool.close()


def test_outcomes_come_in_the_order_of_the_items(pool):
    judged = outcomes(pool, *(item(rf"\frac{{{n}}}{{12}}") for n in range(8)))
    assert [o[0] for o in judged] == ["different"] * 4 + ["equal"] + ["different"] * 3
    assert judged[4][1:3] == (r"\frac{4}{12}", "1/3")


def test_an_item_that_never_ends_is_stopped_and_the_others_are_judged(pool):
    items = [item(rf"\frac{{{n}}}{{12}}") for n in range(20)]
    items[3] = BOMB
    judged = outcomes(pool, *items)
    assert judged[3] == ("timeout", "", "", DEADLINE)
    expected = ["equal" if n == 4 else "different" for n in range(20)]
    assert [o[0] for o in judged[:3] + judged[4:]] == expected[:3] + expected[4:]


def test_waiting_for_a_worker_does_not_count_against_an_item(pool):
    judged = statuses(pool, bomb(7), bomb(8), bomb(9), item(r"\frac{1}{3}"), item("0"))
    assert judged == ["timeout", "timeout", "timeout", "equal", "different"]


def test_a_worker_that_runs_out_of_memory_says_so(pool):
    greedy = item(r"\gcd(2^{30000000000}, 3)")
    assert statuses(pool, greedy, item(r"\frac{1}{3}")) == ["limit", "equal"]


def test_killed_workers_lose_nothing(pool):
    """A worker is killed after every twentieth item of a batch: every verdict is right."""
    items = [item(rf"\frac{{{n}}}{{{3 * n + n % 2}}} + \sin(0)") for n in range(1, 301)]
    futures = [pool.submit(item) for item in items]
    for future in futures[::20]:
        future.result()
        for worker in nursery_and_workers(pool)[1][:1]:
            os.kill(worker, signal.SIGKILL)
    expected = ["different" if n % 2 else "equal" for n in range(1, 301)]
    assert [future.result()[0] for future in futures] == expected


def test_a_killed_nursery_comes_back(pool):
    assert statuses(pool, item(r"\frac{1}{3}")) == ["equal"]
    nursery, workers = nursery_and_workers(pool)
    os.kill(nursery, signal.SIGKILL)
    until(lambda: not alive(nursery))
    assert statuses(pool, item(r"\frac{2}{6}"), timeout=20) == ["equal"]
    assert nursery_and_workers(pool)[0] != nursery
    assert not any(alive(worker) for worker in workers)


def until(condition, seconds=10):
    """Wait for what must come true, and fail where it does not."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.02)


def alive(process):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return False


def kill_workers_until(pool, future, every):
    while not future.done():
        time.sleep(every)
        for worker in nursery_and_workers(pool)[1]:
            os.kill(worker, signal.SIGKILL)


def test_an_item_that_had_its_time_has_timed_out_though_its_workers_were_killed(pool):
    """It is tried again, but not for ever: until it had twice its time."""
    assert statuses(pool, item(r"\frac{1}{3}")) == ["equal"]
    future = pool.submit(BOMB)
    kill_workers_until(pool, future, every=0.5)
    assert future.result() == ("timeout", "", "", DEADLINE)


def test_an_item_on_which_every_worker_dies_is_an_error(pool, monkeypatch):
    monkeypatch.setattr(_pool, "ATTEMPTS", 3)
    assert statuses(pool, item(r"\frac{1}{3}")) == ["equal"]
    future = pool.submit(BOMB)
    kill_workers_until(pool, future, every=0.2)
    assert future.result()[:2] == ("error", "3 workers died on it")


def test_many_threads_share_the_workers(pool):
    results = {}

    def judge(number):
        (results[number],) = statuses(pool, item(rf"\frac{{{number}}}{{12}}"))

    threads = [threading.Thread(target=judge, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results[n] for n in range(16)] == [
        "equal" if n == 4 else "different" for n in range(16)
    ]
    assert len(nursery_and_workers(pool)[1]) <= 2


def test_a_cancelled_batch_is_dropped_and_the_next_is_judged(pool):
    stuck = [pool.submit(bomb(number)) for number in range(5, 55)]
    wait(stuck, timeout=0.2)
    assert all(future.cancel() for future in stuck)
    assert statuses(pool, item(r"\frac{1}{3}"), timeout=10) == ["equal"]


def test_who_asks_for_what_is_asked_already_waits_with_the_others(pool):
    assert statuses(pool, item(r"\frac{1}{3}")) == ["equal"]
    start = time.monotonic()
    first, *others = [pool.submit(BOMB) for _ in range(9)]
    time.sleep(0.2)
    assert first.cancel()
    assert [future.result()[0] for future in others] == ["timeout"] * 8
    assert time.monotonic() - start < 3 * DEADLINE  # and not four times, two at once


def test_work_that_nobody_waits_for_is_stopped():
    pool = Pool(Settings(deadline=30.0, workers=1))
    try:
        assert statuses(pool, item(r"\frac{1}{3}")) == ["equal"]
        stuck = pool.submit(BOMB)
        until(lambda: pool._dispatcher._pending)
        assert stuck.cancel()
        assert statuses(pool, item("0"), timeout=10) == ["different"]
    finally:
        pool.close()


def test_a_worker_is_not_timed_for_items_that_nobody_wants():
    here, there = socket.socketpair()
    with here, there:
        dispatcher = _pool.Dispatcher(Settings(), deque(), here)
        worker = _pool.Worker(1, there, ready=True)
        dispatcher._workers[1] = worker
        cancelled = Future()
        cancelled.cancel()
        dispatcher._queue.append(_pool.Task(item("0"), [cancelled]))
        dispatcher._give(worker)
        assert worker.due == float("inf")
        assert not worker.tasks


def test_closing_stops_every_process_and_fails_what_waits(pool):
    assert statuses(pool, item(r"\frac{1}{3}")) == ["equal"]
    nursery, workers = nursery_and_workers(pool)
    waiting = pool.submit(BOMB)
    time.sleep(0.2)
    pool.close()
    with pytest.raises(RuntimeError, match="closed"):
        waiting.result(timeout=5)
    until(lambda: not any(map(alive, [nursery, *workers])))


def test_workers_that_cannot_start_are_an_error_with_their_last_words(pool, monkeypatch):
    monkeypatch.setattr(_pool, "NURSERY", "raise SystemExit('no such luck')")
    with pytest.raises(RuntimeError, match="workers do not start: no such luck"):
        pool.submit(item("1")).result(timeout=20)


def test_without_an_antlr_runtime_the_error_says_what_to_install(pool, monkeypatch):
    hide = "import sys\nsys.modules['antlr4'] = None\n"
    monkeypatch.setattr(_pool, "NURSERY", hide + _pool.NURSERY)
    with pytest.raises(ImportError, match=r"plaudit\[antlr4-13\]"):
        pool.submit(item("1")).result(timeout=20)
