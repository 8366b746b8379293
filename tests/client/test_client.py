"""The clients: the same rewards as without a server, and what they do when it is away."""

import asyncio
import inspect
import json
import multiprocessing
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import ClassVar, get_args, get_type_hints

import httpx
import numpy
import pandas as pd
import polars as pl
import pytest
from PIL import Image

import plaudit
import slow_rewards
from plaudit.recipes import Component, Recipe, load
from plaudit.recipes.row_score import ScoredBatch
from plaudit.rewards import trl
from plaudit.scores import Score, reward
from plaudit.scores.score import log_means, log_statuses
from plaudit.serve import ServerLimits, serving
from plaudit.serve import _protocol as protocol
from plaudit.trainers.client import (
    AsyncClient,
    Client,
    ClientSettings,
    RemoteRecipe,
    Request,
    ServerConnection,
    ServerError,
    body_of,
    proxy_of,
    rows_of,
)
from served import until

RECIPE = Recipe(
    "thinking",
    (
        Component("accuracy", "trl.accuracy_reward", weight=2.0),
        Component("format", "trl.think_format_reward", weight=0.5, gate="accuracy"),
        Component("brevity", "trl.get_cosine_scaled_reward", params={"max_len": 50}),
    ),
    columns={"solution": "answer"},
)
TEXTS = [
    r"<think>2 + 2</think> \boxed{4}",
    r"\boxed{4}",
    r"<think>…</think> \boxed{9^{9^{9^9}}}",
    r"<think>…</think> \boxed{y + \sin(x)}",
    "",
    "\ud800 日本語 \x00 \\boxed{4}",
]
BATCH = {
    "completions": [[{"role": "assistant", "content": text}] for text in TEXTS],
    "answer": ["4", 4.0, 4, r"$\sin(x) + y$", "4", None],
    "completion_ids": [[1, 2, 3]] * 5 + [list(range(60))],
}


@pytest.fixture(scope="module")
def url():
    with serving(RECIPE) as address:
        yield address


@pytest.fixture(scope="module")
def client(url):
    with Client(url) as made:
        yield made


class Trainer:
    """What a trainer hands over beside the columns, and what it heard."""

    def __init__(self):
        self.extra, self.metrics = {}, {}

    def arguments(self):
        return {
            "prompts": [[{"role": "user", "content": "2 + 2?"}]] * len(TEXTS),
            "images": [Image.new("RGB", (2, 2))] * len(TEXTS),
            "trainer_state": object(),
            "log_extra": lambda name, values: self.extra.__setitem__(name, list(values)),
            "log_metric": self.metrics.__setitem__,
        }


def test_the_total_is_the_recipes(client):
    assert client(**BATCH) == [row.total for row in RECIPE(**BATCH)]
    assert client.__name__ == "thinking"
    assert repr(client).startswith("Client('http://127.0.0.1")


def test_scores_have_their_reasons(client):
    assert client.score(**BATCH) == RECIPE(**BATCH)


def test_a_gold_that_is_read_in_part_is_told_of(client):
    batch = {"completions": [r"\boxed{2}"], "answer": [r"2\sqrt{2}"], "completion_ids": [[1]]}
    (row,) = client.score(**batch)
    assert row.components["accuracy"].partial_gold
    assert [row] == RECIPE(**batch)


def test_what_each_component_adds_to_the_total_arrives(client):
    assert [row.weighted for row in client.score(**BATCH)] == [
        row.weighted for row in RECIPE(**BATCH)
    ]


def levelled(completions, level=None, **kwargs):
    return [1.0 if level is None else 0.5 for _ in completions]


def test_a_column_that_a_reward_takes_is_never_left_out_in_silence():
    recipe = Recipe("levels", (Component("levels", reward(columns=("level",))(levelled)),))
    with serving(recipe) as url, Client(url) as client:
        assert client(["a"], level=[3]) == [0.5]
        with pytest.raises(ValueError, match="level has 2 entries, completions has 1"):
            client(["a"], level=[3, 4])
        with pytest.warns(UserWarning, match="level cannot be sent .* scores without it"):
            assert client(["a"], level=[object()]) == [1.0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"url": "http://host:port"}, "is not the address of a server"),
        ({"url": "http://"}, "it names no host"),
        ({"columns": "problem"}, r"columns must be a list of names: write \['problem'\]"),
        ({"patience": float("nan")}, "patience must be a number of seconds, got nan"),
        ({"timeout": 0.0}, "timeout must be a number of seconds, got 0.0"),
    ],
)
def test_settings_that_no_client_can_have(given, said):
    with pytest.raises(ValueError, match=said):
        Client(**{"url": "http://rewards:8950", **given})


