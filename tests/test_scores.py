"""Rewards as functions: what they ask for, and what they say of a call that cannot be."""

import asyncio
import inspect

import pytest

import plaudit
from plaudit.judge import Pair, Status
from plaudit.recipes import Component, Recipe, explain
from plaudit.recipes.row_score import weighted_total
from plaudit.rewards import all_rewards, answers, canoe, trl, vlm_r1
from plaudit.scores import Score, async_form, reward, text_reward
from plaudit.scores.score import PROBLEM_STATUSES, REPORTED_STATUSES, STATUSES, UNFINISHED_STATUSES

PENALTY = trl.get_repetition_penalty_reward()


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: PENALTY(completions=["a"]), "repetition_penalty_reward needs completion_ids"),
        (lambda: PENALTY.scores(completions=["a"]), "repetition_penalty_reward needs"),
        (lambda: explain(PENALTY, "a"), "needs completion_ids: pass completion_ids=…"),
        (
            lambda: trl.get_soft_overlong_punishment(9, 3)(completions=["a"]),
            "soft_overlong_punishment_reward needs completion_ids",
        ),
        (
            lambda: trl.get_cosine_scaled_reward(9)(completions=["a"]),
            "cosine_scaled_reward needs solution and completion_ids",
        ),
        (lambda: trl.accuracy_reward(["a"]), "accuracy_reward needs solution: pass solution=…"),
        (lambda: trl.accuracy_reward(), "accuracy_reward needs completions and solution"),
        (lambda: canoe.influence_reward(["a"], ["a"]), "needs completions_long_answer"),
        (lambda: vlm_r1.default_accuracy_reward("a"), "default_accuracy_reward needs sol"),
        (
            lambda: vlm_r1.cosine_reward.scores(["a"]),
            "row 0: cosine_reward needs tokenizer and acc_reward",
        ),
        (
            lambda: asyncio.run(trl.accuracy_reward_async(["a"])),
            "accuracy_reward needs solution",
        ),
    ],
)
def test_a_reward_asks_for_its_columns_by_name(call, complaint):
    with pytest.raises(TypeError, match=complaint):
        call()


def test_a_type_error_inside_a_reward_stays_what_it_is():
    @reward
    def faulty(completions, **kwargs):
        return len(3)

    with pytest.raises(TypeError, match="has no len"):
        faulty(["a"])
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        faulty(["a"], ["b"])


def test_no_reward_complains_in_the_words_of_python():
    for name, function in all_rewards().items():
        if not hasattr(function, "scores"):
            continue
        try:
            function.scores(completions=["a"])
        except (TypeError, ValueError) as error:
            assert "positional argument" not in str(error), name


# --- explain --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "score",
    [
        lambda: explain(trl.accuracy_reward, r"\boxed{4}", "4"),
        lambda: explain(trl.accuracy_reward, r"\boxed{4}", solution="4"),
        lambda: explain(trl.accuracy_reward, completion=r"\boxed{4}", solution="4"),
        lambda: explain(trl.accuracy_reward, r"\boxed{4}", None, solution="4"),
        lambda: plaudit.explain(trl.accuracy_reward, r"\boxed{4}", solution=4, level=[1]),
    ],
)
def test_a_row_is_given_by_place_or_by_name(score):
    assert score().value == 1.0


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (
            lambda: explain(trl.accuracy_reward, "4", "4", solution="5"),
            "got the solution twice: by position, '4', and by name, '5'",
        ),
        (lambda: explain(trl.accuracy_reward, "4", completion="5"), "the completion twice"),
        (lambda: explain(trl.accuracy_reward), "explain needs the completion"),
        (lambda: explain(trl.accuracy_reward, completions=["4"]), "takes one row, as completion=…"),
        (lambda: explain(5, "4"), "a recipe is a Recipe, the name of a preset"),
        (
            lambda: explain(trl.accuracy_reward_async, "4", "4"),
            "accuracy_reward_async is for an event loop: explain the one without _async",
        ),
    ],
)
def test_a_row_that_cannot_be_explained(call, complaint):
    with pytest.raises(TypeError, match=complaint):
        call()


def length(completions, **kwargs):
    return [float(len(text)) for text in completions]


