"""VLM-R1's rewards, as a trainer calls them."""

import asyncio
import json
import pickle
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PIL import Image

from plaudit import boxes, extract, judge
from plaudit.judge import Status, Verdict
from plaudit.rewards import vlm_r1
from plaudit.scores import explain


class Words:
    """A tokenizer for tests: a word is a token."""

    def encode(self, text):
        return text.split()


def fenced(*items):
    return f"```json\n{json.dumps(items)}\n```"


def box(left, top, right, bottom, label="cat"):
    return {"bbox_2d": [left, top, right, bottom], "label": label}


CAT, DOG = box(0, 0, 100, 100), box(200, 200, 300, 300, "dog")


def accuracy(method, completion, gold):
    score = explain(vlm_r1.accuracy_reward, completion, gold, accu_reward_method=method)
    assert vlm_r1.accuracy_reward([completion], [gold], accu_reward_method=[method]) == [
        score.value
    ]
    return score


# --- the default accuracy ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "sol", "value", "method"),
    [
        ("<answer>3/4</answer>", "0.75", 1.0, None),
        ("<answer>1</answer><answer>2</answer>", "<answer>2</answer><answer>1</answer>", 1.0, None),
        ("<answer>2</answer>", "<answer>\n2\n</answer>", 1.0, None),
        ("<answer>12</answer>", "13", 0.0, "number"),
        ("twelve", "12", 0.0, "text similarity"),
        ("12 or 13 apples", "12 pears", None, "text similarity"),
        ("<answer>The answer is B.</answer>", "B", 1.0, "option letter"),
        ("I think (C)", "C", 0.0, "option letter"),
        ("a red car", "a red cat", 8 / 9, "text similarity"),
        ("Left\nright.", "left right", 1.0, "text similarity"),
        ("\ud800", "a cat", 0.0, "text similarity"),
    ],
)
def test_default_accuracy(content, sol, value, method):
    score = explain(vlm_r1.default_accuracy_reward, content, sol)
    assert vlm_r1.default_accuracy_reward(content, sol) == score.value
    if value is not None:
        assert score.value == pytest.approx(value)
    if method is not None:
        assert score.method == method
    assert score.right is (score.value == 1.0)
    assert score.status in ("equal", "different", "no_answer", "scored")
    assert score.why.endswith(".")


@pytest.mark.parametrize("sol", [4, 4.0, "4"])
def test_a_gold_may_be_a_number(sol):
    assert vlm_r1.default_accuracy_reward("<answer>4</answer>", sol) == 1.0


def test_without_gold_there_is_nothing_to_win():
    assert vlm_r1.default_accuracy_reward("4", None) == 0.0
    assert vlm_r1.detection_score(fenced(CAT), None) == 0.0
    assert explain(vlm_r1.default_accuracy_reward, "4").why == "There is no gold."


def test_trouble_of_the_judge_stays_visible(monkeypatch):
    def judged(pairs):
        return [Verdict(Status.TIMEOUT, None, None, "math-verify", 5.0) for _ in pairs]

    monkeypatch.setattr(judge, "judge", judged)
    score = explain(vlm_r1.default_accuracy_reward, "a red car", "a red cat")
    assert (score.status, score.method) == ("timeout", "text similarity")
    assert accuracy("math", "x", "y").status == "timeout"


def test_a_batch_asks_the_judge_once(monkeypatch):
    asked = []

    def judged(pairs):
        asked.append(len(pairs))
        return [Verdict(Status.DIFFERENT, None, None, "math-verify", 0.0) for _ in pairs]

    monkeypatch.setattr(judge, "judge", judged)
    vlm_r1.accuracy_reward(
        ["a", "b", "c", "A"],
        ["x", "y", "z", "A"],
        accu_reward_method=["default", "math", "math", "mcq"],
    )
    vlm_r1.default_accuracy_reward.scores(["a", "b"], solution=["x", "y"])
    assert asked == [3, 2]