@pytest.mark.parametrize("body", [b"<h1>Welcome</h1>", b'{"status": "ok"}', b"[]"])
def test_what_another_server_answers_is_told(body):
    class Other(Grumpy):
        said = ((200, "application/json", body),) * 2
        times: ClassVar = deque()

    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{other.server_port}"
        with pytest.raises(ServerError, match="does not answer as plaudit's server does"):
            Client(url)(["4"], solution=["4"])
        other.shutdown()
        thread.join()


OF_ANOTHER_VALUE = {
    str: "said",
    bool: True,
    float: float("-inf"),
    tuple[float, ...]: (1.0, 0.0),
}


@pytest.mark.parametrize("changed", [field.name for field in fields(Score)])
def test_every_field_of_a_score_arrives(changed):
    hint = get_type_hints(Score)[changed]
    kind = next(kind for kind in OF_ANOTHER_VALUE if kind in (hint, *get_args(hint)))
    score = Score(**{"value": 0.5, "why": "", changed: OF_ANOTHER_VALUE[kind]})
    batch = ScoredBatch({"accuracy": [score]}, {"accuracy": 1.0})
    answer = protocol.to_json({"rows": protocol.rows_of(batch, reasons=True)})
    recipe = RemoteRecipe("a", ("accuracy",), (1.0,), frozenset(), frozenset(), takes_any=False)
    assert rows_of(json.loads(answer), recipe) == batch.rows


def test_each_component_is_the_recipes_and_logs_the_same(client):
    direct, remote = Trainer(), Trainer()
    for here, there in zip(RECIPE.reward_funcs(), client.reward_funcs(), strict=True):
        assert there(**BATCH, **remote.arguments()) == here(**BATCH, **direct.arguments())
        assert there.__name__ == here.__name__
    seconds = {name for name in direct.metrics if name.endswith("seconds")}
    assert remote.extra == direct.extra
    assert remote.metrics == {n: v for n, v in direct.metrics.items() if n not in seconds}
    assert remote.metrics
    assert client.reward_weights() == RECIPE.reward_weights()


def told_of_the_total(rows):
    """What a trainer hears that calls the recipe itself."""
    told = {}
    names = [component.name for component in RECIPE.components]
    values = {name: [row.components[name].value for row in rows] for name in names}
    log_means("thinking", values, told.__setitem__)
    log_statuses("thinking", [row.status for row in rows], told.__setitem__)
    return told


def test_the_total_tells_of_each_component_and_of_the_statuses(client):
    trainer, rows = Trainer(), RECIPE(**BATCH)
    assert client(**BATCH, **trainer.arguments()) == [row.total for row in rows]
    assert trainer.metrics == told_of_the_total(rows)
    assert {"thinking/accuracy", "thinking/limit"} <= set(trainer.metrics)
    assert trainer.extra["solution"] == BATCH["answer"]


def test_the_async_client_is_a_coroutine_function_with_the_same_rewards(url):
    async def ask():
        async with AsyncClient(url) as client:
            trainer = Trainer()
            totals = await client(**BATCH, **trainer.arguments())
            told = dict(trainer.metrics)
            rows = await client.score(**BATCH)
            functions = await asyncio.to_thread(client.reward_funcs)
            values = [await function(**BATCH, **trainer.arguments()) for function in functions]
            return client, functions, totals, rows, values, told, trainer

    client, functions, totals, rows, values, told, trainer = asyncio.run(ask())
    assert all(inspect.iscoroutinefunction(one) for one in [client, *functions])
    assert rows == RECIPE(**BATCH)
    assert totals == [row.total for row in rows]
    assert values == [function(**BATCH) for function in RECIPE.reward_funcs()]
    assert [one.__name__ for one in functions] == [c.name for c in RECIPE.components]
    assert (client.__name__, client.reward_weights()) == ("thinking", [2.0, 0.5, 1.0])
    assert told == told_of_the_total(rows)
    assert "accuracy/timeout" in trainer.metrics
    assert repr(client).startswith("AsyncClient('http://127.0.0.1")


def test_an_async_client_lives_in_several_event_loops(url):
    client = AsyncClient(url)
    (function,) = client.reward_funcs()[:1]
    for _ in range(3):
        assert asyncio.run(function(**BATCH)) == RECIPE.reward_funcs()[0](**BATCH)


