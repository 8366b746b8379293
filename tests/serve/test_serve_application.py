"""The application: before a fork, twice in a row, two in a process; and whom it answers."""

import asyncio
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from plaudit.judge import shared_judge
from plaudit.recipes import Component, Recipe, load
from plaudit.recipes.row_score import ScoredBatch
from plaudit.scores import Score, reward
from plaudit.serve import ServerLimits, application, serving
from plaudit.serve._protocol import rows_of, to_json
from plaudit.serve._scorer import Scorer
from plaudit.serve._server import server_of
from plaudit.trainers.client import Client, ServerError
from served import children, poison, served, symbolic, until

BATCH = {"completions": [r"\boxed{4}"], "columns": {"solution": ["4"]}}

FORKED = """
import os, socket, sys
from plaudit.recipes import load
from plaudit.serve import ServerLimits, application
from plaudit.serve._scorer import Scorer
from plaudit.serve._server import server_of

app = application(load("trl-math"))
listener = socket.create_server(("127.0.0.1", 0))
if os.fork():
    print(listener.getsockname()[1], flush=True)
    os.wait()
else:
    server_of(app, ServerLimits()).run([listener])
"""


@contextmanager
def running(app):
    """The application on a free port, by uvicorn in a thread."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = server_of(app, ServerLimits())
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        until(lambda: server.started)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def total(url, batch=BATCH):
    return httpx.post(f"{url}/v1/score", json=batch, timeout=60).json()["rows"][0]["total"]


def thread_names(reward, rows):
    """Which threads of a server score a batch: those of the reward's rows."""
    recipe = Recipe("who", (Component("who", reward),))
    with serving(recipe) as url:
        until(lambda: httpx.get(f"{url}/readyz", timeout=60).status_code == 200)
        batch = {"completions": ["4"] * rows, "reasons": True}
        answer = httpx.post(f"{url}/v1/score", json=batch, timeout=60).json()
    return {row["components"]["who"]["why"] for row in answer["rows"]}


def by_its_thread(completions, **kwargs):
    return [Score(1.0, threading.current_thread().name) for _ in completions]


def test_a_plain_function_does_not_hold_up_a_loop_of_the_server():
    assert thread_names(reward(columns=())(by_its_thread), 1) == {"plaudit-rewards"}


def test_an_application_starts_nothing_before_its_lifespan():
    before = set(threading.enumerate())
    application(load("trl-math"))
    assert set(threading.enumerate()) <= before


def test_an_application_that_was_loaded_before_a_fork_works():
    process = subprocess.Popen(
        [sys.executable, "-c", FORKED], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        url = f"http://127.0.0.1:{int(process.stdout.readline())}"
        until(lambda: httpx.get(f"{url}/readyz", timeout=60).status_code == 200)
        assert total(url) == 1.0
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)
        process.stdout.close()


def test_a_lifespan_can_be_entered_again():
    app = application(load("trl-math"))
    for _ in range(2):
        with running(app) as url:
            until(lambda: httpx.get(f"{url}/readyz", timeout=60).status_code == 200)
            assert total(url) == 1.0


@pytest.mark.long
def test_the_end_of_a_server_does_not_disturb_another():
    with serving(load("trl-math")) as url, ThreadPoolExecutor(1) as threads:
        with serving(load("trl-math")) as other:
            assert total(other) == 1.0
            asked = threads.submit(httpx.post, f"{url}/v1/score", json=poison(1), timeout=60)
            until(lambda: httpx.get(f"{url}/v1/figures", timeout=60).json()["rows_in_flight"] == 1)
        answer = asked.result()
        assert (answer.status_code, answer.json()["rows"][0]["status"]) == (200, "timeout")
        assert total(url, symbolic(1, start=77_000)) == 1.0


@pytest.mark.long
def test_the_last_server_of_a_process_stops_the_workers():
    recipe = load("trl-math")
    shared_judge().close()
    before = set(children(os.getpid()))

    def started():
        return set(children(os.getpid())) - before

    with serving(recipe) as url:
        with serving(recipe) as other:
            assert total(other, symbolic(1, start=78_000)) == 1.0
            workers = started()
            assert workers
        assert started() == workers
        assert total(url, symbolic(1, start=79_000)) == 1.0
    until(lambda: not started())
    assert recipe(**batch_of(symbolic(1, start=80_000)))[0].total == 1.0
    assert started()