SHAPES = [
    "<think>2 + 2</think><answer>4</answer>",
    [{"role": "assistant", "content": "<think>2 + 2</think><answer>4</answer>"}],
    [
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "content": "5"},
        {"role": "assistant", "content": "<think>2 + 2</think><answer>4</answer>"},
    ],
    [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "<think>2 + 2</think>"},
                {"type": "image", "image": "…"},
                {"type": "text", "text": "<answer>4</answer>"},
            ],
        }
    ],
]


@pytest.mark.parametrize("completion", SHAPES)
def test_every_shape_of_completion_counts_the_same(completion):
    assert vlm_r1.default_accuracy_reward(completion, "4") == 1.0
    assert vlm_r1.format_reward([completion]) == [1.0]
    assert vlm_r1.accuracy_reward([completion], ["4"], accu_reward_method=["math"]) == [1.0]
    assert vlm_r1.repetition_rewards([completion]) == [0.0]
    assert explain(vlm_r1.default_accuracy_reward, completion, "4").answer == "4"


def test_a_number_is_no_completion():
    with pytest.raises(TypeError, match="completion 0 must be text or a list of messages, got int"):
        vlm_r1.default_accuracy_reward(4, "4")
    with pytest.raises(TypeError, match="completion 1 must be text"):
        vlm_r1.format_reward(["4", 4])


# --- the methods of the accuracy reward --------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "completion", "gold", "value"),
    [
        ("default", "<answer>12.0</answer>", "12", 1.0),
        ("mcq", "<answer>It is B.</answer><answer>C</answer>", "<answer>\nB\n</answer>", 1.0),
        ("mcq", "no idea", "B", 0.0),
        ("yes_no", "I know: Yes, it is.", "yes", 1.0),
        ("yes_no", "<answer>No</answer>", "<answer>yes</answer>", 0.0),
        ("yes_no", "maybe", "no", 0.0),
        ("math", r"<answer>$\frac{1}{2}$</answer>", "0.5", 1.0),
        ("math", "Same Text.", "same text", 1.0),
        ("math", r"<answer>\dfrac12</answer>", r"\frac{1}{2}", 1.0),
        ("math", "1", "2", 0.0),
        ("all_match", "<answer>A red\ncar.</answer>", "a red car", 1.0),
        ("all_match", "a car", "a red car", 0.0),
        ("weighted_sum", "<answer>None</answer>", "none", 1.0),
        ("weighted_sum", fenced(CAT), "none", 0.0),
        ("weighted_sum", fenced(CAT), fenced(CAT), 1.0),
        ("map", fenced(DOG) + fenced(CAT), fenced(CAT), 1.0),
        ("map", "no boxes", "no boxes", 1.0),
        ("map", "no boxes", fenced(CAT), 0.0),
        ("map", "```json [broken ```", fenced(CAT), 0.0),
        ("map", fenced(CAT, DOG), fenced(CAT, DOG), 1.0),
        ("od_ap", f"<answer>{fenced(box(0, 0, 100, 72))}</answer>", fenced(CAT), 0.5),
        ("od_ap50", f"<answer>{fenced(box(0, 0, 100, 72))}</answer>", fenced(CAT), 1.0),
        ("od_ap", fenced(CAT), fenced(CAT), 0.0),
        ("od_ap", "<answer>None</answer>", "<answer>None</answer>", 1.0),
        ("od_ap", "<answer>None</answer>", f"<answer>{fenced(CAT)}</answer>", 0.0),
        ("odLength", f"<answer>{fenced(CAT, DOG)}</answer>", fenced(CAT), 0.5),
        ("odLength", f"<answer>{fenced(CAT)}</answer>", fenced(CAT, DOG), 0.5),
    ],
)
def test_methods(method, completion, gold, value):
    score = accuracy(method, completion, gold)
    assert score.value == pytest.approx(value)
    assert score.why.endswith(".")
    assert score.method
    assert score.status in ("equal", "different", "no_answer", "scored")