def test_clients_can_be_pickled(url, client):
    direct = [row.total for row in RECIPE(**BATCH)]
    assert pickle.loads(pickle.dumps(client))(**BATCH) == direct
    again = pickle.loads(pickle.dumps(AsyncClient(url, patience=3.0)))
    assert asyncio.run(again(**BATCH)) == direct
    function = pickle.loads(pickle.dumps(client.reward_funcs()[1]))
    assert function.__name__ == "format"
    assert function(**BATCH) == RECIPE.reward_funcs()[1](**BATCH)
    function = pickle.loads(pickle.dumps(again.reward_funcs()[1]))
    assert (function.__name__, inspect.iscoroutinefunction(function)) == ("format", True)


FORKING = """
import os, sys
from plaudit import Client

client = Client(sys.argv[1])
batch = {"answer": ["4", "4"], "completion_ids": [[1], [2]]}
ask = lambda: client([r"\\boxed{4}", r"\\boxed{5}"], **batch)
mine = ask()
if child := os.fork():
    theirs = os.waitpid(child, 0)[1]
    sys.exit(0 if theirs == 0 and ask() == mine else 1)
os._exit(0 if ask() == mine else 1)
"""


def test_a_fork_has_connections_of_its_own(url):
    ended = subprocess.run([sys.executable, "-c", FORKING, url], timeout=60)
    assert ended.returncode == 0


def test_threads_and_processes_can_share_a_client(client):
    direct = [row.total for row in RECIPE(**BATCH)]
    assert client(**BATCH) == direct
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(client(**BATCH)), daemon=True)
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [direct] * 4
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(client, (), BATCH) == direct


def test_columns_that_have_no_form_in_json(client):
    unsendable = {"image_path": [object()] * 6, "problem": numpy.zeros((6, 2)), "prompts": 3}
    assert client(**BATCH, **unsendable) == client(**BATCH)
    with pytest.raises(TypeError, match=r"answer cannot be sent .* row 1 .* type Image"):
        client(**{**BATCH, "answer": ["4", Image.new("RGB", (2, 2)), *"1234"]})
    with pytest.raises(TypeError, match="completions cannot be sent"):
        client(["4", object()], answer=["4", "4"], completion_ids=[[1], [2]])


def test_numbers_of_numpy_are_numbers(client):
    golds = [numpy.int64(4), numpy.float32(4), numpy.float64(4.5), *BATCH["answer"][3:]]
    batch = {**BATCH, "answer": golds}
    assert client(**batch) == [row.total for row in RECIPE(**batch)]


def test_lists_of_unequal_length_are_named(client):
    with pytest.raises(ValueError, match="answer has 1 entries, completions has 2"):
        client(["4", "5"], answer=["4"], completion_ids=[[1], [2]])


def test_the_servers_complaints_are_handed_on(client):
    with pytest.raises(ServerError, match='answered 422: there is no column "answer"') as raised:
        client(["4"], completion_ids=[[1]])
    assert raised.value.code == 422
    assert pickle.loads(pickle.dumps(raised.value)).code == 422


def test_columns_can_be_chosen(url):
    """`level` is read by a reward that takes anything; so is all else, unless it is chosen."""
    recipe = Recipe("own", (Component("mine", "slow_rewards:talkative"),))
    batch = {"completions": ["a", "b"], "level": [1, 3], "note": ["x", "y"]}
    with serving(recipe) as own:
        trainer = Trainer()
        heard = {name: trainer.arguments()[name] for name in ("log_extra", "log_metric")}
        assert Client(own, columns=["note"])(**batch, **heard) == [1.0, 3.0]
    assert trainer.extra == {"level": [1, 3]}
    told = {name: value for name, value in trainer.metrics.items() if value}
    assert told == {"levels": 2.0, "own/mine": 2.0}


def test_a_token_is_given_or_in_the_environment(monkeypatch):
    with serving(load("trl-math"), token="sesame") as url:
        with pytest.raises(ServerError, match="answered 401: this server requires a token"):
            _ = Client(url).__name__
        assert Client(url, token="sesame").__name__ == "trl-math"
        monkeypatch.setenv("PLAUDIT_TOKEN", "sesame")
        assert Client(url).__name__ == "trl-math"
        assert "sesame" not in repr(Client(url, token="sesame"))


def test_a_server_that_is_away_is_waited_for():
    with serving(load("trl-math")) as url:
        port = int(url.rpartition(":")[2])
    client = Client(url, patience=120)
    answers = []
    asking = threading.Thread(
        target=lambda: answers.append(client([r"\boxed{4}"], solution=["4"])), daemon=True
    )
    asking.start()
    time.sleep(0.5)
    with serving(load("trl-math"), port=port):
        asking.join(120)
    assert answers == [[1.0]]


