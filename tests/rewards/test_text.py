"""Rewards of text metrics: ANLS, relaxed accuracy, VQA accuracy, word and character error rates."""

import json
import time

import pytest

from plaudit.rewards import text as metrics

GOLD = "Northwind Paper Company"


def anls(completion, gold=GOLD, **settings):
    return metrics.anls_reward([completion], [gold], **settings)[0]


def test_anls_is_the_share_of_equal_characters_above_one_half():
    assert anls(f"<answer>{GOLD.upper()}</answer>") == 1.0
    assert anls("Northwind  Paper\nCompony") == pytest.approx(22 / 23)
    assert anls("ab", "abcd") == 0.0  # exactly one half
    assert anls("abc", "abcd") == 0.75
    assert anls("B", ["abc", "b"]) == 1.0


@pytest.mark.parametrize(
    "completion",
    [
        "",
        "<answer></answer>",
        f"<think>{GOLD}</think>",
        f"<think>{GOLD}",
        f"<answer>{GOLD}</answer> Wait, that is wrong.",
    ],
)
def test_an_answer_that_is_missing_or_taken_back_gets_nothing(completion):
    [score] = metrics.anls_reward.scores([completion], [GOLD])
    assert (score.value, score.status, score.right) == (0.0, "no_answer", False)


def test_a_row_without_a_gold_is_skipped():
    rewards = [metrics.anls_reward, metrics.relaxed_accuracy_reward, metrics.wer_reward]
    for reward in rewards:
        assert reward(["a", "b", "c"], [None, "", []]) == [None, None, None]
    assert metrics.vqa_accuracy_reward(["a"], [None]) == [None]
    assert metrics.anls_reward(["a"], [None], star=True) == [None]


def test_anls_star_compares_lists_and_objects_item_by_item():
    def star(answer, gold):
        return anls(json.dumps(answer), gold, star=True)

    assert star(["b", "a"], ["a", "b"]) == 1.0
    assert star(["a", "b", "c", "d"], ["a", "b"]) == 0.5
    assert star("a", ["a", "b"]) == 0.5  # one text is a list of one, and no alternative
    assert star({"k": "v", "other": None}, {"k": "v"}) == 0.5
    assert star({"k": ["x", "y"]}, {"k": ["y", "x"], "l": "z"}) == pytest.approx(2 / 3)
    assert star({}, {"k": None}) == 1.0
    assert anls("not JSON at all", {"k": "v"}, star=True) == 0.0


def test_anls_star_bounds_what_a_model_may_write():
    long, deep = json.dumps(["a"] * 20_000), "[" * 5000 + "]" * 5000
    nested = json.dumps(json.loads("[" * 60 + "]" * 60))
    started = time.process_time()
    scores = metrics.anls_reward.scores([long, nested, deep], [["a"]] * 3, star=True)
    assert [score.status for score in scores[:2]] == ["limit", "limit"]
    assert [score.value for score in scores] == [0.0, 0.0, 0.0]
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("answer", "gold", "settings", "value"),
    [
        ("105", "100", {}, 1.0),
        ("105.1", "100", {}, 0.0),
        ("25%", "0.25", {}, 1.0),
        ("germany", "Germany", {}, 1.0),
        ("0.0", "0", {}, 0.0),  # a gold of 0 is compared as text
        ("nan", "1", {}, 0.0),
        ("1e999", "1", {}, 0.0),
        ("2010", "2012", {}, 1.0),
        ("2010", "2012", {"years": "exact"}, 0.0),
        ("110", "100", {"tolerance": 0.1}, 1.0),
    ],
)
def test_relaxed_accuracy(answer, gold, settings, value):
    completion = f"<answer>{answer}</answer>"
    assert metrics.relaxed_accuracy_reward([completion], [gold], **settings) == [value]


@pytest.mark.parametrize(
    ("answer", "golds", "value"),
    [
        ("The Ball!", ["ball"] * 10, 1.0),
        ("two", ["2"] * 3 + ["3"] * 7, 0.9),
        ("dont", ["don't"] * 2 + ["no"] * 8, 0.6),
        ("1,000", ["1000"] + ["10"] * 9, 0.3),
        ("ice-cream", ["ice cream"] * 4 + ["cake"] * 6, 1.0),
        ("blue", ["red"] * 10, 0.0),
    ],
)
def test_vqa_accuracy_counts_people(answer, golds, value):
    assert metrics.vqa_accuracy_reward([answer], [golds]) == [value]


def test_vqa_accuracy_needs_several_people():
    with pytest.raises(ValueError, match="solution 1 has one answer"):
        metrics.vqa_accuracy_reward(["a", "b"], [["a", "b"], "b"])


def test_error_rates():
    gold = "the cat sat on the mat"
    assert metrics.wer_reward(["the cat sat on a mat"], [gold]) == [pytest.approx(5 / 6)]
    assert metrics.wer_reward(["The cat, sat on the mat."], [gold], normalizer="none") == [0.5]
    plain = metrics.wer_reward(
        ["The cat, sat  on the mat."], [gold], normalizer="lower-punctuation"
    )
    assert plain == [1.0]
    assert metrics.cer_reward(["the cat sat on the ma"], [gold]) == [pytest.approx(21 / 22)]
    assert metrics.wer_reward([" ".join(["cat"] * 50)], [gold]) == [0.0]
    english = metrics.wer_reward(["I'm um four"], ["i am 4"], normalizer="whisper-english")
    assert english == [1.0]


def test_a_long_transcript_costs_no_more_than_the_gold():
    started = time.process_time()
    assert metrics.wer_reward(["word " * 50_000], ["a b c"]) == [0.0]
    assert metrics.cer_reward(["x" * 200_000], ["abc"]) == [0.0]
    assert metrics.anls_reward(["x" * 200_000], ["abc"]) == [0.0]
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("reward", "settings", "message"),
    [
        (metrics.wer_reward, {"normalizer": "nltk"}, "normalizer must be"),
        (metrics.relaxed_accuracy_reward, {"years": "loose"}, "years must be"),
        (metrics.relaxed_accuracy_reward, {"tolerance": "5 %"}, "tolerance must be a number"),
    ],
)
def test_wrong_settings_are_named(reward, settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        reward(["a"], ["a"], **settings)


REWARDS = {
    "anls": metrics.anls_reward,
    "relaxed": metrics.relaxed_accuracy_reward,
    "vqa": metrics.vqa_accuracy_reward,
    "wer": metrics.wer_reward,
    "cer": metrics.cer_reward,
}


def test_the_values_are_those_of_the_references(shared):
    folder = shared / "families" / "text"
    for file in ("visible.jsonl", "real.jsonl"):
        for line in (folder / file).read_text().splitlines():
            row = json.loads(line)
            if not row.get("debatable"):
                call = REWARDS[row["reward"]]
                [value] = call([row["completion"]], [row["solution"]], **row["settings"])
                assert value == pytest.approx(row["value"], abs=2e-6), row["id"]