@pytest.mark.parametrize(("method", "gold"), [("mcq", "(b)"), ("yes_no", "perhaps")])
def test_a_gold_that_no_answer_can_meet_is_trouble(method, gold):
    score = accuracy(method, gold, gold)
    assert (score.value, score.status) == (0.0, "bad_gold")


@pytest.mark.parametrize(
    ("method", "gold", "message"),
    [
        ("map", "```json [broken ```", "row 1: the fenced JSON of the gold is no list of boxes"),
        (
            "map",
            fenced({"label": "cat"}),
            "row 1: box 0 of the gold has no four numbers in bbox_2d",
        ),
        ("weighted_sum", "```json 5 ```", "row 1: the fenced JSON of the gold is no list of boxes"),
    ],
)
def test_a_broken_gold_is_an_error_that_names_the_row(method, gold, message):
    with pytest.raises(ValueError, match=message):
        vlm_r1.accuracy_reward(["A", "x"], ["A", gold], accu_reward_method=["mcq", method])


def test_the_method_must_be_given():
    with pytest.raises(ValueError, match="accuracy_reward needs the column accu_reward_method"):
        vlm_r1.accuracy_reward(["4"], ["4"])


@pytest.mark.parametrize(
    ("method", "hint"),
    [("od_ap5", "did you mean od_ap50"), (None, "did you mean"), ("", "default")],
)
def test_an_unknown_method_is_named_with_its_row(method, hint):
    with pytest.raises(
        ValueError, match=f"row 1: there is no accu_reward_method {method!r}.*{hint}"
    ):
        vlm_r1.accuracy_reward(["4", "4"], ["4", "4"], accu_reward_method=["math", method])


def test_columns_must_be_equally_long():
    with pytest.raises(ValueError, match="solution has 1 entries, completions has 2"):
        vlm_r1.accuracy_reward(["4", "5"], ["4"], accu_reward_method=["math", "math"])
    with pytest.raises(ValueError, match="accu_reward_method has 1 entries"):
        vlm_r1.accuracy_reward(["4", "5"], ["4", "5"], accu_reward_method=["math"])
    with pytest.raises(ValueError, match="solution has 1 entries"):
        vlm_r1.repetition_rewards(["4", "5"], ["4"])
    with pytest.raises(ValueError, match="solution has 1 entries"):
        vlm_r1.default_accuracy_reward.scores(["4", "5"], solution=["4"])


def test_what_a_trainer_passes_along_is_accepted_and_used():
    extra, metrics = {}, {}
    values = vlm_r1.accuracy_reward(
        completions=["<answer>B</answer>", "?", "4"],
        solution=["B", "(b)", None],
        accu_reward_method=["mcq", "mcq", "math"],
        prompts=["…"] * 3,
        completion_ids=[[1]] * 3,
        trainer_state=object(),
        log_extra=extra.__setitem__,
        log_metric=metrics.__setitem__,
    )
    assert values == [1.0, 0.0, 0.0]
    assert extra == {"answer": ["B", "", ""], "method": ["option letter", "option letter", ""]}
    assert metrics["accuracy_reward/bad_gold"] == pytest.approx(2 / 3)


def test_on_an_event_loop():
    call = vlm_r1.accuracy_reward_async(
        ["<answer>B</answer>", "1/2"], ["B", "0.5"], accu_reward_method=["mcq", "math"]
    )
    assert asyncio.run(call) == [1.0, 1.0]


# --- a language model as judge -----------------------------------------------------------------


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


# --- boxes -------------------------------------------------------------------------------------