def batch_of(asked):
    return {"completions": asked["completions"], **asked["columns"]}


@pytest.mark.long
def test_a_server_whose_judge_cannot_start_is_not_ready_until_it_can(tmp_path):
    with (
        served(tmp_path, PLAUDIT_WORKERS="1") as server,
        httpx.Client(base_url=server.url, timeout=60) as http,
    ):
        pid = server.process.pid
        assert http.get("/readyz").status_code == 200
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        for fork_server in children(pid):
            os.kill(fork_server, signal.SIGKILL)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (8, before[1]))
        refused = http.post("/v1/score", json=symbolic(1, start=61_000), timeout=60)
        assert refused.status_code >= 500 or refused.json()["rows"][0]["status"] == "error"
        unready = http.get("/readyz")
        assert unready.status_code == 503
        assert "Too many open files" in unready.json()["error"]
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        answer = http.post("/v1/score", json=symbolic(1, start=62_000), timeout=60)
        assert answer.json()["rows"][0]["total"] == 1.0
        assert http.get("/readyz").status_code == 200


@pytest.fixture(scope="module")
def url():
    with serving(load("trl-math"), ServerLimits(io_timeout=0.7)) as url:
        yield url


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:8950", "[::1]:8950"])
def test_a_server_on_this_machine_answers_to_its_names(url, host):
    assert httpx.get(f"{url}/healthz", headers={"host": host}, timeout=60).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[", ""]
)
def test_a_name_that_leads_here_by_a_trick_is_refused(url, host):
    for path in ("/", "/healthz", "/v1/recipe"):
        answer = httpx.get(f"{url}{path}", headers={"host": host}, timeout=60)
        assert answer.status_code == 421
        assert "--allow-host" in answer.json()["error"]
        assert answer.json()["request"] == answer.headers["x-request-id"]


def test_other_names_can_be_allowed(tmp_path):
    with served(tmp_path, "--allow-host", "rewards") as server:
        for host, code in (("rewards:80", 200), ("localhost", 200), ("others", 421)):
            answer = httpx.get(f"{server.url}/healthz", headers={"host": host}, timeout=60)
            assert answer.status_code == code


UNREADABLE = {
    "no HTTP": (b"\x16\x03\x01 hello\r\n\r\n", 400),
    "no path": (b"GET http://[ HTTP/1.1\r\nhost: localhost\r\n\r\n", 400),
    "no length": (b"POST /v1/score HTTP/1.1\r\ncontent-length: many\r\n\r\n", 400),
    "no chunk": (
        b"POST /v1/score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        b"transfer-encoding: chunked\r\n\r\nwhat\r\n",
        400,
    ),
    "headers": (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20_000, 431),
    "half": (b"GET / HTTP/1.1\r\n", 408),
}


@pytest.mark.parametrize("why", UNREADABLE)
def test_what_cannot_be_read_is_refused_as_json_with_an_id(url, why):
    sent, code = UNREADABLE[why]
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
        connection.sendall(sent)
        said = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    head, _, body = said.partition("\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {code} ")
    assert "content-type: application/json" in head.lower()
    headers = httpx.Headers([line.split(": ", 1) for line in head.split("\r\n")[1:]])
    problem = httpx.Response(code, text=body).json()
    assert problem["error"]
    assert problem["request"] == headers["x-request-id"]
    assert counted(url, code) > 0


def counted(url, code):
    """How many requests without a known path were answered so, by the server's metrics."""
    line = f'plaudit_requests_total{{code="{code}",path="other"}} '
    found = httpx.get(f"{url}/metrics", timeout=60).text.partition(line)[2]
    return float(found.split()[0]) if found else 0.0


def test_each_refusal_by_the_connection_itself_is_counted_once():
    with serving(load("trl-math"), ServerLimits(io_timeout=0.7)) as url:
        for sent, code in UNREADABLE.values():
            before = counted(url, code)
            parts = urlsplit(url)
            with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
                connection.sendall(sent)
                while connection.recv(65536):
                    pass
            assert counted(url, code) == before + 1


