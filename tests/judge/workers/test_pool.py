"""The workers: deadlines, memory, deaths, and what comes back after them."""

import errno
import os
import signal
import socket
import subprocess
import threading
import time
from concurrent.futures import Future
from contextlib import suppress

import pytest
from running_processes import alive, children_of, until

from plaudit import processes
from plaudit.judge import Settings
from plaudit.judge.workers import _pool
from plaudit.judge.workers._pool import Inbox, PairTask, WorkerPool, WorkerProcess

DEADLINE = 2.0
TIMEOUT = ("timeout", "", "", "", DEADLINE)
GOLD = (("arithmetic", "1/3"),)
A_HANG = 60  # seconds: what takes longer never ends, however busy the machine is


def item(latex, gold=GOLD):
    return (("latex", ((latex, False, False),)),), gold, "latex"


def bomb(number):
    return item(f"9^{{9^{{9^{{{number}}}}}}}", (("latex", (("7^x", False, False),)),))


BOMB = bomb(9)


def outcomes(pool, *items, timeout=None):
    return [future.result(timeout) for future in [pool.submit(item) for item in items]]


def statuses(pool, *items, timeout=None):
    return [outcome[0] for outcome in outcomes(pool, *items, timeout=timeout)]


def is_at_work(pool):
    return any(worker.ready and worker.tasks for worker in pool._dispatcher._workers.values())


def server_and_workers(pool):
    until(lambda: pool._dispatcher._fork_server is not None)
    server = pool._dispatcher._fork_server.pid
    return server, children_of(server) if alive(server) else []


@pytest.fixture(scope="module")
def pool():
    """For what a pool must survive: the next test has the same one."""
    pool = WorkerPool(Settings(deadline=DEADLINE, workers=2))
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def patient_pool():
    """One worker, and a deadline that no test waits for."""
    pool = WorkerPool(Settings(deadline=600, workers=1))
    yield pool
    pool.close()


@pytest.fixture
def own_pool():
    """For what ends a pool, or what only a new one shows."""
    pool = WorkerPool(Settings(deadline=DEADLINE, workers=2))
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
    assert judged[3][:5] == TIMEOUT
    expected = ["equal" if n == 4 else "different" for n in range(20)]
    assert [o[0] for o in judged[:3] + judged[4:]] == expected[:3] + expected[4:]


@pytest.mark.long
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
        for worker in server_and_workers(pool)[1][:1]:
            os.kill(worker, signal.SIGKILL)
    expected = ["different" if n % 2 else "equal" for n in range(1, 301)]
    assert [future.result()[0] for future in futures] == expected


def test_a_killed_fork_server_comes_back(pool):
    assert statuses(pool, item(r"\frac{1}{3}")) == ["equal"]
    server, workers = server_and_workers(pool)
    os.kill(server, signal.SIGKILL)
    until(lambda: not alive(server))
    assert statuses(pool, item(r"\frac{2}{6}"), timeout=A_HANG) == ["equal"]
    assert server_and_workers(pool)[0] != server
    assert not any(alive(worker) for worker in workers)


def kill_busy_workers_until(pool, future, every):
    while not future.done():
        time.sleep(every)
        for worker in list(pool._dispatcher._workers.values()):
            if worker.ready and worker.tasks:
                with suppress(ProcessLookupError):  # it was stopped a moment ago
                    os.kill(worker.process, signal.SIGKILL)


@pytest.mark.long
def test_an_item_that_had_its_time_has_timed_out_though_its_workers_were_killed(pool):
    """It is tried again, but not for ever: until it had twice its time."""
    assert statuses(pool, item(r"\frac{1}{3}")) == ["equal"]
    future = pool.submit(BOMB)
    kill_busy_workers_until(pool, future, every=0.5)
    assert future.result()[:5] == TIMEOUT


def test_an_item_on_which_every_worker_dies_is_an_error(patient_pool, monkeypatch):
    monkeypatch.setattr(_pool, "ATTEMPTS", 3)
    assert statuses(patient_pool, item(r"\frac{1}{3}")) == ["equal"]
    future = patient_pool.submit(BOMB)
    kill_busy_workers_until(patient_pool, future, every=0.1)
    assert future.result()[:4] == ("error", "", "", "3 workers died on it")


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
    assert len(server_and_workers(pool)[1]) <= 2