def test_detection_score_by_hand():
    preds = fenced(box(0, 0, 100, 80), box(200, 200, 300, 300, "fox"), box(500, 500, 510, 510))
    # One right with IoU 0.8, one with a wrong label, one in vain: of two gold boxes none is missed.
    expected = (0.7 * 0.8 / 2 + 0.2 * 1 / 2 + 0.3 * (1 - (0 + 1 / 3) / 2)) / 1.2
    assert vlm_r1.detection_score(preds, fenced(CAT, DOG), beta=0.2) == pytest.approx(expected)
    score = explain(vlm_r1.detection_score, preds, fenced(CAT, DOG), beta=0.2)
    assert score.value == pytest.approx(expected)
    assert score.why == (
        "3 predicted and 2 gold boxes: 2 overlap by at least 0.5, 1 of these with the right label."
    )


@pytest.mark.parametrize(
    ("content", "sol", "value"),
    [
        (fenced(), fenced(), 1.0),
        ("nothing", "nothing", 1.0),
        (fenced(CAT), fenced(), 0.0),
        ("nothing", fenced(CAT), 0.0),
        ("```json [broken ```", fenced(CAT), 0.0),
        ("```json" + "[" * 100_000 + "```", fenced(CAT), 0.0),
        ("```json 5 ```", fenced(CAT), 0.0),
        (f"```json {json.dumps(CAT)} ```", fenced(CAT), 1.0),
        (fenced({"bbox_2d": [0, 0, 100, 100]}), fenced({"bbox_2d": [0, 0, 100, 100]}), 1.0),
        (fenced({"bbox_2d": [0, 0, 100, 100]}), fenced(CAT), 0.3),
        (fenced(box(0, 0, 100, 100, 7)), fenced(box(0, 0, 100, 100, 7)), 1.0),
        (fenced(DOG) + fenced(CAT), fenced(CAT), 0.0),
    ],
)
def test_detection_score_at_the_edges(content, sol, value):
    assert vlm_r1.detection_score(content, sol) == pytest.approx(value)


@pytest.mark.parametrize("bad", [None, 5, "box", {}, {"bbox_2d": [1, 2]}, {"bbox_2d": "1234"}])
def test_a_malformed_box_is_a_prediction_in_vain(bad):
    expected = 0.7 + 0.3 * (1 - 0.5 / 2)
    assert vlm_r1.detection_score(fenced(bad, CAT), fenced(CAT)) == pytest.approx(expected)


def test_weights_that_sum_to_nothing():
    with pytest.raises(ValueError, match="alpha, beta and gamma must not sum to 0"):
        vlm_r1.detection_score(fenced(CAT), fenced(CAT), alpha=0.0, beta=0.0, gamma=0.0)


def test_a_hundred_thousand_items_are_no_trouble():
    start = time.perf_counter()
    vlm_r1.detection_score("```json [" + "0," * 100_000 + "0] ```", fenced(CAT, DOG))
    vlm_r1.detection_score(fenced(*[CAT] * 20_000), fenced(CAT, DOG))
    assert time.perf_counter() - start < 2.0


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "image.png"
    Image.new("RGB", (280, 140)).save(path)
    return path


def test_iou_reward_scales_to_the_image(image):
    completions = [
        "<answer>[0, 0, 70, 70]</answer>",
        "<answer>[0, 0, 70, 35]</answer>",
        "[0, 0, 70, 70]",
    ]
    values = vlm_r1.iou_reward(
        completions,
        ["<answer>[0, 0, 140, 140]</answer>"] * 3,
        image_grid_thw=[[1, 5, 10]] * 3,
        image_path=[[str(image)], image, str(image)],
    )
    assert values == pytest.approx([1.0, 0.5, 0.0])


@pytest.mark.parametrize(
    ("completion", "why"),
    [
        ("<answer>none</answer>", "The <answer> has no [int, int, int, int]."),
        ("[1, 2, 3, 4]", "There is no <answer>."),
        ("<answer>[70, 0, 0, 70]</answer>", "The boxes overlap with an IoU of 0.000."),
        (f"<answer>[0, 0, {'9' * 5000}, 70]</answer>", "The boxes overlap with an IoU of 0.000."),
    ],
)
def test_iou_reward_says_why(image, completion, why):
    score = explain(
        vlm_r1.iou_reward,
        completion,
        "[0, 0, 140, 140]",
        image_grid_thw=[1, 5, 10],
        image_path=image,
    )
    assert (score.value, score.why) == (0.0, why)


