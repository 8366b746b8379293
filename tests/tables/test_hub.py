"""`hf://datasets/…`: the real client, and a small server that answers as the Hub does."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from plaudit.tables import InputError, score_table
from tables import scored

pytest.importorskip("huggingface_hub")

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ROW = json.dumps({"completion": r"\boxed{4}", "solution": "4"}).encode() + b"\n"
FILES = {
    "README.md": b"# A dataset",
    "data/train-0.jsonl": ROW * 2,
    "data/train-1.jsonl": ROW,
    "data/test.jsonl": ROW * 5,
}
ROOT = "/api/datasets/org/name/revision/"
SCORE = "import sys; from plaudit.cli import main; sys.exit(main(sys.argv[1:]))"


def entry(name):
    digest = hashlib.sha1(FILES[name]).hexdigest()
    return {"type": "file", "path": name, "size": len(FILES[name]), "oid": digest}


class Hub(BaseHTTPRequestHandler):
    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path in (f"{ROOT}main", f"{ROOT}{COMMIT}"):
            siblings = [{"rfilename": name} for name in FILES]
            body = json.dumps({"id": "org/name", "sha": COMMIT, "siblings": siblings}).encode()
            return self.answer(200, body, Content_Type="application/json")
        if path == f"/api/datasets/org/name/tree/{COMMIT}":  # newer clients ask for this as well
            body = json.dumps([entry(name) for name in FILES]).encode()
            return self.answer(200, body, Content_Type="application/json")
        name = path.partition(f"/resolve/{COMMIT}/")[2]
        if name not in FILES:
            return self.answer(404, X_Error_Code="RepoNotFound", X_Error_Message="not found")
        etag = f'"{entry(name)["oid"]}"'
        return self.answer(200, FILES[name], ETag=etag, X_Repo_Commit=COMMIT)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def hub():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def run(hub, folder, address):
    """The command, in a process of its own: the client reads its settings when it is imported."""
    settings = {"HF_ENDPOINT": hub, "HF_HOME": str(folder / "hub"), "HF_HUB_OFFLINE": "0"}
    arguments = ["score", address, "--recipe", "trl-math", "--out", str(folder / "out")]
    return subprocess.run(
        [sys.executable, "-c", SCORE, *arguments, "--workers", "1"],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("inside", "rows"), [("/data/train-*.jsonl", 3), pytest.param("", 8, marks=pytest.mark.long)]
)
def test_a_dataset_of_the_hub_is_scored(hub, tmp_path, inside, rows):
    ended = run(hub, tmp_path, f"hf://datasets/org/name{inside}")
    assert ended.returncode == 0, ended.stderr
    assert scored(tmp_path / "out")["total"].to_pylist() == [1.0] * rows


def test_a_dataset_that_is_not_there_is_said_in_one_line(hub, tmp_path):
    ended = run(hub, tmp_path, "hf://datasets/org/other")
    assert ended.returncode == 2
    assert "plaudit: cannot download hf://datasets/org/other: " in ended.stderr.splitlines()[-1]


def test_an_address_that_names_no_dataset(tmp_path):
    with pytest.raises(InputError, match="hf://org/name is no dataset: expected hf://datasets/ORG"):
        score_table("hf://org/name", "trl-math", tmp_path / "out")
