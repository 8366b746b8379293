"""The page "In production": what it says is run, as far as this machine can."""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import yaml

from plaudit.cli import serve as serve_command
from plaudit.cli.arguments import add_arguments
from plaudit.recipes import load
from plaudit.serve import ServerLimits, application, listen
from plaudit.serve._server import GRACE
from plaudit.trainers.client import Client, ServerError
from served import served, until

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "production.md").read_text("utf-8")
STOPPING = ServerLimits().io_timeout + ServerLimits().deadline + GRACE
GOLDS = {"solution": ["4"]}


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def serve_options(words):
    """What `plaudit serve` makes of these options; it ends if it knows one of them not."""
    parser = argparse.ArgumentParser()
    add_arguments(parser, serve_command.run)
    return parser.parse_args(words)


# --- nginx ----------------------------------------------------------------------------------------


def free_port():
    with listen("127.0.0.1", 0) as listener:
        return listener.getsockname()[1]


@contextmanager
def nginx(folder, upstream, **changes):
    """The configuration of the page, on free ports and with a certificate of its own."""
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*command.split(), *names], cwd=folder, check=True, capture_output=True)
    port = free_port()
    [text] = blocks("nginx")
    changed = {
        "listen 443": f"listen 127.0.0.1:{port}",
        "127.0.0.1:8950": upstream,
        "/etc/nginx/tls": str(folder),
        **changes,
    }
    for old, new in changed.items():
        assert old in text
        text = text.replace(old, new)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = (
        f"daemon off;\nuser {os.environ.get('USER', 'root')};\npid {folder}/pid;\n"
        f"error_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{text}}}\n"
    )
    (folder / "nginx.conf").write_text(main)
    process = subprocess.Popen(["nginx", "-c", folder / "nginx.conf", "-e", folder / "error.log"])
    try:
        url = f"https://localhost:{port}/rewards"
        until(lambda: _answers(url, process))
        yield url
    finally:
        process.terminate()
        process.wait(20)


def _answers(url, process):
    assert process.poll() is None
    try:
        return httpx.get(f"{url}/healthz", verify=False)
    except httpx.TransportError:
        return None


HAS_NGINX = pytest.mark.skipif(not shutil.which("nginx"), reason="apt-get install nginx")


@HAS_NGINX
@pytest.mark.parametrize("removes_prefix", [True, False])
def test_the_server_works_behind_nginx_under_a_prefix(tmp_path, monkeypatch, removes_prefix):
    [command] = blocks("sh")
    *_, recipe = shlex.split(command)[:4]
    options = shlex.split(command)[4:]
    changes = {} if removes_prefix else {"http://plaudit/;": "http://plaudit;"}
    with (
        served(tmp_path, *options, recipe=recipe) as server,
        nginx(tmp_path, server.url.removeprefix("http://"), **changes) as url,
    ):
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        with Client(url, patience=5) as client:
            assert client([r"\boxed{4}"], **GOLDS) == [1.0]
            long = "So I think. " * 100_000 + r"\boxed{4}"
            assert client([long] * 8, solution=["4"] * 8) == [1.0] * 8  # 10 MB
        with httpx.Client(headers={"host": "rewards.example.com"}) as http:
            assert http.get(f"{url}/readyz").status_code == 200
            assert "BASE + path" in http.get(f"{url}/").text
            assert http.get(f"{url}/openapi.json").json()["servers"] == [{"url": "/rewards"}]
            answer = http.get(f"{url}/healthz", headers={"host": "others.example.com"})
            assert answer.status_code == 421
            assert '"others.example.com"' in answer.json()["error"]
            assert "--allow-host" in answer.json()["error"]


@HAS_NGINX
def test_a_body_that_nginx_refuses_is_explained(tmp_path, monkeypatch):
    with (
        served(tmp_path) as server,
        nginx(
            tmp_path,
            server.url.removeprefix("http://"),
            **{"client_max_body_size 64m;": ""},
        ) as url,
    ):
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        with Client(url) as client, pytest.raises(ServerError, match="client_max_body_size"):
            client(["a" * 2_000_000], **GOLDS)


# --- the prefix without a proxy -------------------------------------------------------------------