def test_iou_reward_reads_each_image_once_and_its_header_alone(image, monkeypatch):
    opened, load = [], Image.Image.load
    open_image = Image.open
    monkeypatch.setattr(Image, "open", lambda f, **k: opened.append(f.name) or open_image(f, **k))
    monkeypatch.setattr(Image.Image, "load", lambda *_: pytest.fail("the pixels were read"))
    vlm_r1.iou_reward(
        ["<answer>[0, 0, 9, 9]</answer>"] * 5,
        ["[0, 0, 9, 9]", "[0, 0, 9, 9]", None, "[0, 0, 9, 9]", "[0, 0, 9, 9]"],
        image_grid_thw=[[1, 5, 10]] * 5,
        image_path=[str(image)] * 5,
    )
    assert len(opened) == 1
    assert load is not Image.Image.load


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"image_path": None}, "iou_reward needs the column image_path"),
        ({"image_grid_thw": None}, "iou_reward needs the column image_grid_thw"),
        ({"image_path": ["missing.png"]}, r"row 0 \(missing.png\): the image cannot be read"),
        ({"image_path": [[]]}, "row 0: there is no image_path"),
        ({"image_path": [None]}, "row 0: there is no image_path"),
        ({"image_path": [__file__]}, r"row 0 \(.*test_vlm_r1.py\): the image cannot be read"),
        ({"image_grid_thw": [[5, 10]]}, r"row 0 \(.*image.png\): image_grid_thw must be"),
        ({"image_grid_thw": [[1, 0, 10]]}, r"row 0 \(.*image.png\): image_grid_thw must be"),
        ({"image_grid_thw": [[1, 5, 10]] * 2}, "image_grid_thw has 2 entries"),
        ({"solution": ["somewhere"]}, r"row 0 \(.*image.png\): the gold must be \[left, top"),
        ({"solution": ["[1, 2, 3]"]}, r"row 0 \(.*image.png\): the gold must be \[left, top"),
    ],
)
def test_iou_reward_names_the_row_and_the_file(image, change, message):
    columns = {
        "completions": ["<answer>[0, 0, 9, 9]</answer>"],
        "solution": ["[0, 0, 9, 9]"],
        "image_grid_thw": [[1, 5, 10]],
        "image_path": [str(image)],
    }
    with pytest.raises(ValueError, match=message):
        vlm_r1.iou_reward(**{**columns, **change})


# --- length, repetition, format ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "acc_reward", "value"),
    [(0, 1.0, 1.0), (1024, 0.7, 0.5), (0, 0.69, -0.5), (1024, 0.0, 0.0), (2048, 1.0, 1.0)],
)
def test_cosine_reward(tokens, acc_reward, value):
    text = "word " * tokens
    assert vlm_r1.cosine_reward(text, Words(), acc_reward) == pytest.approx(value)
    score = explain(vlm_r1.cosine_reward, text, tokenizer=Words(), acc_reward=acc_reward)
    assert score.value == pytest.approx(value)
    assert f"of {tokens} tokens" in score.why


def test_cosine_rewards_count_detections_from_0_7_on():
    completions = [fenced(CAT), fenced(DOG), "none", "none", "x"]
    golds = [fenced(CAT), fenced(CAT), "none", fenced(CAT), None]
    values = vlm_r1.cosine_rewards(completions, golds, tokenizer=Words())
    assert [value > 0 for value in values] == [True, False, True, False, False]
    brief = vlm_r1.get_cosine_rewards(Words())
    assert brief(completions, solution=golds, prompts=["…"] * 5) == values
    assert pickle.loads(pickle.dumps(brief))(completions, solution=golds) == values
    assert brief.__name__ == "cosine_rewards"
    assert explain(brief, completions[0], golds[0]).value == values[0]
    assert explain(vlm_r1.cosine_rewards, "none", "none", tokenizer=Words()).value == values[2]


