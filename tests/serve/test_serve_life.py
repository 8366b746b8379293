"""A server from its start to its end: workers that are killed, clients that go, signals."""

import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from plaudit.recipes import load
from served import children, poison, served, symbolic, until


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One worker, so that what is in its way is in everybody's."""
    limits = {"PLAUDIT_DEADLINE": "1", "PLAUDIT_WORKERS": "1"}
    with served(tmp_path_factory.mktemp("server"), **limits) as running:
        yield running


@contextmanager
def killing(server):
    """Kills a worker as soon as there is a new one, five times; gives those that it killed."""
    done, killed = threading.Event(), []

    def kill():
        while len(killed) < 5 and not done.wait(0.1):
            for worker in [one for one in server.workers() if one not in killed][-1:]:
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield killed
    finally:
        done.set()
        killer.join()


@pytest.mark.long
def test_no_request_is_lost_when_workers_are_killed(server):
    batches = [symbolic(200, start=1_000 * number) for number in range(1, 9)]
    with killing(server) as killed, ThreadPoolExecutor(8) as threads:
        url = f"{server.url}/v1/score"
        asked = [threads.submit(httpx.post, url, json=batch, timeout=60) for batch in batches]
        answers = [one.result() for one in asked]
    assert len(set(killed)) >= 2
    for batch, answer in zip(batches, answers, strict=True):
        direct = load("trl-math")(batch["completions"], **batch["columns"])
        assert answer.status_code == 200
        assert [row["total"] for row in answer.json()["rows"]] == [row.total for row in direct]


def test_no_request_is_lost_when_the_fork_server_is_killed(server):
    batch = symbolic(60, start=20_000)
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(httpx.post, f"{server.url}/v1/score", json=batch, timeout=60)
        time.sleep(0.1)
        for fork_server in children(server.process.pid):
            os.kill(fork_server, signal.SIGKILL)
        answer = asked.result()
    assert [row["total"] for row in answer.json()["rows"]] == [1.0] * 60


def test_poison_is_a_timeout_and_nothing_worse(server):
    batch, other = poison(1, start=50_000), symbolic(3, start=30_000)
    for name, golds in other["columns"].items():
        batch["columns"][name] += golds
    batch["completions"] += other["completions"]
    answer = httpx.post(f"{server.url}/v1/score", json=batch, timeout=60)
    assert [row["status"] for row in answer.json()["rows"]] == ["timeout"] + ["scored"] * 3


def test_a_client_that_goes_away_frees_its_work(server):
    """Minutes of work, of which the worker has begun with eight items."""
    with httpx.Client(base_url=server.url, timeout=60) as http:
        before = http.get("/v1/figures").json()["abandoned"]
        with pytest.raises(httpx.ReadTimeout):
            http.post("/v1/score", json=poison(300), timeout=0.5)
        answer = http.post("/v1/score", json=symbolic(2, start=40_000), timeout=120)
        assert answer.status_code == 200
        figures = http.get("/v1/figures").json()
    assert (figures["abandoned"], figures["rows_in_flight"]) == (before + 1, 0)
    logged = [line for line in server.log() if line.get("code") == 499]
    assert logged[-1]["rows"] == 300


def test_a_client_that_goes_away_while_it_sends_is_forgotten(server):
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname, parts.port)) as connection:
        connection.sendall(
            b"POST /v1/score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b'content-length: 100\r\n\r\n{"completions'
        )
    until(lambda: [line for line in server.log() if line.get("code") == 499 and not line["rows"]])
    assert "plaudit_body_bytes 0.0" in httpx.get(f"{server.url}/metrics", timeout=60).text


def listens(url):
    try:
        httpx.get(f"{url}/healthz", timeout=60)
    except httpx.TransportError:
        return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_server_finishes_what_it_took(tmp_path, number):
    limits = {"PLAUDIT_DEADLINE": "1", "PLAUDIT_WORKERS": "1"}
    with served(tmp_path, **limits) as server, ThreadPoolExecutor(1) as threads:
        workers = [*server.workers(), *children(server.process.pid)]
        asked = threads.submit(httpx.post, f"{server.url}/v1/score", json=poison(2), timeout=60)
        until(
            lambda: httpx.get(f"{server.url}/v1/figures", timeout=60).json()["rows_in_flight"] == 2
        )
        server.process.send_signal(number)
        until(lambda: not listens(server.url))
        answer = asked.result()
        assert [row["status"] for row in answer.json()["rows"]] == ["timeout"] * 2
        assert server.process.wait(timeout=30) == 0
        until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in workers))  # noqa: PTH110
        assert [line["event"] for line in server.log()][-1] == "stopped"


def test_logs_are_lines_of_json_without_any_completion(server):
    answer = httpx.post(
        f"{server.url}/v1/score", json={**symbolic(1, start=98_765), "logs": True}, timeout=60
    )
    own = answer.headers["x-request-id"]
    # The line is written after the answer.
    [request] = until(lambda: [line for line in server.log() if line.get("request") == own])
    lines = server.log()
    assert [line["event"] for line in lines[:2]] == ["listening", "ready"]
    assert {"time", "level", "request", "method", "code", "seconds", "client"} <= set(request)
    assert (request["path"], request["rows"]) == ("/v1/score", 1)
    assert "98765" not in str(lines)
    assert not any("traceback" in line for line in lines)


def test_a_server_is_not_ready_before_its_judge_is(tmp_path):
    """It answers all the same: who cannot wait need not."""
    with served(tmp_path, ready=False) as server:
        answer = httpx.get(f"{server.url}/readyz", timeout=60)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert "starting" in answer.json()["error"]
        assert httpx.get(f"{server.url}/healthz", timeout=60).status_code == 200
        batch = {"completions": [r"\boxed{4}"], "columns": {"solution": ["4"]}}
        scored = httpx.post(f"{server.url}/v1/score", json=batch, timeout=60).json()
        assert scored["rows"][0]["total"] == 1.0
        until(lambda: httpx.get(f"{server.url}/readyz", timeout=60).json() == {"status": "ready"})


@pytest.mark.long
def test_a_server_stops_under_load_every_time(tmp_path):
    """Clients connect all the time and keep their connections busy, also while it stops."""
    for _ in range(20):
        with served(tmp_path, ready=False) as server, ThreadPoolExecutor(8) as threads:
            until(lambda: listens(server.url))
            hammering = [threads.submit(hammer, server.url) for _ in range(8)]
            time.sleep(0.3)
            assert server.stop() == 0
            assert all(one.result(20) for one in hammering)


def hammer(url):
    """Requests over connections of which each is used until the server closes it."""
    parts = urlsplit(url)
    answers = 0
    for number in range(1_000_000):
        try:
            with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
                for _ in range(3 if number % 2 else 1_000):
                    connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
                    if b"connection: close" in (said := connection.recv(65536)) or not said:
                        break
                    answers += 1
        except ConnectionRefusedError:
            break
        except ConnectionError:
            continue
    return answers
