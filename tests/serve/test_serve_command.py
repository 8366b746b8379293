"""`plaudit serve`, and what it says when it cannot."""

import json
import logging
import socket
import sys

import httpx
import pytest

from plaudit.cli import main
from plaudit.serve import _application, _metrics
from served import served


@pytest.fixture(autouse=True)
def loggers():
    """What the command sets for its process is not for the other tests."""
    names = ("plaudit", "uvicorn", "uvicorn.error")
    before = {name: dict(vars(logging.getLogger(name))) for name in names}
    yield
    for name, state in before.items():
        vars(logging.getLogger(name)).update(state)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--recipe", "trl-maths"], 'did you mean "trl-math"?'),
        (["--recipe", "trl-math", "--max-rows", "0"], "rows must be above 0"),
        (["--recipe", "code"], "start the server with --allow-code"),
        (["--recipe", "trl-math", "--port", "99999"], "cannot listen on 127.0.0.1, port 99999"),
        (["--recipe", "trl-math", "--host", "256.1.1.1"], "cannot listen on 256.1.1.1"),
        (["--recipe", "trl-math", "--token-file", "none"], "cannot read the token in none"),
        (["--recipe", "trl-math", "--token-file", "empty"], "empty must hold a token"),
    ],
)
def test_what_it_cannot_do_it_says(arguments, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").write_text("\n")
    assert main(["serve", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_port_that_is_taken_is_named(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", "--recipe", "trl-math", "--port", port]) == 2
    assert f"port {port}: Address already in use" in capsys.readouterr().err


def test_it_needs_a_recipe(capsys):
    with pytest.raises(SystemExit):
        main(["serve"])
    assert "--recipe" in capsys.readouterr().err


def test_the_extra_to_install_is_named(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "plaudit.cli.serve", raising=False)
    monkeypatch.setitem(sys.modules, "plaudit.serve", None)
    assert main(["serve", "--recipe", "trl-math"]) == 2
    assert "pip install 'plaudit[serve]'" in capsys.readouterr().err


def test_a_token_from_a_file_on_every_interface(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("sesame\n")
    with served(tmp_path, "--host", "0.0.0.0", "--token-file", str(secret), ready=False) as server:
        url = server.url.replace("0.0.0.0", "127.0.0.1")
        assert httpx.get(f"{url}/v1/recipe", timeout=60).status_code == 401
        headers = {"authorization": "Bearer sesame"}
        assert httpx.get(f"{url}/v1/recipe", headers=headers, timeout=60).status_code == 200
        events = [line["event"] for line in server.log()]
        assert "no token" not in events
        assert "sesame" not in str(server.log())


def test_everybody_who_can_use_it_is_warned_of(tmp_path):
    with served(tmp_path, "--host", "0.0.0.0", "--log-level", "warning", ready=False) as server:
        warned = server.log()
    assert [line["event"] for line in warned] == ["no token"]
    assert "--token-file" in warned[0]["why"]


def test_a_token_from_the_environment(tmp_path):
    with served(tmp_path, PLAUDIT_TOKEN="sesame", ready=False) as server:
        assert httpx.get(f"{server.url}/metrics", timeout=60).status_code == 401
        assert server.url.startswith("http://127.0.0.1:")  # this machine alone, unless told


def test_an_error_is_logged_with_its_traceback(capsys):
    _metrics.log_to_stderr("info")
    try:
        raise RuntimeError("what went wrong")
    except RuntimeError as error:
        _metrics.log("failed", logging.ERROR, error, request="5f0c")
    line = json.loads(capsys.readouterr().err)
    assert (line["level"], line["event"], line["request"]) == ("error", "failed", "5f0c")
    assert "RuntimeError: what went wrong" in line["traceback"]


def test_a_judge_that_cannot_start_is_told_of(monkeypatch):
    """As without an antlr runtime: the server lives, is never ready, and says why."""
    from plaudit.recipes import load
    from plaudit.serve import serving

    async def unable(pairs):
        raise ImportError("install plaudit[antlr4-13]")

    monkeypatch.setattr(_application, "judge_async", unable)
    with serving(load("trl-math")) as url:
        answer = httpx.get(f"{url}/readyz", timeout=60)
        assert (answer.status_code, answer.json()["error"]) == (503, "install plaudit[antlr4-13]")
        assert httpx.get(f"{url}/healthz", timeout=60).status_code == 200


def test_the_help_says_what_each_limit_is_for(capsys):
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "a client has to send a whole request, and again to receive the whole answer" in told
    assert "memory that all requests in flight may take together" in told
    assert "requests beyond that are refused with 429" in told