@pytest.mark.parametrize("path", ["rewards", "/rewards/", "/", "/a b", "/rewards?"])
def test_a_prefix_that_is_no_path_is_refused(path):
    with pytest.raises(ValueError, match='root_path must be like "/rewards"'):
        application(load("trl-math"), root_path=path)


def test_only_whole_names_of_the_prefix_are_removed(tmp_path):
    with served(tmp_path, "--root-path", "/a/rewards", PLAUDIT_TOKEN="sesame") as server:
        codes = {
            path: httpx.get(f"{server.url}{path}").status_code
            for path in ("/a/rewards", "/a/rewards/healthz", "/healthz", "/a/rewards/v1/recipe")
        }
        assert list(codes.values()) == [200, 200, 200, 401]
        token = {"authorization": "Bearer sesame"}
        for path in ("/a/rewardshealthz", "/a/healthz", "/a/rewards/a/rewards/healthz"):
            assert httpx.get(f"{server.url}{path}", headers=token).status_code == 404


# --- the other files ------------------------------------------------------------------------------


def test_the_unit_of_systemd_starts_the_server_and_waits_for_its_end():
    [text] = blocks("ini")
    unit = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    program, command, *options = shlex.split(unit["ExecStart"])
    assert (Path(program).name, command) == ("plaudit", "serve")
    assert serve_options(options).token_file.name == "token"
    assert float(unit["TimeoutStopSec"]) > STOPPING


def test_the_container_files_start_the_server_and_wait_for_its_end():
    compose, kubernetes = blocks("yaml")
    rewards = yaml.safe_load(compose)["services"]["rewards"]
    assert serve_options(rewards["command"]).recipe == "/etc/plaudit/recipe.toml"
    assert float(rewards["stop_grace_period"].removesuffix("s")) > STOPPING
    deployment, service = yaml.safe_load_all(kubernetes)
    pod = deployment["spec"]["template"]
    [container] = pod["spec"]["containers"]
    assert serve_options(container["args"]).port == container["ports"][0]["containerPort"]
    assert pod["metadata"]["labels"] == service["spec"]["selector"]
    wait = float(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["spec"]["terminationGracePeriodSeconds"] > STOPPING + wait


def test_the_probes_need_no_token(tmp_path):
    compose, kubernetes = blocks("yaml")
    probes = re.findall(r"path: (/\w+)", kubernetes)
    assert set(probes) == {"/healthz", "/readyz"}
    check = yaml.safe_load(compose)["services"]["rewards"]["healthcheck"]["test"]
    with served(tmp_path, PLAUDIT_TOKEN="sesame") as server:
        for probe in probes:
            assert httpx.get(f"{server.url}{probe}").status_code == 200
        code = check[-1].replace("http://127.0.0.1:8950", server.url)
        subprocess.run([sys.executable, *check[2:-1], code], check=True)


def steps_of(dockerfile):
    """The instructions, each with its arguments."""
    for line in dockerfile.replace("\\\n", " ").splitlines():
        name, _, arguments = line.partition(" ")
        yield name, arguments


@pytest.mark.long
def test_the_steps_of_the_dockerfile_make_a_server(tmp_path):
    """In a clean folder instead of an image: what is under / there is under the folder here."""
    context, root = tmp_path / "context", tmp_path / "root"
    tracked = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    for name in tracked.rstrip("\0").split("\0"):
        if (ROOT / name).is_file():
            (context / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, context / name)
    (context / "recipe.toml").write_text(load("math").to_toml())
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = []
    [dockerfile] = blocks("dockerfile")
    for name, arguments in steps_of(dockerfile):
        arguments = re.sub(r"(?<![\w.])/(opt|etc)/", rf"{root}/\1/", arguments)
        if name == "COPY":
            source, target = arguments.split()
            Path(target).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-R", source, target], cwd=context, check=True)
        elif name == "RUN":
            subprocess.run(["sh", "-ec", arguments], cwd=root, env=environment, check=True)
        elif name in ("ENTRYPOINT", "CMD"):
            command += json.loads(arguments)
        else:
            assert name in ("FROM", "USER", "EXPOSE")
    command += ["--host", "127.0.0.1", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            url = re.search(r"http://\S+", server.stdout.readline())[0]
            assert Client(url)([r"\boxed{4}"], **GOLDS) == [1.0]
        finally:
            server.terminate()
            assert server.wait(60) == 0