def test_patience_has_an_end():
    with serving(load("trl-math")) as url:
        pass
    start = time.monotonic()
    with pytest.raises(ServerError, match=rf"cannot reach {url}: ConnectError .*tried \d times"):
        Client(url, patience=1.0)(["4"], solution=["4"])
    assert time.monotonic() - start < 31  # the patience, and thirty seconds for a slow machine
    with pytest.raises(ServerError, match="cannot reach"):
        asyncio.run(AsyncClient(url, patience=0.2)(["4"], solution=["4"]))


def test_a_busy_server_is_asked_again():
    """Two batches that do not fit in at once: the second is refused, comes back and is scored."""
    recipe = Recipe("held up", (Component("mine", "slow_rewards:held_up"),))
    slow_rewards.started.clear()
    slow_rewards.released.clear()
    with serving(recipe, ServerLimits(rows=3)) as url, ThreadPoolExecutor(2) as threads:
        client, other = Client(url, patience=120), AsyncClient(url, patience=120)
        first = threads.submit(client, ["0", "0"])
        assert slow_rewards.started.wait(60)
        second = threads.submit(lambda: asyncio.run(other(["0", "0"])))
        until(lambda: httpx.get(f"{url}/v1/figures").json()["refused"])
        slow_rewards.released.set()
        assert first.result() == second.result() == [1.0, 1.0]
        with pytest.raises(ServerError, match="answered 413: 4 completions"):
            client(["0"] * 4)