def test_a_cancelled_batch_is_dropped_and_the_next_is_judged(patient_pool):
    stuck = [patient_pool.submit(bomb(number)) for number in range(5, 205)]
    until(lambda: is_at_work(patient_pool))
    assert all(future.cancel() for future in stuck)
    assert statuses(patient_pool, item(r"\frac{1}{3}"), timeout=A_HANG) == ["equal"]


def test_who_asks_for_what_is_asked_already_waits_with_the_others(pool):
    assert statuses(pool, item(r"\frac{1}{3}")) == ["equal"]
    first, *others = futures = [pool.submit(BOMB) for _ in range(9)]
    until(lambda: not pool._inbox.first())
    (task,) = pool._dispatcher._pending.values()
    assert task.futures == futures
    assert first.cancel()
    assert [future.result()[0] for future in others] == ["timeout"] * 8


def test_work_that_nobody_waits_for_is_stopped(patient_pool):
    assert statuses(patient_pool, item(r"\frac{1}{3}")) == ["equal"]
    stuck = patient_pool.submit(BOMB)
    until(lambda: is_at_work(patient_pool))
    assert stuck.cancel()
    assert statuses(patient_pool, item("0"), timeout=A_HANG) == ["different"]


def test_a_worker_is_not_timed_for_items_that_nobody_wants():
    here, there = socket.socketpair()
    with here, there:
        dispatcher = _pool.Dispatcher(Settings(), Inbox(), here)
        worker = WorkerProcess(1, there, process=os.getpid())
        dispatcher._workers[1] = worker
        cancelled = Future()
        cancelled.cancel()
        dispatcher._queue.append(PairTask(item("0"), [cancelled]))
        dispatcher._send_tasks(worker)
        assert worker.due == float("inf")
        assert not worker.tasks


@pytest.mark.parametrize(
    ("text", "left", "after"),
    [("0", 4, 4), ("0", 3, 6), ("0", 0, 6), ("0" * 10_000, 3, 3), ("0" * 10_000, 0, 6)],
    ids=["enough", "few", "none", "few but large", "none and large"],
)
def test_a_worker_is_sent_more_before_it_runs_dry(text, left, after):
    here, there = socket.socketpair()
    with here, there:
        dispatcher = _pool.Dispatcher(Settings(workers=1), Inbox(), here)
        worker = WorkerProcess(1, there, process=os.getpid())
        dispatcher._workers[1] = worker
        worker.tasks.extend(PairTask(item("1"), [Future()]) for _ in range(left))
        dispatcher._queue.extend(PairTask(item(text), [Future()]) for _ in range(10))
        dispatcher._assign_tasks()
        assert len(worker.tasks) == after
        assert len(worker.tasks) + len(dispatcher._queue) == left + 10
        assert (worker.due < float("inf")) is (left == 0)


def test_closing_stops_every_process_and_fails_what_waits(own_pool):
    assert statuses(own_pool, item(r"\frac{1}{3}")) == ["equal"]
    server, workers = server_and_workers(own_pool)
    waiting = own_pool.submit(BOMB)
    until(lambda: is_at_work(own_pool))
    own_pool.close()
    with pytest.raises(RuntimeError, match="closed"):
        waiting.result(timeout=A_HANG)
    until(lambda: not any(map(alive, [server, *workers])))


def test_workers_that_cannot_start_are_an_error_that_says_why(own_pool, monkeypatch):
    monkeypatch.setattr(processes, "PROGRAM", "raise SystemExit('no such luck')")
    with pytest.raises(RuntimeError, match="workers do not start: no such luck"):
        own_pool.submit(item("1")).result(timeout=A_HANG)


@pytest.mark.parametrize(
    ("missing", "advice"),
    [("antlr4", r"plaudit\[antlr4-13\]"), ("math_verify", "pip install 'math-verify>=0.8'")],
)
def test_where_a_package_is_missing_the_error_says_what_to_install(
    own_pool, monkeypatch, missing, advice
):
    hide = f"import sys\nsys.modules['{missing}'] = None\n"
    monkeypatch.setattr(processes, "PROGRAM", hide + processes.PROGRAM)
    with pytest.raises(ImportError, match=advice):
        own_pool.submit(item("1")).result(timeout=A_HANG)