def test_a_tokenizer_is_asked_for():
    with pytest.raises(ValueError, match="cosine_rewards needs tokenizer"):
        vlm_r1.cosine_rewards(["4"], ["4"])
    with pytest.raises(TypeError, match=r"tokenizer must have encode\(text\), got str"):
        vlm_r1.cosine_reward("4", "gpt2", 1.0)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("", 0.0),
        ("a b c d e f", 0.0),
        ("la " * 7, -0.5),
        ("La la LA la lA la la", -0.5),
        (fenced(CAT, CAT, DOG), -1 / 3),
        (f"see [{json.dumps(CAT)}, {json.dumps(CAT)}]", -0.5),
        (fenced(1, "bbox_2d label", None, {"label": "cat"}), 0.0),
        ('```json {"a": 1} ```' + " la" * 7, -1 / 6),
        ("```json" + "[" * 5_000 + "```", 0.0),
    ],
)
def test_repetition_reward(content, value):
    assert vlm_r1.repetition_reward(content) == pytest.approx(value)
    assert vlm_r1.repetition_rewards([content], solution=["x"]) == pytest.approx([value])
    assert explain(vlm_r1.repetition_reward, content).value == pytest.approx(value)


def test_no_repetition_is_zero_and_not_minus_zero():
    assert str(vlm_r1.repetition_reward("a b c d e f")) == "0.0"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("pre <think>a</think>\n<answer>{[1,\n2, 3,4]}</answer> post", 1.0),
        ("<think>a</think><answer>[1,2,3,4]</answer>", 0.0),
        ("<think>a</think> so <answer>{[1,2,3,4]}</answer>", 0.0),
        ("<answer>{[1,2,3,4]}</answer>", 0.0),
        ("<think>a</think><answer>{[-1,2,3,4]}</answer>", 0.0),
    ],
)
def test_format_reward_rec(text, value):
    assert vlm_r1.format_reward_rec([text], solution=["x"]) == [value]


# --- all of them -------------------------------------------------------------------------------

TEXT_REWARDS = [
    vlm_r1.default_accuracy_reward,
    vlm_r1.detection_score,
    vlm_r1.cosine_reward,
    vlm_r1.repetition_reward,
]
BATCH_REWARDS = [
    vlm_r1.accuracy_reward,
    vlm_r1.accuracy_reward_async,
    vlm_r1.iou_reward,
    vlm_r1.format_reward,
    vlm_r1.format_reward_rec,
    vlm_r1.cosine_rewards,
    vlm_r1.repetition_rewards,
]


@pytest.mark.parametrize("reward", TEXT_REWARDS + BATCH_REWARDS)
def test_a_reward_is_pickled_by_reference(reward):
    assert pickle.loads(pickle.dumps(reward)) is reward


def test_text_rewards_take_columns_too():
    scores = vlm_r1.detection_score.scores(
        [fenced(CAT)] * 2, solution=[fenced(CAT), None], alpha=1.0
    )
    assert [score.value for score in scores] == [1.0, 0.0]
    with pytest.raises(ValueError, match="acc_reward has 1 entries, completions has 2"):
        vlm_r1.cosine_reward.scores(["a", "b"], tokenizer=Words(), acc_reward=[1.0])


@pytest.mark.parametrize(
    "text", ["\0" * 100_000, "\ud800" * 100_000, "a" * 1_000_000, "<answer>" * 9_999]
)
def test_hostile_text_takes_no_time_and_breaks_nothing(text):
    start = time.perf_counter()
    for method in ("mcq", "yes_no", "all_match", "weighted_sum", "map", "od_ap"):
        vlm_r1.accuracy_reward([text], ["none yes A"], accu_reward_method=[method])
    vlm_r1.format_reward([text])
    vlm_r1.format_reward_rec([text])
    vlm_r1.repetition_reward(text)
    assert time.perf_counter() - start < 3.0


