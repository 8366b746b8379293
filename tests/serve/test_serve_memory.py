"""What requests take in memory is what is counted, and it is limited."""

import json
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import msgspec
import pytest

import slow_rewards
from plaudit.recipes import Component, Recipe, load
from plaudit.serve import ServerLimits, serving
from plaudit.serve._request_body import memory_needed
from served import served, until

HELD = 192 << 20
JSON = {"content-type": "application/json"}
SIZE = 60_000_000


def column(value, size):
    return b"[" + b",".join([value] * (size // (len(value) + 1))) + b"]"


VALUES = {
    "lists": lambda size: column(b"[]", size),
    "objects": lambda size: column(b'{"a":1}', size),
    "numbers": lambda size: column(b"1.5", size),
    "texts": lambda size: column(b'"ab"', size),
    "a nest": lambda size: column(column(b"[[],[],{}]", 1_000), size),
    "wide text": lambda size: b'["' + b"a" * (size // 3) + "😀".encode() + b'"]',
    "escaped text": lambda size: b'["' + b"a" * (size // 3) + b'\\ud83d\\ude00"]',
    "names": lambda size: b"[{%s}]" % b",".join(b'"%d":0' % n for n in range(size // 15)),
    "ids": lambda size: column(b"[1000, 1001, 2001, 3000]", size),
    "messages": lambda size: column('[{"role": "user", "content": "你好"}]'.encode(), size),
}


def batch(name, values):
    return b'{"completions": ["\\\\boxed{4}"], "columns": {"%s": %s, "solution": ["4"]}}' % (
        name.encode(),
        values,
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("memory"), "--max-memory", str(HELD)) as running:
        yield running


@pytest.fixture(scope="module")
def at_rest(server):
    return resident(server, "VmRSS")


def resident(server, line):
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition(f"{line}:")[2].split()[0]) * 1024


@pytest.mark.long
@pytest.mark.parametrize("name", VALUES)
def test_memory_stays_below_twice_what_may_be_held(server, at_rest, name):
    body = batch("prompts", VALUES[name](SIZE))
    with ThreadPoolExecutor(5) as threads:
        url = f"{server.url}/v1/score"
        asked = [
            threads.submit(httpx.post, url, content=body, headers=JSON, timeout=120)
            for _ in range(5)
        ]
        answers = [one.result() for one in asked]
    assert {answer.status_code for answer in answers} <= {200, 413, 422, 429}
    assert resident(server, "VmHWM") - at_rest < 2 * HELD
    until(lambda: "plaudit_body_bytes 0.0" in httpx.get(f"{server.url}/metrics", timeout=60).text)


@pytest.mark.long
def test_what_the_recipe_does_not_read_is_not_built(server, at_rest):
    answer = httpx.post(
        f"{server.url}/v1/score",
        content=batch("unread", VALUES["lists"](SIZE)),
        headers=JSON,
        timeout=60,
    )
    assert answer.json()["rows"][0]["total"] == 1.0


LARGE = {
    "lists": lambda: batch("prompts", VALUES["lists"](SIZE)),
    "golds of 1 MB": lambda: json.dumps(
        {"completions": ["4"] * 60, "columns": {"solution": ["4 " * 500_000] * 60}}
    ).encode(),
}


@pytest.fixture(scope="module")
def building_seconds():
    """How long this machine takes to build the objects of a large body."""
    body = LARGE["lists"]()
    start = time.perf_counter()
    json.loads(body)
    return time.perf_counter() - start


@pytest.mark.long
@pytest.mark.parametrize("name", LARGE)
def test_health_is_told_while_a_large_body_is_read_and_scored(server, building_seconds, name):
    """A loop that built the objects, or read the golds, would tell nobody of its health meanwhile.

    On a machine that is busy with other things, one try may have to wait.
    """
    body = LARGE[name]()
    assert any(_longest_wait(server, body) < building_seconds for _ in range(4))


def _longest_wait(server, body):
    """The longest that health takes to be told while a body is on its way and scored."""
    longest = 0.0
    with (
        httpx.Client(base_url=server.url, timeout=60) as http,
        ThreadPoolExecutor(1) as thread,
    ):
        scored = thread.submit(
            httpx.post, f"{server.url}/v1/score", content=body, headers=JSON, timeout=60
        )
        while not scored.done():
            start = time.perf_counter()
            assert http.get("/healthz").status_code == 200
            longest = max(longest, time.perf_counter() - start)
    assert scored.result().status_code == 200
    return longest


@pytest.mark.parametrize("name", VALUES)
def test_no_less_memory_is_counted_than_the_objects_take(name):
    text = VALUES[name](900_000)
    tracemalloc.start()
    built = msgspec.json.decode(text)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert built
    assert size <= memory_needed(text) <= 4 * size


def test_marks_within_texts_need_no_memory_of_their_own():
    latex = r"\\frac{a, b}{[c]} \"" * 10
    for count in (1_000, 10_000):
        text = b"[" + b", ".join([f'"{latex}"'.encode()] * count) + b"]"
        assert memory_needed(text) < 1.6 * len(text)


def test_memory_is_counted_until_a_thread_is_done_with_it():
    """A reward that has no async form goes on when its request has ended."""
    recipe = Recipe("held up", (Component("mine", "slow_rewards:held_up"),))
    slow_rewards.started.clear()
    slow_rewards.released.clear()
    with serving(recipe, ServerLimits(deadline=0.3)) as url:
        answer = httpx.post(f"{url}/v1/score", json={"completions": ["a" * 100_000]}, timeout=60)
        assert answer.status_code == 504
        assert slow_rewards.started.wait(10)
        assert "plaudit_body_bytes 0.0" not in httpx.get(f"{url}/metrics", timeout=60).text
        slow_rewards.released.set()
        until(lambda: "plaudit_body_bytes 0.0" in httpx.get(f"{url}/metrics", timeout=60).text)


@pytest.mark.long
def test_a_reward_that_hangs_keeps_no_server_from_stopping(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(slow_rewards.__file__).parent))
    recipe = tmp_path / "hanging.toml"
    recipe.write_text('name = "hanging"\n[[rewards]]\nreward = "slow_rewards:patient"\n')
    with served(tmp_path, "--deadline", "0.5", recipe=str(recipe)) as server:
        answer = httpx.post(f"{server.url}/v1/score", json={"completions": ["100000"]}, timeout=60)
        assert answer.status_code == 504
        assert server.stop() == 0


def test_a_request_that_is_too_large_for_all_memory_is_told_so():
    with serving(load("trl-math"), ServerLimits(memory=2_000)) as url:
        body = {"completions": ["4"], "columns": {"solution": [[[]] * 100]}}
        answer = httpx.post(f"{url}/v1/score", json=body, timeout=60)
    assert answer.status_code == 413
    assert "this server has 2000 for all" in answer.json()["error"]
