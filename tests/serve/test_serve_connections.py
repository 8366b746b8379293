"""Nobody holds a connection for longer than a timeout allows, or keeps others from theirs."""

import asyncio
import os
import select
import signal
import socket
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

import httpx
import pytest

from plaudit.recipes import load
from plaudit.serve import ServerLimits, application, listen, serving
from plaudit.serve._server import server_of
from served import all_but_one_long, children, served, symbolic, until

POST = b"POST /v1/score HTTP/1.1\r\nhost: localhost\r\n"
JSON = b"content-type: application/json\r\n"
LONG = b"content-length: 1000\r\n\r\n"
LETTING_IN = b"authorization: Bearer sesame\r\n"


@pytest.fixture(scope="module")
def guarded():
    with serving(load("trl-math"), ServerLimits(io_timeout=0.7, body=2_000), token="sesame") as url:
        yield url


def connected(url):
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=20)


def said_while_dripping(connection, drop):
    """All that comes until the other side closes, while drop after drop is sent."""
    parts, end = [], time.monotonic() + 20
    connection.setblocking(False)
    while time.monotonic() < end:
        with suppress(BlockingIOError):
            try:
                parts.append(connection.recv(65536))
            except ConnectionResetError:
                parts.append(b"")
            if not parts[-1]:
                return b"".join(parts).decode()
        with suppress(OSError):
            connection.send(drop)
        time.sleep(0.05)
    raise AssertionError("the connection is still open")


REFUSALS = {
    401: POST + JSON + LONG,
    404: b"POST /nothing HTTP/1.1\r\nhost: localhost\r\n" + LETTING_IN + LONG,
    405: b"PUT /v1/score HTTP/1.1\r\nhost: localhost\r\n" + LETTING_IN + LONG,
    413: POST + JSON + LETTING_IN + b"content-length: 3000\r\n\r\n",
    415: POST + LETTING_IN + LONG,
    200: b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n" + LONG,
}


@pytest.mark.parametrize("code", REFUSALS)
def test_an_answer_before_the_body_was_read_closes_the_connection(guarded, code):
    with connected(guarded) as connection:
        connection.sendall(REFUSALS[code])
        said = said_while_dripping(connection, b"a")
    assert said.startswith(f"HTTP/1.1 {code} ")
    assert "\r\nconnection: close\r\n" in said.lower()
    assert said.count("HTTP/1.1") == 1


def test_an_answer_reaches_a_client_that_sends_its_body_all_the_same(guarded):
    """Closing at once would reset the connection, and what is on its way with it."""
    headers = {"content-type": "application/json", "authorization": "Bearer sesame"}
    for _ in range(20):
        answer = httpx.post(
            f"{guarded}/v1/score", content=b" " * 5_000_000, headers=headers, timeout=60
        )
        assert answer.status_code == 413


def test_a_request_that_is_read_keeps_its_connection(guarded):
    with httpx.Client(base_url=guarded, headers={"authorization": "Bearer sesame"}) as http:
        batch = {"completions": ["4"], "columns": {"solution": ["4"]}}
        answers = [http.post("/v1/score", json=batch), http.get("/v1/recipe")]
        answers.append(http.post("/v1/score", json={"completions": 4}))
    assert [answer.status_code for answer in answers] == [200, 200, 422]
    assert not any("connection" in answer.headers for answer in answers)


