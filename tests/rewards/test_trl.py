"""TRL's rewards, as its trainers call them."""

import asyncio
import json
import pickle
from collections import Counter

import pytest

import plaudit
from plaudit.judge import configure, shared_judge
from plaudit.rewards import trl


def test_right_wrong_and_skipped():
    completions = [r"\boxed{\frac{1}{3}}", r"\boxed{\frac{1}{2}}", r"\boxed{3}", "I do not know."]
    assert trl.accuracy_reward(completions, [r"\frac{1}{3}", "1/3", "who knows", "4"]) == [
        1.0,
        0.0,
        None,
        0.0,
    ]


def test_golds_may_be_numbers_or_missing():
    completions = [r"\boxed{42}"] * 4
    assert trl.accuracy_reward(completions, [42, 42.0, None, 41]) == [1.0, 1.0, None, 0.0]


def test_an_answer_needs_an_anchor_and_latex():
    completions = ["4", "$4$", "The answer is $4$", "The answer is 4", r"\boxed{4}"]
    assert trl.accuracy_reward(completions, ["4"] * 5) == [0.0, 0.0, 1.0, 0.0, 1.0]


def test_log_extra_gets_trls_columns():
    logged = {}
    trl.accuracy_reward(
        [r"\boxed{\dfrac{2}{6}}", "no answer", r"\boxed{1}"],
        ["1/3", "1/3", "who knows"],
        log_extra=logged.__setitem__,
    )
    assert logged == {
        "solution": ["1/3", "1/3", "who knows"],
        "gold_parsed": ["1/3", "1/3", "[unparseable]"],
        "answer_parsed": [r"\frac{2}{6}", "[unparseable]", "[skipped]"],
    }


# The statuses of `answers` and `code`.
ANSWERS_ALONE = ("undecided", "exception", "several", "retracted", "unsolved")


def test_log_metric_hears_of_trouble():
    logged = {}
    completions = [r"\boxed{1000000!}", "It is one.", r"\boxed{2}", r"\boxed{2}"]
    trl.accuracy_reward(completions, ["1", "1", "what?", "2"], log_metric=logged.__setitem__)
    assert logged == {
        "accuracy_reward/error": 0.0,
        "accuracy_reward/timeout": 0.0,
        "accuracy_reward/limit": 0.25,
        "accuracy_reward/bad_gold": 0.25,
        "accuracy_reward/no_answer": 0.25,
        "accuracy_reward/truncated": 0.0,
        "accuracy_reward/not_applicable": 0.0,
        **{f"accuracy_reward/{status}": 0.0 for status in ANSWERS_ALONE},
    }


def test_what_a_trainer_passes_along_is_accepted():
    rewards = trl.accuracy_reward(
        completions=[[{"role": "assistant", "content": r"\boxed{4}"}]],
        solution=["4"],
        prompts=["2+2?"],
        completion_ids=[[1, 2]],
        trainer_state=object(),
        environments=None,
        difficulty=["easy"],
    )
    assert rewards == [1.0]


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="solution has 1 entries, completions has 2"):
        trl.accuracy_reward([r"\boxed{1}", r"\boxed{2}"], ["1"])


def test_reasoning_is_cut_at_the_last_delimiter_that_occurs():
    completions = [
        r"<think>\boxed{3}</think> \boxed{4}",
        r"<think>a</think> \boxed{3} </think> \boxed{4}",
        r"\boxed{4}",
        r"<think>\boxed{4}</think> nothing",
    ]
    assert trl.reasoning_accuracy_reward(completions, ["4"] * 4) == [1.0, 1.0, 0.0, 0.0]


def test_other_delimiters_the_first_that_occurs_counts():
    completions = [r"a </reason> b || \boxed{4}", r"a || \boxed{3} </reason> \boxed{4}"]
    delimiters = ["||", "</reason>"]
    rewards = trl.reasoning_accuracy_reward(completions, ["4", "4"], delimiters)
    assert rewards == [1.0, 1.0]


