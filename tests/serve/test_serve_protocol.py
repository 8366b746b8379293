"""What the server answers, and what it refuses."""

import json
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from plaudit.recipes import Component, Recipe, load
from plaudit.serve import ServerLimits, serving
from served import symbolic

THINKING = [
    r"<think>2 + 2</think> \boxed{4}",
    r"\boxed{4}",
    r"<think>…</think> \boxed{9^{9^{9^9}}}",
]
GOLDS = ["4", "4", "4"]
GATED = Recipe(
    "gated",
    (
        Component("accuracy", "trl.accuracy_reward"),
        Component("format", "trl.think_format_reward", weight=0.5, gate="accuracy"),
    ),
    columns={"solution": "answer"},
)


@pytest.fixture(scope="module")
def http():
    with serving(load("trl-reasoning")) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def own_http():
    rewards = ("endless", "whole_numbers")
    recipe = Recipe("own", tuple(Component(name, f"slow_rewards:{name}") for name in rewards))
    with serving(recipe) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


def ask(http, path="/v1/score", **body):
    return http.post(path, json=body)


def test_rows_are_those_of_the_recipe(http):
    answer = ask(http, completions=THINKING, columns={"solution": GOLDS})
    assert answer.status_code == 200
    direct = load("trl-reasoning")(THINKING, solution=GOLDS)
    for row, wanted in zip(answer.json()["rows"], direct, strict=True):
        assert (row["total"], row["status"]) == (wanted.total, wanted.status)
        for name, score in wanted.components.items():
            said = row["components"][name]
            assert (said["value"], said["why"]) == (score.value, score.why)
            assert (said["answer"], said["gold"]) == (score.answer, score.gold)
            assert (said["status"], said["decided_by"]) == (score.status, score.decided_by)


def test_reasons_can_be_left_out(http):
    columns = {"solution": ["4"]}
    row = ask(http, completions=["4"], columns=columns, reasons=False).json()["rows"][0]
    assert row["components"]["think_format_reward"] == {"value": 0.0, "status": "scored"}


def test_a_row_without_a_gold_is_null(http):
    answer = ask(http, completions=THINKING[:1], columns={"solution": [None]}).json()
    scored = answer["rows"][0]["components"]["reasoning_accuracy_reward"]
    assert (scored["value"], scored["status"]) == (None, "bad_gold")


def test_no_rows_are_no_rows(http):
    assert ask(http, completions=[], columns={"solution": []}).json() == {"rows": []}


def test_messages_are_completions_too(http):
    messages = [{"role": "assistant", "content": THINKING[0]}]
    answer = ask(http, completions=[messages], columns={"solution": ["4"]})
    assert answer.json()["rows"][0]["total"] == 2.0


def test_a_component_gives_what_its_reward_function_gives():
    columns = {"answer": ["4", "5", None]}
    completions = [THINKING[0]] * 3
    with serving(GATED) as url, httpx.Client(base_url=url, timeout=60) as http:
        for place, _ in enumerate(GATED.components):
            function = GATED.reward_funcs()[place]  # of one call, they log a batch once
            body = {"component": function.__name__, "completions": completions}
            answer = ask(http, "/v1/rewards", columns=columns, logs=True, **body).json()
            metrics, extra = {}, {}
            loggers = {"log_metric": metrics.__setitem__, "log_extra": extra.__setitem__}
            direct = function(completions, **columns, **loggers)
            assert answer["rewards"] == direct
            logged = {name: v for name, v in metrics.items() if not name.endswith("seconds")}
            assert dict(answer["logs"]["metrics"]) == logged
            assert dict(answer["logs"]["extra"]) == extra
    assert direct == [1.0, 0.0, None]


def test_completions_that_a_users_reward_fails_on_are_said_to_be_malformed():
    recipe = Recipe("own", (Component("broken", "slow_rewards:broken"),))
    with serving(recipe) as url, httpx.Client(base_url=url, timeout=60) as http:
        malformed = ask(http, completions=["4", [{"role": "assistant"}]])
        good = ask(http, completions=["4"])
    assert (malformed.status_code, good.status_code) == (422, 500)
    assert "completion 1: a message must have `content`" in malformed.json()["error"]


def test_without_a_component_the_reward_is_the_total(http):
    batch = {"completions": THINKING, "columns": {"solution": ["4"] * len(THINKING)}}
    rows = ask(http, **batch).json()["rows"]
    assert ask(http, "/v1/rewards", **batch).json() == {"rewards": [row["total"] for row in rows]}


