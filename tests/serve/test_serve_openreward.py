"""OpenReward's protocol, as its client speaks it; `tests/with_trainers` has the client itself."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest

from plaudit.cli import main
from plaudit.recipes import Component, Recipe, load
from plaudit.serve import ServerLimits, _openreward, application, serving
from served import SYMBOLIC, SYMBOLIC_GOLD, served, until

SECRET = "57005"
TASKS = [
    {"prompt": "What is 2 + 2?", "answer": "4", "source": "school"},
    {
        "prompt": [
            {"role": "system", "content": "You are terse."},
            {"role": "user", "content": [{"type": "text", "text": "What is 0xDEAD?"}]},
        ],
        "answer": SECRET,
    },
    {"prompt": "What is love?", "answer": None},
]
HANGING = Recipe("hanging", (Component("own", "hanging_rewards:sleeps", deadline=2.0),))
BROKEN = Recipe("broken", (Component("own", "slow_rewards:broken"),))
PATIENT = Recipe("patient", (Component("own", "slow_rewards:patient"),))
ANY_TASK = [{"prompt": "Say something."}]


@contextmanager
def environment(recipe="math", tasks=TASKS, **settings):
    """A client of a server with tasks."""
    recipe = load(recipe) if isinstance(recipe, str) else recipe
    with serving(recipe, tasks=tasks, **settings) as url, httpx.Client(base_url=url) as http:
        http.timeout = 60
        yield http


@pytest.fixture(scope="module")
def http():
    with environment() as http:
        yield http


def events(response):
    """The events of an answer, by name: the last of each."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    blocks = [block for block in response.text.split("\n\n") if block and block[0] != ":"]
    return {
        name.removeprefix("event: "): data.removeprefix("data: ")
        for name, data in (block.split("\n") for block in blocks)
    }


def session(http, index=None):
    """The headers of a session, with a task if there is an index."""
    headers = {"X-Session-ID": events(http.post("/create_session", json={}))["task_id"]}
    if index is not None:
        body = {"split": "train", "index": index}
        assert http.post("/create", json=body, headers=headers).status_code == 200
    return headers


def call(http, headers, answer="4", name="submit", **more):
    body = {"name": name, "input": {"answer": answer}, **more}
    return http.post("/call", json=body, headers=headers)


def submitted(http, headers, *arguments, **more):
    """What the client makes of a call: the output, or the text of an error."""
    result = json.loads(events(call(http, headers, *arguments, **more))["end"])
    return result["output"] if result["ok"] else result["error"]


def test_tasks_are_listed(http):
    assert http.get("/splits").json() == [{"name": "train", "type": "train"}]
    train = {"split": "train"}
    assert http.post("/num_tasks", json=train).json() == {"num_tasks": 3}
    listed = [{"task_index": index} for index in range(3)]
    assert http.post("/tasks", json=train).json() == {"tasks": listed, "env_name": "math"}
    last_two = http.post("/task_range", json={**train, "start": -2}).json()
    assert last_two["tasks"] == listed[1:]
    one = http.post("/task", json={**train, "index": 2}).json()
    assert one == {"task": {"task_index": 2}, "env_name": "math"}


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/tasks", {"split": "test"}, "the only split is \"train\", got str: 'test'"),
        ("/task", {"split": "train", "index": 3}, "a whole number below 3, got int: 3"),
        ("/task", {"split": "train"}, "a whole number below 3, got NoneType: None"),
        ("/task_range", {"split": "train", "stop": "2"}, "a range is of whole numbers, got str"),
    ],
)
def test_tasks_that_do_not_exist_are_refused(http, path, body, said):
    answer = http.post(path, json=body)
    assert answer.status_code == 422
    assert said in answer.json()["error"]


def test_a_session_from_its_prompt_to_its_reward(http):
    headers = session(http, 0)
    blocks = http.get("/prompt", headers=headers).json()
    assert blocks == [{"type": "text", "text": "What is 2 + 2?", "detail": None}]
    for path in ("/tools", "/task_tools"):
        [tool] = http.get(path, headers=headers).json()["tools"]
        assert (tool["name"], tool["input_schema"]["required"]) == ("submit", ["answer"])
    output = submitted(http, headers, r"\boxed{4}")
    assert (output["reward"], output["finished"]) == (1.0, True)
    assert output["metadata"] == {"status": "scored", "components": {"accuracy": 1.0}}
    assert output["blocks"][0]["text"] == "The answer is submitted."
    assert submitted(http, headers, r"\boxed{5}") == "an answer was submitted already"
    for path in ("/delete", "/delete_session", "/delete_session"):
        assert http.post(path, headers=headers).status_code == 200
    assert http.get("/prompt", headers=headers).status_code == 404


