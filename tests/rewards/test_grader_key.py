"""The API key of the environment goes to the server that the environment names, and to no other."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from plaudit.recipes import load
from plaudit.rewards._grader import Grader, GraderQuestion, key_for

QUESTION = GraderQuestion("q", "the remainder is multiplied by three", "three times the remainder")
ADDRESSES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer()

    def do_GET(self):
        self.answer()

    def answer(self):
        self.server.keys.append(self.headers.get("Authorization"))
        self.send_response(self.server.status)
        if self.server.redirect:
            self.send_header("Location", self.server.redirect)
        self.end_headers()
        self.wfile.write(json.dumps({"choices": [{"message": {"content": "yes"}}]}).encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def start():
    """Start servers that say yes to everything, and keep the keys that they are sent."""
    servers = []

    def started(status=200, redirect=""):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.keys, server.status, server.redirect = [], status, redirect
        server.url = f"http://127.0.0.1:{server.server_port}/v1"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server

    yield started
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    for name in (*ADDRESSES, "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def test_a_recipe_cannot_send_the_key_to_an_address_of_its_own(start, tmp_path):
    server = start()
    params = f'{{ grader = {{ url = "{server.url}", model = "m" }} }}'
    recipe = tmp_path / "theirs.toml"
    recipe.write_text(f'[[rewards]]\nreward = "answers.answer_reward"\nparams = {params}\n')
    text = rf"\boxed{{\text{{{QUESTION.answer}}}}}"
    (row,) = load(recipe)([text], solution=[QUESTION.gold], question=["q"])
    assert (row.total, server.keys) == (1.0, [None])


def test_a_recipe_cannot_choose_the_variable_of_the_key(tmp_path):
    params = '{ grader = { url = "http://localhost", model = "m", key = "AWS_SECRET_ACCESS_KEY" } }'
    recipe = tmp_path / "theirs.toml"
    recipe.write_text(f'[[rewards]]\nreward = "answers.answer_reward"\nparams = {params}\n')
    with pytest.raises(ValueError, match=r"grader needs url and model, and takes deadline"):
        load(recipe)([r"\boxed{4}"], solution=["4"])


@pytest.mark.parametrize("variable", ADDRESSES)
def test_the_server_that_the_environment_names_gets_the_key(start, monkeypatch, variable):
    server, other = start(), start()
    monkeypatch.setenv(variable, server.url)
    for one in (server, other):
        assert Grader(one.url, variable).ask([QUESTION])[0].same
    assert (server.keys, other.keys) == (["Bearer secret"], [None])


@pytest.mark.parametrize(
    ("named", "url", "is_sent"),
    [
        ("", "https://api.openai.com/v1", True),
        ("", "https://API.OpenAI.com:443/v1", True),
        ("", "http://api.openai.com/v1", False),
        ("", "https://api.openai.com.example.org/v1", False),
        ("", "https://api.openai.com:8443/v1", False),
        ("https://example.org/v1", "https://example.org/other", True),
        ("https://example.org/v1", "https://api.openai.com/v1", False),
        ("https://example.org/v1", "http://example.org/v1", False),
    ],
)
def test_a_server_is_its_scheme_its_host_and_its_port(monkeypatch, named, url, is_sent):
    monkeypatch.setenv("OPENAI_BASE_URL", named)
    assert key_for(Grader(url, "m").url) == ("secret" if is_sent else None)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com@example.org/v1",
        "https://example.org\\@api.openai.com/v1",
        "https://api.openai.com%2eexample.org/v1",
        "https:///v1",
    ],
)
def test_an_address_that_can_be_read_in_two_ways_is_refused(url):
    with pytest.raises(ValueError, match="url must have a host, and no user name"):
        Grader(url, "m")


def test_a_redirect_does_not_pass_the_key_on(start, monkeypatch):
    other = start()
    server = start(302, other.url)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    Grader(server.url, "redirected").ask([QUESTION])
    assert (server.keys, other.keys) == (["Bearer secret"], [None])


def test_a_server_that_refuses_a_call_without_a_key_is_explained(start):
    server = start(401)
    (asked,) = Grader(server.url, "refused").ask([QUESTION])
    assert asked.same is None
    assert f"set OPENAI_API_KEY and OPENAI_BASE_URL={server.url}" in asked.why