def test_unfinished_reasoning_is_wrong_even_without_a_gold():
    logged = {}
    rewards = trl.reasoning_accuracy_reward(
        ["<think> still at it", r"</think>\boxed{4}"], [None, None], log_extra=logged.__setitem__
    )
    assert rewards == [0.0, None]
    assert logged["gold_parsed"] == ["[incomplete reasoning]", "[unparseable]"]
    assert logged["answer_parsed"] == ["[incomplete reasoning]", "[skipped]"]


def test_async_forms_give_the_same():
    completions = [r"<think>…</think>\boxed{\sin^2 x + \cos^2 x}", r"</think>\boxed{5}"]

    async def both():
        return await asyncio.gather(
            trl.accuracy_reward_async(completions, ["1", "4"]),
            trl.reasoning_accuracy_reward_async(completions, ["1", "4"]),
        )

    assert asyncio.run(both()) == [[1.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("text", "value", "why"),
    [
        ("<think>a</think>b", 1.0, "starts with one <think>"),
        ("<think>\na\n</think>\n\nb", 1.0, "starts with one <think>"),
        ("a <think>b</think>", 0.0, "does not start"),
        ("<think>a", 0.0, "never closed"),
        ("<think>a<think>b</think>", 0.0, "more than one"),
        ("<think>a</think><think>", 0.0, "more than one"),
        ("", 0.0, "does not start"),
    ],
)
def test_think_format(text, value, why):
    assert trl.think_format_reward([text]) == [value]
    assert why in plaudit.explain(trl.think_format_reward, text).why


def test_cosine_scaled_by_length():
    reward = trl.get_cosine_scaled_reward(max_len=100)
    ids = [[0] * length for length in (0, 50, 100, 900)]
    assert reward([r"\boxed{4}"] * 4, ["4"] * 4, ids) == pytest.approx([1.0, 0.75, 0.5, 0.5])
    assert reward([r"\boxed{5}"] * 4, ["4"] * 4, ids) == pytest.approx([-1.0, -0.75, -0.5, -0.5])
    assert reward([r"\boxed{5}"], ["what?"], [[0]]) == [None]


def test_cosine_scaled_checks_its_columns():
    reward = trl.get_cosine_scaled_reward(max_len=100)
    with pytest.raises(ValueError, match="completion_ids has 1 entries, completions has 2"):
        reward(["a", "b"], ["1", "2"], [[0]])


def test_repetition_penalty():
    reward = trl.get_repetition_penalty_reward(ngram_size=2, max_penalty=-2.0)
    assert reward([[1, 2, 3, 4], [5, 5, 5, 5, 5], [7], []]) == [0.0, -1.5, 0.0, 0.0]
    with pytest.raises(ValueError, match="completion_ids has 1 entries, completions has 2"):
        reward(completions=["a", "b"], completion_ids=[[1]])


def test_soft_overlong_punishment():
    reward = trl.get_soft_overlong_punishment(max_completion_len=100, soft_punish_cache=20)
    ids = [[0] * length for length in (0, 80, 85, 90, 100, 101)]
    assert reward(ids) == [0.0, 0.0, -0.25, -0.5, -1.0, -1.0]
    no_soft_zone = trl.get_soft_overlong_punishment(100, 0)
    assert no_soft_zone([[0] * 100, [0] * 101]) == [0.0, -1.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: trl.get_cosine_scaled_reward(0), "max_len must be 1 or more, got 0"),
        (lambda: trl.get_repetition_penalty_reward(0), "ngram_size must be 1 or more, got 0"),
        (lambda: trl.get_repetition_penalty_reward(3, 0.1), "max_penalty must not be positive"),
        (lambda: trl.get_soft_overlong_punishment(9, -1), "soft_punish_cache must not be negative"),
    ],
)
def test_parameters_that_make_no_sense(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_whole_number_may_come_as_a_float():
    assert trl.get_repetition_penalty_reward(2.0)([[5, 5, 5, 5, 5]]) == [-0.75]


@pytest.mark.parametrize(
    ("reward", "name"),
    [
        (trl.accuracy_reward, "accuracy_reward"),
        (trl.accuracy_reward_async, "accuracy_reward_async"),
        (trl.think_format_reward, "think_format_reward"),
        (trl.get_cosine_scaled_reward(9), "cosine_scaled_reward"),
        (trl.get_repetition_penalty_reward(), "repetition_penalty_reward"),
        (trl.get_soft_overlong_punishment(9, 3), "soft_overlong_punishment_reward"),
    ],
)
def test_every_reward_has_a_name_and_survives_pickling(reward, name):
    copy = pickle.loads(pickle.dumps(reward))
    assert copy.__name__ == reward.__name__ == name
    assert copy == reward


def test_made_rewards_work_after_pickling():
    reward = pickle.loads(pickle.dumps(trl.get_soft_overlong_punishment(100, 20)))
    assert reward(completion_ids=[[0] * 90], log_metric=None) == [-0.5]


def test_explanations():
    score = plaudit.explain(trl.accuracy_reward, r"\boxed{\dfrac{1}{2}}", "0.5")
    read = (r"\frac{1}{2}", "0.5")
    why = r"\frac{1}{2} is equal to the gold 0.5."
    assert score == plaudit.Score(1.0, why, *read, "numbers", "equal", right=True)
    made = trl.get_cosine_scaled_reward(100)
    score = plaudit.explain(made, r"\boxed{4}", "4", completion_ids=[0] * 50)
    assert score.why == "4 is equal to the gold 4. 50 of 100 tokens."
    assert plaudit.explain(trl.accuracy_reward, r"\boxed{4}", None).value is None


def test_values_are_floats():
    values = [
        *trl.accuracy_reward([r"\boxed{4}", "no"], [4, 4]),
        *trl.think_format_reward(["a"]),
        *trl.get_repetition_penalty_reward()([[1]]),
        *trl.get_soft_overlong_punishment(1, 0)([[1, 1]]),
    ]
    assert {type(value) for value in values} == {float}


def test_a_deadline_is_kept_and_the_rest_of_the_batch_is_right():
    before = shared_judge().settings
    poison = r"\boxed{\gcd(7^{999995} - 1, 3^{999995} - 1)!!}"
    try:
        configure(deadline=0.5)
        completions = [r"\boxed{\sin^2 y + \cos^2 y}", poison, r"\boxed{\tan y}"]
        scores = trl.accuracy_reward.scores(completions, ["1"] * 3)
    finally:
        configure(deadline=before.deadline)
    assert [score.value for score in scores] == [1.0, 0.0, 0.0]
    assert scores[1].status == "timeout"
    assert scores[1].why == "Comparing was stopped after 0.5 s."


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("math.jsonl", {"0.0": 1140, "1.0": 416, "None": 106}),
        pytest.param("hard.jsonl", {"1.0": 923, "0.0": 796}, marks=pytest.mark.long),
    ],
)
def test_trls_own_verdicts_on_real_completions(shared, name, counts):
    rows = [json.loads(line) for line in (shared / "data" / name).open(encoding="utf-8")]
    completions = [[{"role": "assistant", "content": row["completion"]}] for row in rows]
    rewards = trl.accuracy_reward(completions, [row["gold"] for row in rows])
    differing = [row for row, reward in zip(rows, rewards, strict=True) if reward != row["trl"]]
    assert not differing
    assert Counter(map(str, rewards)) == counts


def test_real_reasoning_without_an_opening_tag_is_no_format(shared):
    rows = (shared / "data/think_deepseek_agent.jsonl").open(encoding="utf-8")
    texts = [json.loads(line)["completion"] for line in rows]
    rewards = trl.think_format_reward(texts)
    expected = [
        float(t.startswith("<think>") and t.count("<think>") == 1 and "</think>" in t)
        for t in texts
    ]
    assert rewards == expected