REFUSED = {
    "no JSON": (b"{", "not JSON"),
    "not UTF-8": (b'{"completions": ["\xff"]}', "not JSON"),
    "no object": (b"[]", "Expected `object`"),
    "nested": (b'{"completions": ' + b"[" * 100_000, "nested too deeply"),
    "another key": (b'{"completions": [], "colums": {}}', "colums"),
    "no completions": (b"{}", "completions"),
    "text alone": (b'{"completions": "4"}', "$.completions"),
    "number": (b'{"completions": ["4", 4], "columns": {}}', "completion 1 must be text"),
    "content": (b'{"completions": [[{"content": 3}]]}', "completion 0: a message's content"),
    "unequal": (b'{"completions": ["4"], "columns": {"solution": []}}', "solution has 0 entries"),
    "no list": (b'{"completions": ["4"], "columns": {"solution": "4"}}', "solution must be a list"),
    "gold": (b'{"completions": ["4"], "columns": {"solution": [{}]}}', "solution 0 must be text"),
    "no gold": (b'{"completions": ["4"]}', 'no column "solution"'),
    "taken": (b'{"completions": ["4"], "columns": {"self": ["4"]}}', '"self"'),
    "callable": (b'{"completions": ["4"], "columns": {"log_extra": [1]}}', '"log_extra"'),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_wrong_is_named(http, why):
    body, said = REFUSED[why]
    answer = http.post("/v1/score", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert said in answer.json()["error"]
    assert answer.json()["request"] == answer.headers["x-request-id"]
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/v1/score", 405),
        ("PUT", "/v1/score", 405),
        ("POST", "/healthz", 405),
        ("GET", "/v1/score/%0d%0aSet-Cookie:x", 404),
    ],
)
def test_paths_and_methods_that_are_not(http, method, path, code):
    answer = http.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (code, "application/json")
    assert answer.json()["error"]


def test_only_json_is_taken(http):
    answer = http.post("/v1/score", content=b"{}", headers={"content-type": "text/plain"})
    assert answer.status_code == 415
    assert "application/json" in answer.json()["error"]


def test_an_unknown_component_is_named(http):
    answer = ask(http, "/v1/rewards", component="accuracy", completions=[])
    assert answer.status_code == 422
    assert "reasoning_accuracy_reward" in answer.json()["error"]


def test_a_reward_that_fails_says_no_more_than_that(caplog):
    recipe = Recipe("broken", (Component("mine", "slow_rewards:broken"),))
    with serving(recipe) as url:
        answer = httpx.post(f"{url}/v1/score", json={"completions": ["this request"]}, timeout=60)
    assert answer.status_code == 500
    said = answer.json()
    assert "RuntimeError" in said["error"] and "mine" in said["error"]
    assert "secret" not in answer.text and "Traceback" not in answer.text
    logged = [r for r in caplog.records if r.exc_info and r.facts["request"] == said["request"]]
    assert "the secret of this request" in str(logged[0].exc_info[1])


def test_numbers_that_json_cannot_say(own_http):
    body = (
        b'{"completions": ["inf", "-inf", "1"], "columns": {"solution": [NaN, 1e400, "\\ud800"]}}'
    )
    headers = {"content-type": "application/json"}
    rows = own_http.post("/v1/score", content=body, headers=headers).json()["rows"]
    assert [row["total"] for row in rows] == ["Infinity", "-Infinity", 2.0]
    assert [row["components"]["whole_numbers"]["value"] for row in rows] == [3.0, 3.0, 1.0]


def test_types_stay_what_they_are(own_http):
    golds = ["1", 1, 1.0, True, None, [1], 10**30]
    answer = ask(own_http, completions=["0"] * 7, columns={"solution": golds})
    values = [row["components"]["whole_numbers"]["value"] for row in answer.json()["rows"]]
    assert values == [1.0, 2.0, 3.0, 4.0, None, 5.0, 2.0]


def test_half_a_surrogate_pair_comes_back_as_it_went():
    completion = "\\boxed{\\text{a\ud800}}"
    with serving(load("trl-math")) as url:
        body = json.dumps({"completions": [completion], "columns": {"solution": ["\\text{a}"]}})
        headers = {"content-type": "application/json"}
        answer = httpx.post(f"{url}/v1/score", content=body, headers=headers, timeout=60)
    said = json.loads(answer.content)["rows"][0]["components"]["accuracy_reward"]
    (direct,) = load("trl-math")([completion], solution=["\\text{a}"])
    assert said["answer"] == direct.components["accuracy_reward"].answer
    assert said["value"] == direct.total