def test_a_row_says_whether_it_is_right_and_what_a_gate_held_back():
    scores = {"accuracy": Score(0.0, "No.", right=False), "format": Score(0.0, "", ungated=0.5)}
    batch = ScoredBatch({name: [score] for name, score in scores.items()}, dict.fromkeys(scores, 1))
    for reasons in (True, False):
        [said] = httpx.Response(200, content=to_json(rows_of(batch, reasons))).json()
        assert said["components"]["accuracy"]["right"] is False
        assert said["components"]["format"]["ungated"] == 0.5
        assert "ungated" not in said["components"]["accuracy"]


@pytest.mark.long
def test_a_client_does_not_wait_long_for_a_connection():
    """A listener that accepts nobody, and whose queue is full: its system does not answer."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        waiting = [socket.socket() for _ in range(4)]
        for connection in waiting:
            connection.setblocking(False)
            connection.connect_ex(full.getsockname())
        client = Client(f"http://127.0.0.1:{full.getsockname()[1]}", patience=0.1)
        with pytest.raises(ServerError, match="ConnectTimeout"):
            client(["4"], solution=["4"])
        for connection in waiting:
            connection.close()


def test_a_server_that_does_not_start_gives_no_address(monkeypatch):
    async def gives_up(self, sockets=None):
        self.should_exit = True

    monkeypatch.setattr("plaudit.serve._server.Server.startup", gives_up)
    with pytest.raises(RuntimeError, match="the server did not start"), serving(load("trl-math")):
        pass


def test_an_application_that_cannot_be_made_leaves_its_port_free(monkeypatch):
    def fails(*arguments, **options):
        raise ValueError("no such folder")

    monkeypatch.setattr("plaudit.serve._server.application", fails)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ValueError, match="no such folder") as raised:
        serving(load("trl-math"), port=port).__enter__()
    assert raised.tb is not None  # it would keep open what was left open
    socket.create_server(("127.0.0.1", port)).close()


def test_a_reward_that_blocks_its_loop_keeps_no_scorer_from_closing(monkeypatch):
    monkeypatch.setattr("plaudit.serve._scorer.CLOSE_TIMEOUT", 0.1)
    released = threading.Event()

    async def blocks():
        released.wait()

    scorer = Scorer()
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(scorer.run(1, blocks), 0.2))
    closing = threading.Thread(target=scorer.close, daemon=True)
    closing.start()
    closing.join(5)
    is_closed = not closing.is_alive()
    released.set()
    assert is_closed


def test_metrics_have_the_means_and_latencies_of_components_the_recipe_and_the_process():
    recipe = load("trl-reasoning")
    batch = {
        "completions": [r"<think>2 + 2</think> \boxed{4}", r"\boxed{4}", r"\boxed{5}"],
        "columns": {"solution": ["4"] * 3},
    }
    with serving(recipe) as url:
        httpx.post(f"{url}/v1/score", json=batch, timeout=60)
        component = {"component": "think_format_reward"}
        httpx.post(f"{url}/v1/rewards", json={**batch, **component}, timeout=60)
        fingerprint = httpx.get(f"{url}/v1/recipe").json()["fingerprint"]
        lines = httpx.get(f"{url}/metrics").text.splitlines()
    pairs = [line.rpartition(" ") for line in lines if not line.startswith("#")]
    found = {name: float(value) for name, _, value in pairs}
    for name, total, rows, batches in (
        ("reasoning_accuracy_reward", 1.0, 3, 1),
        ("think_format_reward", 2.0, 6, 2),
    ):
        labels = f'{{component="{name}",recipe="trl-reasoning"}}'
        assert found[f"plaudit_component_value_sum{labels}"] == total
        assert found[f"plaudit_component_value_count{labels}"] == rows
        assert found[f"plaudit_component_seconds_count{labels}"] == batches
        assert found[f"plaudit_component_seconds_sum{labels}"] > 0
    named = f'fingerprint="{fingerprint}",recipe="trl-reasoning"'
    assert any(name.startswith(f"plaudit_recipe_info{{{named}") for name in found)
    for name in ("cpu_seconds_total", "resident_memory_bytes", "open_fds"):
        assert found[f"process_{name}"] > 0
