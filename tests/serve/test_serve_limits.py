"""What is too large, too slow, too much or not allowed: 4xx, with a message."""

import select
import socket
import threading
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx
import pytest

import slow_rewards
from plaudit.recipes import Component, Recipe, load
from plaudit.serve import ServerLimits, serving
from served import until

PATIENT = Recipe("patient", (Component("mine", "slow_rewards:patient"),))
HEAD = b"POST /v1/score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


@pytest.fixture(scope="module")
def small():
    limits = ServerLimits(body=2_000, rows=10, io_timeout=0.7, deadline=60, memory=8_000)
    with serving(PATIENT, limits) as url:
        yield url


def connected(url):
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=10)


def said(connection):
    """All that comes until the other side closes."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts).decode()


def ask(url, seconds, rows=1):
    return httpx.post(f"{url}/v1/score", json={"completions": [str(seconds)] * rows}, timeout=60)


def test_a_body_that_is_too_large_is_refused_by_its_length(small):
    answer = httpx.post(f"{small}/v1/score", json={"completions": ["a" * 3_000]}, timeout=60)
    assert answer.status_code == 413
    assert "2000 bytes" in answer.json()["error"]


def test_a_body_that_is_too_large_is_refused_while_it_is_read(small):
    sent = 0

    def chunks():
        nonlocal sent
        while sent < 5_000_000:
            sent += 1_000
            yield b"a" * 1_000

    headers = {"content-type": "application/json"}
    answer = httpx.post(f"{small}/v1/score", content=chunks(), headers=headers, timeout=60)
    assert answer.status_code == 413


def test_memory_for_bodies_is_limited(small):
    """Each of them is small enough, and waits: together they are too much."""
    connections = [connected(small) for _ in range(5)]
    head = HEAD + b"content-length: 2000\r\n\r\n" + b"a" * 1_900
    for connection in connections:
        connection.sendall(head)
    answers = [connection.recv(65536).decode() for connection in connections]
    assert {answer.split()[1] for answer in answers} == {"408", "429"}
    for connection in connections:
        connection.close()
    until(lambda: "plaudit_body_bytes 0.0" in httpx.get(f"{small}/metrics", timeout=60).text)


def test_too_many_rows_at_once_are_told_so(small):
    answer = ask(small, 0, rows=11)
    assert answer.status_code == 413
    assert "11 completions" in answer.json()["error"]


def test_too_many_rows_in_flight_should_come_again(small):
    slow_rewards.started.clear()
    answers = []
    first = threading.Thread(target=lambda: answers.append(ask(small, 0.6, rows=6)))
    first.start()
    assert slow_rewards.started.wait(10)
    second = ask(small, 0, rows=6)
    third = ask(small, 0, rows=4)
    first.join()
    assert second.status_code == 429
    assert second.headers["retry-after"] == "1"
    assert "6 rows are in flight" in second.json()["error"]
    assert [third.status_code, answers[0].status_code] == [200, 200]
    assert ask(small, 0, rows=10).status_code == 200


def test_a_request_has_a_deadline():
    """The reward takes longer than the request may: it is not waited for."""
    with serving(PATIENT, ServerLimits(deadline=0.5)) as url:
        answer = ask(url, 50)
    assert answer.status_code == 504
    assert "0.5 s" in answer.json()["error"]


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /v1/sc",
        HEAD,
        HEAD + b"content-length: 100\r\n\r\n",
        HEAD + b'content-length: 100\r\n\r\n{"completions": [',
        HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\n{",
    ],
)
def test_a_slow_sender_is_told_so(small, sent):
    with connected(small) as connection:
        connection.sendall(sent)
        answer = said(connection)
    assert answer.startswith("HTTP/1.1 408 ")
    assert "did not arrive within 0.7 s" in answer


def test_a_sender_of_drops_is_told_so(small):
    with connected(small) as connection:
        connection.sendall(HEAD + b"content-length: 100\r\n\r\n")
        for _ in range(12):
            time.sleep(0.1)
            try:
                connection.sendall(b" ")
            except OSError:
                break
        assert connection.recv(65536).startswith(b"HTTP/1.1 408 ")


def test_a_second_request_on_a_connection_is_timed_too(small):
    with connected(small) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        first = b""
        while not first.endswith(b"}"):  # its head and its body may come apart
            first += connection.recv(65536)
        assert first.startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /healthz HTTP/1.1\r\nhos")
        assert said(connection).startswith("HTTP/1.1 408 ")


def test_headers_without_end_are_refused(small):
    with connected(small) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n" + b"a: b\r\n" * 8_000)
        connection.sendall(b"c: d\r\n" * 8_000)
        assert connection.recv(65536).startswith(b"HTTP/1.1 431 ")


def test_what_is_no_http_is_refused(small):
    with connected(small) as connection:
        connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        answer = said(connection)
    assert answer.startswith("HTTP/1.1 400 ")
    assert "Traceback" not in answer


def test_slow_senders_keep_nobody_waiting():
    """Another is answered before any of them is refused."""
    with serving(PATIENT) as url, ExitStack() as slow:
        connections = [slow.enter_context(connected(url)) for _ in range(40)]
        for connection in connections:
            connection.sendall(HEAD)
        assert ask(url, 0).status_code == 200
        assert select.select(connections, [], [], 0)[0] == []


@pytest.fixture(scope="module")
def guarded():
    with serving(load("trl-math"), token="sesame") as url:
        yield url


def bearer(token):
    return {"authorization": token}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        bearer("Bearer"),
        bearer("Bearer sesam"),
        bearer("Bearer sesame1"),
        bearer("Basic sesame"),
        bearer("sesame"),
        {"authorization": b"Bearer \xe9\xff"},
    ],
    ids=str,
)
def test_a_wrong_token_is_refused(guarded, headers):
    for path in ("/v1/score", "/v1/recipe", "/v1/figures", "/metrics", "/openapi.json", "/slime"):
        answer = httpx.get(f"{guarded}{path}", headers=headers, timeout=60)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "token" in answer.json()["error"]
        assert "sesame" not in answer.text


def test_a_wrong_token_is_refused_before_the_body_is_read(guarded):
    with connected(guarded) as connection:
        connection.sendall(HEAD + b"content-length: 1000000\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 401 ")


def test_the_right_token_opens(guarded):
    headers = bearer("Bearer sesame")
    body = {"completions": [r"\boxed{4}"], "columns": {"solution": ["4"]}}
    answer = httpx.post(f"{guarded}/v1/score", json=body, headers=headers, timeout=60)
    assert answer.json()["rows"][0]["total"] == 1.0


def test_health_and_the_bare_page_need_no_token(guarded):
    until(lambda: httpx.get(f"{guarded}/readyz", timeout=60).status_code == 200)
    assert httpx.get(f"{guarded}/healthz", timeout=60).json() == {"status": "ok"}
    page = httpx.get(f"{guarded}/", timeout=60)
    assert page.status_code == 200
    assert "trl-math" not in page.text


def test_limits_must_be_limits():
    with pytest.raises(ValueError, match="deadline must be above 0, got nan"):
        ServerLimits(deadline=float("nan"))


@pytest.mark.parametrize("name", ["body", "rows", "connections", "memory"])
@pytest.mark.parametrize("value", [0.5, 5.0, "5", None])
def test_what_is_counted_is_a_whole_number(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a whole number, got {value!r}"):
        ServerLimits(**{name: value})


@pytest.mark.parametrize("name", ["io_timeout", "deadline"])
def test_a_time_is_a_number(name):
    with pytest.raises(ValueError, match=f"{name} must be a number, got '5'"):
        ServerLimits(**{name: "5"})
    assert getattr(ServerLimits(**{name: 5}), name) == 5