def test_a_wrong_answer_is_worth_nothing_and_one_without_a_gold_is_skipped(http):
    assert submitted(http, session(http, 0), r"\boxed{5}")["reward"] == 0.0
    skipped = submitted(http, session(http, 2))
    assert (skipped["reward"], skipped["finished"]) == (None, True)
    assert skipped["metadata"]["status"] == "bad_gold"


def test_a_task_can_be_chosen_as_it_was_listed(http):
    headers = session(http)
    assert http.get("/prompt", headers=headers).status_code == 422
    body = {"task_spec": {"task_index": 1}, "env_name": "math"}
    assert http.post("/create", json=body, headers=headers).status_code == 200
    texts = [block["text"] for block in http.get("/prompt", headers=headers).json()]
    assert texts == ["You are terse.", "What is 0xDEAD?"]
    assert submitted(http, headers, SECRET)["reward"] == 1.0


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("bash", "4", "there is no tool 'bash': call submit"),
        ("submit", 4, "the answer must be text"),
        ("submit", None, "the answer must be text"),
    ],
)
def test_a_wrong_call_is_no_attempt(http, name, answer, said):
    headers = session(http, 0)
    assert said in submitted(http, headers, answer, name)
    assert submitted(http, headers, "4")["reward"] == 1.0


def test_nothing_that_a_client_gets_has_the_gold(http):
    headers = session(http, 1)
    answers = [
        http.post("/tasks", json={"split": "train"}),
        http.post("/task", json={"split": "train", "index": 1}),
        http.get("/tools"),
        http.get("/prompt", headers=headers),
        call(http, headers, 1),
        call(http, headers, "4"),
        call(http, headers, "5"),
    ]
    for answer in answers:
        assert answer.status_code == 200
        assert SECRET not in answer.text
        assert "school" not in answer.text


@pytest.mark.parametrize("path", ["/ping", "/create", "/call", "/prompt"])
def test_a_session_that_does_not_exist_is_named(http, path):
    method = "GET" if path == "/prompt" else "POST"
    body = {} if method == "GET" else {"json": {}}
    answer = http.request(method, path, headers={"X-Session-ID": "none"}, **body)
    assert answer.status_code == 404
    assert "there is no session 'none'" in answer.json()["error"]


def test_only_so_many_sessions_are_open():
    with environment(limits=ServerLimits(rows=2)) as http:
        first, _ = session(http), session(http)
        refused = http.post("/create_session", json={})
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert "2 sessions are open, of at most 2" in refused.json()["error"]
        http.post("/delete", headers=first)
        session(http)


def test_a_silent_session_ends(monkeypatch):
    monkeypatch.setattr(_openreward, "SILENCE", 0.3)
    with environment(limits=ServerLimits(rows=2)) as http:
        silent, alive = session(http, 0), session(http, 0)

        def is_over():
            assert http.post("/ping", headers=alive).status_code == 200
            return http.post("/create_session", json={}).status_code == 200

        until(is_over)
        gone = http.post("/ping", headers=silent)
        assert gone.status_code == 404
        assert "silent for 0.3 s" in gone.json()["error"]


def test_a_reward_that_hangs_pays_nothing_and_the_stream_stays_alive(monkeypatch):
    monkeypatch.setattr(_openreward, "HEARTBEAT", 0.1)
    with environment(HANGING, ANY_TASK) as http:
        answer = call(http, session(http, 0), "hang")
        assert ": scoring\n\n" in answer.text
        output = json.loads(events(answer)["end"])["output"]
        assert (output["reward"], output["metadata"]["status"]) == (None, "timeout")


def test_a_reward_that_fails_pays_nothing_and_tells_nothing(caplog):
    with environment(BROKEN, [{"prompt": "Say something.", "gold": SECRET}]) as http:
        headers = session(http, 0)
        found = events(call(http, headers, "mine"))
        assert set(found) == {"task_id", "error"}
        assert "not scored: the server's log says why" in found["error"]
        assert "secret" not in found["error"]
        assert submitted(http, headers, "mine") == "an answer was submitted already"
    [logged] = [record.facts for record in caplog.records if record.message == "not scored"]
    assert logged["code"] == 500
    assert logged["request"] in found["error"]