def test_debug_logs(tmp_path, monkeypatch, image):
    monkeypatch.setenv("DEBUG_MODE", "true")
    monkeypatch.delenv("LOG_PATH", raising=False)
    monkeypatch.chdir(tmp_path)
    vlm_r1.accuracy_reward(["<answer>B</answer>"], ["B"], accu_reward_method=["mcq"])
    vlm_r1.iou_reward(["?"], ["[0, 0, 9, 9]"], image_grid_thw=[[1, 5, 10]], image_path=[image])
    vlm_r1.format_reward(["text"], solution=["B"])
    vlm_r1.format_reward_rec(["text"])
    vlm_r1.cosine_rewards(["none"], ["none"], tokenizer=Words())
    vlm_r1.repetition_rewards(["text"])
    logs = {path.name: path.read_text() for path in tmp_path.glob("vlm_r1*")}
    assert set(logs) == {
        "vlm_r1.txt",
        "vlm_r1_format.txt",
        "vlm_r1_cosine.txt",
        "vlm_r1_repetition.txt",
    }
    assert "Accuracy reward: 1.0 ---" in logs["vlm_r1.txt"]
    assert "IoU reward: 0.0 ---" in logs["vlm_r1.txt"]
    assert logs["vlm_r1_format.txt"].count("Format reward: 0.0 ---") == 2


# --- real outputs ------------------------------------------------------------------------------


def rows(shared: Path, name: str):
    with (shared / "data" / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_the_iou_of_real_boxes(shared):
    found = Counter()
    for row in rows(shared, "rec.jsonl"):
        pred = extract.first_int_box(extract.first_tag(row["completion"], "answer") or "")
        if pred is None or list(pred) != row["extracted"]:
            found["another" if pred else "none"] += 1
            continue
        gold = tuple(row["gold"])
        assert boxes.iou(pred, gold, thinnest=0.0) == pytest.approx(row["iou_plain"], abs=1e-6)
        thin = boxes.iou(pred, gold) == 0.0 < row["iou_plain"]
        found["same, but overlaps by one pixel or less" if thin else "same"] += 1
    assert found == {
        "same": 791,
        "same, but overlaps by one pixel or less": 3,
        "another": 2,
        "none": 704,
    }


def test_detections_of_a_real_detector(shared):
    data = rows(shared, "od_voc100.jsonl")
    completions = [f"<answer>{row['completion']}</answer>" for row in data]
    golds = [fenced(*row["gold"]) for row in data]
    ap = vlm_r1.accuracy_reward(completions, golds, accu_reward_method=["od_ap"] * len(data))
    ap50 = vlm_r1.accuracy_reward(completions, golds, accu_reward_method=["od_ap50"] * len(data))
    assert all(0.0 <= whole <= half + 1e-9 for whole, half in zip(ap, ap50, strict=True))
    # What pycocotools gives for the same boxes, every one with the same confidence.
    assert sum(ap) / len(data) == pytest.approx(0.5333374, abs=1e-6)
    assert sum(ap50) / len(data) == pytest.approx(0.8188524, abs=1e-6)
    own = vlm_r1.accuracy_reward(golds, golds, accu_reward_method=["map"] * len(data))
    assert own == pytest.approx([1.0] * len(data))


def test_what_a_real_run_logged(shared):
    data = rows(shared, "grpo_log_counting_vlmr1.jsonl")
    scores = vlm_r1.default_accuracy_reward.scores(
        [row["completion"] for row in data], solution=[row["gold"] for row in data]
    )
    same = [round(s.value) == row["score"] for s, row in zip(scores, data, strict=True)]
    assert sum(same) >= 398  # the run that logged these still judged the whole completion


def test_only_rewards_can_be_explained():
    with pytest.raises(TypeError, match="is no plaudit reward"):
        explain(len, "text")