def test_a_fork_server_that_does_not_start_fails_those_who_wait_and_the_next_starts(
    own_pool, monkeypatch
):
    pool = own_pool
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", no_descriptors)
        with pytest.raises(RuntimeError, match=r"workers do not start: .*Too many open files"):
            pool.submit(item("1")).result(timeout=A_HANG)
        assert pool.trouble == "the judge's workers do not start: [Errno 24] Too many open files"
    assert statuses(pool, item(r"\frac{1}{3}"), timeout=A_HANG) == ["equal"]
    assert pool.trouble is None


def no_descriptors(*_, **__):
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def test_a_worker_that_does_not_start_is_no_matter_where_others_work(own_pool, monkeypatch):
    pool = own_pool
    assert statuses(pool, item(r"\frac{1}{3}")) == ["equal"]
    monkeypatch.setattr(_pool.socket, "socketpair", no_descriptors)
    items = [item(rf"\frac{{{n}}}{{12}}") for n in range(40)]
    assert statuses(pool, *items, timeout=A_HANG).count("equal") == 1
    assert pool.trouble is None  # those who judge are enough


@pytest.mark.long
def test_a_fork_server_that_is_stopped_is_replaced(pool, monkeypatch):
    monkeypatch.setattr(_pool, "FORK_SECONDS", 1.0)
    assert statuses(pool, item(r"\frac{1}{3}")) == ["equal"]
    server, workers = server_and_workers(pool)
    os.kill(server, signal.SIGSTOP)
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    assert statuses(pool, item(r"\frac{2}{6}"), timeout=A_HANG) == ["equal"]
    assert server_and_workers(pool)[0] != server


# All that the dispatcher does in the course of its work: some of it while workers start.
STARTING = ("_may_start_worker", "_start_worker", "_start_fork_server", "_note_start")
WORKING = (
    *("_step", "_handle", "_enqueue", "_assign_tasks", "_send_tasks", "_seconds_until_due"),
    *("_receive_from_worker", "_complete", "_forget", "_cut_short_unwanted", "_stop_overdue"),
)
QUICK = ("_start_worker", "_enqueue", "_receive_from_worker")  # the others take as long each


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(step, marks=[] if step in QUICK else pytest.mark.long)
        for step in (*STARTING, *WORKING)
    ],
)
def test_a_fault_in_the_dispatcher_leaves_nobody_waiting(own_pool, monkeypatch, step):
    pool = own_pool
    before = children_of(os.getpid())
    if step in WORKING:
        assert statuses(pool, item(r"\frac{1}{3}")) == ["equal"]
    monkeypatch.setattr(_pool.Dispatcher, step, lambda *_: 1 / 0)
    futures = [pool.submit(item(rf"\frac{{{n}}}{{12}}")) for n in range(20)]
    ended = [future.exception(timeout=A_HANG) for future in futures]
    assert any(ended)
    for error in filter(None, ended):
        assert str(error) == "the judge's dispatcher failed: ZeroDivisionError: division by zero"
    until(lambda: pool.ended)
    with pytest.raises(RuntimeError, match="dispatcher failed"):
        pool.submit(item("1")).result(timeout=A_HANG)
    until(lambda: children_of(os.getpid()) == before)


def test_an_item_whose_worker_was_stopped_is_judged_again(pool):
    """It had no time at all, whatever the clock says."""
    assert statuses(pool, item(r"\frac{1}{3}")) == ["equal"]
    for worker in server_and_workers(pool)[1]:
        os.kill(worker, signal.SIGSTOP)
    judged = outcomes(pool, *(item(rf"\frac{{{n}}}{{12}}") for n in range(3, 6)), timeout=A_HANG)
    assert [o.status for o in judged] == ["different", "equal", "different"]
    assert all(o.cacheable for o in judged)


@pytest.mark.long
def test_an_item_that_is_stopped_twice_has_a_timeout_that_does_not_last(pool):
    assert statuses(pool, item(r"\frac{1}{3}")) == ["equal"]
    future = pool.submit(BOMB)
    while not future.done():
        for worker in list(pool._dispatcher._workers.values()):
            if worker.process and worker.tasks:
                os.kill(worker.process, signal.SIGSTOP)
        time.sleep(0.02)
    assert future.result() == (*TIMEOUT, False)