def test_requests_side_by_side_get_their_own_answers(http):
    def answers(number):
        batch = symbolic(6, start=100 * number + 2)
        batch["completions"] = [f"<think>{number}</think> {c}" for c in batch["completions"]]
        return number, ask(http, **batch)

    with ThreadPoolExecutor(8) as threads:
        for number, answer in threads.map(answers, range(24)):
            rows = answer.json()["rows"]
            assert [row["total"] for row in rows] == [2.0] * 6
            for place, row in enumerate(rows):
                gold = row["components"]["reasoning_accuracy_reward"]["gold"]
                assert str(100 * number + 2 + place) in gold


STATUSES = ("error", "timeout", "limit", "bad_gold", "truncated", "no_answer")
SCORED = {f"status_{name}": 0.0 for name in STATUSES}
SHAPES = {
    "/slime": ({"prompt": "2 + 2", "response": THINKING[0], "label": "4"}, 2.0),
    "/slime/detailed": (
        {"prompt": "2 + 2", "response": THINKING[0], "label": "4"},
        {
            "score": 2.0,
            "reasoning_accuracy_reward": 1.0,
            "think_format_reward": 1.0,
            "skipped": 0.0,
            **SCORED,
        },
    ),
    "/openrlhf": (
        {"query": ["2 + 2 = " + THINKING[0]], "prompts": ["2 + 2 = "], "labels": ["4"]},
        {
            "rewards": [2.0],
            "scores": [2.0],
            "extra_logs": {
                "reasoning_accuracy_reward": [1.0],
                "think_format_reward": [1.0],
                "skipped": [0.0],
                **{name: [value] for name, value in SCORED.items()},
            },
        },
    ),
    "/verl": (
        {"data_source": "math", "solution_str": THINKING[0], "ground_truth": "4"},
        {
            "score": 2.0,
            "status": "scored",
            "reasoning_accuracy_reward": 1.0,
            "think_format_reward": 1.0,
            "skipped": 0.0,
            **SCORED,
        },
    ),
}


@pytest.mark.parametrize("path", SHAPES)
def test_trainers_are_answered_in_their_own_shape(http, path):
    body, reply = SHAPES[path]
    answer = ask(http, path, **body)
    assert (answer.status_code, answer.json()) == (200, reply)


def test_nemo_gym_gets_its_request_back_with_the_reward(http):
    message = {"type": "message", "content": [{"type": "output_text", "text": THINKING[0]}]}
    body = {
        "responses_create_params": {"input": "2 + 2"},
        "response": {"output": [message]},
        "expected_answer": "4",
    }
    said = ask(http, "/nemo-gym/verify", **body).json()
    assert said["reward"] == 2.0
    assert {name: said[name] for name in body} == body


def test_a_shape_that_is_wrong_is_refused(http):
    answer = ask(http, "/slime", prompt="2 + 2")
    assert answer.status_code == 422
    assert "response" in answer.json()["error"]


def test_the_recipe_can_be_asked_for():
    with serving(GATED, ServerLimits(rows=77)) as url:
        said = httpx.get(f"{url}/v1/recipe", timeout=60).json()
    assert said["name"] == "gated"
    assert said["needs"] == {"solution": "answer"}
    assert {"answer", "solution"} <= set(said["takes"])
    assert said["components"][1] == {
        "name": "format",
        "reward": "trl.think_format_reward",
        "weight": 0.5,
        "gate": "accuracy",
    }
    assert (said["max_rows"], said["takes_any"]) == (77, False)


def test_figures_and_metrics_count_what_happened():
    with serving(load("trl-math")) as url, httpx.Client(base_url=url, timeout=60) as http:
        before = http.get("/v1/figures").json()
        bad = {"completions": [r"\boxed{4}", "5"], "columns": {"solution": ["4", None]}}
        ask(http, **bad)
        ask(http, **bad)
        ask(http, "/v1/rewards", component="accuracy_reward", **bad)
        ask(http, completions=[3])
        figures, text = http.get("/v1/figures").json(), http.get("/metrics").text
    assert before["rows"] == 0 and before["latency_p50"] is None
    assert (figures["requests"], figures["refused"], figures["rows"]) == (4, 1, 6)
    assert figures["statuses"] == {"scored": 3, "bad_gold": 3}
    assert figures["cache_hits"] > before["cache_hits"]
    assert 0 < figures["latency_p50"] <= figures["latency_p99"]
    assert 'plaudit_requests_total{code="200",path="/v1/score"} 2.0' in text
    assert 'plaudit_requests_total{code="422",path="/v1/score"} 1.0' in text
    assert 'plaudit_rows_total{status="bad_gold"} 3.0' in text
    for name in ("judge_cache_hits_total", "rows_in_flight", "rows_waiting", "rows_limit"):
        assert f"\nplaudit_{name} " in text
    assert 'plaudit_request_seconds_bucket{le="0.1",path="/v1/score"}' in text