def test_one_that_takes_longer_than_a_request_may_pays_nothing():
    with environment(PATIENT, ANY_TASK, limits=ServerLimits(deadline=0.2)) as http:
        assert "error" in events(call(http, session(http, 0), "1"))


def test_one_of_two_answers_at_once_counts(http):
    headers = session(http, 0)
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda answer: submitted(http, headers, answer), ["4", "5"]))
    assert found.count("an answer was submitted already") == 1
    assert [one["finished"] for one in found if isinstance(one, dict)] == [True]


def test_many_sessions_at_once_get_rewards_of_their_own(http):
    def right(number):
        answer = SECRET if number % 2 else "4"
        return submitted(http, session(http, number % 3 % 2), answer)["reward"]

    with ThreadPoolExecutor(8) as threads:
        rewards = list(threads.map(right, range(32)))
    assert rewards == [float(number % 2 == number % 3 % 2) for number in range(32)]


def test_a_client_that_lost_its_connection_gets_the_same_result():
    tasks = [{"prompt": "Simplify.", "solution": SYMBOLIC_GOLD.format(n=7)}]
    with environment("trl-math", tasks) as http:
        headers = session(http, 0)
        body = {"name": "submit", "input": {"answer": SYMBOLIC.format(n=7)}}
        with http.stream("POST", "/call", json=body, headers=headers) as lost:
            lines = lost.iter_lines()
            assert next(lines) == "event: task_id"
            name = next(lines).removeprefix("data: ")
        again = [call(http, headers, "another", task_id=name) for _ in range(2)]
        assert [json.loads(events(one)["end"])["output"]["reward"] for one in again] == [1.0, 1.0]


def test_a_session_that_ends_while_it_is_scored_has_no_result():
    with environment(PATIENT, ANY_TASK) as http, ThreadPoolExecutor(1) as threads:
        headers = session(http, 0)
        pending = threads.submit(call, http, headers, "5")
        until(lambda: http.get("/v1/figures").json()["rows_in_flight"])
        http.post("/delete", headers=headers)
        assert events(pending.result())["error"] == "the session was ended"
        until(lambda: not http.get("/v1/figures").json()["rows_in_flight"])


def test_the_token_is_the_key_of_the_client():
    with environment(token="sesame") as http:
        for headers in ({}, {"X-API-Key": ""}, {"X-API-Key": "wrong"}):
            assert http.post("/create_session", json={}, headers=headers).status_code == 401
            assert http.post("/tasks", json={"split": "train"}, headers=headers).status_code == 401
        assert "the token is wrong" in http.get("/splits", headers=headers).json()["error"]
        http.headers["X-API-Key"] = "sesame"
        assert submitted(http, session(http, 0), "4")["reward"] == 1.0


def test_without_tasks_there_is_no_environment():
    with serving(load("trl-math")) as url:
        assert httpx.get(f"{url}/splits", timeout=60).status_code == 404
        paths = httpx.get(f"{url}/openapi.json", timeout=60).json()["paths"]
    assert "/call" not in paths


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ([{"answer": "4"}], 'have no column "prompt", with what the model is asked'),
        ([{"prompt": "2 + 2?"}], 'there is no column "solution"'),
        ([{"prompt": None, "answer": "4"}], "row 0: prompt must be text or a list of messages"),
        (
            [{"prompt": [{"role": "assistant", "content": "Hi"}], "answer": "4"}],
            "row 0: prompt must have no message of the assistant",
        ),
    ],
)
def test_tasks_that_cannot_be_served_are_refused_at_the_start(tasks, said):
    with pytest.raises((TypeError, ValueError), match=said):
        application(load("trl-math"), tasks=tasks)


def test_the_command_serves_a_table(tmp_path, capsys):
    table = tmp_path / "train.jsonl"
    table.write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    with served(tmp_path, "--tasks", str(table)) as server:
        with httpx.Client(base_url=server.url, timeout=60) as http:
            assert submitted(http, session(http, 0), r"\boxed{4}")["reward"] == 1.0
        until(lambda: "/call" in {line.get("path") for line in server.log()})
        [told] = [line for line in server.log() if line["event"] == "tasks"]
    assert told["rows"] == 3
    assert told["columns"] == {"prompt": "prompt", "solution": "answer"}
    table.write_text('{"answer": "4"}\n')
    assert main(["serve", "--recipe", "trl-math", "--tasks", str(table)]) == 2
    assert 'no column "prompt"' in capsys.readouterr().err