@pytest.mark.parametrize(
    ("reward", "columns", "value"),
    [
        ("trl.accuracy_reward", {"solution": "4"}, 1.0),
        ("answers.answer_reward", {"solution": "4.001"}, 0.0),
        ("answers.answer_reward", {"solution": "4.001", "tolerance": 0.01}, 1.0),
        ("math", {"solution": "4"}, 1.0),
        ("trl-reasoning", {"solution": "4"}, 2.0),
        (["trl.accuracy_reward", length], {"solution": "4"}, 26.0),
        (length, {}, 25.0),
    ],
    ids=["name", "own name", "setting", "preset", "several", "list", "function"],
)
def test_what_can_be_scored_can_be_explained(reward, columns, value):
    text = r"<think>2</think>\boxed{4}"
    rows = [{"completion": text, **columns}]
    assert explain(reward, text, **columns).value == value
    if "tolerance" not in columns:
        assert plaudit.score(rows, reward)[0]["total"] == value


def test_the_score_of_a_recipe_of_several_rewards_has_all_reasons():
    score = plaudit.explain("trl-reasoning", r"\boxed{4}", "4")
    assert score.why.startswith("reasoning_accuracy_reward 0.0: ")
    assert "think_format_reward 0.0: " in score.why
    assert score.status == "no_answer"


# --- what functions of one's own give -------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (None, "mine must give a list with a Score for each completion, got NoneType"),
        (1.0, "mine must give a list with a Score for each completion, got float"),
        ([1.0], r"mine must give a Score for each completion, row 0 is float: 1\.0"),
        (
            [Score(1.0, "So."), None],
            "mine must give a Score for each completion, row 1 is NoneType",
        ),
    ],
)
def test_a_reward_that_gives_no_scores(given, complaint):
    @reward
    def mine(completions, **kwargs):
        return given

    with pytest.raises(TypeError, match=complaint):
        mine(["a", "b"])


def test_a_text_reward_that_gives_no_score():
    @text_reward
    def mine(content):
        return 1.0

    with pytest.raises(TypeError, match="mine must give a Score"):
        mine("a")


# --- from verdicts to scores ----------------------------------------------------------------------


def test_every_status_has_its_position_in_the_order():
    of_answers = {Status.SEVERAL, Status.RETRACTED, Status.UNSOLVED, Status.UNDECIDED}
    of_code = {Status.EXCEPTION}
    assert {*Status} - {Status.EQUAL, Status.DIFFERENT} == {*STATUSES} - {
        *("scored", "truncated", "not_applicable")  # which no judge says
    }
    assert {*STATUSES} - {"scored", "not_applicable"} - of_answers - of_code == {*REPORTED_STATUSES}
    assert set(UNFINISHED_STATUSES) < set(PROBLEM_STATUSES) < set(REPORTED_STATUSES) < set(STATUSES)


@pytest.mark.parametrize(
    ("reward", "columns"),
    [
        (trl.accuracy_reward, {}),
        (canoe.accuracy_reward, {}),
        (vlm_r1.default_accuracy_reward, {}),
        (vlm_r1.accuracy_reward, {"accu_reward_method": "math"}),
    ],
)
def test_what_went_wrong_has_a_field_of_its_own(reward, columns):
    tower = r"<answer>\boxed{9^{9^{9^{9}}}}</answer>"
    score = explain(reward, tower, "<answer>$5$</answer>", **columns)
    assert (score.status, score.problem) == ("limit", "a power of more than a million digits")
    assert explain(reward, r"<answer>\boxed{5}</answer>", "$5$", **columns).problem == ""


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (
            lambda: trl.get_cosine_scaled_reward("4096"),
            "max_len must be a whole number, got '4096'",
        ),
        (lambda: trl.get_cosine_scaled_reward(9.5), "max_len must be a whole number, got 9.5"),
        (lambda: trl.get_cosine_scaled_reward(9, "x"), "min_value_wrong must be a number, got 'x'"),
        (lambda: trl.get_cosine_scaled_reward(None), "max_len must be a whole number, got None"),
        (lambda: trl.get_repetition_penalty_reward("3"), "ngram_size must be a whole number"),
        (
            lambda: trl.get_repetition_penalty_reward(3, float("nan")),
            "max_penalty must be a number, got nan",
        ),
        (lambda: trl.get_soft_overlong_punishment(9, "3"), "soft_punish_cache must be a whole"),
    ],
)
def test_a_parameter_must_be_a_number(make, complaint):
    with pytest.raises(ValueError, match=complaint):
        make()