@pytest.mark.parametrize("before", [b"", b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"])
def test_empty_lines_do_not_stop_the_timeout(guarded, before):
    with connected(guarded) as connection:
        connection.sendall(before)
        said = said_while_dripping(connection, b"\r\n")
    assert "HTTP/1.1 408 " in said
    assert said.startswith("HTTP/1.1 200 ") == bool(before)


def test_an_answer_that_nobody_takes_is_dropped(guarded):
    """More answers than the system keeps for a client that reads none of them."""
    asked = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n" + LETTING_IN + b"\r\n"
    with connected(guarded) as connection:
        connection.sendall(asked * 1_000)
        poll = select.poll()
        poll.register(connection, 0)  # errors and hanging up are always told
        assert poll.poll(30_000)


def test_what_is_garbage_after_a_good_request_does_not_cost_its_answer(guarded):
    batch = b'{"completions": ["4"], "columns": {"solution": ["4"]}}'
    length = b"content-length: %d\r\n\r\n" % len(batch)
    with connected(guarded) as connection:
        connection.sendall(POST + JSON + LETTING_IN + length + batch + b"\x16\x03 what\r\n\r\n")
        said = said_while_dripping(connection, b"a")
    assert said.startswith("HTTP/1.1 200 ")
    assert said.count("HTTP/1.1") == 1


HELD = {
    "idle": b"",
    "half a head": b"GET /healthz HTTP/1.1\r\nhost: local",
    "refused": POST + JSON + LONG + b"a",
    "healthy": b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n",
}


@pytest.fixture(scope="module")
def cramped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cramped")
    limits = {"PLAUDIT_TOKEN": "sesame", "PLAUDIT_WORKERS": "2"}
    with served(folder, descriptors=256, **limits) as server:
        yield server


@pytest.mark.parametrize("state", all_but_one_long(HELD))
def test_a_thousand_unauthorized_connections_keep_no_client_from_being_served(cramped, state):
    """With 256 descriptors, of which the judge needs some for new workers."""
    sent = HELD[state]
    with ExitStack() as unauthorized:
        for _ in range(1_000):
            connection = unauthorized.enter_context(connected(cramped.url))
            with suppress(OSError):  # it may have had to make room already
                connection.sendall(sent)
        for fork_server in children(cramped.process.pid):
            os.kill(fork_server, signal.SIGKILL)
        headers = {"authorization": "Bearer sesame"}
        batch = symbolic(4, start=10 * len(sent) + 2)
        answer = httpx.post(f"{cramped.url}/v1/score", json=batch, headers=headers, timeout=60)
        assert [row["total"] for row in answer.json()["rows"]] == [1.0] * 4
    assert not [line for line in cramped.log() if "Too many open files" in str(line)]


def test_idle_clients_give_way_to_new_ones():
    limits = ServerLimits(connections=3)
    with serving(load("trl-math"), limits) as url, ExitStack() as clients:
        idle = [clients.enter_context(httpx.Client(base_url=url, timeout=60)) for _ in range(6)]
        for _ in range(2):
            assert [http.get("/v1/recipe").status_code for http in idle] == [200] * 6


def test_where_all_are_busy_the_next_is_told_to_come_again():
    begun = POST + JSON + b"expect: 100-continue\r\n" + LONG
    with serving(load("trl-math"), ServerLimits(connections=2)) as url, ExitStack() as busy:
        for _ in range(2):
            connection = busy.enter_context(connected(url))
            connection.sendall(begun)
            assert connection.recv(65536).startswith(b"HTTP/1.1 100 ")
        with connected(url) as late:
            said = said_while_dripping(late, b"")
        assert said.startswith("HTTP/1.1 503 ")
        assert "too many connections" in said
        busy.close()
        until(
            lambda: 'code="503",path="other"} 1.0' in httpx.get(f"{url}/metrics", timeout=60).text
        )


@contextmanager
def stopping_server():
    """A server that has handled the signal to stop, and waits for the end of a request."""
    limits = ServerLimits(io_timeout=20.0)
    server = server_of(application(load("trl-math"), limits), limits)
    with listen("127.0.0.1", 0) as listener:
        address = listener.getsockname()
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        until(lambda: server.started)
        with socket.create_connection(address, timeout=20) as unfinished:
            unfinished.sendall(POST + JSON + b"expect: 100-continue\r\n" + LONG)
            assert unfinished.recv(65536).startswith(b"HTTP/1.1 100 ")
            server.should_exit = True
            until(lambda: not server.servers[0].is_serving())
            yield server
        thread.join(20)
        assert not thread.is_alive()


def accepted(server):
    """A connection that asyncio had accepted before the signal, and hands over after it."""
    ours, theirs = socket.socketpair()
    [connection] = server.server_state.connections

    def protocol():
        shared = {"config": server.config, "server_state": server.server_state}
        state = server.lifespan.state
        return server.config.http_protocol_class(app_state=state, _loop=connection.loop, **shared)

    coroutine = connection.loop.connect_accepted_socket(protocol, theirs)
    asyncio.run_coroutine_threadsafe(coroutine, connection.loop).result(20)
    return ours


def test_a_connection_that_is_made_while_the_server_stops_ends_with_its_first_request():
    asked = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with stopping_server() as server, accepted(server) as busy:
        said = said_while_dripping(busy, asked)
    assert said.count("HTTP/1.1 200 ") == 1
    assert "\r\nconnection: close\r\n" in said


def test_a_connection_that_is_made_while_the_server_stops_must_send_its_request_soon():
    with stopping_server() as server, accepted(server) as idle:
        said = said_while_dripping(idle, b"")
    assert "did not arrive within 2 s" in said