class Closing(BaseHTTPRequestHandler):
    """Keeps a connection for one request, without saying so, as a server that restarts does."""

    protocol_version = "HTTP/1.1"
    connections: ClassVar = []

    def do_GET(self):
        self.connections.append(self.client_address)
        body = json.dumps(
            {"name": "math", "components": [], "needs": {}, "takes": [], "takes_any": False}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        self.close_connection = True

    def log_message(self, *_):
        """Nothing."""


def reply(connection, request):
    """What a connection gives for one request: a response, or an error of httpx."""

    def steps():
        return (yield request)

    return connection.run(steps())


def test_a_connection_that_the_server_closed_meanwhile_is_not_used():
    with ThreadingHTTPServer(("127.0.0.1", 0), Closing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        connection = ServerConnection(ClientSettings(f"http://127.0.0.1:{server.server_port}"))
        for _ in range(3):
            assert reply(connection, Request("GET", "/v1/recipe")).status_code == 200
            time.sleep(0.1)
        assert len(set(Closing.connections)) == 3
        connection.close()
        server.shutdown()
        thread.join()


def test_a_server_that_says_nothing_is_a_timeout():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        connection = ServerConnection(ClientSettings(url, timeout=0.2))
        assert isinstance(reply(connection, Request("GET", "/v1/recipe")), httpx.ReadTimeout)
        connection.close()


def answered(said, body=None):
    """What a client makes of these bytes, after which the server closes; it reads no large body."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/a b"
        connection = ServerConnection(ClientSettings(url, timeout=5))

        def serve():
            accepted, _ = listener.accept()
            with accepted:
                accepted.settimeout(5)
                heads.append(accepted.recv(200))
                accepted.sendall(said)

        heads = []
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            found = reply(connection, Request("POST", "/v1/rewards", body))
        finally:
            thread.join()
            connection.close()
        assert heads[0].startswith(b"POST /a%20b/v1/rewards HTTP/1.1\r\n")
        return found


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nfour",
        b"HTTP/1.0 200 OK\r\nretry-after:7\r\nContent-Length: 4\r\n\r\nfour",
        b"HTTP/1.1 200 OK\r\nRETRY-AFTER: 7\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3\r\nfou\r\n1\r\nr\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nRetry-After: 7\r\n\r\nfour",
    ],
    ids=["with its length", "of an old server", "in chunks", "until the connection ends"],
)
def test_an_answer_is_read_however_its_end_is_marked(said):
    found = answered(said)
    assert (found.status_code, found.headers["retry-after"]) == (200, "7")
    assert found.content == b"four"


@pytest.mark.parametrize(
    "said",
    [b"", b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfour"],
    ids=["nothing", "not HTTP", "cut short"],
)
def test_what_is_no_answer_is_an_error_of_the_connection(said):
    assert isinstance(answered(said), httpx.RemoteProtocolError | httpx.ReadError)


def test_an_answer_counts_though_the_server_did_not_take_the_body():
    said = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    assert answered(said, b"x" * (64 << 20)).status_code == 413


@pytest.mark.parametrize("token", ["a\r\nX-Admin: yes", "sésame"])
def test_a_token_that_no_header_can_hold_is_refused(token):
    with pytest.raises(ValueError, match="characters that no header can hold"):
        Client("http://127.0.0.1:9", token=token)(["4"])


def test_a_token_that_is_not_text_is_refused():
    with pytest.raises(TypeError, match="the token must be text, got bytes"):
        Client("http://127.0.0.1:9", token=b"sesame")


def test_a_reward_that_reads_the_reasons_of_another_has_them_on_a_server_too():
    @reward
    def short(completions, solution, **kwargs):
        found = trl.accuracy_reward.scores(completions, solution)
        return [Score(float(len(score.answer or "") == 1), "") for score in found]

    recipe = Recipe("brief", (Component("short", short),))
    completions, solution = [r"\boxed{4}", r"\boxed{12}"], ["4", "4"]
    with serving(recipe) as url, Client(url) as client:
        given = client(completions, solution=solution)
    assert given == [row.total for row in recipe(completions, solution=solution)] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("url", "environment", "proxy"),
    [
        ("http://rewards:8950", {}, ""),
        ("http://[::1]:8950/prefix", {"http_proxy": "http://proxy:3128"}, ""),
        ("http://rewards:8950", {"http_proxy": "http://proxy:3128"}, "http://proxy:3128"),
        ("https://rewards:8950", {"http_proxy": "http://proxy:3128"}, ""),
        ("http://rewards:8950", {"all_proxy": "http://proxy:3128"}, "http://proxy:3128"),
        ("http://rewards:8950", {"http_proxy": "http://proxy", "no_proxy": "rewards"}, ""),
    ],
)
def test_the_proxy_of_a_server(monkeypatch, url, environment, proxy):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_of(url) == proxy


class Grumpy(BaseHTTPRequestHandler):
    """A proxy before a server: it answers as proxies do when something is wrong."""

    said = ((502, "text/html", b"<h1>Bad gateway</h1>"), (503, "text/plain", b""))
    times: ClassVar = deque()

    def do_GET(self):
        self.times.append(time.monotonic())
        code, kind, body = self.said[len(self.times) % 2]
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Nothing."""


@pytest.mark.long
def test_what_a_proxy_says_is_tried_again_when_it_asks_for_it():
    with ThreadingHTTPServer(("127.0.0.1", 0), Grumpy) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{proxy.server_address[1]}"
        with pytest.raises(ServerError, match=r"answered 50[23]: ") as raised:
            Client(url, patience=4).reward_funcs()
        proxy.shutdown()
    assert raised.value.code in (502, 503)
    pauses = [b - a for a, b in pairwise(Grumpy.times)]
    assert pauses and min(pauses) >= 1.0


def test_an_address_is_an_address():
    with pytest.raises(ValueError, match="starts with http"):
        Client("localhost:8950")


def test_plaudit_has_the_clients_and_stays_light():
    assert plaudit.Client is Client and plaudit.AsyncClient is AsyncClient
    with pytest.raises(AttributeError, match="no attribute 'Cleint'"):
        plaudit.Cleint  # noqa: B018
    code = "import sys, plaudit; print({'httpx', 'asyncio', 'starlette'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_extra_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "plaudit.trainers.client", None)
    monkeypatch.delitem(vars(plaudit), "Client", raising=False)  # kept from the first time
    with pytest.raises(ImportError, match=r"pip install 'plaudit\[client\]'"):
        plaudit.Client  # noqa: B018


@pytest.mark.parametrize("as_column", [numpy.array, pd.Series, pl.Series, tuple])
def test_columns_may_be_arrays_and_series(as_column):
    recipe = RemoteRecipe(
        "math",
        ("accuracy",),
        (1.0,),
        frozenset({"solution"}),
        frozenset({"solution", "level", "pixels"}),
        takes_any=False,
    )
    numbers = {"solution": as_column([4, 5]), "level": as_column([1, 2])}
    columns = {**numbers, "pixels": numpy.ones((2, 3))}
    body = json.loads(body_of(recipe, as_column(["4", "5"]), columns))
    assert body == {"completions": ["4", "5"], "columns": {"solution": [4, 5], "level": [1, 2]}}
    with_ids = body_of(recipe, ["4"], {"solution": [numpy.array([1, 2])]})
    assert json.loads(with_ids)["columns"] == {"solution": [[1, 2]]}