@pytest.mark.parametrize("name", ["iou_threshold", "alpha", "beta", "gamma"])
def test_a_setting_must_be_a_number(name):
    with pytest.raises(TypeError, match=f"{name} must be a number, got str: '0.5'"):
        vlm_r1.detection_score("a", "b", **{name: "0.5"})


def test_delimiters_are_a_list():
    with pytest.raises(TypeError, match=r"must be a list of texts: write \['</think>'\]"):
        trl.reasoning_accuracy_reward(["a"], ["a"], reasoning_delimiters="</think>")


@pytest.mark.parametrize("wrong", ["", 3])
def test_a_delimiter_is_text(wrong):
    with pytest.raises(TypeError, match=f"must be a list of texts, and has {wrong!r}"):
        trl.reasoning_accuracy_reward(["a"], ["a"], reasoning_delimiters=[wrong])


def test_the_columns_of_a_text_reward_are_called_as_the_caller_calls_them():
    with pytest.raises(ValueError, match="solution has 1 entries, completions has 2"):
        vlm_r1.detection_score.scores(["a", "b"], solution=["a"])
    with pytest.raises(TypeError, match="completions must be a list with one entry per completion"):
        vlm_r1.detection_score.scores((text for text in "ab"), solution=["a", "b"])


def right_or_not(completions, solution, **kwargs):
    """1.0 if the judge says equal."""
    asked = yield lambda: [text.strip() for text in completions]
    verdicts = yield [Pair(text, gold) for text, gold in zip(asked, solution, strict=True)]
    return [Score(float(v.status is Status.EQUAL), str(v.status)) for v in verdicts]


async def right_in_time(completions, solution, **kwargs):
    """The same as a coroutine function."""
    await asyncio.sleep(0)
    return [Score(float(a.strip() == b), "") for a, b in zip(completions, solution, strict=True)]


def test_a_generator_is_a_reward_in_a_thread_and_on_a_loop():
    right = reward(columns=["solution"])(right_or_not)
    assert right([" 0.5", "1"], ["1/2", "2"]) == [1.0, 0.0]
    assert asyncio.run(async_form(right)([" 0.5", "1"], solution=["1/2", "2"])) == [1.0, 0.0]
    assert right.scores(["1"], ["2"])[0].why == "different"
    assert async_form(right).__name__ == "right_or_not_async"
    recipe = Recipe("right", (Component("", right),))
    assert asyncio.run(recipe.score_async(["0.5"], solution=["1/2"]))[0].total == 1.0
    with pytest.raises(TypeError, match="right_or_not needs solution"):
        right(["1"])


def test_a_coroutine_function_is_a_reward():
    right = reward(right_in_time)
    assert inspect.iscoroutinefunction(right)
    assert asyncio.run(right(["4 "], ["4"])) == [1.0]
    recipe = Recipe("right", (Component("", right),))
    assert recipe(["4"], solution=["4"])[0].total == 1.0
    assert asyncio.run(recipe.score_async(["4"], solution=["4"]))[0].total == 1.0


def test_a_plain_function_has_no_async_form():
    with pytest.raises(TypeError, match="plain function"):
        async_form(trl.think_format_reward)


@pytest.mark.parametrize(
    "name", ["answer_reward", "mention_reward", "exact_match_reward", "f1_reward"]
)
def test_the_rewards_of_answers_log_what_they_read(name):
    extra, metrics = {}, {}
    getattr(answers, name)(
        [r"\boxed{4}", "I do not know.", r"\boxed{2+2}", r"\boxed{4} or \boxed{5}"],
        ["4"] * 4,
        log_extra=extra.__setitem__,
        log_metric=metrics.__setitem__,
    )
    assert extra["answer"][0] == extra["gold"][0] == "4"
    assert {len(values) for values in extra.values()} == {4}
    assert set(metrics) == {f"{name}/{status}" for status in STATUSES[:-1]}
    if name == "answer_reward":
        assert metrics["answer_reward/unsolved"] == 0.25


def test_a_total_has_no_noise_of_binary_fractions():
    components = [Component(f"r{n}", brief, weight) for n, weight in enumerate((1.0, 0.2, 0.2))]
    recipe = Recipe("x", tuple(components))
    assert recipe(["short"])[0].total == 1.4
    assert weighted_total([1e-20, None], [1.0, 1.0]) == 1e-20


def brief(completions, **kwargs):
    return [float(len(text) < 9) for text in completions]
