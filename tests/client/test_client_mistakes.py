"""Mistakes that waiting cannot cure are said at once, and what to do about them."""

import asyncio
import logging
import ssl
import subprocess
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from plaudit.recipes import load
from plaudit.serve import listen, serving
from plaudit.trainers.client import AsyncClient, Attempts, Client, ClientSettings, ServerError

BATCH = {"completions": [r"\boxed{4}"], "solution": ["4"]}


def ask(client):
    return client(**BATCH)


def ask_async(client):
    async def call():
        async with client:
            return await client(**BATCH)

    return asyncio.run(call())


CLIENTS = [(Client, ask), (AsyncClient, ask_async)]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*command.split(), *names], cwd=folder, check=True, capture_output=True)
    return folder


@contextmanager
def answering(handler, certificate=None):
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


class Silent(BaseHTTPRequestHandler):
    """Says 404 to everything, and nothing to standard error."""

    def do_GET(self):
        self.send_error(404)

    def log_message(self, *_):
        pass


class Unspeakable(Silent):
    """What a server with TLS answers to plain HTTP: an alert."""

    def handle(self):
        self.request.recv(65536)
        self.request.sendall(b"\x15\x03\x01\x00\x02\x02\x46")


def said_at_once(url, kind, asking):
    start = time.monotonic()
    with pytest.raises(ServerError) as raised:
        asking(kind(url, patience=60))
    assert time.monotonic() - start < 30
    return str(raised.value)


@pytest.mark.parametrize(("kind", "asking"), CLIENTS)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_host_that_has_no_address(scheme, kind, asking):
    said = said_at_once(f"{scheme}://rewards.invalid:8950", kind, asking)
    assert "no address is known for the host rewards.invalid: check its spelling" in said


@pytest.mark.parametrize(("kind", "asking"), CLIENTS)
def test_tls_that_fails(certificate, kind, asking):
    with answering(Silent, certificate) as port:
        said = said_at_once(f"https://localhost:{port}", kind, asking)
        assert "its certificate is not trusted" in said
        assert "SSL_CERT_FILE" in said
    with answering(Silent) as port:
        said = said_at_once(f"https://localhost:{port}", kind, asking)
        assert f"if the server has none, its address is http://localhost:{port}" in said
    with answering(Unspeakable) as port:
        said = said_at_once(f"http://localhost:{port}", kind, asking)
        assert f"if it has TLS, its address is https://localhost:{port}" in said


@pytest.mark.parametrize(("kind", "asking"), CLIENTS)
def test_the_advice_on_certificates_helps(monkeypatch, certificate, kind, asking):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    with answering(Silent, certificate) as port:
        assert "answered 404" in said_at_once(f"https://localhost:{port}", kind, asking)


def test_a_server_that_answered_before_may_lose_its_address_for_a_while():
    settings = ClientSettings("http://rewards.invalid")
    with pytest.raises(httpx.ConnectError) as unknown:
        httpx.get(settings.url)
    assert Attempts(settings, is_known=True).outcome(unknown.value).seconds > 0
    with pytest.raises(ServerError, match="check its spelling"):
        Attempts(settings, is_known=False).outcome(unknown.value)


def test_a_client_says_that_it_waits(caplog):
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with caplog.at_level(logging.WARNING), pytest.raises(ServerError, match="cannot reach"):
        Client(url, patience=1.0)(**BATCH)
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith(f"cannot reach {url}: ConnectError ")
    assert line.endswith("trying again for 1 s")


@pytest.mark.parametrize(("kind", "asking"), CLIENTS)
def test_a_wrong_token_reads_otherwise_than_a_missing_one(monkeypatch, kind, asking):
    monkeypatch.delenv("PLAUDIT_TOKEN", raising=False)
    with serving(load("trl-math"), token="sesame") as url:
        for token, variable, said in (
            (None, "", "requires a token: .* (the client sent no token: pass token=…"),
            ("barley", "", "the token is wrong: .* (the client sent the token of token=…"),
            (None, "oats", "the token is wrong: .* (the client sent the token of PLAUDIT_TOKEN"),
        ):
            monkeypatch.setenv("PLAUDIT_TOKEN", variable)
            with pytest.raises(ServerError, match=said.replace("(", r"\(")) as raised:
                asking(kind(url, token=token))
            assert raised.value.code == 401
            assert "barley" not in str(raised.value)


class Proxy(Silent):
    """A proxy that says so."""

    def do_GET(self):
        self.send_error(418, "I am the proxy")


@pytest.mark.parametrize(("kind", "asking"), CLIENTS)
def test_a_proxy_is_named_once_and_never_used_for_this_machine(monkeypatch, caplog, kind, asking):
    with answering(Proxy) as port, serving(load("trl-math")) as local:
        monkeypatch.setenv("HTTP_PROXY", f"http://user:secret@127.0.0.1:{port}")
        monkeypatch.setenv("http_proxy", f"http://user:secret@127.0.0.1:{port}")
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        assert asking(kind(local)) == [1.0]
        assert not caplog.records
        url = f"http://{kind.__name__}.invalid"
        for _ in range(2):
            with pytest.raises(ServerError, match="answered 418"):
                asking(kind(url))
    [line] = [one.getMessage() for one in caplog.records if one.name == "plaudit.trainers.client"]
    assert f"through the proxy http://127.0.0.1:{port} of the environment; NO_PROXY=" in line
