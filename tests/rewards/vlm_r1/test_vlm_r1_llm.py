"""VLM-R1: a language model says whether two answers mean the same."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from vlm_r1_samples import accuracy

from plaudit.rewards import vlm_r1


class Server(ThreadingHTTPServer):
    """Speaks as much of OpenAI's API as a reward asks for."""

    replies: dict[str, str]
    requests: list[dict]

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({**request, "key": self.headers["Authorization"]})
        said = next(
            reply
            for word, reply in self.server.replies.items()
            if word in request["messages"][-1]["content"]
        )
        if said == "refuse":
            self.send_response(400)
            self.end_headers()
            return
        message = {"role": "assistant", "content": said}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        body = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": choices,
        }
        if said == "empty":
            body["choices"] = []
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    server = Server(("127.0.0.1", 0), Handler)
    server.replies, server.requests = {}, []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("OPENAI_API_BASE", server.address)
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.delenv("PLAUDIT_LLM_MODEL", raising=False)
    for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    yield server
    server.shutdown()
    server.server_close()


def test_llm(server, monkeypatch):
    server.replies = {"Paris": "1.0", "Rome": " 0\n"}
    monkeypatch.setenv("PLAUDIT_LLM_MODEL", "my-model")
    completions = ["<answer>Paris</answer>", "B", "<answer>Rome</answer>"]
    golds, methods = ["<answer>the capital</answer>", "B", "the capital"], ["llm", "mcq", "llm"]
    assert vlm_r1.accuracy_reward(completions, golds, accu_reward_method=methods) == [1.0, 1.0, 0.0]
    assert {request["model"] for request in server.requests} == {"my-model"}
    assert {request["key"] for request in server.requests} == {"Bearer secret"}
    assert all(request["temperature"] == 0 for request in server.requests)
    why = accuracy("llm", "Rome", "the capital").why
    assert why == "The language model says that the answer is wrong."


def test_llm_on_an_event_loop(server):
    server.replies = {"": "1.0"}
    call = vlm_r1.accuracy_reward_async(["Paris"], ["the capital"], accu_reward_method=["llm"])
    assert asyncio.run(call) == [1.0]
    assert server.requests[0]["model"] == "qwen2.5:7b"


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("refuse", "row 1: asking qwen2.5:7b at http://127.0.0.1:.* failed"),
        ("empty", "row 1: asking qwen2.5:7b at http://127.0.0.1:.* failed"),
        ("I would say 1.0", "row 1: qwen2.5:7b must say 1.0 or 0.0, it said 'I would say 1.0'"),
        ("0.5", "row 1: qwen2.5:7b must say 1.0 or 0.0, it said '0.5'"),
        (None, "row 1: qwen2.5:7b must say 1.0 or 0.0, it said None"),
    ],
)
def test_a_language_model_that_fails_is_an_error_that_names_the_row(server, reply, message):
    server.replies = {"Paris": "1.0", "Rome": reply}
    with pytest.raises(RuntimeError, match=message):
        vlm_r1.accuracy_reward(["Paris", "Rome"], ["x", "x"], accu_reward_method=["llm", "llm"])


def test_llm_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    with pytest.raises(ImportError, match=r"pip install 'plaudit\[openai\]'"):
        vlm_r1.accuracy_reward(["a"], ["b"], accu_reward_method=["llm"])
